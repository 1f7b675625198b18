"""Metrics computed from cells: figures with intervals, and differences between two results.

Figures are in percent, 0 to 100, and differences in percentage points; a `count` is in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import chain, zip_longest
from operator import itemgetter
from typing import TypeVar

from equipoise.core.records import Cell, Metric
from equipoise.stats import mean
from equipoise.stats.intervals import (
    Estimate,
    Observation,
    bootstrap,
    bounded_mean,
    clustered_mean,
    clustered_rate,
    clustered_ratio,
)
from equipoise.stats.paired import Difference, paired_difference, paired_rate_difference
from equipoise.stats.shared import SharedCases, shared_cases

EstimateOrDifference = TypeVar("EstimateOrDifference", Estimate, Difference)
SEED = 20_260_101
"""The seed of every bootstrap, so that the same results have the same intervals."""


def measure(metric: Metric, cells: Sequence[Cell], *, confidence: float = 0.95) -> Estimate:
    """The figure and its interval, clustered by question; `kind` decides which interval."""
    return _without_interval(metric, _measure(metric, metric.select(cells), confidence))


def _without_interval(metric: Metric, estimate: EstimateOrDifference) -> EstimateOrDifference:
    """The figure alone if its metric has no interval."""
    if not metric.no_interval:
        return estimate
    return replace(estimate, se=None, low=None, high=None, reason=metric.no_interval)


def _measure(metric: Metric, chosen: Sequence[Cell], confidence: float) -> Estimate:
    if metric.kind in ("mean", "balance"):
        means = observations(metric, chosen)
        return bounded_mean(means, least=_lowest_mean(metric), most=100.0, confidence=confidence)
    if metric.kind == "rate":
        return _in_percent(_pooled_rate(metric, chosen, confidence))
    if metric.kind == "count":
        return clustered_mean(observations(metric, chosen), confidence=confidence)
    if metric.kind in ("gap", "lift"):
        return _contrast_of_means(metric, chosen, confidence)
    numerators, denominators = (_cluster_totals(name, chosen) for name in _term_names(metric))
    clusters = [cluster for cluster in numerators if denominators[cluster] or numerators[cluster]]
    ratio = clustered_ratio(
        [numerators[name] for name in clusters],
        [denominators[name] for name in clusters],
        seed=SEED,
        confidence=confidence,
    )
    if ratio.value is None and any(valid(cell.of(metric.of)) for cell in chosen):
        return replace(ratio, value=metric.if_nothing, reason="nothing to divide by")
    return _in_percent(ratio)


def figures_by_run(metric: Metric, cells: Sequence[Cell]) -> list[float | None]:
    """The figure of each run over all cases, None if it is not defined; empty if there is only one run."""
    chosen = metric.select(cells)
    names = [name for name in (metric.of, metric.per) if name is not None]
    count = max((len(cell.of(name)) for name in names for cell in chosen), default=0)
    if count < 2:
        return []
    if metric.per is None:
        return _means_by_run(metric, chosen)
    return [_figure(metric, [_cell_of_run(cell, names, run) for cell in chosen]) for run in range(count)]


def _means_by_run(metric: Metric, cells: Sequence[Cell]) -> list[float | None]:
    """For each run, the mean over strata of their means; for a rate, the mean over all cases."""
    strata: dict[str, list[Sequence[float | None]]] = {}
    for cell in cells:
        strata.setdefault("" if metric.kind == "rate" else cell.stratum, []).append(cell.of(metric.of))
    centres = [[mean(valid(run)) for run in zip_longest(*columns)] for columns in strata.values()]
    figures = (mean(valid(run)) for run in zip_longest(*centres))
    return [None if figure is None else metric.percent_factor * figure for figure in figures]


def _cell_of_run(cell: Cell, names: Sequence[str], run: int) -> Cell:
    # Nothing reads labels here. `replace`, which would copy them, takes three times as long.
    values = {name: cell.of(name)[run : run + 1] for name in names}
    return Cell(id=cell.id, cluster=cell.cluster, stratum=cell.stratum, values=values)


def _figure(metric: Metric, cells: Sequence[Cell], *, is_pooled: bool = True) -> float | None:
    """The figure without an interval.

    In a pooled rate all runs have the same weight; in one that is not, all cases of a language have.
    """
    if metric.kind in ("ratio", "gap", "lift"):
        rows = [terms for cell in cells if (terms := _cell_terms(metric, cell)) != (None, None)]
        return _statistic_of(metric)([_columns(rows)] if rows else [])
    if metric.kind == "rate" and is_pooled:
        successes, total = _pooled_sums(metric, cells)
        value = successes / total if total else None
    else:
        value = clustered_mean(observations(metric, cells)).value
    return None if value is None else metric.percent_factor * value


def difference(
    metric: Metric, before: Sequence[Cell], after: Sequence[Cell], *, confidence: float = 0.95
) -> Difference:
    """After minus before on the cases that they share (`shared_cases`), with its interval, paired by cell."""
    both = shared_cases(metric, before, after)
    change = replace(_difference(metric, both, confidence), unpaired=both.unpaired)
    return replace(_without_interval(metric, change), p=None) if metric.no_interval else change


def _difference(metric: Metric, both: SharedCases, confidence: float) -> Difference:
    if metric.kind in ("ratio", "gap", "lift"):
        return _resampled_difference(metric, both, confidence)
    older, newer = (observations(metric, cells) for cells in (both.before, both.after))
    if metric.kind == "count":
        return paired_difference(older, newer, confidence=confidence)
    if metric.kind in ("mean", "balance"):
        widest = 100.0 - _lowest_mean(metric)
        return clip(paired_difference(older, newer, confidence=confidence), -widest, widest)
    return _in_percent(paired_rate_difference(older, newer, confidence=confidence))


def compared_figures(
    metric: Metric, before: Sequence[Cell], after: Sequence[Cell]
) -> tuple[float | None, float | None]:
    """The earlier and the later figure whose difference is `difference`, on the cases that they share.

    In a rate, all cases of a language have the same weight, however many runs they have.
    """
    both = shared_cases(metric, before, after)
    older, newer = (_figure(metric, cells, is_pooled=False) for cells in (both.before, both.after))
    return older, newer


def observations(metric: Metric, cells: Sequence[Cell]) -> list[Observation]:
    """Each cell's mean over its valid runs; cells without any are left out."""
    means = ((cell, mean(valid(cell.of(metric.of)))) for cell in cells)
    return [
        Observation(cluster=cell.cluster, stratum=cell.stratum, value=value)
        for cell, value in means
        if value is not None
    ]


