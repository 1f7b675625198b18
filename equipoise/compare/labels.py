"""People's labels in results: the figures that they correct, and the change of one between two results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from equipoise.compare.baseline import Side
from equipoise.core.errors import UserError
from equipoise.core.records import Metric
from equipoise.core.rules import Rule, Scope
from equipoise.core.types import JSON
from equipoise.results.summary import plain
from equipoise.stats.labelled import LabelledRuns, difference, estimate, figure
from equipoise.stats.paired import Difference

_BELONGS = {
    "verdicts_sha256": "belong to other verdicts",
    "rubric_hash": "were made for another rubric",
    "evaluator_models": "were drawn when another judge had scored the replies",
}
"""What labels and results must have in common, and what they are if they do not."""


def identity(metadata: Mapping[str, JSON]) -> dict[str, JSON]:
    """What results must still say for these labels to be of them."""
    return {name: metadata.get(name) for name in _BELONGS}


def labelled(side: Side, section: Mapping[str, JSON]) -> LabelledRuns:
    """The labels of a section, as values of single runs."""
    suite, scale = side.suite, side.scale
    return LabelledRuns(
        people=section["people"],
        values={
            (row["cell"], row["place"]): {
                person: suite.labelled(score, scale) for person, score in row["scores"].items()
            }
            for row in section["labels"]
        },
        probability=section["draw"]["probability"],
        left_out=frozenset((row["cell"], row["place"]) for row in section["left_out"]),
    )


def figures(side: Side, section: Mapping[str, JSON]) -> dict[str, JSON]:
    """By metric, the judge's figure and the corrected one in both scopes, for all that labels bear on."""
    runs, judged = labelled(side, section), side.data.get("summary", {}).get("metrics", {})
    found: dict[str, JSON] = {}
    for metric in side.metrics.values():
        if runs.corrects(metric) and (item := figure(metric, side.cells, runs)):
            scopes = {
                "these": estimate(metric, item, "these"),
                "population": estimate(metric, item, "population"),
            }
            found[metric.name] = plain(
                {
                    "judge": item.judge,
                    "value": item.value,
                    "unit": metric.unit,
                    "weight": item.weight,
                    "labels": item.labels,
                    **{scope: _limits(asdict(limits)) for scope, limits in scopes.items()},
                    "is_larger": _is_larger(item.value, judged.get(metric.name)),
                }
            )
    return found


def _limits(found: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: found[name] for name in ("se", "low", "high", "n", "reason")}


def _is_larger(value: float, judged: Mapping[str, JSON] | None) -> bool:
    """Whether the judge's own interval leaves out what people say."""
    if judged is None or judged.get("low") is None:
        return False
    return not judged["low"] <= value <= judged["high"]


# Rules about two results.


def refuse(rule: Rule, side: Side, metrics: Mapping[str, Metric]) -> None:
    """Raise UserError where the labels of these results cannot decide a rule."""
    section = side.data.get("people")
    if not section:
        hint = "pooled results keep no labels" if " + " in side.file else _HOW
        raise UserError(f"{rule}: {side.file}: has no labels of people; {hint}")
    if not section.get("labels"):
        why = section.get("not_corrected") or "they are of an earlier version, which kept no labels"
        raise UserError(f"{rule}: {side.file}: its labels decide nothing: {why}; {_HOW}")
    for name, problem in _BELONGS.items():
        if section["draw"][name] != side.metadata.get(name):
            raise UserError(f"{rule}: {side.file}: its labels {problem}; {_HOW}")
    if rule.name in metrics and not labelled(side, section).corrects(metrics[rule.name]):
        raise UserError(f"{rule}: labels say nothing of {rule.name}: people give a score, and no more")


_HOW = "draw a sheet with `equipoise review sample`, and read it with `equipoise review agree`"


def refuse_others(rule: Rule, before: Side, after: Side) -> None:
    """Raise UserError where the two were labelled by different people: their strictness would decide."""
    people = [sorted(side.data["people"]["people"]) for side in (before, after)]
    if people[0] != people[1]:
        named = " and ".join(", ".join(names) for names in people)
        raise UserError(f"{rule}: different people labelled the two ({named}): have the same label both")


def change(
    metric: Metric, before: Side, after: Side, confidence: Mapping[Scope, float]
) -> tuple[float, float, dict[Scope, Difference]] | None:
    """Both figures as people would have them, and their difference by scope; None with too few labels."""
    names = list(dict.fromkeys([*before.data["people"]["people"], *after.data["people"]["people"]]))
    was, now = (
        (side.cells, labelled(side, {**side.data["people"], "people": names})) for side in (before, after)
    )
    found = difference(metric, was, now, confidence=confidence)
    return None if found is None else (found[0].value, found[1].value, found[2])
