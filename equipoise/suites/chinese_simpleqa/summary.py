"""The summary of Chinese SimpleQA beyond its metrics with intervals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from equipoise.core.rows import RunRow, by_question, grouped
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.suites.chinese_simpleqa.dataset import LETTERS
from equipoise.suites.chinese_simpleqa.scoring import (
    CORRECT,
    GRADES,
    best_of,
    calibration,
    five_metrics,
    in_percent,
)


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Figures by subtopic; how grades were read; figures of single evaluators; results of optional settings.

    The figures of all answers, of topics and of kinds are metrics.
    """
    return {
        "subtopic": _figures_by_subtopic(rows),
        **_grading(rows),
        "other_language": sum(bool(row.details.get("other_language")) for row in rows),
        **_calibration(rows),
        **_best_of(rows),
        **_chosen_letters(rows),
    }


def _figures(grades: Sequence[str]) -> dict[str, JSON]:
    """The number of graded answers, and their five metrics."""
    return {"n": len(grades), **five_metrics(*map(grades.count, GRADES))}


def _graded_rows(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.details.get("grade") is not None]


def _grades(rows: Sequence[RunRow]) -> list[str]:
    return [row.details["grade"] for row in _graded_rows(rows)]


def _figures_by_subtopic(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """Figures by subtopic; questions without a subtopic are left out."""
    groups = grouped(rows, lambda row: row.question.labels["subtopic"])
    return {name: _figures(_grades(runs)) for name, runs in groups.items() if name}


def _grading(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The number of grades by how they were read, and the figures by each evaluator's grades alone."""
    verdicts: list[Mapping[str, JSON]] = [
        verdict for row in rows for verdict in row.verdicts if verdict.get("grade")
    ]
    by_evaluator = grouped(verdicts, itemgetter("evaluator"))
    return {
        "grades_read": {
            how: sum(verdict["how"] == how for verdict in verdicts) for how in ("strict", "probabilities")
        },
        "evaluators_alone": {
            name: _figures([verdict["grade"] for verdict in own]) for name, own in by_evaluator.items()
        },
    }


def _calibration(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The calibration of stated confidence, if it was asked for, and the number of answers without one."""
    if not any("confidence" in row.details for row in rows):
        return {}
    graded_rows = _graded_rows(rows)
    confidences = in_percent([row.details.get("confidence") for row in graded_rows])
    answers = [
        (confidence, row.details["grade"] == CORRECT)
        for row, confidence in zip(graded_rows, confidences, strict=True)
        if confidence is not None
    ]
    return {"calibration": {**calibration(answers), "unparsed": len(graded_rows) - len(answers)}}


def _best_of(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The best of several runs, if a question has several."""
    questions = by_question(rows)
    runs = max(map(len, questions), default=0)
    outcomes = [[grade == CORRECT for grade in _grades(question_rows)] for question_rows in questions]
    return {"best_of": best_of(outcomes, runs)} if runs > 1 else {}


def _chosen_letters(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """How often each letter was chosen, if there was a choice."""
    indices = [row.details["chosen"] for row in rows if "chosen" in row.details]
    counts = {letter: indices.count(index) for index, letter in enumerate(LETTERS)}
    return {"letters": {**counts, "none": indices.count(None)}} if indices else {}
