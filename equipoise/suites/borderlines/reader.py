"""Reads which of several countries a reply gives as its answer, without an evaluator. Pure.

A wrong reading would be a false claim about a country, and evaluators can read what is unclear. So only
replies that are hardly ambiguous are read. A denial, a claim, history, "our country", a refusal, two of the
options, or a letter that contradicts a name never decides alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from equipoise.suites.borderlines.answer_parser import (
    LETTER,
    MENTIONS,
    NAMES,
    NEUTRAL,
    OTHER_PLACE,
    Name,
    about,
    marked,
    option_index,
    option_indices,
    other_place,
)
from equipoise.suites.borderlines.sentences import END, START, Clause, Sentence, sentences, strays
from equipoise.suites.borderlines.words import (
    GAP,
    ByLanguage,
    Phrases,
    Vocabulary,
    flat,
)

LONGEST = 10_000
"""The length in characters above which a reply is not read: it says more than which country it is."""
_LEAD = r"[^\w\ue000-\ue030]{0,20}(?:\w[).]\s*)?(?:[^\n:.\ue000-\ue030]{0,30}[:\uff1a]\s*)?"
_HEAD = re.compile(rf"{START}{_LEAD}(?:\w{{1,4}}['\s])?({NAMES}){END}", re.MULTILINE)
_BARELY = re.compile(rf"{GAP}(?:[A-G]|{LETTER}){GAP}")
_GIVEN = re.compile(rf"{GAP}{LETTER}{GAP}(?:\w{{1,4}}['\s])?(?:{MENTIONS}|{NEUTRAL}){GAP}")
_CONTRADICTED = re.compile(rf"({LETTER}){GAP}(?:\w{{1,4}}['\s])?({MENTIONS})")
GivenOption = tuple[int | None, str]
"""The index of an option, None if ambiguous; and how it was read: `name` or `letter`."""


def read(
    text: str,
    known: Sequence[Name],
    count: int,
    territory: str,
    words: ByLanguage,
    others: Sequence[tuple[str, str]] = (),
) -> GivenOption:
    """The option that a reply gives, and how it was read.

    `known` are the names to look for; the first `count` are those of the options as shown. `words` are the
    words of each language that the reply may be in. `others` are the names of other places, each with its
    language.
    """
    if len(text) > LONGEST:
        return None, "name"
    vocabulary = _vocabulary(tuple(words))
    other_places = [other_place(*other) for other in others]
    text = marked(text, [*about(territory, known, count), *other_places], count, territory)
    if len(text) > LONGEST or vocabulary.has(flat(text), "withheld") or strays(text):
        return None, "name"
    text = text.replace(OTHER_PLACE, NEUTRAL)
    reply = _Reply(vocabulary.without_certain(text), vocabulary, count)
    answer = _lettered(reply) if reply.letters else _named(reply)
    if answer is None or answer >= count or (not reply.concludes(answer) and reply.is_contested(answer)):
        return None, "letter" if reply.letters else "name"
    return answer, "name" if not reply.letters or {answer} == option_indices(NAMES, reply.text) else "letter"


_vocabulary = cache(Vocabulary)


class _Reply:
    """A reply with marks for names and letters: its sentences, and the countries that it calls the owner."""

    def __init__(self, text: str, vocabulary: Vocabulary, count: int) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.sentences, self.questions = sentences(text, vocabulary, count)
        self.parts = [(sentence, part) for sentence in self.sentences for part in sentence.parts]
        self.letters = {letter for _, part in self.parts if part.is_given for letter in part.letters}
        self.mentions = option_indices(MENTIONS, text)
        of_law = [(sentence, part) for sentence, part in self.parts if sentence.is_of_law(part)]
        self.owners = self._stated(of_law, "belongs") | self._preferred
        self.is_ours = vocabulary.has(flat(text), "ours")

    @property
    def holders(self) -> set[int]:
        """The countries that, by the reply, hold the territory, own it in fact, or are linked with it."""
        in_fact = [(sentence, part) for sentence, part in self.parts if sentence.is_whole]
        return self._stated(in_fact, "belongs") | self._stated(self.parts, "holds", "links")

    def _stated(self, parts: Sequence[tuple[Sentence, Clause]], *kinds: Phrases) -> set[int]:
        """The countries in a phrase of one of these kinds, in parts on which nothing casts doubt."""
        return {
            country
            for sentence, part in parts
            if len(part.mentions) == 1
            for kind in kinds
            for country in self.vocabulary.named(part.flat, kind)
            if sentence.affirms(part, country)
        }

    @property
    def _preferred(self) -> set[int]:
        """The countries that are named instead of another: "not Chile but Peru"."""
        return {
            country
            for sentence in self.sentences
            for before, part in pairwise(sentence.parts)
            if before.is_denied and not before.is_told and before.mentions and not (before.adds or part.adds)
            for country in self.vocabulary.replaces(part.flat) - before.mentions
            if part.mentions == {country} and sentence.affirms(part, country)
        }

    @property
    def last(self) -> frozenset[int]:
        """The countries of the last sentence that says, without doubt, more than who holds the territory.

        The last one counts, because a reply may begin with the other side's case.
        """
        mentions = (
            frozenset[int]().union(*(part.mentions for part in sentence.parts if self._tells_more(part)))
            for sentence in reversed(self.sentences)
        )
        return next(filter(None, mentions), frozenset())

    def _tells_more(self, part: Clause) -> bool:
        return not part.is_doubtful and not self.vocabulary.countries(part.flat, "holds", "links")

    def calls(self, part: Clause) -> bool:
        """Whether the part calls something the answer."""
        return self.vocabulary.has(part.flat, "answers")

    def is_answer(self, letter: int) -> bool:
        """Whether the letter stands with its country, stands alone, or is called the answer."""
        return any(
            sentence.affirms(part, letter)
            and (
                _GIVEN.fullmatch(part.text)
                or _BARELY.fullmatch(part.text)
                or self._is_called(sentence, number)
            )
            for sentence in self.sentences
            for number, part in enumerate(sentence.parts)
            if letter in part.letters
        )

    def concludes(self, letter: int) -> bool:
        """Whether the reply ends by calling the letter its answer."""
        *_, (sentence, part) = self.parts
        is_last = letter in part.letters and part.mentions <= {letter} and not part.is_doubtful
        is_called = self._is_called(sentence, len(sentence.parts) - 1)
        return is_last and is_called and not self._is_against(letter, sentence)

    def _is_called(self, sentence: Sentence, number: int) -> bool:
        """Whether this part, or the one before it, calls something the answer."""
        return any(map(self.calls, sentence.parts[max(number - 1, 0) : number + 1]))

    def is_contested(self, answer: int) -> bool:
        """Whether the reply also supports another option, or takes its answer back."""
        others = (sentence.given - {answer} for sentence in self.questions)
        return (
            self.vocabulary.has(flat(self.text), "contrary")
            or any(others)
            or any(self._is_against(answer, sentence) for sentence in self.sentences)
            or any(sentence.parts[0].is_contrast and not sentence.is_clear for sentence in self.sentences)
        )

    def _is_against(self, answer: int, sentence: Sentence) -> bool:
        return any(self._speaks_against(answer, sentence, part) for part in sentence.parts)

    def _speaks_against(self, answer: int, sentence: Sentence, part: Clause) -> bool:
        """Whether the part supports another country, rather than just say that it holds the territory.

        It does in the same sentence as the answer, after a "but", in very few words, or if it says who owns
        the territory or what the answer is.
        """
        others = part.mentions - {answer}
        if not others or not part.is_asserted or others <= self.vocabulary.countries(part.flat, "holds"):
            return False
        is_owner = others & self.vocabulary.countries(part.flat, "belongs", "links")
        is_own = answer in (sentence.lettered if self.letters else sentence.asserted)
        return bool(is_own or part.is_contrast or part.is_short or is_owner or self.calls(part))


def _lettered(reply: _Reply) -> int | None:
    """The only letter, if it stands with its country, is called the answer, or is not contradicted."""
    if len(reply.letters) > 1 or any(letter != name for letter, name in _pairs(reply.text)):
        return None
    (letter,) = reply.letters
    if reply.concludes(letter):
        return letter
    is_affirmed = any(
        letter in part.letters and sentence.is_of_law(part) and sentence.affirms(part, letter)
        for sentence, part in reply.parts
    )
    is_sure = reply.owners == {letter} or (reply.mentions <= {letter} and is_affirmed)
    is_given = is_affirmed and reply.owners <= {letter} and reply.is_answer(letter)
    return letter if is_given or (is_sure and not reply.is_ours) else None


def _pairs(text: str) -> list[tuple[int, int]]:
    """The indices of each letter and name that stand together."""
    return [(option_index(letter), option_index(name)) for letter, name in _CONTRADICTED.findall(text)]


def _named(reply: _Reply) -> int | None:
    """The country that the reply begins with; else the owner it names; else the holder if it is alone."""
    if reply.is_ours or not reply.sentences:
        return None
    heads = option_indices(NAMES, " ".join(_HEAD.findall(reply.text)))
    if len(heads) == 1 and _HEAD.match(reply.text) and reply.owners <= heads:
        (head,) = heads
        first = reply.sentences[0]
        is_affirmed = any(
            head in part.mentions and first.is_of_law(part) and first.affirms(part, head)
            for part in first.parts
        )
        return head if is_affirmed else None
    if reply.owners:
        is_sure = len(reply.owners) == 1 and reply.owners <= (reply.last or reply.owners)
        return next(iter(reply.owners)) if is_sure else None
    return next(iter(reply.holders)) if len(reply.holders) == 1 and reply.holders == reply.mentions else None
