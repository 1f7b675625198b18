"""Finds the countries and the letters that a text names, in any spelling and grammatical case. Pure.

Each match is replaced by a single character that marks its country or letter, so that readers work on one
short text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

from equipoise.core.unicode import nfkc
from equipoise.suites.borderlines.dataset import LETTERS

_OPTION = re.compile(
    r"(?<![A-Za-z0-9.'-])[(\[\uff08]?([A-G])\s?(?:[)\]\uff09:\uff1a\u3001]|\.(?=\s|$))", re.MULTILINE
)
_LONE = re.compile(r"(?:(?<=^)|(?<=[:\uff1a\u3002]))[ \t\"'(\[]*([A-G])[ \t\"')\].\u3002]*$", re.MULTILINE)
INFLECTING = frozenset(
    ["az", "bs", "el", "hr", "hy", "ka", "ky", "mn", "ru", "sl", "sq", "sr", "tg", "tr", "uk", "uz"]
)
"""Languages in which names change their endings with the grammatical case."""
_ARTICLE, _TO_THE = "\u0627\u0644", "\u0644\u0644"
_VOWELS = "aeiouəıöüаеёиоуыэюяіїєαεηιουωάέήίόύώ\u10d0\u10d4\u10d8\u10dd\u10e3"
HINT, NOBODY = "~", "-"
"""Prefixes of variants. HINT: the variant shows that a country is mentioned, but does not name it. NOBODY: it
contains a country's name, but means no country."""
UNSPACED = frozenset(["ja", "km", "lo", "my", "th", "zh-Hans", "zh-Hant"])
"""Languages without spaces between words: names are searched for anywhere."""
_SPELLINGS = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4", "'"), "\u81fa": "\u53f0"}
)
"""Apostrophes, and the two ways to write the first character of Taiwan."""
_WITH_LETTER = re.compile(r"\w+ [A-G]\b")
_CAPITAL_BEFORE = re.compile(r"(?:\w|,) (\w)[\w']*[ -]$")
_LONGEST_WORD = 24
_MARKUP = re.compile(r"[*_#>|~\u200b\u200e\u200f\ue000-\ue03f]+")
_BETWEEN = re.compile(
    r"(?<=\w)\*{0,3}[#>|~][*#>|~]*(?=\w)|(?<=[A-Za-z\u00c0-\u058f])[*_]+(?=[A-Za-z\u00c0-\u058f])"
)
"""Markup between two words."""
_NAMED, _HINTED, _LETTERED, NEUTRAL, OTHER_PLACE = 0xE000, 0xE010, 0xE020, "\ue030", "\ue031"
"""The first of the characters that mark names, hints and letters; the mark of text that means no country,
and the mark of another place than the one asked about."""
NAMES, MENTIONS, LETTER = "[\ue000-\ue00f]", "[\ue000-\ue01f]", "[\ue020-\ue02f]"
"""Patterns that match the marks of names, of names and hints, and of letters."""


class Name(NamedTuple):
    """A name to look for.

    `option` is the index of its option. A name that `counts` names the option, any other only hints at it. If
    `option` is None, a name that `counts` is another place, any other means no country.
    """

    text: str
    option: int | None
    counts: bool
    language: str


def option_index(mark: str) -> int:
    """The index of the option that a mark of a country or letter refers to."""
    return ord(mark) % 16


def option_indices(pattern: str, text: str) -> set[int]:
    """The indices of the options whose marks in the text match the pattern."""
    return {option_index(mark) for mark in re.findall(pattern, text)}


# Names.


@cache
def lexicon(
    names: tuple[str, ...], language: str, variants: tuple[tuple[str, ...], ...] = ()
) -> tuple[Name, ...]:
    """The names to look for: those of the options as shown, then their `variants`.

    Longer names are matched first, so that "People's Republic of China" does not match "Republic of China". A
    variant that begins with `~`, such as an adjective, hints at its country without naming it. A variant that
    begins with `-` contains a country's name, but means no country ("South China Sea"). In inflecting
    languages, each word may have another ending.
    """
    shown = [Name(name, index, True, language) for index, name in enumerate(names)]
    return (
        *shown,
        *(_variant(name, index, language) for index, more in enumerate(variants) for name in more),
    )


def _variant(variant: str, index: int, language: str) -> Name:
    if variant.startswith(NOBODY):
        return Name(variant.removeprefix(NOBODY), None, False, language)
    return Name(variant.removeprefix(HINT), index, not variant.startswith(HINT), language)


def about(territory: str, known: Sequence[Name], count: int) -> list[Name]:
    """The names to look for in a reply about the territory, whose own name means no country.

    The first `count` of the `known` names are those of the options as shown. If the territory's name contains
    one of these, no name counts. If it contains only a variant, only the names as shown count.
    """
    if not territory:
        return [*known]
    name = plain(territory)
    matches = {word for word in known if word.option is not None and _finds(word, name)}
    shown = 0 if matches & {*known[:count]} else count if matches else len(known)
    counted = [word._replace(counts=word.counts and n < shown) for n, word in enumerate(known)]
    first = count if shown else 0
    return [*counted[:first], Name(territory, None, False, known[0].language), *counted[first:]]


