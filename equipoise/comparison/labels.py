"""Figures of results, and changes of figures, after correction by people's labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypedDict, get_args

import msgspec
from msgspec import structs

from equipoise.core.errors import UserError
from equipoise.core.figures import Difference, Estimate, Figure
from equipoise.core.records import Cell, Label, Metric
from equipoise.core.rows import Values
from equipoise.core.rules import Rule, Scope
from equipoise.judge.rubric import read_lean
from equipoise.results.document import CorrectedFigure, LabelledRun, Metadata, PeopleScores
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json
from equipoise.stats.corrected import CorrectedEstimate
from equipoise.stats.labelled import LabelledRuns, difference, estimate, figures
from equipoise.stats.metrics import measure

_MUST_MATCH: Mapping[Literal["verdicts_sha256", "rubric_hash", "evaluator_models"], str] = {
    "verdicts_sha256": "belong to other verdicts",
    "rubric_hash": "were made for another rubric",
    "evaluator_models": "were drawn when another judge had scored the replies",
}
"""Metadata keys in which labels and results must agree, each with the message if they do not."""
ANSWERED, REFUSED = OUTCOMES = ("answered", "refused")
"""The outcomes of a reply that people can choose."""


class Identity(TypedDict):
    """The metadata that tell whether labels belong to results."""

    verdicts_sha256: str | None
    rubric_hash: str | None
    evaluator_models: list[str]


def identity(metadata: Metadata) -> Identity:
    """The identity of these results."""
    return {
        "verdicts_sha256": metadata.get("verdicts_sha256"),
        "rubric_hash": metadata.get("rubric_hash"),
        "evaluator_models": metadata["evaluator_models"],
    }


def labelled_runs(side: Results, section: PeopleScores) -> LabelledRuns:
    """The labels in a section `people` of the results JSON, as values of single runs."""
    cells = {cell.id: cell for cell in side.cells}
    return LabelledRuns(
        people=section["people"],
        values={
            (row["cell"], row["place"]): _values_by_person(side, cells[row["cell"]], row)
            for row in section["labels"]
        },
        probability=section["draw"]["probability"],
        left_out=frozenset((cell, index) for cell, index in section["left_out"]),
    )


def _values_by_person(side: Results, cell: Cell, row: LabelledRun) -> dict[str, Values]:
    """The values, by person, that the run would have if the evaluators had judged as this person did.

    `row` has the labels of one run; its key `place` is the index of the run in the cell.
    """
    judged = {name: values[row["place"]] for name, values in cell.values.items()}
    people = {**row["scores"], **row.get("outcomes", {}), **row.get("leans", {})}
    return {person: side.suite.judging.labelled(_label(row, person), judged, side.scale) for person in people}


def _label(row: LabelledRun, person: str) -> Label:
    outcome, lean = row.get("outcomes", {}).get(person), row.get("leans", {}).get(person)
    refused = None if outcome is None else outcome == REFUSED
    return Label(score=row["scores"].get(person), refused=refused, lean=read_lean({"lean": lean}))


def corrected_figures(side: Results, section: PeopleScores) -> dict[str, CorrectedFigure]:
    """The judge's figure and the corrected figure in both scopes, for each metric that labels can correct.

    The judge is the panel of evaluators.
    """
    metrics, judged = metrics_of(side), side.summary.get("metrics", {})
    corrected = figures([*metrics.values()], side.cells, labelled_runs(side, section))
    return {
        name: _figure(metrics[name], figure, judged.get(name) or measure(metrics[name], side.cells))
        for name, figure in corrected.items()
    }


def _figure(metric: Metric, figure: CorrectedEstimate, judged: Figure | Estimate) -> CorrectedFigure:
    """The entry of one metric. `judged` is the judge's figure with its interval."""
    scopes = {scope: estimate(metric, figure, scope) for scope in get_args(Scope)}
    data = to_plain_json(
        {
            "judge": figure.judge,
            "value": scopes["these"].value,
            "unit": metric.unit,
            "weight": figure.weight,
            "labels": figure.labels,
            **{scope: structs.asdict(limits) for scope, limits in scopes.items()},
            "is_larger": _is_beyond_interval(figure.value, judged),
        }
    )
    return msgspec.convert(data, CorrectedFigure)


