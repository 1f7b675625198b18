"""What a suite talks to: what the models are asked, and what becomes of their answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from string import Template
from typing import Any

import pytest

from equipoise.errors import CallFailed, SessionStopped
from equipoise.models import Evaluator, Panel, Subject
from equipoise.rubric import Rubric, Scale
from equipoise.settings import Sampling
from equipoise.types import Call, Message, Reply, Transcript, Verdict

RUBRIC = Rubric(
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

Answer = Reply | BaseException


class FakeAsk:
    """Gives out these answers in turn, the last one from then on, and keeps every call."""

    def __init__(self, *answers: Answer | str, delay: float = 0.0) -> None:
        self.calls: list[Call] = []
        self.finished = 0
        self._answers = [Reply(text=answer) if isinstance(answer, str) else answer for answer in answers]
        self._delay = delay

    async def __call__(self, call: Call) -> Reply:
        """Keep the call, wait, answer."""
        answer = self._answers[min(len(self.calls), len(self._answers) - 1)]
        self.calls.append(call)
        await asyncio.sleep(self._delay)
        self.finished += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def call(self) -> Call:
        """The one call that there was."""
        (call,) = self.calls
        return call


class FakeCode:
    """Makes marker codes and keeps for whom."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, model: str) -> str:
        """A code that shows the model's name and how often it was asked for."""
        self.asked.append(model)
        return f"<{model} {len(self.asked)}>"


def evaluator(
    ask: FakeAsk, name: str = "e", *, attempts: int = 3, code: FakeCode | None = None, **sampling: Any
) -> Evaluator:
    """An evaluator that asks the fake."""
    return Evaluator(name, Sampling(**sampling), ask, attempts=attempts, code=code or FakeCode())


def panel(*asks: FakeAsk, keeps_going: bool = False, attempts: int = 3) -> Panel:
    """Evaluators e1, e2, ... that ask the fakes in order."""
    members = [evaluator(ask, f"e{n}", attempts=attempts) for n, ask in enumerate(asks, start=1)]
    return Panel(members, keeps_going=keeps_going)


def judge(judges: Evaluator) -> Verdict:
    """The verdict of one evaluator on the usual material."""
    return asyncio.run(judges.judge(RUBRIC, **MATERIAL))


def judge_all(judges: Panel) -> Sequence[Verdict]:
    """The verdicts of a panel on the usual material."""
    return asyncio.run(judges.judge(RUBRIC, **MATERIAL))


# The subject.


def test_the_subject_gets_the_bare_question() -> None:
    """Without a system prompt the question is the only message and nothing is added to it."""
    ask = FakeAsk("Because.")
    reply = asyncio.run(Subject("m", Sampling(), ask).ask("Why? $x {y}"))
    assert reply == Reply(text="Because.")
    user = Message(role="user", content="Why? $x {y}")
    assert ask.call == Call(role="subject", model="m", messages=(user,), parameters={})


def test_the_subjects_system_prompt_comes_first() -> None:
    """A system prompt that was given is sent as a system message."""
    ask = FakeAsk("Because.")
    asyncio.run(Subject("m", Sampling(system_prompt="Be brief."), ask).ask("Why?"))
    assert ask.call.messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"temperature": 0.0},
        {"temperature": 1.0, "top_p": 0.5},
        {"top_k": 40, "max_tokens": 100},
    ],
    ids=str,
)
def test_only_parameters_that_are_set_are_sent(given: dict[str, Any]) -> None:
    """What is None is left out, and zero is a value."""
    ask = FakeAsk("Because.")
    asyncio.run(Subject("m", Sampling(**given, system_prompt="Be brief."), ask).ask("Why?"))
    assert ask.call.parameters == given


def test_the_subjects_transcript_holds_the_whole_conversation() -> None:
    """Model, parameters, all that was sent and the reply with its particulars are kept."""
    reply = Reply(text="Because.", reasoning="Hm.", finish_reason="stop", latency=0.5, model="m-1")
    subject = Subject("m", Sampling(temperature=1.0), FakeAsk(reply))
    asyncio.run(subject.ask("Why?"))
    (transcript,) = subject.transcripts
    assert (transcript.model, transcript.parameters) == ("m", {"temperature": 1.0})
    assert transcript.messages == ({"role": "user", "content": "Why?"}, reply.to_message())


def test_a_subject_that_fails_leaves_no_transcript() -> None:
    """A call that brings no reply raises CallFailed, and nothing is made up for it."""
    subject = Subject("m", Sampling(), FakeAsk(CallFailed("down")))
    with pytest.raises(CallFailed, match="down"):
        asyncio.run(subject.ask("Why?"))
    assert subject.transcripts == []


# An evaluator.


def test_a_valid_verdict_is_taken_at_once() -> None:
    """The first valid verdict counts, after one call."""
    ask = FakeAsk(VALID)
    assert judge(evaluator(ask)) == Verdict(evaluator="e", fields=FIELDS, attempts=1)
    assert len(ask.calls) == 1


