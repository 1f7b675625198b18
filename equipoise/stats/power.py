"""How often a gate decides on a release of the same model, by the number of runs: the power of its tests.

Two results of one model differ by chance alone. How far is known from the variance between the runs of each
case, and the gate's own intervals say what it makes of a difference.
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
"""Standard errors from a bound at which its side is certain: the error of that is below 1e-14."""
_MANY = 50
"""Events from which on a rate is nearly normal."""
_TAIL = 1e-6
"""The probability of counts that are left out at either end."""

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
    """What two results of one model differ by, with certain numbers of runs; margins are in its unit."""

    def shares(self, margin: float) -> Shares:
        """The probabilities of the decisions on a rule with this margin, 0 or more."""
        ...

    def draw_before(self, chance: np.random.Generator) -> Array:
        """Figures of the earlier result, in a unit of their own."""
        ...

    def draw_rounds(self, chance: np.random.Generator, rounds: int, of: int) -> Array:
        """Sums over so many rounds of the later result, which has `of`, in that unit."""
        ...

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """Whether the rule passes or fails, by what was drawn of both."""
        ...


@dataclass(frozen=True, kw_only=True)
class NormalNoise:
    """Noise of figures that are normal.

    `before` and `after` are the variances of the two figures, and `degrees` those of both together. `limits`
    returns the gate's interval around a worsening, which is turned so that below 0 is worse.
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
        """The probabilities; with a margin of 0 a rule passes if the figure is not worse as observed."""
        if not self.se:
            return Shares(passed=1.0, failed=0.0)
        failed = self._below(margin, -self._critical(margin, 0.95, side=1))
        passed = 1 - self._below(margin, self._critical(margin, 0.95, side=0)) if margin else 0.5
        return Shares(passed=passed, failed=failed)

    def _critical(self, margin: float, confidence: float, *, side: int) -> float:
        """The half-width, in standard errors, of the interval that ends at the margin.

        `side` is 0 for its lower end, with which a rule passes, and 1 for the upper, with which it fails.
        """
        half, sign = 0.0, -1 if side else 1
        # The width depends but little on where the interval lies, so that this converges at once.
        for _ in range(10):
            worsening = -margin + sign * half
            half = abs(worsening - self.limits(worsening, confidence)[side])
        return half / self.se

    def _below(self, margin: float, critical: float) -> float:
        """The probability that (worsening + margin) / estimated standard error is below `critical`.

        It has Student's noncentral t distribution, as the standard error is estimated from the runs.
        """
        distance = margin / self.se
        if distance - critical > _CERTAIN:
            return 0.0
        below = float(nctdtr(self.degrees, distance, critical))
        return below if math.isfinite(below) else float(ndtr(critical - distance))

    def draw_before(self, chance: np.random.Generator) -> Array:
        """Deviations of the earlier figure."""
        return math.sqrt(self.before) * chance.standard_normal(_SIMULATED)

    def draw_rounds(self, chance: np.random.Generator, rounds: int, of: int) -> Array:
        """Sums of the deviations of so many rounds of the later result, which has `of`."""
        return math.sqrt(self.after * of * rounds) * chance.standard_normal(_SIMULATED)

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """Whether the interval is on one side of the margin; its standard error is taken as known."""
        if not self.se:
            return np.full(before.shape, fill_value=True)
        distance = (sums / rounds - before + margin) / self.se
        passes = distance > self._critical(margin, confidence, side=0)
        return passes | (distance < -self._critical(margin, confidence, side=1))


