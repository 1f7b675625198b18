"""Paired differences on the same questions, non-inferiority tests, and the sample sizes that decide them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit  # type: ignore[import-untyped]  # scipy has no types

from equipoise.stats.intervals import Array, Estimate, Observation, linearise, student, too_few, wilson

K = TypeVar("K", bound=Hashable)
Better = Literal["higher", "lower"]
Decision = Literal["pass", "fail", "inconclusive"]
_SIGNS: Mapping[Better, int] = {"higher": 1, "lower": -1}
_MOST = 1_000_000  # no number of questions or runs above this is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """After minus before, in the unit of the observations; `n` counts the questions that both have.

    `p` is two-sided and below 1 - confidence exactly where the interval leaves out zero. `reason` says in a
    few words why there is none (`low`, `high` and `p` are None then); `se` is None where nothing varied.
    `unpaired` counts the cells (question and language) with a value that only one result has: it is left out.
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    unpaired: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turns:
    """Rate and variance of the questions' rises and of their falls, how these correlate, and effective k."""

    rises: tuple[float, float]
    falls: tuple[float, float]
    shared: float
    clusters: float


def paired_difference(
    before: Sequence[Observation], after: Sequence[Observation], *, confidence: float = 0.95
) -> Difference:
    """The mean over strata of the mean difference of each stratum's cells, as `clustered_mean` of these.

    Where every question has every language this is the paired t test of the questions' means. Where no cell
    changed there is no interval: that is no evidence that another question would not change either.
    ValueError as `clustered_mean`.
    """
    changes, unpaired = _changes(before, after)
    estimate, degrees = linearise(changes, confidence)
    p = None
    if estimate.value is not None and estimate.se is not None:
        p = float(2 * stdtr(degrees, -abs(estimate.value) / estimate.se))
    return Difference(**asdict(estimate), p=p, unpaired=unpaired)


def _changes(before: Sequence[Observation], after: Sequence[Observation]) -> tuple[list[Observation], int]:
    """The differences of the cells that both have, and the number of cells that only one has."""
    cells = [{(item.cluster, item.stratum): item.value for item in side} for side in (before, after)]
    if len(cells[0]) < len(before) or len(cells[1]) < len(after):
        raise ValueError("a question is observed twice in a stratum: average its runs first")
    if not all(math.isfinite(item.value) for item in (*before, *after)):
        raise ValueError("an observation is not a finite number: leave out what has no score")
    shared = [cell for cell in cells[0] if cell in cells[1]]
    changes = [
        Observation(cluster=cell[0], stratum=cell[1], value=cells[1][cell] - cells[0][cell])
        for cell in shared
    ]
    return changes, len(cells[0]) + len(cells[1]) - 2 * len(shared)


def paired_rate_difference(
    before: Sequence[Observation], after: Sequence[Observation], *, confidence: float = 0.95
) -> Difference:
    """Mean difference of rates: an observation is a share of runs, 0..1, of a question in a language.

    Where most questions do not change and a few change wholly, Student's t and the bootstrap are far too
    narrow, and [0, 0] if none changed. So the questions' rises and falls, each a rate in 0..1, get limits of
    `wilson`, joined by variance recovery with their correlation (Zou and Donner 2008, Statistics in Medicine
    27, 1693-1702; Newcombe 1998, same journal 17, 2635-2650, method 10, for single pairs). `p` is the level
    at which the interval would end at zero. No change in k questions gives about +-3.8/k, the two-sided rule
    of three. ValueError as `clustered_mean`, or for a share outside 0..1.
    """
    if not all(0 <= item.value <= 1 for item in (*before, *after)):
        raise ValueError("a share of runs lies between 0 and 1")
    changes, unpaired = _changes(before, after)
    shifts, weights = _shifts(changes)
    n = len(shifts)
    value = math.fsum(shifts) if n else None
    if value is None or n == 1:
        none = Estimate(value=value, se=None, low=None, high=None, n=n, reason=too_few(n))
        return Difference(**asdict(none), p=None, unpaired=unpaired)
    turns = _turns(shifts, weights)
    low, high = _joined(turns, confidence)
    se = math.sqrt(n / (n - 1) * float(((shifts - value * weights) ** 2).sum()))
    known = se if se > 1e-12 else None
    return Difference(
        value=value,
        se=known,
        low=low,
        high=high,
        p=level_at_zero(partial(_joined, turns)),
        n=n,
        unpaired=unpaired,
    )