def valid(values: Sequence[float | None]) -> list[float]:
    """The values that are not None."""
    return [value for value in values if value is not None]


def _pooled_rate(metric: Metric, cells: Sequence[Cell], confidence: float) -> Estimate:
    clusters: dict[str, list[Cell]] = {}
    for cell in cells:
        clusters.setdefault(cell.cluster, []).append(cell)
    pooled = [_pooled_sums(metric, members) for members in clusters.values()]
    successes, totals = [part for part, _ in pooled], [total for _, total in pooled]
    return clustered_rate(successes, totals, confidence=confidence)


def _pooled_sums(metric: Metric, cells: Sequence[Cell]) -> tuple[float, float]:
    """The numerator of a rate, and its denominator: the number of runs, weighted if there is a `per`."""
    if metric.per is None:
        values = [value for cell in cells for value in valid(cell.of(metric.of))]
        return math.fsum(values), len(values)
    runs = [run for cell in cells for run in metric.weighted_runs(cell)]
    return math.fsum(value * share for value, share in runs), math.fsum(share for _, share in runs)


def _cluster_totals(name: str, cells: Sequence[Cell]) -> dict[str, float]:
    """The sum of the value `name` over all runs, by cluster."""
    sums: dict[str, float] = {}
    for cell in cells:
        sums[cell.cluster] = sums.get(cell.cluster, 0.0) + math.fsum(valid(cell.of(name)))
    return sums


