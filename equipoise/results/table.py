"""Tables of runs by column: the columns of every suite, then those of single suites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import replacing, shown, without_surrogates
from equipoise.core.rows import RunRow
from equipoise.core.spreadsheet import add_guards
from equipoise.core.types import JSON, Conversation
from equipoise.results.document import Metadata
from equipoise.results.rows import total_usage

if TYPE_CHECKING:
    import polars


ColumnKind = Literal["text", "integer", "number", "boolean"]
_MESSAGE_KEYS: Sequence[Literal["role", "content"]] = ("role", "content")
LABEL, CASE, VALUE, RUN = "label.", "case.", "value.", "run."
"""Prefixes of columns that a suite adds: labels, details of cases, values, details of runs."""
ASKER = "asker."
"""Prefix of columns on who asks."""


@dataclass(frozen=True)
class TableRun:
    """A run with the results file it is in, and that file's metadata. Conversations are read only once."""

    path: Path | None
    metadata: Metadata
    run: RunRow

    @cached_property
    def subject(self) -> Sequence[Conversation]:
        """The conversations with the subject."""
        return self.run.subject

    @cached_property
    def evaluators(self) -> Sequence[Conversation]:
        """The conversations with evaluators."""
        return self.run.evaluators


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its kind, its description, and the function that returns its value for a row."""

    name: str
    kind: ColumnKind
    meaning: str
    value_of: Callable[[TableRun], Any]


def _metadata_value(name: str) -> Callable[[TableRun], Any]:
    return lambda row: row.metadata.get(name)


def _tokens(kind: str) -> Callable[[TableRun], int | None]:
    return lambda row: getattr(total_usage(row.subject), kind, None)


COLUMNS: Sequence[Column] = (
    Column("file", "text", "path of the results file", lambda row: str(row.path)),
    Column("suite", "text", "the benchmark", _metadata_value("suite")),
    Column(
        "dataset", "text", "`--dataset`; null where `--topics` named other data", _metadata_value("dataset")
    ),
    Column("data_hash", "text", "SHA-256 of the data", _metadata_value("data_hash")),
    Column("rubric_version", "text", "version of the rubric", _metadata_value("rubric_version")),
    Column("subject_model", "text", "the model under test", _metadata_value("subject_model")),
    Column(
        "evaluator_models",
        "text",
        "the panel, separated by commas",
        lambda row: ", ".join(row.metadata["evaluator_models"]),
    ),
    Column("started", "text", "beginning of the first session, ISO 8601", _metadata_value("started")),
    Column("language", "text", "language of the case", lambda row: row.run.language),
    Column("area", "text", "topic area, where the suite has areas", lambda row: row.run.area or None),
    Column("case", "text", "id of the case, unique in its language", lambda row: row.run.id),
    Column(
        "question",
        "text",
        "what a person must know to score the reply",
        lambda row: row.run.question.text,
    ),
    Column("run", "integer", "which repeat of the case, from 1", lambda row: row.run.number),
    Column("outcome", "text", "how the run ended: scored, refused, blocked ...", lambda row: row.run.outcome),
    Column("score", "number", "on the suite's own scale; null with an error", lambda row: row.run.score),
    Column(
        "percent",
        "number",
        "in percent of the scale, or in the unit of the headline",
        lambda row: row.run.percent,
    ),
    Column("error", "text", "why there is no score", lambda row: row.run.error),
    Column("prompt", "text", "first message of the user to the subject", lambda row: _prompt(row.subject)),
    Column(
        "reply", "text", "last reply of the subject in that conversation", lambda row: _reply(row.subject)
    ),
    Column(
        "transcript",
        "text",
        "JSON: every conversation with the subject, its `name` (the side of a pair) and `messages`",
        lambda row: _transcript(row.subject),
    ),
    Column(
        "verdicts",
        "text",
        "JSON: each evaluator's judgement; empty where it judges less than a run",
        lambda row: [*row.run.verdicts],
    ),
    Column("input_tokens", "integer", "tokens that the subject read", _tokens("input")),
    Column("output_tokens", "integer", "tokens that the subject wrote, with reasoning", _tokens("output")),
    Column("cached_tokens", "integer", "those of the input from a cache", _tokens("cached")),
    Column("reasoning_tokens", "integer", "those of the output that were reasoning", _tokens("reasoning")),
    Column("latency", "number", "seconds that the subject's replies took", lambda row: _latency(row.subject)),
    Column(
        "evaluator_calls",
        "integer",
        "answers of evaluators",
        lambda row: sum(len(item.replies) for item in row.evaluators),
    ),
)
"""The columns of every suite."""


def _prompt(subject: Sequence[Conversation]) -> str | None:
    messages = [message for item in subject[:1] for message in item.messages if message["role"] == "user"]
    return _text(messages[0] if messages else None)


def _reply(subject: Sequence[Conversation]) -> str | None:
    replies = [reply for item in subject[:1] for reply in item.replies]
    return _text(replies[-1] if replies else None)


def _transcript(subject: Sequence[Conversation]) -> list[JSON]:
    return [
        {
            "name": item.name,
            "messages": [{key: message[key] for key in _MESSAGE_KEYS} for message in item.messages],
        }
        for item in subject
    ]


def _text(message: Any) -> str | None:
    return None if message is None else str(message["content"])


def _latency(subject: Sequence[Conversation]) -> float | None:
    seconds = [reply["latency"] for item in subject for reply in item.replies if "latency" in reply]
    return round(sum(seconds), 3) if seconds else None


# The table.

ColumnValues = dict[str, list[Any]]


def columns_and_kinds(runs: Iterable[TableRun]) -> tuple[ColumnValues, dict[str, ColumnKind]]:
    """The values of each column, one for each run, and the kind of each column."""
    columns: ColumnValues = {column.name: [] for column in COLUMNS}
    for rows, row in enumerate(runs):
        run = row.run
        suite_values = {**_prefixed(LABEL, run.question.labels), **_prefixed(CASE, run.question.details)}
        suite_values |= {**_prefixed(VALUE, run.values), **_prefixed(RUN, run.details)}
        if run.asker:
            suite_values |= _prefixed(ASKER, {**run.asker.to_json(), "is_named": run.names_asker})
        for column in COLUMNS:
            columns[column.name].append(column.value_of(row))
        for name, value in suite_values.items():
            columns.setdefault(name, [None] * rows).append(value)
        # Runs of other suites lack the column.
        for values in columns.values():
            if len(values) <= rows:
                values.append(None)
    kinds: dict[str, ColumnKind] = {column.name: column.kind for column in COLUMNS}
    kinds |= {name: _kind(columns[name]) for name in columns if name not in kinds}
    return {name: _convert(kinds[name], values) for name, values in columns.items()}, kinds


def _prefixed(prefix: str, values: Mapping[str, JSON]) -> dict[str, JSON]:
    return {f"{prefix}{name}": value for name, value in values.items()}


def _kind(values: Sequence[JSON]) -> ColumnKind:
    """The kind of a column by the types of its values; text if they differ, or for lists and objects."""
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "boolean"
    if types == {int}:
        return "integer"
    return "number" if types and types <= {int, float} else "text"


def _convert(kind: ColumnKind, values: Sequence[Any]) -> list[Any]:
    if kind == "number":
        return [None if value is None else float(value) for value in values]
    return [_as_text(value) for value in values] if kind == "text" else list(values)


def _as_text(value: JSON) -> str | None:
    """A text unchanged, any other value as JSON. Lone surrogates become question marks."""
    if value is None:
        return None
    return without_surrogates(value if isinstance(value, str) else json_io.dumps(value).decode().rstrip("\n"))


def to_polars(runs: Iterable[TableRun]) -> polars.DataFrame:
    """The table as a polars data frame. Raises UserError if polars is not installed."""
    try:
        import polars
    except ImportError:
        raise UserError("polars is not installed; run: pip install polars") from None
    types = {"text": polars.String, "integer": polars.Int64, "number": polars.Float64}
    columns, kinds = columns_and_kinds(runs)
    return polars.DataFrame(
        columns, schema={name: types.get(kind, polars.Boolean) for name, kind in kinds.items()}
    )


# Files.

Suffix = Literal["csv", "parquet", "jsonl"]
_QUOTED = re.compile('[,"\r\n]')


def write(runs: Iterable[TableRun], to: Suffix, path: Path) -> int:
    """Write the table, and return its number of rows. Raises UserError, for parquet also without polars."""
    if to == "parquet":
        frame = to_polars(runs)
        with _open_output(path) as file:
            frame.write_parquet(file)
        return frame.height
    columns, _ = columns_and_kinds(runs)
    with _open_output(path) as file:
        file.writelines(_csv_lines(columns) if to == "csv" else _json_lines(columns))
    return len(columns[COLUMNS[0].name])


@contextmanager
def _open_output(path: Path) -> Iterator[BinaryIO]:
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        raise UserError(f"--output: {shown(path)}: cannot be written ({error.strerror})") from None


def _json_lines(columns: ColumnValues) -> Iterator[bytes]:
    return (
        json_io.dumps(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)
    )


def _csv_lines(columns: ColumnValues) -> Iterator[bytes]:
    for row in chain([tuple(columns)], zip(*columns.values(), strict=True)):
        yield f"{','.join(map(_csv_cell, row))}\n".encode("utf-8", "replace")


def _csv_cell(value: JSON) -> str:
    """A cell that no spreadsheet takes for a formula. Empty text is a pair of quotes, null is nothing."""
    if not isinstance(value, str):
        return "" if value is None else json_io.dumps(value).decode().rstrip("\n")
    text = add_guards(value)
    if text and not _QUOTED.search(text):
        return text
    return '"' + text.replace('"', '""') + '"'
