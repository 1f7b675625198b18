"""The statistical part of a summary, which all suites share.

Imported only for aggregation, because it loads numpy and scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import msgspec
from msgspec import Struct, structs

from equipoise.core.figures import Change, Estimate, Figure, Interval, StudyDesign
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results.document import (
    AlphaFigure,
    InterimLook,
    LanguageConsistency,
    PairKappa,
    PanelFigures,
)
from equipoise.results.kinds import require_possible_cells
from equipoise.results.lines import LookLine
from equipoise.stats import fixed, mean, population_sd, valid
from equipoise.stats.agreement import krippendorff_alpha, leans, weighted_kappa
from equipoise.stats.consistency import consistency, largest_gaps
from equipoise.stats.metrics import clip, figures_by_run, measure, run_parts
from equipoise.stats.variance import (
    ScoreKey,
    advice,
    estimate_components,
    predict_se,
    sentence,
    smallest_difference,
)
from equipoise.suites import AnySuite

LARGEST_GAPS = 10
"""Number of questions that are listed as those on which languages differ most."""
ASSUMPTIONS: Mapping[str, float] = {"shared": 0.5, "power": 0.8, "alpha": 0.05}
"""Assumptions of the smallest difference: share of the variance in common, power and error of the test."""
MOST_HEADLINES = 30
"""Maximum number of metrics that the summary has for the panel without one of its evaluators."""
DECIMALS = 6
"""The decimal places of figures."""
REPEATED_LOOKS = (
    "repeated confidence intervals (Jennison and Turnbull 1989) over the planned number of looks, with "
    "O'Brien and Fleming's spending of the error (Lan and DeMets 1983)"
)


RowsWithout = Callable[[str], Sequence[RunRow]]
"""Returns the rows as they would be if the evaluator of this name had not been in the panel."""


def summarise(
    suite: AnySuite, cells: Sequence[Cell], scale: Scale, rows_without: RowsWithout | None = None
) -> dict[str, JSON]:
    """Metrics with intervals, variance components, consistency over languages, and agreement of the panel.

    The part on the panel needs `rows_without`. Raises UserError for values that readers will refuse.
    """
    metrics = suite.metrics(cells)
    require_possible_cells(suite, cells, metrics)
    figures: dict[str, JSON] = {
        "metrics": {
            metric.name: figure(metric, cells, suite.about.clusters, **_run_figures(metric, cells))
            for metric in metrics
        },
        "variance": _with_stratum_name(_variance_json(suite, cells, scale), _stratum_name(cells)),
        "consistency": _consistency(metrics[0], cells),
    }
    names = list(dict.fromkeys(name for cell in cells for name in cell.verdicts))
    if rows_without and len(names) > 1:
        figures["panel"] = _panel(suite, cells, scale, names, rows_without)
    summary: dict[str, JSON] = with_cluster_names(to_plain_json(figures), suite.about.clusters)
    return summary


def figure(metric: Metric, cells: Sequence[Cell], clusters: str, **by_run: JSON) -> Figure:
    """The figure of a metric. `clusters` is the plural word for them, `by_run` the figures of each run."""
    data = {
        **structs.asdict(measure(metric, cells)),
        "unit": metric.unit,
        "kind": metric.kind,
        "higher_is_better": metric.higher_is_better,
        "clusters": clusters,
        "confidence": 0.95,
        "caution": metric.caution or None,
        "these": structs.asdict(fixed.estimate(metric, cells)),
        **({"smallest_difference": smallest_of_contrast(metric, cells)} if metric.kind == "contrast" else {}),
        **by_run,
    }
    return msgspec.convert(with_cluster_names(to_plain_json(data), clusters), Figure)


def with_cluster_names(data: Any, clusters: str) -> Any:
    """A copy of the data whose reasons use the suite's word for clusters in place of `questions`."""
    if isinstance(data, Mapping):
        return {
            name: reword_reason(value, clusters) if name == "reason" else with_cluster_names(value, clusters)
            for name, value in data.items()
        }
    if _is_exact(data):
        return structs.replace(data, **with_cluster_names(structs.asdict(data), clusters))
    return [with_cluster_names(value, clusters) for value in data] if isinstance(data, list) else data


def reword_reason(reason: str | None, clusters: str) -> str | None:
    """A reason with `clusters`, the suite's plural word, in place of `questions`."""
    if reason is None or clusters == "questions":
        return reason
    return f"fewer than 2 {clusters}" if reason == "1 question" else reason.replace("questions", clusters)


def _run_figures(metric: Metric, cells: Sequence[Cell]) -> dict[str, JSON]:
    """The figure in each round of runs, and their mean and population SD; empty with a single round."""
    figures = figures_by_run(metric, cells)
    if not figures:
        return {}
    values = valid(figures)
    return {"by_run": figures, "run_mean": mean(values), "run_sd": population_sd(values)}


