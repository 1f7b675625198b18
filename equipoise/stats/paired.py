"""Paired differences on the same questions, non-inferiority tests, and the sample sizes that decide them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from msgspec.structs import asdict
from scipy.special import ndtri, stdtr, stdtrit  # scipy has no types

from equipoise.core.figures import Difference, Estimate
from equipoise.stats import Observation
from equipoise.stats.intervals import (
    NO_VARIATION,
    NOTHING_TO_DIVIDE_BY,
    Array,
    by_cell,
    linearised_mean,
    student,
    too_few_reason,
    wilson,
)

K = TypeVar("K", bound=Hashable)
Better = Literal["higher", "lower"]
Decision = Literal["pass", "fail", "inconclusive"]
_SIGNS: Mapping[Better, int] = {"higher": 1, "lower": -1}
_POWER = 0.8
"""The probability with which the number of questions or runs that a function returns decides."""
_LARGEST_COUNT = 1_000_000
"""The largest number of questions or runs that a function returns. Beyond it, the function returns None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChangeRates:
    """The rates of rises and of falls over questions, each as (rate, variance).

    `correlation` is the correlation of the two rates, `clusters` the effective number of questions.
    """

    rises: tuple[float, float]
    falls: tuple[float, float]
    correlation: float
    clusters: float


def paired_difference(
    before: Sequence[Observation], after: Sequence[Observation], *, confidence: float = 0.95
) -> Difference:
    """The `clustered_mean` of the cells' differences: the mean over strata of each stratum's mean.

    If every question has every language, this is the paired t test of the questions' means. If no cell
    changed, there is no interval, because another question might still change. ValueError for a value that is
    not finite, or a question observed twice in a stratum.
    """
    changes, unpaired = _cell_changes(before, after)
    estimate, degrees = linearised_mean(changes, confidence)
    p = None
    if estimate.value is not None and estimate.se is not None:
        p = float(2 * stdtr(degrees, -abs(estimate.value) / estimate.se))
    return Difference(**asdict(estimate), p=p, unpaired=unpaired)


def _cell_changes(
    before: Sequence[Observation], after: Sequence[Observation]
) -> tuple[list[Observation], int]:
    """The differences of the cells that both results have, and the number of cells that only one has."""
    older, newer = by_cell(before), by_cell(after)
    changes = [
        Observation(cluster=cell[0], stratum=cell[1], value=newer[cell] - value)
        for cell, value in older.items()
        if cell in newer
    ]
    return changes, len(older) + len(newer) - 2 * len(changes)


def paired_rate_difference(
    before: Sequence[Observation], after: Sequence[Observation], *, confidence: float = 0.95
) -> Difference:
    """The mean difference of rates. An observation is the share, 0..1, of a question's runs with an event.

    If most questions do not change and a few change entirely, the intervals of Student's t and the bootstrap
    are far too narrow; if none changed, they are [0, 0]. So the rate of rises and the rate of falls, each in
    0..1, get limits by `wilson`. These are combined by variance recovery with the correlation of the rates
    (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702; Newcombe 1998, same journal 17, 2635-2650,
    method 10, for single pairs). `p` is the level at which the interval would end at zero. If none of k
    questions changes, the interval is about +-3.8/k, the two-sided rule of three. ValueError as in
    `paired_difference`, and for a share outside 0..1.
    """
    if not all(0 <= item.value <= 1 for item in (*before, *after)):
        raise ValueError("a share of runs lies between 0 and 1")
    changes, unpaired = _cell_changes(before, after)
    contributions, weights = _contributions(changes)
    n = len(contributions)
    value = math.fsum(contributions) if n else None
    if value is None or n == 1:
        none = Estimate(value=value, se=None, low=None, high=None, n=n, reason=too_few_reason(n))
        return Difference(**asdict(none), p=None, unpaired=unpaired)
    rates = _change_rates(contributions, weights)
    low, high = _rate_limits(rates, confidence)
    se = math.sqrt(n / (n - 1) * float(((contributions - value * weights) ** 2).sum()))
    return Difference(
        value=value,
        se=se if se > 1e-12 else None,  # up to this it is a rounding error
        low=low,
        high=high,
        p=level_at_zero(partial(_rate_limits, rates)),
        n=n,
        unpaired=unpaired,
    )


