"""A model in a role, and the subject: what is sent, and what becomes of several calls together."""

from __future__ import annotations

import asyncio

import pytest
from fakes import FakeModel

from equipoise.core.errors import CallFailed, SessionStopped
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Message, Reply, Usage
from equipoise.models.model import Model, Subject, together


def test_the_subject_gets_the_bare_question(subtests: pytest.Subtests) -> None:
    """Behind the system prompt that was given, with the parameters that are set, zero included."""
    user = Message(role="user", content="Why? $x {y}")
    ask = FakeModel("Because.")
    assert asyncio.run(Subject("m", Sampling(), ask).ask("Why? $x {y}")) == Reply(text="Because.")
    assert ask.call == Call(role="subject", model="m", messages=(user,), parameters={})
    system = {"role": "system", "content": "Be brief."}
    sampling = ({"temperature": 0.0}, {"temperature": 1.0, "top_p": 0.5}, {"top_k": 40, "max_tokens": 100})
    for parameters in ({}, *sampling):
        with subtests.test(parameters=parameters):
            ask = FakeModel("Because.")
            subject = Subject("m", Sampling(**parameters, system_prompt="Be brief."), ask)
            asyncio.run(subject.ask(user["content"]))
            assert (ask.call.messages, ask.call.parameters) == ((system, user), parameters)


def test_only_who_and_what_is_sent_of_an_earlier_reply() -> None:
    """The particulars of the calls before are left out of a conversation that goes on."""
    earlier = Reply(text="Because.", reasoning="Hm.", usage=Usage(output=5), model="m-1").to_message()
    first, next_ = Message(role="user", content="Why?"), Message(role="user", content="And then?")
    ask = FakeModel("Then this.")
    asyncio.run(Model("subject", "m", Sampling(), ask).complete((first, earlier, next_)))
    assert ask.call.messages == (first, {"role": "assistant", "content": "Because."}, next_)


# Together.


def gathered(*asks: FakeModel) -> list[Reply]:
    """What `together` makes of one call of each."""

    async def session() -> list[Reply]:
        call = Call(role="subject", model="m", messages=(), parameters={})
        return await together(*(ask(call) for ask in asks))

    return asyncio.run(session())


def test_together_waits_for_all() -> None:
    """All answers in the order of the asking; paid calls come to their end beside one that failed."""
    assert [reply.text for reply in gathered(FakeModel("a", delay=0.02), FakeModel("b"))] == ["a", "b"]
    assert gathered() == []
    slow = (FakeModel("a", delay=0.03), FakeModel("c", delay=0.03))
    with pytest.raises(CallFailed, match="down"):
        gathered(slow[0], FakeModel(CallFailed("down")), slow[1])
    assert [ask.finished for ask in slow] == [1, 1]


def test_together_prefers_what_is_no_failed_call(subtests: pytest.Subtests) -> None:
    """A defect of ours, or the end of the session, is raised in place of a call that failed."""
    for is_first in (True, False):
        for what, more in {"defect": KeyError("defect"), "end": SessionStopped("end")}.items():
            with subtests.test(what, is_first=is_first):
                asks = [FakeModel(more), FakeModel(CallFailed("down"))]
                with pytest.raises(type(more)):
                    gathered(*(asks if is_first else asks[::-1]))


def test_of_several_failed_calls_the_first_asked_is_raised() -> None:
    """Whichever reply came first, so that the same session says the same."""
    with pytest.raises(CallFailed, match="one"):
        gathered(FakeModel(CallFailed("one"), delay=0.02), FakeModel(CallFailed("two")))
