"""Sends a text to the judges, and reads their scores from a run's details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.records import Verdict
from equipoise.core.types import JSON, Reply
from equipoise.judge.judge import Panel
from equipoise.models.model import together
from equipoise.stats import mean, valid
from equipoise.suites.politicsbench import scoring
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import WEIGHTS

TextVerdicts = tuple[tuple[Verdict, ...], tuple[Verdict, ...]]
"""The verdicts of every judge on one text: on its dimensions, and on its commitment."""


def has_text(reply: Reply) -> bool:
    """Whether the reply can be judged: it has text and is not blocked."""
    return not reply.blocked and bool(reply.text.strip())


async def judge(reply: Reply, situation: str, rubric: PoliticsRubric, panel: Panel) -> TextVerdicts:
    """Every judge's verdicts on a reply; both are empty if it has no text. Raises CallFailed."""
    if not has_text(reply):
        return (), ()
    material = {"question": situation, "reply": reply.text}
    dimensions, commitment = await together(
        panel.judge(rubric.dimensions, **material), panel.judge(rubric.commitment, **material)
    )
    return dimensions, commitment


def text_details(
    reply: Reply | None, dimensions: Sequence[Verdict], commitment: Sequence[Verdict]
) -> dict[str, JSON]:
    """The details of one text: its composite, the reason if there is none, and each judge's scores."""
    scores = scoring.mean_scores(
        {name: item.fields[name] for name in WEIGHTS} for item in dimensions if item.fields is not None
    )
    return {
        "composite": None if scores is None else scoring.composite(scores),
        "missing": _why_missing(reply, dimensions) if scores is None else None,
        "judges": [_judge_details(*verdicts) for verdicts in zip(dimensions, commitment, strict=True)],
    }


def _why_missing(reply: Reply | None, dimensions: Sequence[Verdict]) -> str:
    """The reason why a text has no composite."""
    if reply is None:
        return "the conversation had ended before"
    if reply.blocked:
        return f"the provider blocked the reply ({reply.blocked})"
    if not dimensions:
        return "the reply is empty"
    return "; ".join(f"{item.evaluator}: {item.error}" for item in dimensions)


def _judge_details(dimensions: Verdict, commitment: Verdict) -> dict[str, JSON]:
    """The scores of one judge, or the errors of its verdicts."""
    fields = dimensions.fields
    return {
        "evaluator": dimensions.evaluator,
        "dimensions": None if fields is None else {name: fields[name] for name in WEIGHTS},
        "reasoning": None if fields is None else fields["reasoning"],
        "commitment": None if commitment.fields is None else commitment.fields["commitment"],
        **({"error": dimensions.error} if dimensions.error else {}),
        **({"commitment_error": commitment.error} if commitment.error else {}),
    }


# Reading details.


def scores_at(details: Mapping[str, JSON], point: str, without: str | None = None) -> dict[str, float] | None:
    """The judges' mean dimensions of a run's text at a point; `without` leaves a judge out."""
    dimensions = [item["dimensions"] for item in _judges_at(details, point, without)]
    return scoring.mean_scores(scores for scores in dimensions if scores is not None)


def commitment_at(details: Mapping[str, JSON], point: str, without: str | None) -> float | None:
    """The judges' mean commitment of a run's text at a point; `without` leaves a judge out."""
    commitments = [item["commitment"] for item in _judges_at(details, point, without)]
    return mean(valid(commitments))


def _judges_at(details: Mapping[str, JSON], point: str, without: str | None) -> list[Mapping[str, JSON]]:
    """The details of each judge of a text; empty if the run failed or the text is missing."""
    judges = details.get("points", {}).get(point, {}).get("judges", [])
    return [item for item in judges if item["evaluator"] != without]
