"""Intervals for means, rates and ratios of clustered observations.

A cluster is a question. It is asked in several languages (strata), several times in each (runs). The
questions are treated as a sample of those that might have been asked.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit  # scipy has no types

from equipoise.core.figures import Estimate
from equipoise.stats import Observation

Array = NDArray[np.float64]
Codes = NDArray[np.int_]
_DRAWS, _SEED = 4000, 20_260_101
"""The draws of every bootstrap, so that the same results have the same intervals."""
_DRAWS_PER_BLOCK = 500  # bounds the memory that thousands of questions take
_ROUNDING = 1e-12
"""An error or a range of at most this, relative to the values, is 0 apart from rounding."""
_TIE = 1e-9
"""Draws that differ by at most this share of their range count as equal."""
NOTHING_TO_DIVIDE_BY = "nothing to divide by"
"""The reason for a ratio without an interval whose divisor is 0."""
NO_VARIATION = "no variation between questions"
"""The reason for a missing interval if all questions agree; results use the suite's word for questions."""


def is_without_variation(reason: str | None) -> bool:
    """Whether this is the reason NO_VARIATION, with any word for the questions."""
    return reason is not None and reason.startswith(NO_VARIATION.rpartition(" ")[0])


def student(degrees: float, confidence: float) -> float:
    """Two-sided critical value of Student's t; ValueError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence!r}")
    return float(stdtrit(degrees, (1 + confidence) / 2))


def by_cell(observations: Sequence[Observation]) -> dict[tuple[str, str], float]:
    """The values by question and stratum.

    ValueError for a value that is not finite, or a question observed twice in a stratum.
    """
    values = {(item.cluster, item.stratum): item.value for item in observations}
    if len(values) < len(observations):
        raise ValueError("a question is observed twice in a stratum: average its runs first")
    if not all(map(math.isfinite, values.values())):
        raise ValueError("an observation is not a finite number: leave out what has no score")
    return values


def codes(labels: Iterable[Hashable]) -> Codes:
    """Codes of the labels, from 0 in the order of first appearance."""
    labels = [*labels]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels], dtype=np.int_)


def _cell_table(observations: Sequence[Observation]) -> tuple[Array, list[str]]:
    """The values as an array, clusters by strata, NaN if missing, and the names of the strata."""
    values = by_cell(observations)
    strata = list(dict.fromkeys(stratum for _, stratum in values))
    rows, columns = (codes(key[part] for key in values) for part in (0, 1))
    cells = np.full((rows.max(initial=-1) + 1, len(strata)), np.nan)
    cells[rows, columns] = [*values.values()]
    return cells, strata


def linearised_mean(observations: Sequence[Observation], confidence: float) -> tuple[Estimate, float]:
    """The `clustered_mean`, and the degrees of freedom of its t; 0.0 if there is no interval.

    Let y_ql be the value of question q in language l, m_l the mean of the n_l values of that language, and L
    the number of languages. With z_q = sum over l of (y_ql - m_l) / (L sqrt(n_l (n_l - 1))) the variance is
    the sum of z_q^2. This is the bias-reduced linearisation (CR2) of Bell and McCaffrey (2002, Survey
    Methodology 28, 169-181), with their degrees of freedom under independent errors. If every question has
    every language, the interval is that of Student's t on the means of the Q questions, with Q - 1 degrees.
    The simpler correction by a common factor Q / (Q - 1) would understate the variance if a language has
    fewer questions: if one language has 5 of 50, the 95 % interval covers the true mean with probability
    0.90.
    """
    cells, strata = _cell_table(observations)
    present = ~np.isnan(cells)
    counts = present.sum(axis=0)
    centres = [math.fsum(cells[known, column]) / known.sum() for column, known in enumerate(present.T)]
    value = math.fsum(centres) / len(strata) if strata else None
    single = (f"1 question in {name!r}" for name, count in zip(strata, counts, strict=True) if count == 1)
    reason = too_few_reason(len(cells)) or next(single, None)
    if value is None or reason:
        return Estimate(value=value, se=None, low=None, high=None, n=len(cells), reason=reason), 0.0
    factors = 1 / (len(strata) * np.sqrt(counts * (counts - 1)))
    contributions = np.where(present, cells - centres, 0.0) @ factors
    se = math.sqrt(math.fsum(contributions**2))
    if se <= _ROUNDING * np.nanmax(np.abs(cells)):
        reason = NO_VARIATION
        return Estimate(value=value, se=None, low=None, high=None, n=len(cells), reason=reason), 0.0
    degrees = degrees_of_freedom(present.astype(np.float64), factors**2)
    half = student(degrees, confidence) * se
    return Estimate(value=value, se=se, low=value - half, high=value + half, n=len(cells)), degrees


def degrees_of_freedom(present: Array, weights: Array) -> float:
    """Bell and McCaffrey's degrees of freedom of a variance: (trace / norm)^2 of its matrix.

    The matrix is that of the variance as a quadratic form of the values. `present` (clusters, strata) is 1
    where a cell has a value, `weights` (strata) are the squared factors in `linearised_mean`.
    """
    counts, shared = present.sum(axis=0), present.T @ present
    # The matrix has a block for each pair of strata; these are the squared norms of the unweighted blocks.
    block_norms = shared - shared / counts - shared / counts[:, None] + shared**2 / np.outer(counts, counts)
    return float((weights @ (counts - 1)) ** 2 / (weights @ block_norms @ weights))


def too_few_reason(n: int) -> str | None:
    """The reason why n questions are too few for an interval; None for two or more."""
    return {0: "no questions", 1: "1 question"}.get(n)


def clustered_mean(observations: Sequence[Observation], *, confidence: float = 0.95) -> Estimate:
    """The mean over strata of each stratum's mean, with Student's t interval clustered by question.

    Cells may be missing. There is no interval with fewer than two questions overall or in a stratum, nor if
    the questions do not differ: a width of zero would claim that no further question could differ. ValueError
    for a value that is not finite, or a question observed twice in a stratum.
    """
    return linearised_mean(observations, confidence)[0]


def bounded_mean(
    observations: Sequence[Observation], *, least: float, most: float, confidence: float = 0.95
) -> Estimate:
    """The `clustered_mean` of values in least..most, with Wilson's score interval, which stays within bounds.

    The effective sample size is p (1 - p) / se^2, where p in 0..1 is the position of the mean within the
    bounds, and Student's t replaces the normal quantile. Near a bound this interval is asymmetric. That of
    `clustered_mean` would reach beyond the bound and cover too rarely on the other side. Away from the bounds
    the two are nearly the same.
    """
    estimate, degrees = linearised_mean(observations, confidence)
    if estimate.value is None or estimate.se is None:
        return estimate
    width = most - least
    fraction, error = (estimate.value - least) / width, estimate.se / width
    if not 0 < fraction < 1:
        return estimate
    low, high = score_limits(fraction, fraction * (1 - fraction) / error**2, student(degrees, confidence))
    return replace(estimate, low=least + width * low, high=least + width * high)


def wilson(value: float, variance: float, clusters: float, confidence: float) -> tuple[float, float]:
    """Limits in 0..1 of a rate with a clustered variance: Wilson's score interval at the effective size.

    Franco, Little, Louis and Slud (2019, J. Survey Statistics and Methodology 7, 334-364) recommend dividing
    n by the design effect, but find that this undercovers with the usual estimate of the effect, which few
    events make unreliable. So the effective size, but not the rate itself, is computed with half a question
    of only successes and half a question of only failures added (Jeffreys' halves, in units of questions). As
    a result, k questions without an event count as about k trials, however often each was asked, and the
    limits do not jump between no event and one. Student's t with k - 1 degrees of freedom replaces the normal
    quantile. `clusters` is k, which may be an effective number.
    """
    centre = (clusters * value + 0.5) / (clusters + 1)
    squares = clusters * (clusters - 1) * variance + clusters * (value - centre) ** 2
    squares += 0.5 * (centre**2 + (1 - centre) ** 2)
    n = centre * (1 - centre) * clusters**2 / squares
    return score_limits(value, n, student(max(clusters - 1, 1), confidence))


def score_limits(value: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's score interval in 0..1 for n independent trials, which may be an effective number.

    Wilson (1927, J. American Statistical Association 22, 209-212); `critical` is a quantile of the normal
    distribution or of Student's t.
    """
    z2 = critical**2
    middle, half = value + z2 / (2 * n), math.sqrt(z2 * (value * (1 - value) / n + z2 / (4 * n * n)))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return (max(low, 0.0) if value > 0 else 0.0), (min(high, 1.0) if value < 1 else 1.0)


def clustered_rate(
    successes: Sequence[float], totals: Sequence[float], *, confidence: float = 0.95
) -> Estimate:
    """All successes divided by all runs, with the limits of `wilson`; a share in 0..1.

    `successes` and `totals` are by question. A run may count as a fraction of a success, for example if only
    one of its two replies is a success. The variance is that of a ratio, k/(k-1) times the sum of (s_q - p
    t_q)^2 over T^2 (Cochran 1977, Sampling Techniques, 3.12). Questions without runs are left out. ValueError
    unless 0 <= successes <= totals.
    """
    pairs = np.array([*zip(successes, totals, strict=True)], dtype=np.float64).reshape(-1, 2)
    if not ((pairs[:, 0] >= 0) & (pairs[:, 0] <= pairs[:, 1])).all():
        raise ValueError("successes lie between 0 and the number of runs")
    counts, sizes = pairs[pairs[:, 1] > 0].T
    n, total = len(sizes), float(sizes.sum())
    value = float(counts.sum()) / total if n else None
    if value is None or n == 1:
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=too_few_reason(n))
    variance = n / (n - 1) * float(((counts - value * sizes) ** 2).sum()) / total**2
    low, high = wilson(value, variance, total**2 / float((sizes**2).sum()), confidence)
    se = math.sqrt(variance) if variance > _ROUNDING**2 else None
    return Estimate(value=value, se=se, low=low, high=high, n=n)


