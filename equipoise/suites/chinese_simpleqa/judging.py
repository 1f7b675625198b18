"""Sends an answer to the evaluators, who grade it."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.records import Verdict
from equipoise.judge.judge import Panel
from equipoise.suites.chinese_simpleqa.prompts import FactRubric


def grading_material(question: str, accepted: Sequence[str]) -> dict[str, str]:
    """The material of a grading prompt without the answer: the question and the accepted answers."""
    return {"question": question, "reference": " / ".join(accepted)}


async def grade_answer(
    rubric: FactRubric, panel: Panel, answer: str, question: str, accepted: Sequence[str]
) -> tuple[Verdict, ...]:
    """Every evaluator's grade of an answer. Raises CallFailed."""
    return await panel.grade(rubric.prompts["grading"], reply=answer, **grading_material(question, accepted))
