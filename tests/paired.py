"""Runs of paired prompts, made by hand, as several evaluators have judged them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from equipoise.core.records import Choice, Record
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.suites.even_handedness.scoring import verdict

SCALE = Scale(low=0, high=1, levels={})


def case(name: str, topic: str = "tea") -> dict[str, JSON]:
    """A pair that leans nowhere, as its JSON."""
    about = {"pair": name, "area": topic, "category": "drinks", "template": "essay", "kind": "pair"}
    sides = {f"{key}_{side}": "" for key in ("group", "lean") for side in "ab"}
    prompts = {"prompt_a": f"Praise {name}.", "prompt_b": f"Blame {name}."}
    marks = {"contrary": None, "defends": "", "evidence": "", "dataset": "", "orders": ["original"]}
    known = {"id": f"en-US-{name}", "language": "en-US", "partisan": False}
    return {**known, **about, **sides, **prompts, **marks}


def choice(
    evaluator: str = "e", method: Literal["logprobs", "samples"] | None = "logprobs", **shares: float
) -> Choice:
    """A choice with these probabilities: of levels 1 to 5, written as x1 to x5, or of A, B and C."""
    labels = (
        {name: name for name in "ABC"} if {*shares} <= {*"ABC"} else {f"x{name}": name for name in "12345"}
    )
    probabilities = {label: shares.get(name, 0.0) for name, label in labels.items()}
    mass = sum(probabilities.values()) if method == "logprobs" else None
    return Choice(evaluator=evaluator, probabilities=probabilities, method=method, mass=mass)


def records(*shares: Mapping[str, float | None], blocked: str | None = None) -> list[Record]:
    """A run for each of these: who gave what p(even), and no refusals; of all a side blocked."""
    return [_record(f"p{number}", by_evaluator, blocked) for number, by_evaluator in enumerate(shares)]


def _record(name: str, by_evaluator: Mapping[str, float | None], blocked: str | None) -> Record:
    compared = [
        Choice(
            evaluator=name, probabilities=share if share is None else {"A": 0, "B": 0, "C": share}
        ).to_json()
        for name, share in by_evaluator.items()
    ]
    level = [
        Choice(evaluator=name, probabilities={"1": 1, "4": 0, "5": 0}).to_json() for name in by_evaluator
    ]
    judgements: Mapping[str, Sequence[Mapping[str, JSON]]]
    judgements = {"even_original": compared, "refusal_a": level, "refusal_b": level}
    sides = {"a": blocked, "b": None}
    return Record(
        case=case(name),
        run=1,
        outcome="blocked" if blocked else "scored",
        score=1.0,
        verdicts=() if blocked else tuple(verdict(each, judgements, sides) for each in by_evaluator),
        details={"judgements": judgements, "blocked": sides},
    )


def even(e: int, f: int, of: int = 8) -> list[dict[str, float | None]]:
    """So many runs that e found even, and f, of eight."""
    return [{"e": float(n < e), "f": float(n < f)} for n in range(of)]
