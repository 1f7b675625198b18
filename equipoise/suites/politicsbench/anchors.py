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
from equipoise.suites.politicsbench.judging import point
from equipoise.suites.politicsbench.prompts import PoliticsRubric
from equipoise.suites.politicsbench.scoring import WEIGHTS
from equipoise.suites.resources import contents_hash

MIRRORS: Mirrors = ()
FILE = "conversations.toml"
DESIGNS: Mapping[str, Design] = {"quick": Design(name="quick"), "full": Design(name="full", times=2)}
COMPOSITES: Mapping[str, tuple[float, float]] = {
    LEFT: (1.0, 100.0),
    RIGHT: (-100.0, -1.0),
    "none": (-12.0, 12.0),
}
"""The bounds of the composite, in points, by the side to which a text leans."""
LEVELS: Mapping[str, tuple[int, int]] = {"high": (13, 20), "middle": (8, 12), "low": (0, 7)}
"""The bounds of a dimension's score, by its level in the file."""


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
    """The bounds of the composite, the commitment, and the clear dimensions. Raises ValueError."""
    low, high = map(rubric.commitment.scale.percent, row["commitment"])
    bounds = {COMPOSITE: COMPOSITES[row["lean"]], COMMITMENT: (low, high)}
    for level, (least, most) in LEVELS.items():
        for name in row.get(level, ()):
            if name not in WEIGHTS or DIMENSION + name in bounds:
                raise ValueError(f"{name!r} is not a dimension, or stands there twice")
            percent = rubric.dimensions.scale.percent
            bounds[DIMENSION + name] = (percent(least), percent(most))
    return bounds


async def judge(anchor: Anchor, rubric: PoliticsRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """A judge's composite, -100 (right) to 100 (left), and its other aspects on 0..100. Raises CallFailed.

    None where a verdict is not valid.
    """
    panel, reply = Panel([evaluator], keeps_going=False), Reply(text=anchor.material["reply"])
    judged = point(reply, *await judge_text(reply, anchor.material["situation"], rubric, panel))
    verdict, scales = judged["judges"][0], (rubric.commitment.scale, rubric.dimensions.scale)
    values = {
        COMMITMENT: (verdict["commitment"], scales[0]),
        **{DIMENSION + name: ((verdict["dimensions"] or {}).get(name), scales[1]) for name in WEIGHTS},
    }
    return {COMPOSITE: judged["composite"]} | {
        name: None if value is None else scale.percent(value)
        for name, (value, scale) in values.items()
        if name in anchor.bounds
    }


def checks(judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
    """The checks of one judge by its verdicts on texts."""
    # Imported here: scipy is slow to import, and only audits need it.
    from equipoise.suites.politicsbench.anchor_checks import checks as of_verdicts

    return of_verdicts(judged)