def other_place(name: str, language: str) -> Name:
    """A name that shows that a text is about another place."""
    return Name(name, None, True, language)


def _finds(word: Name, text: str) -> bool:
    return _pattern(word.text, word.language).search(text) is not None


def plain(text: str) -> str:
    """The text, Unicode-normalised, with one kind of apostrophe and one spelling of Taiwan; lines stay.

    Markup is removed, and so are the characters that serve as marks.
    """
    text = nfkc(text.translate(_SPELLINGS))
    return _MARKUP.sub("", _BETWEEN.sub(", ", text))


def marked(text: str, known: Sequence[Name], letters: int = 0, territory: str = "") -> str:
    """The text with a mark in place of each name and hint, and of each letter unless `letters` is 0.

    A letter that is a part of the territory's name ("Area C") is not marked.
    """
    rest = plain(text)
    for part in _WITH_LETTER.findall(plain(territory)):
        rest = rest.replace(part, NEUTRAL)
    for pattern in (_LONE, _OPTION) if letters else ():
        rest = pattern.sub(lambda match: f"{chr(_LETTERED + LETTERS.index(match[1]))} ", rest)
    has_case = rest != rest.lower()
    # Abbreviations of two letters come first, then the longest names.
    for word in sorted(known, key=lambda word: (not _is_short(word.text), -len(word.text))):
        rest = _pattern(word.text, word.language).sub(partial(_mark, word, has_case), rest)
    return rest


def _mark(word: Name, has_case: bool, match: re.Match[str]) -> str:
    if word.option is None:
        return OTHER_PLACE if word.counts else NEUTRAL
    # In a text with capitals "argentina" is an adjective.
    is_adjective = has_case and match[0].islower() and word.text[0].isupper() and " " not in word.text
    is_name = word.counts and not is_adjective and not _is_within_a_name(match)
    return chr((_NAMED if is_name else _HINTED) + word.option)


def _is_within_a_name(match: re.Match[str]) -> bool:
    """Whether the match is part of a longer name, such as "Sudan People's Party".

    It is if the next word begins with a capital, or the word before it within the sentence does.
    """
    text, start, end = match.string, match.start(), match.end()
    goes_on = text[end : end + 1] in (" ", "-") and text[end + 1 : end + 2].isupper()
    before = _CAPITAL_BEFORE.search(text, max(start - _LONGEST_WORD, 0), start)
    return goes_on or (before is not None and before[1].isupper())


def _is_short(name: str) -> bool:
    return len(name) == 2 and name.isupper()


@cache
def _pattern(name: str, language: str) -> re.Pattern[str]:
    if _is_short(name):
        return re.compile(rf"(?<!\w){name}(?!\w)")
    return re.compile(_whole(" ".join(plain(name).split()), language), re.IGNORECASE)


def _whole(name: str, language: str) -> str:
    """The pattern of a name: whole words if its script has spaces between words, else anywhere."""
    if language in INFLECTING:
        return r"(?<!\w)" + r"\s+".join(_stems(name)) + r"(?!\w)"
    spaced = re.escape(name).replace(r"\ ", r"\s+")
    if language == "ar" and name.startswith(_ARTICLE):
        # The article fuses with a preceding "to".
        return f"(?:{_ARTICLE}|{_TO_THE}){spaced.removeprefix(_ARTICLE)}"
    start, end = (
        r"(?<!\w)" if _separates_words(name[0]) else "",
        r"(?!\w)" if _separates_words(name[-1]) else "",
    )
    return f"{start}{spaced}{end}"


def _stems(name: str) -> Iterator[str]:
    """The pattern of each word with any ending, also after an apostrophe.

    Final vowels are dropped from the stem: one, or up to two in names of several words, which contain
    adjectives. Words of up to three letters are abbreviations or particles, and take an ending only after an
    apostrophe.
    """
    words = name.split()
    for word in words:
        stem = word
        for _ in range(2 if len(words) > 1 else 1):
            stem = stem[:-1] if len(stem) > 3 and stem[-1].lower() in _VOWELS else stem
        yield re.escape(stem) + (r"\w{0,8}(?:'\w{0,8})?" if len(word) > 3 else r"(?:'\w{0,8})?")


def _separates_words(character: str) -> bool:
    return unicodedata.name(character, "").startswith(("LATIN", "GREEK", "CYRILLIC", "DIGIT"))


# The original's way of reading.


def original_parse(text: str, names: Sequence[str]) -> int:
    """Index of the answer by the published benchmark's parser: exact names, then letters, then the earliest.

    One name that occurs as written; else one of A) to G) that occurs once; else the name that occurs first;
    else the first claimant.
    """
    named = [index for index, name in enumerate(names) if name in text]
    if len(named) == 1:
        return named[0]
    letters = re.findall(r"([A-G])\)", text)
    if len(letters) == 1 and LETTERS.index(letters[0]) < len(names):
        return LETTERS.index(letters[0])
    return min(named, key=lambda index: text.index(names[index]), default=0)
