"""What a session may still spend, counted before it is spent."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine
from itertools import product
from typing import Any

import pytest
from fakes import settle
from journals import ask

from equipoise.core.errors import SessionStopped
from equipoise.core.types import CONTINUES, Call, Message, Reply, Usage
from equipoise.models.budget import (
    EARLY_MARGIN,
    FRAME_TOKENS,
    MARGIN,
    NANO,
    Budget,
    most_prompt_tokens,
    prompt_tokens,
    usage_of,
)
from equipoise.models.counters import Counters

DOLLAR = NANO


class World:
    """The counters of a session, and what it was told when it was stopped."""

    def __init__(self) -> None:
        self.counters = Counters(2)
        self.told: list[str] = []

    def limited(self, *, calls: int | None = None, dollars: float | None = None) -> Budget:
        """Its budget."""
        return Budget(self.counters, self.told.append, calls=calls, dollars=dollars)


@pytest.fixture
def world() -> World:
    """An empty purse."""
    return World()


def dollars_a_token(usage: Usage) -> int:
    """A price at which sums are easy: a dollar for each token of output, nothing for input."""
    return usage.output * DOLLAR


def of_at_most(tokens: int) -> Call:
    """A call whose reply can have no more than so many tokens."""
    return ask("Why?", max_tokens=tokens)


OPEN_ENDED = ask("Why?")
"""A call of which nobody knows how long the reply will be."""


async def reserve(purse: Budget, call: Call = OPEN_ENDED, model: int = 0) -> int:
    """What is set aside for a call, at a dollar a token."""
    return await purse.reserve(call, model, dollars_a_token)


async def has_to_wait(waiting: Coroutine[Any, Any, int]) -> bool:
    """Whether this comes to a wait, in which case it is given up."""
    task = asyncio.create_task(waiting)
    await settle()
    has_waited = task.cancel()
    await asyncio.wait([task])
    return has_waited


def test_either_option_limits_a_session() -> None:
    """Nothing at all is a limit too, but neither option is none."""
    for limits in ({"calls": 1}, {"dollars": 1.0}, {"dollars": 0.0}, {"calls": 1, "dollars": 1.0}):
        assert World().limited(**limits).is_limited, limits
    assert not World().limited().is_limited


# Requests.


async def test_who_is_turned_away_for_requests_is_told_why(world: World) -> None:
    """Once, with the option and what to do; a request that failed, and is home, has been sent."""
    purse = world.limited(calls=1)
    await reserve(purse)
    world.counters.leave()
    with pytest.raises(SessionStopped, match="--max-calls 1 is used up: requests sent: 1"):
        await reserve(purse)
    assert world.told == ["--max-calls 1 is used up: requests sent: 1; the same command resumes from here"]
    assert world.counters.totals().in_flight == 0


# Money.


async def test_a_batch_may_cost_what_is_neither_spent_nor_reserved(world: World) -> None:
    """A call in flight holds back its reservation until it is settled, and its request for good."""
    purse = world.limited(calls=9, dollars=10.0)
    assert purse.remaining() == (9, 10 * DOLLAR)
    reserved = await reserve(purse, of_at_most(4))
    assert purse.remaining() == (8, 6 * DOLLAR)
    purse.settle(reserved, 1 * DOLLAR)
    assert purse.remaining() == (8, 9 * DOLLAR)
    purse.commit(20 * DOLLAR)
    assert purse.remaining() == (8, 0)
    assert World().limited().remaining() == (None, None)


def prompt_cost(call: Call) -> int:
    """What is set aside for a call at a nano-dollar for each token of input, and nothing for output."""
    return asyncio.run(World().limited(dollars=10).reserve(call, 0, lambda usage: usage.input))


def test_the_prompt_is_part_of_what_a_request_may_cost(subtests: pytest.Subtests) -> None:
    """Each byte may be a token; messages have frames, and a schema is part of the prompt."""
    text = "香" * 3000
    messages = (Message(role="system", content=text), Message(role="user", content=text))
    call = Call(role="subject", model="m", messages=messages, parameters={"max_tokens": 1})
    assert 6000 * 3 <= prompt_cost(call) <= 6000 * 3 + 200
    for what, prompt in {"digits": "0123456789" * 100, "marks": "\\x1b" * 250, "é": "é" * 500}.items():
        with subtests.test(what):
            assert prompt_cost(ask(prompt, max_tokens=1)) >= 1000
    short, long = ask("a", max_tokens=1), ask(*["a"] * 41, max_tokens=1)
    assert prompt_cost(long) - prompt_cost(short) == 40 * (1 + FRAME_TOKENS)
    schema = {"type": "json_schema", "json_schema": {"schema": {"enum": [f"label {n}" for n in range(90)]}}}
    full = ask("a", max_tokens=1, response_format=schema)
    assert prompt_cost(full) - prompt_cost(short) >= len(json.dumps(schema, separators=(",", ":")))
    assert prompt_cost(ask("cut \ud83d", max_tokens=1)) > 0
    likely = ask("Why is that so? " * 100, max_tokens=5)
    assert most_prompt_tokens(likely) > 2 * prompt_tokens(likely)


async def test_requests_wait_for_one_another(world: World) -> None:
    """What one has set aside is not to be had by another until it has ended; who gives up holds nothing."""
    purse = world.limited(dollars=10)
    amount = await reserve(purse, of_at_most(6))
    assert await has_to_wait(reserve(purse, of_at_most(6)))
    assert await reserve(purse, of_at_most(4)) == 4 * DOLLAR
    purse.settle(amount, 2 * DOLLAR)
    assert await reserve(purse, of_at_most(4)) == 4 * DOLLAR
    now = world.counters.totals()
    assert (now.reserved, now.spent, now.sent, now.in_flight) == (8 * DOLLAR, 2 * DOLLAR, 3, 3)


async def test_who_is_turned_away_for_money_is_told_why(world: World) -> None:
    """Once, with the option and what to do; the last request may use up all that is left."""
    purse = world.limited(dollars=2.5)
    purse.settle(await reserve(purse, of_at_most(1)), DOLLAR)
    with pytest.raises(SessionStopped, match=r"--max-cost 2\.5 USD is used up: 1\.0000 USD were spent"):
        await reserve(purse, of_at_most(2))
    assert await reserve(purse, of_at_most(1)) == DOLLAR
    assert world.told == [
        "--max-cost 2.5 USD is used up: 1.0000 USD were spent; the same command resumes from here"
    ]
    assert world.counters.totals().sent == 2


def test_where_nothing_is_left_nobody_is_let_in(subtests: pytest.Subtests) -> None:
    """Neither a short request nor one whose length nobody knows."""
    for what, call in {"open_ended": OPEN_ENDED, "short": of_at_most(1)}.items():
        for cap in (0.0, 10.0):
            with subtests.test(what, cap=cap):
                world = World()
                purse = world.limited(dollars=cap)
                world.counters.settle(0, int(cap) * DOLLAR)
                with pytest.raises(SessionStopped, match="--max-cost"):
                    asyncio.run(reserve(purse, call))
                assert world.counters.totals().sent == 0


@pytest.mark.parametrize("cost", [1, 2])
async def test_a_request_that_is_too_dear_now_may_fit_later(world: World, cost: int) -> None:
    """It waits for those in flight, and no other slips past; then it is let in, or ends the session."""
    purse = world.limited(dollars=10)
    amount = await reserve(purse, of_at_most(8))
    dear = asyncio.create_task(reserve(purse, of_at_most(9)))
    await settle()
    assert await has_to_wait(reserve(purse, of_at_most(1)))
    assert not dear.done()
    purse.settle(amount, cost * DOLLAR)
    if cost == 1:
        assert await dear == 9 * DOLLAR
    else:
        with pytest.raises(SessionStopped, match=r"2\.0000 USD were spent"):
            await dear
    assert len(world.told) == cost - 1


async def test_a_free_model_is_asked_as_long_as_anything_is_left(world: World) -> None:
    """What costs nothing needs nothing set aside, also while all is set aside for another."""
    purse = world.limited(dollars=1)
    await reserve(purse, of_at_most(1))
    for _ in range(3):
        assert await purse.reserve(of_at_most(100), 1, lambda usage: 0) == 0


async def test_money_and_requests_are_limited_together(world: World) -> None:
    """Whichever is used up first ends the session."""
    purse = world.limited(calls=2, dollars=10)
    for _ in range(2):
        purse.settle(await reserve(purse, of_at_most(1)), 0)
    with pytest.raises(SessionStopped, match="--max-calls"):
        await reserve(purse, of_at_most(1))


# Tokens that nobody has counted.

COUNTED = Usage(input=100, output=20)


def test_tokens_that_nobody_has_counted_are_estimated(subtests: pytest.Subtests) -> None:
    """A token for three bytes of what was thought and said; an endpoint's own count is taken as it is."""
    for what, (reply, expected) in {
        "counted": (Reply(text="x" * 30, usage=COUNTED), COUNTED),
        "counted-empty": (Reply(text="", usage=Usage(input=9)), Usage(input=9)),
        "uncounted": (Reply(text="x" * 30), 10),
        "thoughts": (Reply(text="x" * 31, reasoning="y" * 30), 21),
        "bytes": (Reply(text="香港"), 2),
        "lone-surrogate": (Reply(text="\ud83d"), 1),
        "empty": (Reply(text=""), 0),
        "nothing-counted": (Reply(text="x" * 30, usage=Usage()), 10),
        "only-prompt-counted": (Reply(text="x" * 30, usage=Usage(input=100)), 10),
        "only-reply-counted": (Reply(text="x" * 30, usage=Usage(output=20)), 10),
        "cut-by-filter": (Reply(text="x" * 30, blocked="filter"), 10),
        "rejected-by-filter": (Reply(text="", blocked="filter"), Usage()),
    }.items():
        with subtests.test(what):
            call = ask("Why?")
            estimated = (
                Usage(input=prompt_tokens(call), output=expected) if isinstance(expected, int) else None
            )
            assert usage_of(call, reply) == (estimated or expected)
            assert reply.is_metered == (estimated is None)


