"""Checks that the figures and counts in a summary are those of its runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, count_outcomes
from equipoise.core.types import JSON
from equipoise.stats import mean
from equipoise.stats.contrast import as_balance

MOST_METRICS = 20
"""Maximum number of metrics that are computed again, the headline first."""
_TOLERANCE = 1e-4
"""Figures are written with six decimals."""


def contradiction(
    summary: Mapping[str, JSON], metrics: Sequence[Metric], cells: Sequence[Cell], rows: Sequence[RunRow]
) -> str | None:
    """A sentence on the first contradiction between the summary and the runs; None if there is none."""
    stated: Mapping[str, Figure] = summary.get("metrics") or {}
    for metric in metrics[:MOST_METRICS]:
        value = _figure(metric, metric.select(cells))
        figure = stated[metric.name].value if metric.name in stated else None
        if value is not None and figure is not None and not math.isclose(value, figure, abs_tol=_TOLERANCE):
            return f"its summary says {metric.name} {figure:.6g}, its runs come to {value:.6g}"
    counts = count_outcomes(rows)
    if stated and (outcomes := summary.get("outcomes", counts)) != counts:
        return f"its summary counts the outcomes {_listed(outcomes)}, its runs have {_listed(counts)}"
    return None


def _listed(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in outcomes.items() if count) or "none"


def _figure(metric: Metric, cells: Sequence[Cell]) -> float | None:
    """The figure, computed without numpy, which is slow to import; None for kinds that need numpy."""
    if metric.kind == "contrast":
        return _figure(*as_balance(metric, cells))
    if metric.kind == "rate":
        runs = [run for cell in cells for run in metric.weighted_runs(cell)]
        total = math.fsum(weight for _, weight in runs)
        return 100 * math.fsum(value * weight for value, weight in runs) / total if total else None
    if metric.kind not in ("mean", "balance", "count"):
        return None
    strata: dict[str, list[float]] = {}
    for cell in cells:
        values = [value for value in cell.of(metric.of) if value is not None]
        if (average := mean(values)) is not None:
            strata.setdefault(cell.stratum, []).append(average)
    return mean([centre for values in strata.values() if (centre := mean(values)) is not None])
