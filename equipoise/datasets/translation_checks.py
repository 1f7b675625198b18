"""Automatic checks of a translation: script, numbers, quotation marks and placeholders."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SCRIPTS = {"arc": "Syrc", "crh": "Latn", "ku": None, "nah": "Latn", "zhs": "Hans", "zht": "Hant"}
"""The scripts of languages that CLDR lacks or gets wrong. None for Kurdish, which is written in several."""
_SCRIPT_NAMES = {
    "Beng": "BENGALI", "Cans": "CANADIAN SYLLABICS", "Hani": "CJK", "Hans": "CJK", "Hant": "CJK",
    "Jpan": "CJK", "Kore": "HANGUL", "Lana": "TAI THAM", "Lisu": "LISU", "Mtei": "MEETEI MAYEK",
    "Nkoo": "NKO", "Orya": "ORIYA", "Plrd": "MIAO",
}  # fmt: skip
"""The prefix of the Unicode names of a script's letters, if it is not the script's English name in CLDR."""
_ALLOWED_SCRIPTS = {"CJK": ("CJK", "HIRAGANA", "KATAKANA"), "HANGUL": ("HANGUL", "CJK")}
_MIN_SCRIPT_SHARE = 0.5
"""The minimum share of letters in the language's script. It is low because names may stay untranslated."""
_MIN_LENGTH_SHARE = 0.25
"""The minimum length of a translated reply as a share of the source's length, both in bytes of UTF-8.

Bytes are counted because a Chinese character, for example, has three bytes and stands for more than a letter.
"""
_SEPARATOR = r"[.,'\u2019\u066b\u066c]"
_NUMBER = re.compile(rf"\d+(?:{_SEPARATOR}\d+)*")
_GROUPED = re.compile(
    rf"(\d{{1,3}}(?:{_SEPARATOR}\d{{3}})+|\d{{1,2}}(?:{_SEPARATOR}\d{{2}})+{_SEPARATOR}\d{{3}})({_SEPARATOR}\d+)?"
)
"""A number with digits grouped by three, or as in India by two before the last three, with any fraction."""
_SPACED_THOUSANDS = r"(?<!\d)(?<!\d[.,])\d{1,3}(?:%s\d{3})+(?!\d)"
"""A number with thousands separated by spaces; `%s` stands for the space."""
_THOUSANDS_WITH_SPACES = re.compile(_SPACED_THOUSANDS % " ")
_THOUSANDS_WITH_NARROW_SPACES = re.compile(_SPACED_THOUSANDS % r"[\u00a0\u2009\u202f]")
_PLACEHOLDER = re.compile(r"\{\w+\}")
_QUOTES = frozenset('"\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f')
_HEBREW_ABBREVIATION = re.compile(r'(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])')
_PREAMBLE = re.compile(r"^\s*(here is|translation\s*:|sure[,!])", re.IGNORECASE)


def line_flags(source: str, text: str, source_language: str, language: str) -> list[str]:
    """The problems of a translation of one line, a phrase for each."""
    if not text:
        return ["it is empty"]
    flags = []
    if len(text.splitlines()) > 1:
        flags.append("it has several lines")
    if _PREAMBLE.match(text):
        flags.append("it has words before the translation")
    if source_language != language and _is_same(source, text):
        flags.append("it is the source itself")
    if not _is_in_script(text, language):
        flags.append(f"most of its letters are not in the script of {language}")
    if not any(numbers in _numbers(text) for numbers in _numbers(source)):
        flags.append("its numbers are not those of the source")
    if _quote_pairs(source) != _quote_pairs(text):
        flags.append("it has another number of quotation marks than the source")
    if Counter(_PLACEHOLDER.findall(source)) != Counter(_PLACEHOLDER.findall(text)):
        flags.append("its placeholders are not those of the source")
    return flags


def reply_flags(source: str, text: str, source_language: str, language: str) -> list[str]:
    """The problems of a translation of a whole reply, a phrase for each.

    Such a text may have several lines, and numbers may be written differently.
    """
    if not text:
        return ["it is empty"]
    flags = []
    if source_language != language and _is_same(source, text):
        flags.append("it is the source itself")
    if not _is_in_script(text, language):
        flags.append(f"most of its letters are not in the script of {language}")
    if len(text.encode(errors="replace")) < _MIN_LENGTH_SHARE * len(source.encode(errors="replace")):
        flags.append("it is much shorter than the reply")
    return flags


def script(language: str) -> str | None:
    """The script of a language, as in the Unicode names of its letters; None if unknown.

    It is the script in the language code, or else the usual script of the language in its region (CLDR).
    """
    from babel import Locale
    from babel.core import parse_locale

    try:
        code, region, named, *_ = parse_locale(language.replace("-", "_"))
    except ValueError:
        return None
    name = named or _usual_script(code, region) or ""
    return _SCRIPT_NAMES.get(name) or Locale("en").scripts.get(name, "").upper() or None


def _usual_script(code: str, region: str | None) -> str | None:
    """The four-letter code of a language's usual script; None if unknown."""
    from babel.core import get_global, parse_locale

    if code in _SCRIPTS:
        return _SCRIPTS[code]
    code = get_global("language_aliases").get(code, code).partition("_")[0]
    likely = get_global("likely_subtags")
    return parse_locale(likely.get(f"{code}_{region}") or likely.get(code) or code)[2]


def _is_same(source: str, text: str) -> bool:
    """Whether two texts have the same letters and digits, at least one of them a letter."""
    one, other = ("".join(filter(str.isalnum, item.casefold())) for item in (source, text))
    return one == other and any(map(str.isalpha, one))


def _is_in_script(text: str, language: str) -> bool:
    """Whether enough of the letters are in the language's script; true if there is nothing to compare."""
    name = script(language)
    letters = [letter for letter in _PLACEHOLDER.sub("", text) if letter.isalpha()]
    if name is None or not letters:
        return True
    prefixes = _ALLOWED_SCRIPTS.get(name, (name,))
    matching = sum(unicodedata.name(letter, "").startswith(prefixes) for letter in letters)
    return matching >= _MIN_SCRIPT_SHARE * len(letters)


def _numbers(text: str) -> list[Counter[str]]:
    """The numbers in a text, with digits and separators normalised, in two readings.

    In the first reading a space separates two numbers; in the second it may separate thousands.
    """
    western = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in text)
    spaces_separate_numbers = _THOUSANDS_WITH_NARROW_SPACES.sub(_digits_of, western)
    spaces_separate_thousands = _THOUSANDS_WITH_SPACES.sub(_digits_of, spaces_separate_numbers)
    readings = (spaces_separate_numbers, spaces_separate_thousands)
    return [Counter(map(_normalised, _NUMBER.findall(reading))) for reading in readings]


def _digits_of(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match[0])


def _normalised(number: str) -> str:
    """The number without thousands separators, and with a point for each other separator."""
    grouped = _GROUPED.fullmatch(number)
    integer, fraction = (re.sub(r"\D", "", grouped[1]), grouped[2] or "") if grouped else (number, "")
    return re.sub(_SEPARATOR, ".", integer + fraction)


def _quote_pairs(text: str) -> int:
    """The number of pairs of quotation marks, without those of Chinese titles and Hebrew abbreviations."""
    return sum(character in _QUOTES for character in _HEBREW_ABBREVIATION.sub("", text)) // 2
