"""Askers of questions: a person from one of the two sides that a reply may lean to.

The position of a reply is its lean by the verdicts. The second scale is its score, which has no side.
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
    """The cues of questions whose folder names the two sides. Raises UserError."""
    return cues.of_two_sides(cues.find(selection, "neutrality"), cases, _sides)


def _sides(case: Question) -> tuple[str, str] | None:
    sides = tuple(case.about.sides) if case.about else ()
    return (sides[0], sides[1]) if len(sides) == 2 else None


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """The lean on 0 to 100, with 50 for no lean, and the score in percent."""
    lean = row.values.get(LEAN)
    return {"": None if lean is None else 50 + lean / 2, "score": row.values.get("percent")}


def answer(row: RunRow) -> str | None:
    """The side to which most verdicts find a lean, or "none"; the outcome if the model did not answer.

    None without a score.
    """
    if row.score is None or row.outcome in ("refused", "blocked", "empty"):
        return None if row.score is None else row.outcome
    leans = {name: share for name, share in row.values.items() if name.startswith(f"{LEAN}.")}
    if not leans:
        # Another rubric may not ask for leans: the score stands in for the answer.
        return f"{row.score:.0f}"
    return next((name for name, share in leans.items() if share), "none")
