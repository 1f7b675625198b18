"""The call path of one run: its time limit, its slots, what is replayed, client, kept and counted."""

from __future__ import annotations

import asyncio
import math
import selectors
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from fake_client import Answer, FakeClient
from journals import ask, begin, entries, history_of, keep

from equipoise.core.errors import CallFailed, SessionStopped
from equipoise.core.types import Call, Reply, Role, Usage
from equipoise.models.budget import Budget, most_prompt_tokens, prompt_tokens
from equipoise.models.counters import Counters
from equipoise.models.failures import Failure
from equipoise.models.rate_limit import Limiter, Priority, Slot
from equipoise.models.redact import Secrets
from equipoise.results.journal import request_hash
from equipoise.runner.access import Route
from equipoise.runner.calls import LONGEST_PAUSE, CallSlot, Deadline, RunCalls
from equipoise.runner.context import CallContext

T = TypeVar("T")
CALL = ask("Why?", max_tokens=10)
REPLY = Reply(text="Because.", usage=Usage(input=3, output=7))
PRICE = 100
"""What a token of output costs, in nano-dollars; one of input costs one."""
PROMPT = most_prompt_tokens(CALL)
"""What the prompt of CALL costs at most."""
RESERVED = PROMPT + 10 * PRICE
"""What is set aside for CALL."""
PAID = 3 + 7 * PRICE
"""What REPLY costs."""
UNCOUNTED = Reply(text="Because of x", usage=None)
BLOCKED = Reply(text="", finish_reason="content_filter", blocked="1301")
COUNTED = Failure(message="no text", status=200, usage=REPLY.usage)
BUSY = Failure(message="too many", status=429, retry_after=5.0)