def test_what_is_only_given_back_has_not_been_written() -> None:
    """Of a text that an endpoint repeats only the end is the model's."""
    parameters: dict[str, Any] = {CONTINUES: True, "echo": True}
    call = ask("Why? Because", **parameters)
    assert usage_of(call, Reply(text="Why? Because xyz")).output == 2


# Lengths that nobody knows.


async def test_a_request_of_unknown_length_waits_until_all_are_home(world: World) -> None:
    """It is not let in beside others, however much is left."""
    purse = world.limited(dollars=1000)
    amount = await reserve(purse, of_at_most(1))
    assert await has_to_wait(reserve(purse))
    purse.settle(amount, DOLLAR)
    assert await reserve(purse) == 999 * DOLLAR


async def test_the_first_reply_tells_how_long_others_may_be(world: World) -> None:
    """Once there is one, those who waited go together, each with a margin."""
    purse = world.limited(dollars=1000)
    after_one = int(10 * (MARGIN + EARLY_MARGIN)) * DOLLAR
    amount = await reserve(purse)
    others = [asyncio.create_task(reserve(purse)) for _ in range(3)]
    await settle()
    world.counters.count_reply(0, 5, 10, replayed=False)
    purse.settle(amount, 10 * DOLLAR)
    assert (await asyncio.gather(*others)) == [after_one] * 3
    assert world.counters.totals().reserved == 3 * after_one


