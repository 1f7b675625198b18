"""Metrics computed from cells: figures with intervals, and differences between two results.

Figures are in percent, 0 to 100, and differences in percentage points; a `count` is in its own unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeVar

from msgspec import structs

from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell, Metric
from equipoise.stats import Observation, mean, valid
from equipoise.stats.contrast import as_balance
from equipoise.stats.intervals import (
    NOTHING_TO_DIVIDE_BY,
    bounded_mean,
    clustered_mean,
    clustered_rate,
    clustered_ratio,
)
from equipoise.stats.paired import (
    paired_difference,
    paired_rate_difference,
    paired_ratio_difference,
)
from equipoise.stats.shared import SharedCases, shared_cases

EstimateOrDifference = TypeVar("EstimateOrDifference", bound=Estimate | Difference)
QUOTIENTS = ("ratio", "gap", "lift")
"""The kinds whose figure is one sum over cells divided by another."""


def measure(metric: Metric, cells: Sequence[Cell], *, confidence: float = 0.95) -> Estimate:
    """The figure and its interval, clustered by question. The metric's kind decides the method."""
    return _without_interval(metric, _measure(metric, metric.select(cells), confidence))


def _without_interval(metric: Metric, estimate: EstimateOrDifference) -> EstimateOrDifference:
    """The estimate, without its interval if the metric has `no_interval`."""
    if not metric.no_interval:
        return estimate
    return structs.replace(estimate, se=None, low=None, high=None, reason=metric.no_interval)


def _measure(metric: Metric, chosen: Sequence[Cell], confidence: float) -> Estimate:
    if metric.kind == "contrast":
        return _measure(*as_balance(metric, chosen), confidence)
    if metric.kind in ("mean", "balance"):
        means = observations(metric, chosen)
        return bounded_mean(means, least=_lowest_mean(metric), most=100.0, confidence=confidence)
    if metric.kind == "rate":
        return _in_unit(metric, _pooled_rate(metric, chosen, confidence))
    if metric.kind == "count":
        return clustered_mean(observations(metric, chosen), confidence=confidence)
    totals = [*_cluster_totals(metric, chosen).values()]
    # Questions for which both terms of a ratio are 0 do not belong to it.
    pairs = [total for total in totals if metric.kind != "ratio" or any(total)]
    ratio = clustered_ratio(
        [above for above, _ in pairs], [below for _, below in pairs], confidence=confidence
    )
    if ratio.value is None and totals and metric.if_nothing is not None:
        return structs.replace(ratio, value=metric.if_nothing, reason=NOTHING_TO_DIVIDE_BY)
    return _in_unit(metric, ratio)


def figures_by_run(metric: Metric, cells: Sequence[Cell]) -> list[float | None]:
    """The figure of each run over all cases, None if undefined; empty if there is only one run."""
    chosen = metric.select(cells)
    names = [name for name in (metric.of, metric.per) if name is not None]
    count = max((len(cell.of(name)) for name in names for cell in chosen), default=0)
    if count < 2:
        return []
    if metric.kind == "contrast":
        return _contrasts_by_run(metric, chosen, count)
    if metric.per is None:
        return _means_by_run(metric, chosen)
    return [value_of(metric, [_cell_of_run(cell, names, run) for cell in chosen]) for run in range(count)]


def run_parts(metric: Metric, cells: Sequence[Cell]) -> dict[tuple[str, str, int], float]:
    """The part of each run in the figure, by cluster, stratum and run, in the metric's unit.

    It is the run's value. For a ratio, gap or lift it is the linearised value R + (a - R b) / mean(b), where
    R is the figure, and a and b are the run's terms. Not for a contrast, whose parts have both signs.
    """
    chosen, factor = metric.select(cells), unit_factor(metric)
    if metric.kind not in QUOTIENTS:
        return {
            (cell.cluster, cell.stratum, run): factor * value
            for cell in chosen
            for run, value in enumerate(cell.of(metric.of))
            if value is not None
        }
    names = [name for name in (metric.of, metric.per) if name is not None]
    runs = {
        (cell.cluster, cell.stratum, run): _cell_of_run(cell, names, run)
        for cell in chosen
        for run in range(max(len(cell.of(name)) for name in names))
    }
    terms = {key: pair for key, cell in runs.items() if (pair := terms_of(metric, cell)) is not None}
    above, below = (math.fsum(pair[term] for pair in terms.values()) for term in (0, 1))
    if not below:
        return {}
    ratio, average = above / below, below / len(terms)
    return {key: factor * (ratio + (a - ratio * b) / average) for key, (a, b) in terms.items()}


