"""Agreement between evaluators that scored the same replies; verdicts may be missing.

A unit is one reply; its cluster is the question. Ratings are by rater, then by unit.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from equipoise.core.figures import Estimate, EvaluatorLean
from equipoise.stats import Observation, mean
from equipoise.stats.intervals import Array, clustered_mean

U = TypeVar("U", bound=Hashable)
Distance = Literal["ordinal", "interval"]
KappaWeights = Literal["none", "quadratic"]
_CONFIDENCE = 0.95
_BOOTSTRAP_DRAWS, _SEED = 2000, 0
_NUMBERS_PER_BLOCK = 4_000_000  # bounds the memory that thousands of questions take


def krippendorff_alpha(
    ratings: Mapping[str, Mapping[U, float]],
    levels: Sequence[float],
    metric: Distance = "ordinal",
    *,
    cluster_of: Mapping[U, str] | None = None,
) -> Estimate:
    """Krippendorff's alpha of verdicts by rater and unit, at most 1: 1 is agreement, 0 is chance.

    It is 1 - observed / expected disagreement, from the coincidence matrix (Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability, sections C and D; 2019, Content Analysis, 4th ed., chapter 12). Units
    with one verdict do not count. `levels` are the scale's values in ascending order.

    With `cluster_of`, and six clusters or more, there is a 95 % interval by the studentised bootstrap over
    clusters (`_interval`). `n` counts clusters with a unit that has two verdicts. Without such a unit, or if
    all verdicts are equal, the value is None with a reason. ValueError for a verdict that is not a level;
    KeyError for a unit that `cluster_of` lacks.
    """
    counts: dict[U, Array] = {}
    for rater, verdicts in ratings.items():
        for unit, value in verdicts.items():
            tally = counts.setdefault(unit, np.zeros(len(levels)))
            tally[_level_index(value, levels, rater)] += 1
    tables = ((unit, _coincidences(tally)) for unit, tally in counts.items() if tally.sum() > 1)
    statistic = partial(_alpha, levels=np.asarray(levels, np.float64), metric=metric)
    reason = "one evaluator" if sum(map(bool, ratings.values())) == 1 else "no unit has two verdicts"
    return _estimate(tables, statistic, cluster_of, reason)


def weighted_kappa(
    a: Mapping[U, float],
    b: Mapping[U, float],
    levels: Sequence[float],
    weights: KappaWeights = "quadratic",
    *,
    cluster_of: Mapping[U, str] | None = None,
) -> Estimate:
    """Cohen's kappa of two raters on the units that both rated, between -1 and 1.

    With `weights` "none" every disagreement weighs 1 (Cohen 1960, Educational and Psychological Measurement
    20, 37-46); "quadratic" weighs it by the square of the number of levels between the two (Cohen 1968,
    Psychological Bulletin 70, 213-220). Intervals and exceptions are those of `krippendorff_alpha`. The value
    is None, with a reason, without a common unit or if both raters gave the same single level throughout.
    """
    positions = np.arange(len(levels), dtype=np.float64)
    squares = (positions[:, None] - positions) ** 2
    disagreement = squares if weights == "quadratic" else np.sign(squares)
    units = (
        (unit, _margins(_level_index(a[unit], levels, "a"), _level_index(b[unit], levels, "b"), disagreement))
        for unit in a
        if unit in b
    )
    statistic = partial(_kappa, disagreement=disagreement)
    return _estimate(units, statistic, cluster_of, "no unit that both rated")


def fleiss_kappa(ratings: Mapping[str, Mapping[U, float]], levels: Sequence[float]) -> float | None:
    """Fleiss' kappa of several raters on the units that all of them rated; at most 1.

    It is the agreement of all pairs of raters beyond chance. All disagreements weigh the same (Fleiss 1971,
    Psychological Bulletin 76, 378-382). None with fewer than two raters, without a common unit, or if all
    verdicts are equal. ValueError for a verdict that is not a level.
    """
    units = _common_units(ratings)
    if len(ratings) < 2 or not units:
        return None
    identity = np.eye(len(levels))
    one_hot = [
        identity[[_level_index(verdicts[unit], levels, rater) for unit in units]]
        for rater, verdicts in ratings.items()
    ]
    tables = np.sum(one_hot, axis=0)
    agreeing = (tables * (tables - 1)).sum(axis=1) / (len(ratings) * (len(ratings) - 1))
    chance = ((tables.sum(axis=0) / tables.sum()) ** 2).sum()
    value = float(_one_minus_ratio(np.asarray(1 - agreeing.mean()), np.asarray(1 - chance)))
    return None if math.isnan(value) else value


def variance_within_units(ratings: Mapping[str, Mapping[U, float]]) -> float | None:
    """The mean over units of the sample variance of their verdicts, in squared points of the scale.

    0 if raters always agree. Units with one verdict do not count; None if there are no others.
    """
    units = dict.fromkeys(unit for verdicts in ratings.values() for unit in verdicts)
    by_unit = [[verdicts[unit] for verdicts in ratings.values() if unit in verdicts] for unit in units]
    return mean([statistics.variance(verdicts) for verdicts in by_unit if len(verdicts) > 1])


def _common_units(ratings: Mapping[str, Mapping[U, float]]) -> list[U]:
    """The units that every rater rated, in the first rater's order."""
    first, *others = ratings.values() or ({},)
    return [unit for unit in first if all(unit in verdicts for verdicts in others)]


