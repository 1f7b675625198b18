"""`Results`: the results of one model on one suite, built from a journal or loaded from a file.

Everything that shows, compares or exports results reads this value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from equipoise import suites
from equipoise.core.files import shown
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import askers, rows, schema
from equipoise.results.askers import AskerCells
from equipoise.results.figure import Figure, figure_of
from equipoise.results.rows import ObjectReader
from equipoise.suites import AnySuite

if TYPE_CHECKING:
    import pandas
    import polars

    from equipoise.results.document import AuditFigures

_OWN_KEYS = ("metadata", "summary", "results", "errors")
"""The keys of a results file that are no sections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCounts:
    """Numbers of runs: planned, left to do, and done without a score."""

    planned: int
    left: int
    unscored: int

    @property
    def missing(self) -> int:
        """Runs without a score, done or not."""
        return self.left + self.unscored


@dataclass(frozen=True, kw_only=True, repr=False)
class Results:
    """The results of one model on one suite.

    `rows` are the plain runs, `cued_rows` those with a cue about who asks. `sections` has the further parts
    of the file by key, in its order: audits, what studies add, `comparison` and `gate`. `path` is that of the
    file, if there is one, `file` the same as messages show it, and `digest` the file's SHA-256.

    `doubt` says why verification against the journal failed; None if it succeeded or was not tried.
    `contradiction` says what the file's summary says otherwise than its runs; None if they agree.
    """

    suite: AnySuite
    metadata: Mapping[str, JSON]
    summary: Mapping[str, JSON]
    rows: Sequence[RunRow] = ()
    cued_rows: Sequence[RunRow] = ()
    errors: Sequence[Mapping[str, JSON]] = ()
    sections: Mapping[str, JSON] = field(default_factory=dict)
    path: Path | None = None
    file: str = ""
    digest: str | None = None
    doubt: str | None = None
    contradiction: str | None = None
    own_cells: Sequence[Cell] | None = None
    own_asker_cells: AskerCells | None = None
    """Cells in place of those of the rows, for results without their rows."""

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells, of which metrics are made."""
        return self.suite.combine(self.rows) if self.own_cells is None else self.own_cells

    @cached_property
    def asker_cells(self) -> AskerCells:
        """The cells for the metrics about who asks."""
        if self.own_asker_cells is not None:
            return self.own_asker_cells
        is_asked = "askers" in self.sections
        return askers.read_cells(self.suite, self.metadata if is_asked else {}, self.rows, self.cued_rows)

    @cached_property
    def definitions(self) -> dict[str, Metric]:
        """The metrics that the cells allow, by name, the headline first."""
        return {metric.name: metric for metric in self.suite.metrics(self.cells)}

    @property
    def model(self) -> str:
        """The subject model."""
        return str(self.metadata["subject_model"])

    @property
    def rounds(self) -> int:
        """The largest number of runs of a case."""
        lengths = (len(values) for cell in self.cells for values in cell.values.values())
        return max(lengths, default=0)

    @property
    def counts(self) -> RunCounts:
        """The numbers of runs: planned, left and unscored."""
        planned, completed = self.metadata["runs_expected"], self.metadata["runs_completed"]
        return RunCounts(planned=planned, left=planned - completed, unscored=len(self.errors))

    @property
    def scale(self) -> Scale:
        """The scale of verdicts, without descriptions of the levels."""
        scale = self.metadata["scale"]
        return Scale(low=scale["low"], high=scale["high"], levels={})

    @property
    def until(self) -> Mapping[str, JSON] | None:
        """How `--until` ended the session; None without it."""
        return self.summary.get("until")

    @property
    def audits(self) -> Mapping[str, AuditFigures | None]:
        """The audit of each evaluator; None if there is none."""
        audits: Mapping[str, AuditFigures | None] = self.sections.get("audit", {})
        return audits

    @property
    def people(self) -> Mapping[str, JSON] | None:
        """The labels of people, if there are any."""
        return self.sections.get("people")

    @property
    def status(self) -> str:
        """`complete`, `complete_with_unscored`, `interrupted`, `no_scores` or `running`."""
        return str(self.metadata.get("status"))

    @property
    def uuid(self) -> str:
        """A UUID made of the file's hash, so that another export of the same file has the same."""
        return str(UUID(bytes=bytes.fromhex(str(self.digest))[:16], version=4))

    # For scripts and notebooks.

    @cached_property
    def metrics(self) -> Mapping[str, Figure]:
        """The figures by name, the headline first; they are computed if the file has none."""
        with self._reading():
            metrics = self.summary.get("metrics")
            if metrics is None:
                from equipoise.results.summary import summarise

                metrics = summarise(self.suite, self.rows, self.scale)["metrics"]
            return {name: figure_of(name, metric) for name, metric in metrics.items()}

    @cached_property
    def asker(self) -> Mapping[str, Figure]:
        """The figures about who asks, by name; empty without `--asker`."""
        with self._reading():
            metrics = self.summary.get("asker", {}).get("metrics", {})
            return {name: figure_of(name, metric) for name, metric in metrics.items()}

    @cached_property
    def table(self) -> Sequence[Sequence[str]]:
        """The suite's own table of its summary as texts, header first. Raises UserError if there is none."""
        with self._reading("has no table: its session has not ended, or another tool wrote it"):
            return self.suite.table(self.summary)

    def runs(self) -> Iterator[RunRow]:
        """Every run without a cue about who asks, in the order of the file."""
        return iter(self.rows)

    def asked(self) -> Iterator[RunRow]:
        """Every run with a cue about who asks, which is its `asker`; none without `--asker`."""
        return iter(self.cued_rows)

    def to_polars(self) -> polars.DataFrame:
        """One row a run; docs/exports.md describes the columns. Needs polars."""
        from equipoise.results import table

        return table.to_polars([self])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as `to_polars`, as a pandas data frame. Needs pandas."""
        from equipoise.results import table

        return table.to_pandas([self])

    def _reading(self, otherwise: str | None = None) -> AbstractContextManager[None]:
        return schema.reading(*([self.path] if self.path else ()), otherwise=otherwise)

    def __repr__(self) -> str:
        done, planned = self.metadata["runs_completed"], self.metadata["runs_expected"]
        name = self.suite.name
        return f"<Results of {self.model!r} on {name}: {done} of {planned} runs, {self.status}>"

    def _repr_html_(self) -> str:
        """The table, as HTML for notebooks."""
        head, *body = [[escape(cell) for cell in row] for row in self.table]
        lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body]
        return f"<p>{escape(repr(self))}</p><table>{''.join(lines)}</table>"

    # For the other rooms.

    def about(self) -> dict[str, JSON]:
        """The fields that identify these results in a comparison."""
        names = ("subject_model", "started", "finished", "runs", "status")
        identity = {name: self.metadata.get(name) for name in names}
        return {"file": self.file, "sha256": self.digest, "doubt": self.doubt, **identity}

    def without_rows(self) -> Results:
        """The same results with their cells, but without runs and transcripts, to save memory."""
        return replace(self, rows=(), cued_rows=(), own_cells=self.cells, own_asker_cells=self.asker_cells)

    def to_json(self) -> dict[str, JSON]:
        """The results as in a file. Runs and transcripts are functions, called on writing."""
        sections = dict(self.sections)
        if "askers" in sections:
            cued = rows.to_json(self.suite, self.cued_rows, self.scale, has_means=False)
            sections["askers"] = askers.with_results(sections["askers"], cued)
        return {
            "metadata": self.metadata,
            "summary": self.summary,
            **({"audit": sections.pop("audit")} if "audit" in sections else {}),
            "results": rows.to_json(self.suite, self.rows, self.scale),
            "errors": self.errors,
            **sections,
        }


def of_json(
    path: Path | str, data: Mapping[str, JSON], digest: str | None = None, reader: ObjectReader | None = None
) -> Results:
    """The results in the JSON of a file.

    If the runs in `data` lack their transcripts, `reader` returns runs with theirs. Raises KeyError,
    TypeError or ValueError if something is missing or of the wrong type.
    """
    suite = suites.load(data["metadata"]["suite"]).of(data["metadata"].get("dataset"))
    sections = {name: value for name, value in data.items() if name not in _OWN_KEYS}
    if section := sections.get("askers"):
        sections["askers"] = {name: value for name, value in section.items() if name != "results"}
    return Results(
        path=Path(path),
        file=shown(Path(path)),
        digest=digest,
        suite=suite,
        metadata=data["metadata"],
        summary=data.get("summary", {}),
        rows=rows.of_json(data["results"], reader),
        cued_rows=rows.of_askers(data, reader),
        errors=data["errors"],
        sections=sections,
    )