def test_the_longest_reply_so_far_counts(world: World) -> None:
    """Also a replayed one, with a margin that shrinks with their number, unless the call sets a length."""
    purse = world.limited(dollars=1000)
    for tokens in (4, 20, 8):
        world.counters.count_reply(0, 0, tokens, replayed=tokens == 20)
    assert asyncio.run(reserve(purse)) == int(20 * (MARGIN + EARLY_MARGIN / 3)) * DOLLAR
    for _ in range(1000):
        world.counters.count_reply(0, 0, 10, replayed=False)
    assert asyncio.run(reserve(purse)) == int(20 * MARGIN) * DOLLAR
    assert asyncio.run(reserve(purse, of_at_most(40))) == 40 * DOLLAR


def test_a_model_that_has_not_answered_needs_as_much_as_others_cost(world: World) -> None:
    """It goes alone, as others tell nothing of it, but not with less left than they would want."""
    world.counters.count_reply(0, 0, 10, replayed=False)
    with pytest.raises(SessionStopped, match="--max-cost"):
        asyncio.run(reserve(world.limited(dollars=20), OPEN_ENDED, model=1))
    assert world.counters.totals().sent == 0
    assert asyncio.run(reserve(world.limited(dollars=100), OPEN_ENDED, model=1)) == 100 * DOLLAR