def metrics_of(side: Results) -> dict[str, Metric]:
    """The metrics of these results by name, with more breakdowns than the suite has.

    A rate or balance that the suite does not break down gets the breakdown of the headline: if `overall` has
    a part `en-US`, `refused` gets a part `refused.en-US`.
    """
    own_metrics = side.definitions
    headline, *others = own_metrics.values()
    headline_parts = [metric for metric in others if metric.where and metric.of == headline.of]
    broken_down = {metric.of for metric in own_metrics.values() if metric.where}
    metrics: dict[str, Metric] = {}
    for metric in own_metrics.values():
        metrics[metric.name] = metric
        if metric.kind in ("rate", "balance") and metric.of not in broken_down:
            metrics |= {part.name: part for part in _parts_like(headline_parts, metric, headline)}
    return metrics


def _parts_like(headline_parts: Sequence[Metric], metric: Metric, headline: Metric) -> Iterator[Metric]:
    for part in headline_parts:
        name = part.name.removeprefix(f"{headline.name}.")
        yield replace(metric, name=f"{metric.name}.{name}", where=part.where)


def _is_beyond_interval(value: float, judged: Figure | Estimate) -> bool:
    """Whether the corrected value lies outside the judge's own interval."""
    return judged.low is not None and judged.high is not None and not judged.low <= value <= judged.high


# Rules about two results.


def refuse_unusable(rule: Rule, side: Results, metrics: Mapping[str, Metric]) -> None:
    """Raise UserError unless the labels of these results can decide a rule."""
    section = side.people
    if not section:
        # The `file` of pooled results is "a.json + b.json".
        hint = "pooled results keep no labels" if " + " in side.file else _HOW_TO_LABEL
        raise UserError(f"{rule}: {side.file}: has no labels of people; {hint}")
    if not section.get("labels"):
        why = section["not_corrected"]
        raise UserError(f"{rule}: {side.file}: its labels decide nothing: {why}; {_HOW_TO_LABEL}")
    expected = identity(side.metadata)
    for name, problem in _MUST_MATCH.items():
        if section["draw"][name] != expected[name]:
            raise UserError(f"{rule}: {side.file}: its labels {problem}; {_HOW_TO_LABEL}")
    if rule.name in metrics and not labelled_runs(side, section).corrects(metrics[rule.name]):
        raise UserError(
            f"{rule}: {side.file}: its labels say nothing of {rule.name}; "
            "`equipoise review sample --ask` chooses what people are asked"
        )


_HOW_TO_LABEL = "draw a sheet with `equipoise review sample`, and read it with `equipoise review agree`"


def refuse_different_people(rule: Rule, before: Results, after: Results) -> None:
    """Raise UserError if different people labelled the two results: their strictness would decide."""
    people = [sorted(_section(side)["people"]) for side in (before, after)]
    if people[0] != people[1]:
        names = " and ".join(", ".join(group) for group in people)
        raise UserError(
            f"{rule}: different people labelled the two ({names}): have the same people label both"
        )


def corrected_change(
    metric: Metric, before: Results, after: Results, confidence: Mapping[Scope, float]
) -> tuple[CorrectedEstimate, CorrectedEstimate, dict[Scope, Difference]] | None:
    """The corrected figures of the two results, and their difference by scope; None if labels are too few."""
    sections = _section(before), _section(after)
    # People have the same order in both results.
    people = list(dict.fromkeys(name for section in sections for name in section["people"]))
    was, now = (
        (side.cells, labelled_runs(side, {**section, "people": people}))
        for side, section in zip((before, after), sections, strict=True)
    )
    return difference(metric, was, now, confidence=confidence)


def _section(side: Results) -> PeopleScores:
    """The section `people`, for results that are known to have one."""
    assert side.people is not None
    return side.people
