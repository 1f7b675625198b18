"""Which of many models on the same questions can be told apart, and their ranking.

The p values equal those of `metrics.difference`, but are computed in numpy for speed: 300 models make 44,850
pairs. The "pull" of a cell or cluster is its contribution to the error of a figure, after linearisation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit  # scipy has no types

from equipoise.core.figures import Difference
from equipoise.core.records import Cell, Metric
from equipoise.stats import mean, metrics, valid
from equipoise.stats.intervals import Array, codes, degrees_of_freedom
from equipoise.stats.metrics import QUOTIENTS, terms_of
from equipoise.stats.paired import holm

Flags = NDArray[np.bool_]
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class SharedCells:
    """The layout of the cells that all compared models were asked, ordered by cluster.

    `cluster` and `stratum` hold the index of each cell's cluster and stratum, `strata` the names of strata.
    """

    cluster: NDArray[np.int_]
    stratum: NDArray[np.int_]
    strata: Sequence[str]

    @property
    def starts(self) -> NDArray[np.int_]:
        """The index of the first cell of each cluster."""
        return np.flatnonzero(np.diff(self.cluster, prepend=-1))

    @property
    def stratum_indicators(self) -> Array:
        """Indicators, cells by strata: 1 if the cell is in the stratum."""
        return np.eye(int(self.stratum.max(initial=-1)) + 1)[self.stratum]


class ModelValues(NamedTuple):
    """One model's scores in each shared cell, NaN if it has no value.

    `above` is the mean over runs. For a ratio, gap or lift, the two are the terms of `metrics.terms_of`.
    """

    above: Array
    below: Array


def layout_and_values(metric: Metric, cells: Sequence[Cell]) -> tuple[SharedCells, ModelValues]:
    """The layout of one model's cells, which is equal for models with the same cells, and its values."""
    chosen = sorted(metric.select(cells), key=lambda cell: (cell.cluster, cell.stratum))
    clusters, strata = [cell.cluster for cell in chosen], [cell.stratum for cell in chosen]
    layout = SharedCells(codes(clusters), codes(strata), [*dict.fromkeys(strata)])
    scores = np.array([_scores(metric, cell) for cell in chosen], dtype=np.float64).reshape(-1, 2)
    return layout, ModelValues(scores[:, 0], scores[:, 1])


def _scores(metric: Metric, cell: Cell) -> tuple[float, float]:
    if metric.kind in QUOTIENTS:
        return terms_of(metric, cell) or (np.nan, np.nan)
    average = mean(valid(cell.of(metric.of)))
    return (np.nan if average is None else average), np.nan


def difference(metric: Metric, layout: SharedCells, before: ModelValues, after: ModelValues) -> Difference:
    """After minus before on the cells that both models have, computed by `metrics.difference`."""
    return metrics.difference(metric, *(_cells(metric, layout, model) for model in (before, after)))


def _cells(metric: Metric, layout: SharedCells, model: ModelValues) -> list[Cell]:
    """Cells with one run each for which the metric has the same figure as for the model's own cells."""
    # Lists, because reading single numbers from an array is slow.
    columns = [column.tolist() for column in (layout.cluster, layout.stratum, *model)]
    return [
        Cell(
            id="",
            cluster=str(cluster),
            stratum=layout.strata[stratum],
            labels=metric.where,
            values=_values(metric, above, below),
        )
        for cluster, stratum, above, below in zip(*columns, strict=True)
        if not math.isnan(above)
    ]


def _values(metric: Metric, above: float, below: float) -> dict[str, list[float | None]]:
    """The values of a run with these terms: the inverse of `metrics.terms_of`."""
    if metric.per is None or metric.kind not in QUOTIENTS:
        return {metric.of: [above]}
    if metric.kind == "ratio":
        return {metric.of: [above], metric.per: [below]}
    other = 0.0 if metric.kind == "gap" else below
    return {metric.of: [above + other], metric.per: [other]}


def p_values(metric: Metric, layout: SharedCells, models: Sequence[ModelValues]) -> Array:
    """The two-sided p of the difference of each pair of models, n by n. Not for contrasts.

    Each difference is on the cells that both models have, and generalises to questions like these. NaN on and
    below the diagonal, and for a difference without an interval.
    """
    above, below = (np.array([model[part] for model in models]) for part in (0, 1))
    p_values_from = {
        "rate": _rate_p_values,
        **dict.fromkeys(QUOTIENTS, _ratio_p_values),
    }.get(metric.kind, _mean_p_values)
    n = len(models)
    p = np.full((n, n), np.nan)
    for row in range(0 if metric.no_interval else n - 1):
        later = slice(row + 1, None)
        first, others = ModelValues(above[row], below[row]), ModelValues(above[later], below[later])
        p[row, later] = p_values_from(metric, layout, first, others)
    return p