def to_plain_json(data: Any) -> Any:
    """The data as JSON, with figures rounded to DECIMALS places."""
    if isinstance(data, float):
        # Without + 0.0, what rounding keeps from 0 would be shown as -0.0.
        return round(data, DECIMALS) + 0.0
    if _is_exact(data):
        return structs.replace(data, **to_plain_json(structs.asdict(data)))
    if isinstance(data, Mapping):
        return {name: to_plain_json(value) for name, value in data.items()}
    return [to_plain_json(value) for value in data] if isinstance(data, list | tuple) else data


def _is_exact(data: Any) -> bool:
    """Whether these are figures as statistics gave them; Figure and Change are rounded when they are made."""
    return isinstance(data, Struct) and not isinstance(data, Figure | Change)


def apply_looks(metrics: Mapping[str, Figure], looks: Sequence[LookLine], **saved: int) -> dict[str, JSON]:
    """The part `until` of a summary, and the metrics.

    The metric of the rule gets an interval that is corrected for the interim `looks`, which are in order;
    looks at a gate change no metric. `saved` has `runs_planned`, the maximum number of rounds, and the
    numbers of runs and calls that were not needed.
    """
    last = looks[-1]
    until = {
        "rule": last.rule,
        "metric": last.metric,
        "scope": last.scope,
        "is_reached": last.is_enough,
        "runs": last.round,
        **saved,
        "method": REPEATED_LOOKS,
        "looks": msgspec.convert(msgspec.to_builtins(looks), list[InterimLook]),
    }
    return {"until": until, "metrics": {**metrics, **_metric_at_look(last, metrics)}}


def _metric_at_look(look: LookLine, metrics: Mapping[str, Figure]) -> dict[str, Figure]:
    """The metric of a look, with its value and interval at the look, before any later round."""
    # Results lack a metric for which no run has a value.
    if (name := look.metric) is None or name not in metrics:
        return {}
    adjusted: dict[str, JSON] = {key: getattr(look, key) for key in ("se", "low", "high", "n", "reason")}
    figure = structs.replace(metrics[name], value=look.value)
    adjusted["reason"] = reword_reason(adjusted["reason"], figure.clusters)
    if look.scope == "these":
        return {name: structs.replace(figure, these=Interval(**adjusted))}
    return {name: structs.replace(figure, **adjusted)}


# Variance components.


def _variance_json(suite: AnySuite, cells: Sequence[Cell], scale: Scale) -> dict[str, JSON]:
    scores: ScoresByCell = {
        (cell.cluster, cell.stratum, run, evaluator): score
        for cell in cells
        for evaluator, verdicts in cell.verdicts.items()
        for run, score in enumerate(verdicts)
        if score is not None
    }
    components = estimate_components(scores)
    figures: dict[str, JSON] = {
        **asdict(components),
        "share": dict(components.share),
        "unit": "squared points",
    }
    if components.reason:
        return figures
    design = _design_of(scores)
    headline = suite.metrics(cells)[0]
    # With one question there is no interval to narrow.
    advised = advice(components, design) if design.questions > 1 else None
    return {
        **figures,
        "design": design,
        "predicted_se": predict_se(components, **structs.asdict(design)),
        "narrowing": dict(advised.narrowing) if advised else {},
        "advice": sentence(advised, suite.about.clusters) if advised else None,
        "smallest_difference": _smallest_difference(suite, headline, cells, scores, scale),
        "smallest_difference_unit": "percentage points" if headline.unit == "%" else headline.unit,
        "smallest_difference_assumes": ASSUMPTIONS,
    }


ScoresByCell = Mapping[ScoreKey, float]


def _design_of(scores: ScoresByCell) -> StudyDesign:
    return StudyDesign(
        questions=len({question for question, *_ in scores}),
        languages=len({language for _, language, *_ in scores}),
        runs=max(run for _, _, run, _ in scores) + 1,
        evaluators=len({evaluator for *_, evaluator in scores}),
    )


def _smallest_difference(
    suite: AnySuite, headline: Metric, cells: Sequence[Cell], scores: ScoresByCell, scale: Scale
) -> float | None:
    """The smallest difference of two models that can be shown, in the headline's unit; None if none can.

    The variance is that of the verdicts' `scores`, or of the headline's own parts if it is not their mean.
    """
    is_mean = headline.kind == "mean" and suite.judging.has_means
    parts = scores if is_mean else {(*run, ""): value for run, value in run_parts(headline, cells).items()}
    smallest = _smallest_of_parts(parts)
    factor = 100 / (scale.high - scale.low) if is_mean else 1.0
    least, most = fixed.bounds_of(headline, 0.0) or (0.0, math.inf)
    return factor * smallest if smallest and factor * smallest < most - least else None


def smallest_of_contrast(metric: Metric, cells: Sequence[Cell]) -> float | None:
    """The smallest difference of two models in a contrast that can be shown, in its unit; None if none can.

    The two groups' means are independent, so the squares of their smallest differences add up.
    """
    first, second = (
        _smallest_of_parts({(*run, ""): value for run, value in run_parts(group, cells).items()})
        for labels in (metric.where, metric.minus)
        for group in [Metric(name=metric.name, of=metric.of, where=labels)]
    )
    return None if first is None or second is None else math.hypot(first, second) or None


