"""Checks of the wording of a dataset's questions: words, names that belong together, doers, length, years.

The rules are in `wording.toml` beside the questions; without this file nothing is checked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from equipoise.core import toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON
from equipoise.suites.findings import Finding
from equipoise.suites.selection import WORDING

_YEAR_RANGE = re.compile(r"(\d\d)(\d\d)[-–](\d\d)(?!\d)")
"""A range of years whose second year has two digits, such as 1957-58."""
_YEAR = re.compile(r"(?<![\d,.])(?<!anos )(?:1[0-9]|20)\d\d(?![\ds]|\u5e74\u4ee3)")
"""A year from 1000 to 2099, but no decade: 1950s, anos 1950, or the year and the Chinese word for decade."""
_LETTER = r"[^\W\u2e80-\U0003ffff]"
"""A letter or digit of a script with spaces between words."""
_WORD = re.compile(r"[\u2e80-\U0003ffff]|[^\s\u2e80-\U0003ffff]+")
"""A word, or a character of a script without spaces between words."""
_TABLES = ("avoid", "rules", "allow", "names", "lengths", "deeds", "asks", "doers")


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthLimits:
    """The maximum length of the median question and of any question, and how many question marks it may have.

    Lengths are in words, or in characters for scripts without spaces between words.
    """

    median: int
    longest: int
    marks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The rules of a dataset.

    `rules` has, for each fault, the words to avoid by language. The others have languages first: `avoid` has
    further words with the fault of each, `allow` phrases in which words to avoid are allowed, and `names`
    groups of names that must occur together. `doers` has, for each state, party or group that acts, its names
    by language: a question with a word of `deeds` names a doer or asks for it with a phrase of `asks`.
    """

    avoid: Mapping[str, Mapping[str, str]]
    rules: Mapping[str, Mapping[str, Sequence[str]]]
    allow: Mapping[str, Sequence[str]]
    names: Mapping[str, Sequence[Sequence[str]]]
    lengths: Mapping[str, LengthLimits]
    deeds: Mapping[str, Sequence[str]]
    asks: Mapping[str, Sequence[str]]
    doers: Mapping[str, Mapping[str, Sequence[str]]]

    def faults(self, language: str, text: str) -> Iterator[str]:
        """The faults of a text, as short phrases."""
        yield from self._words_to_avoid(language, text)
        for names in self.names.get(language, ()):
            missing = [name for name in names if not _occurs(name, text)]
            if missing and len(missing) < len(names):
                first = next(name for name in names if name not in missing)
                yield f"has {first!r} without {missing[0]!r}; where sides have names of their own, all stand"
        yield from self._deeds_without_doer(language, text)
        if language in self.lengths:
            yield from _length_faults(text, self.lengths[language])

    def _deeds_without_doer(self, language: str, text: str) -> Iterator[str]:
        checked_text = _without_phrases(self.allow.get(language, ()), text)
        asks_for_doer = any(_occurs(phrase, checked_text) for phrase in self.asks.get(language, ()))
        deed = next((word for word in self.deeds.get(language, ()) if _occurs(word, checked_text)), None)
        if deed and not asks_for_doer and not self.doers_named(language, text):
            yield f"has {deed!r} without a doer; name who did it, as for every other side, or ask who did"

    def doers_named(self, language: str, text: str) -> set[str]:
        """The doers that a text names, outside of phrases that are allowed."""
        text = _without_phrases(self.allow.get(language, ()), text)
        return {
            doer
            for doer, names in self.doers.items()
            if any(_occurs(name, text) for name in names.get(language, ()))
        }

    def _words_to_avoid(self, language: str, text: str) -> Iterator[str]:
        checked_text = _without_phrases(self.allow.get(language, ()), text)
        faults = dict(self.avoid.get(language, {}))
        for fault, words in self.rules.items():
            faults |= dict.fromkeys(words.get(language, ()), fault)
        yield from (f"has {word!r}: {fault}" for word, fault in faults.items() if _occurs(word, checked_text))


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageTexts:
    """The questions of one language in a file, by line. `name` is that of the file or column in messages."""

    path: Path
    language: str
    name: str
    texts: Mapping[int, str]

    def finding(self, line: int, what: str) -> Finding:
        """A finding on a line, which names the column if there are several in the file."""
        return Finding(str(self.path), line, what if self.name == self.path.name else f"{self.name}: {what}")


