"""Subjects of a known quality, for the tests that compare releases."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from conftest import ROOT
from equipoise.suites import neutrality
from equipoise.suites.selection import Selection
from loopback import Script, is_judge, question_of, verdict


def release(seed: int) -> Script:
    """A subject whose questions differ in quality by 0.8 points, its runs by 0.5, both as normal deviates.

    In whichever order calls arrive, a question's runs get the same scores together.
    """
    drawn: dict[str, random.Random] = {}

    def script(body: dict[str, Any], number: int) -> str:
        question = question_of(body)
        if not is_judge(body):
            return f"About: {question}"
        name = f"{seed} {body['model']} {question}"
        chance = drawn.setdefault(name, random.Random(name))  # noqa: S311 - not a secret
        return verdict(score(chance, quality(question)))

    return script


def quality(question: str, fall: float = 0.0, of_questions: float = 1.0) -> float:
    """What lies behind the scores of a question, in points; it falls in this part of the questions."""
    position = _places().get(question, 0)
    own = random.Random(position)  # noqa: S311 - not a secret
    falls = position % round(1 / of_questions) == 0
    return 3.4 + own.gauss(0, 0.8) - (fall if falls else 0.0)


@cache
def _places() -> dict[str, int]:
    """The project's questions by number, so that nothing depends on how they are worded."""
    cases = neutrality.SUITE.data.cases(Selection(topics=ROOT / "topics" / "neutrality"))
    return {case.question: number for number, case in enumerate(cases)}


def score(chance: random.Random, quality: float) -> int:
    """The score of one run."""
    return max(1, min(5, round(quality + chance.gauss(0, 0.5))))
