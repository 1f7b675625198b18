"""Reads anchors of the political dimensions: scenarios played to the left and to the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equipoise.audit.design import Design
from equipoise.audit.judged import COMMITMENT, COMPOSITE, LEFT, Check, Judged
from equipoise.core.errors import UserError
from equipoise.core.types import Reply
from equipoise.judge.anchors import Anchor, Anchors
from equipoise.judge.judge import Evaluator, Panel
from equipoise.suites.anchor_files import blaming, digest, read_for
from equipoise.suites.politicsbench.judging import judge as judge_text
from equipoise.suites.politicsbench.judging import point
from equipoise.suites.politicsbench.prompts import PoliticsRubric

FILE = "conversations.toml"
DESIGNS: Mapping[str, Design] = {"quick": Design(name="quick"), "full": Design(name="full", times=4)}
LEAST = 1.0
"""The composite, in points, from which a text is found to lean to a side."""


def load(folder: Path, topics: Path, rubric: PoliticsRubric) -> Anchors:
    """The anchors in this folder; with their own scenarios. Raises UserError naming file and place."""
    path = folder / FILE
    with blaming(path):
        found = read_for(path, rubric)
        scenarios = {row["id"]: row for row in found.get("scenario", ())}
        texts = []
        for row in found.get("conversation", ()):
            scenario = scenarios.get(row["scenario"])
            if scenario is None or len(scenario["situations"]) != len(row["replies"]):
                raise UserError(f"{path}: {row['scenario']!r}: each situation of a scenario needs its reply")
            texts += _anchors(scenario, row, rubric)
        return Anchors(texts=texts, hash=digest([path]))


def _anchors(scenario: Mapping[str, Any], row: Mapping[str, Any], rubric: PoliticsRubric) -> list[Anchor]:
    """One for each reply: a judge sees it with its situation alone."""
    composite = (LEAST, 100.0) if row["lean"] == LEFT else (-100.0, -LEAST)
    low, high = map(rubric.commitment.scale.percent, row["commitment"])
    return [
        Anchor(
            topic=scenario["id"],
            language=scenario["language"],
            kind=f"{row['lean']}_{place}",
            bounds={COMPOSITE: composite, COMMITMENT: (low, high)},
            material={"situation": situation, "reply": reply},
        )
        for place, (situation, reply) in enumerate(
            zip(scenario["situations"], row["replies"], strict=True), 1
        )
    ]


async def judge(anchor: Anchor, rubric: PoliticsRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """A judge's composite, -100 (right) to 100 (left), and its commitment on 0..100. Raises CallFailed."""
    panel, reply = Panel([evaluator], keeps_going=False), Reply(text=anchor.material["reply"])
    found = point(reply, *await judge_text(reply, anchor.material["situation"], rubric, panel))
    commitment = found["judges"][0]["commitment"]
    return {
        COMPOSITE: found["composite"],
        COMMITMENT: None if commitment is None else rubric.commitment.scale.percent(commitment),
    }


def checks(judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
    """Those of texts that lean."""
    # Imported here: scipy is slow to import, and only audits need it.
    from equipoise.audit.checks import of_leans

    return of_leans(judged)
