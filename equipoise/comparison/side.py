"""The results of one model on one suite, as a comparison needs them, and as they are in a file."""

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
    """How many runs were planned, how many were not done, and how many of those done have no score."""

    planned: int
    left: int
    unscored: int

    @property
    def missing(self) -> int:
        """Runs without a score, done or not."""
        return self.left + self.unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison, without its runs and transcripts.

    `file` is the path as it was given, `digest` its SHA-256. `until` says how `--until` ended it, `audits`
    has the audit of each evaluator (None of one that was not audited), `people` the labels of people.
    `doubt` says why the results are not verified against their journal, where that was tried; `asking` is
    what figures about who asks are made of.
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
    asking: AskerCells = NO_ASKERS

    @property
    def model(self) -> str:
        """The subject model."""
        return str(self.metadata["subject_model"])

    @property
    def runs(self) -> int:
        """How often its cases were run at most."""
        lengths = (len(values) for cell in self.cells for values in cell.values.values())
        return max(lengths, default=0)

    @property
    def counts(self) -> RunCounts:
        """Its runs: planned, left and unscored."""
        planned, completed = self.metadata["runs_expected"], self.metadata["runs_completed"]
        return RunCounts(planned=planned, left=planned - completed, unscored=len(self.errors))

    @property
    def metrics(self) -> dict[str, Metric]:
        """The available metrics by name, the headline first."""
        return {metric.name: metric for metric in self.suite.metrics(self.cells)}

    @property
    def scale(self) -> Scale:
        """The scale of its verdicts, without the descriptions."""
        scale = self.metadata["scale"]
        return Scale(low=scale["low"], high=scale["high"], levels={})

    def about(self) -> dict[str, JSON]:
        """The fields that identify it in a comparison."""
        names = ("subject_model", "started", "finished", "runs", "status")
        identity = {name: self.metadata.get(name) for name in names}
        return {"file": self.file, "sha256": self.digest, "doubt": self.doubt, **identity}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedResults(Side):
    """The whole of results: their JSON, and a row for each run; `asked` are the rows of runs with a cue."""

    data: Mapping[str, JSON]
    rows: Sequence[RunRow]
    asked: Sequence[RunRow]

    @property
    def side(self) -> Side:
        """Side of a comparison, without runs and transcripts, which need not stay in memory."""
        return Side(**{item.name: getattr(self, item.name) for item in fields(Side)})


def loaded(file: str, data: Mapping[str, JSON], digest: str | None = None) -> LoadedResults:
    """The results in this JSON, of a file or of a session that goes on."""
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
        asking=askers.of(suite, data, plain, cued),
        data=data,
        rows=plain,
        asked=cued,
    )
