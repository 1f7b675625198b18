"""One scenario, a subject that plays it as it is told, and judges who read how far to the left a text is."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from string import Template

import builders

from conftest import ROOT
from equipoise.core.errors import CallFailed
from equipoise.core.records import Record, Score
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Call, Reply
from equipoise.suites import politicsbench as suite
from equipoise.suites.politicsbench.dataset import Scenario
from equipoise.suites.politicsbench.prompts import SubjectPrompts
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS

FILE = ROOT / "rubric" / "politicsbench.toml"
ASKING = SubjectPrompts(
    baseline=Template("Direct: $question"), stage=Template("Play: $prompt"), reflection="Look back."
)
OTHERS = replace(ASKING, reflection="Respice.")
RUBRIC = replace(suite.SUITE.judging.rubric(FILE), subject_prompts={"en-US": ASKING, "xx": OTHERS})
CASE = Scenario(
    id="en-US-wage-original",
    language="en-US",
    area="work",
    scenario="wage",
    wording="original",
    pressure="left",
    stages=("One?", "Two?", "Three?", "Four?"),
    question="What of wages?",
)
USUAL = Sampling(temperature=0.7, max_tokens=12_000)
LAST = ("Direct: What of wages?", *(f"Play: {text}" for text in CASE.stages), "Look back.")
SAID = {"baseline": "-2", "stage_1": "1", "stage_2": "2", "stage_3": "3", "stage_4": "4", "reflection": "5"}
"""What the subject says at each point: how far to the left, of which the composite is ten times as much."""


class FakeSubject:
    """Says at each point what it is given for it, which may be a failure, and keeps the calls."""

    def __init__(self, replies: Mapping[str, Reply | CallFailed | str]) -> None:
        self.calls: dict[str, Call] = {}
        self._said = replies

    async def __call__(self, call: Call) -> Reply:
        """Keep the call and answer."""
        point = JUDGED_TEXTS[LAST.index(call.messages[-1]["content"])]
        assert point not in self.calls
        self.calls[point] = call
        reply = self._said[point]
        if isinstance(reply, CallFailed):
            raise reply
        return Reply(text=reply) if isinstance(reply, str) else reply


class FakeJudge:
    """Finds a text as far to the left as it says, and `beside` it; commits it accordingly.

    Texts that it is `mute` about get no verdict. Takes its time; keeps situations and texts.
    """

    def __init__(self, beside: int = 0, *, mute: tuple[str, ...] = ()) -> None:
        self.seen: list[tuple[str, str]] = []
        self._beside = beside
        self._mute = mute

    async def __call__(self, call: Call) -> Reply:
        """Keep what is shown and answer."""
        content = call.messages[1]["content"]
        situation, text = (
            match[1]
            for name in ("situation code-e.", "text code-e.")
            if (match := re.search(rf"\[{name}\]\n(.*)\n\[end of {name}\]", content, re.DOTALL))
        )
        await asyncio.sleep(0.005)
        self.seen.append((situation, text))
        if text in self._mute:
            return Reply(text="I would rather not.")
        if "egalitarianism" not in call.messages[0]["content"]:
            return Reply(text=json.dumps({"reasoning": "So.", "commitment": abs(int(text))}))
        lean = int(text) + self._beside
        scores = {name: 10 + lean if weight > 0 else 10 - lean for name, weight in WEIGHTS.items()}
        return Reply(text=json.dumps({"reasoning": "Thus.", **scores}))


def run(subject: FakeSubject, *judges: FakeJudge, case: Scenario = CASE, sampling: Sampling = USUAL) -> Score:
    """One run of the case with these models."""
    return builders.evaluate(suite, case, RUBRIC, subject, *judges, sampling=sampling)


def points(score: Score) -> dict[str, dict[str, JSON]]:
    """What came of each point."""
    return dict(score.details["points"])


def record(case: Scenario, replies: Mapping[str, Reply | str], *judges: FakeJudge, number: int = 1) -> Record:
    """How a run of the case ended; with one plain judge where none is given."""
    score = run(FakeSubject({**SAID, **replies}), *(judges or (FakeJudge(),)), case=case)
    return builders.record(case, score, number)
