"""The results of one model on one suite: `Side`, for comparisons, and `LoadedResults`, in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from equipoise import suites
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import askers, rows
from equipoise.results.askers import NO_ASKERS, AskerCells
from equipoise.suites import AnySuite

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison: baseline or candidate, without runs and transcripts.

    `file` is the path as messages show it, and `digest` the file's SHA-256. `until` says how `--until` ended
    the session. `audits` has the audit of each evaluator, None if there is none, and `people` the labels of
    people. `doubt` says why verification against the journal failed; None if it succeeded or was not tried.
    `asker_cells` has the cells for the metrics about who asks. `contradiction` says what the file's
    summary says otherwise than its runs; None if they agree.
    """

    file: str
    digest: str | None
    suite: AnySuite
    metadata: Mapping[str, JSON]
    cells: Sequence[Cell]
    errors: Sequence[Mapping[str, JSON]] = ()
    until: Mapping[str, JSON] | None = None
    audits: Mapping[str, AuditFigures | None] = field(default_factory=dict)
    people: Mapping[str, JSON] | None = None
    doubt: str | None = None
    asker_cells: AskerCells = NO_ASKERS
    contradiction: str | None = None

    @property
    def model(self) -> str:
        """The subject model."""
        return str(self.metadata["subject_model"])

    @property
    def runs(self) -> int:
        """The largest number of runs of a case."""
        lengths = (len(values) for cell in self.cells for values in cell.values.values())
        return max(lengths, default=0)

    @property
    def counts(self) -> RunCounts:
        """The numbers of runs: planned, left and unscored."""
        planned, completed = self.metadata["runs_expected"], self.metadata["runs_completed"]
        return RunCounts(planned=planned, left=planned - completed, unscored=len(self.errors))

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics that the cells allow, by name, the headline first."""
        return {metric.name: metric for metric in self.suite.metrics(self.cells)}

    @property
    def scale(self) -> Scale:
        """The scale of verdicts, without descriptions of the levels."""
        scale = self.metadata["scale"]
        return Scale(low=scale["low"], high=scale["high"], levels={})

    def about(self) -> dict[str, JSON]:
        """The fields that identify these results in a comparison."""
        names = ("subject_model", "started", "finished", "runs", "status")
        identity = {name: self.metadata.get(name) for name in names}
        return {"file": self.file, "sha256": self.digest, "doubt": self.doubt, **identity}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedResults(Side):
    """Results in full: the JSON, and a row for each run; those of runs with an asker cue are `cued_rows`."""

    data: Mapping[str, JSON]
    rows: Sequence[RunRow]
    cued_rows: Sequence[RunRow]

    @property
    def side(self) -> Side:
        """The same results without runs and transcripts, which then need not stay in memory."""
        return Side(**{item.name: getattr(self, item.name) for item in fields(Side)})


def results_from_json(file: str, data: Mapping[str, JSON], digest: str | None = None) -> LoadedResults:
    """The results in the JSON of a file or a running session. `file` is the path as messages show it."""
    suite = suites.load(data["metadata"]["suite"]).of(data["metadata"].get("dataset"))
    plain, cued = rows.of_json(data["results"]), rows.of_askers(data)
    return LoadedResults(
        file=file,
        digest=digest,
        suite=suite,
        metadata=data["metadata"],
        cells=suite.combine(plain),
        errors=data["errors"],
        until=data.get("summary", {}).get("until"),
        audits=data.get("audit") or {},
        people=data.get("people"),
        asker_cells=askers.read_cells(suite, data, plain, cued),
        data=data,
        rows=plain,
        cued_rows=cued,
    )
