"""Intervals that stay valid if runs are made in rounds until the interval is narrow enough.

Every round adds one run of every question in every language. A look is a test of all data so far; there is
one after each round.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq  # scipy has no types
from scipy.special import ndtr, ndtri  # as above

from equipoise.stats import Observation, sum_of_squares
from equipoise.stats.intervals import Array, clustered_mean

MOST_LOOKS = 50
"""The maximum number of looks. For more looks, the integral would need too fine a grid."""
_LARGEST_CRITICAL = 8.0
"""The largest critical value; the probability beyond it, 1e-15, is left out."""


def look_confidence(look: int, looks: int, *, confidence: float = 0.95, fixed_share: float = 0.0) -> float:
    """The confidence level of the interval at one of at most `looks` looks.

    With these levels, all intervals together cover the figure with probability `confidence` or more, and
    so does the last one, whatever rule stops the rounds: it is a repeated confidence interval (Jennison and
    Turnbull 1989, J. Royal Statistical Society B 51, 305-361; 2000, Group Sequential Methods, section 9.1).
    The normal critical value of the look is replaced by Student's t of the same significance level (2000,
    section 3.8). ValueError as in `critical_value`.
    """
    critical = critical_value(look, looks, confidence=confidence, fixed_share=fixed_share)
    return 2 * float(ndtr(critical)) - 1


def critical_value(look: int, looks: int, *, confidence: float = 0.95, fixed_share: float = 0.0) -> float:
    """The bound of |Z_k| at look k, `look`. With probability `confidence`, no look is outside its bound.

    After k rounds the variance is proportional to g + (1 - g) / k. Here g, `fixed_share`, is the part of one
    round's variance that further rounds do not reduce: the part of the questions, if they are a sample, or
    the part of a baseline's runs. The covariance of two looks is the variance of the later one. With the
    information I_k = 1 / (g + (1 - g) / k) this is the canonical form of group sequential tests (Jennison and
    Turnbull 2000, section 3.1).

    Up to information I_k, an error of 2 - 2 Phi(z / sqrt(I_k / I_K)) is spent on each side, where K is the
    last look and z the upper normal quantile of a quarter of the whole error. This is like O'Brien and
    Fleming's spending (Lan and DeMets 1983, Biometrika 70, 659-663): next to nothing early and nearly all at
    the end, where the bound is little above that of a single look. For example, 5 looks at g = 0 end at
    2.031, while Pocock's bound is 2.413 at every look. The share g is rounded down to a multiple of 0.05, 0.9
    at most, which is conservative. ValueError unless 1 <= look <= looks <= 50 and the share is in 0..1.
    """
    if not (1 <= look <= looks <= MOST_LOOKS and 0 <= fixed_share <= 1):
        raise ValueError(f"no critical value at look {look!r} of {looks!r} with a share of {fixed_share!r}")
    return _bounds(looks, confidence, min(math.floor(fixed_share * 20 + 1e-9), 18) / 20)[look - 1]


@cache
def _bounds(looks: int, confidence: float, share: float) -> tuple[float, ...]:
    """The critical values of all looks; `share` is `fixed_share`."""
    if looks == 1:
        return (float(ndtri((1 + confidence) / 2)),)
    information = 1 / (share + (1 - share) / np.arange(1, looks + 1))
    spent = 4 - 4 * ndtr(ndtri((3 + confidence) / 4) / np.sqrt(information / information[-1]))
    spent[-1] = 1 - confidence  # removes rounding errors
    bounds = _ScoreBounds(np.sqrt(information), np.polynomial.legendre.leggauss(100 + 12 * looks))
    return tuple(bounds.advance(float(error)) for error in spent)


class _ScoreBounds:
    """The bounds of successive looks by recursive integration.

    The scores S_k = Z_k sqrt(I_k) have independent normal increments (Armitage, McPherson and Rowe 1969, J.
    Royal Statistical Society A 132, 235-244). Their density within the bounds is stored at the nodes of a
    quadrature rule on -1..1, and advanced from look to look. `roots` are sqrt(I_k), `rule` the nodes and
    weights.
    """

    def __init__(self, roots: Array, rule: tuple[Array, Array]) -> None:
        self._roots = roots
        self._steps = np.sqrt(np.diff(roots**2, prepend=0.0))
        self._nodes, self._weights = rule
        self._look = 0
        self._bound = 0.0
        self._density = np.empty(0)

    def advance(self, spent: float) -> float:
        """Advance to the next look, and return the bound of |Z| at which the error so far is `spent`."""
        critical = _LARGEST_CRITICAL
        if self._probability_inside(_LARGEST_CRITICAL) > 1 - spent:
            critical = float(
                brentq(lambda c: self._probability_inside(c) - (1 - spent), 0.0, _LARGEST_CRITICAL, xtol=1e-8)
            )
        self._density = self._density_within(critical)
        self._bound = critical * self._roots[self._look]
        self._look += 1
        return critical

    def _probability_inside(self, critical: float) -> float:
        """The probability of |Z| below its bound at every look so far, and below `critical` at the next."""
        step, bound = self._steps[self._look], critical * self._roots[self._look]
        if not self._look:
            return float(ndtr(bound / step) - ndtr(-bound / step))
        scores = self._bound * self._nodes
        probabilities = ndtr((bound - scores) / step) - ndtr((-bound - scores) / step)
        return float((self._density * self._weights) @ probabilities) * self._bound

    def _density_within(self, critical: float) -> Array:
        """The density of the next look's score at the nodes, within the bounds up to then."""
        step, scores = self._steps[self._look], critical * self._roots[self._look] * self._nodes
        if not self._look:
            return np.asarray(_normal_density(scores / step) / step)
        kernel = _normal_density((scores[:, None] - self._bound * self._nodes) / step)
        return np.asarray(kernel @ (self._density * self._weights) * self._bound / step)