def percent_agreement(a: Mapping[U, float], b: Mapping[U, float]) -> float | None:
    """The percentage of the units rated by both raters on which they agree, 0 to 100; None without any."""
    agreed = [float(a[unit] == b[unit]) for unit in a if unit in b]
    return 100 * sum(agreed) / len(agreed) if agreed else None


def correlations(a: Mapping[U, float], b: Mapping[U, float]) -> dict[str, float | None]:
    """Pearson's and Spearman's correlation, -1 to 1, of two mappings; `b` has the keys of `a`.

    Spearman's is Pearson's of the ranks; ties share their mean rank. Both are None if the values of one
    mapping are all equal, or if there are fewer than two.
    """
    columns = list(a.values()), [b[key] for key in a]
    return {"pearson": _pearson(*columns), "spearman": _pearson(*map(_ranks, columns))}


def _pearson(a: Sequence[float], b: Sequence[float]) -> float | None:
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:  # fewer than two values, or all of them equal
        return None


def _ranks(numbers: Sequence[float]) -> list[float]:
    """Ranks from 1; ties share their mean rank."""
    return [
        sum(other < number for other in numbers) + (sum(other == number for other in numbers) + 1) / 2
        for number in numbers
    ]


def leans(ratings: Mapping[str, Mapping[U, float]], cluster_of: Mapping[U, str]) -> list[EvaluatorLean]:
    """How strict each evaluator is, in order: its verdicts minus the mean of the others' on the same units.

    Each question has the same weight, however many of its units were scored. The interval is Student's t over
    questions (`clustered_mean`). The intervals of a panel depend on each other and are not adjusted for their
    number. KeyError for a unit that `cluster_of` lacks.
    """
    panel = []
    for evaluator, verdicts in ratings.items():
        others = [other for name, other in ratings.items() if name != evaluator]
        differences = {
            unit: value - others_mean
            for unit, value in verdicts.items()
            if (others_mean := _mean_verdict(others, unit)) is not None
        }
        difference = clustered_mean(_cluster_means(differences, cluster_of))
        own = mean([item.value for item in _cluster_means(verdicts, cluster_of)])
        panel.append(
            EvaluatorLean(evaluator=evaluator, mean=own, difference=difference, units=len(differences))
        )
    return panel


def _mean_verdict(raters: Sequence[Mapping[U, float]], unit: U) -> float | None:
    return mean([verdicts[unit] for verdicts in raters if unit in verdicts])


def _cluster_means(values: Mapping[U, float], cluster_of: Mapping[U, str]) -> list[Observation]:
    """The mean of each cluster's values, all in one stratum."""
    clusters: dict[str, list[float]] = {}
    for unit, value in values.items():
        clusters.setdefault(cluster_of[unit], []).append(value)
    return [
        Observation(cluster=name, stratum="", value=statistics.fmean(members))
        for name, members in clusters.items()
    ]


def _level_index(value: float, levels: Sequence[float], rater: str) -> int:
    """The index of a verdict among the levels; ValueError, naming the rater, if it is not one of them."""
    if value not in levels:
        raise ValueError(f"verdict {value!r} of {rater!r} is not one of the levels {list(levels)!r}")
    return levels.index(value)


def _margins(row: int, column: int, disagreement: Array) -> Array:
    """One unit's counts in the margins of rows and of columns, then its disagreement: (V + V + 1,)."""
    size = len(disagreement)
    sums = np.zeros(2 * size + 1)
    sums[row] = sums[size + column] = 1
    sums[-1] = disagreement[row, column]
    return sums


def _coincidences(tally: Array) -> Array:
    """One unit's coincidence matrix (V, V): ordered pairs of verdicts with weight 1 / (verdicts - 1)."""
    pairs: Array = (np.outer(tally, tally) - np.diag(tally)) / (tally.sum() - 1)
    return pairs


def _alpha(tables: Array, *, levels: Array, metric: Distance) -> Array:
    """Alpha of coincidence matrices (..., V, V); NaN if it is not defined."""
    counts = tables.sum(axis=-1)
    positions = np.broadcast_to(levels, counts.shape)
    if metric == "ordinal":  # the mean rank of each level's verdicts
        positions = np.cumsum(counts, axis=-1) - counts / 2
    squares = (positions[..., :, None] - positions[..., None, :]) ** 2
    expected = np.einsum("...i,...j,...ij->...", counts, counts, squares)
    observed = (counts.sum(axis=-1) - 1) * np.einsum("...ij,...ij->...", tables, squares)
    return _one_minus_ratio(observed, expected)