def _contributions(changes: Sequence[Observation]) -> tuple[Array, Array]:
    """Each question's contribution to the mean change, and its weight in that mean; weights add up to 1."""
    counts = Counter(item.stratum for item in changes)
    contributions: dict[str, list[float]] = {}
    weights: dict[str, list[float]] = {}
    for item in changes:
        weight = 1 / (len(counts) * counts[item.stratum])
        contributions.setdefault(item.cluster, []).append(item.value * weight)
        weights.setdefault(item.cluster, []).append(weight)
    return (
        np.array([*map(math.fsum, contributions.values())]),
        np.array([*map(math.fsum, weights.values())]),
    )


def _change_rates(contributions: Array, weights: Array) -> _ChangeRates:
    """The rates of rises and falls: the sums of the positive and of the negative contributions."""
    n = len(contributions)
    rises_and_falls = np.maximum(contributions, 0), np.maximum(-contributions, 0)
    rates = [min(math.fsum(sizes), 1.0) for sizes in rises_and_falls]
    up, down = (sizes - rate * weights for sizes, rate in zip(rises_and_falls, rates, strict=True))
    up_squares, down_squares = float(up @ up), float(down @ down)
    both = up_squares * down_squares
    return _ChangeRates(
        rises=(rates[0], n / (n - 1) * up_squares),
        falls=(rates[1], n / (n - 1) * down_squares),
        correlation=float(up @ down) / math.sqrt(both) if both else 0.0,
        clusters=1 / float((weights**2).sum()),
    )


def _rate_limits(rates: _ChangeRates, confidence: float) -> tuple[float, float]:
    """Limits of the rate of rises minus the rate of falls, by variance recovery."""
    rise, fall, value = rates.rises[0], rates.falls[0], rates.rises[0] - rates.falls[0]
    rise_low, rise_high = wilson(*rates.rises, rates.clusters, confidence)
    fall_low, fall_high = wilson(*rates.falls, rates.clusters, confidence)
    below, above = (rise - rise_low, fall_high - fall), (rise_high - rise, fall - fall_low)
    squares = [a * a + b * b - 2 * rates.correlation * a * b for a, b in (below, above)]
    return max(value - math.sqrt(squares[0]), -1.0), min(value + math.sqrt(squares[1]), 1.0)


def paired_ratio_difference(
    before: Sequence[tuple[float, float]],
    after: Sequence[tuple[float, float]],
    *,
    confidence: float = 0.95,
) -> Difference:
    """The difference of two ratios of sums. Their terms are pairs (numerator, denominator) by question.

    Question q contributes u_q = (a_q - R b_q) / B to the error of a ratio R = A / B. The variance of the
    difference is k / (k - 1) times the sum over questions of the squared differences of u_q, and Student's t
    has k - 1 degrees of freedom (Binder 1983, International Statistical Review 51, 279-292). With few
    questions, or rare events, it covers the true difference more reliably than the bootstrap.
    """
    terms = np.array([before, after], dtype=np.float64).reshape(2, -1, 2)
    n, totals = terms.shape[1], terms.sum(axis=1)
    if not n or not totals[:, 1].all():
        reason = too_few_reason(n) or NOTHING_TO_DIVIDE_BY
        return Difference(value=None, se=None, low=None, high=None, p=None, n=n, unpaired=0, reason=reason)
    ratios = totals[:, 0] / totals[:, 1]
    value = float(ratios[1] - ratios[0])
    # (before and after, questions, numerator and denominator), each divided by the sum of denominators.
    shares = terms / totals[:, 1, None, None]
    contributions = np.diff(shares[..., 0] - ratios[:, None] * shares[..., 1], axis=0)
    se = math.sqrt(n / (n - 1) * float((contributions**2).sum())) if n > 1 else 0.0
    if se <= 1e-12 * float(np.abs(shares).max()):  # up to this it is a rounding error
        reason = too_few_reason(n) or NO_VARIATION
        return Difference(value=value, se=None, low=None, high=None, p=None, n=n, unpaired=0, reason=reason)
    half, p = student(n - 1, confidence) * se, float(2 * stdtr(n - 1, -abs(value) / se))
    return Difference(value=value, se=se, low=value - half, high=value + half, p=p, n=n, unpaired=0)


