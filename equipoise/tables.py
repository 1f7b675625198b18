"""Reads CSV tables row by row, and writes them; every error names file and line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equipoise.errors import UserError
from equipoise.textfiles import read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a file, and where it stands."""

    where: str
    values: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values[column]


def rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a table with exactly these columns. Raises UserError."""
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        if reader.fieldnames != list(columns):
            raise UserError(f"{path}:1: the columns must be {','.join(columns)}")
        for values in reader:
            where = f"{path}:{reader.line_num}"
            if None in values or None in values.values():
                raise UserError(f"{where}: needs exactly {len(columns)} values")
            yield Row(where=where, values=values)
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num + 1}: cannot be read: {error}") from None


def table_text(lines: Iterable[Sequence[str]]) -> str:
    """The content of a CSV file with these lines, its columns' names the first."""
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for line in lines:
        # Python would leave a carriage return bare, which no reader takes.
        (quoted if any("\r" in cell for cell in line) else plain).writerow(line)
    return text.getvalue()
