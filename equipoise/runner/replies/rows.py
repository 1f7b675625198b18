"""A file of replies as typed rows: CSV or JSON Lines. Knows no suite.

CSV may be in any form that spreadsheets save: separated by commas, semicolons or tabs, in UTF-8 or UTF-16,
with or without a byte order mark.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import cast, get_args

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import json_object, read_bytes, sheet_reader, shown, without_surrogates
from equipoise.core.outcomes import APPEARANCES
from equipoise.core.records import Outcome
from equipoise.core.spreadsheet import remove_guards
from equipoise.core.types import JSON, Usage
from equipoise.runner.replies import batch_lines

COLUMNS = ("id", "question", "language", "turn", "run", "model", "reply", "outcome", "usage")
"""The columns of a file, and the keys of a line. Others are ignored."""
SYNONYMS = {"side": "turn"}
SILENT = tuple(outcome for outcome, appearance in APPEARANCES.items() if appearance.explains_silence)
"""The outcomes that explain why a reply is empty."""
MOST_CHARACTERS = 1_000_000
"""The longest reply; no evaluator reads more."""
MOST_PROBLEMS = 5
"""The most problems that one message names."""
_MOST_NAME = 200
_MOST_SHOWN = 60
_MOST_TOKENS = 10**12
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8-sig"}
_FOREIGN = {
    b"PK\x03\x04": "an Excel workbook or a ZIP file",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"%PDF": "a PDF",
    b"\x1f\x8b": "a gzip file",
}
_LONGEST_CELL = 32_767
"""The most characters in a cell of Excel, which cuts longer texts."""
_CELL_ERROR = re.compile(r"#[A-Z]+[!?]|#N/A|#DIV/0!|Err:\d{3}")
"""The error that a spreadsheet shows in place of a text that it took for a formula."""
_TOKENS: Mapping[str, Sequence[str]] = {
    "input": ("input", "input_tokens", "prompt_tokens"),
    "output": ("output", "output_tokens", "completion_tokens"),
    "cached": ("cached",),
    "reasoning": ("reasoning",),
}
"""The names that APIs give to each count of tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRow:
    """One reply, and its `file:line`. Texts that the row lacks are empty."""

    where: str
    id: str
    question: str
    language: str
    turn: str
    run: int
    model: str
    reply: str
    outcome: Outcome | None
    usage: Usage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFile:
    """The rows of a file, and its SHA-256. `problems` has what is wrong with other rows, by `file:line`."""

    path: Path
    sha256: str
    rows: Sequence[ReplyRow]
    problems: Mapping[str, str]

    @property
    def models(self) -> list[str]:
        """The models that its rows name, each once."""
        return list(dict.fromkeys(row.model for row in self.rows if row.model))


def read(path: Path) -> ReplyFile:
    """The replies in a file. Raises UserError naming file and line if its rows cannot be told apart."""
    try:
        status = path.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise UserError(f"--replies: {shown(path)}: cannot be read ({error.strerror})") from None


@lru_cache(maxsize=1)
def _read(path: Path, modified: int, size: int) -> ReplyFile:
    """As `read`, but raises OSError. Time and size are part of the cache's key: files may change."""
    content = read_bytes(path)
    text = _decoded(path, content)
    first = text.lstrip()[:1]
    if first == "[":
        raise UserError(
            f"--replies: {shown(path)}: is a list in JSON; write each reply as an object in a line"
        )
    lines = _json_lines(path, text) if first == "{" else _table(path, text)
    problems: dict[str, str] = {}
    rows = []
    for where, values in lines:
        try:
            rows.append(_row(where, values))
        except ValueError as error:
            problems[where] = str(error)
    if not rows and not problems:
        raise UserError(f"--replies: {shown(path)}: has no reply")
    digest = hashlib.sha256(content).hexdigest()
    return ReplyFile(path=path, sha256=digest, rows=rows, problems=problems)


def refuse(problems: Mapping[str, str]) -> None:
    """Raise UserError with the first of these problems, which are given by `file:line`, if there are any."""
    if problems:
        first = sorted(problems, key=lambda where: int(where.rpartition(":")[2]))[:MOST_PROBLEMS]
        more = f"; and {len(problems) - MOST_PROBLEMS:,} more" if len(problems) > MOST_PROBLEMS else ""
        raise UserError(f"--replies: {'; '.join(f'{where}: {problems[where]}' for where in first)}{more}")


def _decoded(path: Path, content: bytes) -> str:
    for start, kind in _FOREIGN.items():
        if content.startswith(start):
            raise UserError(f"--replies: {shown(path)}: is {kind}; save the table as CSV in UTF-8")
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"--replies: {shown(path)}:{line}: not {encoding.removesuffix('-sig').upper()}; "
            "save the file as UTF-8"
        ) from None
    # A program may write a byte order mark before the one of the sheet.
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"--replies: {shown(path)}:{line}: has NUL characters; remove them, or save the file as UTF-8"
        )
    return text


# Lines, each with its `file:line` and its values by column.


def _json_lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, JSON]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{shown(path)}:{number}"
            try:
                data = json_object(line, where)
            except UserError as error:
                raise UserError(f"--replies: {error}") from None
            if batch_lines.is_answer(data):
                values = _of_batch(where, data)
            else:
                values = {SYNONYMS.get(name, name): value for name, value in data.items()}
                _require_columns(where, values)
            yield where, values