@dataclass(frozen=True, kw_only=True)
class CountNoise:
    """Noise of a rate with so few events that their counts are far from normal, or nearly as few without.

    `was` and `now` are the spreads of the two results, and `sign` is 1 if a rise is worse, else -1. Each
    count is binomial with the mean and variance that the spread has: it varies less than over all runs alike,
    as cases differ.
    """

    metric: Metric
    was: Spread
    now: Spread
    sign: int

    def shares(self, margin: float) -> Shares:
        """The probabilities, summed over all counts that both may have."""
        weights, worsenings, lows, highs = self._outcomes
        passes = (lows > -margin) | (worsenings >= 0 if not margin else False)
        return Shares(passed=float(weights @ passes), failed=float(weights @ (highs < -margin)))

    @cached_property
    def _outcomes(self) -> tuple[Array, Array, Array, Array]:
        """The likely pairs of counts: probability, worsening, and the ends of its 95 % interval."""
        outcomes = [
            (weight * other, *self._worsening(before, after, 0.95))
            for before, weight in _likely_counts(self.was)
            for after, other in _likely_counts(self.now)
        ]
        weights, worsenings, lows, highs = np.array(outcomes).T
        return weights, worsenings, lows, highs

    def _worsening(self, before: int, after: int, confidence: float) -> tuple[float, float, float]:
        """The worsening, below 0 if worse, with these counts of events, and the gate's interval around it."""
        older, newer = 100 * before / self.was.runs, 100 * after / self.now.runs
        was = fixed.at_value(self.metric, self.was, older)
        now = fixed.at_value(self.metric, self.now, newer)
        low, high = fixed.difference_limits(was, now, confidence)
        return (newer - older, low, high) if self.sign < 0 else (older - newer, -high, -low)

    def draw_before(self, chance: np.random.Generator) -> Array:
        """Counts of the earlier result."""
        return chance.binomial(*_binomial(self.was), size=_SIMULATED).astype(float)

    def draw_rounds(self, chance: np.random.Generator, rounds: int, of: int) -> Array:
        """Counts of so many rounds of the later result, which has `of`."""
        trials, probability = _binomial(self.now)
        return chance.binomial(round(trials * rounds / of), probability, size=_SIMULATED).astype(float)

    def decides(
        self, before: Array, sums: Array, rounds: int, margin: float, confidence: float
    ) -> NDArray[np.bool_]:
        """Whether the interval with these counts is on one side of the margin."""
        pairs, index = np.unique(np.stack([before, sums]), axis=1, return_inverse=True)
        worsenings = [self._worsening(int(older), int(newer), confidence) for older, newer in pairs.T]
        return np.array([low > -margin or high < -margin for _, low, high in worsenings])[index.ravel()]


def _events(spread: Spread) -> float:
    """The number of a rate's runs with the event, or without it, whichever are fewer."""
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
    """The counts of events that a result may have, each with its probability."""
    trials, probability = _binomial(spread)
    counts = range(int(binom.ppf(_TAIL, trials, probability)), int(binom.isf(_TAIL, trials, probability)) + 1)
    return [*zip(counts, map(float, binom.pmf(counts, trials, probability)), strict=True)]


def fixed_noise(metric: Metric, was: Spread, now: Spread, sign: int) -> Noise:
    """The noise on fixed questions, between two results with these spreads, whose figures are alike.

    `sign` is 1 if a rise is worse, else -1.
    """
    assert was.value is not None
    if metric.kind == "rate" and min(map(_events, (was, now))) < _MANY:
        return CountNoise(metric=metric, was=was, now=now, sign=sign)
    value, total = was.value, was.variance + now.variance
    share = was.variance / total if total else 0.5

    def limits(worsening: float, confidence: float) -> tuple[float, float]:
        shift = -sign * worsening
        older = replace(was, value=_within(value - share * shift, was.bounds))
        newer = replace(now, value=_within(value + (1 - share) * shift, now.bounds))
        low, high = fixed.difference_limits(older, newer, confidence)
        return (low, high) if sign < 0 else (-high, -low)

    degrees = fixed.welch_degrees(was, now) if total else 1.0
    return NormalNoise(before=was.variance, after=now.variance, degrees=degrees, limits=limits)


def _within(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])


def sampled_noise(before: float, after: float, questions: int) -> Noise:
    """The noise where questions are a sample, from the part of each mean's variance that runs make.

    Of two results of one model nothing else differs: what questions have of their own cancels out.
    """
    se, degrees = math.sqrt(before + after), questions - 1

    def limits(worsening: float, confidence: float) -> tuple[float, float]:
        half = student(degrees, confidence) * se
        return worsening - half, worsening + half

    return NormalNoise(before=before, after=after, degrees=degrees, limits=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """A gate that looks after each round of runs: the share that it decides, 0..1, and its mean rounds."""

    decided: float
    mean: float


def in_rounds(looks: Sequence[tuple[int, Noise, float]], margin: float) -> Rounds:
    """How often a gate that looks repeatedly decides on an unchanged release, and after how many rounds.

    `looks` are, in order, the numbers of rounds after which it looks, with the noise and the confidence then.
    The baseline's runs are the same at all of them.
    """
    chance = np.random.default_rng(_SEED)
    fewest, first, _ = looks[0]
    before, sums, done = first.draw_before(chance), np.zeros(_SIMULATED), 0
    ends, is_open = np.full(_SIMULATED, looks[-1][0]), np.full(_SIMULATED, fill_value=True)
    for number, noise, confidence in looks:
        sums, done = sums + first.draw_rounds(chance, number - done, fewest), number
        decides = is_open & noise.decides(before, sums, number, margin, confidence)
        ends[decides] = number
        is_open &= ~decides
    return Rounds(decided=1 - float(is_open.mean()), mean=float(ends.mean()))
