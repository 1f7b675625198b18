"""Declared tables: the files of a dataset, their columns, and what each cell may be.

A table is a CSV file, a file of JSON Lines, or lines of text, each of which is a row with a single cell. One
reader checks all tables, and names file and line of every fault. It knows no suite.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row, json_object, lines, read_bytes, read_text, rows
from equipoise.core.types import JSON
from equipoise.suites.findings import Finding, Recognised
from equipoise.suites.selection import ASKER_NAMES, ASKERS

CellType = Callable[[JSON], JSON]
"""Converts a cell as written to its value; a cell that JSON leaves out is None. Raises ValueError, whose text
is the rest of a sentence that begins with the name of the column."""
Invariant = Callable[[Sequence[Row]], Iterable[Finding]]
"""Returns what is wrong with the rows of all files of a table in a folder, taken together."""
_SLUG = re.compile(r"[a-z0-9_]+")
_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_PERHAPS = (".txt", ".jsonl")
"""The suffixes of files that may be questions of several suites, or something else."""


def as_slug(words: str) -> str:
    """The words as a slug: their letters a-z and digits, with one _ in place of any other characters."""
    return _NOT_IN_SLUGS.sub("_", words.lower()).strip("_")


# Columns.


def text(cell: JSON) -> str:
    """A text that is not blank."""
    if not isinstance(cell, str):
        raise ValueError("is missing" if cell is None else f"is {cell!r}, not a text")
    if not cell.strip():
        raise ValueError("is empty")
    return cell


def any_text(cell: JSON) -> str:
    """A text, which may be empty."""
    return cell if isinstance(cell, str) else text(cell)


def slug(cell: JSON) -> str:
    """A name of a-z, 0-9 and _."""
    if not (isinstance(cell, str) and _SLUG.fullmatch(cell)):
        raise ValueError(f"is {cell!r}; use a-z, 0-9 and _ only")
    return cell


def one_of(*words: str) -> CellType:
    """One of these words."""
    expected = f"neither {words[0]} nor {words[1]}" if len(words) == 2 else f"not one of {', '.join(words)}"

    def checked(cell: JSON) -> JSON:
        if cell not in words:
            raise ValueError(f"is {cell!r}, {expected}")
        return cell

    return checked


def flag(yes: str, no: str) -> CellType:
    """One of two words: the first is True, the second False."""
    word = one_of(yes, no)
    return lambda cell: word(cell) == yes


def number(cell: JSON) -> int:
    """A whole number from 1, of at most nine digits."""
    if not re.fullmatch("0*[1-9][0-9]{0,8}", str(cell)):
        raise ValueError(f"is {cell!r}, not a whole number from 1")
    return int(cell)


def names(cell: JSON) -> tuple[str, ...]:
    """Any number of names, with semicolons between them."""
    return tuple(name for name in any_text(cell).split(";") if name)


def texts(cell: JSON) -> tuple[str, ...]:
    """A list of texts, none of them blank."""
    if not isinstance(cell, list) or not all(isinstance(item, str) and item.strip() for item in cell):
        raise ValueError("must be a list of texts")
    return tuple(cell)


def template(*slots: str) -> CellType:
    """A text that has each of these slots once."""

    def checked(cell: JSON) -> JSON:
        if any(text(cell).count(slot) != 1 for slot in slots):
            raise ValueError(f"must have {' and '.join(slots)} once{' each' * (len(slots) > 1)}")
        if text(cell).count("{") + text(cell).count("}") > 2 * len(slots):
            raise ValueError(f"has a brace that is not of {' or '.join(slots)}")
        return cell

    return checked


def optional(column: CellType, default: JSON = None) -> CellType:
    """The type of `column`, or an empty cell, which has the default value."""
    return _Optional(column, default)


@dataclass(frozen=True, slots=True)
class _Optional:
    column: CellType
    default: JSON

    def __call__(self, cell: JSON) -> JSON:
        return self.default if cell in (None, "") else self.column(cell)


# Tables.


def no_faults(row: Row) -> Iterable[str]:
    """No faults, for tables whose rows need only have valid cells."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a dataset. For example::

    Table(file="templates.csv", row="template", columns={"id": slug, "template": text}, unique=("id",))
    """

    file: str
    """The file's name; `*.csv` if there is a file for each language, whose name is the language's code."""
    row: str = "row"
    """What a row is, such as `template`."""
    columns: Mapping[str, CellType] = field(default_factory=dict)
    """What a cell may be, by column; a CSV file has exactly these columns in this order.

    Without columns it is a file of another form, which the suite reads itself."""
    optional_columns: Mapping[str, CellType] = field(default_factory=dict)
    """The columns that a CSV file may have after `columns`: all of them or none."""
    unique: Sequence[str | tuple[str, ...]] = ()
    """The columns, or combinations of columns, whose values no two rows may share."""
    faults: Callable[[Row], Iterable[str]] = no_faults
    """The faults of a row whose cells are valid, in phrases."""
    must: Sequence[Invariant] = ()
    """The invariants of all its rows, which `equipoise data validate` checks; see `suites.invariants`."""
    besides: Sequence[str] = ()
    """The names of files that `file` matches but that belong to other tables."""
    optional: bool = False
    """Whether the file may be missing or have no rows."""
    any_script: bool = False
    """Whether texts may be in another script than their language's, such as names to be found in replies."""

    def files(self, path: Path) -> list[Path]:
        """The table's files in a folder, in name order; `path` itself if it is a file.

        Raises UserError for a missing path.
        """
        # Not Path.exists, which raises an error for a name that no file can have.
        if not os.path.exists(path):
            raise UserError(f"{path}: no such file or folder; name one with --topics")
        if not path.is_dir():
            return [path]
        others = {*self.besides, ASKERS, ASKER_NAMES}
        return [file for file in sorted(path.glob(self.file)) if file.name not in others]

    def languages(self, folder: Path) -> dict[str, Path]:
        """The file of each language in a folder. Raises UserError if there is none."""
        files = {path.stem: path for path in self.files(folder)}
        if not files:
            raise UserError(f"{folder}: no {self.row}s ({self.file}, one file a language) in this folder")
        return files

    def read(self, path: Path) -> list[Row]:
        """The rows of this file, or of the table's file in this folder. Raises UserError for any fault."""
        valid = []
        for item in self.check(path):
            if isinstance(item, Finding):
                raise UserError(str(item))
            valid.append(item)
        return valid

    def valid_rows(self, path: Path) -> list[Row]:
        """The rows whose cells are valid. Raises UserError if the file has another form."""
        return [item for item in self.check(path) if isinstance(item, Row)]

    def check(self, path: Path) -> Iterator[Row | Finding]:
        """The rows whose cells are valid, and all faults. Raises UserError if the file has another form."""
        path = path / self.file if path.is_dir() and not path.match(self.file) else path
        if self.optional and not path.exists():
            return
        table, row, first_lines = self.of(path), None, dict[JSON, int]()
        for line, cells in table.raw_rows(path):
            values, faults = ({}, [cells]) if isinstance(cells, str) else table._values(cells)
            row, is_readable = Row(path, line, values), not faults
            if faults := faults or [*self.faults(row), *table._repeats(row, first_lines)]:
                yield from (Finding(str(path), line, what) for what in faults)
            if is_readable:
                yield row
        if row is None and not self.optional:
            yield Finding(str(path), 1, f"no {self.row} in this file; write {_HOW[path.suffix]}")

    def of(self, path: Path) -> Table:
        """The table with the columns that it has in this file. Raises UserError."""
        columns = {**self.columns, **self.optional_columns}
        if not self.optional_columns or read_text(path).partition("\n")[0].strip().split(",") != [*columns]:
            return self
        return replace(self, columns=columns, optional_columns={})

    def raw_rows(self, path: Path) -> Iterator[tuple[int, Mapping[str, JSON] | str]]:
        """Each line with its cells as written, or its fault. Raises UserError if the file cannot be read."""
        if path.suffix == ".csv":
            return ((row.line, row.values) for row in rows(path, [*self.columns]))
        if path.suffix == ".jsonl":
            return ((line, _cells(content)) for line, content in lines(path))
        return ((line, {"text": content}) for line, content in lines(path))

    def _values(self, cells: Mapping[str, JSON]) -> tuple[dict[str, JSON], list[str]]:
        """The values of cells as written, and their faults."""
        values, faults = {}, []
        for column, cell_type in self.columns.items():
            try:
                values[column] = cell_type(cells.get(column))
            except ValueError as error:
                faults.append(f"{column} {error}")
        return values, faults

    def _repeats(self, row: Row, first_lines: dict[JSON, int]) -> list[str]:
        """A fault for each of the unique columns whose value an earlier row has.

        `first_lines` maps values to the line of their first row, and is updated.
        """
        faults = []
        for columns in self.unique:
            names = (columns,) if isinstance(columns, str) else columns
            key = names, *map(row.values.get, names)
            if (first := first_lines.setdefault(key, row.line)) != row.line and None not in key:
                shown = (f"{name} {row[name]!r}" if len(str(row[name])) < 40 else name for name in names)
                faults.append(f"repeats line {first} in {', '.join(shown)}; change or remove one of the two")
        return faults

    def is_like(self, path: Path) -> bool:
        """Whether the first line of a file names most columns that a row needs; True for lines of text."""
        needed = {name for name, cell in self.columns.items() if not isinstance(cell, _Optional)}
        try:
            head = read_bytes(path).decode(errors="replace").lstrip("\ufeff").lstrip().partition("\n")[0]
        except OSError:
            return False
        named = needed & {*re.findall(r"\w+", head)}
        return not needed or path.suffix == ".txt" or 2 * len(named) > len(needed)