def lint(topics: Path, languages: Sequence[LanguageTexts]) -> Iterator[Finding]:
    """Findings on the wording of these questions. Raises UserError."""
    path = (topics if topics.is_dir() else topics.parent) / WORDING
    if not path.is_file():
        return
    wording = read(path)
    for item in languages:
        _require_all_languages(path, wording, item.language)
        for number, text in item.texts.items():
            yield from (item.finding(number, fault) for fault in wording.faults(item.language, text))
        if item.language in wording.lengths:
            yield from _median_findings(item, wording.lengths[item.language])
    first, *others = languages
    for other in others:
        for number, text in other.texts.items():
            if number in first.texts and _years(text) != _years(first.texts[number]):
                yield other.finding(number, f"names other years than {first.name}; make them the same")
            if number in first.texts:
                named = wording.doers_named(other.language, text)
                differing = named ^ wording.doers_named(first.language, first.texts[number])
                for doer in sorted(differing):
                    verb = "names" if doer in named else "does not name"
                    yield other.finding(number, f"{verb} {doer}, unlike {first.name}; name the same doers")


def _require_all_languages(path: Path, wording: Wording, language: str) -> None:
    for fault, words in wording.rules.items():
        if language not in words:
            raise UserError(f"{path}: the rule {fault!r} has no words in {language}; a rule holds in all")
    for doer, names in wording.doers.items():
        if language not in names:
            raise UserError(f"{path}: the doer {doer!r} has no names in {language}; a doer has names in all")


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


def read(path: Path) -> Wording:
    """The rules of a file. Raises UserError."""
    try:
        data = toml_text.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    if unknown := data.keys() - set(_TABLES):
        raise UserError(f"{path}: has {min(unknown)!r}; there may be tables {', '.join(_TABLES)}")
    avoid, rules, allow, names, lengths, deeds, asks, doers = (data.get(table, {}) for table in _TABLES)
    if not (
        _is_table(avoid) and all(_is_table(words) and _are_texts(words.values()) for words in avoid.values())
    ):
        raise UserError(f"{path}: avoid needs, by language, words and what is wrong with each")
    if not (_is_table(rules) and all(_is_table(rule) and _are_lists(rule) for rule in rules.values())):
        raise UserError(f"{path}: rules needs, by what is wrong, lists of words by language")
    if not (_is_table(doers) and all(_is_table(names) and _are_lists(names) for names in doers.values())):
        raise UserError(f"{path}: doers needs, by doer, lists of names by language")
    for table, phrases in {"allow": allow, "deeds": deeds, "asks": asks}.items():
        if not (_is_table(phrases) and _are_lists(phrases)):
            raise UserError(f"{path}: {table} needs, by language, a list of phrases")
    if not (_is_table(names) and all(_are_groups(groups) for groups in names.values())):
        raise UserError(f"{path}: names needs, by language, a list of lists of names")
    return Wording(
        avoid=avoid,
        rules=rules,
        allow=allow,
        names=names,
        lengths=_lengths(path, lengths),
        deeds=deeds,
        asks=asks,
        doers=doers,
    )


def _lengths(path: Path, data: JSON) -> Mapping[str, LengthLimits]:
    if not (_is_table(data) and all(_are_limits(value) for value in data.values())):
        raise UserError(f"{path}: lengths needs, by language, whole numbers median, longest and marks")
    return {language: LengthLimits(**value) for language, value in data.items()}


def _are_limits(value: JSON) -> bool:
    return (
        _is_table(value)
        and value.keys() == {"median", "longest", "marks"}
        and all(type(number) is int for number in value.values())
    )


def _is_table(value: JSON) -> bool:
    return isinstance(value, dict)


def _are_texts(values: JSON) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_lists(table: Mapping[str, JSON]) -> bool:
    return all(isinstance(words, list) and _are_texts(words) for words in table.values())


def _are_groups(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(names, list) and _are_texts(names) for names in value)


def _occurs(word: str, text: str) -> bool:
    """Whether the text contains the word, as a whole word if its script has spaces; case is ignored."""
    text = text.casefold()
    # A pattern takes milliseconds to compile, and few words are anywhere in a text.
    return word.casefold() in text and re.search(_word_pattern(word), text) is not None


def _without_phrases(phrases: Sequence[str], text: str) -> str:
    for phrase in phrases:
        text = text.casefold()
        if phrase.casefold() in text:
            text = re.sub(_word_pattern(phrase), " ", text)
    return text


def _word_pattern(word: str) -> str:
    """A regular expression for the word or phrase in casefolded text, not inside another word."""
    before = rf"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = rf"(?!{_LETTER})" if re.match(_LETTER, word[-1:]) else ""
    # Casefolded instead of re.IGNORECASE, with which the class of letters takes 25 ms to compile.
    return before + re.escape(word.casefold()) + after


def _length(text: str) -> int:
    return len(_WORD.findall(text))


def _years(text: str) -> set[str]:
    """The years in a text, without decades; "1957-58" gives both years."""
    return set(_YEAR.findall(_YEAR_RANGE.sub(r"\1\2 \1\3", text)))
