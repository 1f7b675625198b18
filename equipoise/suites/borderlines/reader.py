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

ANY, COUNTRY, FURTHER = "*", "{}", ".."
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u061f\u06d4])\s+|(?<=[\u0589\u0964\u104b\u1362\u17d4\u3002\uff01\uff1f])|\n"
)
_QUESTION = re.compile(r"[?\uff1f\u061f\u1367]\W*$")
_PART_END = re.compile(r"[,;:\u060c\u061b\uff0c\uff1b\uff1a()\[\]\u0387\u2013\u2014]|\s-\s")
_GAP = r"[^\w\ue000-\ue030]*"
_LEAD = rf"^{_GAP}(?:[^\n:.\ue000-\ue030]{{0,30}}[:\uff1a]\s*)?"
_END = r"[\"'\u201d\u00bb]*\s*(?:$|[.!\n(\u3002\uff01\u0964\u06d4\u17d4\u2013\u2014]|-\s)"
_GIVEN = re.compile(
    rf"{_LEAD}({LETTER}){_GAP}(?:\w{{1,4}}['\s])?({MENTIONS}|{NEUTRAL})(?:{_END}|[,:;\uff0c])", re.MULTILINE
)
_ALONE = re.compile(rf"{_LEAD}({LETTER}){_GAP}$", re.MULTILINE)
_HEAD = re.compile(rf"{_LEAD}(?:\w{{1,4}}['\s])?({NAMES}){_END}")
_CONTRADICTED = re.compile(rf"({LETTER}){_GAP}(?:\w{{1,4}}['\s])?({NAMES})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of a language by which the reader knows what a reply does with a name.

    `certain` are phrases that only look like a denial. In a part with `denials` or `doubts` nothing is
    affirmed, with `withheld` there is no answer, and `ours` is a country without its name. `turns` begin a
    new part of a sentence, `belongs` say whose a territory is, and `holds` who holds it. A `*` at an end of a
    word stands for anything there.
    """

    certain: Sequence[str] = ()
    denials: Sequence[str] = ()
    doubts: Sequence[str] = ()
    withheld: Sequence[str] = ()
    ours: Sequence[str] = ()
    turns: Sequence[str] = ()
    belongs: Sequence[str] = ()
    holds: Sequence[str] = ()


KINDS = tuple(field.name for field in fields(Words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a sentence: its text with marks, whether it is denied, and whether it affirms nothing."""

    text: str
    is_denied: bool
    is_doubtful: bool

    @property
    def mentions(self) -> set[int]:
        """The countries that are named or hinted at."""
        return places(MENTIONS, self.text)


Found = tuple[int | None, str]


def read(
    text: str, known: Sequence[Name], count: int, territory: str, words: Sequence[tuple[str, Words]]
) -> Found:
    """The index of the option that a reply gives, and how: by name, or by letter; None where it is in doubt.

    `known` are the names to look for, of which the first `count` are those of the options as shown. `words`
    go by language: those of the question's, and of others in which a reply may be.
    """
    said = marked(text, about(territory, known, count), count, territory)
    if any(_has(said, language, item.withheld) for language, item in words):
        return None, "name"
    for language, item in words:
        said = _without(said, language, item.certain)
    sentences = [[*_parts(sentence, words)] for sentence in _affirmed(said)]
    parts = [part for sentence in sentences for part in sentence]
    is_ours = any(_has(said, language, item.ours) for language, item in words)
    if any(letter != name for letter, name in _pairs(_CONTRADICTED, said)):
        return None, "letter"
    owners = _stated(sentences, [(language, phrase) for language, item in words for phrase in item.belongs])
    letters = {letter for part in parts if not part.is_denied for letter in places(LETTER, part.text)}
    if letters:
        found = _lettered(said, parts, letters, owners, count, is_ours)
        return found, "name" if {found} == places(NAMES, said) else "letter"
    return (None if is_ours else _named(said, sentences, owners, words)), "name"


def _pairs(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """The letters and names that stand together; a territory that is called as an option goes with any."""
    found = ((place(letter), name) for letter, name in pattern.findall(text))
    return [(letter, letter if name == NEUTRAL else place(name)) for letter, name in found]


def _lettered(
    said: str, parts: Sequence[Part], letters: set[int], owners: set[int], count: int, is_ours: bool
) -> int | None:
    """The option of the letter that is given with its name or alone; else of one that nothing contradicts."""
    given = {letter for letter, _ in _pairs(_GIVEN, said)}
    given = given if len(given) == 1 or not (first := _GIVEN.match(said)) else given & {place(first[1])}
    if len(letters) > 1 and not (len(given) == 1 and _GIVEN.match(said)):
        return None
    found = next(iter(given if given else letters))
    if found >= count or len(given) > 1 or not owners <= {found}:
        return None
    mentioned = {one for part in parts if not part.is_denied for one in part.mentions}
    if given or (mentioned <= {found} and not is_ours):
        return found
    if _ALONE.search(said) and (not mentioned or found in places(NAMES, said)):
        return found
    return found if owners == {found} and not is_ours else None


def _named(
    said: str, sentences: Sequence[Sequence[Part]], owners: set[int], words: Sequence[tuple[str, Words]]
) -> int | None:
    """The country that the reply begins with, the only one it speaks of, or the one that it says owns it."""
    head = _HEAD.match(said)
    if head and owners <= {place(head[1])}:
        return place(head[1])
    if len(owners) == 1:
        return next(iter(owners))
    holders = _stated(sentences, [(language, phrase) for language, item in words for phrase in item.holds])
    return holders.pop() if len(holders) == 1 and holders == places(MENTIONS, said) else None


def _stated(sentences: Sequence[Sequence[Part]], phrases: Sequence[tuple[str, str]]) -> set[int]:
    """The countries that stand in one of the phrases where nothing casts doubt on it, and no other beside."""
    found: set[int] = set()
    for sentence in sentences:
        for number, part in enumerate(sentence):
            stated = {
                country
                for country in _in_phrases(part.text, phrases)
                if _affirms(sentence, number, country) and not _is_listed(sentence, number, country)
            }
            found |= stated
    return found


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
    """Whether nothing in the sentence casts doubt on this part, but what speaks of other countries."""
    before, behind = sentence[:number], sentence[number + 1 :]
    return (
        not sentence[number].is_doubtful
        and all(part.mentions and country not in part.mentions for part in before if part.is_doubtful)
        and all(part.mentions - {country} for part in behind if part.is_doubtful)
    )


_BESIDE = re.compile(
    rf"({MENTIONS})[^\w\ue000-\ue030]{{0,3}}(?:\w{{1,4}}[^\w\ue000-\ue030])?(?=({MENTIONS}))"
)
_ONE_MORE = re.compile(rf"^{_GAP}(?:\w{{1,4}}\s+)?({MENTIONS}){_GAP}(?:\w{{1,4}}\s+{MENTIONS}{_GAP})?$")


def _is_listed(sentence: Sequence[Part], number: int, country: int) -> bool:
    """Whether another country stands beside it: "Japan and China", "Japan, China"."""
    text = sentence[number].text
    beside = any({place(a), place(b)} > {country} for a, b in _BESIDE.findall(text))
    following = [_ONE_MORE.match(part.text) for part in sentence[number + 1 : number + 2]]
    return beside or any(match and place(match[1]) != country for match in following)


# Sentences, their parts, and words.


def _affirmed(said: str) -> Iterator[str]:
    """The sentences that ask nothing."""
    return (part for part in _SENTENCE_END.split(said) if part.strip() and not _QUESTION.search(part))


def _parts(sentence: str, words: Sequence[tuple[str, Words]]) -> Iterator[Part]:
    for language, item in words:
        if item.turns:
            sentence = _turning(tuple(item.turns), language in UNPARTED).sub(r",\g<0>", sentence)
    for text in filter(str.strip, _PART_END.split(sentence)):
        is_denied = any(_has(text, language, item.denials) for language, item in words)
        is_doubtful = is_denied or any(
            _has(text, language, found) for language, item in words for found in (item.doubts, item.ours)
        )
        yield Part(text=text, is_denied=is_denied, is_doubtful=is_doubtful)


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
    return re.escape(_letters(word))


def _word(word: str) -> str:
    """The word, or words, with any beginning or ending where a star is."""
    parts = (
        (r"\S*" if part.startswith(ANY) else "")
        + re.escape(_letters(part))
        + (r"\S*" if part.endswith(ANY) else "")
        for part in word.split()
    )
    return f" {' '.join(parts)} "


@cache
def _phrase(phrase: str, is_unparted: bool) -> re.Pattern[str]:
    country = f"({MENTIONS})"
    if is_unparted:
        before, after = phrase.split(COUNTRY)
        return re.compile(f"{_unparted(before)} ?{country} ?{_unparted(after)}")
    found = ""
    for part in phrase.replace("'", " ").replace(COUNTRY, f" {COUNTRY} ").split():
        if part == FURTHER:
            found += r"(?:[^\s\ue000-\ue030]+ ){0,2}"
        elif part == COUNTRY:
            found += rf"[^\W\d_]{{0,3}} ?{country} ?"
        else:
            found += re.escape(_letters(part)) + (r"\S*" if part.endswith(ANY) else "") + " "
    return re.compile(f"(?<!\\S){found.rstrip(' ?')}")


def _flat(text: str) -> str:
    """The words of a text, each between single spaces."""
    words = (word.strip("'") for word in _letters(text).split())
    return f" {' '.join(filter(None, words))} "


def _letters(text: str) -> str:
    """Small letters, marks, digits and apostrophes; one blank for whatever else is between them."""
    return " ".join("".join(map(_kept, text.casefold())).split())


@cache
def _kept(letter: str) -> str:
    is_kept = unicodedata.category(letter)[0] in "LMN" or letter == "'" or "\ue000" <= letter <= "\ue030"
    return letter if is_kept else " "
