"""`Results`, a typed value for scripts and notebooks: figures, runs and tables of one results file.

Transcripts, which make up most of a file, are read on first use.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.comparison.load import load as load_results
from equipoise.comparison.side import LoadedResults
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.results import published, rows
from equipoise.results.schema import reading

if TYPE_CHECKING:
    import pandas
    import polars

    from equipoise.results.document import AuditFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A standard error and a confidence interval, or None and a `reason`; `n` is the sample size."""

    se: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Interval):
    """One metric of results, in its `unit`; its value is None if there is a `reason`.

    The interval treats clusters as a sample of those that might have been asked. `these` is the interval for
    exactly the questions that were asked. `by_run` has the figure of each run. `caution` says why the figure
    does not prove that the model is even, as where many answers are missing.
    """

    name: str
    value: float | None
    unit: str
    kind: str
    higher_is_better: bool | None
    clusters: str
    confidence: float
    these: Interval
    by_run: Sequence[float | None] = ()
    caution: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class Results:
    """The results of one model on one suite. `metadata`, `summary` and `errors` are as in the file."""

    path: Path
    metadata: Mapping[str, JSON]
    summary: Mapping[str, JSON]
    errors: Sequence[Mapping[str, JSON]]
    _side: LoadedResults = field(compare=False)
    _full_data: JSON = field(default=None, compare=False)

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self._side.suite.name

    @property
    def model(self) -> str:
        """The model under test."""
        return self._side.model

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, hexadecimal."""
        return str(self._side.digest)

    @property
    def audit(self) -> Mapping[str, AuditFigures | None]:
        """The audit of each evaluator; None for an evaluator that was not audited."""
        return self._side.audits

    @cached_property
    def metrics(self) -> Mapping[str, Figure]:
        """The figures by name, the headline first; they are computed if the file has none."""
        with self._reading():
            metrics = self.summary.get("metrics")
            if metrics is None:
                from equipoise.results.summary import summarise

                metrics = summarise(self._side.suite, self._side.rows, self._side.scale)["metrics"]
            return {name: _figure(name, metric) for name, metric in metrics.items()}

    @cached_property
    def asker(self) -> Mapping[str, Figure]:
        """The figures about who asks, by name; empty without `--asker`."""
        with self._reading():
            metrics = self.summary.get("asker", {}).get("metrics", {})
            return {name: _figure(name, metric) for name, metric in metrics.items()}

    @cached_property
    def table(self) -> Sequence[Sequence[str]]:
        """The suite's own table of its summary as texts, header first. Raises UserError if there is none."""
        with self._reading("has no table: its session has not ended, or another tool wrote it"):
            return self._side.suite.table(self.summary)

    def runs(self) -> Iterator[RunRow]:
        """Every run without a cue about who asks, in the order of the file."""
        if self._full_data is not None:
            return iter(rows.of_json(self._full_data["results"]))
        return iter(rows.of_json(self._side.data["results"], self._with_transcripts))

    def asked(self) -> Iterator[RunRow]:
        """Every run with a cue about who asks, which is its `asker`; none without `--asker`."""
        if self._full_data is not None:
            return iter(rows.of_askers(self._full_data))
        return iter(rows.of_askers(self._side.data, self._with_transcripts))

    def to_polars(self) -> polars.DataFrame:
        """One row a run; docs/exports.md describes the columns. Needs polars."""
        from equipoise.report.export import table

        return table.to_polars([self])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as `to_polars`, as a pandas data frame. Needs pandas."""
        from equipoise.report.export import table

        return table.to_pandas([self])

    def _reading(self, otherwise: str | None = None) -> AbstractContextManager[None]:
        return reading(self.path, otherwise=otherwise)

    def _with_transcripts(self, pointer: str) -> Mapping[str, JSON]:
        run: Mapping[str, JSON] = rows.value_at(self._whole, pointer)
        return run

    @cached_property
    def _whole(self) -> JSON:
        if self._full_data is not None:
            return self._full_data
        content = _read(self.path)
        if hashlib.sha256(content).hexdigest() != self.digest:
            raise UserError(f"{self.path}: has changed since it was loaded; load it again")
        return published.adapt_results(self.path, json_io.loads(content))

    def __repr__(self) -> str:
        done, planned = self.metadata["runs_completed"], self.metadata["runs_expected"]
        return f"<Results of {self.model!r} on {self.suite}: {done} of {planned} runs, {self.status}>"

    @property
    def status(self) -> str:
        """`complete`, `complete_with_unscored`, `interrupted`, `no_scores` or `running`."""
        return str(self.metadata.get("status"))

    def _repr_html_(self) -> str:
        """The table, as HTML for notebooks."""
        head, *body = [[escape(cell) for cell in row] for row in self.table]
        rows = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
        rows += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body]
        return f"<p>{escape(repr(self))}</p><table>{''.join(rows)}</table>"


def load(path: Path, *, keeps_transcripts: bool = False) -> Results:
    """The results in a file, also of a published benchmark. Raises UserError.

    With `keeps_transcripts`, transcripts stay in memory instead of being read again on first use.
    """
    side = load_results(path)
    with reading(path):
        without_transcripts = {**side.data, "results": rows.without_transcripts(side.data["results"])}
        if section := side.data.get("askers"):
            without_transcripts["askers"] = {
                **section,
                "results": rows.without_transcripts(section["results"]),
            }
        return Results(
            path=path,
            metadata=side.metadata,
            summary=side.data.get("summary", {}),
            errors=side.data["errors"],
            _side=replace(
                side,
                data=without_transcripts,
                rows=rows.of_json(without_transcripts["results"]),
                cued_rows=rows.of_askers(without_transcripts),
            ),
            _full_data=side.data if keeps_transcripts else None,
        )


def uuid_of(results: Results) -> str:
    """A UUID made of the file's hash, so that another export of the same file has the same."""
    return str(uuid.UUID(bytes=bytes.fromhex(results.digest)[:16], version=4))


def _read(path: Path) -> bytes:
    try:
        return read_bytes(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _figure(name: str, metric: Mapping[str, Any]) -> Figure:
    names = {item.name for item in fields(Figure)} - {"name", "these"}
    return Figure(
        name=name,
        these=_interval(metric["these"]),
        **{key: value for key, value in metric.items() if key in names},
    )


def _interval(limits: Mapping[str, Any]) -> Interval:
    return Interval(**{item.name: limits[item.name] for item in fields(Interval) if item.name in limits})
