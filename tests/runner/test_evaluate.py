"""One run from its question to its record, whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from string import Template
from typing import Any, cast

import pytest
from journals import said

from equipoise.core.errors import CallFailed
from equipoise.core.records import Record, Score
from equipoise.core.resolution import resolve
from equipoise.core.types import Call, Case, Cue, Exchange, Reply, Run
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale, VerdictRubric
from equipoise.models.model import Subject
from equipoise.results import journal
from equipoise.results.store import Files
from equipoise.runner.calls import Deadline
from equipoise.runner.evaluate import run_case
from equipoise.runner.loading import LoadedSuite

CASE = Case(id="a", language="aa", area="x", keywords=("y",))
RUN = Run(suite="s", case=CASE, number=2)
RUBRIC = VerdictRubric(
    version="1",
    hash="0",
    scale=Scale(low=1, high=5, levels={level: f"level {level}" for level in range(1, 6)}),
    verdict={"score": "scale"},
    system=Template("Judge. $levels $low $high"),
    user=Template("[$code]\n$reply\n[$code]"),
)
GIVEN: dict[str, Any] = {"model": "m", "evaluator_model": ["e1", "e2"], "evaluator_attempts": "2"}
VALID = '{"score": 4}'

Evaluate = Callable[[Subject, Panel, Deadline], Awaitable[Score]]
Answers = Callable[[Call], Reply | BaseException]


def ordinary(call: Call) -> Reply | BaseException:
    """An answer, or a verdict."""
    return Reply(text="Because." if call.role == "subject" else VALID)


class FakeCalls:
    """Gives these answers, those of e1 after all others, and keeps every exchange as it comes."""

    deadline: Deadline

    def __init__(self, answers: Answers) -> None:
        self.exchanges: list[Exchange] = []
        self.queued = 0.0
        self._answers = answers

    async def __call__(self, call: Call) -> Reply:
        """Answer and keep."""
        await asyncio.sleep(0.01 if call.model == "e1" else 0)
        answer = self._answers(call)
        if isinstance(answer, BaseException):
            raise answer
        self.exchanges.append(Exchange(id=f"w-{len(self.exchanges) + 1}", call=call, reply=answer))
        return answer

    def code(self, *parts: str) -> str:
        """A code of this run, by the nonce n0."""
        return journal.one_time_code("n0", RUN.id, *parts)


async def ask_and_judge(subject: Subject, panel: Panel, deadline: Deadline) -> Score:
    """What most suites do."""
    reply = await subject.ask("Why?")
    verdicts = await panel.judge(RUBRIC, reply=reply.text)
    return Score(outcome="scored", value=4.0, percent=75.0, verdicts=verdicts, details={"note": 1})


def run(
    evaluate: Evaluate = ask_and_judge,
    answers: Answers = ordinary,
    *,
    seconds: float = 60.0,
    calls: FakeCalls | None = None,
    asker: Cue | None = None,
    **options: Any,
) -> tuple[Record, list[str]]:
    """The record of the run and the ids of its calls; `evaluate` is the suite's."""

    async def story() -> tuple[Record, list[str]]:
        deadline = Deadline(seconds)

        class FakeSuite:
            async def evaluate(
                self, case: Case, rubric: VerdictRubric, subject: Subject, panel: Panel
            ) -> Score:
                assert (case, rubric) == (CASE, RUBRIC)
                return await evaluate(subject, panel, deadline)

        loaded = LoadedSuite(
            suite=cast("Any", FakeSuite()),
            settings=resolve({**GIVEN, "case_timeout": f"{seconds:g}", **options}, {}, {}),
            rubric=RUBRIC,
            topics=Path(),
            dataset=None,
            cases=[CASE],
            files=Files(results=Path("unused.json"), journal=Path("unused.jsonl")),
        )
        fake = calls or FakeCalls(answers)
        fake.deadline = deadline
        return await run_case(loaded, Run(suite="s", case=CASE, number=2, asker=asker), cast("Any", fake))

    return asyncio.run(story())


def test_transcripts_and_calls_stand_in_the_panels_order() -> None:
    """Subject first, then evaluator by evaluator with every attempt, whoever answered first."""
    invalid = ["no", "never"]

    def answers(call: Call) -> Reply | BaseException:
        is_invalid = call.model == "e2" and invalid
        return Reply(text=invalid.pop(0)) if is_invalid else ordinary(call)

    fake = FakeCalls(answers)
    record, calls = run(calls=fake)
    assert [item.call.model for item in fake.exchanges] == ["m", "e2", "e2", "e1"]
    assert calls == ["w-1", "w-4", "w-2", "w-3"]
    assert said(record.subject) == [["Why?", "Because."]]
    assert [(item.name, item.messages[-1]["content"]) for item in record.evaluators] == [
        ("e1", VALID),
        ("e2", "no"),
        ("e2", "never"),
    ]


