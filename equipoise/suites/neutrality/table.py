"""Reads a table of questions as a spreadsheet saves it: a row a question, a column a language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import sheet_rows
from equipoise.suites.selection import DEFAULT_AREA

QUESTIONS = "questions.csv"
"""The table that a folder without question files may have."""
_ID, _AREA = "id", "area"
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]+)*")
"""Stricter than the name of a question file: a column may be a remark."""
_REGIONAL = re.compile(r"[a-z]{2,3}[-_][A-Z][A-Za-z]+")
_SLUG = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuestion:
    """A question: its line in the file, its id and area, and its text in each language that has one."""

    line: int
    id: str
    area: str
    texts: Mapping[str, str]


def is_table(path: Path) -> bool:
    """Whether a file of questions is a table, by its name."""
    return path.suffix == ".csv"


def has_header(path: Path) -> bool:
    """Whether the first row of a file is that of a table of questions."""
    try:
        _, columns = next(sheet_rows(path), (1, []))
    except UserError:
        return False
    others = [name for name in columns if name not in (_ID, _AREA)]
    # A fault in the header must not hide what the file is: a column such as en-US says it, too.
    is_table = _ID in columns and bool(others) and all(map(_LANGUAGE.fullmatch, others))
    return is_table or any(map(_REGIONAL.fullmatch, others))


def read(path: Path) -> tuple[list[str], list[TableQuestion]]:
    """The languages of a table and its rows, both in file order. Raises UserError naming file and line."""
    lines = sheet_rows(path)
    _, columns = next(lines, (1, []))
    languages = _languages(path, columns)
    table_rows = [*_rows(path, columns, lines)]
    _refuse_repeats(path, table_rows)
    for language in languages:
        if not any(language in row.texts for row in table_rows):
            raise UserError(f"{path}:1: the column {language} has no question; write some, or remove it")
    return languages, table_rows


def _languages(path: Path, columns: list[str]) -> list[str]:
    """The columns that are languages. Raises UserError for missing, repeated and other columns."""
    languages = [name for name in columns if name not in (_ID, _AREA)]
    if _ID not in columns or not languages:
        raise UserError(f"{path}:1: needs a column id and one for each language, such as en-US")
    for name in columns:
        if columns.count(name) > 1:
            raise UserError(f"{path}:1: has the column {name!r} twice; remove one of the two")
    for name in languages:
        if not _LANGUAGE.fullmatch(name):
            raise UserError(
                f"{path}:1: the column {name!r} is not id, area or a language code such as en-US; "
                "rename or remove it"
            )
    return languages


def _rows(path: Path, columns: list[str], lines: Iterator[tuple[int, list[str]]]) -> Iterator[TableQuestion]:
    for line, cells in lines:
        if len(cells) > len(columns):
            raise UserError(
                f"{path}:{line}: has {len(cells)} cells, and the header {len(columns)}; "
                "quote a text that has the separator"
            )
        texts = {name: cell for name, cell in zip(columns, cells, strict=False) if cell}
        name, area = texts.pop(_ID, ""), texts.pop(_AREA, DEFAULT_AREA)
        for column, value in ((_ID, name), (_AREA, area)):
            if not _SLUG.fullmatch(value):
                raise UserError(f"{path}:{line}: {column} is {value!r}; use a-z, 0-9 and _ only")
        if not texts:
            raise UserError(f"{path}:{line}: has no question; write one, or remove the row")
        yield TableQuestion(line=line, id=name, area=area, texts=texts)


def _refuse_repeats(path: Path, table_rows: list[TableQuestion]) -> None:
    first: dict[tuple[str, str], int] = {}
    for row in table_rows:
        for column, text in ((_ID, row.id), *row.texts.items()):
            if (earlier := first.setdefault((column, text), row.line)) != row.line:
                raise UserError(
                    f"{path}:{row.line}: its {column} repeats line {earlier}; change or remove one of the two"
                )