def clustered_ratio(
    numerators: Sequence[float], denominators: Sequence[float], *, confidence: float = 0.95
) -> Estimate:
    """The sum of `numerators` divided by that of `denominators`, both by question, with a bootstrap interval.

    Whole questions are resampled. The interval is bias-corrected and accelerated (BCa; Efron and Tibshirani
    1993, An Introduction to the Bootstrap, section 14.3), or that of plain percentiles if the correction is
    undefined. There is none if the k questions are so few that even their range would cover their median too
    rarely, 1 - 2^(1-k) < confidence (k below 6 at 0.95), if all draws are equal, or if the share of undefined
    draws exceeds that of one tail. ValueError for a number that is not finite. For shares of runs use
    `clustered_rate`, whose intervals are closer to their nominal coverage.
    """
    above, below = np.array([*zip(numerators, denominators, strict=True)], dtype=np.float64).reshape(-1, 2).T
    if not np.isfinite([above, below]).all():
        raise ValueError("a ratio is made of finite numbers: leave out what has no score")
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = [above[rows].sum(axis=1) / below[rows].sum(axis=1) for rows in _draw_clusters(len(above))]
        left_out = (above.sum() - above) / (below.sum() - below)
        value = float(above.sum() / below.sum())
    return _resampled_estimate(value, np.concatenate(drawn or [np.empty(0)]), left_out, confidence)