CellTerms = tuple[float | None, float | None]
"""One cell's figures for a metric's `of` and `per`: sums over its runs for a ratio, else means."""


def _contrast_of_means(metric: Metric, cells: Sequence[Cell], confidence: float) -> Estimate:
    """A gap or a lift, with an interval by resampling clusters."""
    clusters: dict[str, list[CellTerms]] = {}
    for cell in cells:
        terms = _cell_terms(metric, cell)
        if terms != (None, None):
            clusters.setdefault(cell.cluster, []).append(terms)
    # Each cluster is one row of `bootstrap`.
    columns = [[_columns(terms)] for terms in clusters.values()]
    return bootstrap(columns, _statistic_of(metric), seed=SEED, confidence=confidence)


def _cell_terms(metric: Metric, cell: Cell) -> CellTerms:
    above, below = (valid(cell.of(name)) for name in _term_names(metric))
    if metric.kind == "ratio" and (above or below):
        return math.fsum(above), math.fsum(below)
    return mean(above), mean(below)


Columns = tuple[Sequence[float], Sequence[float]]
"""The figures of a cluster's cells for `of`, and those for `per`, each without missing ones."""


def _columns(cells: Sequence[CellTerms]) -> Columns:
    return valid([of for of, _ in cells]), valid([per for _, per in cells])


def _statistic_of(metric: Metric) -> Callable[[Sequence[Columns]], float | None]:
    """The function that computes a ratio, gap or lift from clusters."""

    def value_of(clusters: Sequence[Columns]) -> float | None:
        above, below = ([*chain.from_iterable(map(itemgetter(term), clusters))] for term in (0, 1))
        if metric.kind == "ratio":
            if not any(below):
                return metric.if_nothing if clusters else None
            return 100 * math.fsum(above) / math.fsum(below)
        first, second = mean(above), mean(below)
        if first is None or second is None:
            return None
        if metric.kind == "gap":
            return first - second
        # A lift over a mean of 0 is not defined.
        return 100 * (first - second) / second if second else None

    return value_of


def _resampled_difference(metric: Metric, both: SharedCases, confidence: float) -> Difference:
    """The difference of ratios, gaps or lifts, by resampling clusters with their cells of both results.

    It has no p.
    """
    clusters: dict[str, tuple[list[CellTerms], list[CellTerms]]] = {}
    for older, newer in zip(both.before, both.after, strict=True):
        before, after = clusters.setdefault(newer.cluster, ([], []))
        before.append(_cell_terms(metric, older))
        after.append(_cell_terms(metric, newer))
    statistic = _statistic_of(metric)

    def change(drawn: Sequence[tuple[Columns, Columns]]) -> float | None:
        was, now = (statistic([*map(itemgetter(result), drawn)]) for result in (0, 1))
        return None if was is None or now is None else now - was

    pairs = [[(_columns(before), _columns(after))] for before, after in clusters.values()]
    estimate = bootstrap(pairs, change, seed=SEED, confidence=confidence)
    return Difference(**asdict(estimate), p=None, unpaired=both.unpaired)


def clip(estimate: EstimateOrDifference, least: float, most: float) -> EstimateOrDifference:
    """Clip an interval to the range of possible values, which it exceeds with few questions."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


def _lowest_mean(metric: Metric) -> float:
    """The lowest possible value of a mean; the highest is 100."""
    return -100.0 if metric.kind == "balance" else 0.0


def _term_names(metric: Metric) -> tuple[str, str]:
    assert metric.per is not None, f"{metric.name}: a {metric.kind} needs a `per`"
    return metric.of, metric.per


def _in_percent(estimate: EstimateOrDifference) -> EstimateOrDifference:
    """Convert the estimate of a share in 0..1 to percent."""
    value, se, low, high = (
        None if share is None else 100 * share
        for share in (estimate.value, estimate.se, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, se=se, low=low, high=high)
