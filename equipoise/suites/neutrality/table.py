"""A table of questions as a spreadsheet saves it: a row for each question, a column for each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import sheet_rows
from equipoise.suites.tables import Table, optional, text

_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]+)*")
"""Stricter than the name of a question file, because a column may be a remark."""
_REGIONAL = re.compile(r"[a-z]{2,3}[-_][A-Z][A-Za-z]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTable(Table):
    """A table with the declared columns and a column for each language, in any order."""

    def languages_in(self, path: Path) -> list[str]:
        """The languages of a file. Raises UserError for missing, repeated and unknown columns."""
        columns = _header(path)
        languages = [name for name in columns if name not in self.columns]
        if "id" not in columns or not languages:
            raise UserError(f"{path}:1: needs a column id and one for each language, such as en-US")
        for name in columns:
            if columns.count(name) > 1:
                raise UserError(f"{path}:1: has the column {name!r} twice; remove one of the two")
        for name in languages:
            if not _LANGUAGE.fullmatch(name):
                raise UserError(
                    f"{path}:1: the column {name!r} is not {', '.join(self.columns)} or a language code "
                    "such as en-US; rename or remove it"
                )
        return languages

    def of(self, path: Path) -> Table:
        """This table with a column for each language of the file. Raises UserError."""
        languages = self.languages_in(path)
        columns = {**self.columns, **dict.fromkeys(languages, optional(text))}
        return replace(self, columns=columns, unique=[*self.unique, *languages])

    def raw_rows(self, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
        """Each row with its cells, which a spreadsheet may separate by another character or leave out."""
        (_, columns), *lines = sheet_rows(path)
        for line, cells in lines:
            if len(cells) > len(columns):
                raise UserError(
                    f"{path}:{line}: has {len(cells)} cells, and the header {len(columns)}; "
                    "quote a text that has the separator"
                )
            yield line, dict(zip(columns, cells, strict=False))

    def is_like(self, path: Path) -> bool:
        """Whether the first row of a file is that of a table of questions."""
        try:
            columns = _header(path)
        except UserError:
            return False
        others = [name for name in columns if name not in self.columns]
        # A faulty header must still be recognised: a column such as en-US is enough.
        is_like = "id" in columns and bool(others) and all(map(_LANGUAGE.fullmatch, others))
        return is_like or any(map(_REGIONAL.fullmatch, others))


def _header(path: Path) -> list[str]:
    _, columns = next(sheet_rows(path), (1, []))
    return columns
