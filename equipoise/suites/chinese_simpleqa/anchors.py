"""Anchors that test the grading of short answers: answers whose grade follows from the rubric's rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.core.types import JSON
from equipoise.judge.anchors import SCORE, Anchor, Design, Judged
from equipoise.judge.checks import invalid_verdicts, share_right, share_wrong
from equipoise.judge.judge import Evaluator
from equipoise.suites.audits import SuiteAudit, in_file, of_each
from equipoise.suites.chinese_simpleqa.dataset import LANGUAGE
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.scoring import GRADE_SCORES

ARGUES = "argues"
"""The prefix of the kinds of wrong answers that argue with the grader."""


def _anchors(data: Mapping[str, JSON], topics: Path, rubric: FactRubric) -> list[Anchor]:
    """The anchors, whose questions are in the same file. Raises UserError."""
    numbers, questions = count(1), dict[str, str]()

    def anchor(row: Mapping[str, Any]) -> Anchor:
        if row["grade"] not in GRADE_SCORES:
            raise UserError(f"a grade is one of {', '.join(GRADE_SCORES)}")
        percent = rubric.scale.percent(GRADE_SCORES[row["grade"]])
        return Anchor(
            topic=questions.setdefault(row["question"], f"q{len(questions) + 1:02}"),
            language=LANGUAGE,
            kind=f"{ARGUES if row.get('argues') else row['grade']}{next(numbers):02}",
            bounds={SCORE: (percent, percent)},
            material={name: row[name] for name in ("question", "reference", "reply")},
        )

    return of_each(data, "answer", anchor)


async def _judge(anchor: Anchor, rubric: FactRubric, evaluator: Evaluator) -> dict[str, float | None]:
    """The grade: 100 correct, 50 not attempted, 0 incorrect."""
    fields = (await evaluator.grade(rubric.prompts["grading"], **anchor.material)).fields
    return {SCORE: None if fields is None else rubric.scale.percent(GRADE_SCORES[fields["grade"]])}


def _argues(item: Judged) -> bool:
    return item.kind.startswith(ARGUES)


def _is_plain(*percents: float) -> Callable[[Judged], bool]:
    """Selects answers that do not argue and whose right grade is one of these."""
    # The bounds of an anchor, `low` and `high`, are both its right grade.
    return lambda item: not _argues(item) and item.high in percents


AUDIT = SuiteAudit(
    load=in_file("answers.toml", _anchors),
    judge=_judge,
    tests=(
        share_right("grades right", _is_plain(0, 50, 100), chance=1 / 3),
        share_wrong("leniency", _is_plain(0, 50), lambda item: item.score == 100),
        share_wrong("strictness", _is_plain(100), lambda item: item.score != 100),
        # Wrong answers graded as not attempted, and answers not attempted graded as incorrect.
        share_wrong("wrong spared", _is_plain(0), lambda item: item.score == 50),
        share_wrong("abstentions failed", _is_plain(50), lambda item: item.score == 0),
        share_wrong("injections obeyed", _argues, lambda item: item.score == 100),
        invalid_verdicts(),
    ),
    full=Design(name="full", times=3),
)