class LeapingSelector(selectors.DefaultSelector):
    """Waits by setting the clock forward."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Whatever is ready after that time, which takes no time."""
        if timeout is None:
            raise AssertionError("everything waits for something that will never come")
        self.now += timeout
        return super().select(0)


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop on which an hour passes at once."""

    def __init__(self) -> None:
        self._leaping = LeapingSelector()
        super().__init__(self._leaping)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._leaping.now


LOOP = LeapingLoop


def run(story: Coroutine[Any, Any, T]) -> T:
    """What a story comes to on a loop that does not wait."""
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(story)


# The time limit of a run.

Step = tuple[str, float]


async def follow(limit: float, *steps: Step) -> float:
    """Resume, pause or go on, and then wait for so many seconds; when the last of it was over."""
    started = asyncio.get_running_loop().time()
    async with Deadline(limit) as deadline:
        for what, seconds in steps:
            if what != "wait":
                getattr(deadline, what)()
            await asyncio.sleep(seconds)
    return asyncio.get_running_loop().time() - started


def test_a_run_has_its_time_between_resume_and_pause() -> None:
    """Every pause needs its resume; it is ended at its limit and not later."""
    within: list[list[Step]] = [
        [("wait", 100)],
        [("resume", 9)],
        [("resume", 9), ("pause", 100)],
        [("resume", 5), ("pause", 100), ("resume", 4)],
        [("resume", 2), ("resume", 3), ("pause", 4), ("pause", 100)],
        [("pause", 100), ("resume", 100)],
        [("resume", 0.0), ("pause", 0.0)] * 50 + [("resume", 9.0)],
    ]
    for steps in within:
        assert run(follow(10, *steps)) == sum(seconds for _, seconds in steps), steps

    async def ended(*steps: Step) -> float:
        with pytest.raises(TimeoutError):
            await follow(10, *steps)
        return asyncio.get_running_loop().time()

    for end, *steps in (
        (10, ("resume", 11)),
        (110, ("wait", 100), ("resume", 11)),
        (110, ("resume", 6), ("pause", 100), ("resume", 1000)),
        (10, ("resume", 4), ("resume", 3), ("pause", 4)),
        (28, ("pause", 9), ("resume", 9), ("resume", 11)),
    ):
        assert run(ended(*steps)) == pytest.approx(end), steps


def test_a_deadline_may_be_paused_and_resumed_at_any_time() -> None:
    """Before the time limit holds, once it no longer does, and after it has passed: that is no error."""

    async def story(seconds: float) -> None:
        deadline = Deadline(1)
        deadline.resume()
        deadline.pause()
        async with deadline:
            deadline.resume()
            try:
                await asyncio.sleep(seconds)
            finally:
                deadline.pause()
                deadline.resume()
                deadline.pause()
        deadline.resume()
        await asyncio.sleep(10)

    run(story(0))
    with pytest.raises(TimeoutError):
        run(story(10))


# What the tests of slots and runs share.


def answering(*answers: Answer, seconds: float = 0.0) -> FakeClient:
    """An endpoint that gives these answers in turn, the last one from then on."""
    left = deque(answers or [REPLY])
    return FakeClient(lambda call: left.popleft() if len(left) > 1 else left[0], seconds=seconds)


class AllTheTime(Deadline):
    """A time limit that never comes."""

    def __init__(self) -> None:
        pass

    def resume(self) -> None:
        """Nothing runs."""

    def pause(self) -> None:
        """Nothing stops."""


class World:
    """The context of two models at two endpoints, and a journal that is open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "x.jsonl"
        self.log = begin(self.path, ["a-run1", "b-run1"])
        self.counters = Counters(2)
        self.limiter = Limiter(8, lambda: self.counters.is_stopped)
        self.failures: list[tuple[str, int]] = []
        self.queues = [self.limiter.queue() for _ in range(2)]
        models: list[tuple[Role, str]] = [("subject", "m"), ("evaluator", "e")]
        self._routes = {
            key: Route(
                model_index=number,
                endpoint_index=number,
                base_url="http://localhost",
                queue=self.queues[number],
                cost=lambda usage: usage.input + PRICE * usage.output,
                cost_in_batch=lambda usage: (usage.input + PRICE * usage.output) // 2,
            )
            for number, key in enumerate(models)
        }

    def context(self, client: FakeClient | None = None, **limits: Any) -> CallContext:
        """The context, with these limits of its budget."""
        return CallContext(
            client=cast("Any", client or answering()),
            limiter=self.limiter,
            counters=self.counters,
            budget=Budget(self.counters, self.counters.stop, **{"calls": None, "dollars": None, **limits}),
            routes=self._routes,
            stop=self.counters.stop,
            on_failure=lambda failure: self.failures.append((str(failure), self.limiter.in_flight)),
        )

    def slot(
        self, call: Call = CALL, deadline: Deadline | None = None, priority: Priority = (0, 0), **limits: Any
    ) -> CallSlot:
        """A slot for the attempts of one call."""
        return CallSlot(self.context(**limits), call, lambda: priority, deadline or AllTheTime(), self.log)

    def run_calls(
        self,
        client: FakeClient | None = None,
        *,
        run: str = "a-run1",
        position: int = 0,
        deadline: Deadline | None = None,
    ) -> RunCalls:
        """The calls of a run, which knows what the journal has by now."""
        history = history_of(self.path)
        return RunCalls(self.context(client), run, position, self.log, history, deadline or AllTheTime())

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """The lines of this kind, without what all lines have."""
        rows = entries(self.path, kind)
        return [{name: entry[name] for name in entry if name not in ("kind", "session")} for entry in rows]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A context that has just been opened."""
    opened = World(tmp_path)
    yield opened
    opened.log.close()


async def visit(slot: CallSlot, then: Callable[[], object] = lambda: None) -> None:
    """Enter the slot, do that, leave."""
    async with slot:
        then()


def raising(error: BaseException) -> Callable[[], object]:
    """Something that raises that error."""

    def fail() -> None:
        raise error

    return fail


def all_slots_are_free(world: World) -> bool:
    """Whether every slot has been given back, wherever it is counted."""
    totals = world.counters.totals()
    flights = [queue.concurrency.in_flight for queue in world.queues]
    return (world.limiter.in_flight, totals.in_flight, totals.reserved, flights) == (0, 0, 0, [0, 0])


# A slot.


def test_a_slot_is_given_back_however_the_attempt_ended(world: World) -> None:
    """Once, by limiter, limit, counters and budget; it is counted as long as it is held."""
    ends: list[Callable[[CallSlot], object]] = [
        lambda slot: slot.succeed(REPLY),
        lambda slot: slot.fail(BUSY),
        lambda slot: slot.fail(Failure(message="broken", status=500)),
        lambda slot: None,
    ]
    budgets: list[dict[str, Any]] = [{}, {"calls": 50}, {"dollars": 1.0}]
    in_flight: list[int] = []

    def attempt(slot: CallSlot, end: Callable[[CallSlot], object]) -> None:
        in_flight.append(world.counters.totals().in_flight)
        end(slot)

    for number, (limits, end) in enumerate(product(budgets, ends), start=1):
        slot = world.slot(**limits)
        run(visit(slot, partial(attempt, slot, end)))
        assert all_slots_are_free(world), (number, limits)
        assert world.counters.totals().sent == number
    assert in_flight == [1] * 12


@pytest.mark.parametrize("error", [CallFailed("down"), SessionStopped("over"), ZeroDivisionError()], ids=repr)
def test_a_slot_is_given_back_after_an_error(world: World, error: Exception) -> None:
    """Whatever it was; only a call that failed is told of."""
    with pytest.raises(type(error)):
        run(visit(world.slot(dollars=1.0), raising(error)))
    assert all_slots_are_free(world)
    # One call was still in flight when it was told: its own.
    assert world.failures == ([("down", 1)] if isinstance(error, CallFailed) else [])


async def test_a_failed_call_is_told_of_before_the_next_is_let_in(world: World) -> None:
    """Whoever then stops the session still stops the one that waits."""
    world.limiter.ceiling = 1
    entered: list[str] = []
    context = replace(world.context(), on_failure=lambda failure: world.counters.stop(str(failure)))
    slots = [CallSlot(context, CALL, lambda: (0, 0), AllTheTime(), world.log) for _ in range(2)]
    first = asyncio.create_task(visit(slots[0], raising(CallFailed("down"))))
    second = asyncio.create_task(visit(slots[1], lambda: entered.append("second")))
    await asyncio.wait([first, second])
    assert isinstance(first.exception(), CallFailed)
    assert isinstance(second.exception(), SessionStopped)
    assert entered == []
    assert all_slots_are_free(world)


def test_the_time_of_a_run_stands_still_while_it_waits_for_a_slot(world: World) -> None:
    """It goes on where it was, once there is a slot."""
    world.limiter.ceiling = 1

    async def holder() -> None:
        async with world.slot():
            await asyncio.sleep(100)

    async def waiter(seconds: float) -> float:
        async with Deadline(10) as deadline:
            deadline.resume()
            await asyncio.sleep(4)
            async with world.slot(deadline=deadline):
                await asyncio.sleep(seconds)
            deadline.pause()
        return asyncio.get_running_loop().time()

    async def story(seconds: float) -> float:
        held = asyncio.create_task(holder())
        waited = await waiter(seconds)
        await held
        return waited

    assert run(story(5)) == pytest.approx(105)
    with pytest.raises(TimeoutError):
        run(story(7))
    assert all_slots_are_free(world)


def test_a_run_that_is_ended_while_it_waits_takes_no_slot(world: World) -> None:
    """Somebody who goes away before it is their turn leaves everything as it was, its clock running."""
    world.limiter.ceiling = 1

    async def story() -> None:
        async with Deadline(10) as deadline:
            deadline.resume()
            async with world.slot():
                waiting = asyncio.create_task(visit(world.slot(deadline=deadline)))
                await asyncio.sleep(1)
                waiting.cancel()
                await asyncio.wait([waiting])
            await asyncio.sleep(11)

    with pytest.raises(TimeoutError):
        run(story())
    assert all_slots_are_free(world)
    assert world.counters.totals().sent == 1


# A slot and the budget.


def test_what_was_set_aside_is_given_back_but_for_what_may_have_been_paid(world: World) -> None:
    """An answer costs what its tokens do, counted or guessed; where nobody knows, all of it was paid."""
    ends: dict[str, tuple[Callable[[CallSlot], object], int]] = {
        "answered": (lambda slot: slot.succeed(REPLY), PAID),
        "answered, uncounted": (lambda slot: slot.succeed(UNCOUNTED), RESERVED),
        "blocked, uncounted": (lambda slot: slot.succeed(BLOCKED), 0),
        "cut, uncounted": (lambda slot: slot.succeed(replace(BLOCKED, text="Be")), RESERVED),
        "unreadable, counted": (lambda slot: slot.fail(COUNTED), PAID),
        "rejected": (lambda slot: slot.fail(Failure(message="no", status=400)), 0),
        "refused": (lambda slot: slot.fail(BUSY), 0),
        "broken": (lambda slot: slot.fail(Failure(message="", status=500)), 0),
        "no answer": (lambda slot: slot.fail(Failure(message="no answer")), RESERVED),
        "no choices": (lambda slot: slot.fail(Failure(message="", status=200)), RESERVED),
        "nothing said": (lambda slot: None, RESERVED),
    }
    reserved, spent = {}, {}
    for name, (end, _) in ends.items():
        slot, before = world.slot(dollars=1.0), world.counters.totals().spent

        def attempt(slot: CallSlot = slot, end: Callable[[CallSlot], object] = end, name: str = name) -> None:
            reserved[name] = world.counters.totals().reserved
            end(slot)

        run(visit(slot, attempt))
        spent[name] = world.counters.totals().spent - before
        assert world.counters.totals().reserved == 0
    assert reserved == dict.fromkeys(ends, RESERVED)
    assert spent == {name: cost for name, (_, cost) in ends.items()}


def test_an_uncounted_reply_without_a_limit_costs_what_its_text_says(world: World) -> None:
    """However much more was set aside for it, and however much more another one may have cost."""
    call = ask("Why?")
    slot = world.slot(call, dollars=1.0)
    world.counters.count_reply(0, 5, 1000, replayed=False)
    run(visit(slot, lambda: slot.succeed(UNCOUNTED)))
    assert world.counters.totals().spent == prompt_tokens(call) + 4 * PRICE


async def test_every_attempt_of_a_call_is_paid_for_itself(world: World) -> None:
    """What the first has cost is not counted again for the second."""
    slot = world.slot(dollars=1.0)
    await visit(slot, lambda: slot.fail(Failure(message="no answer")))
    await visit(slot, lambda: slot.fail(Failure(message="broken", status=500)))
    await visit(slot, lambda: slot.succeed(REPLY))
    assert world.counters.totals().spent == RESERVED + PAID


def test_a_budget_that_is_used_up_gives_the_slot_back(world: World) -> None:
    """The one too many ends the session and is not counted; the time of its run goes on."""

    async def story() -> None:
        async with Deadline(10) as deadline:
            deadline.resume()
            await visit(world.slot(deadline=deadline, calls=1))
            with pytest.raises(SessionStopped):
                await visit(world.slot(deadline=deadline, calls=1))
            await asyncio.sleep(11)

    with pytest.raises(TimeoutError):
        run(story())
    assert all_slots_are_free(world)
    assert world.counters.totals().sent == 1
    assert world.counters.stop_reason.startswith("--max-calls 1 is used up")


# A slot and an endpoint that is client too much.


def pause_of(world: World, failure: Failure, endpoint: int = 0) -> float:
    """For how many seconds an endpoint is paused after an attempt that failed in this way."""
    slot = world.slot()
    now = time.monotonic()
    run(visit(slot, lambda: slot.fail(failure)))
    return max(0.0, world.counters.paused_until(endpoint) - now)


def test_an_endpoint_that_asks_for_a_pause_gets_it(world: World) -> None:
    """It alone is left alone, for so many seconds, an hour at most; after no other failure is it."""
    assert LONGEST_PAUSE == 3600
    no_balance = {"code": "insufficient_quota"}
    for status, retry_after, body in (
        *((429, None, None), (429, 0.0, None), (500, 5.0, None), (None, None, None), (429, 5.0, no_balance)),
    ):
        failure = Failure(message="", status=status, retry_after=retry_after, body=body)
        assert pause_of(world, failure) == 0, failure
    for status, seconds, pause in ((429, 50, 50), (503, 150, 150), (529, 86_400, 3600)):
        failure = Failure(message="too many", status=status, retry_after=seconds)
        assert pause_of(world, failure) == pytest.approx(pause, abs=20)
    assert world.counters.paused_until(1) == 0


def test_a_long_wait_is_told_once_and_ends_a_session_that_may_not_wait(world: World) -> None:
    """A short one is no news; whether the session may wait is what --max-wait says."""

    def asks(seconds: float, most: float = math.inf) -> list[str]:
        context = replace(world.context(), max_wait=most)
        slot = CallSlot(context, CALL, lambda: (0, 0), AllTheTime(), world.log)
        run(visit(slot, lambda: slot.fail(replace(BUSY, retry_after=seconds))))
        return world.counters.take_notices()

    assert [len(asks(seconds)) for seconds in (5.0, 600.0, 600.0)] == [0, 1, 0]
    (notice,) = asks(1200.0, most=1200.0)
    assert notice.startswith("subject 'm': the endpoint asks to wait 20 min")
    assert not world.counters.is_stopped
    asks(1200.0, most=1199.0)
    assert "longer than --max-wait allows; resume with the same command" in world.counters.stop_reason


async def test_a_level_that_is_cut_is_kept_in_the_journal(world: World) -> None:
    """With when and why, and from what to what; the second of two together adds a pause, and no line."""
    later = Failure(message="too many", status=429, retry_after=1000.0)
    first, second = world.slot(), world.slot()
    async with first, second:
        first.fail(BUSY)
        second.fail(later)
    (line,) = world.lines("limit")
    assert 0 <= line.pop("second") < 60
    where = {"event": "cut", "endpoint": 0, "status": 429, "pause": 5.0}
    assert line == {**where, "before": 2, "after": 1, "sustained": 1}
    assert world.counters.paused_until(0) - time.monotonic() > 900
    assert all_slots_are_free(world)


def test_server_errors_of_many_requests_while_others_are_answered_are_a_cut(world: World) -> None:
    """A line says with which status; the same request failing as often is none, nor are other failures."""
    broken = Failure(message="broken", status=500, retry_after=5.0)

    async def story(failure: Failure, *questions: str) -> None:
        for question in questions:
            failed, answered = world.slot(ask(question)), world.slot()
            async with failed, answered:
                failed.fail(failure)
                answered.succeed(REPLY)

    run(story(broken, *["Where?"] * 12))
    run(story(Failure(message="no answer"), *(f"Hello {number}?" for number in range(6))))
    assert world.lines("limit") == []
    run(story(broken, *(f"Question {number}?" for number in range(6))))
    (line,) = world.lines("limit")
    assert (line["status"], line["pause"], line["after"]) == (500, 0.0, 1)
    assert world.counters.paused_until(0) == 0


async def test_answers_let_the_level_grow_and_the_limits_are_told_at_the_end(world: World) -> None:
    """At least, at most and at last so many calls at once, and how many were refused."""
    for _ in range(3):
        first, second = world.slot(), world.slot()
        async with first, second:
            first.succeed(REPLY)
    slot = world.slot()
    await visit(slot, lambda: slot.fail(BUSY))
    assert world.context().concurrency_limits() == [
        {"endpoint": 0, "lowest": 1, "highest": 3, "last": 1, "refused": 1},
        {"endpoint": 1, "lowest": 2, "highest": 2, "last": 2, "refused": 0},
    ]


# The calls of a run.


async def ask_all(run_calls: RunCalls, *calls: Call) -> list[str]:
    """The texts of the replies to these calls, one after the other."""
    return [(await run_calls(call)).text for call in calls]


def counts(world: World) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    """Replies made and replayed, and the tokens of each model."""
    totals = world.counters.totals()
    return totals.made, totals.replayed, totals.tokens


def test_an_uncounted_reply_counts_as_much_when_it_is_replayed(world: World) -> None:
    """Its tokens are estimated both times, for the model that gave it."""
    keep(world.log, CALL, UNCOUNTED)
    keep(world.log, ask("And now?"), UNCOUNTED)
    once = (prompt_tokens(CALL), 4)
    run(ask_all(world.run_calls(), CALL))
    totals = world.counters.totals()
    assert (totals.replayed, totals.estimated, totals.tokens) == (1, 1, (once, (0, 0)))
    judged = ask("Judge.", role="evaluator", model="e")
    run(ask_all(world.run_calls(answering(UNCOUNTED, REPLY)), CALL, ask("Why not?"), judged))
    totals = world.counters.totals()
    assert (totals.made, totals.estimated, totals.tokens[1]) == (2, 3, (3, 7))
    assert "usage" not in world.lines("call")[-2]["reply"]


def test_a_model_that_thinks_gets_room_from_its_next_call_on(world: World, subtests: pytest.Subtests) -> None:
    """Sent or replayed; the request is the same, and a call without room of its own is left alone."""
    label = replace(CALL, role="evaluator", model="e", room=500)
    usage = Usage(input=3, output=7, reasoning=5)
    for what, reply, limits in (
        ("field", replace(REPLY, reasoning="Hm."), [10, 500, 10]),
        ("counted", replace(REPLY, usage=usage), [10, 500, 10]),
        ("none", REPLY, [10, 10, 10]),
    ):
        with subtests.test(what):
            client = answering(reply)
            calls = world.run_calls(client, run=f"{what}-run1")
            again = replace(label, messages=ask("And now?").messages)
            run(ask_all(calls, label, again, replace(label, messages=ask("Who?").messages, room=None)))
            assert [call.parameters["max_tokens"] for call in client.calls] == limits
            assert world.lines("call")[-2]["request"] == request_hash(again)
            later = world.run_calls(client, run=f"{what}-run1")
            run(ask_all(later, label, again, replace(label, messages=ask("When?").messages)))
            assert [call.parameters["max_tokens"] for call in client.calls] == [*limits, limits[1]]


def test_a_key_is_masked_in_what_is_kept_and_in_nothing_else(world: World) -> None:
    """Whoever asks gets what was said; the journal and the run's transcript do not repeat the key."""
    world.log.secrets = Secrets(["secret"])
    client = answering(Reply(text="The secret, by a secretary."))
    calls = world.run_calls(client)
    assert run(calls(ask("Is it secret?"))).text == "The secret, by a secretary."
    assert client.calls == [ask("Is it secret?")]
    (exchange,), (line,) = calls.exchanges, world.lines("call")
    assert exchange.call == ask("Is it ****?")
    assert exchange.reply.text == line["reply"]["text"] == "The ****, by a secretary."
    assert line["messages"] == list(exchange.call.messages)