def _means_by_run(metric: Metric, cells: Sequence[Cell]) -> list[float | None]:
    """For each run, the mean over strata of their means; for a rate, the mean over all cases."""
    figures = (mean(valid(run)) for run in zip_longest(*_strata_by_run(metric, cells).values()))
    return [None if figure is None else metric.percent_factor * figure for figure in figures]


def _strata_by_run(metric: Metric, cells: Sequence[Cell]) -> dict[str, list[float | None]]:
    """The mean of each run in each stratum. All cases of a rate form one stratum."""
    strata: dict[str, list[Sequence[float | None]]] = {}
    for cell in cells:
        strata.setdefault("" if metric.kind == "rate" else cell.stratum, []).append(cell.of(metric.of))
    return {
        stratum: [mean(valid(run)) for run in zip_longest(*columns)] for stratum, columns in strata.items()
    }


def _contrasts_by_run(metric: Metric, cells: Sequence[Cell], count: int) -> list[float | None]:
    """For each of `count` runs, the mean difference of the two groups over the languages that have both."""
    first, second = (
        _strata_by_run(metric, [cell for cell in cells if labels.items() <= cell.labels.items()])
        for labels in (metric.where, metric.minus)
    )
    differences = [
        [None if above is None or below is None else above - below for above, below in pairs]
        for pairs in (zip_longest(first[stratum], second[stratum]) for stratum in first if stratum in second)
    ]
    return [mean(valid(run)) for run in zip_longest(*differences, [None] * count)]


def _cell_of_run(cell: Cell, names: Sequence[str], run: int) -> Cell:
    # `replace` takes three times as long.
    values = {name: cell.of(name)[run : run + 1] for name in names}
    return Cell(id=cell.id, cluster=cell.cluster, stratum=cell.stratum, labels=cell.labels, values=values)


def value_of(metric: Metric, cells: Sequence[Cell], *, is_pooled: bool = True) -> float | None:
    """The figure without an interval.

    In a pooled rate, all runs have the same weight; otherwise, all cases of a language have.
    """
    if metric.kind == "contrast":
        return value_of(*as_balance(metric, cells))
    if metric.kind in QUOTIENTS:
        return _quotient([*_cluster_totals(metric, cells).values()], metric)
    if metric.kind == "rate" and is_pooled:
        successes, total = _pooled_sums(metric, cells)
        value = successes / total if total else None
    else:
        value = clustered_mean(observations(metric, cells)).value
    return None if value is None else metric.percent_factor * value


def difference(
    metric: Metric, before: Sequence[Cell], after: Sequence[Cell], *, confidence: float = 0.95
) -> Difference:
    """After minus before on the cases of both (`shared_cases`), with its interval, paired by cell."""
    both = shared_cases(metric, before, after)
    change = structs.replace(_difference(metric, both, confidence), unpaired=both.unpaired)
    return structs.replace(_without_interval(metric, change), p=None) if metric.no_interval else change


def _difference(metric: Metric, both: SharedCases, confidence: float) -> Difference:
    if metric.kind == "contrast":
        (balance, before), (_, after) = (as_balance(metric, cells) for cells in (both.before, both.after))
        return _difference(balance, replace(both, before=before, after=after), confidence)
    if metric.kind in QUOTIENTS:
        return _quotient_difference(metric, both, confidence)
    older, newer = (observations(metric, cells) for cells in (both.before, both.after))
    if metric.kind == "count":
        return paired_difference(older, newer, confidence=confidence)
    if metric.kind in ("mean", "balance"):
        widest = 100.0 - _lowest_mean(metric)
        return clip(paired_difference(older, newer, confidence=confidence), -widest, widest)
    return _in_unit(metric, paired_rate_difference(older, newer, confidence=confidence))


