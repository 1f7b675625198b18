"""Reads which of several countries a reply gives as its answer, without a judge. Pure.

A wrong reading is a false claim about a country, and there is a judge: so only what can hardly be understood
in another way is read. A denial, what somebody claims, history, "our country", a refusal, or a letter that
contradicts a name never decide alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain, pairwise
from typing import Literal

from equipoise.suites.borderlines.answer_parser import (
    LETTER,
    MENTIONS,
    NAMES,
    NEUTRAL,
    UNPARTED,
    Name,
    about,
    marked,
    place,
    places,
)
from equipoise.suites.borderlines.dataset import LETTERS

ANY, COUNTRY, FURTHER = "*", "{}", ".."
_WIDE = r"\u0589\u0964\u104b\u1362\u17d4\u3002\uff01"
"""Stops behind which no space is needed."""
_SENTENCE_END = re.compile(rf"(?<=[.!?\u061f\u06d4])\s+|(?<=[{_WIDE}\uff1f])|\n")
_QUESTION = re.compile(r"[?\uff1f\u061f\u1367]\W*$")
_QUOTED = re.compile(
    "|".join(
        (
            r"\u00ab[^\u00bb]{15,}\u00bb",
            r"[\u201c\u201e][^\u201c\u201d]{15,}[\u201c\u201d]",
            r"\u300c[^\u300d]{8,}\u300d",
            r'"[^"]{15,}"',
        )
    )
)
_BARE = re.compile(r"(?<=\w )([A-G])(?!\.?[\w'])|(?<![\w.'-])([A-G])(?!\.?[\w'])(?!\s+[a-z\u00e0-\u024f])")
"""A letter without a mark; "A dispute" has none."""
_PART_END = re.compile(r"[,;:\u060c\u061b\uff0c\uff1b\uff1a()\[\]\u0387\u2013\u2014]|\s-\s")
_GAP = r"[^\w\ue000-\ue030]*"
_BARELY = re.compile(rf"{_GAP}(?:[A-G]|{LETTER}){_GAP}")
_ONE_MORE = re.compile(rf"^{_GAP}(?:\w{{1,4}}\s+)?({MENTIONS}){_GAP}(?:\w{{1,4}}\s+{MENTIONS}{_GAP})?$")
_START = rf"(?:^|(?<=[.!?\u061f\u06d4]\s)|(?<=[{_WIDE}\uff1f]))"
_LEAD = r"[^\w\ue000-\ue030]{0,20}(?:\w[).]\s*)?(?:[^\n:.\ue000-\ue030]{0,30}[:\uff1a]\s*)?"
_END = rf"[\"'\u201d\u00bb]*\s*(?!\.\.|\u2026)(?:$|[.!\n(\u06d4{_WIDE}\u2013\u2014]|-\s)"
_GIVEN = re.compile(
    rf"{_START}{_LEAD}({LETTER}){_GAP}(?:\w{{1,4}}['\s])?({MENTIONS}|{NEUTRAL})(?:{_END}|[,:;\uff0c])",
    re.MULTILINE,
)
_ALONE = re.compile(rf"^{_LEAD}({LETTER}){_GAP}$", re.MULTILINE)
_HEAD = re.compile(rf"{_START}{_LEAD}(?:\w{{1,4}}['\s])?({NAMES}){_END}", re.MULTILINE)
_CONTRADICTED = re.compile(rf"({LETTER}){_GAP}(?:\w{{1,4}}['\s])?({NAMES})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a language by which the reader knows what a reply does with a name.

    `certain` are phrases that only look like a denial. In a part with `denials` or `doubts` nothing is
    affirmed, with `withheld` there is no answer, and `ours` is a country without its name. `turns` begin a
    new part of a sentence, and so do those of `instead`, behind which stands what is right where a country is
    denied: "not Chile but Peru"; with `besides` it stands beside it. With one of `sides` before a name with a
    capital a sentence tells a view, which `contrary` takes back. `belongs` say whose a territory is, `holds`
    who holds it, and with `answers` the letter of the answer stands. A `*` at an end of a word stands for
    anything there.
    """

    certain: Sequence[str] = ()
    denials: Sequence[str] = ()
    doubts: Sequence[str] = ()
    withheld: Sequence[str] = ()
    ours: Sequence[str] = ()
    turns: Sequence[str] = ()
    instead: Sequence[str] = ()
    besides: Sequence[str] = ()
    sides: Sequence[str] = ()
    contrary: Sequence[str] = ()
    belongs: Sequence[str] = ()
    holds: Sequence[str] = ()
    answers: Sequence[str] = ()


