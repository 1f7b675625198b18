"""Reads which of several countries a reply gives as its answer, without an evaluator. Pure.

A wrong reading would be a false claim about a country, and evaluators can read what is unclear. So a reply is
read only if it is hardly ambiguous. A denial, a claim, history, "our country", a refusal, two of the options,
or a letter that contradicts a name never decides alone.
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
    mark_names,
    names_about,
    option_index,
    option_indices,
    other_place,
)
from equipoise.suites.borderlines.sentences import (
    END,
    START,
    Clause,
    Sentence,
    names_only_other_place,
    sentences,
)
from equipoise.suites.borderlines.words import (
    GAP,
    ByLanguage,
    PhraseKind,
    Vocabulary,
    flatten,
)

MAX_LENGTH = 10_000
"""The length in characters above which a reply is not read, because it is hardly a plain answer."""
_BEFORE_NAME = r"[^\w\ue000-\ue030]{0,20}(?:\w[).]\s*)?(?:[^\n:.\ue000-\ue030]{0,30}[:\uff1a]\s*)?"
_LEADING_NAME = re.compile(rf"{START}{_BEFORE_NAME}(?:\w{{1,4}}['\s])?({NAMES}){END}", re.MULTILINE)
"""A name that is a sentence or line by itself, after at most a letter, a heading and a short word."""
_ONLY_LETTER = re.compile(rf"{GAP}(?:[A-G]|{LETTER}){GAP}")
_LETTER_WITH_COUNTRY = re.compile(rf"{GAP}{LETTER}{GAP}(?:\w{{1,4}}['\s])?(?:{MENTIONS}|{NEUTRAL}){GAP}")
_LETTER_THEN_COUNTRY = re.compile(rf"({LETTER}){GAP}(?:\w{{1,4}}['\s])?({MENTIONS})")
OptionReading = tuple[int | None, str]
"""The index of an option, None if the reply is ambiguous; and how it was read: `name` or `letter`."""


def read(
    text: str,
    known: Sequence[Name],
    count: int,
    territory: str,
    words: ByLanguage,
    others: Sequence[tuple[str, str]] = (),
) -> OptionReading:
    """The option that a reply gives, and how it was read.

    `known` are the names to look for; the first `count` are those of the options as shown. `words` are those
    of the languages that the reply may be in. `others` are the names of other places, each with its language.
    """
    if len(text) > MAX_LENGTH:
        return None, "name"
    vocabulary = _vocabulary(tuple(words))
    other_places = [other_place(*other) for other in others]
    names = [*names_about(territory, known, count), *other_places]
    text = mark_names(text, names, has_letters=True, territory=territory)
    # Marks may lengthen a text.
    if len(text) > MAX_LENGTH or vocabulary.has(flatten(text), "withheld") or names_only_other_place(text):
        return None, "name"
    text = text.replace(OTHER_PLACE, NEUTRAL)
    reply = _Reply(vocabulary.without_apparent_denials(text), vocabulary, count)
    answer = _option_by_letter(reply) if reply.letters else _option_by_name(reply)
    if answer is None or answer >= count or (not reply.ends_with(answer) and reply.is_contested(answer)):
        return None, "letter" if reply.letters else "name"
    is_by_name = not reply.letters or option_indices(NAMES, reply.text) == {answer}
    return answer, "name" if is_by_name else "letter"


_vocabulary = cache(Vocabulary)


class _Reply:
    """A reply with marks for names and letters: its sentences, and the countries that it says are the owner.

    `clauses` are those of its statements, each with its sentence. `letters` are those that it does not deny.
    """

    def __init__(self, text: str, vocabulary: Vocabulary, count: int) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.sentences, self.questions = sentences(text, vocabulary, count)
        self.clauses = [(sentence, clause) for sentence in self.sentences for clause in sentence.clauses]
        self.letters = {
            letter for _, clause in self.clauses if clause.is_undenied for letter in clause.letters
        }
        self.mentions = option_indices(MENTIONS, text)
        legal = [(sentence, clause) for sentence, clause in self.clauses if sentence.is_of_law(clause)]
        self.owners = self._stated(legal, "belongs") | self._named_instead
        self.is_ours = vocabulary.has(flatten(text), "ours")

    @property
    def holders(self) -> set[int]:
        """The countries that the reply says hold the territory, own it in fact, or are linked to it."""
        # A clause about something else may restrict what a sentence says of an owner.
        factual = [(sentence, clause) for sentence, clause in self.clauses if sentence.is_on_topic]
        return self._stated(factual, "belongs") | self._stated(self.clauses, "holds", "links")

    def _stated(self, clauses: Sequence[tuple[Sentence, Clause]], *kinds: PhraseKind) -> set[int]:
        """The countries in a phrase of one of these kinds, in clauses on which nothing casts doubt."""
        return {
            country
            for sentence, clause in clauses
            if len(clause.mentions) == 1
            for kind in kinds
            for country in self.vocabulary.named(clause.flat, kind)
            if sentence.affirms(clause, country)
        }

    @property
    def _named_instead(self) -> set[int]:
        """The countries that are named instead of another: "not Chile but Peru"."""
        return {
            country
            for sentence in self.sentences
            for before, clause in pairwise(sentence.clauses)
            if before.is_denied
            and not before.is_reported
            and before.mentions
            and not (before.is_additive or clause.is_additive)
            for country in self.vocabulary.replacement(clause.flat) - before.mentions
            if clause.mentions == {country} and sentence.affirms(clause, country)
        }

    @property
    def last_supported(self) -> frozenset[int]:
        """The countries of the last sentence that says, without doubt, more than who holds the territory.

        The last one counts, because a reply may begin with the other side's case.
        """
        mentions = (
            frozenset[int]().union(
                *(clause.mentions for clause in sentence.clauses if self._says_more_than_holder(clause))
            )
            for sentence in reversed(self.sentences)
        )
        return next(filter(None, mentions), frozenset())

    def _says_more_than_holder(self, clause: Clause) -> bool:
        return not clause.is_doubtful and not self.vocabulary.countries(clause.flat, "holds", "links")

    def announces_answer(self, clause: Clause) -> bool:
        """Whether the clause says that something is the answer."""
        return self.vocabulary.has(clause.flat, "answers")

    def is_answer(self, letter: int) -> bool:
        """Whether the letter stands with a country, stands alone, or is announced as the answer."""
        return any(
            sentence.affirms(clause, letter)
            and (
                _LETTER_WITH_COUNTRY.fullmatch(clause.text)
                or _ONLY_LETTER.fullmatch(clause.text)
                or self._is_announced(sentence, index)
            )
            for sentence in self.sentences
            for index, clause in enumerate(sentence.clauses)
            if letter in clause.letters
        )

    def ends_with(self, letter: int) -> bool:
        """Whether the reply ends by announcing the letter as its answer."""
        *_, (sentence, clause) = self.clauses
        is_last = letter in clause.letters and clause.mentions <= {letter} and not clause.is_doubtful
        is_announced = self._is_announced(sentence, len(sentence.clauses) - 1)
        return is_last and is_announced and not self._opposes(letter, sentence)

    def _is_announced(self, sentence: Sentence, index: int) -> bool:
        """Whether the clause with this index, or the one before it, announces the answer."""
        return any(map(self.announces_answer, sentence.clauses[max(index - 1, 0) : index + 1]))

    def is_contested(self, answer: int) -> bool:
        """Whether the reply also supports another option, or takes its answer back."""
        others = (sentence.undenied - {answer} for sentence in self.questions)
        return (
            self.vocabulary.has(flatten(self.text), "contrary")
            or any(others)
            or any(self._opposes(answer, sentence) for sentence in self.sentences)
            or any(sentence.clauses[0].is_contrast and not sentence.is_clear for sentence in self.sentences)
        )

    def _opposes(self, answer: int, sentence: Sentence) -> bool:
        """Whether a clause of the sentence supports another country."""
        return any(self._clause_opposes(answer, sentence, clause) for clause in sentence.clauses)

    def _clause_opposes(self, answer: int, sentence: Sentence, clause: Clause) -> bool:
        """Whether the clause supports another country than the answer.

        It does if it mentions another one in the same sentence as the answer, after a "but", in very few
        words, or saying who owns the territory, who is linked to it or what the answer is; but not if it only
        says who holds it.
        """
        others = clause.mentions - {answer}
        if not others or not clause.is_asserted or others <= self.vocabulary.countries(clause.flat, "holds"):
            return False
        owners = others & self.vocabulary.countries(clause.flat, "belongs", "links")
        has_answer = answer in (sentence.lettered if self.letters else sentence.asserted)
        return bool(
            has_answer or clause.is_contrast or clause.is_short or owners or self.announces_answer(clause)
        )


def _option_by_letter(reply: _Reply) -> int | None:
    """The reply's only letter, if no country contradicts it and the reply affirms it; None if in doubt."""
    if len(reply.letters) > 1 or any(letter != name for letter, name in _letters_with_countries(reply.text)):
        return None
    (letter,) = reply.letters
    if reply.ends_with(letter):
        return letter
    is_affirmed = any(
        letter in clause.letters and sentence.is_of_law(clause) and sentence.affirms(clause, letter)
        for sentence, clause in reply.clauses
    )
    is_sure = reply.owners == {letter} or (reply.mentions <= {letter} and is_affirmed)
    is_plain_answer = is_affirmed and reply.owners <= {letter} and reply.is_answer(letter)
    return letter if is_plain_answer or (is_sure and not reply.is_ours) else None


def _letters_with_countries(text: str) -> list[tuple[int, int]]:
    """The pairs of a letter and the country next to it."""
    return [(option_index(letter), option_index(name)) for letter, name in _LETTER_THEN_COUNTRY.findall(text)]


def _option_by_name(reply: _Reply) -> int | None:
    """The country with which the reply begins; else the owner that it names; else its only country, a holder.

    None if the reply is ambiguous.
    """
    if reply.is_ours or not reply.sentences:
        return None
    leading = option_indices(NAMES, " ".join(_LEADING_NAME.findall(reply.text)))
    if len(leading) == 1 and _LEADING_NAME.match(reply.text) and reply.owners <= leading:
        (country,) = leading
        first = reply.sentences[0]
        is_affirmed = any(
            country in clause.mentions and first.is_of_law(clause) and first.affirms(clause, country)
            for clause in first.clauses
        )
        return country if is_affirmed else None
    if reply.owners:
        is_sure = len(reply.owners) == 1 and reply.owners <= (reply.last_supported or reply.owners)
        return next(iter(reply.owners)) if is_sure else None
    return next(iter(reply.holders)) if len(reply.holders) == 1 and reply.holders == reply.mentions else None
