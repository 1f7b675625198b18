"""Intervals for means, rates and ratios of clustered observations.

A cluster is a question, asked in several languages (strata) and runs; the questions are a sample of those
that might have been asked. Knows no suites, records or files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit  # type: ignore[import-untyped]  # scipy has no types

T = TypeVar("T")
Array = NDArray[np.float64]
Codes = NDArray[np.int_]
_BLOCK = 500  # draws at a time: bounds the memory that thousands of questions take


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its interval, in the unit of the observations; `n` counts clusters.

    `reason` says in a few words why there is no interval; it is None exactly where `low` and `high` are not.
    `se` is None where nothing varied: zero would claim more than n questions can support.
    """

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None


class Observation(NamedTuple):
    """One mean of the valid runs of a question (`cluster`) in a language (`stratum`)."""

    cluster: str
    stratum: str
    value: float


def student(degrees: float, confidence: float) -> float:
    """Two-sided critical value of Student's t; ValueError unless 0 < confidence < 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence!r}")
    return float(stdtrit(degrees, (1 + confidence) / 2))


def _table(observations: Sequence[Observation]) -> tuple[Array, list[str]]:
    """Questions by strata, NaN where missing, and the strata's names."""
    values = {(item.cluster, item.stratum): item.value for item in observations}
    if len(values) < len(observations):
        raise ValueError("a question is observed twice in a stratum: average its runs first")
    if not all(math.isfinite(value) for value in values.values()):
        raise ValueError("an observation is not a finite number: leave out what has no score")
    rows = {name: row for row, name in enumerate(dict.fromkeys(item.cluster for item in observations))}
    columns = {
        name: column for column, name in enumerate(dict.fromkeys(item.stratum for item in observations))
    }
    cells = np.full((len(rows), len(columns)), np.nan)
    at = [rows[cluster] for cluster, _ in values], [columns[stratum] for _, stratum in values]
    cells[at] = [*values.values()]
    return cells, list(columns)


def linearise(observations: Sequence[Observation], confidence: float) -> tuple[Estimate, float]:
    """`clustered_mean`, and the degrees of freedom of its t.

    With z_q = sum over strata of (y_ql - m_l) / (L sqrt(n_l (n_l - 1))) the variance is the sum of z_q^2: the
    bias-reduced linearisation (CR2) of Bell and McCaffrey (2002, Survey Methodology 28, 169-181), with their
    degrees of freedom under independent errors. Where every question has every language, both are those of
    the t interval on the questions' means: Q/(Q-1) times the plain linearisation, Q - 1 degrees. A common
    Q/(Q-1) would understate where a language was cut short (it covers 0.90 with 5 questions of 50).
    """
    cells, strata = _table(observations)
    present = ~np.isnan(cells)
    counts = present.sum(axis=0)
    centres = [math.fsum(cells[known, column]) / known.sum() for column, known in enumerate(present.T)]
    value = math.fsum(centres) / len(strata) if strata else None
    alone = (f"1 question in {name!r}" for name, count in zip(strata, counts, strict=True) if count == 1)
    reason = too_few(len(cells)) or next(alone, None)
    if value is None or reason:
        return Estimate(value=value, se=None, low=None, high=None, n=len(cells), reason=reason), 0.0
    factors = 1 / (len(strata) * np.sqrt(counts * (counts - 1)))
    pulls = np.where(present, cells - centres, 0.0) @ factors
    se = math.sqrt(math.fsum(pulls**2))
    if se <= 1e-12 * np.nanmax(np.abs(cells)):
        reason = "no variation between questions"
        return Estimate(value=value, se=None, low=None, high=None, n=len(cells), reason=reason), 0.0
    degrees = degrees_of_freedom(present.astype(np.float64), factors**2)
    half = student(degrees, confidence) * se
    return Estimate(value=value, se=se, low=value - half, high=value + half, n=len(cells)), degrees


def degrees_of_freedom(present: Array, weights: Array) -> float:
    """Bell and McCaffrey's: the squared trace over the squared norm of the variance's quadratic form."""
    counts, shared = present.sum(axis=0), present.T @ present
    products = shared - shared / counts - shared / counts[:, None] + shared**2 / np.outer(counts, counts)
    return float((weights @ (counts - 1)) ** 2 / (weights @ products @ weights))


