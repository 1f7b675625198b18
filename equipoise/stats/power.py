"""The power of a gate: how often it decides about a release of the same model, by the number of runs.

Two results of one model differ by chance alone. The variance between the runs of each case tells how much,
and the gate's own intervals tell how it decides about each difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import nctdtr, ndtr  # scipy has no types
from scipy.stats import binom  # as above

from equipoise.core.records import Metric
from equipoise.stats import fixed
from equipoise.stats.fixed import Spread
from equipoise.stats.intervals import Array, student

_SIMULATED, _SEED = 20_000, 1
_CERTAIN = 8.0
"""A difference this many standard errors from a bound counts as certain to stay on its side of the bound.

The error is below 1e-14.
"""
_MANY = 50
"""With at least this many events, and as many runs without, a rate is nearly normal."""
_TAIL = 1e-6
"""The counts that are left out at either end have this probability."""

IntervalOf = Callable[[float, float], tuple[float, float]]
"""The interval around a difference, at a confidence in 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The probabilities, 0..1, that a rule passes and that it fails; the rest is inconclusive."""

    passed: float
    failed: float

    @property
    def decided(self) -> float:
        """The probability that the rule passes or fails."""
        return self.passed + self.failed


class Noise(Protocol):
    """The difference by chance between two results of one model with given numbers of runs.

    Margins and differences are in the unit of the figure.
    """

    def shares(self, margin: float) -> Shares:
        """The probabilities of the decisions on a rule with this margin, which is 0 or more."""
        ...

    def draw_before(self, generator: np.random.Generator) -> Array:
        """Simulated figures of the earlier result, in a unit that depends on the kind of noise."""
        ...

    def draw_rounds(self, generator: np.random.Generator, rounds: int, total_rounds: int) -> Array:
        """Simulated sums, in the same unit, over `rounds` of the `total_rounds` of the later result."""
        ...

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """For each pair of simulated results, whether the rule passes or fails."""
        ...


@dataclass(frozen=True, kw_only=True)
class NormalNoise:
    """Noise of figures that are normally distributed.

    `before` and `after` are the variances of the two figures, and `degrees` the degrees of freedom of their
    difference. `limits` returns the gate's interval around an improvement.
    """

    before: float
    after: float
    degrees: float
    limits: IntervalOf

    @cached_property
    def se(self) -> float:
        """The standard error of the difference."""
        return math.sqrt(self.before + self.after)

    def shares(self, margin: float) -> Shares:
        """The probabilities. With a margin of 0, a rule passes if the observed figure is not worse."""
        if not self.se:
            return Shares(passed=1.0, failed=0.0)
        failed = self._below(margin, -self._critical(margin, 0.95, side=1))
        passed = 1 - self._below(margin, self._critical(margin, 0.95, side=0)) if margin else 0.5
        return Shares(passed=passed, failed=failed)

    def _critical(self, margin: float, confidence: float, *, side: int) -> float:
        """The half-width, in standard errors, of the interval that ends exactly at the margin.

        `side` is 0 if it is the lower end, so that the rule just passes, and 1 if it is the upper end, so
        that the rule just fails.
        """
        half, sign = 0.0, -1 if side else 1
        # The half-width depends a little on where the interval lies, and so on itself: a few steps of
        # fixed-point iteration find it.
        for _ in range(10):
            improvement = -margin + sign * half
            half = abs(improvement - self.limits(improvement, confidence)[side])
        return half / self.se

    def _below(self, margin: float, critical: float) -> float:
        """The probability that (improvement + margin) / estimated standard error is below `critical`.

        The ratio has Student's noncentral t distribution, as the standard error is estimated from the runs.
        """
        distance = margin / self.se
        if distance - critical > _CERTAIN:
            return 0.0
        below = float(nctdtr(self.degrees, distance, critical))
        return below if math.isfinite(below) else float(ndtr(critical - distance))

    def draw_before(self, generator: np.random.Generator) -> Array:
        """Simulated deviations of the earlier figure."""
        return math.sqrt(self.before) * generator.standard_normal(_SIMULATED)

    def draw_rounds(self, generator: np.random.Generator, rounds: int, total_rounds: int) -> Array:
        """Sums of the deviations of `rounds` of the `total_rounds` of the later result."""
        return math.sqrt(self.after * total_rounds * rounds) * generator.standard_normal(_SIMULATED)

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """Whether the interval lies on one side of the margin; its standard error is taken as known."""
        if not self.se:
            return np.full(before.shape, fill_value=True)
        distance = (sums / rounds - before + margin) / self.se
        passes = distance > self._critical(margin, confidence, side=0)
        return passes | (distance < -self._critical(margin, confidence, side=1))


@dataclass(frozen=True, kw_only=True)
class CountNoise:
    """Noise of a rate whose counts are far from normal: few runs have the event, or few do not.

    `was` and `now` are the spreads of the two results, and `sign` is 1 if a rise is worse, else -1. Each
    count of events has the binomial distribution with the mean and the variance of its spread. As cases have
    different rates, that variance is less than if every run had the mean rate.
    """

    metric: Metric
    was: Spread
    now: Spread
    sign: int

    def shares(self, margin: float) -> Shares:
        """The probabilities, summed over all likely pairs of counts."""
        weights, improvements, lows, highs = self._outcomes
        passes = (lows > -margin) | (improvements >= 0 if not margin else False)
        return Shares(passed=float(weights @ passes), failed=float(weights @ (highs < -margin)))

    @cached_property
    def _outcomes(self) -> tuple[Array, Array, Array, Array]:
        """The likely pairs of counts: probability, improvement, and the ends of its 95 % interval."""
        outcomes = [
            (weight * other, *self._improvement(before, after, 0.95))
            for before, weight in _likely_counts(self.was)
            for after, other in _likely_counts(self.now)
        ]
        weights, improvements, lows, highs = np.array(outcomes).T
        return weights, improvements, lows, highs

    def _improvement(self, before: int, after: int, confidence: float) -> tuple[float, float, float]:
        """The improvement with these counts of events, below 0 if worse, and the gate's interval."""
        older, newer = 100 * before / self.was.runs, 100 * after / self.now.runs
        was = fixed.at_value(self.metric, self.was, older)
        now = fixed.at_value(self.metric, self.now, newer)
        low, high = fixed.difference_limits(was, now, confidence)
        return (newer - older, low, high) if self.sign < 0 else (older - newer, -high, -low)

    def draw_before(self, generator: np.random.Generator) -> Array:
        """Simulated counts of the earlier result."""
        return generator.binomial(*_binomial(self.was), size=_SIMULATED).astype(float)

    def draw_rounds(self, generator: np.random.Generator, rounds: int, total_rounds: int) -> Array:
        """Simulated counts of `rounds` of the `total_rounds` of the later result."""
        trials, probability = _binomial(self.now)
        return generator.binomial(round(trials * rounds / total_rounds), probability, size=_SIMULATED).astype(
            float
        )

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """Whether the interval with these counts lies on one side of the margin."""
        pairs, index = np.unique(np.stack([before, sums]), axis=1, return_inverse=True)
        intervals = [self._improvement(int(older), int(newer), confidence)[1:] for older, newer in pairs.T]
        return np.array([low > -margin or high < -margin for low, high in intervals])[index.ravel()]


