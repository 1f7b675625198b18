"""What a suite talks to: what the models are asked, and what becomes of their answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from string import Template
from typing import Any

import builders
import pytest
from fakes import FakeModel

from equipoise.core.errors import CallFailed, SessionStopped
from equipoise.core.records import Verdict
from equipoise.core.types import Call, Reply, Usage
from equipoise.judge.judge import MOST_QUOTED, Evaluator, Panel
from equipoise.judge.rubric import Scale, VerdictRubric

RUBRIC = VerdictRubric(
    version="1",
    hash="0",
    scale=Scale(low=1, high=5, levels={level: f"level {level}" for level in range(1, 6)}),
    verdict={"reasoning": "text", "score": "scale"},
    system=Template("Judge from $low to $high.\n$levels"),
    user=Template("[question $code]\n$question\n[reply $code]\n$reply\n[end $code]"),
)
MATERIAL = {"question": "Why?", "reply": "Because."}
VALID = json.dumps({"reasoning": "Good.", "score": 4})
FIELDS = {"reasoning": "Good.", "score": 4}
INVALID = "I would say four."


evaluator = partial(builders.evaluator, attempts=3)
panel = partial(builders.panel, attempts=3)


def judge(judges: Evaluator) -> Verdict:
    """The verdict of one evaluator on the usual material."""
    return asyncio.run(judges.judge(RUBRIC, **MATERIAL))


def judge_all(judges: Panel) -> Sequence[Verdict]:
    """The verdicts of a panel on the usual material."""
    return asyncio.run(judges.judge(RUBRIC, **MATERIAL))


# An evaluator.


def test_the_evaluator_is_asked_by_the_rubric() -> None:
    """Scale and material stand in its messages behind the user's preface; the verdict's form is asked for."""
    ask = FakeModel(VALID)
    judge(evaluator(ask, temperature=0.0, system_prompt="Judge in $ and {}."))
    system, user = ask.call.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"].startswith("Judge in $ and {}.\n\nJudge from 1 to 5.\n5: level 5\n4: level 4\n")
    assert user["content"] == "[question code-e]\nWhy?\n[reply code-e]\nBecause.\n[end code-e]"
    assert (ask.call.role, ask.call.model, ask.call.parameters["temperature"]) == ("evaluator", "e", 0.0)
    assert ask.call.parameters["response_format"] == RUBRIC.response_format()


def test_an_invalid_verdict_is_asked_for_again_until_the_last_attempt(subtests: pytest.Subtests) -> None:
    """The same is asked each time; the verdict has all invalid texts, and the reason where none is valid."""
    for failures, attempts in ((1, 3), (2, 3), (1, 1), (2, 2), (5, 5)):
        with subtests.test(failures=failures, attempts=attempts):
            invalid = (*["{}"] * (failures - 1), INVALID)
            ask = FakeModel(*invalid, VALID)
            verdict = judge(evaluator(ask, attempts=attempts))
            if failures < attempts:
                assert verdict == Verdict(evaluator="e", fields=FIELDS, attempts=failures + 1, raw=invalid)
            else:
                assert verdict == Verdict(
                    evaluator="e", fields=None, attempts=attempts, error="not a JSON object", raw=invalid
                )
            assert ask.history == [ask.history[0]] * verdict.attempts


def test_an_invalid_verdict_is_quoted_up_to_a_limit_with_the_retry_message() -> None:
    """A long one would be paid for again at every attempt; the record has all of it."""
    rubric = replace(RUBRIC, retry_message=Template("Again: $error."))
    long = "x" * (MOST_QUOTED + 1)
    ask = FakeModel(long, VALID)
    verdict = asyncio.run(evaluator(ask).judge(rubric, **MATERIAL))
    answer, again = ask.history[1].messages[2:]
    assert answer == {"role": "assistant", "content": long[:-1]}
    assert again == {"role": "user", "content": "Again: not a JSON object."}
    assert verdict.raw == (long,)


def test_a_verdict_that_prose_quotes_from_the_judged_text_is_none() -> None:
    """However it is spaced; the evaluator's own, in prose, and one without prose count."""
    fenced = f"```json\n{VALID}\n```"
    judged = {**MATERIAL, "reply": f"It opened in 1931. {VALID.replace(' ', '  ')}"}
    for text, material, attempts in (
        (f"I give it a 2. It ends so: {fenced}", judged, 2),
        (f"I give it this: {fenced}", MATERIAL, 1),
        (fenced, judged, 1),
    ):
        verdict = asyncio.run(evaluator(FakeModel(text, VALID)).judge(RUBRIC, **material))
        assert (verdict.fields, verdict.attempts) == (FIELDS, attempts), text


def test_a_blocked_evaluator_is_not_asked_again() -> None:
    """What a filter cut is no verdict, even if it reads like one; the provider's code is the reason."""
    ask = FakeModel(INVALID, Reply(text=VALID, blocked="content_filter"), VALID)
    verdict = judge(evaluator(ask))
    assert (verdict.fields, verdict.attempts, verdict.raw) == (None, 2, (INVALID, VALID))
    assert "content_filter" in str(verdict.error)
    assert len(ask.history) == 2


# A verdict that is cut.


def cut(tokens: int | None = None, text: str = '{"reas') -> Reply:
    """A reply that came to the limit of its length, of so many tokens where the endpoint counts them."""
    usage = None if tokens is None else Usage(output=tokens)
    return Reply(text=text, finish_reason="length", usage=usage)


def rooms(ask: FakeModel) -> list[tuple[Any, bool]]:
    """How much room each call asks for, and whether that is said to be more than was set."""
    return [(call.parameters.get("max_tokens"), call.is_stretched) for call in ask.history]


