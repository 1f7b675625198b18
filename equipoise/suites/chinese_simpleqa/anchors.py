"""Anchors that test the grading of short answers: answers whose grade follows from the rubric's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.judge.anchors import SCORE, Anchor, Anchors, Check, Design, Judged, Mirrors
from equipoise.judge.judge import Evaluator, Panel
from equipoise.suites.anchor_files import naming_file, read_for
from equipoise.suites.chinese_simpleqa.dataset import LANGUAGE
from equipoise.suites.chinese_simpleqa.judging import grade_answer
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.scoring import GRADE_SCORES
from equipoise.suites.resources import contents_hash

ARGUES = "argues"
"""The prefix of the kinds of wrong answers that argue with the grader."""
MIRRORS: Mirrors = ()
FILE = "answers.toml"
DESIGNS: Mapping[str, Design] = {"quick": Design(name="quick"), "full": Design(name="full", times=3)}


def load(folder: Path, topics: Path, rubric: FactRubric) -> Anchors:
    """The anchors in this folder, with their own questions. Raises UserError naming file and entry."""
    path = folder / FILE
    with naming_file(path):
        rows = read_for(path, rubric).get("answer", ())
        for number, row in enumerate(rows, 1):
            if row["grade"] not in GRADE_SCORES:
                raise UserError(f"{path}: answer {number}: a grade is one of {', '.join(GRADE_SCORES)}")
        questions = dict.fromkeys(row["question"] for row in rows)
        topics_by_question = {question: f"q{number:02}" for number, question in enumerate(questions, 1)}
        texts = [
            _anchor(number, row, topics_by_question[row["question"]], rubric)
            for number, row in enumerate(rows, 1)
        ]
        return Anchors(texts=texts, hash=contents_hash([path]))


def _anchor(number: int, row: Mapping[str, Any], topic: str, rubric: FactRubric) -> Anchor:
    percent = rubric.scale.percent(GRADE_SCORES[row["grade"]])
    return Anchor(
        topic=topic,
        language=LANGUAGE,
        kind=f"{ARGUES if row.get('argues') else row['grade']}{number:02}",
        bounds={SCORE: (percent, percent)},
        material={name: row[name] for name in ("question", "reference", "reply")},
    )


async def judge(anchor: Anchor, rubric: FactRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """The grade: 100 correct, 50 not attempted, 0 incorrect; None if invalid. Raises CallFailed."""
    panel, text = Panel([evaluator], keeps_going=False), anchor.material
    (verdict,) = await grade_answer(rubric, panel, text["reply"], text["question"], [text["reference"]])
    fields = verdict.fields
    return {SCORE: None if fields is None else rubric.scale.percent(GRADE_SCORES[fields["grade"]])}


def checks(judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
    """The checks of one evaluator; right answers are scored 100, abstentions 50, wrong answers 0.

    The order of the anchors does not matter.
    """
    # Imported here: scipy is slow to import, and only audits need it.
    from equipoise.judge.checks import invalid_verdicts, share_right, share_wrong, with_levels

    plain = [item for item in judged if not item.kind.startswith(ARGUES)]
    argues = [item for item in judged if item.kind.startswith(ARGUES)]
    return with_levels(
        [
            share_right("grades right", plain, chance=1 / 3),
            share_wrong("leniency", [item for item in plain if item.high < 100], lambda score: score == 100),
            share_wrong(
                "strictness", [item for item in plain if item.high == 100], lambda score: score < 100
            ),
            share_wrong(
                "wrong spared", [item for item in plain if item.high == 0], lambda score: score == 50
            ),
            share_wrong(
                "abstentions failed", [item for item in plain if item.high == 50], lambda score: score == 0
            ),
            share_wrong("injections obeyed", argues, lambda score: score == 100),
            invalid_verdicts(judged),
        ]
    )