def _draw_clusters(n: int) -> Iterator[Codes]:
    """Indices of the clusters in each draw, (block, n), in blocks."""
    rng = np.random.default_rng(_SEED)
    for _ in range(0, _DRAWS if n else 0, _DRAWS_PER_BLOCK):
        yield rng.integers(0, n, (_DRAWS_PER_BLOCK, n))


def _resampled_estimate(value: float, drawn: Array, left_out: Array, confidence: float) -> Estimate:
    """The estimate from the statistic of each draw (`drawn`) and without each cluster (`left_out`).

    Undefined values are NaN.
    """
    n = len(left_out)
    known = value if math.isfinite(value) else None
    reason = _no_interval_reason(known, drawn, n, 1 - confidence)
    if known is None or reason:
        return Estimate(value=known, se=None, low=None, high=None, n=n, reason=reason)
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, _bca_levels(known, drawn, left_out, confidence)).tolist()
    return Estimate(value=known, se=float(drawn.std(ddof=1)), low=low, high=high, n=n)


def _no_interval_reason(value: float | None, drawn: Array, n: int, error: float) -> str | None:
    """The reason why there is no interval; None if there is one. `error` is 1 - confidence."""
    if value is None or n < 2:
        return too_few_reason(n) or "not defined"
    if 2.0 ** (1 - n) > error:
        return f"{n} questions are too few to resample"
    undefined = ~np.isfinite(drawn)
    if undefined.mean() > error / 2:
        return f"not defined in {undefined.mean():.0%} of the draws"
    return NO_VARIATION if np.ptp(drawn[~undefined]) <= _ROUNDING * abs(value) else None


def _bca_levels(value: float, drawn: Array, left_out: Array, confidence: float) -> Array:
    """The quantile levels of the limits, by equations 14.10, 14.14 and 14.15 of Efron and Tibshirani (1993).

    If these are undefined, the levels are those of plain percentiles.
    """
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    influence = left_out.mean() - left_out
    # Equal draws may differ by rounding: they are ties.
    rounding = _TIE * np.ptp(drawn)
    below, ties = (drawn < value - rounding).mean(), (np.abs(drawn - value) <= rounding).mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = ndtri(below + ties / 2)
        steps = (bias + ndtri(tails)) * (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
        levels = ndtr(bias + (bias + ndtri(tails)) / (1 - steps))
    return np.asarray(levels) if np.isfinite(levels).all() and (steps < 1).all() else tails