def _of_batch(where: str, data: Mapping[str, JSON]) -> dict[str, JSON]:
    if batch_lines.is_ours(data):
        raise UserError(
            f"--replies: {where}: is an answer to a batch of Equipoise, whose custom_id names no case; "
            "`equipoise batch read` reads it, with the options of `equipoise batch write`"
        )
    return batch_lines.values(data)


def _table(path: Path, text: str) -> Iterator[tuple[str, dict[str, JSON]]]:
    # This limit holds for the whole process, so it is restored afterwards.
    before = csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader, line = sheet_reader(text, strict=True), 1
    try:
        start = f"{shown(path)}:1"
        header = [cell.strip().lower() for cell in next(reader, [])]
        columns = [SYNONYMS.get(name, name) for name in header]
        _require_columns(start, columns, "; the first line names the columns")
        for name in COLUMNS:
            if columns.count(name) > 1:
                raise UserError(f"--replies: {start}: has the column {name!r} twice")
        line = reader.line_num + 1
        for cells in reader:
            if any(map(str.strip, cells)):
                yield f"{shown(path)}:{line}", _cells(f"{shown(path)}:{line}", columns, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"--replies: {shown(path)}:{line}: cannot be read ({error}): a quotation mark is not closed, or "
            "not doubled within a cell"
        ) from None
    finally:
        csv.field_size_limit(before)


def _cells(where: str, columns: Sequence[str], cells: Sequence[str]) -> dict[str, JSON]:
    if any(map(str.strip, cells[len(columns) :])):
        raise UserError(
            f"--replies: {where}: has {len(cells)} cells, but there are {len(columns)} columns; "
            "put a reply with separators or line breaks in quotes"
        )
    texts = zip(columns, cells, strict=False)
    # A reply is judged as it is; in the sheet to fill in, the column of replies has no guards.
    return {name: text if name == "reply" else remove_guards(text) for name, text in texts if text}


def _require_columns(where: str, names: Iterable[str], advice: str = "") -> None:
    """Raise UserError unless there are columns that say what was replied to which question."""
    missing = [] if "reply" in names else ["'reply'"]
    missing += [] if {"id", "question"} & set(names) else ["'id' or 'question'"]
    if missing:
        present = ", ".join(repr(name[:_MOST_SHOWN]) for name in names if name) or "nothing"
        raise UserError(f"--replies: {where}: {' and '.join(missing)} is missing; there is {present}{advice}")


# Values.


def _row(where: str, values: Mapping[str, JSON]) -> ReplyRow:
    reply, outcome = _text(values, "reply"), _outcome(_name(values, "outcome"))
    if len(reply) > MOST_CHARACTERS:
        raise ValueError(f"the reply has {len(reply):,} characters; up to {MOST_CHARACTERS:,} are judged")
    if _CELL_ERROR.fullmatch(reply.strip()):
        raise ValueError(f"the reply is {reply.strip()!r}, an error of a spreadsheet; write the cell as text")
    if len(reply) == _LONGEST_CELL and outcome != "truncated":
        raise ValueError(
            f"the reply has {len(reply):,} characters, where Excel cuts a cell; give it whole, or the "
            "outcome truncated"
        )
    if not reply.strip() and outcome not in SILENT:
        raise ValueError(f"the reply is empty: give its outcome, {_listed(SILENT)}, or leave the row out")
    return ReplyRow(
        where=where,
        id=_name(values, "id"),
        question=_text(values, "question").strip(),
        language=_name(values, "language"),
        turn=_name(values, "turn"),
        run=_run(values.get("run")),
        model=_name(values, "model"),
        reply=reply,
        outcome=outcome,
        usage=_usage(values.get("usage")),
    )


def _text(values: Mapping[str, JSON], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return without_surrogates(value)


def _name(values: Mapping[str, JSON], name: str) -> str:
    value = values.get(name)
    text = str(value) if type(value) is int else _text(values, name).strip()
    if len(text) > _MOST_NAME or not text.isprintable():
        raise ValueError(f"{name} is not a name: it has more than {_MOST_NAME} or invisible characters")
    return text


def _outcome(text: str) -> Outcome | None:
    if text and text not in get_args(Outcome):
        raise ValueError(f"the outcome {text!r} is unknown: {_listed(get_args(Outcome))}")
    return cast("Outcome", text) if text else None


def _run(value: JSON) -> int:
    """The number of a run; 1 if none is given."""
    text = "1" if value is None else str(value).strip()
    # A spreadsheet may write 1.0, or 1,0.
    number = re.sub("[.,]0$", "", text)
    if not (number.isascii() and number.isdecimal() and int(number[:9]) >= 1 and len(number) < 9):
        raise ValueError(f"the run {text[:20]!r} is not a whole number of at least 1")
    return int(number)


def _usage(value: JSON) -> Usage | None:
    if value is None or value == "":
        return None
    data = _parsed(value)
    if not isinstance(data, dict):
        raise ValueError('the usage is not an object such as {"input": 120, "output": 350}')
    return Usage(**{kind: _tokens(data, names) for kind, names in _TOKENS.items()})


def _parsed(value: JSON) -> JSON:
    try:
        return json_io.loads(value.encode()) if isinstance(value, str) else value
    except ValueError:
        return None


def _tokens(data: Mapping[str, JSON], names: Sequence[str]) -> int:
    name = next((name for name in names if data.get(name) is not None), None)
    value = 0 if name is None else data[name]
    if type(value) is not int or not 0 <= value <= _MOST_TOKENS:
        raise ValueError(f"the usage has no number of tokens as its {name!r}: {str(value)[:20]}")
    return value


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
