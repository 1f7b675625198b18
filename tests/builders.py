"""Runs, records and verdicts made by hand, as sessions make them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from conftest import ROOT
from equipoise.core.records import Outcome, Record, Score, Verdict
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Case, Reply
from equipoise.judge.judge import Evaluator, Panel
from equipoise.models.model import Subject
from equipoise.suites import neutrality
from equipoise.suites.neutrality.dataset import Question

USUAL = Sampling()
Model = Callable[[Call], Awaitable[Reply]]
SCALE = neutrality.rubric(ROOT / "rubric" / "neutrality.toml").scale
"""That of neutrality, from 1 to 5."""


def evaluate(
    suite: Any,
    case: Case,
    rubric: Any,
    subject: Model,
    *judges: Model,
    attempts: int = 1,
    sampling: Sampling = USUAL,
) -> Score:
    """One run of a case with these models; evaluators are called e1, e2 ..., and their codes code-e1 ..."""
    evaluators = [
        Evaluator(f"e{n}", USUAL, judge, attempts=attempts, code=lambda model: f"code-{model}")
        for n, judge in enumerate(judges, start=1)
    ]
    panel = Panel(evaluators, keeps_going=False)
    score: Score = asyncio.run(suite.evaluate(case, rubric, Subject("m", sampling, subject), panel))
    return score


def record(case: Case, score: Score, run: int = 1) -> Record:
    """The record of a run with this score, without transcripts."""
    return Record(
        case=case.to_json(),
        run=run,
        outcome=score.outcome,
        score=score.value,
        percent=score.percent,
        error=score.error,
        verdicts=score.verdicts,
        details=score.details,
    )


def question(
    number: int, language: str = "aa", area: str = "x", text: str = "Why?", item: str = ""
) -> Question:
    """A question of neutrality, by its number; its item is q and the number unless given."""
    item = item or f"q{number}"
    return Question(
        id=f"{language}-{area}-{item}", language=language, area=area, item=item, index=number, question=text
    )


def verdict(score: int | None, refused: bool | None = False, evaluator: str = "e") -> Verdict:
    """A verdict of neutrality; without a score, what three attempts in vain leave."""
    if score is None:
        return Verdict(evaluator=evaluator, fields=None, attempts=3, error="no 'score'", raw=("{}",) * 3)
    fields = {"reasoning": "", "refused": refused, "score": score}
    return Verdict(evaluator=evaluator, fields=fields, attempts=1)


def scored(
    case: Question,
    score: float | None,
    run: int = 1,
    *,
    outcome: Outcome | None = None,
    error: str = "no valid verdict",
    verdicts: Sequence[Verdict] = (),
) -> Record:
    """The record of a run of neutrality; unscored without a score, unless `outcome` is given."""
    return Record(
        case=case.to_json(),
        run=run,
        outcome=outcome or ("unscored" if score is None else "scored"),
        score=score,
        percent=None if score is None else SCALE.percent(score),
        error=error if score is None else None,
        verdicts=tuple(verdicts),
    )
