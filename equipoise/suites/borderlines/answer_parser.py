"""Finds the countries and the letters that a text names, in any spelling and grammatical case. Pure.

Each match is replaced by a single character that marks its country or letter, so that readers work on one
short text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Literal, NamedTuple

from equipoise.core.unicode import nfkc
from equipoise.suites.borderlines.dataset import LETTERS, single_names

_OPTION_LETTER = re.compile(
    r"(?<![A-Za-z0-9.'-])[(\[\uff08]?([A-G])\s?(?:[)\]\uff09:\uff1a\u3001]|\.(?=\s|$))", re.MULTILINE
)
"""A letter as before an option: in brackets, or followed by a bracket, a colon or a full stop."""
_LETTER_LINE = re.compile(r"(?:^|(?<=[:\uff1a\u3002]))[ \t\"'(\[]*([A-G])[ \t\"')\].\u3002]*$", re.MULTILINE)
"""A letter that is a line by itself, or the rest of a line after a colon."""
INFLECTING = frozenset(
    ["az", "bs", "el", "hr", "hy", "ka", "ky", "mn", "ru", "sl", "sq", "sr", "tg", "tr", "uk", "uz"]
)
"""Languages in which names change their endings with the grammatical case."""
_ARTICLE, _TO_THE = "\u0627\u0644", "\u0644\u0644"
"""The Arabic article, and its form after "to"."""
_VOWELS = "aeiouəıöüаеёиоуыэюяіїєαεηιουωάέήίόύώ\u10d0\u10d4\u10d8\u10dd\u10e3"
HINT, NOBODY = "~", "-"
"""Prefixes of variants. HINT: the variant shows that a country is mentioned, but does not name it. NOBODY: it
contains a country's name, but means no country."""
UNSPACED = frozenset(["ja", "km", "lo", "my", "th", "zh-Hans", "zh-Hant"])
"""Languages without spaces between words."""
_SAME_SPELLING = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u0060\u00b4", "'"), "\u81fa": "\u53f0"}
)
"""Maps apostrophes to one of them, and likewise the two ways to write the first character of Taiwan."""
_WORD_WITH_LETTER = re.compile(r"\w+ [A-G]\b")
_CAPITAL_BEFORE = re.compile(r"(?:\w|,) (\w)[\w']*[ -]$")
"""The first character of the word before a name, unless that word begins a sentence."""
_LONGEST_CONTEXT = 24
"""The characters before a name in which the word before it is searched."""
_MARKUP = re.compile(r"[*_#>|~\u200b\u200e\u200f\ue000-\ue03f]+")
_MARKUP_BETWEEN_WORDS = re.compile(
    r"(?<=\w)\*{0,3}[#>|~][*#>|~]*(?=\w)|(?<=[A-Za-z\u00c0-\u058f])[*_]+(?=[A-Za-z\u00c0-\u058f])"
)
"""Markup that separates two words."""
_NAMED, _HINTED, _LETTERED, NEUTRAL, OTHER_PLACE = 0xE000, 0xE010, 0xE020, "\ue030", "\ue031"
"""The marks, in a private range of Unicode. For names, hints and letters: the first character, to which the
option's index is added. Then the marks of text that means no country, and of another place than the one asked
about."""
NAMES, MENTIONS, LETTER = "[\ue000-\ue00f]", "[\ue000-\ue01f]", "[\ue020-\ue02f]"
"""Patterns that match the marks of names, of names and hints, and of letters."""


