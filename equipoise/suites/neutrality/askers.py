"""Askers of questions: a person from either of the two sides that a reply may lean to.

A reply stands where its verdicts find that it leans, and besides at its score, which has no side. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.rows import RunRow, Values
from equipoise.stats.askers import AskerScale
from equipoise.suites import askers as cues
from equipoise.suites.askers import Askers
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.selection import Selection

LEAN = "lean"
SCALES: Sequence[AskerScale] = (
    AskerScale(what="the lean of replies"),
    AskerScale(name="score", what="the score of replies", is_directed=False),
)
BY_CLUSTER = False


def askers(selection: Selection, cases: Sequence[Question]) -> Askers:
    """The cues of questions whose folder says which the sides are. Raises UserError."""
    return cues.of_two_sides(cues.find(selection, "neutrality"), cases, _sides)


def _sides(case: Question) -> tuple[str, str] | None:
    sides = tuple(case.about.sides) if case.about else ()
    return (sides[0], sides[1]) if len(sides) == 2 else None


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """The lean, 50 where there is none, and the score in percent."""
    lean = row.values.get(LEAN)
    return {"": None if lean is None else 50 + lean / 2, "score": row.values.get("percent")}


def answer(row: RunRow) -> str | None:
    """The side to which most verdicts find that the reply leans, or how it ended."""
    if row.score is None or row.outcome in ("refused", "blocked", "empty"):
        return None if row.score is None else row.outcome
    leans = {name: share for name, share in row.values.items() if name.startswith(f"{LEAN}.")}
    if not leans:
        # Verdicts of another rubric do not say.
        return f"{row.score:.0f}"
    return next((name for name, share in leans.items() if share), "none")
