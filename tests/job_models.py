"""Models without an endpoint, that say what a test tells them and remember what they were asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Reply
from equipoise.judge.judge import Evaluator, JobModels
from equipoise.models.model import Subject

Said = Callable[[Call, int], str | Reply | CallFailed]


class Models:
    """Models that say what a function makes of a call and its number; every call is remembered."""

    def __init__(self, *texts: str, answer: Said | None = None) -> None:
        self.calls: list[Call] = []
        self.said = answer or (lambda call, number: texts[min(number, len(texts) - 1)])

    async def __call__(self, call: Call) -> Reply:
        """Answer."""
        self.calls.append(call)
        answer = self.said(call, len(self.calls) - 1)
        if isinstance(answer, CallFailed):
            raise answer
        # An answer takes longer than a failure.
        await asyncio.sleep(0.001)
        return answer if isinstance(answer, Reply) else Reply(text=answer)

    @property
    def job_models(self) -> JobModels:
        """A generator, a critic and two solvers."""
        names = ("critic", "solver-a", "solver-b")
        evaluators = [
            Evaluator(name, Sampling(), self, attempts=3, code=lambda model: "f" * 16) for name in names
        ]
        return JobModels(
            model=Subject("maker", Sampling(), self),
            evaluators=evaluators,
            code=lambda purpose: f"code-of-{purpose}",
        )


def made(question: str, answer: str) -> str:
    """A question as the generator gives it."""
    return json.dumps({"question": question, "answer": answer}, ensure_ascii=False)


def judged(verdict: str, reasoning: str = "理由") -> str:
    """A verdict with a reason."""
    return json.dumps({"reasoning": reasoning, "verdict": verdict}, ensure_ascii=False)