def test_the_evaluator_is_asked_by_the_rubric() -> None:
    """Scale and material stand in the rubric's own messages, and the verdict's form is asked for."""
    ask = FakeAsk(VALID)
    judge(evaluator(ask, temperature=0.0))
    system, user = ask.call.messages
    assert system["content"].startswith("Judge from 1 to 5.\n5: level 5\n4: level 4\n")
    assert user["content"] == "[question <e 1>]\nWhy?\n[reply <e 1>]\nBecause.\n[end <e 1>]"
    assert (ask.call.role, ask.call.model, ask.call.parameters["temperature"]) == ("evaluator", "e", 0.0)
    schema = {"name": "verdict", "strict": True, "schema": RUBRIC.schema()}
    assert ask.call.parameters["response_format"] == {"type": "json_schema", "json_schema": schema}


def test_the_evaluators_preface_stands_before_the_rubric() -> None:
    """The evaluator's system prompt is put before the rubric's instruction, in one system message."""
    ask = FakeAsk(VALID)
    judge(evaluator(ask, system_prompt="Judge in $ and {}."))
    roles = [message["role"] for message in ask.call.messages]
    assert roles == ["system", "user"]
    assert ask.call.messages[0]["content"].startswith("Judge in $ and {}.\n\nJudge from 1 to 5.")


def test_the_marker_code_is_made_for_this_evaluator() -> None:
    """The code is asked for by the evaluator's name and stands at every marker of one attempt."""
    ask, code = FakeAsk(VALID), FakeCode()
    judge(evaluator(ask, "judge-1", code=code))
    assert set(code.asked) == {"judge-1"}
    assert ask.call.messages[1]["content"].count("<judge-1 1>") == 3


def test_a_reply_cannot_close_its_own_quotation() -> None:
    """Placeholders and markers in the material are text and are not filled in."""
    ask = FakeAsk(VALID)
    asyncio.run(evaluator(ask).judge(RUBRIC, question="$reply", reply="[end $code] $question"))
    assert ask.call.messages[1]["content"] == (
        "[question <e 1>]\n$reply\n[reply <e 1>]\n[end $code] $question\n[end <e 1>]"
    )


@pytest.mark.parametrize("failures", [1, 2])
def test_an_invalid_verdict_is_asked_for_again(failures: int) -> None:
    """Up to the allowed attempts the evaluator is asked again; the verdict says how many it took."""
    ask = FakeAsk(*[INVALID] * failures, VALID)
    verdict = judge(evaluator(ask))
    assert verdict == Verdict(evaluator="e", fields=FIELDS, attempts=failures + 1)
    assert len(ask.calls) == failures + 1


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_after_the_last_attempt_there_is_no_verdict(attempts: int) -> None:
    """The fields are None, with the reason and the last text as it was written."""
    ask = FakeAsk(*["{}"] * (attempts - 1), INVALID, VALID)
    verdict = judge(evaluator(ask, attempts=attempts))
    assert verdict == Verdict(
        evaluator="e", fields=None, attempts=attempts, error="not a JSON object", raw=INVALID
    )
    assert len(ask.calls) == attempts


def test_a_blocked_evaluator_is_not_asked_again() -> None:
    """A provider that filters the evaluator's call gives no verdict, with the provider's code as reason."""
    ask = FakeAsk(INVALID, Reply(text="I c", blocked="content_filter"), VALID)
    verdict = judge(evaluator(ask))
    assert (verdict.fields, verdict.attempts, verdict.raw) == (None, 2, "I c")
    assert "content_filter" in str(verdict.error)
    assert len(ask.calls) == 2


def test_a_blocked_text_is_no_verdict_even_if_it_reads_like_one() -> None:
    """What a filter cut is not taken for a judgement."""
    assert judge(evaluator(FakeAsk(Reply(text=VALID, blocked="content_filter")))).fields is None


def test_the_evaluators_transcripts_hold_every_attempt() -> None:
    """Invalid attempts are kept beside the valid one, in order, each with what was asked."""
    ask = FakeAsk(INVALID, "{}", VALID)
    judges = evaluator(ask)
    judge(judges)
    assert [item.messages[-1]["content"] for item in judges.transcripts] == [INVALID, "{}", VALID]
    assert [item.messages[:-1] for item in judges.transcripts] == [call.messages for call in ask.calls]


def test_a_call_that_fails_is_not_an_invalid_verdict() -> None:
    """CallFailed goes through and is not asked again here: the client has retried already."""
    ask = FakeAsk(INVALID, CallFailed("down"), VALID)
    with pytest.raises(CallFailed, match="down"):
        judge(evaluator(ask))
    assert len(ask.calls) == 2


# A panel.


def score(value: int) -> str:
    """A valid verdict with this score."""
    return json.dumps({"reasoning": "", "score": value})


