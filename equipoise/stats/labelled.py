"""Metrics of cells corrected by people's labels, and their differences between two results.

A metric is converted to weights of single runs for the estimator in `stats.corrected`. Figures are in percent
and differences in percentage points; a `count` is in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from scipy.special import stdtr  # scipy has no types

from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import Values
from equipoise.core.rules import Scope
from equipoise.stats import fixed
from equipoise.stats.corrected import (
    CorrectedEstimate,
    Labels,
    combine,
    correct,
    has_unread_stratum,
    interval,
    tuned_weight,
)
from equipoise.stats.intervals import Array, codes, score_limits, student
from equipoise.stats.metrics import clip
from equipoise.stats.shared import shared_cases

RunKey = tuple[str, int]
"""A run: the id of its cell, and its index among the cell's runs."""
CORRECTABLE = ("mean", "balance", "count", "rate", "ratio")
"""The kinds of metrics that labels can correct: weighted sums over runs, and ratios of two such sums."""


@dataclass(frozen=True, kw_only=True)
class LabelledRuns:
    """The values of single runs according to people's labels.

    `values` are by run, person and name of the value; None if the person left it open. Each run was drawn
    with this `probability` in 0..1, except the runs in `left_out`: they have no text or no verdict, so they
    cannot be labelled, and their values are facts.
    """

    people: Sequence[str]
    values: Mapping[RunKey, Mapping[str, Values]]
    probability: float
    left_out: frozenset[RunKey] = field(default_factory=frozenset)

    @cached_property
    def value_names(self) -> frozenset[str]:
        """The names of the values that any label has."""
        labels = (values for people in self.values.values() for values in people.values())
        return frozenset(name for values in labels for name, value in values.items() if value is not None)

    def corrects(self, metric: Metric) -> bool:
        """Whether labels can correct a metric and have the values that it uses."""
        names = {metric.of} | ({metric.per} if metric.per else set())
        is_sum = metric.kind in CORRECTABLE and not (metric.kind == "rate" and metric.per)
        return is_sum and names <= self.value_names


def figures(
    metrics: Sequence[Metric], cells: Sequence[Cell], labelled: LabelledRuns
) -> dict[str, CorrectedEstimate]:
    """The corrected figures by metric, without metrics that labels do not correct or with too few labels."""
    frame = _Frame(cells, labelled, _run_indices(cells))
    by_metric = {metric.name: _figure(metric, frame, is_pooled=True) for metric in metrics}
    return {name: item for name, item in by_metric.items() if item is not None}


def estimate(
    metric: Metric, corrected: CorrectedEstimate, scope: Scope, *, confidence: float = 0.95
) -> Estimate:
    """The corrected figure and its interval, clipped to the possible range.

    The interval of a rate is Wilson's, with p (1 - p) / variance as the effective number of labels and p = (n
    value + 0.5) / (n + 1) for n labels. Student's t would miss rare events too often on one side.
    """
    least, most = fixed.bounds_of(metric, metric.bounds[0]) or (-math.inf, math.inf)
    limits = interval(corrected, scope, confidence=confidence)
    if metric.kind == "rate" and limits.se:
        limits = _with_score_limits(limits, student(corrected.degrees_of_freedom(scope), confidence))
    return clip(structs.replace(limits, value=min(max(corrected.value, least), most)), least, most)


def _with_score_limits(limits: Estimate, critical: float) -> Estimate:
    """The estimate of a share in percent, with Wilson's limits instead of Student's."""
    assert limits.value is not None
    assert limits.se is not None
    share = min(max(limits.value / 100, 0.0), 1.0)
    centre = (limits.n * share + 0.5) / (limits.n + 1)
    low, high = score_limits(share, centre * (1 - centre) / (limits.se / 100) ** 2, critical)
    return structs.replace(limits, low=100 * low, high=100 * high)