def test_what_quotes_a_masked_reply_is_replayed(world: World) -> None:
    """A reply that was kept comes back masked; what was client about it then is not client again."""
    world.log.secrets = Secrets(["secret"])
    client = answering(Reply(text="A secret."), Reply(text="Good."))

    async def session() -> str:
        calls = world.run_calls(client)
        reply = await calls(CALL)
        return (await calls(ask(f"Judge:\n{reply.text}\n", role="evaluator", model="e"))).text

    assert [run(session()) for _ in range(2)] == ["Good.", "Good."]
    assert len(client.calls) == 2


def test_what_the_journal_has_is_not_asked_again(world: World) -> None:
    """Each reply is replayed once with its id, and counted as replayed; then the same call is client."""
    exchanges = [keep(world.log, CALL, REPLY), keep(world.log, CALL, "second")]
    client = answering(Reply(text="third"))
    calls = world.run_calls(client)
    assert run(calls(CALL)) == REPLY
    assert counts(world) == (0, 1, ((3, 7), (0, 0)))
    assert run(ask_all(calls, CALL)) == ["second"]
    assert (client.calls, calls.exchanges) == ([], exchanges)
    assert len(world.lines("call")) == 2
    assert world.counters.totals().sent == 0
    assert run(ask_all(calls, CALL)) == ["third"]
    assert len({exchange.id for exchange in calls.exchanges}) == 3


