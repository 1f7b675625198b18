"""`Results`: the results of one model on one suite, built from a journal or loaded from a file.

Everything that shows, compares or exports results reads this value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, cast, is_typeddict
from uuid import UUID

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.figures import Figure
from equipoise.core.files import shown
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, count_outcomes
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import askers, rows, schema, store, table
from equipoise.results.askers import AskerCells
from equipoise.results.document import (
    AskedRuns,
    Audit,
    ComparedResults,
    Metadata,
    OutcomeCounts,
    PeopleScores,
    RunError,
    Sections,
    Summary,
    UntilReached,
)
from equipoise.results.light import Transcripts
from equipoise.results.table import TableRun
from equipoise.suites import AnySuite

_OWN_KEYS = ("metadata", "summary", "results", "errors")
"""The keys of a results file that are not sections."""


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


def _nothing(_: Results) -> Iterable[str]:
    return ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Results:
    """The results of one model on one suite.

    `rows` are the plain runs, `cued_rows` the runs with a cue about who asks. `sections` has the further
    parts of the file by key, in the file's order: audits, what studies add, `comparison` and `gate`. `path`
    is the file's path, if there is a file; `file` is the path as messages show it, and `digest` the file's
    SHA-256.

    `doubt` says why verification against the journal failed; None if it succeeded or was not tried.
    `contradiction` says where the file's summary contradicts its runs; None if they agree.
    """

    suite: AnySuite
    metadata: Metadata
    summary: Summary
    rows: Sequence[RunRow] = ()
    cued_rows: Sequence[RunRow] = ()
    errors: Sequence[RunError] = ()
    sections: Sections = field(default_factory=Sections)
    path: Path | None = None
    file: str = ""
    digest: str | None = None
    doubt: str | None = None
    contradiction: str | None = None
    says: Callable[[Results], Iterable[str]] = field(default=_nothing, compare=False)
    """Makes the sentences on these results for notebooks. The Python API sets it."""
    own_cells: Sequence[Cell] | None = field(default=None, compare=False)
    own_asker_cells: AskerCells | None = field(default=None, compare=False)
    """Cells that were made already. They are used in place of the rows, which may have been left out."""

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells that metrics are computed from."""
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
        """The metrics that can be computed from the cells, by name, the headline first."""
        return {metric.name: metric for metric in self.suite.metrics(self.cells)}

    @property
    def headline(self) -> Metric:
        """The first of the metrics."""
        return next(iter(self.definitions.values()))

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

    @cached_property
    def outcomes(self) -> Mapping[str, int]:
        """The number of runs by outcome, from the rows, or from the summary if the rows were left out."""
        return count_outcomes(self.rows) or cast("Mapping[str, int]", self.summary.get("outcomes", {}))

    @property
    def has_scores(self) -> bool:
        """Whether any run has a score."""
        return bool(self.metadata["runs_completed"] > len(self.errors))

    @property
    def scale(self) -> Scale:
        """The scale of verdicts, without descriptions of the levels."""
        scale = self.metadata["scale"]
        return Scale(low=scale["low"], high=scale["high"], levels={})

    @property
    def until(self) -> UntilReached | None:
        """How `--until` ended the session; None without it."""
        return self.summary.get("until")

    @property
    def audits(self) -> Mapping[str, Audit | None]:
        """The audit of each evaluator; None if there is none."""
        return self.sections.get("audit", {})

    @property
    def people(self) -> PeopleScores | None:
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
            if "metrics" in self.summary:
                return self.summary["metrics"]
            from equipoise.results.summary import summarise

            metrics: Mapping[str, Figure] = summarise(self.suite, self.cells, self.scale)["metrics"]
            return metrics

    @cached_property
    def asker(self) -> Mapping[str, Figure]:
        """The figures about who asks, by name; empty without `--asker`."""
        with self._reading():
            return self.summary["asker"]["metrics"] if "asker" in self.summary else {}

    @cached_property
    def table(self) -> Sequence[Sequence[str]]:
        """The suite's own table of its summary as texts, header first. Raises UserError if there is none."""
        with self._reading("has no table: its session has not ended, or another tool wrote it"):
            return self.suite.tabled(self.summary)

    def figures(self) -> dict[str, list[Any]]:
        """All figures with their intervals, one row each, by column; for a data frame."""
        return _figures([self])

    def runs(self) -> dict[str, list[Any]]:
        """All runs without a cue about who asks, one row each, by column; for a data frame."""
        with self._reading():
            return table.columns_and_kinds(self.table_runs())[0]

    def table_runs(self) -> Iterator[TableRun]:
        """The runs without a cue about who asks, as tables take them."""
        return (TableRun(self.path, self.metadata, run) for run in self.rows)

    def _reading(self, otherwise: str | None = None) -> AbstractContextManager[None]:
        return schema.reading(*([self.path] if self.path else ()), otherwise=otherwise)

    @property
    def sentences(self) -> list[str]:
        """What the results say, and what makes them weak, as in a terminal; empty unless `says` is set."""
        with self._reading():
            return [*self.says(self)]

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, self._name])

    @property
    def _name(self) -> str:
        done, planned = self.metadata["runs_completed"], self.metadata["runs_expected"]
        name = self.suite.name
        return f"<Results of {self.model!r} on {name}: {done} of {planned} runs, {self.status}>"

    def _repr_html_(self) -> str:
        """The sentences, the table and what limits it, as HTML for notebooks."""
        head, *body = [[escape(cell) for cell in row] for row in self.table]
        lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in body]
        cautions = [f"caution: {text}" for text in self.metadata.get("cautions", ())]
        texts = "".join(f"<p>{escape(text)}</p>" for text in (*self.sentences, self._name, *cautions))
        return f"{texts}<table>{''.join(lines)}</table>"

    # For the other rooms.

    def about(self) -> ComparedResults:
        """The fields that identify these results in a comparison."""
        metadata = self.metadata
        return {
            "file": self.file,
            "sha256": self.digest,
            "doubt": self.doubt,
            "subject_model": metadata.get("subject_model"),
            "started": metadata.get("started"),
            "finished": metadata.get("finished"),
            "runs": metadata.get("runs"),
            "status": metadata.get("status"),
        }

    def without_rows(self) -> Results:
        """The same results with their cells, but without runs and transcripts, to save memory."""
        return replace(self, rows=(), cued_rows=(), own_cells=self.cells, own_asker_cells=self.asker_cells)

    def without_cells(self) -> Results:
        """The same results without runs and cells, so that those of hundreds of models can be held."""
        summary = self.summary.copy()
        summary["outcomes"] = cast("OutcomeCounts", self.outcomes)
        return replace(
            self, summary=summary, rows=(), cued_rows=(), own_cells=(), own_asker_cells=askers.NO_ASKERS
        )

    def to_json(self) -> dict[str, JSON]:
        """The results as in a file. The runs of a question are a function, which is called on writing."""
        sections: dict[str, JSON] = dict(self.sections)
        if "askers" in sections:
            cued = rows.to_json(self.suite, self.cued_rows, self.scale, has_means=False)
            sections["askers"] = askers.with_results(self.sections["askers"], cued)
        return {
            "metadata": self.metadata,
            "summary": self.summary,
            **({"audit": sections.pop("audit")} if "audit" in sections else {}),
            "results": rows.to_json(self.suite, self.rows, self.scale),
            "errors": self.errors,
            **sections,
        }

    def save(self) -> Results:
        """Write the file at `path`, and return the results with its digest. Raises OSError."""
        assert self.path is not None
        return replace(self, digest=store.write_json(self.path, self.to_json()))