def told_apart(p: Array) -> Flags:
    """Whether two models differ at a family-wise error of 5 % over all pairs that have a p; symmetric.

    The procedure is Holm's (1979, Scand. J. Statistics 6, 65-70).
    """
    tests = {(int(i), int(j)): float(p[i, j]) for i, j in np.argwhere(~np.isnan(p))}
    differs = np.zeros(p.shape, dtype=np.bool_)
    for (i, j), adjusted in holm(tests).items():
        differs[i, j] = differs[j, i] = adjusted < 1 - CONFIDENCE
    return differs


# Tests of the differences of `others` from the `first` model: an array (others,) of p values.


def _mean_p_values(metric: Metric, layout: SharedCells, first: ModelValues, others: ModelValues) -> Array:
    """Tests of means by the method of `paired.paired_difference`."""
    changes = others.above - first.above
    present, strata = ~np.isnan(changes), layout.stratum_indicators
    counts = present @ strata
    strata_counts = (counts > 0).sum(axis=1)
    # A stratum with fewer than two cells divides by 0 and gets no weight.
    with np.errstate(divide="ignore", invalid="ignore"):
        centres = np.nan_to_num((np.where(present, changes, 0.0) @ strata) / counts)
        spreads = strata_counts[:, None] * np.sqrt(counts * (counts - 1))
        factors = np.nan_to_num(1 / spreads, posinf=0.0, neginf=0.0)
        value = centres.sum(axis=1) / strata_counts
    contributions = np.where(present, changes - centres @ strata.T, 0.0) * (factors @ strata.T)
    se = np.sqrt((_cluster_sums(layout, contributions) ** 2).sum(axis=1))
    largest = np.abs(np.where(present, changes, 0.0)).max(axis=1, initial=0.0)
    is_known = (_cluster_counts(layout, present) > 1) & ~(counts == 1).any(axis=1) & (se > 1e-12 * largest)
    return _student_p(value, np.where(is_known, se, np.nan), _degrees(layout, present, factors, is_known))


def _degrees(layout: SharedCells, present: Flags, factors: Array, is_known: Flags) -> Array:
    """Degrees of freedom of each model's difference, computed once for models that lack the same cells.

    NaN if the difference has no interval (`is_known` is False).
    """
    cells = np.zeros((int(layout.cluster.max()) + 1, layout.stratum_indicators.shape[1]))
    patterns: dict[bytes, float] = {}
    degrees = np.full(len(present), np.nan)
    for row in np.flatnonzero(is_known):
        key = present[row].tobytes()
        if key not in patterns:
            cells[layout.cluster, layout.stratum] = present[row]
            weighted = factors[row] > 0  # the strata in which this model has cells
            patterns[key] = degrees_of_freedom(cells[:, weighted], factors[row, weighted] ** 2)
        degrees[row] = patterns[key]
    return degrees


def _rate_p_values(metric: Metric, layout: SharedCells, first: ModelValues, others: ModelValues) -> Array:
    """Tests of rates by the method of `paired.paired_rate_difference`."""
    changes = others.above - first.above
    present, strata = ~np.isnan(changes), layout.stratum_indicators
    counts = present @ strata
    # A stratum without a cell divides by 0 and gets no weight.
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.nan_to_num(1 / ((counts > 0).sum(axis=1)[:, None] * counts), posinf=0.0)
    cell_weights = np.where(present, shares @ strata.T, 0.0)
    contributions = _cluster_sums(layout, np.where(present, changes, 0.0) * cell_weights)
    weights, n = _cluster_sums(layout, cell_weights), _cluster_counts(layout, present)
    rises, falls = np.maximum(contributions, 0), np.maximum(-contributions, 0)
    up, down = np.minimum(rises.sum(axis=1), 1), np.minimum(falls.sum(axis=1), 1)
    pulls = rises - up[:, None] * weights, falls - down[:, None] * weights
    up_squares, down_squares = ((part**2).sum(axis=1) for part in pulls)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = _ModelChangeRates(
            up=up,
            down=down,
            up_variance=n / (n - 1) * up_squares,
            down_variance=n / (n - 1) * down_squares,
            correlation=np.nan_to_num((pulls[0] * pulls[1]).sum(axis=1) / np.sqrt(up_squares * down_squares)),
            clusters=1 / (weights**2).sum(axis=1),
        )
        return np.where(n > 1, rates.p(), np.nan)