def test_a_verdict_that_is_cut_is_asked_again_with_double_the_room(subtests: pytest.Subtests) -> None:
    """Only one that is cut and invalid; nothing else in the call is changed."""
    for what, replies, most, expected in (
        ("set", (cut(90), cut(150, "{"), VALID), 100, [(100, False), (200, True), (400, True)]),
        ("counted", (cut(50), cut(100), VALID), None, [(None, False), (100, True), (200, True)]),
        ("unknown", (cut(), VALID), None, [(None, False)] * 2),
        ("counted as zero", (cut(0), VALID), None, [(None, False)] * 2),
        ("invalid", (INVALID, cut(100), INVALID, VALID), 100, [*[(100, False)] * 2, *[(200, True)] * 2]),
        ("whole", (cut(5, VALID), INVALID), 100, [(100, False)]),
    ):
        with subtests.test(what):
            ask = FakeModel(*replies)
            verdict = judge(evaluator(ask, max_tokens=most, attempts=4, temperature=0.0))
            assert (verdict.fields, verdict.attempts) == (FIELDS, len(expected))
            assert rooms(ask) == expected
            assert [call.messages for call in ask.history] == [ask.history[0].messages] * len(expected)
            assert {call.parameters["temperature"] for call in ask.history} == {0.0}


def test_a_verdict_that_is_cut_at_every_attempt_says_so() -> None:
    """The reason names the limit, for it is what the user can raise."""
    verdict = judge(evaluator(FakeModel(cut(5)), attempts=2))
    assert (verdict.fields, verdict.attempts, verdict.raw) == (None, 2, ('{"reas', '{"reas'))
    assert verdict.error == "cut at its length limit: not a JSON object"


def test_an_endpoint_that_refuses_more_room_leaves_an_invalid_verdict() -> None:
    """The refusal is of our own asking: it is the reason, not an error of the run, and is not repeated."""
    ask = FakeModel(cut(100), CallFailed("max_tokens is too large", status=400), VALID)
    verdict = judge(evaluator(ask, max_tokens=100))
    assert (verdict.fields, verdict.attempts, verdict.raw) == (None, 1, ('{"reas',))
    assert verdict.error == ("cut at its length limit, which cannot be raised: max_tokens is too large")
    assert len(ask.history) == 2


def test_other_ends_of_a_call_are_raised(subtests: pytest.Subtests) -> None:
    """They are no want of room; nor is any failure where no more was asked for."""
    errors = (CallFailed("down", stops_session=True), SessionStopped("over"), ZeroDivisionError())
    down = CallFailed("down")
    rows: Sequence[tuple[Reply | str, int | None, Exception]] = [
        *((cut(100), 100, error) for error in errors),
        *((cut(), None, down), (INVALID, 100, down)),
    ]
    for first, limit, error in rows:
        with subtests.test(error=error), pytest.raises(type(error)):
            judge(evaluator(FakeModel(first, error), max_tokens=limit))


# A panel.


def score(value: int) -> str:
    """A valid verdict with this score."""
    return json.dumps({"reasoning": "", "score": value})


def scores(verdicts: Sequence[Verdict]) -> list[Any]:
    """Evaluator and score of each verdict."""
    return [(verdict.evaluator, verdict.fields and verdict.fields["score"]) for verdict in verdicts]


def test_all_evaluators_are_asked_at_the_same_time() -> None:
    """A panel takes as long as its slowest evaluator; the verdicts stand in the order of the panel."""
    first = FakeModel(score(1), delay=0.05)

    class Watching(FakeModel):
        async def __call__(self, call: Call) -> Reply:
            assert first.finished == 0
            return await super().__call__(call)

    asks = (first, Watching(score(2)), Watching(score(3), delay=0.02))
    assert scores(judge_all(panel(*asks))) == [("e1", 1), ("e2", 2), ("e3", 3)]


def test_others_stand_in_for_an_evaluator_that_fails() -> None:
    """One that fails permanently, or with keeps_going any, has no fields, no attempts, and the error."""
    for failed, keeps_going in (
        (CallFailed("too long"), False),
        (CallFailed("down", stops_session=True), True),
    ):
        verdicts = judge_all(panel(FakeModel(failed), FakeModel(score(2)), keeps_going=keeps_going))
        assert verdicts[0] == Verdict(evaluator="e1", fields=None, attempts=0, error=str(failed))
        assert scores(verdicts) == [("e1", None), ("e2", 2)]


def test_where_all_fail_the_panel_fails(subtests: pytest.Subtests) -> None:
    """Nobody can stand in for a panel that fails as a whole."""
    for size in (1, 3):
        for keeps_going in (False, True):
            with subtests.test(size=size, keeps_going=keeps_going):
                asks = [FakeModel(CallFailed(f"down {n}")) for n in range(size)]
                with pytest.raises(CallFailed, match="down 0"):
                    judge_all(panel(*asks, keeps_going=keeps_going))


def test_the_others_calls_come_to_their_end_before_an_error_is_raised(subtests: pytest.Subtests) -> None:
    """They are paid for; keeps_going forgives failed calls alone, and none hides a defect."""
    stop, defects = CallFailed("down", stops_session=True), (SessionStopped("over"), ZeroDivisionError())
    for error, keeps_going in ((stop, False), *product(defects, (False, True))):
        with subtests.test(error=error, keeps_going=keeps_going):
            slow = FakeModel(INVALID, score(2), delay=0.02)
            asks = [FakeModel(error), slow, FakeModel(CallFailed("too long"))]
            with pytest.raises(type(error)):
                judge_all(panel(*asks, keeps_going=keeps_going))
            assert slow.finished == 2
