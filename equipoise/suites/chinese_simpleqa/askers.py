"""Askers of questions of fact. They are a control: who asks must not change the answer."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.rows import RunRow, Values
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites.askers import Askers
from equipoise.suites.chinese_simpleqa.dataset import Fact
from equipoise.suites.selection import Selection

SCALES: Sequence[AskerScale] = (AskerScale(what="the share of correct answers", is_directed=False),)
BY_CLUSTER = False


def askers(selection: Selection, cases: Sequence[Fact]) -> Askers:
    """The cues of all questions, each with one of the file's pairs of sides. Raises UserError."""
    return cues.of_pairs_of_sides(cues.cue_file(selection, "chinese_simpleqa"), cases)


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """100 for a correct answer, 0 for any other."""
    return {"": row.values.get("percent")}


def answer(row: RunRow) -> str | None:
    """The grade."""
    grade: str | None = row.details.get("grade")
    return grade