class Name(NamedTuple):
    """A name to look for, in a language.

    It names the option with the index `option`, or only hints at it. Or it is another place than the one
    asked about, or means no country; then `option` is None.
    """

    text: str
    option: int | None
    meaning: Literal["name", "hint", "other_place", "no_country"]
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

    A variant that begins with `~`, such as an adjective, hints at its country without naming it. A variant
    that begins with `-` contains a country's name, but means no country ("South China Sea").
    """
    shown = [Name(name, index, "name", language) for index, name in enumerate(names)]
    return (
        *shown,
        *(_variant(name, index, language) for index, more in enumerate(variants) for name in more),
    )


def _variant(variant: str, index: int, language: str) -> Name:
    if variant.startswith(NOBODY):
        return Name(variant.removeprefix(NOBODY), None, "no_country", language)
    return Name(variant.removeprefix(HINT), index, "hint" if variant.startswith(HINT) else "name", language)


def names_about(territory: str, known: Sequence[Name], count: int) -> list[Name]:
    """The names to look for in a reply about the territory, whose own names mean no country.

    The first `count` of the `known` names are those of the options as shown. If the territory's name contains
    one of these, all names are only hints. If it contains only a variant, all variants are only hints.
    """
    if not territory:
        return [*known]
    territory_text = normalised(territory)
    matches = {name for name in known if name.option is not None and _occurs_in(name, territory_text)}
    reliable = 0 if matches & {*known[:count]} else count if matches else len(known)
    names = [*known[:reliable], *map(_as_hint, known[reliable:])]
    # Of names of equal length, the first is matched first: those as shown precede the territory's.
    first = count if reliable else 0
    own = dict.fromkeys((territory, *single_names(territory)))
    return [
        *names[:first],
        *(Name(name, None, "no_country", known[0].language) for name in own),
        *names[first:],
    ]


def _as_hint(name: Name) -> Name:
    return name._replace(meaning="hint") if name.meaning == "name" else name


def other_place(name: str, language: str) -> Name:
    """A name that shows that a text is about another place."""
    return Name(name, None, "other_place", language)


def _occurs_in(name: Name, text: str) -> bool:
    return _pattern(name.text, name.language).search(text) is not None


def normalised(text: str) -> str:
    """The text, Unicode-normalised, with one kind of apostrophe and one spelling of Taiwan; line breaks stay.

    Markup is removed, and so are the characters that serve as marks.
    """
    text = nfkc(text.translate(_SAME_SPELLING))
    return _MARKUP.sub("", _MARKUP_BETWEEN_WORDS.sub(", ", text))


def mark_names(text: str, known: Sequence[Name], has_letters: bool = False, territory: str = "") -> str:
    """The text with a mark in place of each name and hint, and of each letter if `has_letters`.

    A letter that is a part of the territory's name ("Area C") gets no mark.
    """
    text = normalised(text)
    for part in _WORD_WITH_LETTER.findall(normalised(territory)):
        text = text.replace(part, NEUTRAL)
    for pattern in (_LETTER_LINE, _OPTION_LETTER) if has_letters else ():
        # The space keeps the letter apart from a word that follows its bracket.
        text = pattern.sub(lambda match: f"{chr(_LETTERED + LETTERS.index(match[1]))} ", text)
    has_case = text != text.lower()
    # Abbreviations of two letters come first, then the longest names, so that "People's Republic of China"
    # is not taken for "Republic of China".
    for name in sorted(known, key=lambda name: (not _is_short(name.text), -len(name.text))):
        text = _pattern(name.text, name.language).sub(partial(_mark, name, has_case), text)
    return text


def _mark(name: Name, has_case: bool, match: re.Match[str]) -> str:
    """The mark that replaces a match of a name, in a text that has capitals if `has_case`."""
    if name.option is None:
        return OTHER_PLACE if name.meaning == "other_place" else NEUTRAL
    # In a text with capitals "argentina" is an adjective.
    is_adjective = has_case and match[0].islower() and name.text[0].isupper() and " " not in name.text
    is_name = name.meaning == "name" and not is_adjective and not _is_within_a_name(match)
    return chr((_NAMED if is_name else _HINTED) + name.option)


def _is_within_a_name(match: re.Match[str]) -> bool:
    """Whether the match is part of a longer name, such as "Sudan People's Party".

    It is if the next word, or the word before it in the sentence, begins with a capital.
    """
    text, start, end = match.string, match.start(), match.end()
    goes_on = text[end : end + 1] in (" ", "-") and text[end + 1 : end + 2].isupper()
    before = _CAPITAL_BEFORE.search(text, max(start - _LONGEST_CONTEXT, 0), start)
    return goes_on or (before is not None and before[1].isupper())


def _is_short(name: str) -> bool:
    return len(name) == 2 and name.isupper()


@cache
def _pattern(name: str, language: str) -> re.Pattern[str]:
    if _is_short(name):
        return re.compile(rf"(?<!\w){name}(?!\w)")
    return re.compile(_name_pattern(" ".join(normalised(name).split()), language), re.IGNORECASE)


def _name_pattern(name: str, language: str) -> str:
    """The pattern of a name: whole words if Latin, Greek, Cyrillic or digits; in other scripts anywhere."""
    if language in INFLECTING:
        return r"(?<!\w)" + r"\s+".join(_stem_patterns(name)) + r"(?!\w)"
    spaced = re.escape(name).replace(r"\ ", r"\s+")
    if language == "ar" and name.startswith(_ARTICLE):
        # The article fuses with a preceding "to".
        return f"(?:{_ARTICLE}|{_TO_THE}){spaced.removeprefix(_ARTICLE)}"
    start, end = (
        r"(?<!\w)" if _separates_words(name[0]) else "",
        r"(?!\w)" if _separates_words(name[-1]) else "",
    )
    return f"{start}{spaced}{end}"


def _stem_patterns(name: str) -> Iterator[str]:
    """The patterns of a name's words, each with any ending, also after an apostrophe.

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
