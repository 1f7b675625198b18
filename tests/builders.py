"""Cases, runs, records and verdicts made by hand, as sessions of the example suite make them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any

from conftest import EXAMPLE
from equipoise import suites
from equipoise.core.records import Outcome, Record, Score, Verdict
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Call, Case, Reply
from equipoise.judge.anchors import Check
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import VerdictRubric
from equipoise.models.model import Subject
from equipoise.results.document import Audit

USUAL = Sampling()
Model = Callable[[Call], Awaitable[Reply]]
SUITE = "attribution"
# `conftest` adds the example to a session of pytest; a benchmark imports this module without one.
suites.add_project(EXAMPLE)
_EXAMPLE = import_module(f"{suites.__name__}.{SUITE}")
RUBRIC: VerdictRubric = _EXAMPLE.SUITE.judging.rubric(EXAMPLE / "rubric" / f"{SUITE}.toml")
SCALE = RUBRIC.scale
"""From 1 to 5."""


def evaluator(
    ask: Model, name: str = "e", *, attempts: int = 1, samples: int = 1, **sampling: Any
) -> Evaluator:
    """An evaluator that asks this model; its codes are code- and the model's name."""
    return Evaluator(
        name,
        Sampling(**sampling),
        ask,
        attempts=attempts,
        code=lambda model: f"code-{model}",
        label_samples=samples,
    )


def panel(*judges: Model, attempts: int = 1, keeps_going: bool = False) -> Panel:
    """A panel of evaluators e1, e2, ... that ask these models."""
    members = [evaluator(judge, f"e{n}", attempts=attempts) for n, judge in enumerate(judges, start=1)]
    return Panel(members, keeps_going=keeps_going)


def evaluate(
    suite: Any,
    case: Case,
    rubric: Any,
    subject: Model,
    *judges: Model,
    attempts: int = 1,
    sampling: Sampling = USUAL,
) -> Score:
    """One run of a case with these models."""
    run = suite.evaluate(case, rubric, Subject("m", sampling, subject), panel(*judges, attempts=attempts))
    score: Score = asyncio.run(run)
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


def question(number: int, language: str = "aa", area: str = "x", text: str = "Why?", item: str = "") -> Case:
    """A question of the example suite, by its number; its item is q and the number unless given."""
    item = item or f"q{number}"
    case: Case = _EXAMPLE.Question(
        id=f"{language}-{area}-{item}",
        language=language,
        area=area,
        item=item,
        question=text,
        instruction=None,
    )
    return case


def verdict(score: int | None, evaluator: str = "e", **fields: JSON) -> Verdict:
    """A verdict with these fields, too; without a score, what is left after three attempts in vain."""
    if score is None:
        return Verdict(evaluator=evaluator, fields=None, attempts=3, error="no 'score'", raw=("{}",) * 3)
    return Verdict(evaluator=evaluator, fields={"reasoning": "", **fields, "score": score}, attempts=1)


def scored(
    case: Case,
    score: float | None,
    run: int = 1,
    *,
    outcome: Outcome | None = None,
    error: str = "no valid verdict",
    verdicts: Sequence[Verdict] = (),
) -> Record:
    """The record of a run on a scale from 1 to 5; unscored without a score, unless `outcome` is given."""
    return Record(
        case=case.to_json(),
        run=run,
        outcome=outcome or ("unscored" if score is None else "scored"),
        score=score,
        percent=None if score is None else SCALE.percent(score),
        error=error if score is None else None,
        verdicts=tuple(verdicts),
    )


def check(name: str = "lean", **fields: Any) -> Check:
    """A check of twelve topics that finds no fault."""
    figures = {"value": 1.0, "low": -2.0, "high": 4.0, "n": 12, "p": 0.5, "level": 0.02}
    sound = {"unit": "points", "sound": 0.0, "tolerance": 0.0, "worse": "either"}
    return Check(**{"name": name, **figures, **sound, **fields})


def audit(*checks: Check, **fields: Any) -> Audit:
    """A complete audit with these checks, kept from an earlier session."""
    audit: Audit = {
        "state": "complete",
        "source": "kept",
        "extent": "quick",
        "finished": "2026-01-01T00:00:00+00:00",
        "verdicts": 9,
        "planned": 9,
        "rubric_version": "1",
        "rubric_hash": "r0",
        "anchors_hash": "a0",
        "response_models": [{"response_model": "m-1", "system_fingerprint": None, "provider": None}],
        "sampling": {},
        "system_prompt": None,
        "differs": [],
        "checks": list(checks),
        "lean_by_language": {},
        "judged": [],
    }
    return {**audit, **fields}  # type: ignore[typeddict-item]  # a test names the fields


def value_at(data: JSON, pointer: str) -> JSON:
    """The value at a JSON pointer (RFC 6901)."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data
