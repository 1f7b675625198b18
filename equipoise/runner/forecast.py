"""Estimates the calls, cost and time of a sweep's cells. Makes no calls."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.quantities import duration
from equipoise.core.settings import Settings, is_local
from equipoise.core.types import Foreseen
from equipoise.models import prices
from equipoise.report.layout import align
from equipoise.results import history
from equipoise.runner import estimate, preflight
from equipoise.runner.cells import Sweep, SweepCell
from equipoise.runner.estimate import ExpectedUse, Samples
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.plan import Plan

_IRRELEVANT_OPTIONS = ("model", "output", "api_base_url")
"""Options that affect neither the cases of a session nor its foreseen calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellForecast:
    """The expected use of a cell of a sweep, a model on a suite.

    `runs` counts all runs of the cell, and `left` those that have no score yet. The rest is about the latter:
    their `calls`, their `cost` in USD (None if a model has no price), and the wall clock time in `seconds`
    with as many calls in flight as the cell's concurrency allows.
    """

    runs: int
    left: int
    calls: float
    cost: float | None
    seconds: float


def forecast_cells(sweep: Sweep, root: Path, extra_jobs: ExtraJobs) -> dict[str, CellForecast]:
    """The expected use of each cell, by name. Raises UserError for a cell that cannot run.

    The calls of cells that differ only in the model are foreseen once.
    """
    suite_forecasts: dict[tuple[str, str], _SuiteForecast] = {}
    forecasts = {}
    for cell in sweep.cells:
        options = sorted(item for item in cell.options.items() if item[0] not in _IRRELEVANT_OPTIONS)
        key = (cell.suite, repr(options))
        if key not in suite_forecasts:
            suite_forecasts[key] = _forecast_suite(cell, root, extra_jobs)
        forecasts[cell.name] = _forecast_cell(cell, suite_forecasts[key])
    return forecasts


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteForecast:
    """The foreseen calls of each run of a suite, by run id, and samples of its earlier sessions.

    `_uses_for_all_runs` caches the expected use of models when all runs are left, which many cells share.
    """

    foreseen: Mapping[str, Sequence[Foreseen]]
    samples: Samples
    _uses_for_all_runs: dict[object, Mapping[int, ExpectedUse]] = field(default_factory=dict)

    def expected_uses(self, settings: Settings, left: Sequence[str]) -> Mapping[int, ExpectedUse]:
        """The expected use of each model for the runs that are left, by the model's index."""
        if len(left) < len(self.foreseen):
            return estimate.expected_uses(settings, [self.foreseen[run] for run in left], self.samples)
        # Without a sample, the estimate depends only on whether the model is local.
        key = tuple(
            model if (estimate.role_of(number), model) in self.samples else is_local(model)
            for number, model in enumerate(settings.models)
        )
        if key not in self._uses_for_all_runs:
            uses = estimate.expected_uses(settings, [*self.foreseen.values()], self.samples)
            self._uses_for_all_runs[key] = uses
        return self._uses_for_all_runs[key]


def _forecast_suite(cell: SweepCell, root: Path, extra_jobs: ExtraJobs) -> _SuiteForecast:
    plan = Plan(cell.settings, root, extra_jobs)
    preflight.check(plan, [cell.suite])
    runs = plan.within_limit(cell.suite, plan.runs(cell.suite))
    calls = estimate.foreseen(plan.load(cell.suite), runs)
    # By default, the name of a journal contains the suite's name.
    journals = sorted(root.joinpath("results").rglob(f"*{cell.suite}*.jsonl"))
    return _SuiteForecast(
        foreseen={run.id: foreseen for run, foreseen in zip(runs, calls, strict=True)},
        samples=estimate.samples(journals, cell.suite),
    )


def _forecast_cell(cell: SweepCell, suite_forecast: _SuiteForecast) -> CellForecast:
    past = history.load(cell.files.journal)
    left = [run for run in suite_forecast.foreseen if not past.has_score(run)]
    settings = cell.settings.of(cell.suite)
    uses = suite_forecast.expected_uses(settings, left)
    costs = [_cost(settings, number, use) for number, use in uses.items()]
    return CellForecast(
        runs=len(suite_forecast.foreseen),
        left=len(left),
        calls=sum(use.calls.value for use in uses.values()),
        cost=None if None in costs else math.fsum(filter(None, costs)),
        seconds=sum(use.seconds.value for use in uses.values()) / settings.concurrency,
    )


def _cost(settings: Settings, number: int, use: ExpectedUse) -> float | None:
    tokens = {"input": round(use.input.value), "output": round(use.output.value)}
    return prices.cost(settings.models[number], settings.base_url(number), tokens, settings.price)


def lines(cells: Mapping[str, CellForecast], width: int) -> Iterator[str]:
    """A table of the cells and their sum, as lines of text of at most `width` columns."""
    rows: list[Sequence[str]] = [("cell", "runs", "left", "calls", "USD", "time")]
    rows += [(name, *_row(forecast)) for name, forecast in cells.items()]
    rows.append(("all", *_row(_sum(cells.values()))))
    yield from align(rows, width)
    yield "time: of cells run one by one; from earlier sessions, or else 1 s a call and 50 tokens a second"
    if any(forecast.cost is None for forecast in cells.values()):
        yield "USD: unknown where a model has no listed price; give price-input and price-output"


def _row(forecast: CellForecast) -> tuple[str, ...]:
    cost = "unknown" if forecast.cost is None else f"{forecast.cost:,.2f}"
    runs, left = f"{forecast.runs:,}", f"{forecast.left:,}"
    return runs, left, f"{forecast.calls:,.0f}", cost, duration(forecast.seconds)


def _sum(forecasts: Collection[CellForecast]) -> CellForecast:
    costs = [forecast.cost for forecast in forecasts]
    return CellForecast(
        runs=sum(forecast.runs for forecast in forecasts),
        left=sum(forecast.left for forecast in forecasts),
        calls=math.fsum(forecast.calls for forecast in forecasts),
        cost=None if None in costs else math.fsum(filter(None, costs)),
        seconds=math.fsum(forecast.seconds for forecast in forecasts),
    )