def _shifts(changes: Sequence[Observation]) -> tuple[Array, Array]:
    """Each question's contribution to the mean over strata, and its weight there: weights add up to 1."""
    counts = Counter(item.stratum for item in changes)
    shifts: dict[str, list[float]] = {}
    weights: dict[str, list[float]] = {}
    for item in changes:
        weight = 1 / (len(counts) * counts[item.stratum])
        shifts.setdefault(item.cluster, []).append(item.value * weight)
        weights.setdefault(item.cluster, []).append(weight)
    return np.array([*map(math.fsum, shifts.values())]), np.array([*map(math.fsum, weights.values())])


def _turns(shifts: Array, weights: Array) -> _Turns:
    n = len(shifts)
    parts = np.maximum(shifts, 0), np.maximum(-shifts, 0)
    rates = [min(math.fsum(part), 1.0) for part in parts]
    up, down = (part - rate * weights for part, rate in zip(parts, rates, strict=True))
    rise, fall = float(up @ up), float(down @ down)
    return _Turns(
        rises=(rates[0], n / (n - 1) * rise),
        falls=(rates[1], n / (n - 1) * fall),
        shared=float(up @ down) / math.sqrt(rise * fall) if rise * fall else 0.0,
        clusters=1 / float((weights**2).sum()),
    )


def _joined(turns: _Turns, confidence: float) -> tuple[float, float]:
    """Limits of the rate of rises less the rate of falls, by variance recovery."""
    rise, fall, value = turns.rises[0], turns.falls[0], turns.rises[0] - turns.falls[0]
    rises, falls = (wilson(*side, turns.clusters, confidence) for side in (turns.rises, turns.falls))
    below, above = (rise - rises[0], falls[1] - fall), (rises[1] - rise, fall - falls[0])
    squares = [a * a + b * b - 2 * turns.shared * a * b for a, b in (below, above)]
    return max(value - math.sqrt(squares[0]), -1.0), min(value + math.sqrt(squares[1]), 1.0)


def level_at_zero(limits: Callable[[float], tuple[float, float]]) -> float:
    """The two-sided level at which an interval, given by its confidence, ends at zero; by bisection."""
    least, most = 0.0, 1.0
    for _ in range(50):
        middle = (least + most) / 2
        low, high = limits(1 - middle)
        least, most = (middle, most) if low <= 0 <= high else (least, middle)
    return most


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """P values adjusted for their number, in the given order (Holm 1979, Scand. J. Statistics 6, 65-70).

    ValueError for what is not in 0..1: leave out tests that gave no p.
    """
    if not all(0 <= p <= 1 for p in p_values.values()):
        raise ValueError("a p value lies between 0 and 1: leave out tests that gave none")
    adjusted, largest = {}, 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[key]))
        adjusted[key] = largest
    return {key: adjusted[key] for key in p_values}


