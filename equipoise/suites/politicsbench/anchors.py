"""Anchors of the political dimensions: texts that lean to the left, to the right, or to neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equipoise.core.types import Reply
from equipoise.judge.anchors import Anchor, Anchors, Check, Design, Judged, Mirrors
from equipoise.judge.judge import Evaluator, Panel
from equipoise.suites.anchor_files import naming_file, read_for
from equipoise.suites.politicsbench.anchor_kinds import COMMITMENT, COMPOSITE, DIMENSION, LEFT, RIGHT
from equipoise.suites.politicsbench.judging import judge as judge_text
from equipoise.suites.politicsbench.judging import text_details
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import WEIGHTS
from equipoise.suites.resources import contents_hash

MIRRORS: Mirrors = ()
FILE = "conversations.toml"
DESIGNS: Mapping[str, Design] = {"quick": Design(name="quick"), "full": Design(name="full", times=2)}
COMPOSITE_BOUNDS: Mapping[str, tuple[float, float]] = {
    LEFT: (1.0, 100.0),
    RIGHT: (-100.0, -1.0),
    "none": (-12.0, 12.0),
}
"""The bounds of the composite, -100 to 100, by the side to which a text leans."""
DIMENSION_BOUNDS: Mapping[str, tuple[int, int]] = {"high": (13, 20), "middle": (8, 12), "low": (0, 7)}
"""The bounds of a dimension's score, 0 to 20, by the level that the file gives it."""


def load(folder: Path, topics: Path, rubric: PoliticsRubric) -> Anchors:
    """The anchors in this folder, with their own scenarios. Raises UserError naming file and value."""
    path = folder / FILE
    with naming_file(path):
        data = read_for(path, rubric)
        scenarios = {row["id"]: row for row in data.get("scenario", ())}
        texts = [_anchor(scenarios, row, rubric) for row in data.get("text", ())]
        return Anchors(texts=texts, hash=contents_hash([path]))


def _anchor(scenarios: Mapping[str, Any], row: Mapping[str, Any], rubric: PoliticsRubric) -> Anchor:
    """The anchor of a reply and its situation. Raises ValueError if there is no such situation."""
    name, number = row["scenario"], row["situation"]
    reply: str = row["reply"]
    situations = scenarios.get(name, {}).get("situations", ())
    if not 1 <= number <= len(situations):
        raise ValueError(f"{name!r} has no situation {number}")
    return Anchor(
        topic=name,
        language=scenarios[name]["language"],
        kind="_".join(filter(None, (row["lean"], row["kind"], str(number)))),
        bounds=_bounds(row, rubric),
        material={"situation": situations[number - 1], "reply": reply},
    )


def _bounds(row: Mapping[str, Any], rubric: PoliticsRubric) -> dict[str, tuple[float, float]]:
    """The bounds by aspect: composite, commitment, and each dimension with a level. Raises ValueError."""
    low, high = map(rubric.commitment.scale.percent, row["commitment"])
    bounds = {COMPOSITE: COMPOSITE_BOUNDS[row["lean"]], COMMITMENT: (low, high)}
    percent = rubric.dimensions.scale.percent
    for level, (lowest, highest) in DIMENSION_BOUNDS.items():
        for name in row.get(level, ()):
            if name not in WEIGHTS or DIMENSION + name in bounds:
                raise ValueError(f"{name!r} is not a dimension, or stands there twice")
            bounds[DIMENSION + name] = (percent(lowest), percent(highest))
    return bounds


async def judge(anchor: Anchor, rubric: PoliticsRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """A judge's composite, -100 (right) to 100 (left), and its other aspects with bounds, 0 to 100.

    None where a verdict is not valid. Raises CallFailed.
    """
    panel, reply = Panel([evaluator], keeps_going=False), Reply(text=anchor.material["reply"])
    verdicts = await judge_text(reply, anchor.material["situation"], rubric, panel)
    details = text_details(reply, *verdicts)
    [scores] = details["judges"]
    dimensions = scores["dimensions"] or {}
    scaled_scores = {
        COMMITMENT: (scores["commitment"], rubric.commitment.scale),
        **{DIMENSION + name: (dimensions.get(name), rubric.dimensions.scale) for name in WEIGHTS},
    }
    return {COMPOSITE: details["composite"]} | {
        aspect: None if score is None else scale.percent(score)
        for aspect, (score, scale) in scaled_scores.items()
        if aspect in anchor.bounds
    }


def checks(judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
    """The checks of one judge by its verdicts; the order of the anchors does not matter."""
    # Imported here: scipy is slow to import, and only audits need it.
    from equipoise.suites.politicsbench import anchor_checks

    return anchor_checks.checks(judged)