def too_few(n: int) -> str | None:
    """The reason why so few questions give no interval."""
    return {0: "no questions", 1: "1 question"}.get(n)


def clustered_mean(observations: Sequence[Observation], *, confidence: float = 0.95) -> Estimate:
    """The mean over strata of each stratum's mean, with Student's t interval clustered by question.

    Cells may be missing. There is no interval below two questions (in the whole, or in a stratum), nor where
    the questions do not differ: a width of zero would claim that no further question could differ.
    ValueError for a value that is not finite, or a question observed twice in a stratum.
    """
    return linearise(observations, confidence)[0]


def bounded_mean(
    observations: Sequence[Observation], *, least: float, most: float, confidence: float = 0.95
) -> Estimate:
    """`clustered_mean` of what lies in least..most, in Wilson's score interval, which stays there.

    The effective number is p (1 - p) / se^2, p the place of the mean within the bounds, and Student's t takes
    the normal value's place. Near a bound, where Student's t reaches beyond it and covers too rarely on the
    other side, this is asymmetrical; elsewhere nearly the same.
    """
    estimate, degrees = linearise(observations, confidence)
    if estimate.value is None or estimate.se is None:
        return estimate
    width = most - least
    fraction, error = (estimate.value - least) / width, estimate.se / width
    if not 0 < fraction < 1:
        return estimate
    low, high = score_limits(fraction, fraction * (1 - fraction) / error**2, student(degrees, confidence))
    return replace(estimate, low=least + width * low, high=least + width * high)


def wilson(value: float, variance: float, clusters: float, confidence: float) -> tuple[float, float]:
    """Limits in 0..1 of a rate with a clustered variance: Wilson's score interval, effective sample size.

    Franco, Little, Louis and Slud (2019, J. Survey Statistics and Methodology 7, 334-364) recommend the form,
    n over design effect for n, and find that it undercovers with the usual estimate of that effect, of which
    few events say little. So half a question of only successes and half a question of only failures are added
    for it (Jeffreys' halves, in units of questions): no event in k questions counts as about k units, however
    often each was asked, and there is no seam between no event and one. Student's t with k - 1 degrees takes
    the normal value's place. `clusters`, k, may be an effective number.
    """
    centre = (clusters * value + 0.5) / (clusters + 1)
    squares = clusters * (clusters - 1) * variance + clusters * (value - centre) ** 2
    squares += 0.5 * (centre**2 + (1 - centre) ** 2)
    n = centre * (1 - centre) * clusters**2 / squares
    return score_limits(value, n, student(max(clusters - 1, 1), confidence))


