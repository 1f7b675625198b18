"""Reads text, JSON Lines and CSV, with errors that name file and line, and writes files atomically."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import stat
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from equipoise.core.errors import UserError
from equipoise.core.spreadsheet import add_guards, remove_guards
from equipoise.core.types import JSON

if TYPE_CHECKING:
    from _csv import Reader


def require_posix() -> None:
    """Raise UserError on Windows, which lacks the file locks and sockets of Linux and macOS."""
    if find_spec("fcntl") is None:
        raise UserError(
            "Equipoise runs on Linux and macOS; on Windows run it in WSL, the Windows Subsystem for Linux"
        )


def shown(path: Path) -> str:
    """The path as messages show it: relative if it is below the current folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


# Reading.


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file for reading. Raises OSError, also for pipes and devices, which may never end."""
    # Without O_NONBLOCK, opening a pipe waits for its other end.
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")  # noqa: SIM115 - the caller closes it
    try:
        _require_regular(os.fstat(file.fileno()), path)
    except OSError:
        file.close()
        raise
    return file


def _require_regular(status: os.stat_result, path: Path) -> None:
    """Raise OSError if this is the status of anything but a regular file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))


class OpenFile:
    """A regular file whose parts are read by offset. It stays open after the first read; thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def part(self, start: int, size: int) -> bytes:
        """Read `size` bytes from an offset, or fewer at the end of the file. Raises OSError."""
        if self._file is None:
            self._file = open_regular(self.path)
            weakref.finalize(self, self._file.close)
        return os.pread(self._file.fileno(), size, start)


def read_bytes(path: Path) -> bytes:
    """The content of a regular file. Raises OSError, also for pipes and devices."""
    with open_regular(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    """The content of a UTF-8 file, without a byte order mark. Raises UserError naming the invalid line."""
    try:
        content = read_bytes(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The non-blank lines of a file, stripped, with their line numbers from 1. Raises UserError."""
    # Not str.splitlines: it also splits at separators that may be part of a text.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.strip()


def objects(path: Path) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The objects of a JSON Lines file, each with its `file:line`. Raises UserError."""
    for number, line in lines(path):
        where = f"{path}:{number}"
        yield where, json_object(line, where)


def json_object(text: str, where: str) -> dict[str, JSON]:
    """Parse a text that must be one JSON object. Raises UserError naming `where`."""
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except ValueError as error:
        raise UserError(f"{where}: not valid JSON: {error}") from None
    except RecursionError:
        raise UserError(f"{where}: is nested too deeply") from None
    if not isinstance(data, dict):
        raise UserError(f"{where}: is not a JSON object")
    return data


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """A dict of these keys and values. Raises ValueError for a duplicate key."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in data if names.count(name) > 1)
        raise ValueError(f"the key {doubled[:60]!r} stands there twice")
    return data


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: its file, its line from 1, and its values by column."""

    path: Path
    line: int
    values: Mapping[str, JSON]

    @property
    def where(self) -> str:
        """Its `file:line`."""
        return f"{self.path}:{self.line}"

    def __getitem__(self, column: str) -> JSON:
        return self.values[column]

    def only(self, *columns: str) -> dict[str, JSON]:
        """The values of these columns."""
        return {column: self.values[column] for column in columns}


def rows(path: Path, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a CSV file, without spreadsheet guards.

    Raises UserError if it cannot be read, or its columns are not exactly these.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        if reader.fieldnames != list(columns):
            raise UserError(f"{path}:1: the columns must be {','.join(columns)}")
        for values in reader:
            if None in values or None in values.values():
                raise UserError(f"{path}:{reader.line_num}: needs exactly {len(columns)} values")
            texts = {name: remove_guards(text) for name, text in values.items()}
            yield Row(path, reader.line_num, texts)
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num + 1}: cannot be read: {error}") from None


def sheet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table as a spreadsheet saves it, each with its line; rows without any text are skipped.

    The separator is a comma, a semicolon or a tab. Spaces around cells, guards, and blank cells at the end of
    a row are removed. Raises UserError.
    """
    reader = sheet_reader(read_text(path))
    try:
        for cells in reader:
            texts = [remove_guards(cell.strip()) for cell in cells]
            while texts and not texts[-1]:
                texts.pop()
            if texts:
                yield reader.line_num, texts
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num + 1}: cannot be read: {error}") from None


def sheet_reader(text: str, *, strict: bool = False) -> Reader:
    """A reader of a table. Its separator is the most frequent of comma, semicolon and tab in the first line.

    With `strict`, quotation marks that are not closed, or not doubled within a cell, raise csv.Error.
    """
    header = text.partition("\n")[0]
    return csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=strict)


# Writing.


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that atomically replaces the one at `path` when the block ends without an error.

    Until then it has a temporary name. Temporary files of processes that were killed are removed. The folder
    is created if needed, and the permissions of a replaced file are kept. If `path` is a symbolic link, its
    target is replaced. Raises OSError, also for pipes and devices.
    """
    target = link_target(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    temporary = target.parent / f".{target.name}.{os.getpid()}"
    try:
        with temporary.open("wb") as file:
            with suppress(FileNotFoundError):
                status = target.stat()
                _require_regular(status, path)
                os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of a target whose process has ended."""
    prefix = f".{target.name}."
    for name in os.listdir(target.parent):
        number = name.removeprefix(prefix)
        if name.startswith(prefix) and number.isdecimal() and not _is_running(int(number)):
            (target.parent / name).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether there is a process with this number, also of another user."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def link_target(path: Path) -> Path:
    """The target of a symbolic link, whether it exists or not; any other path unchanged."""
    # Not Path.is_symlink, which raises an error for a name that no file can have.
    return Path(os.path.realpath(path)) if os.path.islink(path) else path


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically. Raises UserError."""
    content = text.encode("utf-8")
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be written to ({error.strerror})") from None


def write_objects(path: Path, items: Iterable[Mapping[str, JSON]]) -> None:
    """Write a JSON Lines file atomically, with lone surrogates as escapes. Raises UserError."""
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    write_text(path, text.encode("utf-8", "backslashreplace").decode("utf-8"))


def table_text(lines: Iterable[Sequence[str]]) -> str:
    """The content of a CSV file with these rows, the header first, guarded against spreadsheets."""
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for line in lines:
        cells = [*map(add_guards, line)]
        # Python's writer does not quote cells with these characters, but other programs split at them.
        (quoted if any(set(cell) & {"\r", ";", "\t"} for cell in cells) else plain).writerow(cells)
    return text.getvalue()


# Lone surrogates.


def has_surrogates(text: str) -> bool:
    """Whether the text has lone surrogates, so that it cannot be encoded as UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate replaced by a question mark."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