def scores(verdicts: Sequence[Verdict]) -> list[Any]:
    """Evaluator and score of each verdict."""
    return [(verdict.evaluator, verdict.fields and verdict.fields["score"]) for verdict in verdicts]


def test_verdicts_come_in_the_panels_order() -> None:
    """However long each evaluator takes, the verdicts stand in the order of the panel."""
    asks = [FakeAsk(score(n), delay=delay) for n, delay in ((1, 0.05), (2, 0.0), (3, 0.02))]
    assert scores(judge_all(panel(*asks))) == [("e1", 1), ("e2", 2), ("e3", 3)]


def test_all_evaluators_are_asked_at_the_same_time() -> None:
    """A panel takes as long as its slowest evaluator, not as all of them together."""
    first = FakeAsk(score(1), delay=0.05)

    class Watching(FakeAsk):
        async def __call__(self, call: Call) -> Reply:
            assert first.finished == 0
            return await super().__call__(call)

    assert len(judge_all(panel(first, Watching(score(2))))) == 2


def test_an_invalid_verdict_of_one_leaves_the_others() -> None:
    """An evaluator without a valid verdict stands in the panel with its reason."""
    verdicts = judge_all(panel(FakeAsk(INVALID), FakeAsk(score(2))))
    assert scores(verdicts) == [("e1", None), ("e2", 2)]
    assert verdicts[0].error == "not a JSON object"


def test_one_failing_evaluator_fails_the_panel() -> None:
    """Without keeps_going a call that ends the session is raised."""
    with pytest.raises(CallFailed, match="down"):
        judge_all(panel(FakeAsk(score(1)), FakeAsk(CallFailed("down", stops_session=True))))


def test_a_failure_that_ends_nothing_leaves_the_others_verdicts() -> None:
    """One evaluator's permanent error does not throw away what the others were paid for."""
    verdicts = judge_all(panel(FakeAsk(score(1)), FakeAsk(CallFailed("too long"))))
    assert scores(verdicts) == [("e1", 1), ("e2", None)]


def test_with_keeps_going_the_others_stand_in_for_a_failing_one() -> None:
    """The failing evaluator has no fields, no attempts, and the error; the rest count."""
    verdicts = judge_all(panel(FakeAsk(CallFailed("down")), FakeAsk(score(2)), keeps_going=True))
    assert verdicts[0] == Verdict(evaluator="e1", fields=None, attempts=0, error="down")
    assert scores(verdicts) == [("e1", None), ("e2", 2)]


@pytest.mark.parametrize("keeps_going", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_where_all_fail_the_panel_fails(size: int, keeps_going: bool) -> None:
    """Nobody can stand in for a panel that fails as a whole."""
    asks = [FakeAsk(CallFailed(f"down {n}")) for n in range(size)]
    with pytest.raises(CallFailed, match="down 0"):
        judge_all(panel(*asks, keeps_going=keeps_going))


@pytest.mark.parametrize(
    "error", [CallFailed("down", stops_session=True), SessionStopped("over"), ZeroDivisionError()], ids=repr
)
def test_the_others_calls_come_to_their_end_before_an_error_is_raised(error: BaseException) -> None:
    """Calls that are paid for are waited for and kept, whatever another evaluator ran into."""
    slow = FakeAsk(INVALID, score(2), delay=0.02)
    judges = panel(FakeAsk(error), slow)
    with pytest.raises(type(error)):
        judge_all(judges)
    assert slow.finished == 2
    assert [item.model for item in judges.transcripts] == ["e2", "e2"]


@pytest.mark.parametrize("error", [SessionStopped("over"), ZeroDivisionError()], ids=repr)
def test_keeps_going_forgives_failed_calls_only(error: BaseException) -> None:
    """The end of the session and our own defects are never turned into a missing verdict."""
    with pytest.raises(type(error)):
        judge_all(panel(FakeAsk(score(1)), FakeAsk(error), keeps_going=True))


@pytest.mark.parametrize("keeps_going", [False, True])
def test_a_defect_of_ours_is_not_hidden_behind_a_failed_call(keeps_going: bool) -> None:
    """Where one evaluator's call fails and another hits a defect, it is the defect that comes up."""
    asks = [FakeAsk(CallFailed("down")), FakeAsk(ZeroDivisionError())]
    with pytest.raises(ZeroDivisionError):
        judge_all(panel(*asks, keeps_going=keeps_going))


def test_the_panels_transcripts_stand_evaluator_by_evaluator() -> None:
    """Every attempt of every evaluator is there, grouped by evaluator in the panel's order."""
    judges = panel(FakeAsk(INVALID, score(1), delay=0.01), FakeAsk(score(2)))
    judge_all(judges)
    assert all(isinstance(item, Transcript) for item in judges.transcripts)
    said = [(item.model, item.messages[-1]["content"]) for item in judges.transcripts]
    assert said == [("e1", INVALID), ("e1", score(1)), ("e2", score(2))]
