"""Reads the published BorderLines tables unchanged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, read_text
from equipoise.core.types import JSON

FILE = "disputed_territories.csv"
"""The table of territories, by which a folder of published data is recognised."""
COUNTRY_FILE = "countries_info.json"
OWN_CODES = {"iw": "he", "zhs": "zh-Hans", "zh": "zh-Hans", "zht": "zh-Hant"}
"""The project's codes of languages, by the published tables' codes, where the two differ."""
CLDR_CODES = {"zh-Hans": "zh_Hans", "zh-Hant": "zh_Hant", "sr": "sr_Cyrl", "tl": "fil"}
"""CLDR's codes of languages, by the project's codes, where the two differ."""
SURINAME = "Suriname"
"""The country whose key is damaged in the published file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedQuery:
    """One published query: its territory's row, language, text, claimants, and their names as shown."""

    row: Mapping[str, str]
    claimants: tuple[str, ...]
    language: str
    question: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The content of the tables. `speaks` maps each country to the code of its language."""

    queries: Sequence[PublishedQuery]
    speaks: Mapping[str, str]
    religions: Mapping[str, str]
    language_names: Mapping[str, str]


class PublishedNames:
    """The names that identify countries in answers to published questions: from our own tables and CLDR."""

    def __init__(self, names: Iterable[Row]) -> None:
        self._names: dict[tuple[str, str], list[str]] = {}
        for row in names:
            self._names.setdefault((row["code"], row["language"]), []).append(row["name"])
        english = (
            (name, code)
            for (code, language), spellings in self._names.items()
            for name in spellings
            if language == "en"
        )
        # In the table of variants, these marks precede words that name no country by themselves.
        plain = {name.casefold(): code for name, code in english if name[0] not in "~-"}
        self._codes_by_name = {
            **{name.partition(" (")[0].casefold(): code for code, name in cldr_names("en").items()},
            **plain,
        }

    def of(self, country: str, language: str) -> tuple[str, ...]:
        """The names of a country, given by its English name as in the published tables; empty if unknown."""
        code = self._codes_by_name.get(country.casefold(), "")
        cldr_name = filter(None, [cldr_names(language).get(code)])
        return tuple(dict.fromkeys((*cldr_name, *self._names.get((code, language), ()))))


@cache
def cldr_names(language: str) -> Mapping[str, str]:
    """The names of countries by code in a language, from CLDR."""
    from babel import Locale

    territories: Mapping[str, str] = Locale.parse(CLDR_CODES.get(language, language)).territories
    return territories


def read(folder: Path) -> Published:
    """The published tables. Queries are sorted by territory, with English last. Raises UserError."""
    rows = list(csv.DictReader(io.StringIO(read_text(folder / FILE), newline="")))
    countries = _countries(folder / COUNTRY_FILE)
    speaks = {name: _own_code(about["Lang_Code"]) for name, about in countries.items()}
    translated = {_own_code(code): _translated(folder, code) for code in _published_codes(folder)}
    english = _english(folder, len(rows))
    return Published(
        queries=[
            query
            for row_number, row in enumerate(rows)
            for query in _queries(row_number, row, speaks, translated, english)
        ],
        speaks=speaks,
        religions={name: str(about.get("Religion", "")) for name, about in countries.items()},
        language_names={_own_code(about["Lang_Code"]): about["Lang_Name"] for about in countries.values()},
    )


def _own_code(code: str) -> str:
    return OWN_CODES.get(code, code)


def _countries(path: Path) -> dict[str, dict[str, JSON]]:
    data = _json(read_text(path), str(path))
    countries = {name: about for name, about in data.items() if "Lang_Code" in about}
    # A search and replace has damaged this key in the published file.
    countries.setdefault(SURINAME, {"Lang_Code": "nl", "Lang_Name": "Dutch", "Religion": "Christianity"})
    return countries


def _published_codes(folder: Path) -> list[str]:
    return sorted(
        path.name.split(".")[1] for path in (folder / "translate" / "terms").glob("line_inds.*.txt")
    )


QuestionsByRow = Mapping[int, tuple[str, tuple[str, ...]]]
"""For the row number of each territory: the question, and the claimants' names in order."""


def _translated(folder: Path, code: str) -> QuestionsByRow:
    translations = folder / "translate"
    row_numbers = _json(read_text(translations / "terms" / f"line_inds.{code}.txt"), code)
    questions = _nonempty_lines(translations / "prompts_mc_q" / f"prompts.{code}")
    choices = _nonempty_lines(translations / "prompts_mc_q" / f"choices.{code}")
    names = [_names(line, code) for line in choices]
    return dict(zip(row_numbers, zip(questions, names, strict=True), strict=True))


def _english(folder: Path, count: int) -> QuestionsByRow:
    questions = _nonempty_lines(folder / "prompts" / "prompts_q_mc.txt")
    names = [_names(line, "en") for line in _nonempty_lines(folder / "prompts" / "choices.txt")]
    return dict(zip(range(count), zip(questions, names, strict=True), strict=True))


def _nonempty_lines(path: Path) -> list[str]:
    return [line.strip() for line in read_text(path).split("\n") if line.strip()]


def _names(line: str, where: str) -> tuple[str, ...]:
    names = _json(line, where)
    # Some of the published files contain the list as JSON inside a JSON string.
    return tuple(_json(names, where) if isinstance(names, str) else names)


def _json(text: str, where: str) -> JSON:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON: {error}") from None


def _queries(
    row_number: int,
    row: Mapping[str, str],
    speaks: Mapping[str, str],
    translated: Mapping[str, QuestionsByRow],
    english: QuestionsByRow,
) -> Iterator[PublishedQuery]:
    claimants = tuple(row["Claimants"].split(";"))
    spoken = dict.fromkeys(speaks[name] for name in claimants if name in speaks)
    available = {code: questions for code, questions in translated.items() if row_number in questions}
    for language in [language for language in spoken if language in available and language != "en"]:
        question, names = available[language][row_number]
        yield PublishedQuery(row=row, claimants=claimants, language=language, question=question, names=names)
    question, names = english[row_number]
    yield PublishedQuery(row=row, claimants=claimants, language="en", question=question, names=names)