def _events(spread: Spread) -> float:
    """The number of runs with the event or of those without it, whichever is smaller."""
    assert spread.value is not None
    return spread.runs * min(spread.value, 100 - spread.value) / 100


def _binomial(spread: Spread) -> tuple[int, float]:
    """The trials and the probability of a binomial count with the mean and variance of a rate's events."""
    assert spread.value is not None
    events = spread.runs * spread.value / 100
    if not events:
        return spread.runs, 0.0
    probability = max(1 - spread.variance * (spread.runs / 100) ** 2 / events, 1e-6)
    return round(events / probability), probability


def _likely_counts(spread: Spread) -> list[tuple[int, float]]:
    """The likely counts of events in a result, each with its probability."""
    trials, probability = _binomial(spread)
    counts = range(int(binom.ppf(_TAIL, trials, probability)), int(binom.isf(_TAIL, trials, probability)) + 1)
    return [*zip(counts, map(float, binom.pmf(counts, trials, probability)), strict=True)]


def fixed_noise(metric: Metric, was: Spread, now: Spread, sign: int) -> Noise:
    """The noise on fixed questions between two results with these spreads and the same true figure.

    `sign` is 1 if a rise is worse, else -1.
    """
    assert was.value is not None
    if metric.kind == "rate" and min(map(_events, (was, now))) < _MANY:
        return CountNoise(metric=metric, was=was, now=now, sign=sign)
    value, total = was.value, was.variance + now.variance
    share = was.variance / total if total else 0.5

    def limits(improvement: float, confidence: float) -> tuple[float, float]:
        shift = -sign * improvement
        older = replace(was, value=_within(value - share * shift, was.bounds))
        newer = replace(now, value=_within(value + (1 - share) * shift, now.bounds))
        low, high = fixed.difference_limits(older, newer, confidence)
        return (low, high) if sign < 0 else (-high, -low)

    degrees = fixed.welch_degrees(was, now) if total else 1.0
    return NormalNoise(before=was.variance, after=now.variance, degrees=degrees, limits=limits)


def _within(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])


def sampled_noise(before: float, after: float, questions: int) -> Noise:
    """The noise where questions are a sample: the part of each mean's variance that is due to runs.

    Two results of one model differ in nothing else, because the effects of questions cancel out.
    """
    se, degrees = math.sqrt(before + after), questions - 1

    def limits(improvement: float, confidence: float) -> tuple[float, float]:
        half = student(degrees, confidence) * se
        return improvement - half, improvement + half

    return NormalNoise(before=before, after=after, degrees=degrees, limits=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """A gate tested after each round: the share of sessions that it decides, 0..1, and their mean rounds."""

    decided: float
    mean: float


def in_rounds(looks: Sequence[tuple[int, Noise, float]], margin: float) -> Rounds:
    """How often a gate with interim looks decides about an unchanged release, and after how many rounds.

    `looks` has, for each look in order, the number of rounds until then, the noise and the confidence. The
    baseline's runs are the same at all looks. Rounds are drawn from the noise of the first look, since the
    variance of one round is the same at all of them.
    """
    generator = np.random.default_rng(_SEED)
    fewest, first, _ = looks[0]
    before, sums, done = first.draw_before(generator), np.zeros(_SIMULATED), 0
    ends, is_open = np.full(_SIMULATED, looks[-1][0]), np.full(_SIMULATED, fill_value=True)
    for number, noise, confidence in looks:
        sums, done = sums + first.draw_rounds(generator, number - done, fewest), number
        decides = is_open & noise.decides(before, sums, number, margin, confidence)
        ends[decides] = number
        is_open &= ~decides
    return Rounds(decided=1 - float(is_open.mean()), mean=float(ends.mean()))