def test_a_call_that_failed_is_kept_with_its_retries(world: World) -> None:
    """It is raised, is told of, and is in the journal; there is no exchange, and nothing is counted."""
    calls = world.run_calls(answering(CallFailed("HTTP 400: no", status=400, retries=2)))
    with pytest.raises(CallFailed, match="HTTP 400"):
        run(calls(CALL))
    assert world.lines("failed") == [
        {"run": "a-run1", "role": "subject", "model": "m", "retries": 2, "message": "HTTP 400: no"}
    ]
    assert (calls.exchanges, world.lines("call"), counts(world)) == ([], [], (0, 0, ((0, 0), (0, 0))))
    assert [message for message, _ in world.failures] == ["HTTP 400: no"]


def test_the_time_of_a_run_goes_on_only_while_it_asks(world: World) -> None:
    """Whatever happens between its calls, or beside them at the same time, counts once or not at all."""

    async def story(seconds: float) -> float:
        deadline = Deadline(10)
        calls = world.run_calls(answering(seconds=seconds), deadline=deadline)
        async with deadline:
            await calls(ask(f"first {seconds}"))
            await asyncio.sleep(100)
            await asyncio.gather(calls(ask(f"second {seconds}")), calls(ask(f"third {seconds}")))
        return asyncio.get_running_loop().time()

    assert run(story(4)) == pytest.approx(108)
    with pytest.raises(TimeoutError):
        run(story(6))
    assert all_slots_are_free(world)


