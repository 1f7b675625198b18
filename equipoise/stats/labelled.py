"""Metrics of cells as the labels of people correct them, and differences between two results.

`stats.corrected` has the estimator; here a metric becomes the weights of single runs. Figures are in percent
and differences in percentage points, but for a `count`, which is in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr  # type: ignore[import-untyped]  # scipy has no types

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import Values
from equipoise.core.rules import Scope
from equipoise.stats import fixed
from equipoise.stats.corrected import Corrected, Labels, combined, correct, interval, tuned
from equipoise.stats.intervals import Array, Estimate, score_limits, student
from equipoise.stats.metrics import within
from equipoise.stats.paired import Difference
from equipoise.stats.shared import shared

RunKey = tuple[str, int]
"""A run: the id of its cell, and its index among the cell's runs."""
CORRECTABLE = ("mean", "balance", "count", "rate", "ratio")
"""The kinds of metrics that labels correct: sums over runs, and ratios of two."""


@dataclass(frozen=True, kw_only=True)
class LabelledRuns:
    """Values of single runs by people's labels: by run and person, then by name; None where left open.

    Each run was drawn with this `probability`, except those `left_out`: they cannot be labelled,
    as there is no text or no verdict, and their values are facts.
    """

    people: Sequence[str]
    values: Mapping[RunKey, Mapping[str, Values]]
    probability: float
    left_out: frozenset[RunKey] = field(default_factory=frozenset)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the values that any label has."""
        labels = (values for people in self.values.values() for values in people.values())
        return frozenset(name for values in labels for name, value in values.items() if value is not None)

    def corrects(self, metric: Metric) -> bool:
        """Whether labels bear on a metric."""
        names = {metric.of} | ({metric.per} if metric.per else set())
        is_sum = metric.kind in CORRECTABLE and not (metric.kind == "rate" and metric.per)
        return is_sum and names <= self.names


def figures(metrics: Sequence[Metric], cells: Sequence[Cell], labelled: LabelledRuns) -> dict[str, Corrected]:
    """The figures as people would have them, by metric; without those that have too few labels in them."""
    frame = _Frame(cells, labelled, _units(cells))
    by_metric = {metric.name: _figure(metric, frame, is_pooled=True) for metric in metrics}
    return {name: item for name, item in by_metric.items() if item is not None}


def estimate(metric: Metric, corrected: Corrected, scope: Scope, *, confidence: float = 0.95) -> Estimate:
    """The corrected figure and its interval, within what the figure can be.

    That of a rate is Wilson's at p (1 - p) / variance labels, p being (n value + 0.5) / (n + 1) of n labels:
    Student's misses rare events too often on one side.
    """
    least, most = fixed.bounds_of(metric, metric.bounds[0]) or (-math.inf, math.inf)
    limits = interval(corrected, scope, confidence=confidence)
    if metric.kind == "rate" and limits.se:
        limits = _scored(limits, student(corrected.freedom(scope), confidence))
    return within(replace(limits, value=min(max(corrected.value, least), most)), least, most)


def _scored(limits: Estimate, critical: float) -> Estimate:
    """Wilson's limits of a share in percent that has Student's."""
    assert limits.value is not None
    assert limits.se is not None
    share = min(max(limits.value / 100, 0.0), 1.0)
    centre = (limits.n * share + 0.5) / (limits.n + 1)
    low, high = score_limits(share, centre * (1 - centre) / (limits.se / 100) ** 2, critical)
    return replace(limits, low=100 * low, high=100 * high)


def difference(
    metric: Metric,
    before: tuple[Sequence[Cell], LabelledRuns],
    after: tuple[Sequence[Cell], LabelledRuns],
    *,
    confidence: Mapping[Scope, float] | None = None,
) -> tuple[Corrected, Corrected, dict[Scope, Difference]] | None:
    """Both corrected figures on the cases that they share, and after minus before in each scope.

    Where the same replies were labelled on both sides, what questions and people have in common cancels out;
    where the draws were apart, the variances add up. `n` counts the labels of the side that has fewer. None
    with too few labels on a side.
    """
    both = shared(metric, before[0], after[0])
    units = dict.fromkeys([*_units(both.before), *_units(both.after)])
    order = {unit: index for index, unit in enumerate(units)}
    was = _figure(metric, _Frame(both.before, before[1], order), is_pooled=False)
    now = _figure(metric, _Frame(both.after, after[1], order), is_pooled=False)
    if was is None or now is None:
        return None
    change = combined([now, was], [1.0, -1.0], now.value - was.value, now.judge - was.judge)
    levels = confidence or {"these": 0.95, "population": 0.95}
    scoped = {scope: _difference(change, scope, level, both.unpaired) for scope, level in levels.items()}
    return was, now, scoped


def _difference(corrected: Corrected, scope: Scope, confidence: float, unpaired: int) -> Difference:
    limits = interval(corrected, scope, confidence=confidence)
    p = None
    if limits.se is not None and limits.value is not None:
        p = float(2 * stdtr(corrected.freedom(scope), -abs(limits.value) / limits.se))
    return Difference(**asdict(limits), p=p, unpaired=unpaired)


# A metric as the weights of runs.


def _units(cells: Sequence[Cell]) -> dict[RunKey, int]:
    length = (max(map(len, cell.values.values()), default=0) for cell in cells)
    units = ((cell.id, run) for cell, count in zip(cells, length, strict=True) for run in range(count))
    return {unit: number for number, unit in enumerate(units)}


class _Frame:
    """Runs as rows of arrays in a given order, made once for all metrics of the same cells."""

    def __init__(self, cells: Sequence[Cell], labelled: LabelledRuns, order: Mapping[RunKey, int]) -> None:
        self.cells, self.labelled, self.order = cells, labelled, order
        self._sides: dict[str, Labels] = {}
        self._whole: dict[tuple[str, str | None, str, bool], Array] = {}
        clusters, strata = _Codes(), _Codes()
        self._clusters, self._strata = np.zeros(len(order), np.int_), np.zeros(len(order), np.int_)
        for cell in cells:
            rows = [order[unit] for unit in _units([cell])]
            self._clusters[rows], self._strata[rows] = clusters[cell.cluster], strata[cell.stratum]

    def side(self, name: str) -> Labels:
        """Values of each run by the judge and by people, under a name."""
        if name not in self._sides:
            self._sides[name] = self._side(name)
        return self._sides[name]

    def _side(self, name: str) -> Labels:
        size, columns = len(self.order), {person: index for index, person in enumerate(self.labelled.people)}
        judge, probability = np.zeros(size), np.full(size, np.nan)
        people = np.full((size, len(columns)), np.nan)
        known = {
            (cell.id, index): value
            for cell in self.cells
            for index, value in enumerate(cell.of(name))
            if value is not None
        }
        rows = [self.order[unit] for unit in known]
        judge[rows] = [*known.values()]
        probability[[self.order[unit] for unit in known.keys() - self.labelled.left_out]] = (
            self.labelled.probability
        )
        for unit in self.labelled.values.keys() & known.keys():
            for person, values in self.labelled.values[unit].items():
                if (value := values.get(name)) is not None:
                    people[self.order[unit], columns[person]] = value
        return Labels(
            judge=judge,
            people=people,
            probability=probability,
            clusters=self._clusters,
            strata=self._strata,
        )

    def weights(self, metric: Metric, *, is_pooled: bool) -> Array:
        """The weight of each run's value."""
        if metric.where:
            return self._weights(metric, is_pooled=is_pooled)
        key = (metric.of, metric.per, metric.kind, is_pooled)
        if key not in self._whole:
            self._whole[key] = self._weights(metric, is_pooled=is_pooled)
        return self._whole[key]

    def _weights(self, metric: Metric, *, is_pooled: bool) -> Array:
        strata = [(cell, runs) for cell in metric.chosen(self.cells) if (runs := _runs(metric, cell))]
        weights = np.zeros(len(self.order))
        shares = fixed.weights_of(
            metric, [(cell, [*runs.values()]) for cell, runs in strata], is_pooled=is_pooled
        )
        for (cell, runs), share in zip(strata, shares, strict=True):
            for run in runs:
                weights[self.order[cell.id, run]] = share[0] / len(runs)
        return weights


