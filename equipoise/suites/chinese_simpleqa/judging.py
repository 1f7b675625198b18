"""Has evaluators grade an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.records import Verdict
from equipoise.judge.judge import Panel
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.scoring import CORRECT, INCORRECT, NOT_ATTEMPTED

VALUES: Mapping[str, float] = {CORRECT: 2.0, NOT_ATTEMPTED: 1.0, INCORRECT: 0.0}
"""The score of each grade."""


def material(question: str, accepted: Sequence[str]) -> dict[str, str]:
    """What the grader sees besides the answer: the question and the accepted answers."""
    return {"question": question, "reference": " / ".join(accepted)}


async def graded(
    rubric: FactRubric, panel: Panel, answer: str, question: str, accepted: Sequence[str]
) -> tuple[Verdict, ...]:
    """Every evaluator's grade of an answer. Raises CallFailed."""
    return await panel.grade(rubric.prompts["grading"], reply=answer, **material(question, accepted))
