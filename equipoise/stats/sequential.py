"""Intervals that stay valid when runs are bought in rounds until the interval is narrow enough.

Every round adds one run of every question in every language, so a later look holds the earlier ones' data.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from scipy.optimize import brentq  # type: ignore[import-untyped]  # scipy has no types
from scipy.special import ndtr, ndtri  # type: ignore[import-untyped]  # as above

from equipoise.stats import squares
from equipoise.stats.intervals import Array, Estimate, Observation, clustered_mean

MOST = 50
"""No critical value is computed for more looks: its integral would need too fine a grid."""


def looks_interval(
    observations: Sequence[Observation],
    *,
    look: int,
    looks: int,
    confidence: float = 0.95,
    question_share: float = 0.0,
) -> Estimate:
    """`clustered_mean` at one of at most `looks` looks, widened so that all of them hold the mean together.

    Whatever rule stops the rounds, the interval at which it stops then holds the mean with probability
    `confidence` or more: a repeated confidence interval (Jennison and Turnbull 1989, J. Royal Statistical
    Society B 51, 305-361; 2000, Group Sequential Methods, section 9.1). Its critical value, `pocock`, is the
    same at every look, as the rule may stop at any; it becomes Student's t of equal significance level (2000,
    section 3.8). `question_share` is explained there and estimated by the function of that name; 0 is safe
    whatever it is. ValueError unless 1 <= look <= looks, or as `pocock` and `clustered_mean`.
    """
    if not 1 <= look <= looks:
        raise ValueError(f"look {look!r} is not one of {looks!r}")
    level = 2 * float(ndtr(pocock(looks, confidence=confidence, question_share=question_share))) - 1
    return clustered_mean(observations, confidence=level)


def pocock(looks: int, *, confidence: float = 0.95, question_share: float = 0.0) -> float:
    """The c for which all of |Z_1|, ..., |Z_K| stay below c with probability `confidence`.

    After k rounds the mean's error has a variance in proportion to g + (1 - g) / k: g, `question_share`, is
    the part of one round's variance that comes from the questions, which stay the same. Two looks' covariance
    is the later one's variance, so Z_j and Z_k correlate as sqrt(I_j / I_k) for j < k, with the information
    I_k = 1 / (g + (1 - g) / k): the canonical form of group sequential tests (Jennison and Turnbull 2000,
    section 3.1). The more the questions differ, the more the looks agree and the smaller is c: for 5 looks
    2.413 at g = 0, which is Pocock's (1977, Biometrika 64, 191-199), 2.176 at 0.75 and 2.100 at 0.9. So g is
    rounded down, to twentieths up to 0.9. A union bound, 2.576 for 5 looks, would ignore all of that.
    ValueError unless `looks` is in 1..50 and the share in 0..1.
    """
    if not (1 <= looks <= MOST and 0 <= question_share <= 1):
        raise ValueError(f"no critical value for {looks!r} looks and a question share of {question_share!r}")
    return _critical(looks, confidence, min(math.floor(question_share * 20 + 1e-9), 18) / 20)


@cache
def _critical(looks: int, confidence: float, share: float) -> float:
    least, most = (float(ndtri(1 - (1 - confidence) / (2 * tests))) for tests in (1, looks))
    if looks == 1:
        return least
    information = 1 / (share + (1 - share) / np.arange(1, looks + 1))
    rule = np.polynomial.legendre.leggauss(100 + 12 * looks)
    return float(brentq(lambda c: _inside(c, information, *rule) - confidence, least, most, xtol=1e-8))


def _inside(critical: float, information: Array, nodes: Array, weights: Array) -> float:
    """P(|Z_k| < critical for every k) by recursive integration (Armitage, McPherson and Rowe 1969).

    The scores S_k = Z_k sqrt(I_k) have independent normal increments (J. Royal Statistical Society A 132,
    235-244); their density within the bounds goes from look to look on nodes in -1..1.
    """
    bounds, steps = critical * np.sqrt(information), np.sqrt(np.diff(information, prepend=0.0))
    density = _normal(bounds[0] * nodes / steps[0]) / steps[0]
    for before, bound, step in zip(bounds[:-1], bounds[1:], steps[1:], strict=True):
        kernel = _normal((bound * nodes[:, None] - before * nodes) / step)
        density = kernel @ (density * weights) * before / step
    return float(density @ weights * bounds[-1])


def _normal(deviates: Array) -> Array:
    return np.asarray(np.exp(-(deviates**2) / 2) / math.sqrt(2 * math.pi))


def question_share(
    observations: Sequence[Observation], runs: Mapping[tuple[str, str], Sequence[float]]
) -> float:
    """The part of one round's variance that comes from the questions, 0..1, as the data so far show it.

    (se^2 - noise) / (se^2 - noise + k noise), with the clustered standard error, `run_variance` as noise and
    k the mean number of runs. 0, which is safe, where nothing can be told, as in the first round.
    `observations` are the means of `runs`, which go by (cluster, stratum).
    """
    noise, se = run_variance(runs), clustered_mean(observations).se
    if noise is None or se is None:
        return 0.0
    rounds = math.fsum(map(len, runs.values())) / sum(map(bool, runs.values()))
    between = max(se**2 - noise, 0.0)
    return between / (between + rounds * noise) if between else 0.0


def run_variance(runs: Mapping[tuple[str, str], Sequence[float]]) -> float | None:
    """The part of the clustered mean's squared standard error that comes from runs, by (cluster, stratum).

    The sum over cells of s^2 / (R_ql (L n_l)^2), with s^2 the variance within cells, pooled, in squared
    points. More runs shrink this part and no other. None if no cell has two runs; ValueError for a value that
    is not finite.
    """
    filled = {cell: values for cell, values in runs.items() if values}
    if not all(math.isfinite(value) for values in filled.values() for value in values):
        raise ValueError("a run's score is not a finite number: leave out what has no score")
    spare = sum(len(values) - 1 for values in filled.values())
    if not spare:
        return None
    pooled = math.fsum(map(squares, filled.values())) / spare
    counts = Counter(stratum for _, stratum in filled)
    weights = {stratum: 1 / (len(counts) * count) for stratum, count in counts.items()}
    return pooled * math.fsum(weights[cell[1]] ** 2 / len(values) for cell, values in filled.items())
