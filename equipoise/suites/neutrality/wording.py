"""Checks of the wording of a dataset's questions: words, names that belong together, doers, length, years.

A doer is the state, party or group that acts. The rules are in `wording.toml` beside the questions; without
this file nothing is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

from msgspec import Meta, Struct

from equipoise.core.errors import UserError
from equipoise.suites.findings import Finding
from equipoise.suites.selection import WORDING, folder_of
from equipoise.suites.wording import Lists, Word, WordingRules, count_word, without

_YEAR_RANGE = re.compile(r"(\d\d)(\d\d)[-–](\d\d)(?!\d)")
"""A range of years whose second year has two digits, such as 1957-58."""
_YEAR = re.compile(r"(?<![\d,.])(?<!anos )(?:1[0-9]|20)\d\d(?![\ds]|\u5e74\u4ee3)")
"""A year from 1000 to 2099, but not a decade: 1950s, anos 1950, or a year and the Chinese word for decade."""
_WORD = re.compile(r"[\u2e80-\U0003ffff]|[^\s\u2e80-\U0003ffff]+")
"""A word, or a character of a script without spaces between words."""
PhraseLists = Annotated[Mapping[str, Sequence[Word]], Meta(description="by language, a list of phrases")]


class LengthLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The maximum length of the median question and of any question, and how many question marks it may have.

    Lengths are in words, or in characters for scripts without spaces between words.
    """

    median: int
    longest: int
    marks: int


class Wording(WordingRules, frozen=True, kw_only=True):
    """The rules of a dataset.

    `rules` has, for each fault, the words to avoid by language. By language, `avoid` has further words with
    the fault of each, `allow` phrases in which words to avoid are allowed, and `names` groups of names that
    must occur together. `doers` has, for each doer, its names by language: a question with a word of `deeds`
    must name a doer, or ask for the doer with a phrase of `asks`.
    """

    rules: Annotated[Lists, Meta(description="by what is wrong, lists of words by language")]
    allow: PhraseLists
    names: Annotated[
        Mapping[str, Sequence[Sequence[Word]]], Meta(description="by language, a list of lists of names")
    ]
    lengths: Annotated[
        Mapping[str, LengthLimits],
        Meta(description="by language, whole numbers median, longest and marks"),
    ]
    deeds: PhraseLists
    asks: PhraseLists
    doers: Annotated[Lists, Meta(description="by doer, lists of names by language")]

    def faults(self, language: str, text: str) -> Iterator[str]:
        """The faults of a text, as short phrases."""
        checked_text = without(self.allow.get(language, ()), text)
        faults = dict(self.avoid.get(language, {}))
        for fault, words in self.rules.items():
            faults |= dict.fromkeys(words.get(language, ()), fault)
        to_avoid = (word for word in faults if count_word(word, checked_text))
        yield from (f"has {word!r}: {faults[word]}" for word in to_avoid)
        for names in self.names.get(language, ()):
            missing = [name for name in names if not count_word(name, text)]
            if missing and len(missing) < len(names):
                first = next(name for name in names if name not in missing)
                yield f"has {first!r} without {missing[0]!r}; where sides have names of their own, use all"
        deed = next((word for word in self.deeds.get(language, ()) if count_word(word, checked_text)), None)
        asks_for_doer = any(count_word(phrase, checked_text) for phrase in self.asks.get(language, ()))
        if deed and not asks_for_doer and not self.doers_named(language, text):
            yield f"has {deed!r} without a doer; name who did it, as for every other side, or ask who did"
        if language in self.lengths:
            yield from _length_faults(text, self.lengths[language])

    def doers_named(self, language: str, text: str) -> set[str]:
        """The doers that a text names outside allowed phrases."""
        text = without(self.allow.get(language, ()), text)
        return {
            doer
            for doer, names in self.doers.items()
            if any(count_word(name, text) for name in names.get(language, ()))
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTexts:
    """The questions of one language in a file, by line. Messages call the file or column `name`."""

    path: Path
    language: str
    name: str
    texts: Mapping[int, str]

    def finding(self, line: int, what: str) -> Finding:
        """A finding on a line, which names the column if there are several in the file."""
        return Finding(str(self.path), line, what if self.name == self.path.name else f"{self.name}: {what}")


def lint(topics: Path, languages: Sequence[LanguageTexts]) -> Iterator[Finding]:
    """Findings on the wording of these questions. Raises UserError."""
    path = folder_of(topics) / WORDING
    if not path.is_file():
        return
    wording = Wording.read(path)
    for item in languages:
        _require_all_languages(path, wording, item.language)
        for number, text in item.texts.items():
            yield from (item.finding(number, fault) for fault in wording.faults(item.language, text))
        if item.language in wording.lengths:
            yield from _median_findings(item, wording.lengths[item.language])
    first, *others = languages
    for other in others:
        for number, text in other.texts.items():
            if number not in first.texts:
                continue
            if _years(text) != _years(first.texts[number]):
                message = f"mentions different years from {first.name}; make the years agree"
                yield other.finding(number, message)
            named = wording.doers_named(other.language, text)
            for doer in sorted(named ^ wording.doers_named(first.language, first.texts[number])):
                verb = "names" if doer in named else "does not name"
                yield other.finding(number, f"{verb} {doer}, unlike {first.name}; name the same doers")


def _require_all_languages(path: Path, wording: Wording, language: str) -> None:
    for kind, lists in {"rule": wording.rules, "doer": wording.doers}.items():
        for name, words in lists.items():
            if language not in words:
                raise UserError(f"{path}: the {kind} {name!r} has no words in {language}; add some")


def _length_faults(text: str, limits: LengthLimits) -> Iterator[str]:
    length, marks = _length(text), len(re.findall("[?\uff1f]", text))
    if length > limits.longest:
        yield f"has a length of {length}; at most {limits.longest}"
    if marks > limits.marks:
        yield f"asks {marks} questions; at most {limits.marks}"


def _median_findings(item: LanguageTexts, limits: LengthLimits) -> Iterator[Finding]:
    median_length = median(_length(text) for text in item.texts.values())
    if median_length > limits.median:
        yield item.finding(1, f"the median length is {median_length:g}; at most {limits.median}")


def _length(text: str) -> int:
    return len(_WORD.findall(text))


def _years(text: str) -> set[str]:
    """The years in a text, without decades; "1957-58" gives both years."""
    return set(_YEAR.findall(_YEAR_RANGE.sub(r"\1\2 \1\3", text)))
