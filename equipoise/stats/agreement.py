"""Agreement between evaluators that scored the same replies, with missing verdicts.

A unit is one reply; its cluster is the question. Ratings are by rater, then by unit.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from equipoise.stats import mean
from equipoise.stats.intervals import Array, Estimate, Observation, clustered_mean

U = TypeVar("U", bound=Hashable)
Distance = Literal["ordinal", "nominal", "interval"]
KappaWeights = Literal["none", "linear", "quadratic"]
_DRAWS = 2000  # of the bootstrap
_BLOCK = 4_000_000  # numbers at a time: bounds the memory of thousands of questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """One evaluator's mean verdict, and its difference from the mean of the other evaluators.

    Both are means over questions of the questions' means, in points of the scale. `mean` covers all units
    that the evaluator scored, `difference` the `units` that another one scored too.
    """

    evaluator: str
    mean: float | None
    difference: Estimate
    units: int


def krippendorff_alpha(
    ratings: Mapping[str, Mapping[U, float]],
    levels: Sequence[float],
    metric: Distance = "ordinal",
    *,
    cluster_of: Mapping[U, str] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Krippendorff's alpha of verdicts by rater and unit, at most 1: 1 is agreement, 0 is chance.

    1 - observed / expected disagreement from the coincidence matrix (Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability, sections C and D; 2019, Content Analysis, 4th ed., chapter 12). Units
    with one verdict do not count. `levels` are the scale's values in ascending order.

    With `cluster_of` there is an interval by the studentised bootstrap over clusters (`_interval`), given
    about six clusters. `n` counts clusters with a unit that has two verdicts. Without such a unit, or if all
    verdicts are equal, the value is None with a reason. ValueError for a verdict that is not a level;
    KeyError for a unit that `cluster_of` lacks.
    """
    counts: dict[U, Array] = {}
    for rater, verdicts in ratings.items():
        for unit, value in verdicts.items():
            tally = counts.setdefault(unit, np.zeros(len(levels)))
            tally[_position(value, levels, rater)] += 1
    tables = ((unit, _coincidences(tally)) for unit, tally in counts.items() if tally.sum() > 1)
    statistic = partial(_alpha, levels=np.asarray(levels, np.float64), metric=metric)
    reason = "one evaluator" if sum(map(bool, ratings.values())) == 1 else "no unit has two verdicts"
    return _estimate(tables, statistic, cluster_of, seed, confidence, reason)


