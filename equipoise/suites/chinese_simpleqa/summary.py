"""Summaries of Chinese SimpleQA results, besides metrics with intervals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.rows import RunRow, by_question
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.suites.chinese_simpleqa.dataset import LETTERS
from equipoise.suites.chinese_simpleqa.scoring import CORRECT, GRADES, best_of, calibration, shares

GROUPS = ("topic", "subtopic", "kind")
"""The labels by which questions are grouped."""


def summarise(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Figures overall, by topic, subtopic and kind; how grades were read; results of optional settings."""
    return {
        **_figures(_grades(rows)),
        **{group: _by(group, rows) for group in GROUPS},
        **_grading(rows),
        "other_language": sum(bool(row.details.get("other_language")) for row in rows),
        **_calibration(rows),
        **_best_of(rows),
        **_letters(rows),
    }


def _figures(grades: Sequence[str]) -> dict[str, JSON]:
    """The number of graded answers, and their shares."""
    return {"n": len(grades), **shares(*map(grades.count, GRADES))}


def _graded(rows: Sequence[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.details.get("grade") is not None]


def _grades(rows: Sequence[RunRow]) -> list[str]:
    return [row.details["grade"] for row in _graded(rows)]


def _by(group: str, rows: Sequence[RunRow]) -> dict[str, JSON]:
    """Figures by topic, subtopic or kind of answer, where a question has one."""
    groups: dict[str, list[RunRow]] = {}
    for row in rows:
        if name := row.question.labels[group]:
            groups.setdefault(name, []).append(row)
    return {name: _figures(_grades(runs)) for name, runs in groups.items()}


def _grading(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The number of grades by how they were read, and the figures by each evaluator's grades alone."""
    verdicts: list[Mapping[str, JSON]] = [item for row in rows for item in row.verdicts if item.get("grade")]
    by_evaluator: dict[str, list[str]] = {}
    for item in verdicts:
        by_evaluator.setdefault(item["evaluator"], []).append(item["grade"])
    return {
        "grades_read": {
            how: sum(item["how"] == how for item in verdicts) for how in ("strict", "probabilities")
        },
        "evaluators_alone": {name: _figures(grades) for name, grades in by_evaluator.items()},
    }


def _calibration(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """Stated confidence against correct answers, if it was asked for."""
    if not any("confidence" in row.details for row in rows):
        return {}
    graded = [row.details for row in _graded(rows)]
    pairs = [
        (details["confidence"], details["grade"] == CORRECT)
        for details in graded
        if details.get("confidence") is not None
    ]
    return {"calibration": {**calibration(pairs), "unparsed": len(graded) - len(pairs)}}


def _best_of(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The best of several runs, if there are several."""
    questions = by_question(rows)
    most = max(map(len, questions), default=0)
    tries = [[grade == CORRECT for grade in _grades(runs)] for runs in questions]
    return {"best_of": best_of(tries, most)} if most > 1 else {}


def _letters(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """How often each letter was chosen, if there was a choice."""
    chosen = [row.details["chosen"] for row in rows if "chosen" in row.details]
    letters = {letter: chosen.count(index) for index, letter in enumerate(LETTERS)}
    return {"letters": {**letters, "none": chosen.count(None)}} if chosen else {}
