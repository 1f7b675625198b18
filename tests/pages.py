"""Results of models that there are not, for pages: whole files with transcripts, made without a session."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import builders
import one_question
from from_records import parts_of, statistics_of
from one_question import RUBRIC, SUITE

from conftest import ROOT
from equipoise.core.records import Outcome, Record
from equipoise.core.types import Conversation
from equipoise.results import store

GOLDEN = ROOT / "tests" / "golden" / "neutrality.json"
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
AREAS = ("history", "territory", "governance", "human_rights", "economy")
JUDGES = ("judge-a", "judge-b")
_WORDS = ("the", "river", "library", "of", "a", "small", "town", "opened", "again", "and", "people", "came")


def prose(chance: random.Random, length: int) -> str:
    """Text of about that many characters."""
    return " ".join(chance.choices(_WORDS, k=max(1, length // 5)))


def write(path: Path, model: str, **options: Any) -> Path:
    """Write the results of a model; the options are those of `_results`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_json(path, _results(model, **options))
    return path


@cache
def _results(
    model: str,
    *,
    questions: int = 10,
    runs: int = 2,
    level: float = 3.5,
    length: int = 300,
    seed: int = 0,
    reply: Callable[[int], str | None] = lambda number: None,
    judges: Sequence[str] = JUDGES,
    leans: bool = False,
) -> dict[str, Any]:
    """Results of a model whose answers score about `level`, and lower in the last language.

    `reply` may set what the model said in the nth run of all, from 0. With `leans` judges say them, too.
    """
    chance = random.Random(seed)  # noqa: S311 - made-up results need no secret
    records: list[Record] = []
    for language in LANGUAGES:
        for number in range(1, questions + 1):
            for run in range(1, runs + 1):
                text = reply(len(records)) or prose(chance, length)
                record = _record(chance, model, language, number, run, text, level, judges)
                records.append(_leaning(chance, record) if leans else record)
    parts = parts_of(SUITE, records, RUBRIC.scale)
    return {
        "metadata": metadata(model, len(records), runs, judges),
        **parts,
        "summary": {**parts["summary"], **statistics_of(SUITE, records, RUBRIC.scale)},
        "audit": dict.fromkeys(judges),
        "errors": [],
    }


def _leaning(chance: random.Random, record: Record) -> Record:
    """The record of a case with sides, to which its judges say that it leans now and then."""
    lean = chance.choices(["none", "state_slight", "state_strong", "critics_slight"], [7, 3, 1, 1])[0]
    verdicts = [
        replace(verdict, fields={**(verdict.fields or {}), "lean": lean}) for verdict in record.verdicts
    ]
    brief = json.loads(GOLDEN.read_bytes())["metadata"]["about"]
    return replace(record, case={**record.case, "brief": brief}, verdicts=tuple(verdicts))


def metadata(model: str, count: int, runs: int, judges: Sequence[str]) -> dict[str, Any]:
    """How a session that ended says that its results came about."""
    known: dict[str, Any] = json.loads(GOLDEN.read_bytes())["metadata"]
    # The golden file has stars in the place of what differs from run to run.
    varying = {
        "endpoints": {"subject": "endpoint", "evaluator": "endpoint"},
        "package_versions": {},
        "git_dirty": False,
        "limits": {**known["limits"], "highest": 8, "lowest": 8, "last": [8, 8]},
    }
    return {
        **known,
        **varying,
        "subject_model": model,
        "evaluator_models": [*judges],
        "status": "complete",
        "runs": runs,
        "runs_expected": count,
        "runs_completed": count,
        "started": "2026-03-01T08:00:00+00:00",
        "finished": "2026-03-01T09:30:00+00:00",
        "cost_usd": {"subject": 1.25, "evaluator": 2.5},
    }


def _record(
    chance: random.Random,
    model: str,
    language: str,
    number: int,
    run: int,
    reply: str,
    level: float,
    judges: Sequence[str],
) -> Record:
    outcomes: list[Outcome] = ["scored", "refused", "truncated"]
    outcome = chance.choices(outcomes, [18, 1, 1])[0]
    lower = 0.6 if language == LANGUAGES[-1] else 0.0
    centre = 1.0 if outcome == "refused" else level - lower + 0.8 * ((number * 7) % 5 - 2) / 2
    scores = [min(5, max(1, round(chance.gauss(centre, 0.5)))) for _ in judges]
    verdicts = [
        builders.verdict(score, judge, reasoning=prose(chance, 200), refused=outcome == "refused")
        for judge, score in zip(judges, scores, strict=True)
    ]
    area, text = AREAS[number % len(AREAS)], f"Question {number} in {language}: what happened?"
    question = one_question.question(number, language, area, text, f"q{number:02d}_{area}")
    value = sum(scores) / len(scores)
    return replace(
        builders.scored(question, value, run, outcome=outcome, verdicts=verdicts),
        subject=[_talk(model, text, reply)],
        evaluators=[_talk(judge, prose(chance, 10 * 200), '{"score": 3}') for judge in judges],
    )


def _talk(model: str, question: str, answer: str) -> Conversation:
    usage = {"input": 20, "output": 90, "cached": 0, "reasoning": 0}
    reply: Any = {"role": "assistant", "content": answer, "usage": usage, "latency": 1.5}
    return Conversation(name=model, parameters={}, messages=({"role": "user", "content": question}, reply))
