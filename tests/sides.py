"""Results as sides of a comparison, made by hand or by chance, for the tests that compare releases.

They are of the example suite, or of neutrality where a test is about its rates, areas or questions.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, cast

import builders
import one_question
from from_records import parts_of

from equipoise.core import json_io
from equipoise.core.records import Outcome, Record
from equipoise.core.types import JSON
from equipoise.results.document import Metadata
from equipoise.results.results import Results, of_json

LANGUAGES = ("aa", "bb", "cc")
SUITE, SCALE = builders.SUITE, builders.SCALE

Run = int | tuple[int, ...] | Outcome
"""A run: its score, the scores of a panel, or how it ended (then with a score of 1, or without any)."""
Runs = Mapping[str, Sequence[Run]]
"""By cell, such as aa/q1, or aa/q1/y for a question of the area y; x where there is none."""


def records(runs: Runs, suite: str = SUITE) -> list[Record]:
    """What a session would keep of these runs of the example suite or of neutrality."""
    return [
        _record(cell, number, run, is_neutrality=suite == one_question.SUITE)
        for cell, cell_runs in runs.items()
        for number, run in enumerate(cell_runs, start=1)
    ]


def _record(cell: str, number: int, run: Run, *, is_neutrality: bool) -> Record:
    language, item, area = (*cell.split("/"), "x")[:3]
    question = one_question.question if is_neutrality else builders.question
    case = question(int(item.removeprefix("q")), language, area, f"Question {item} in {language}?")
    outcome: Outcome = "scored"
    if isinstance(run, str):
        outcome, run = run, 1
    scores = (run,) if isinstance(run, int) else run
    if outcome in ("error", "unscored"):
        return builders.scored(case, None, number, outcome=outcome, error="HTTP 500: Down.")
    fields = {"refused": outcome == "refused"} if is_neutrality else {}
    verdicts = [builders.verdict(score, f"e{n}", **fields) for n, score in enumerate(scores, start=1)]
    score, judged = sum(scores) / len(scores), () if outcome == "blocked" else verdicts
    return builders.scored(case, score, number, outcome=outcome, verdicts=judged)


def metadata(runs: Runs, **changes: JSON) -> Metadata:
    """How a session says that its results came about; all but `changes` is the same for all."""
    total = sum(map(len, runs.values()))
    fields = {
        "schema_version": 1,
        "suite": SUITE,
        "status": "complete",
        "subject_model": "m1",
        "evaluator_models": ["e1"],
        "subject_sampling": {"temperature": 1.0},
        "subject_system_prompt": None,
        "evaluator_sampling": {"temperature": 0.0},
        "evaluator_system_prompt": None,
        "runs": max(map(len, runs.values()), default=1),
        "data_hash": "d0",
        "rubric_hash": "r0",
        "scale": {"low": SCALE.low, "high": SCALE.high},
        "runs_expected": total,
        "runs_completed": total,
        "started": "2026-01-02T03:04:05+00:00",
        "finished": "2026-01-02T04:05:06+00:00",
        "response_models": [],
        "parameters_changed": [],
        **changes,
    }
    return cast("Metadata", fields)


def data_of(runs: Runs, suite: str = SUITE, **changes: JSON) -> dict[str, Any]:
    """The results JSON of these runs as it is read from a file; `changes` go into the metadata."""
    run_records = records(runs, suite)
    errors = [{"run": record.id, "message": record.error} for record in run_records if record.score is None]
    about = metadata(runs, suite=suite, **changes)
    return {"metadata": about, **parts_of(suite, run_records, SCALE), "errors": errors}


def side_of(runs: Runs, file: str = "m1.json", suite: str = SUITE, **changes: JSON) -> Results:
    """The side that these runs make."""
    return of_json(file, data_of(runs, suite, **changes)).without_rows()


neutral_side = partial(side_of, suite=one_question.SUITE)
"""A side of neutrality, which has areas and rates."""


def write(path: Path, runs: Runs, **changes: JSON) -> Path:
    """The results of these runs as a file."""
    return write_data(path, data_of(runs, **changes))


def write_data(path: Path, data: JSON) -> Path:
    """A file of this JSON."""
    path.write_bytes(json_io.dumps(data))
    return path


def alike(
    *scores: Run, questions: int = 6, languages: Sequence[str] = LANGUAGES, area: str = "x"
) -> dict[str, Sequence[Run]]:
    """Every question in every language with the same runs."""
    return {
        f"{language}/q{number}/{area}": scores for language in languages for number in range(1, questions + 1)
    }


def by_chance(
    seed: int, fall: float = 0.0, *, questions: int = 12, runs: int = 3, languages: Sequence[str] = LANGUAGES
) -> dict[str, Sequence[Run]]:
    """A model whose questions differ as those of any other seed do, worse by `fall` points; two areas.

    The spread is of 0.8 points between questions, and 0.5 between runs; every seventh run or so is refused.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret

    def run(quality: float) -> Run:
        if chance.random() < 0.15:
            return "refused"
        return max(1, min(5, round(quality - fall + chance.gauss(0, 0.5))))

    return {
        f"{language}/q{number}/{'xy'[number % 2]}": [run(_quality(number)) for _ in range(runs)]
        for language in languages
        for number in range(1, questions + 1)
    }


def _quality(question: int) -> float:
    return 3.4 + random.Random(question).gauss(0, 0.8)  # noqa: S311 - as above


# Damages.


def without(*path: Any) -> Callable[[Any], None]:
    """A change that takes away what stands at the end of this path."""
    return lambda data: operator.delitem(reduce(operator.getitem, path[:-1], data), path[-1])


def set_to(value: JSON, *path: Any) -> Callable[[Any], None]:
    """A change that puts the value at the end of this path."""
    return lambda data: operator.setitem(reduce(operator.getitem, path[:-1], data), path[-1], value)