_HOW = {".csv": "a row for each", ".jsonl": "one JSON object a line", ".txt": "one a line"}
"""How rows are written, by the suffix of the file."""


def _cells(line: str) -> Mapping[str, JSON] | str:
    """The cells of a line of JSON, or its fault."""
    try:
        return json_object(line, "")
    except UserError as error:
        return str(error).removeprefix(": ")


# Formats. A suite has one format or several, each a sequence of tables; a dataset has one of these formats.


def recognise(formats: Iterable[Sequence[Table]], path: Path) -> Recognised:
    """Whether a folder or file has data in one of these formats.

    A folder has a format if it has at least half of the tables that the format needs. Lines of text may
    belong to any suite.
    """
    answers: tuple[Recognised, ...] = ("yes", "part", "perhaps")
    recognised = [_recognise(tables, path) for tables in formats]
    return next((answer for answer in answers if answer in recognised), "no")


def _recognise(tables: Sequence[Table], path: Path) -> Recognised:
    needed = [table for table in tables if not table.optional]
    if path.is_dir():
        present = sum(any(map(table.is_like, table.files(path))) for table in needed)
        is_text = all(table.file.endswith(".txt") and table.columns for table in needed)
        return "no" if not present or 2 * present < len(needed) else "perhaps" if is_text else "yes"
    if len(needed) == 1 and needed[0].columns:
        if not path.is_file() or path.suffix != Path(needed[0].file).suffix:
            return "no"
        return "perhaps" if path.suffix in _PERHAPS else "yes" if needed[0].is_like(path) else "no"
    is_table = any(path in table.files(path.parent) and table.is_like(path) for table in needed)
    return "part" if is_table and _recognise(tables, path.parent) == "yes" else "no"


def files_of(formats: Iterable[Sequence[Table]], path: Path) -> Iterator[tuple[Table, Path]]:
    """Each file of a folder, or the file itself, with its table, in the first format that it has."""
    tables = next((tables for tables in formats if recognise([tables], path) != "no"), ())
    for table in tables:
        if table.columns and (path.is_dir() or not table.optional):
            yield from ((table, file) for file in table.files(path))