def compared_figures(
    metric: Metric, before: Sequence[Cell], after: Sequence[Cell]
) -> tuple[float | None, float | None]:
    """The two figures whose difference is `difference`: the earlier and the later, on the cases of both.

    In a rate, all cases of a language have the same weight, however many runs they have.
    """
    both = shared_cases(metric, before, after)
    older, newer = (value_of(metric, cells, is_pooled=False) for cells in (both.before, both.after))
    return older, newer


def observations(metric: Metric, cells: Sequence[Cell]) -> list[Observation]:
    """Each cell's mean over its valid runs; cells without any are left out."""
    means = ((cell, mean(valid(cell.of(metric.of)))) for cell in cells)
    return [
        Observation(cluster=cell.cluster, stratum=cell.stratum, value=value)
        for cell, value in means
        if value is not None
    ]


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


Terms = tuple[float, float]
"""The numerator and the denominator of a metric of `QUOTIENTS`."""


def terms_of(metric: Metric, cell: Cell) -> Terms | None:
    """The terms of one cell, whose sums over cells make up the figure; None if the cell is not in it.

    For a ratio they are sums over runs. The denominator of a gap is the number of cells, that of a lift the
    mean of `per`. A cell counts in a gap or a lift if it has the means of both values.
    """
    assert metric.per is not None, f"{metric.name}: a {metric.kind} needs a `per`"
    above, below = (valid(cell.of(name)) for name in (metric.of, metric.per))
    if metric.kind == "ratio":
        return (math.fsum(above), math.fsum(below)) if above or below else None
    first, second = mean(above), mean(below)
    if first is None or second is None:
        return None
    return first - second, 1.0 if metric.kind == "gap" else second


def _cluster_totals(metric: Metric, cells: Sequence[Cell]) -> dict[str, Terms]:
    """The sums of the terms of each cluster's cells."""
    clusters: dict[str, list[Terms]] = {}
    for cell in cells:
        if (terms := terms_of(metric, cell)) is not None:
            clusters.setdefault(cell.cluster, []).append(terms)
    return {
        name: (math.fsum(above for above, _ in terms), math.fsum(below for _, below in terms))
        for name, terms in clusters.items()
    }


def _quotient(totals: Sequence[Terms], metric: Metric) -> float | None:
    """The figure from the totals of its clusters, without an interval."""
    below = math.fsum(total[1] for total in totals)
    if not below:
        return metric.if_nothing if totals else None
    return unit_factor(metric) * math.fsum(total[0] for total in totals) / below


def _quotient_difference(metric: Metric, both: SharedCases, confidence: float) -> Difference:
    older, newer = ([*_cluster_totals(metric, cells).values()] for cells in (both.before, both.after))
    change = _in_unit(metric, paired_ratio_difference(older, newer, confidence=confidence))
    was, now = _quotient(older, metric), _quotient(newer, metric)
    if change.value is not None or was is None or now is None:
        return change
    return structs.replace(change, value=now - was)


def clip(estimate: EstimateOrDifference, least: float, most: float) -> EstimateOrDifference:
    """Clip an interval to the range of possible values, which it may exceed if there are few questions."""
    if estimate.low is None or estimate.high is None:
        return estimate
    return structs.replace(estimate, low=max(estimate.low, least), high=min(estimate.high, most))


def _lowest_mean(metric: Metric) -> float:
    """The lowest possible value of a mean; the highest is 100."""
    return -100.0 if metric.kind == "balance" else 0.0


def unit_factor(metric: Metric) -> float:
    """The factor that converts a share, a ratio or a lift to percent; 1 for other kinds."""
    return 100.0 if metric.kind in ("rate", "ratio", "lift") else 1.0


def _in_unit(metric: Metric, estimate: EstimateOrDifference) -> EstimateOrDifference:
    """The estimate in the metric's unit."""
    factor = unit_factor(metric)
    value, se, low, high = (
        None if part is None else factor * part
        for part in (estimate.value, estimate.se, estimate.low, estimate.high)
    )
    return structs.replace(estimate, value=value, se=se, low=low, high=high)