def difference(
    metric: Metric,
    before: tuple[Sequence[Cell], LabelledRuns],
    after: tuple[Sequence[Cell], LabelledRuns],
    *,
    confidence: Mapping[Scope, float] | None = None,
) -> tuple[CorrectedEstimate, CorrectedEstimate, dict[Scope, Difference]] | None:
    """The earlier and the later corrected figure on shared cases, and their difference in each scope.

    If the same replies were labelled in both results, effects of questions and people cancel out. For
    independent samples, the variances add up. `n` counts the labels of the result with fewer labels. None if
    either result has too few labels. `confidence` is 0.95 in both scopes unless given.
    """
    both = shared_cases(metric, before[0], after[0])
    runs = dict.fromkeys([*_run_indices(both.before), *_run_indices(both.after)])
    order = {run: index for index, run in enumerate(runs)}
    was = _figure(metric, _Frame(both.before, before[1], order), is_pooled=False)
    now = _figure(metric, _Frame(both.after, after[1], order), is_pooled=False)
    if was is None or now is None:
        return None
    change = combine([now, was], [1.0, -1.0], now.value - was.value, now.judge - was.judge)
    levels = confidence or {"these": 0.95, "population": 0.95}
    scoped = {scope: _difference(change, scope, level, both.unpaired) for scope, level in levels.items()}
    return was, now, scoped


def _difference(corrected: CorrectedEstimate, scope: Scope, confidence: float, unpaired: int) -> Difference:
    limits = interval(corrected, scope, confidence=confidence)
    p = None
    if limits.se is not None and limits.value is not None:
        p = float(2 * stdtr(corrected.degrees_of_freedom(scope), -abs(limits.value) / limits.se))
    return Difference(**structs.asdict(limits), p=p, unpaired=unpaired)


# A metric as weights of runs.


def _run_indices(cells: Sequence[Cell]) -> dict[RunKey, int]:
    """The index of each run among the runs of all cells, in order."""
    lengths = (max(map(len, cell.values.values()), default=0) for cell in cells)
    runs = ((cell.id, run) for cell, count in zip(cells, lengths, strict=True) for run in range(count))
    return {run: index for index, run in enumerate(runs)}


class _Frame:
    """The runs of cells as rows of arrays, made once for all metrics. `order` is the row of each run.

    Only the weights of metrics over all cells are cached: each selection (`where`) is used once.
    """

    def __init__(self, cells: Sequence[Cell], labelled: LabelledRuns, order: Mapping[RunKey, int]) -> None:
        self.cells, self.labelled, self.order = cells, labelled, order
        self._labels: dict[str, Labels] = {}
        self._weights_of_all: dict[tuple[str, str | None, str, bool], Array] = {}
        self._clusters, self._strata = np.zeros(len(order), np.int_), np.zeros(len(order), np.int_)
        clusters, strata = codes(cell.cluster for cell in cells), codes(cell.stratum for cell in cells)
        for cell, cluster, stratum in zip(cells, clusters, strata, strict=True):
            rows = [order[run] for run in _run_indices([cell])]
            self._clusters[rows], self._strata[rows] = cluster, stratum

    def labels(self, name: str) -> Labels:
        """The values of each run under a name, by the judge and by people."""
        if name not in self._labels:
            self._labels[name] = self._make_labels(name)
        return self._labels[name]

    def _make_labels(self, name: str) -> Labels:
        size, columns = len(self.order), {person: index for index, person in enumerate(self.labelled.people)}
        judge, probability = np.zeros(size), np.full(size, np.nan)
        people = np.full((size, len(columns)), np.nan)
        known = {
            (cell.id, index): value
            for cell in self.cells
            for index, value in enumerate(cell.of(name))
            if value is not None
        }
        rows = [self.order[run] for run in known]
        judge[rows] = [*known.values()]
        probability[[self.order[run] for run in known.keys() - self.labelled.left_out]] = (
            self.labelled.probability
        )
        for run in self.labelled.values.keys() & known.keys():
            for person, values in self.labelled.values[run].items():
                if (value := values.get(name)) is not None:
                    people[self.order[run], columns[person]] = value
        return Labels(
            judge=judge,
            people=people,
            probability=probability,
            clusters=self._clusters,
            strata=self._strata,
        )

    def weights(self, metric: Metric, *, is_pooled: bool) -> Array:
        """The weight of each run's value in the metric's figure; 0 for a run that is not in it."""
        if metric.where:
            return self._weights(metric, is_pooled=is_pooled)
        key = (metric.of, metric.per, metric.kind, is_pooled)
        if key not in self._weights_of_all:
            self._weights_of_all[key] = self._weights(metric, is_pooled=is_pooled)
        return self._weights_of_all[key]

    def _weights(self, metric: Metric, *, is_pooled: bool) -> Array:
        cases = [(cell, runs) for cell in metric.select(self.cells) if (runs := _runs(metric, cell))]
        weights = np.zeros(len(self.order))
        shares = fixed.weights_of(
            metric, [(cell, [*runs.values()]) for cell, runs in cases], is_pooled=is_pooled
        )
        for (cell, runs), share in zip(cases, shares, strict=True):
            for run in runs:
                weights[self.order[cell.id, run]] = share[0] / len(runs)
        return weights


