"""Estimates the calls, cost and time of a sweep's cells. Makes no calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.quantities import duration
from equipoise.core.settings import Settings, is_local
from equipoise.core.types import Foreseen, Role
from equipoise.models import prices
from equipoise.report.layout import align
from equipoise.results import history
from equipoise.runner import estimate, preflight
from equipoise.runner.cells import Sweep, SweepCell
from equipoise.runner.estimate import ExpectedUse, Sample
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.plan import Plan

_OWN = ("model", "output", "api_base_url")
"""Options that affect neither the cases of a session nor its foreseen calls."""
Known = Mapping[tuple[Role, str], tuple[Sample, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The expected use of a cell: its number of runs, and of runs left to do, with the calls of the latter.

    `cost` is in USD, None if a model has no price. `seconds` is wall clock time, with as many calls in
    flight as the cell's concurrency allows.
    """

    runs: int
    left: int
    calls: float
    cost: float | None
    seconds: float


def of_cells(sweep: Sweep, root: Path, extra_jobs: ExtraJobs) -> dict[str, Expected]:
    """The expected use of each cell, by name. Raises UserError for a cell that cannot run.

    Cells that differ only in the model share a plan.
    """
    plans: dict[tuple[str, str], _Planned] = {}
    expected = {}
    for cell in sweep.cells:
        key = (cell.suite, repr(sorted((n, v) for n, v in cell.options.items() if n not in _OWN)))
        if key not in plans:
            plans[key] = _planned(cell, root, extra_jobs)
        expected[cell.name] = _expected(cell, plans[key])
    return expected


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """The foreseen calls of each run of a suite by run id, and samples of its earlier sessions.

    `_whole` caches the use of models for all runs.
    """

    foreseen: Mapping[str, Sequence[Foreseen]]
    known: Known
    _whole: dict[object, Mapping[int, ExpectedUse]] = field(default_factory=dict)

    def expected_uses(self, settings: Settings, left: Sequence[str]) -> Mapping[int, ExpectedUse]:
        """The expected use of each model for the runs that are left, by the model's index."""
        if len(left) < len(self.foreseen):
            return estimate.expected_uses(settings, [self.foreseen[run] for run in left], self.known)
        # The estimate is the same for all models without a sample, so it is computed once for them.
        key = tuple(
            model if (estimate.role_of(number), model) in self.known else is_local(model)
            for number, model in enumerate(settings.models)
        )
        if key not in self._whole:
            self._whole[key] = estimate.expected_uses(settings, [*self.foreseen.values()], self.known)
        return self._whole[key]


def _planned(cell: SweepCell, root: Path, extra_jobs: ExtraJobs) -> _Planned:
    plan = Plan(cell.settings, root, extra_jobs)
    preflight.check(plan, [cell.suite])
    runs = plan.runs(cell.suite)
    calls = estimate.foreseen(plan.load(cell.suite), runs)
    journals = sorted(root.joinpath("results").rglob(f"*{cell.suite}*.jsonl"))
    return _Planned(
        foreseen={run.id: foreseen for run, foreseen in zip(runs, calls, strict=True)},
        known=estimate.samples(journals, cell.suite),
    )


def _expected(cell: SweepCell, planned: _Planned) -> Expected:
    past = history.load(cell.files.journal)
    left = [run for run in planned.foreseen if not past.has_score(run)]
    settings = cell.settings.of(cell.suite)
    uses = planned.expected_uses(settings, left)
    costs = [_cost(settings, number, use) for number, use in uses.items()]
    return Expected(
        runs=len(planned.foreseen),
        left=len(left),
        calls=sum(use.calls.value for use in uses.values()),
        cost=None if None in costs else math.fsum(filter(None, costs)),
        seconds=sum(use.seconds.value for use in uses.values()) / settings.concurrency,
    )


def _cost(settings: Settings, number: int, use: ExpectedUse) -> float | None:
    tokens = {"input": round(use.input.value), "output": round(use.output.value)}
    return prices.cost(settings.models[number], settings.base_url(number), tokens, settings.price)


def lines(cells: Mapping[str, Expected], width: int) -> Iterator[str]:
    """A table of the cells and their sum, as lines of text of at most `width` columns."""
    rows: list[Sequence[str]] = [("cell", "runs", "left", "calls", "USD", "time")]
    rows += [(name, *_row(item)) for name, item in cells.items()]
    rows.append(("all", *_row(_sum(cells.values()))))
    yield from align(rows, width)
    yield "time: one cell after the other; by earlier sessions, or else 1 s a call and 50 tokens a second"
    if any(item.cost is None for item in cells.values()):
        yield "USD: unknown where a model has no listed price; give price-input and price-output"


def _row(item: Expected) -> tuple[str, ...]:
    cost = "unknown" if item.cost is None else f"{item.cost:,.2f}"
    return f"{item.runs:,}", f"{item.left:,}", f"{item.calls:,.0f}", cost, duration(item.seconds)


def _sum(items: Iterable[Expected]) -> Expected:
    every = list(items)
    costs = [item.cost for item in every]
    return Expected(
        runs=sum(item.runs for item in every),
        left=sum(item.left for item in every),
        calls=math.fsum(item.calls for item in every),
        cost=None if None in costs else math.fsum(filter(None, costs)),
        seconds=math.fsum(item.seconds for item in every),
    )