def level_at_zero(limits: Callable[[float], tuple[float, float]]) -> float:
    """The p value of zero: the two-sided level at which the interval ends there, by bisection.

    `limits` returns the low and high end of the interval at a confidence in 0..1.
    """
    least, most = 0.0, 1.0
    for _ in range(50):
        middle = (least + most) / 2
        low, high = limits(1 - middle)
        least, most = (middle, most) if low <= 0 <= high else (least, middle)
    return most


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """P values adjusted for their number by Holm's procedure, in the given order.

    Holm (1979, Scand. J. Statistics 6, 65-70). ValueError for a value outside 0..1: leave out tests without
    a p value.
    """
    if not all(0 <= p <= 1 for p in p_values.values()):
        raise ValueError("a p value lies between 0 and 1: leave out tests that gave none")
    adjusted, largest = {}, 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[key]))
        adjusted[key] = largest
    return {key: adjusted[key] for key in p_values}


def noninferiority(difference: Difference, margin: float, better: Better = "higher") -> Decision:
    """Whether the later result is worse by less than the margin, which is 0 or more in the difference's unit.

    Pass if the whole interval lies on the better side of the margin, fail if it lies on the worse side;
    otherwise, and without an interval, inconclusive. ValueError for a negative margin. With a 95 % interval,
    a wrong pass and a wrong fail have a probability of at most 2.5 % each.
    """
    if not 0 <= margin < math.inf:
        raise ValueError(f"a margin is a number from 0 up, not {margin!r}")
    if difference.low is None or difference.high is None:
        return "inconclusive"
    ends = sorted(_SIGNS[better] * end for end in (difference.low, difference.high))
    return "pass" if ends[0] > -margin else "fail" if ends[1] < -margin else "inconclusive"


def needed_clusters(
    difference: Difference,
    margin: float,
    better: Better = "higher",
    *,
    confidence: float = 0.95,
) -> int | None:
    """The number of questions that would decide with probability 0.8, if the observed difference is true.

    The smallest Q with (t_{Q-1}(confidence) + t_{Q-1}(0.8)) s / sqrt(Q) <= |d + margin|, where d is the
    difference, negated if lower is better, and s the SD over questions: sqrt(n) times the standard error
    behind the difference's 95 % interval. `confidence` is that of the future test. The method is that of
    Chow, Shao and Wang (2008, Sample Size Calculations in Clinical Research, section 3.1) with t. None
    without an interval, or if no number up to a million would decide, for example because d is at the margin.
    """
    se, distance = _standard_error(difference), _distance(difference, margin, better)
    if not se or not distance:
        return None
    scale = se * math.sqrt(difference.n) / distance
    # Normal quantiles are below those of t, so this is a lower bound of the number.
    start = ((ndtri((1 + confidence) / 2) + ndtri(_POWER)) * scale) ** 2
    for questions in range(max(2, math.ceil(min(start, _LARGEST_COUNT + 1))), _LARGEST_COUNT + 1):
        if _needed_distance(questions - 1, confidence) * scale <= math.sqrt(questions):
            return questions
    return None