def _normal_density(deviates: Array) -> Array:
    """The density of the standard normal distribution."""
    return np.asarray(np.exp(-(deviates**2) / 2) / math.sqrt(2 * math.pi))


def question_share(
    observations: Sequence[Observation], runs: Mapping[tuple[str, str], Sequence[float]]
) -> float:
    """The estimated part of one round's variance that comes from the questions, 0..1.

    It is (se^2 - noise) / (se^2 - noise + k noise): se is the clustered standard error, noise is
    `run_variance`, and k is the mean number of runs. If the part cannot be estimated, as after the first
    round, it is 0, which is conservative. `observations` are the means of `runs`, whose keys are (cluster,
    stratum).
    """
    noise, se = run_variance(runs), clustered_mean(observations).se
    if noise is None or se is None:
        return 0.0
    rounds = math.fsum(map(len, runs.values())) / sum(map(bool, runs.values()))
    between = max(se**2 - noise, 0.0)
    return between / (between + rounds * noise) if between else 0.0


def run_variance(runs: Mapping[tuple[str, str], Sequence[float]]) -> float | None:
    """The part of the clustered mean's squared standard error that comes from runs, in squared points.

    The keys of `runs` are (cluster, stratum). The part is the sum over cells of s^2 / (R_ql (L n_l)^2), with
    s^2 the pooled variance within cells, R_ql the runs of a cell, and n_l the cells of each of L strata. More
    runs shrink only this part. None if no cell has two runs; ValueError for a value that is not finite.
    """
    filled = {cell: values for cell, values in runs.items() if values}
    if not all(math.isfinite(value) for values in filled.values() for value in values):
        raise ValueError("a run's score is not a finite number: leave out what has no score")
    degrees = sum(len(values) - 1 for values in filled.values())
    if not degrees:
        return None
    pooled = math.fsum(map(sum_of_squares, filled.values())) / degrees
    counts = Counter(stratum for _, stratum in filled)
    weights = {stratum: 1 / (len(counts) * count) for stratum, count in counts.items()}
    return pooled * math.fsum(weights[cell[1]] ** 2 / len(values) for cell, values in filled.items())
