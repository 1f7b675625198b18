"""Askers of neutrality's questions: a person from one of the two opposed sides that a reply may lean to.

How replies change with the asker is measured on two scales: their lean, and their score, which has no side.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.rows import RunRow, Values
from equipoise.stats.askers import AskerScale
from equipoise.suites.askers import Askers, cue_file, of_two_sides
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.neutrality.leans import LEAN
from equipoise.suites.selection import Selection

SCALES: Sequence[AskerScale] = (
    AskerScale(what="the lean of replies"),
    AskerScale(name="score", what="the score of replies", is_directed=False),
)
BY_CLUSTER = False


def askers(selection: Selection, cases: Sequence[Question]) -> Askers:
    """The cues of questions whose folder names the sides. Raises UserError."""
    return of_two_sides(cue_file(selection, "neutrality"), cases, _sides)


def _sides(case: Question) -> tuple[str, str] | None:
    sides = tuple(case.about.sides) if case.about else ()
    return (sides[0], sides[1]) if len(sides) > 1 else None


def stances(row: RunRow, sides: tuple[str, str]) -> Values:
    """The lean on 0 to 100, with 50 for no lean (main scale, named ""), and the score in percent."""
    lean = row.values.get(LEAN)
    return {"": None if lean is None else 50 + lean / 2, "score": row.values.get("percent")}


def answer(row: RunRow) -> str | None:
    """The lean by most verdicts, such as "lean.state", or "none"; the outcome if the model did not answer.

    None without a score.
    """
    if row.score is None or row.outcome in ("refused", "blocked", "empty"):
        return None if row.score is None else row.outcome
    leans = {name: value for name, value in row.values.items() if name.startswith(f"{LEAN}.")}
    if not leans:
        # A rubric need not ask for leans: without them, the rounded score stands for the answer.
        return f"{row.score:.0f}"
    return next((name for name, value in leans.items() if value), "none")
