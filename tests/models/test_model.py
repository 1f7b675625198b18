"""A model in a role, and the subject: what is sent, and what becomes of several calls together."""

from __future__ import annotations

import asyncio

import pytest
from fakes import FakeModel

from equipoise.core.errors import CallFailed, SessionStopped
from equipoise.core.settings import Sampling
from equipoise.core.types import Call, Message, Reply, Usage
from equipoise.models.model import Model, Subject, together


def test_the_subject_gets_the_bare_question() -> None:
    """Without a system prompt the question is the only message and nothing is added to it."""
    ask = FakeModel("Because.")
    reply = asyncio.run(Subject("m", Sampling(), ask).ask("Why? $x {y}"))
    assert reply == Reply(text="Because.")
    user = Message(role="user", content="Why? $x {y}")
    assert ask.call == Call(role="subject", model="m", messages=(user,), parameters={})


def test_the_subjects_system_prompt_comes_first() -> None:
    """A system prompt that was given is sent as a system message."""
    ask = FakeModel("Because.")
    asyncio.run(Subject("m", Sampling(system_prompt="Be brief."), ask).ask("Why?"))
    assert ask.call.messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
    )


def test_only_parameters_that_are_set_are_sent(subtests: pytest.Subtests) -> None:
    """What is None is left out, and zero is a value."""
    for given in (
        {},
        {"temperature": 0.0},
        {"temperature": 1.0, "top_p": 0.5},
        {"top_k": 40, "max_tokens": 100},
    ):
        with subtests.test(given=given):
            ask = FakeModel("Because.")
            asyncio.run(Subject("m", Sampling(**given, system_prompt="Be brief."), ask).ask("Why?"))
            assert ask.call.parameters == given


def test_only_who_and_what_is_sent_of_an_earlier_reply() -> None:
    """The particulars of the calls before are left out of a conversation that goes on."""
    earlier = Reply(text="Because.", reasoning="Hm.", usage=Usage(output=5), model="m-1").to_message()
    first, next_ = Message(role="user", content="Why?"), Message(role="user", content="And then?")
    ask = FakeModel("Then this.")
    asyncio.run(Model("subject", "m", Sampling(), ask).complete((first, earlier, next_)))
    assert ask.call.messages == (first, {"role": "assistant", "content": "Because."}, next_)


def test_what_is_asked_for_in_one_call_goes_before_the_settings() -> None:
    """A parameter of a call replaces the setting of that name and leaves the others."""
    ask = FakeModel("Because.")
    model = Model("subject", "m", Sampling(temperature=1.0, max_tokens=10), ask)
    asyncio.run(model.complete((Message(role="user", content="Why?"),), max_tokens=20, seed=7))
    assert ask.call.parameters == {"temperature": 1.0, "max_tokens": 20, "seed": 7}


# Together.


def gathered(*asks: FakeModel) -> list[Reply]:
    """What `together` makes of one call of each."""

    async def session() -> list[Reply]:
        calls = [Call(role="subject", model="m", messages=(), parameters={}) for _ in asks]
        return await together(*(ask(call) for ask, call in zip(asks, calls, strict=True)))

    return asyncio.run(session())


def test_together_gives_all_answers_in_order() -> None:
    """In the order of the asking, whichever came first; of nothing, nothing."""
    assert [reply.text for reply in gathered(FakeModel("a", delay=0.02), FakeModel("b"))] == ["a", "b"]
    assert gathered() == []


def test_together_raises_only_once_all_are_home() -> None:
    """Paid calls come to their end, before and after the one that failed."""
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