def weighted_kappa(
    a: Mapping[U, float],
    b: Mapping[U, float],
    levels: Sequence[float],
    weights: KappaWeights = "quadratic",
    *,
    cluster_of: Mapping[U, str] | None = None,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Cohen's kappa of two raters on the units that both rated, between -1 and 1.

    Disagreement weighs 1 ("none"; Cohen 1960, Educational and Psychological Measurement 20, 37-46), or the
    distance in levels, or its square (Cohen 1968, Psychological Bulletin 70, 213-220). Intervals and errors
    are those of `krippendorff_alpha`. The value is None, with a reason, without a common unit or if both
    raters gave one and the same level throughout.
    """
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    positions = np.arange(len(levels), dtype=np.float64)
    distance = np.abs(positions[:, None] - positions)
    disagreement = np.where(distance > 0, distance**power, 0.0)
    units = (
        (unit, _margins(_position(a[unit], levels, "a"), _position(b[unit], levels, "b"), disagreement))
        for unit in a
        if unit in b
    )
    statistic = partial(_kappa, disagreement=disagreement)
    return _estimate(units, statistic, cluster_of, seed, confidence, "no unit that both rated")


def fleiss_kappa(ratings: Mapping[str, Mapping[U, float]], levels: Sequence[float]) -> float | None:
    """Fleiss' kappa of several raters on the units that all of them rated; at most 1.

    The agreement of all pairs of raters beyond chance, every disagreement weighing the same (Fleiss 1971,
    Psychological Bulletin 76, 378-382). None with fewer than two raters, without a common unit, or where all
    verdicts are equal. ValueError for a verdict that is not a level.
    """
    units = _common(ratings)
    if len(ratings) < 2 or not units:
        return None
    identity = np.eye(len(levels))
    one_hot = [
        identity[[_position(verdicts[unit], levels, rater) for unit in units]]
        for rater, verdicts in ratings.items()
    ]
    tables = np.sum(one_hot, axis=0)
    agreeing = (tables * (tables - 1)).sum(axis=1) / (len(ratings) * (len(ratings) - 1))
    chance = ((tables.sum(axis=0) / tables.sum()) ** 2).sum()
    value = float(_one_minus(np.asarray(1 - agreeing.mean()), np.asarray(1 - chance)))
    return None if math.isnan(value) else value


def variance_within_units(ratings: Mapping[str, Mapping[U, float]]) -> float | None:
    """The mean over units of the sample variance of their verdicts, in squared points of the scale.

    0 if raters always agree. Units with one verdict do not count; None if all have one.
    """
    units = dict.fromkeys(unit for verdicts in ratings.values() for unit in verdicts)
    by_unit = [[verdicts[unit] for verdicts in ratings.values() if unit in verdicts] for unit in units]
    return mean([statistics.variance(verdicts) for verdicts in by_unit if len(verdicts) > 1])


def _common(ratings: Mapping[str, Mapping[U, float]]) -> list[U]:
    """The units that every rater rated, in the first rater's order."""
    first, *others = ratings.values() or ({},)
    return [unit for unit in first if all(unit in verdicts for verdicts in others)]


def percent_agreement(a: Mapping[U, float], b: Mapping[U, float]) -> float | None:
    """The percentage of the units rated by both raters on which they agree, 0 to 100; None without any."""
    agreed = [float(a[unit] == b[unit]) for unit in a if unit in b]
    return 100 * sum(agreed) / len(agreed) if agreed else None


def correlations(a: Mapping[U, float], b: Mapping[U, float]) -> dict[str, float | None]:
    """Pearson's and Spearman's correlation (-1 to 1) of two columns; `b` has the keys of `a`.

    Spearman's is Pearson's of the ranks, ties sharing their mean rank. None if a column is constant.
    """
    columns = list(a.values()), [b[key] for key in a]
    return {"pearson": _pearson(*columns), "spearman": _pearson(*map(_ranks, columns))}


def _pearson(a: Sequence[float], b: Sequence[float]) -> float | None:
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:
        return None


def _ranks(numbers: Sequence[float]) -> list[float]:
    """Ranks from 1; ties share their mean rank."""
    return [
        sum(other < number for other in numbers) + (sum(other == number for other in numbers) + 1) / 2
        for number in numbers
    ]


def leans(
    ratings: Mapping[str, Mapping[U, float]], cluster_of: Mapping[U, str], *, confidence: float = 0.95
) -> list[Lean]:
    """The lean of each evaluator: its verdicts against the mean of the others on the same units, in order.

    Each question has the same weight, however many of its units were scored. The interval is Student's t over
    questions (`clustered_mean`). The intervals of a panel depend on each other and are not adjusted for their
    number. KeyError for a unit that `cluster_of` lacks.
    """
    leans = []
    for evaluator, verdicts in ratings.items():
        others = [other for name, other in ratings.items() if name != evaluator]
        differences = {
            unit: value - rest
            for unit, value in verdicts.items()
            if (rest := _mean_of(others, unit)) is not None
        }
        difference = clustered_mean(_by_cluster(differences, cluster_of), confidence=confidence)
        own = mean([item.value for item in _by_cluster(verdicts, cluster_of)])
        leans.append(Lean(evaluator=evaluator, mean=own, difference=difference, units=len(differences)))
    return leans


def _mean_of(others: Sequence[Mapping[U, float]], unit: U) -> float | None:
    return mean([verdicts[unit] for verdicts in others if unit in verdicts])


def _by_cluster(values: Mapping[U, float], cluster_of: Mapping[U, str]) -> list[Observation]:
    clusters: dict[str, list[float]] = {}
    for unit, value in values.items():
        clusters.setdefault(cluster_of[unit], []).append(value)
    return [
        Observation(cluster=name, stratum="", value=math.fsum(members) / len(members))
        for name, members in clusters.items()
    ]


def _position(value: float, levels: Sequence[float], rater: str) -> int:
    if value not in levels:
        raise ValueError(f"verdict {value!r} of {rater!r} is not one of the levels {list(levels)!r}")
    return levels.index(value)


def _margins(row: int, column: int, disagreement: Array) -> Array:
    """What one unit adds to the margins of rows and columns, then its disagreement: (V + V + 1,)."""
    size = len(disagreement)
    sums = np.zeros(2 * size + 1)
    sums[row] = sums[size + column] = 1
    sums[-1] = disagreement[row, column]
    return sums


def _coincidences(tally: Array) -> Array:
    """One unit's coincidence matrix (V, V): ordered pairs of verdicts, weighing 1 / (verdicts - 1) each."""
    pairs: Array = (np.outer(tally, tally) - np.diag(tally)) / (tally.sum() - 1)
    return pairs


def _alpha(tables: Array, *, levels: Array, metric: Distance) -> Array:
    """Alpha of coincidence matrices (..., V, V); NaN if it is not defined."""
    counts = tables.sum(axis=-1)
    positions = np.broadcast_to(levels, counts.shape)
    if metric == "ordinal":
        positions = np.cumsum(counts, axis=-1) - counts / 2
    squares = (positions[..., :, None] - positions[..., None, :]) ** 2
    if metric == "nominal":
        squares = (squares > 0).astype(np.float64)
    expected = np.einsum("...i,...j,...ij->...", counts, counts, squares)
    observed = (counts.sum(axis=-1) - 1) * np.einsum("...ij,...ij->...", tables, squares)
    return _one_minus(observed, expected)


def _kappa(sums: Array, *, disagreement: Array) -> Array:
    """Kappa of margins and disagreements (..., V + V + 1), summed over units; NaN if it is not defined."""
    size = len(disagreement)
    rows, columns, observed = sums[..., :size], sums[..., size:-1], sums[..., -1]
    expected = np.einsum("...i,...i->...", rows @ disagreement, columns)
    return _one_minus(rows.sum(axis=-1) * observed, expected)


def _one_minus(observed: Array, expected: Array) -> Array:
    """1 - observed / expected, NaN if `expected` is 0 up to rounding."""
    defined = expected > 1e-9
    ratio: Array = np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)
    return ratio