def score_limits(value: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's score interval in 0..1 for n independent trials, which may be an effective number.

    Wilson (1927, J. American Statistical Association 22, 209-212); `critical` is the normal or Student's.
    """
    z2 = critical**2
    middle, half = value + z2 / (2 * n), math.sqrt(z2 * (value * (1 - value) / n + z2 / (4 * n * n)))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return (max(low, 0.0) if value > 0 else 0.0), (min(high, 1.0) if value < 1 else 1.0)


def clustered_rate(
    successes: Sequence[float], totals: Sequence[float], *, confidence: float = 0.95
) -> Estimate:
    """All successes over all runs, both given by question, within the limits that `wilson` sets.

    A run may be a part of a success, as where one of its two replies is one.

    The variance is that of a ratio, k/(k-1) times the sum of (s_q - p t_q)^2 over T^2 (Cochran 1977, Sampling
    Techniques, 3.12). Questions without runs are left out. ValueError unless 0 <= successes <= totals.
    """
    pairs = np.array([*zip(successes, totals, strict=True)], dtype=np.float64).reshape(-1, 2)
    if not ((pairs[:, 0] >= 0) & (pairs[:, 0] <= pairs[:, 1])).all():
        raise ValueError("successes lie between 0 and the number of runs")
    counts, sizes = pairs[pairs[:, 1] > 0].T
    n, total = len(sizes), float(sizes.sum())
    value = float(counts.sum()) / total if n else None
    if value is None or n == 1:
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=too_few(n))
    variance = n / (n - 1) * float(((counts - value * sizes) ** 2).sum()) / total**2
    low, high = wilson(value, variance, total**2 / float((sizes**2).sum()), confidence)
    se = math.sqrt(variance) if variance > 1e-24 else None
    return Estimate(value=value, se=se, low=low, high=high, n=n)


def bootstrap(
    clusters: Sequence[Sequence[T]],
    statistic: Callable[[list[T]], float | None],
    *,
    seed: int,
    draws: int = 4000,
    confidence: float = 0.95,
) -> Estimate:
    """The bias-corrected and accelerated interval of any statistic of rows T, resampling whole clusters.

    Efron and Tibshirani (1993, An Introduction to the Bootstrap, section 14.3); plain percentiles where the
    correction does not exist. `statistic` returns None where it is not defined. There is no interval where
    even the range of the clusters would cover their median too rarely, 1 - 2^(1-k) < confidence (below 6
    clusters at 0.95), nor where no draw differs, nor where more draws than a tail holds are not defined.
    """
    filled = [rows for rows in clusters if rows]
    n = len(filled)

    def of(picked: Sequence[int]) -> float:
        value = statistic([*chain.from_iterable(map(filled.__getitem__, picked))]) if n else None
        return math.nan if value is None else value

    others = [[other for other in range(n) if other != number] for number in range(n)]
    drawn = np.array([of(row) for block in _picks(n, draws, seed) for row in block.tolist()])
    return _resampled(of(range(n)), drawn, np.array([of(row) for row in others]), confidence)


def clustered_ratio(
    numerators: Sequence[float],
    denominators: Sequence[float],
    *,
    seed: int,
    draws: int = 4000,
    confidence: float = 0.95,
) -> Estimate:
    """`bootstrap` of a sum over a sum, both given by question: the same draws and interval, in numpy.

    ValueError for a number that is not finite. For shares of runs use `clustered_rate`, which covers better.
    """
    above, below = np.array([*zip(numerators, denominators, strict=True)], dtype=np.float64).reshape(-1, 2).T
    if not np.isfinite([above, below]).all():
        raise ValueError("a ratio is made of finite numbers: leave out what has no score")
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = [
            above[rows].sum(axis=1) / below[rows].sum(axis=1) for rows in _picks(len(above), draws, seed)
        ]
        left_out = (above.sum() - above) / (below.sum() - below)
        value = float(above.sum() / below.sum())
    return _resampled(value, np.concatenate([*drawn, np.empty(0)]), left_out, confidence)


def _picks(n: int, draws: int, seed: int) -> Iterator[NDArray[np.int_]]:
    chance = np.random.default_rng(seed)
    for start in range(0, draws if n else 0, _BLOCK):
        yield chance.integers(0, n, (min(_BLOCK, draws - start), n))


def _resampled(value: float, drawn: Array, left_out: Array, confidence: float) -> Estimate:
    n = len(left_out)
    known = value if math.isfinite(value) else None
    reason = _why_not_resampled(known, drawn, n, 1 - confidence)
    if known is None or reason:
        return Estimate(value=known, se=None, low=None, high=None, n=n, reason=reason)
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, _levels(known, drawn, left_out, confidence)).tolist()
    return Estimate(value=known, se=float(drawn.std(ddof=1)), low=low, high=high, n=n)


def _why_not_resampled(value: float | None, drawn: Array, n: int, error: float) -> str | None:
    if value is None or n < 2:
        return too_few(n) or "not defined"
    if 2.0 ** (1 - n) > error:
        return f"{n} questions are too few to resample"
    undefined = ~np.isfinite(drawn)
    if undefined.mean() > error / 2:
        return f"not defined in {undefined.mean():.0%} of the draws"
    return "no variation between questions" if np.ptp(drawn[~undefined]) <= 1e-12 * abs(value) else None


def _levels(value: float, drawn: Array, left_out: Array, confidence: float) -> Array:
    """Which quantiles of the draws to take: equations 14.10, 14.14 and 14.15, or the plain tails."""
    tails = np.array([1 - confidence, 1 + confidence]) / 2
    pulls = left_out.mean() - left_out
    with np.errstate(divide="ignore", invalid="ignore"):
        bias = ndtri(((drawn < value).mean() + (drawn <= value).mean()) / 2)
        steps = (bias + ndtri(tails)) * (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
        levels = ndtr(bias + (bias + ndtri(tails)) / (1 - steps))
    return np.asarray(levels) if np.isfinite(levels).all() and (steps < 1).all() else tails