def _smallest_of_parts(parts: ScoresByCell) -> float | None:
    """The smallest difference of two models in the mean of these parts; None without variance components."""
    components = estimate_components(parts)
    return smallest_difference(components, _design_of(parts), **ASSUMPTIONS) if components.variance else None


def _stratum_name(cells: Sequence[Cell]) -> str:
    """The name of the level between a question and its runs: `language`, or `stratum` if that is finer."""
    return "language" if all(cell.stratum == _language(cell) for cell in cells) else "stratum"


def _with_stratum_name(variance: dict[str, JSON], stratum: str) -> dict[str, JSON]:
    """The part on variance with its component `language` renamed to `stratum`."""

    def rename(component: JSON) -> JSON:
        return stratum if component == "language" else component

    return {
        **variance,
        "variance": {rename(key): value for key, value in variance["variance"].items()},
        "share": {rename(key): value for key, value in variance["share"].items()},
        "negative": [rename(key) for key in variance["negative"]],
        "merged": {rename(key): rename(value) for key, value in variance["merged"].items()},
    }


# Consistency over languages.


def _consistency(metric: Metric, cells: Sequence[Cell]) -> LanguageConsistency | None:
    """Consistency over languages; None with fewer than two, or for a ratio, which single runs do not have."""
    chosen = metric.select(cells)
    scores: dict[str, dict[str, list[float]]] = {}
    for cell in chosen:
        runs = [metric.percent_factor * value for value in valid(cell.of(metric.of))]
        scores.setdefault(cell.cluster, {}).setdefault(_language(cell), []).extend(runs)
    if metric.kind == "ratio" or len({_language(cell) for cell in chosen}) < 2:
        return None
    result = consistency(scores)
    lowest, highest = metric.bounds
    largest_possible = metric.percent_factor * (highest - lowest)
    return {
        "unit": "percentage points" if metric.unit == "%" else metric.unit,
        "mean_spread": result.spread,
        "pairs": [clip(pair, -largest_possible, largest_possible) for pair in result.pairs],
        "largest_gaps": largest_gaps(result, LARGEST_GAPS),
        "questions": {gap.question: {"spread": gap.spread, "sd": gap.sd} for gap in result.gaps},
    }


def _language(cell: Cell) -> str:
    return cell.labels.get("language", cell.stratum)


# Panels.


def _panel(
    suite: AnySuite, cells: Sequence[Cell], scale: Scale, names: Sequence[str], rows_without: RowsWithout
) -> PanelFigures:
    ratings = {name: _ratings(cells, name) for name in names}
    cluster_of_cell = {cell.id: cell.cluster for cell in cells}
    cluster_of = {unit: cluster_of_cell[unit[0]] for verdicts in ratings.values() for unit in verdicts}
    levels = [float(level) for level in range(scale.low, scale.high + 1)]
    alpha = krippendorff_alpha(ratings, levels, cluster_of=cluster_of)
    kappas = [
        PairKappa(
            first=first,
            second=second,
            **structs.asdict(weighted_kappa(ratings[first], ratings[second], levels, cluster_of=cluster_of)),
        )
        for first, second in combinations(names, 2)
    ]
    return {
        "evaluators": leans(ratings, cluster_of),
        "alpha": AlphaFigure(metric="ordinal", **structs.asdict(alpha)),
        "kappas": kappas,
        "by_language": {name: _means_by_language(cells, name) for name in names},
        "without": {name: _headlines(suite, rows_without(name)) for name in names},
    }


def _ratings(cells: Sequence[Cell], evaluator: str) -> dict[tuple[str, int], float]:
    """The scores of an evaluator's verdicts by cell and run."""
    return {
        (cell.id, run): score
        for cell in cells
        for run, score in enumerate(cell.verdicts.get(evaluator, ()))
        if score is not None
    }


def _means_by_language(cells: Sequence[Cell], evaluator: str) -> dict[str, float | None]:
    """The mean over questions of this evaluator's mean, in points, by language."""
    means: dict[str, list[float]] = {}
    for cell in cells:
        question_mean = mean(valid(cell.verdicts.get(evaluator, ())))
        if question_mean is not None:
            means.setdefault(_language(cell), []).append(question_mean)
    return {language: mean(values) for language, values in means.items()}


def _headlines(suite: AnySuite, rows: Sequence[RunRow]) -> dict[str, Estimate]:
    """The estimates of the headline and of other metrics of its kind, MOST_HEADLINES in all."""
    cells = suite.combine(rows)
    metrics = suite.metrics(cells)
    headlines = [metric for metric in metrics if metric.kind == metrics[0].kind][:MOST_HEADLINES]
    return {metric.name: measure(metric, cells) for metric in headlines}