def _runs(metric: Metric, cell: Cell) -> dict[int, fixed.RunTerms]:
    """The runs that have a value, by index."""
    return {run: (value, None) for run, value in enumerate(cell.of(metric.of)) if value is not None}


def _figure(metric: Metric, frame: _Frame, *, is_pooled: bool) -> CorrectedEstimate | None:
    """The corrected figure; None if labels do not correct the metric or are too few.

    It is also None if a ratio's divisor is 0, or if the figure includes a language without a labelled reply.
    """
    if not frame.labelled.corrects(metric):
        return None
    names = (metric.of, metric.per) if metric.kind == "ratio" and metric.per else (metric.of,)
    weights = frame.weights(metric, is_pooled=is_pooled)
    terms = [frame.labels(name) for name in names]
    if any(has_unread_stratum(weights, term) for term in terms):
        return None
    sums = [float(weights @ term.judge) for term in terms]
    judge_figure, slopes = fixed.figure_of(metric, sums[0], sums[-1] if len(sums) > 1 else 0.0)
    if judge_figure is None:
        return None
    # A subset of the replies has too few labels to tune the judge's weight, so all replies are used.
    all_weights = frame.weights(replace(metric, where={}), is_pooled=True) if metric.where else weights
    is_simple = not metric.where and len(terms) == 1
    judge_weight = None if is_simple else tuned_weight(all_weights, _linearised_labels(terms, slopes))
    # Wilson's limits of a rate already allow for rare events, so only half the variance is added for these.
    share = math.sqrt(0.5) if metric.kind == "rate" and is_pooled else 1.0
    parts = [
        correct(weights, term, weight=judge_weight, extent=share * _extent(metric, term)) for term in terms
    ]
    corrected = [part for part in parts if part is not None]
    if len(corrected) < len(parts) or (metric.kind == "ratio" and not corrected[-1].value):
        return None
    value, slopes = fixed.figure_of(
        metric, corrected[0].value, corrected[-1].value if len(corrected) > 1 else 0.0
    )
    return None if value is None else combine(corrected, slopes[: len(corrected)], value, judge_figure)


def _linearised_labels(terms: Sequence[Labels], slopes: fixed.Slopes) -> Labels:
    """The terms of a figure as one value, linearised at the judge's figure."""
    pairs = [*zip(terms, slopes, strict=False)]
    return replace(
        terms[0],
        judge=np.sum([slope * term.judge for term, slope in pairs], axis=0),
        people=np.sum([slope * term.people for term, slope in pairs], axis=0),
    )


def _extent(metric: Metric, term: Labels) -> float:
    """The `extent` for `correct`: the largest size of a balance, the range of a two-level value, else 0."""
    values: NDArray[np.float64] = np.unique(np.concatenate([term.judge, term.people[~np.isnan(term.people)]]))
    if metric.kind == "balance":
        return float(np.abs(values).max())
    return float(np.ptp(values)) if metric.kind in ("rate", "ratio") or len(values) < 3 else 0.0