class _Codes(dict[str, int]):
    """Numbers of names in the order in which they come, from 0."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def _runs(metric: Metric, cell: Cell) -> dict[int, fixed.RunTerms]:
    """The runs that have a value, by index."""
    return {run: (value, None) for run, value in enumerate(cell.of(metric.of)) if value is not None}


def _figure(metric: Metric, frame: _Frame, *, is_pooled: bool) -> Corrected | None:
    if not frame.labelled.corrects(metric):
        return None
    names = (metric.of, metric.per) if metric.kind == "ratio" and metric.per else (metric.of,)
    weights = frame.weights(metric, is_pooled=is_pooled)
    sides = [frame.side(name) for name in names]
    judged = [float(weights @ side.judge) for side in sides]
    known, slopes = fixed.figure_of(metric, judged[0], judged[-1] if len(judged) > 1 else 0.0)
    if known is None:
        return None
    # A part of the replies has too few labels of its own to say how far the judge is to be trusted.
    every = frame.weights(replace(metric, where={}), is_pooled=True) if metric.where else weights
    slope = None if not metric.where and len(sides) == 1 else tuned(every, _linear(sides, slopes))
    # Wilson's limits of a rate themselves allow for events that few labels show.
    share = math.sqrt(0.5) if metric.kind == "rate" and is_pooled else 1.0
    parts = [correct(weights, side, weight=slope, extent=share * _extent(metric, side)) for side in sides]
    corrected = [part for part in parts if part is not None]
    if len(corrected) < len(parts):
        return None
    value, slopes = fixed.figure_of(
        metric, corrected[0].value, corrected[-1].value if len(corrected) > 1 else 0.0
    )
    return None if value is None else combined(corrected, slopes[: len(corrected)], value, known)


def _linear(sides: Sequence[Labels], slopes: fixed.Weights) -> Labels:
    """The two parts of a ratio as one value, near the judge's own."""
    pairs = [*zip(sides, slopes, strict=False)]
    return replace(
        sides[0],
        judge=np.sum([slope * side.judge for side, slope in pairs], axis=0),
        people=np.sum([slope * side.people for side, slope in pairs], axis=0),
    )


def _extent(metric: Metric, side: Labels) -> float:
    """Extent of a value: the range of one with two values, the maximum of a balance.

    0 of any other value.
    """
    values: NDArray[np.float64] = np.unique(np.concatenate([side.judge, side.people[~np.isnan(side.people)]]))
    if metric.kind == "balance":
        return float(np.abs(values).max())
    return float(np.ptp(values)) if metric.kind in ("rate", "ratio") or len(values) < 3 else 0.0