class ResultsList(tuple[Results, ...]):
    """The results of several files, with their figures and runs in common tables."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The first sentence on each of the results."""
        return "\n".join(next(iter(results.sentences), results._name) for results in self)

    def _repr_html_(self) -> str:
        """The same as HTML for notebooks."""
        return "".join(f"<p>{escape(line)}</p>" for line in repr(self).splitlines())

    def figures(self) -> dict[str, list[Any]]:
        """All figures with their intervals, one row each, by column; for a data frame."""
        return _figures(self)

    def runs(self) -> dict[str, list[Any]]:
        """All runs without a cue about who asks, one row each, by column; for a data frame."""
        return table.columns_and_kinds(run for results in self for run in results.table_runs())[0]


def _figures(all_results: Iterable[Results]) -> dict[str, list[Any]]:
    rows = [
        {
            "file": results.file,
            "suite": results.suite.name,
            "dataset": results.metadata.get("dataset"),
            "model": results.model,
            "metric": name,
            "value": figure.value,
            "low": figure.low,
            "high": figure.high,
            "se": figure.se,
            "n": figure.n,
            "these_low": figure.these.low,
            "these_high": figure.these.high,
            "unit": figure.unit,
            "kind": figure.kind,
            "higher_is_better": figure.higher_is_better,
            "reason": figure.reason,
            "caution": figure.caution,
        }
        for results in all_results
        for name, figure in {**results.metrics, **results.asker}.items()
    ]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def of_json(path: Path | str, data: Mapping[str, JSON], digest: str | None = None) -> Results:
    """The results in the JSON of a file, from which transcripts are read if `data` has their offsets.

    Raises KeyError, TypeError or ValueError if something is missing or of the wrong type.
    """
    transcripts = Transcripts(Path(path), digest) if digest else None
    sections = {name: part for name, part in data.items() if name not in _OWN_KEYS}
    if "askers" in sections:
        sections["askers"] = json_io.as_type(sections["askers"], AskedRuns)
    suite = suites.load(data["metadata"]["suite"]).of(data["metadata"].get("dataset"))
    return Results(
        path=Path(path),
        file=shown(Path(path)),
        digest=digest,
        suite=suite,
        metadata=data["metadata"],
        summary=cast("Summary", _typed(data.get("summary", {}), Summary)),
        rows=rows.of_json(data["results"], transcripts),
        cued_rows=rows.of_askers(data, transcripts),
        errors=data["errors"],
        sections=typed(sections),
    )


def typed(sections: Mapping[str, JSON]) -> Sections:
    """The sections of a file or a journal, with figures in place of objects."""
    return cast("Sections", _typed(sections, Sections))


def _typed(data: Mapping[str, JSON], declared: type) -> dict[str, Any]:
    """The data with the declared keys as values of their types; other keys, as of a suite, are unchanged."""
    types = schema.key_types(declared)
    return {name: _as_type(value, types[name]) if name in types else value for name, value in data.items()}


def _as_type(value: JSON, declared: Any) -> Any:
    keys = schema.without_null(declared)
    if is_typeddict(keys) and isinstance(value, dict):
        return _typed(value, keys)
    return json_io.as_type(value, declared)