def test_a_subject_that_judges_itself_is_shown_in_both_roles() -> None:
    """What it was asked and what it judged are apart, though the model is one."""
    record, calls = run(evaluator_model=["m"])
    assert said(record.subject) == [["Why?", "Because."]]
    assert [(item.name, item.messages[-1]["content"]) for item in record.evaluators] == [("m", VALID)]
    assert calls == ["w-1", "w-2"]


def test_how_long_calls_have_waited_is_in_the_record() -> None:
    """In seconds, beside how long they took."""
    fake = FakeCalls(ordinary)
    fake.queued = 1.23456
    record, _ = run(calls=fake)
    assert (record.queued, record.latency) == (1.235, 0.0)


@pytest.mark.parametrize("role", ["subject", "evaluator"])
def test_a_call_that_fails_is_an_error_in_the_record(role: str) -> None:
    """There is no score, the failure is told in its words, and what was said before it is kept."""

    def answers(call: Call) -> Reply | BaseException:
        return CallFailed("HTTP 400: no") if call.role == role else ordinary(call)

    record, calls = run(answers=answers)
    assert (record.outcome, record.score, record.percent) == ("error", None, None)
    assert record.error == "HTTP 400: no"
    assert (record.verdicts, record.evaluators) == ((), ())
    assert said(record.subject) == ([] if role == "subject" else [["Why?", "Because."]])
    assert calls == ([] if role == "subject" else ["w-1"])


def test_a_run_that_takes_too_long_is_an_error_that_names_the_option() -> None:
    """The user learns which limit it was; what was said before it is kept."""

    async def evaluate(subject: Subject, panel: Panel, deadline: Deadline) -> Score:
        await subject.ask("Why?")
        deadline.resume()
        await asyncio.sleep(60)
        raise AssertionError

    record, calls = run(evaluate, seconds=0.01)
    assert (record.outcome, record.score) == ("error", None)
    assert record.error == "the run took longer than --case-timeout 0.01"
    assert (said(record.subject), calls) == ([["Why?", "Because."]], ["w-1"])


@pytest.mark.parametrize("keeps_going", [False, True])
def test_an_evaluator_that_fails_for_good_is_stood_in_for_only_where_that_is_wanted(
    keeps_going: bool,
) -> None:
    """--keep-going is the panel's."""

    def answers(call: Call) -> Reply | BaseException:
        return CallFailed("down", stops_session=True) if call.model == "e1" else ordinary(call)

    record, _ = run(answers=answers, keep_going=str(keeps_going))
    assert record.outcome == ("scored" if keeps_going else "error")
    scores = [(item.evaluator, item.fields and item.fields["score"]) for item in record.verdicts]
    assert scores == ([("e1", None), ("e2", 4)] if keeps_going else [])


def test_every_evaluator_has_a_marker_code_of_its_own() -> None:
    """By nonce, run and name: a resumed session asks with the same, and nobody else can tell it."""
    fake = FakeCalls(ordinary)
    run(calls=fake)
    prompts = {item.call.model: item.call.messages[-1]["content"] for item in fake.exchanges[1:]}
    codes = {name: journal.one_time_code("n0", RUN.id, name) for name in ("e1", "e2")}
    assert prompts == {name: f"[{code}]\nBecause.\n[{code}]" for name, code in codes.items()}
    assert codes["e1"] != codes["e2"]


def test_a_reply_that_repeats_who_asks_is_noted() -> None:
    """One of the subject's, not of an evaluator's; nothing is noted where nobody is said to ask."""
    cue = Cue(side="us", place="first", form="stated", number=1, text="I spend my days in the orchard.")
    repeats = "As you spend your days in the orchard: no."
    for subject, evaluator, is_named in ((repeats, VALID, True), ("Because.", repeats, False)):
        texts = {"subject": subject, "evaluator": evaluator}
        record, _ = run(answers=lambda call, texts=texts: Reply(text=texts[call.role]), asker=cue)  # type: ignore[misc]
        assert (record.asker, record.names_asker) == (cue, is_named)
    assert run()[0].names_asker is None