def _estimate(
    tables: Iterable[tuple[U, Array]],
    statistic: Callable[[Array], Array],
    cluster_of: Mapping[U, str] | None,
    seed: int,
    confidence: float,
    nothing: str,
) -> Estimate:
    """The statistic of the sum of all units' tables; with clusters, its interval.

    `nothing` is the reason if there are no tables.
    """
    groups: dict[str, Array] = {}
    units = 0
    for unit, table in tables:
        units += 1
        name = "" if cluster_of is None else cluster_of[unit]
        groups[name] = groups[name] + table if name in groups else table
    n = units if cluster_of is None else len(groups)
    if not n:
        return Estimate(value=None, se=None, low=None, high=None, n=0, reason=nothing)
    parts = np.array([groups[name] for name in sorted(groups)])
    value = float(statistic(parts.sum(axis=0)))
    if math.isnan(value):
        return Estimate(value=None, se=None, low=None, high=None, n=n, reason="all verdicts are equal")
    reason = "no clusters given" if cluster_of is None else None
    if reason is None and 2.0 ** (1 - n) > 1 - confidence:
        reason = f"{n} questions are too few to resample" if n > 1 else "1 question"
    if reason:
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=reason)
    return _interval(value, parts, statistic, seed, confidence)


def _interval(
    value: float, parts: Array, statistic: Callable[[Array], Array], seed: int, confidence: float
) -> Estimate:
    """The studentised bootstrap interval over clusters, with a jackknife standard error for every draw.

    Efron and Tibshirani (1993, An Introduction to the Bootstrap, section 12.5). In simulated panels of 10 to
    50 questions it covered the true alpha in 92 to 97 of 100 cases, and the percentile bootstrap in 79 to 94,
    since alpha of few questions is biased downwards (see also Hughes 2022, arXiv:2210.13265). Limits are
    clipped to -1..1.
    """
    n = len(parts)
    se = float(_jackknife(np.ones((1, n)), parts, statistic)[1][0])
    drawn = [_jackknife(weights, parts, statistic) for weights in _weights(n, parts[0].size, seed)]
    errors = np.concatenate(
        [(replicate - value)[error > 1e-9] / error[error > 1e-9] for replicate, error in drawn]
    )
    tail = (1 - confidence) / 2
    if not se > 1e-9 or len(errors) < (1 - tail) * _DRAWS:
        reason = "too few questions with disagreement to resample"
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=reason)
    upper, lower = np.quantile(errors, [tail, 1 - tail]).tolist()
    return Estimate(
        value=value, se=se, low=max(value - lower * se, -1.0), high=min(value - upper * se, 1.0), n=n
    )


def _weights(n: int, size: int, seed: int) -> Iterator[Array]:
    """The number of times that each draw contains each cluster, (block, n), in blocks that bound memory."""
    chance = np.random.default_rng(seed)
    block = max(1, _BLOCK // (n * size))
    for start in range(0, _DRAWS, block):
        yield chance.multinomial(n, [1 / n] * n, size=min(block, _DRAWS - start)).astype(np.float64)


def _jackknife(weights: Array, parts: Array, statistic: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The statistic of each draw, and its standard error by the jackknife over clusters."""
    n = len(parts)
    totals = np.tensordot(weights, parts, 1)
    left_out = np.where(weights > 0, statistic(totals[:, None] - parts), 0.0)
    centres = (weights * left_out).sum(axis=1, keepdims=True) / n
    squares = (weights * (left_out - centres) ** 2).sum(axis=1)
    return statistic(totals), np.sqrt((n - 1) / n * squares)