KINDS = tuple(field.name for field in fields(Words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a sentence: its text with marks, whether it is denied, and whether it is claimed or past."""

    text: str
    is_denied: bool
    is_told: bool

    @property
    def is_doubtful(self) -> bool:
        """Whether it affirms nothing."""
        return self.is_denied or self.is_told

    @property
    def mentions(self) -> set[int]:
        """The countries that are named or hinted at."""
        return places(MENTIONS, self.text)


Found = tuple[int | None, str]
ByLanguage = Sequence[tuple[str, Words]]


def read(text: str, known: Sequence[Name], count: int, territory: str, words: ByLanguage) -> Found:
    """The index of the option that a reply gives, and how: by name, or by letter; None where it is in doubt.

    `known` are the names to look for, of which the first `count` are those of the options as shown. `words`
    go by language: those of the question's, and of others in which a reply may be.
    """
    said = marked(text, about(territory, known, count), count, territory)
    if any(_has(said, language, item.withheld) for language, item in words):
        return None, "name"
    for language, item in words:
        said = _without(said, language, item.certain)
    reply = _Reply(said, words)
    if any(letter != name for letter, name in _pairs(_CONTRADICTED, said)):
        return None, "letter"
    letters = {letter for part in reply.parts if not part.is_denied for letter in _letters(part.text, count)}
    found = _lettered(reply, letters) if letters else _named(reply)
    if found is None or found >= count:
        return None, "letter" if letters else "name"
    return found, "name" if not letters or {found} == places(NAMES, said) else "letter"


class _Reply:
    """A reply with marks for names and letters, its sentences in parts, and whom it calls the owner."""

    def __init__(self, said: str, words: ByLanguage) -> None:
        self.said = said
        self.words = words
        self.sentences = [[*_parts(sentence, words)] for sentence in _affirmed(said)]
        self.parts = [part for sentence in self.sentences for part in sentence]
        self.owners = self.stated("belongs") | self.preferred
        self.is_ours = any(_has(said, language, item.ours) for language, item in words)
        self.is_taken_back = any(_has(said, language, item.contrary) for language, item in words)

    def stated(self, kind: Literal["belongs", "holds"]) -> set[int]:
        """The countries that stand in a phrase of this kind where nothing casts doubt on it."""
        phrases = self._phrases(kind)
        return {
            country
            for sentence in self.sentences
            for number, part in enumerate(sentence)
            for country in _in_phrases(part.text, phrases)
            if part.mentions == {country} and _affirms(sentence, number, country)
        }

    @property
    def preferred(self) -> set[int]:
        """The countries that are named in the place of another: "not Chile but Peru"."""
        return {
            country
            for sentence in self.sentences
            for number, (before, part) in enumerate(pairwise(sentence), start=1)
            if before.is_denied and not before.is_told and before.mentions
            for country in self._instead(before, part) - before.mentions
            if part.mentions == {country} and _affirms(sentence, number, country)
        }

    @property
    def last(self) -> set[int]:
        """The countries of the last sentence that tells without doubt more than who holds the territory.

        A reply may begin with the other side's case.
        """
        phrases = self._phrases("holds")
        said = (
            {
                country
                for part in sentence
                if not part.is_doubtful and not _in_phrases(part.text, phrases)
                for country in part.mentions
            }
            for sentence in reversed(self.sentences)
        )
        return next(filter(None, said), set())

    @property
    def answers(self) -> set[int]:
        """The letters that the reply calls its answer, or with which it ends a sentence: "Therefore, A"."""
        ends = (sentence[-1] for sentence in self.sentences if len(sentence) > 1)
        called = (part for part in self.parts if not part.is_doubtful and self._calls(part))
        alone = (part for part in ends if _BARELY.fullmatch(part.text))
        return {letter for part in chain(called, alone) for letter in _letters(part.text)}

    @property
    def announced(self) -> set[int]:
        """The letters behind a part that calls them the answer: "So the answer: A"."""
        pairs = (pair for sentence in self.sentences for pair in pairwise(sentence))
        called = (part for before, part in pairs if not before.is_doubtful and self._calls(before))
        return {letter for part in called if not part.is_doubtful for letter in _letters(part.text)}

    def _phrases(self, kind: Literal["belongs", "holds"]) -> list[tuple[str, str]]:
        return [(language, phrase) for language, item in self.words for phrase in getattr(item, kind)]

    def _instead(self, before: Part, part: Part) -> set[int]:
        """The country behind a word of contrast with which the part begins, if none is added to another."""
        both = f"{before.text} {part.text}"
        if any(_has(both, language, item.besides) for language, item in self.words):
            return set()
        flat = _flat(part.text.replace("'", " "))
        found = (
            _contrast(tuple(item.instead), language in UNPARTED).fullmatch(flat)
            for language, item in self.words
            if item.instead
        )
        return {place(match[1]) for match in found if match}

    def _calls(self, part: Part) -> bool:
        return any(_has(part.text, language, item.answers) for language, item in self.words)


def _pairs(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """The letters and names that stand together; a territory that is called as an option goes with any."""
    found = ((place(letter), name) for letter, name in pattern.findall(text))
    return [(letter, letter if name == NEUTRAL else place(name)) for letter, name in found]


def _letters(text: str, count: int = len(LETTERS)) -> set[int]:
    """The letters in a text; of those without a mark only the ones of so many options."""
    bare = {LETTERS.index(letter) for letter in chain(*_BARE.findall(text)) if letter}
    return places(LETTER, text) | {letter for letter in bare if letter < count}


def _lettered(reply: _Reply, letters: set[int]) -> int | None:
    """The option of the letter that is given with its name, called the answer, or alone.

    Else of the only letter, which nothing contradicts.
    """
    given = {letter for letter, _ in _pairs(_GIVEN, reply.said)} | reply.answers
    given |= reply.announced if len(letters) == 1 else set()
    if len(given or letters) > 1 or not reply.owners <= (given or letters):
        return None
    (found,) = given or letters
    if given and (letters == given or found in reply.answers or _GIVEN.match(reply.said)):
        return found
    if len(letters) > 1:
        return None
    mentioned = {country for part in reply.parts if not part.is_denied for country in part.mentions}
    is_alone = _ALONE.search(reply.said) and (not mentioned or found in places(NAMES, reply.said))
    is_sure = mentioned <= {found} or reply.owners == {found}
    return found if is_alone or (is_sure and not reply.is_ours) else None


def _named(reply: _Reply) -> int | None:
    """The country that the reply begins with, the owner it names, or the holder if it is the only one."""
    if reply.is_ours:
        return None
    heads = places(NAMES, " ".join(_HEAD.findall(reply.said)))
    if len(heads) == 1 and _HEAD.match(reply.said) and reply.owners <= heads:
        return heads.pop()
    if reply.owners:
        is_sure = len(reply.owners) == 1 and reply.owners <= (reply.last or reply.owners)
        return next(iter(reply.owners)) if is_sure and not reply.is_taken_back else None
    holders = reply.stated("holds")
    return holders.pop() if len(holders) == 1 and holders == places(MENTIONS, reply.said) else None


def _in_phrases(text: str, phrases: Sequence[tuple[str, str]]) -> set[int]:
    """The countries named in one of the phrases; none where one is only hinted at."""
    flat = _flat(text.replace("'", " "))
    if not re.search(MENTIONS, flat):
        return set()
    found = {
        match[1]
        for language, phrase in phrases
        for match in _phrase(phrase, language in UNPARTED).finditer(flat)
    }
    return {place(mark) for mark in found} if all(re.match(NAMES, mark) for mark in found) else set()


def _affirms(sentence: Sequence[Part], number: int, country: int) -> bool:
    """Whether nothing in the sentence casts doubt on this part, but what speaks of other countries.

    "It is part of Japan, China and Korea" affirms nothing.
    """
    before, behind = sentence[:number], sentence[number + 1 :]
    return (
        not sentence[number].is_doubtful
        and all(part.mentions and country not in part.mentions for part in before if part.is_doubtful)
        and all(part.mentions - {country} for part in behind if part.is_doubtful)
        and not any(_ONE_MORE.match(part.text) for part in behind[:1])
    )


# Sentences, their parts, and words.


def _affirmed(said: str) -> Iterator[str]:
    """The sentences that ask and quote nothing."""
    own = _QUOTED.sub(NEUTRAL, said)
    return (part for part in _SENTENCE_END.split(own) if part.strip() and not _QUESTION.search(part))


def _parts(sentence: str, words: ByLanguage) -> Iterator[Part]:
    is_view = _is_view(sentence, words)
    for language, item in words:
        if turns := (*item.instead, *item.turns):
            sentence = _turning(turns, language in UNPARTED).sub(r",\g<0>", sentence)
    for text in filter(str.strip, _PART_END.split(sentence)):
        is_denied = any(_has(text, language, item.denials) for language, item in words)
        is_told = is_view or any(
            _has(text, language, found) for language, item in words for found in (item.doubts, item.ours)
        )
        yield Part(text=text, is_denied=is_denied, is_told=is_told)


def _is_view(sentence: str, words: ByLanguage) -> bool:
    """Whether it begins with the place whose view it tells: "For Lima it is Peruvian"."""
    firsts = (_side(tuple(item.sides)).match(sentence) for _, item in words if item.sides)
    return any(first and (first[1].isupper() or re.match(MENTIONS, first[1])) for first in firsts)


@cache
def _side(words: tuple[str, ...]) -> re.Pattern[str]:
    """One of the words, with what the next one begins with."""
    return re.compile(rf"{_GAP}(?:{'|'.join(map(re.escape, words))})\s+(.)", re.IGNORECASE)


@cache
def _turning(turns: tuple[str, ...], is_unparted: bool) -> re.Pattern[str]:
    """One of the words as it is written."""
    found = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in turns)
    return re.compile(found if is_unparted else rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)


def _without(said: str, language: str, words: Sequence[str]) -> str:
    return _turning(tuple(words), language in UNPARTED).sub("", said) if words else said


def _has(text: str, language: str, words: Sequence[str]) -> bool:
    """Whether one of the words stands in the text; anywhere where words are not parted."""
    if not words:
        return False
    return _any_of(tuple(words), language in UNPARTED).search(_flat(text)) is not None


@cache
def _any_of(words: tuple[str, ...], is_unparted: bool) -> re.Pattern[str]:
    return re.compile("|".join(_unparted(word) if is_unparted else _word(word) for word in words))


def _unparted(word: str) -> str:
    return re.escape(_small(word))


def _word(word: str) -> str:
    """The word, or words, with any beginning or ending where a star is."""
    parts = (
        (r"\S*" if part.startswith(ANY) else "")
        + re.escape(_small(part))
        + (r"\S*" if part.endswith(ANY) else "")
        for part in word.split()
    )
    return f" {' '.join(parts)} "


@cache
def _phrase(phrase: str, is_unparted: bool) -> re.Pattern[str]:
    country = f"({MENTIONS})"
    if is_unparted:
        before, after = (map(_unparted, part.split(FURTHER)) for part in phrase.split(COUNTRY))
        between = r"[^\ue000-\ue030]{0,10}"
        return re.compile(f"{between.join(before)} ?{country} ?{between.join(after)}")
    found = ""
    for part in phrase.replace("'", " ").replace(COUNTRY, f" {COUNTRY} ").split():
        if part == FURTHER:
            found += rf"(?:[^\s\ue000-\ue030]+ |{NEUTRAL} ?){{0,2}}"
        elif part == COUNTRY:
            found += rf"[^\W\d_]{{0,3}} ?{country} ?"
        else:
            found += re.escape(_small(part)) + (r"\S*" if part.endswith(ANY) else "") + " "
    return re.compile(f"(?<!\\S){found.rstrip(' ?')}")


@cache
def _contrast(words: tuple[str, ...], is_unparted: bool) -> re.Pattern[str]:
    """One of the words, its country, and little more."""
    found = "|".join(re.escape(_small(word)) for word in words)
    if is_unparted:
        return re.compile(rf" ?(?:{found})[^\ue000-\ue030]{{0,4}}({MENTIONS})[^\ue000-\ue030]{{0,6}}")
    return re.compile(rf" (?:{found}) (?:\w{{1,5}} ){{0,2}}[^\W\d_]{{0,3}}({MENTIONS})[^\W\d_]*(?: \w+)? ")


def _flat(text: str) -> str:
    """The words of a text, each between single spaces."""
    words = (word.strip("'") for word in _small(text).split())
    return f" {' '.join(filter(None, words))} "


def _small(text: str) -> str:
    """Small letters, marks, digits and apostrophes; one blank for whatever else is between them."""
    return " ".join("".join(map(_kept, text.casefold())).split())


@cache
def _kept(letter: str) -> str:
    is_kept = unicodedata.category(letter)[0] in "LMN" or letter == "'" or "\ue000" <= letter <= "\ue030"
    return letter if is_kept else " "