def _kappa(sums: Array, *, disagreement: Array) -> Array:
    """Kappa of margins and disagreements (..., V + V + 1), summed over units; NaN if it is not defined."""
    size = len(disagreement)
    rows, columns, observed = sums[..., :size], sums[..., size:-1], sums[..., -1]
    expected = np.einsum("...i,...i->...", rows @ disagreement, columns)
    return _one_minus_ratio(rows.sum(axis=-1) * observed, expected)


def _one_minus_ratio(observed: Array, expected: Array) -> Array:
    """1 - observed / expected, NaN if `expected` is 0 up to rounding."""
    defined = expected > 1e-9
    ratio: Array = np.where(defined, 1 - observed / np.where(defined, expected, 1.0), np.nan)
    return ratio


def _estimate(
    tables: Iterable[tuple[U, Array]],
    statistic: Callable[[Array], Array],
    cluster_of: Mapping[U, str] | None,
    reason_if_empty: str,
) -> Estimate:
    """The statistic of the sum of all units' tables; with clusters, its interval."""
    groups: dict[str, Array] = {}
    units = 0
    for unit, table in tables:
        units += 1
        name = "" if cluster_of is None else cluster_of[unit]
        groups[name] = groups[name] + table if name in groups else table
    n = units if cluster_of is None else len(groups)
    if not n:
        return Estimate(value=None, se=None, low=None, high=None, n=0, reason=reason_if_empty)
    # Sorted, so that the draws are the same whatever the order of the units.
    cluster_tables = np.array([groups[name] for name in sorted(groups)])
    value = float(statistic(cluster_tables.sum(axis=0)))
    if math.isnan(value):
        return Estimate(value=None, se=None, low=None, high=None, n=n, reason="all verdicts are equal")
    reason = "no clusters given" if cluster_of is None else None
    # With so few clusters, even their range covers their median with less than this confidence.
    if reason is None and 2.0 ** (1 - n) > 1 - _CONFIDENCE:
        reason = f"{n} questions are too few to resample" if n > 1 else "1 question"
    if reason:
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=reason)
    return _interval(value, cluster_tables, statistic)


def _interval(value: float, cluster_tables: Array, statistic: Callable[[Array], Array]) -> Estimate:
    """The studentised bootstrap interval over clusters, with a jackknife standard error for every draw.

    Efron and Tibshirani (1993, An Introduction to the Bootstrap, section 12.5). In simulated panels of 10 to
    50 questions it covered the true alpha in 92 to 97 of 100 cases, and the percentile bootstrap in 79 to 94,
    since alpha of few questions is biased downwards (see also Hughes 2022, arXiv:2210.13265). Limits are
    clipped to -1..1.
    """
    n = len(cluster_tables)
    se = float(_jackknife(np.ones((1, n)), cluster_tables, statistic)[1][0])
    drawn = [
        _jackknife(draw_counts, cluster_tables, statistic)
        for draw_counts in _draw_counts(n, cluster_tables[0].size)
    ]
    # Draws without a standard error, or with NaN, are left out.
    t_values = np.concatenate(
        [(replicate - value)[error > 1e-9] / error[error > 1e-9] for replicate, error in drawn]
    )
    tail = (1 - _CONFIDENCE) / 2
    if not se > 1e-9 or len(t_values) < (1 - tail) * _BOOTSTRAP_DRAWS:
        reason = "too few questions with disagreement to resample"
        return Estimate(value=value, se=None, low=None, high=None, n=n, reason=reason)
    # The upper limit comes from the lower quantile, and the other way round.
    upper, lower = np.quantile(t_values, [tail, 1 - tail]).tolist()
    return Estimate(
        value=value, se=se, low=max(value - lower * se, -1.0), high=min(value - upper * se, 1.0), n=n
    )


def _draw_counts(n: int, size: int) -> Iterator[Array]:
    """The number of times that each draw contains each cluster, (block, n), in blocks that bound memory."""
    rng = np.random.default_rng(_SEED)
    block = max(1, _NUMBERS_PER_BLOCK // (n * size))
    for start in range(0, _BOOTSTRAP_DRAWS, block):
        yield rng.multinomial(n, [1 / n] * n, size=min(block, _BOOTSTRAP_DRAWS - start)).astype(np.float64)


def _jackknife(
    draw_counts: Array, cluster_tables: Array, statistic: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """The statistic of each draw, and its standard error by the jackknife over clusters.

    `draw_counts` (draws, n) are the numbers of times that a draw contains each cluster.
    """
    n = len(cluster_tables)
    totals = np.tensordot(draw_counts, cluster_tables, 1)
    left_out = np.where(draw_counts > 0, statistic(totals[:, None] - cluster_tables), 0.0)
    centres = (draw_counts * left_out).sum(axis=1, keepdims=True) / n
    squares = (draw_counts * (left_out - centres) ** 2).sum(axis=1)
    return statistic(totals), np.sqrt((n - 1) / n * squares)
