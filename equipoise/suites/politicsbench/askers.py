"""Askers of scenarios: a person from the left or the right, who may move the composite."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.rows import RunRow, Values
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites.askers import Askers
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.selection import Selection

SCALES: Sequence[AskerScale] = (AskerScale(what="the composite of reflections, on 0 to 100,"),)
BY_CLUSTER = False
MIDDLE = 20.0
"""Composites from -20 to 20 points are neither left nor right."""


def askers(selection: Selection, cases: Sequence[Scenario]) -> Askers:
    """The cues of all scenarios. Raises UserError."""
    return cues.of_two_sides(cues.cue_file(selection, "politicsbench"), cases, lambda case: ("left", "right"))


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """The composite of the reflection, rescaled to 0 (right) to 100 (left)."""
    composite = row.values.get("percent")
    return {"": None if composite is None else 50 + composite / 2}


def answer(row: RunRow) -> str | None:
    """`left`, `right` or `middle`; None without a composite."""
    composite = row.values.get("percent")
    if composite is None:
        return None
    return "middle" if abs(composite) <= MIDDLE else "left" if composite > 0 else "right"
