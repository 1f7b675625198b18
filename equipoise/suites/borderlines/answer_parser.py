"""Reads which of several countries an answer names, without a judge. Pure.

By whole names, then by a letter, and only in sentences that deny nothing: "It is not part of Russia" does not
name Russia.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from equipoise.suites.borderlines.dataset import LETTERS

_LETTER = re.compile(r"(?<![A-Za-z0-9.])\(?([A-G])\s?(?:[)\uff09:\uff1a]|\.(?![A-Za-z]))")
_LONE = re.compile(r"[\s(\[\"'*]*([A-G])[\s)\]\"'*.\u3002]*")
INFLECTING = frozenset(
    ["az", "bs", "el", "hr", "hy", "ka", "ky", "mn", "ru", "sl", "sq", "sr", "tg", "tr", "uk", "uz"]
)
"""Languages whose names change their endings with the grammatical case."""
_ARTICLE, _TO_THE = "\u0627\u0644", "\u0644\u0644"
_VOWELS = "aeiouəıöüаеёиоуыэюяіїєαεηιουωάέήίόύώ\u10d0\u10d4\u10d8\u10dd\u10e3"
HINT, NOBODY = "~", "-"
"""Marks before a variant: it tells that a country is spoken of, or it covers a name and speaks of none."""
UNPARTED = frozenset(["ja", "km", "lo", "my", "th", "zh-Hans", "zh-Hant"])
"""Languages that write no spaces between words: names are searched for anywhere."""
ANY = "*"
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4", "'"))
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u061f\u06d4])\s+|(?<=[\u0589\u0964\u104b\u1362\u17d4\u3002\uff01\uff1f])|\n"
)


# Names.


class _Word(NamedTuple):
    """What to look for, whose it is (None: nobody's), and whether it names its country or hints at it."""

    text: str
    place: int | None
    counts: bool


def by_name(
    text: str,
    names: Sequence[str],
    language: str = "en",
    variants: Sequence[Sequence[str]] = (),
    territory: str = "",
) -> int | None:
    """The place of the only country that is named; None where none or several are.

    `variants` are further names of each. One with `~` before it (an adjective, say) names nobody, but where
    it speaks of another country than the name does, nothing is read. One with `-` before it covers a name
    that means no country ("South China Sea"). The longest are looked for first, and what they cover counts
    for no other: "People's Republic of China" does not say "Republic of China", nor "South Sudan" "Sudan". In
    languages that inflect, the end of each word may be another.

    `territory` is the name of what was asked about. It says nothing itself. Where a country's name is in it
    nothing is read; where a variant is, only the names as shown count and all variants are hints.
    """
    words = [_Word(name, place, True) for place, name in enumerate(names)]
    further = [_word(name, place) for place, more in enumerate(variants) for name in more]
    if territory:
        if _found(territory, words, language)[0]:
            return None
        if _found(territory, further, language)[0]:
            further = [word._replace(counts=False) for word in further]
        words.append(_Word(territory, None, False))
    named, hinted = _found(text, [*words, *further], language)
    return named.pop() if len(named) == 1 and hinted <= named else None


def _word(variant: str, place: int) -> _Word:
    if variant.startswith(NOBODY):
        return _Word(variant.removeprefix(NOBODY), None, False)
    return _Word(variant.removeprefix(HINT), place, not variant.startswith(HINT))


def _found(text: str, words: Sequence[_Word], language: str) -> tuple[set[int], set[int]]:
    """The countries that are named in the text, and those that are hinted at."""
    named: set[int] = set()
    hinted: set[int] = set()
    rest = unicodedata.normalize("NFKC", text)
    # Abbreviations of two letters first, while capitals can be told: "US" is not "us".
    for word in sorted(words, key=lambda word: (not _is_short(word.text), -len(word.text))):
        if not _is_short(word.text):
            rest = _folded(rest)
        rest, count = _pattern(word.text, language).subn("\0", rest)
        if count and word.place is not None:
            (named if word.counts else hinted).add(word.place)
    return named, hinted


def _is_short(name: str) -> bool:
    return len(name) == 2 and name.isupper()


@cache
def _pattern(name: str, language: str) -> re.Pattern[str]:
    if _is_short(name):
        return re.compile(rf"(?<!\w){name}(?!\w)")
    return _whole(_folded(name), language)


def _folded(text: str) -> str:
    """Lower case, Unicode-normalised, with one kind of apostrophe and space."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return " ".join(folded.split())


def _whole(name: str, language: str) -> re.Pattern[str]:
    """The name as a whole where its script parts words with blanks; anywhere where it does not."""
    if language in INFLECTING:
        return re.compile(r"(?<!\w)" + r"\s+".join(_stems(name)) + r"(?!\w)")
    if language == "ar" and name.startswith(_ARTICLE):
        # Behind "to" the article melts into it.
        return re.compile(f"(?:{_ARTICLE}|{_TO_THE}){re.escape(name.removeprefix(_ARTICLE))}")
    start, end = (r"(?<!\w)" if _parts_words(name[0]) else "", r"(?!\w)" if _parts_words(name[-1]) else "")
    return re.compile(f"{start}{re.escape(name)}{end}")


def _stems(name: str) -> Iterator[str]:
    """Each word with any ending, also behind an apostrophe, and what is derived from it.

    A last vowel falls; of a name of several words two, as adjectives have them. Up to three letters are an
    abbreviation, or a word between others: these have an ending behind an apostrophe only.
    """
    words = name.split()
    for word in words:
        stem = word
        for _ in range(2 if len(words) > 1 else 1):
            stem = stem[:-1] if len(stem) > 3 and stem[-1] in _VOWELS else stem
        yield re.escape(stem) + (r"(?:'?\w{0,8})" if len(word) > 3 else r"(?:'\w{0,8})?")


def _parts_words(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN", "GREEK", "CYRILLIC", "DIGIT"))


# Letters, and the original's way of reading.


def by_letter(text: str, options: int) -> int | None:
    """The index of the only letter in the answer; None if there is none, several, or one out of range."""
    lone = _LONE.fullmatch(text.strip())
    letters = {lone[1]} if lone else set(_LETTER.findall(text))
    places = {LETTERS.index(letter) for letter in letters}
    return places.pop() if len(places) == 1 and max(places) < options else None


def original_parse(text: str, names: Sequence[str]) -> int:
    """As the published benchmark does it without a person: exact names, then letters, then the earliest.

    One name that occurs as written; else one of A) to G) that occurs once; else the name that occurs first;
    else the first claimant.
    """
    named = [place for place, name in enumerate(names) if name in text]
    if len(named) == 1:
        return named[0]
    letters = re.findall(r"([A-G])\)", text)
    if len(letters) == 1 and LETTERS.index(letters[0]) < len(names):
        return LETTERS.index(letters[0])
    return min(named, key=lambda place: text.index(names[place]), default=0)


# Denials.


def affirmed(text: str, language: str, denials: Sequence[str]) -> str:
    """The sentences in which none of these words stands; without words, all of the text.

    A `*` at an end of a word stands for anything there. What deals with a denial in another sentence, or
    with one that these words do not have, is not seen.
    """
    if not denials:
        return text
    pattern = _denial(tuple(denials), language not in UNPARTED)
    sentences = (part for part in _SENTENCE_END.split(text) if part.strip())
    return "\n".join(part for part in sentences if not pattern.search(_flat(part)))


@cache
def _denial(denials: tuple[str, ...], parts_words: bool) -> re.Pattern[str]:
    if parts_words:
        return re.compile("|".join(map(_denying_word, denials)))
    return re.compile("|".join(re.escape(_letters(word)) for word in denials))


def _denying_word(denial: str) -> str:
    start, end = (r"\S*" if has_any else "" for has_any in (denial.startswith(ANY), denial.endswith(ANY)))
    return f" {start}{re.escape(_letters(denial))}{end} "


def _flat(text: str) -> str:
    """The words of a text, each between single spaces."""
    words = (word.strip("'") for word in _letters(text).split())
    return f" {' '.join(filter(None, words))} "


def _letters(text: str) -> str:
    """Small letters, marks, digits and apostrophes; one blank for whatever else is between them."""
    folded = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold()
    kept = (letter if unicodedata.category(letter)[0] in "LMN" or letter == "'" else " " for letter in folded)
    return " ".join("".join(kept).split())