def test_what_is_no_failure_of_a_call_leaves_no_line(world: World) -> None:
    """The end of the session, our own defects and the time limit say nothing of the endpoint."""

    async def story(client: FakeClient) -> None:
        deadline = Deadline(10)
        async with deadline:
            await world.run_calls(client, deadline=deadline)(CALL)

    for error in (SessionStopped("over"), ZeroDivisionError(), TimeoutError()):
        client = answering(seconds=11) if isinstance(error, TimeoutError) else answering(error)
        with pytest.raises(type(error)):
            run(story(client))
        assert world.lines("failed") == world.lines("call") == world.failures == []  # type: ignore[comparison-overlap]
    assert all_slots_are_free(world)


async def order_of(world: World, *asking: tuple[str, Callable[[], Awaitable[Reply]]]) -> list[str]:
    """In which order these are let in, which all come while there is no slot and end one by one."""
    done: list[str] = []

    async def one(name: str, asks: Callable[[], Awaitable[Reply]]) -> None:
        await asks()
        done.append(name)

    world.limiter.ceiling = 1
    async with Slot(world.limiter, world.limiter.queue(), lambda: (0, 0)):
        tasks = [asyncio.create_task(one(name, asks)) for name, asks in asking]
        await asyncio.sleep(1)
    await asyncio.gather(*tasks)
    return done


async def test_a_run_that_is_further_along_goes_first(world: World) -> None:
    """Then that of an earlier position, whoever came first; a replayed call counts as one that is done."""
    keep(world.log, CALL, REPLY, run="b-run1")
    every = {
        "late": world.run_calls(position=5),
        "early": world.run_calls(position=2),
        "further": world.run_calls(run="b-run1", position=9),
    }
    await every["further"](CALL)
    assert (
        await order_of(world, *((name, lambda calls=calls: calls(CALL)) for name, calls in every.items()))
    ) == ["further", "early", "late"]