def needed_runs(
    difference: Difference,
    margin: float,
    better: Better = "higher",
    *,
    runs: float,
    noise: float,
    confidence: float = 0.95,
) -> int | None:
    """The number of runs of each question that would decide in an interval over a sample of questions.

    The other parameters are as in `needed_clusters`. `runs` is the present number. `noise` is the part of the
    squared standard error that more runs shrink: the `sequential.run_variance` of the later result, plus that
    of the earlier one if it is asked again too. R is the smallest with se^2 - noise + noise runs / R <= ((d +
    margin) / (t(confidence) + t(0.8)))^2, at n - 1 degrees. None if no number up to a million would decide
    because the questions differ too much, or without an interval.
    """
    se, distance = _standard_error(difference), _distance(difference, margin, better)
    if not se or not distance:
        return None
    allowed_variance = (distance / _needed_distance(difference.n - 1, confidence)) ** 2
    # Not above 0 if the questions alone differ too much.
    allowed_noise = allowed_variance - max(se**2 - noise, 0.0)
    if noise * runs >= allowed_noise * _LARGEST_COUNT:
        return None
    return max(1, math.ceil(noise * runs / allowed_noise))


def needed_runs_fixed(
    difference: Difference, distance: float, *, runs: float, confidence: float = 0.95
) -> int | None:
    """The number of runs in each result that would decide in an interval on fixed questions (`stats.fixed`).

    Observed values are taken to be the true ones. `runs` is the present number, and `distance` is the
    distance of the figure from the margin. All of the variance is between runs and falls as 1 / R, so the
    number is `runs` ((z(confidence) + z(0.8)) se / distance)^2. If a rate has an interval although nothing
    varied, the width itself falls as 1 / R. The number is 2 or more. None without an interval, or if no
    number up to a million would decide.
    """
    if difference.low is None or difference.high is None or not distance:
        return None
    if difference.se:
        factor = (float(ndtri((1 + confidence) / 2) + ndtri(_POWER)) * difference.se / distance) ** 2
    else:
        factor = (difference.high - difference.low) / 2 / abs(distance)
    needed = math.ceil(min(runs * factor, _LARGEST_COUNT + 1))
    return max(2, needed) if needed <= _LARGEST_COUNT else None


def needed_runs_for_worsening(
    worsening: float,
    variance: float,
    *,
    groups: int,
    tests: int = 1,
    confidence: float = 0.95,
) -> int | None:
    """The number of runs in each result that would show a question's worsening with probability 0.8.

    It is the smallest R from 2 with (t(confidence) + t(0.8)) sqrt(2 variance / R) <= worsening: a t test of
    two samples of R runs, with its error divided by the number of `tests` (Bonferroni). `variance` is
    estimated from `groups` groups of R runs, so t has groups (R - 1) degrees of freedom. None if no number
    up to a million would show it, or if `worsening` is not above 0.
    """
    if worsening <= 0:
        return None
    level = 1 - (1 - confidence) / tests
    # As in `needed_clusters`, the number by normal quantiles is a lower bound.
    start = 2 * variance * ((ndtri((1 + level) / 2) + ndtri(_POWER)) / worsening) ** 2
    for runs in range(max(2, math.ceil(min(start, _LARGEST_COUNT + 1))), _LARGEST_COUNT + 1):
        degrees = groups * (runs - 1)
        if _needed_distance(degrees, level) * math.sqrt(2 * variance / runs) <= worsening:
            return runs
    return None


def _standard_error(difference: Difference) -> float | None:
    """The standard error behind the 95 % interval: half its width divided by Student's t.

    For rates it is not `difference.se`, which is None if nothing varied although there is an interval.
    """
    if difference.low is None or difference.high is None:
        return None
    return (difference.high - difference.low) / 2 / student(difference.n - 1, 0.95)


def _distance(difference: Difference, margin: float, better: Better) -> float:
    """The absolute distance of the difference from the margin; a missing difference counts as 0."""
    return abs(_SIGNS[better] * (difference.value or 0.0) + margin)


def _needed_distance(degrees: int, confidence: float) -> float:
    """How far from the margin a difference must be to decide, in standard errors."""
    return student(degrees, confidence) + float(stdtrit(degrees, _POWER))