def noninferiority(difference: Difference, margin: float, better: Better = "higher") -> Decision:
    """Whether the later result is worse by less than the margin: 0 or more, in the difference's unit.

    Pass if the whole interval lies on the better side of the margin, fail if it lies on the worse side, else
    inconclusive; also inconclusive without an interval. With a 95 % interval, each wrong verdict has a
    probability of at most 2.5 %.
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
    power: float = 0.8,
    known_at: float = 0.95,
) -> int | None:
    """How many questions would decide, with probability `power`, if the difference seen were the true one.

    The smallest Q with (t_{Q-1}(confidence) + t_{Q-1}(power)) s / sqrt(Q) <= |d + margin|: d the difference
    (sign turned where lower is better), s the spread over questions, which is the standard error behind the
    interval, whose confidence is `known_at`, times sqrt(n). Chow, Shao and Wang (2008, Sample Size
    Calculations in Clinical Research, section 3.1) with t. None where no number up to a million would: d at
    the margin itself, or no interval.
    """
    spread, distance = _spread(difference, known_at), _distance(difference, margin, better)
    if not spread or not distance:
        return None
    scale = spread * math.sqrt(difference.n) / distance
    start = ((ndtri((1 + confidence) / 2) + ndtri(power)) * scale) ** 2
    questions = max(2, math.ceil(min(start, _MOST + 1)))
    while questions <= _MOST and _reach(questions, confidence, power) * scale > math.sqrt(questions):
        questions += 1
    return questions if questions <= _MOST else None


def needed_runs(
    difference: Difference,
    margin: float,
    better: Better = "higher",
    *,
    runs: float,
    noise: float,
    confidence: float = 0.95,
    power: float = 0.8,
    known_at: float = 0.95,
) -> int | None:
    """How many runs of each question would decide, `runs` by now: `needed_clusters` with the same questions.

    `noise` is the part of the squared standard error that comes from the runs to be bought: `run_variance` of
    the later result, and of the earlier one too if that is asked again. More runs shrink nothing else: R is
    the smallest with se^2 - noise + noise runs / R <= ((d + margin) / (t(confidence) + t(power)))^2, at n - 1
    degrees. None where no number up to a million would: the questions differ too much, or no interval.
    """
    spread, distance = _spread(difference, known_at), _distance(difference, margin, better)
    if not spread or not distance:
        return None
    room = (distance / _reach(difference.n, confidence, power)) ** 2 - max(spread**2 - noise, 0.0)
    if noise * runs >= room * _MOST:
        return None
    return max(1, math.ceil(noise * runs / room))


def needed_runs_fixed(
    difference: Difference, distance: float, *, runs: float, confidence: float = 0.95, power: float = 0.8
) -> int | None:
    """How many runs on each side would decide on fixed questions, `runs` by now, if things stay as they are.

    All of the variance is that of runs and falls as 1 / R: `runs` times ((z(confidence) + z(power)) se /
    distance)^2 with the normal's values; `distance` is that of the figure from the margin. Where a rate has
    an interval although nothing varied, that falls as 1 / R itself. None where no number up to a million
    would, or without an interval.
    """
    if difference.low is None or difference.high is None or not distance:
        return None
    if difference.se:
        reach = (float(ndtri((1 + confidence) / 2) + ndtri(power)) * difference.se / distance) ** 2
    else:
        reach = (difference.high - difference.low) / 2 / abs(distance)
    needed = math.ceil(min(runs * reach, _MOST + 1))
    return max(2, needed) if needed <= _MOST else None


def needed_repeats(
    fall: float,
    variance: float,
    *,
    groups: int,
    tests: int = 1,
    confidence: float = 0.95,
    power: float = 0.8,
) -> int | None:
    """How many runs on each side would show, with probability `power`, that a question fell by `fall`.

    The smallest R, 2 or more, with (t(confidence) + t(power)) sqrt(2 variance / R) <= fall: a t test of two
    groups of R runs, its error corrected for the number of `tests` (Bonferroni), whose `variance` comes from
    `groups` of R runs, groups (R - 1) degrees of freedom. None where no number up to a million would.
    """
    if fall <= 0:
        return None
    level = 1 - (1 - confidence) / tests
    start = 2 * variance * ((ndtri((1 + level) / 2) + ndtri(power)) / fall) ** 2
    for runs in range(max(2, math.ceil(min(start, _MOST + 1))), _MOST + 1):
        degrees = groups * (runs - 1)
        if (student(degrees, level) + float(stdtrit(degrees, power))) * math.sqrt(
            2 * variance / runs
        ) <= fall:
            return runs
    return None


def _spread(difference: Difference, confidence: float) -> float | None:
    """The standard error that the interval rests on: half its width over Student's t."""
    if difference.low is None or difference.high is None:
        return None
    return (difference.high - difference.low) / 2 / student(difference.n - 1, confidence)


def _distance(difference: Difference, margin: float, better: Better) -> float:
    return abs(_SIGNS[better] * (difference.value or 0.0) + margin)


def _reach(questions: int, confidence: float, power: float) -> float:
    return student(questions - 1, confidence) + float(stdtrit(questions - 1, power))
