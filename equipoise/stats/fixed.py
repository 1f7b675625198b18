"""Intervals on fixed questions and languages (the scope `these`), where only the runs vary.

Each case, a question in a language, is a stratum of a stratified sample of runs (Cochran 1977, Sampling
Techniques, chapter 5). In contrast, `stats.intervals` and `stats.paired` treat the questions as a sample.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell, Metric
from equipoise.stats import sum_of_squares
from equipoise.stats.contrast import as_balance
from equipoise.stats.intervals import NOTHING_TO_DIVIDE_BY, score_limits, student
from equipoise.stats.paired import level_at_zero
from equipoise.stats.shared import shared_cases

RunTerms = tuple[float | None, float | None]
"""One run's values of the two terms of a metric, its `of` and its `per`; None if missing."""
Weights = tuple[float, float]
"""The weights of a case's mean in the two terms of a figure."""
Slopes = tuple[float, float]
"""The derivatives of a figure with respect to its two terms."""
_TERMS = (0, 1)
"""The indices of the two terms: `of` and `per`."""

NOTHING_VARIED = "all runs of each case came out alike"
"""The reason for a missing interval: a width of zero would claim that no further run could differ."""
_BOUNDS = {"mean": (0.0, 100.0), "rate": (0.0, 100.0), "ratio": (0.0, 100.0), "balance": (-100.0, 100.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A figure and its variance over runs, with Satterthwaite's degrees of freedom.

    `cases` and `runs` are the numbers of cases and runs. `bounds` are the lowest and highest possible value
    of the figure; None if it is unbounded. `effective_runs` is the effective number of runs in Wilson's
    interval; None if it is undefined. `reason` says why there is no interval.
    """

    value: float | None
    variance: float = 0.0
    degrees: float = 0.0
    cases: int = 0
    runs: int = 0
    bounds: tuple[float, float] | None = None
    effective_runs: float | None = None
    reason: str | None = None

    def limits(self, confidence: float) -> tuple[float, float]:
        """Wilson's score interval if there are bounds, else Student's t; (value, value) if nothing varied."""
        assert self.value is not None
        if self.variance == 0 and self.effective_runs is None:
            return self.value, self.value
        critical = student(max(self.degrees, 1.0), confidence)
        if self.bounds is None:
            half = critical * math.sqrt(self.variance)
            return self.value - half, self.value + half
        least, width = self.bounds[0], self.bounds[1] - self.bounds[0]
        assert self.effective_runs is not None  # with bounds, it is None only if nothing varied
        low, high = score_limits((self.value - least) / width, self.effective_runs, critical)
        return least + width * low, least + width * high


def estimate(metric: Metric, cells: Sequence[Cell], *, confidence: float = 0.95) -> Estimate:
    """The figure with its interval over runs; `n` counts cases.

    Means and balances: the variance is that of a stratified mean, the sum over cases of w^2 s^2 / R, with
    Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2, 110-114). The interval is Wilson's score
    interval for p (1 - p) / variance runs, where p in 0..1 is the figure's position within its bounds. It
    stays within the bounds, unlike Student's t, and is nearly the same away from them.

    Rates and ratios: the same, with half a run of only successes and half a run of only failures added to the
    variance (Franco, Little, Louis and Slud 2019), since R runs without an event do not prove that there are
    none. Ratios, gaps and lifts are linearised (Woodruff 1971, J. American Statistical Association 66,
    411-414).

    If a case has only one run, there is neither figure nor interval. If no run differed, only rates and
    ratios within their bounds have an interval. A ratio whose divisor is 0, and a metric with `no_interval`,
    have none.
    """
    dispersion = spread(metric, cells)
    reason = metric.no_interval or dispersion.reason
    if dispersion.value is None or reason:
        return Estimate(
            value=dispersion.value, se=None, low=None, high=None, n=dispersion.cases, reason=reason
        )
    low, high = dispersion.limits(confidence)
    return Estimate(
        value=dispersion.value,
        se=_standard_error(dispersion.variance),
        low=low,
        high=high,
        n=dispersion.cases,
    )


def difference(
    metric: Metric, before: Sequence[Cell], after: Sequence[Cell], *, confidence: float = 0.95
) -> Difference:
    """After minus before on the cases that both results have (`shared_cases`), with its interval over runs.

    `n` counts cases. The two results' runs are independent, so their variances add up. If the figure has
    bounds, the two `estimate` intervals are combined by variance recovery (Zou and Donner 2008, Statistics in
    Medicine 27, 1693-1702), otherwise the interval is Welch's t. `p` is the level at which the interval would
    end at zero.
    """
    both = shared_cases(metric, before, after)
    was, now = (spread(metric, cells, is_pooled=False) for cells in (both.before, both.after))
    value = None if was.value is None or now.value is None else now.value - was.value
    missing = next((figure.reason for figure in (was, now) if figure.value is None), None)
    reason = metric.no_interval or missing or was.reason or now.reason
    if value is None or metric.no_interval or (reason and not _varies_in_one(was, now)):
        none = Estimate(value=value, se=None, low=None, high=None, n=now.cases, reason=reason)
        return Difference(**structs.asdict(none), p=None, unpaired=both.unpaired)
    low, high = difference_limits(was, now, confidence)
    return Difference(
        value=value,
        se=_standard_error(was.variance + now.variance),
        low=low,
        high=high,
        p=level_at_zero(lambda level: difference_limits(was, now, level)),
        n=now.cases,
        unpaired=both.unpaired,
    )


def _varies_in_one(was: Spread, now: Spread) -> bool:
    """Whether runs varied in exactly one of the two results, which is enough for a difference."""
    return {was.reason, now.reason} == {None, NOTHING_VARIED}


def difference_limits(was: Spread, now: Spread, confidence: float) -> tuple[float, float]:
    """The limits of the later figure minus the earlier one, by the methods of `difference`."""
    assert was.value is not None
    assert now.value is not None
    value = now.value - was.value
    if was.bounds is None or now.bounds is None:
        half = student(welch_degrees(was, now), confidence) * math.sqrt(was.variance + now.variance)
        return value - half, value + half
    (was_low, was_high), (now_low, now_high) = was.limits(confidence), now.limits(confidence)
    below = math.hypot(now.value - now_low, was_high - was.value)
    above = math.hypot(now_high - now.value, was.value - was_low)
    return value - below, value + above


def welch_degrees(was: Spread, now: Spread) -> float:
    """Welch's degrees of freedom."""
    total = was.variance + now.variance
    return total**2 / math.fsum(part.variance**2 / part.degrees for part in (was, now) if part.variance)


def _standard_error(variance: float) -> float | None:
    """The standard error; None if nothing varied."""
    return math.sqrt(variance) if variance > 0 else None


def with_runs(metric: Metric, dispersion: Spread, runs: float) -> Spread:
    """The spread of the same figure if each of its cases had `runs` runs, 2 or more."""
    assert dispersion.value is not None
    present = dispersion.runs / dispersion.cases
    variance, count = dispersion.variance * present / runs, round(runs * dispersion.cases)
    return replace(
        dispersion,
        variance=variance,
        degrees=dispersion.degrees * _degrees_of_case(runs) / _degrees_of_case(present),
        runs=count,
        effective_runs=_effective_runs(metric, dispersion.value, variance, count, dispersion.bounds),
    )


def _degrees_of_case(runs: float) -> float:
    """The degrees of freedom that one case with normal values adds to Satterthwaite's.

    They are below R - 1, because the squares of estimated variances are on average 1 + 2 / (R - 1) times
    those of the true variances.
    """
    return (runs - 1) ** 2 / (runs + 1)


def at_value(metric: Metric, dispersion: Spread, value: float) -> Spread:
    """The spread of a rate if it were `value`: its variance is in proportion to p (1 - p).

    If there are few events, few cases vary: a case with one event adds 1 to the variance of the number of
    events, and R - 1 degrees of freedom.
    """
    assert dispersion.value is not None
    chance, runs = dispersion.value * (100 - dispersion.value), dispersion.runs
    variance = dispersion.variance * value * (100 - value) / chance if chance else 0.0
    varying = variance * (runs / 100) ** 2
    return replace(
        dispersion,
        value=value,
        variance=variance,
        degrees=min(dispersion.degrees, varying * (runs / dispersion.cases - 1)),
        effective_runs=_effective_runs(metric, value, variance, runs, dispersion.bounds),
    )


# The variance of a figure over its runs.


def spread(metric: Metric, cells: Sequence[Cell], *, is_pooled: bool = True) -> Spread:
    """The figure of these cases and its variance over runs.

    In a pooled rate all runs have the same weight. In a rate that is not pooled, as in the difference of two
    results, all cases of a language have the same weight, and so have all runs of a case.
    """
    if metric.kind == "contrast":
        return spread(*as_balance(metric, cells))
    if metric.kind == "rate" and metric.per is not None and is_pooled:
        sums = [_cell_of_sums(metric, cell) for cell in metric.select(cells)]
        return spread(replace(metric, kind="ratio"), sums)
    cases = []
    for cell in (selected := metric.select(cells)):
        runs = _runs(metric, cell)
        if len(runs) == 1:
            reason = f"every case needs 2 runs or more: {cell.id} has 1"
            return Spread(value=None, cases=sum(_has_runs(metric, cell) for cell in selected), reason=reason)
        if runs:
            cases.append((cell, runs))
    weights = weights_of(metric, cases, is_pooled=is_pooled)
    terms = [
        math.fsum(weight[term] * _mean(runs, term) for weight, (_, runs) in zip(weights, cases, strict=True))
        for term in _TERMS
    ]
    value, slopes = figure_of(metric, *terms) if cases else (None, (0.0, 0.0))
    count = sum(len(runs) for _, runs in cases)
    if value is None:
        reason = "not defined" if cases else "no questions"
        return Spread(value=None, cases=len(cases), runs=count, reason=reason)
    if metric.kind == "ratio" and not terms[1]:
        return Spread(value=value, cases=len(cases), runs=count, reason=NOTHING_TO_DIVIDE_BY)
    case_variances = [
        _case_variance(runs, (slopes[0] * weight[0], slopes[1] * weight[1]))
        for weight, (_, runs) in zip(weights, cases, strict=True)
    ]
    variance = math.fsum(case_variances)
    bounds = bounds_of(metric, value)
    effective_runs = _effective_runs(metric, value, variance, count, bounds)
    return Spread(
        value=value,
        variance=variance,
        degrees=_satterthwaite(case_variances, [len(runs) for _, runs in cases]),
        cases=len(cases),
        runs=count,
        bounds=bounds,
        effective_runs=effective_runs,
        reason=NOTHING_VARIED if variance == 0 and effective_runs is None else None,
    )


def _cell_of_sums(metric: Metric, cell: Cell) -> Cell:
    """The cell of a rate with weighted runs, as a cell for the ratio of two sums."""
    assert metric.per is not None
    runs = metric.weighted_runs(cell)
    values = {metric.of: [value * share for value, share in runs], metric.per: [share for _, share in runs]}
    return replace(cell, values=values)


def _runs(metric: Metric, cell: Cell) -> list[RunTerms]:
    """The runs that have a value. If a case lacks one of the two values of a gap or a lift, there are none.

    In a ratio, a run with only one of the two values has 0 for the other.
    """
    of = cell.of(metric.of)
    if metric.per is None or metric.kind == "rate":
        return [(value, None) for value in of if value is not None]
    per = cell.of(metric.per)
    length = max(len(of), len(per))
    padded = ((*of, *[None] * (length - len(of))), (*per, *[None] * (length - len(per))))
    runs = [run for run in zip(*padded, strict=True) if run != (None, None)]
    if metric.kind == "ratio":
        return [(above or 0.0, below or 0.0) for above, below in runs]
    return runs if all(any(run[term] is not None for run in runs) for term in _TERMS) else []


def _has_runs(metric: Metric, cell: Cell) -> bool:
    """Whether any run has a value, as in `_runs`."""
    if metric.per is None:
        # A faster way for nearly all metrics: making the runs takes three times as long.
        return any(value is not None for value in cell.of(metric.of))
    return bool(_runs(metric, cell))


def _mean(runs: Sequence[RunTerms], term: int) -> float:
    """The mean of a term's values; 0 without values, whose weight is then 0."""
    values = [value for run in runs if (value := run[term]) is not None]
    return math.fsum(values) / len(values) if values else 0.0


def weights_of(
    metric: Metric, cases: Sequence[tuple[Cell, Sequence[RunTerms]]], *, is_pooled: bool
) -> list[Weights]:
    """The weights of each case's means in the two terms of the figure (`figure_of`).

    For a rate, `is_pooled` is as in `spread`.
    """
    total = sum(len(runs) for _, runs in cases)
    if metric.kind == "ratio":
        return [(float(len(runs)), float(len(runs))) for _, runs in cases]
    if metric.kind == "rate" and is_pooled:
        return [(len(runs) / total, 0.0) for _, runs in cases]
    if metric.kind in ("gap", "lift"):
        return [(1 / len(cases), 1 / len(cases)) for _ in cases]
    # The stratum of a `Cell` is its language: all languages have the same weight.
    counts = Counter(cell.stratum for cell, _ in cases)
    return [(1 / (len(counts) * counts[cell.stratum]), 0.0) for cell, _ in cases]


def figure_of(metric: Metric, above: float, below: float) -> tuple[float | None, Slopes]:
    """The figure from its terms `above` (its `of`) and `below` (its `per`), and its derivatives by them.

    The figure is None if it is undefined. Metrics with one term ignore `below`.
    """
    if metric.kind == "gap":
        return above - below, (1.0, -1.0)
    if metric.kind not in ("ratio", "lift"):
        return metric.percent_factor * above, (metric.percent_factor, 0.0)
    if not below:
        return (metric.if_nothing if metric.kind == "ratio" else None), (0.0, 0.0)
    slopes = (100 / below, -100 * above / below**2)
    return (100 * above / below if metric.kind == "ratio" else 100 * (above - below) / below), slopes


def _case_variance(runs: Sequence[RunTerms], slopes: Slopes) -> float:
    """One case's part of the figure's variance; `slopes` are the figure's derivatives by the case's means."""
    count = len(runs)
    values = [run[0] for run in runs if run[0] is not None]
    if not slopes[1] and len(values) == count:
        return slopes[0] ** 2 * sum_of_squares(values) / (count * (count - 1))
    means = [_mean(runs, term) for term in _TERMS]
    counts = [sum(run[term] is not None for run in runs) for term in _TERMS]
    total = 0.0
    for run in runs:
        contributions = [
            slopes[term] * (value - means[term]) / counts[term]
            for term in _TERMS
            if (value := run[term]) is not None
        ]
        total += math.fsum(contributions) ** 2
    return count / (count - 1) * total


def _satterthwaite(case_variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom of the sum of cases' variances; runs minus cases if nothing varied.

    `sizes` are the numbers of runs.
    """
    denominator = math.fsum(part**2 / (size - 1) for part, size in zip(case_variances, sizes, strict=True))
    if not denominator:
        return float(sum(sizes) - len(sizes))
    return math.fsum(case_variances) ** 2 / denominator


def bounds_of(metric: Metric, value: float) -> tuple[float, float] | None:
    """The bounds of a figure; None if its kind has none, or if this value lies outside them."""
    bounds = _BOUNDS.get(metric.kind)
    return bounds if bounds and bounds[0] <= value <= bounds[1] else None


def _effective_runs(
    metric: Metric, value: float, variance: float, runs: int, bounds: tuple[float, float] | None
) -> float | None:
    """The effective number of runs in Wilson's interval; None if it is not defined."""
    if bounds is None:
        return None
    width = bounds[1] - bounds[0]
    fraction, scaled = (value - bounds[0]) / width, variance / width**2
    if metric.kind in ("mean", "balance"):
        return fraction * (1 - fraction) / scaled if scaled and 0 < fraction < 1 else None
    centre = (runs * fraction + 0.5) / (runs + 1)
    # Half a run of successes and half a run of failures, as `estimate` says.
    halves = 0.5 * (centre**2 + (1 - centre) ** 2) / runs**2
    return centre * (1 - centre) / (scaled + halves)