# Whoever waits.


async def test_whoever_waits_is_turned_away_when_the_session_ends(world: World) -> None:
    """A request that was waiting for money is not sent after the word to stop."""
    purse = world.limited(dollars=10)
    amount = await reserve(purse, of_at_most(10))
    waiting = asyncio.create_task(reserve(purse, of_at_most(5)))
    await settle()
    world.counters.stop("interrupted")
    purse.settle(amount, DOLLAR)
    with pytest.raises(SessionStopped):
        await asyncio.wait_for(waiting, 5)
    assert world.counters.totals().sent == 1


# Whatever happens.


async def spend(
    purse: Budget, counters: Counters, chance: random.Random, watch: Callable[[], None], *, knows: bool
) -> None:
    """Ask until the budget is used up: calls of any length, which take any time and cost any part of it."""
    while True:
        most = chance.randrange(1, 40)
        call = of_at_most(most) if knows else OPEN_ENDED
        try:
            reserved = await reserve(purse, call)
        except SessionStopped:
            return
        watch()
        await asyncio.sleep(chance.random() / 1000)
        # No longer than what was set aside for it.
        used = chance.randrange(min(most, reserved // DOLLAR) + 1)
        counters.count_reply(0, 10, used, replayed=False)
        purse.settle(reserved, used * DOLLAR)
        counters.leave()
        watch()


def spend_all(world: World, purse: Budget, chance: random.Random, *, knows: bool = True) -> tuple[int, int]:
    """Ten spend until all is used up: the most that was spent and set aside, and in flight, at a time."""
    highest = together = 0

    def watch() -> None:
        nonlocal highest, together
        now = world.counters.totals()
        highest = max(highest, now.spent + now.reserved)
        together = max(together, now.in_flight)

    async def session() -> None:
        workers = (spend(purse, world.counters, chance, watch, knows=knows) for _ in range(10))
        await asyncio.gather(*workers)

    asyncio.run(session())
    return highest, together


def test_the_cap_is_never_passed(subtests: pytest.Subtests) -> None:
    """With calls of any cost and duration; nearly all is used, by several at a time."""
    for seed, knows in product(range(3), (True, False)):
        with subtests.test(seed=seed, lengths_are_set=knows):
            world, chance = World(), random.Random(seed)  # noqa: S311 - nothing here is secret
            cap = chance.randrange(200, 600)
            highest, together = spend_all(world, world.limited(dollars=cap), chance, knows=knows)
            assert highest <= cap * DOLLAR
            assert together > 1
            end = world.counters.totals()
            assert (end.reserved, end.in_flight) == (0, 0)
            assert cap - 60 <= end.spent / DOLLAR <= cap
            assert world.told
            assert all(reason.startswith(f"--max-cost {cap} USD is used up: ") for reason in world.told)


def test_the_number_of_requests_is_never_passed() -> None:
    """With calls of any duration exactly as many are sent as may be."""
    for seed in range(3):
        world, chance = World(), random.Random(seed)  # noqa: S311 - nothing here is secret
        most = chance.randrange(20, 60)
        spend_all(world, world.limited(calls=most), chance)
        assert world.counters.totals().sent == most