class _ModelChangeRates(NamedTuple):
    """The rates of rises and falls of many models, with the fields of `paired._ChangeRates`."""

    up: Array
    down: Array
    up_variance: Array
    down_variance: Array
    correlation: Array
    clusters: Array

    def limits(self, confidence: Array) -> Array:
        """Arrays (2, models) of the lower and upper limits, by variance recovery."""
        critical = stdtrit(np.maximum(self.clusters - 1, 1), (1 + confidence) / 2)
        rises = _wilson(self.up, self.up_variance, self.clusters, critical)
        falls = _wilson(self.down, self.down_variance, self.clusters, critical)
        below, above = (self.up - rises[0], falls[1] - self.down), (rises[1] - self.up, self.down - falls[0])
        low, high = (np.sqrt(a * a + b * b - 2 * self.correlation * a * b) for a, b in (below, above))
        value = self.up - self.down
        return np.array([np.maximum(value - low, -1.0), np.minimum(value + high, 1.0)])

    def p(self) -> Array:
        """The two-sided p values, by bisection as in `paired.level_at_zero`."""
        least, most = np.zeros(len(self.up)), np.ones(len(self.up))
        for _ in range(50):
            middle = (least + most) / 2
            low, high = self.limits(1 - middle)
            holds_zero = (low <= 0) & (high >= 0)
            least, most = np.where(holds_zero, middle, least), np.where(holds_zero, most, middle)
        return most


def _wilson(value: Array, variance: Array, clusters: Array, critical: Array) -> tuple[Array, Array]:
    """The limits of `intervals.wilson` for many rates at once."""
    centre = (clusters * value + 0.5) / (clusters + 1)
    squares = clusters * (clusters - 1) * variance + clusters * (value - centre) ** 2
    squares += 0.5 * (centre**2 + (1 - centre) ** 2)
    n, z2 = centre * (1 - centre) * clusters**2 / squares, critical**2
    middle, half = value + z2 / (2 * n), np.sqrt(z2 * (value * (1 - value) / n + z2 / (4 * n * n)))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return np.where(value > 0, np.maximum(low, 0.0), 0.0), np.where(value < 1, np.minimum(high, 1.0), 1.0)


def _ratio_p_values(metric: Metric, layout: SharedCells, first: ModelValues, others: ModelValues) -> Array:
    """Tests of ratios of two sums by the method of `paired.paired_ratio_difference`."""
    present = ~np.isnan(others.above) & ~np.isnan(first.above)
    clusters = _cluster_counts(layout, present)
    with np.errstate(divide="ignore", invalid="ignore"):
        was, now = (_ratios_and_pulls(model, present) for model in (first, others))
        pulls = _cluster_sums(layout, now[1] - was[1])
        se = np.sqrt(clusters / (clusters - 1) * (pulls**2).sum(axis=1))
        is_known = (clusters > 1) & (se > 1e-12 * np.maximum(was[2], now[2]))
        return _student_p(now[0] - was[0], np.where(is_known, se, np.nan), clusters.astype(np.float64) - 1)


def _ratios_and_pulls(model: ModelValues, present: Flags) -> tuple[Array, Array, Array]:
    """The ratio over the present cells, the pull of each cell, and the largest share of any cell in it.

    They are NaN if the denominator is 0.
    """
    above, below = (np.where(present, part, 0.0) for part in model)
    total = below.sum(axis=1)[:, None]
    ratio = above.sum(axis=1)[:, None] / total
    largest = (np.maximum(np.abs(above), np.abs(below)) / np.abs(total)).max(axis=1, initial=0.0)
    return ratio[:, 0], (above - ratio * below) / total, largest


def _student_p(value: Array, se: Array, degrees: Array) -> Array:
    """The p values by Student's t; NaN where `se` is NaN."""
    p: Array = 2 * stdtr(degrees, -np.abs(value) / se)
    return p


def _cluster_sums(layout: SharedCells, cells: Array) -> Array:
    """The sums of values over the cells of each cluster, (models, clusters)."""
    summed: Array = np.add.reduceat(cells, layout.starts, axis=1)
    return summed


def _cluster_counts(layout: SharedCells, present: Flags) -> NDArray[np.int_]:
    """The number of clusters with a cell that is present, (models,)."""
    counts: NDArray[np.int_] = (np.add.reduceat(present, layout.starts, axis=1) > 0).sum(axis=1)
    return counts


# Ranking.


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best and worst rank that each model may have, and the number of its group, all from 1.

    Each sequence is in the order of the models. No two models of a group can be told apart.
    """

    best: Sequence[int]
    worst: Sequence[int]
    group: Sequence[int]


def ranking(differs: Flags) -> Ranking:
    """The ranking of models that are in the order of their scores, given which pairs differ.

    A model's best rank is 1 plus the number of models before it that differ from it. Its worst rank is n
    minus the number of models after it that differ from it. All these ranges hold together with a probability
    of at least 95 % if `differs` has a family-wise error of 5 % (Klein, Wright and Wieczorek 2020, J. Royal
    Statistical Society C 69, 589-606; Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies
    91, 476-518). A new group begins with the first model that differs from any model of the group before.
    Models of neighbouring groups need not differ, as their ranges of ranks show.
    """
    n = len(differs)
    before, after = np.tril(differs).sum(axis=1), np.triu(differs).sum(axis=1)
    groups: list[int] = []
    start = 0
    for row in range(n):
        if differs[row, start:row].any():
            start = row
        groups.append(groups[-1] + (start == row) if groups else 1)
    return Ranking([*(1 + before).tolist()], [*(n - after).tolist()], groups)
