"""How many calls may be in flight, to which endpoint, and who goes next."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from equipoise.errors import SessionStopped
from equipoise.limiter import LOOK_SECONDS, Company, Gate, Limiter, Priority, Slot
from equipoise.pace import CELLS, Cut, Pace, Shared

ANY: Priority = (0, 0)


async def settle() -> None:
    """Let every task that can run come to its next wait."""
    for _ in range(10):
        await asyncio.sleep(0)


class Unpaced(Pace):
    """A pace that never holds anybody back, for tests of everything else; counts as the real one does."""

    @property
    def has_room(self) -> bool:
        """Always."""
        return True


def unpaced_gate(limiter: Limiter, paused_until: Callable[[], float] = lambda: 0.0) -> Gate:
    """A way to one more endpoint, which takes whatever the limiter lets through."""
    return limiter.gate(Unpaced(limiter.ceiling), paused_until)


class Crowd:
    """Callers that wait for a place and note who got one; they keep it until told to leave."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.gate = unpaced_gate(limiter)
        self.entered: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}

    def come(self, name: str, priority: Priority = ANY, gate: Gate | None = None) -> asyncio.Task[None]:
        """Ask for a place in a task of its own."""
        self._leave[name] = asyncio.Event()
        return asyncio.create_task(self._visit(name, priority, gate or self.gate))

    def leave(self, *names: str) -> None:
        """Let these callers give their places back."""
        for name in names:
            self._leave[name].set()

    async def _visit(self, name: str, priority: Priority, gate: Gate) -> None:
        async with Slot(self.limiter, gate, lambda: priority):
            self.entered.append(name)
            await self._leave[name].wait()


def with_crowd(ceiling: int, story: Callable[[Crowd], Awaitable[None]]) -> Crowd:
    """Run the story on a loop of its own."""

    async def tell() -> Crowd:
        crowd = Crowd(Limiter(ceiling))
        await story(crowd)
        return crowd

    return asyncio.run(tell())


async def one_by_one(crowd: Crowd, *names: str) -> None:
    """Let these leave in turn, each once all others have come to rest."""
    for name in names:
        await settle()
        crowd.leave(name)
    await settle()


# The ceiling.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ceiling", [1, 3, 8])
def test_a_random_load_never_goes_above_the_ceiling(seed: int, ceiling: int) -> None:
    """However calls to two endpoints come, go and are cancelled, no more than the ceiling run at once.

    All places come back, to the limiter and to each endpoint.
    """
    dice = random.Random(seed)  # noqa: S311 - not a secret
    running, most, finished = 0, 0, 0

    async def call(limiter: Limiter, gate: Gate) -> None:
        nonlocal running, most, finished
        slot = Slot(limiter, gate, lambda: (-dice.randrange(3), dice.randrange(5)))
        for attempt in (slot.refused, slot.answered):
            async with slot:
                running += 1
                most = max(most, running)
                try:
                    await asyncio.sleep(dice.choice([0, 0, 0.001]))
                    attempt()
                    finished += 1
                finally:
                    running -= 1

    async def load() -> tuple[Limiter, list[Gate]]:
        limiter = Limiter(ceiling)
        gates = [unpaced_gate(limiter), limiter.gate()]
        tasks = [asyncio.create_task(call(limiter, dice.choice(gates))) for _ in range(100)]
        while not all(task.done() for task in tasks):
            if dice.random() < 0.2:
                dice.choice(tasks).cancel()
            await asyncio.sleep(0)
        return limiter, gates

    limiter, gates = asyncio.run(load())
    assert most == ceiling
    assert finished > 0
    assert (running, limiter.in_flight) == (0, 0)
    assert [gate.pace.in_flight for gate in gates] == [0, 0]


def test_a_place_comes_back_when_its_call_fails() -> None:
    """An exception inside a slot gives the place back, to both sides, and is passed on."""

    async def story(crowd: Crowd) -> None:
        with pytest.raises(ZeroDivisionError):
            async with Slot(crowd.limiter, crowd.gate, lambda: ANY):
                raise ZeroDivisionError

    crowd = with_crowd(1, story)
    assert (crowd.limiter.in_flight, crowd.gate.pace.in_flight) == (0, 0)


def test_the_ceiling_is_that_of_all_processes() -> None:
    """What others have in flight is not there to be had; once it is, it is found, one process at a time."""
    others, told = 3, []

    @contextmanager
    def alone() -> Iterator[None]:
        told.append("in")
        yield
        told.append("out")

    async def story() -> list[int]:
        nonlocal others
        limiter = Limiter(4, company=Company(in_flight=lambda: others, alone=alone))
        gate = unpaced_gate(limiter)
        calls = [asyncio.create_task(limiter.acquire(gate, (0, place))) for place in range(3)]
        found = []
        for others in (3, 2, 0):  # noqa: B007 - the limiter asks for it
            await asyncio.sleep(2 * LOOK_SECONDS)
            found.append(limiter.in_flight)
        await asyncio.gather(*calls)
        return found

    assert asyncio.run(story()) == [1, 2, 3]
    assert told[:2] == ["in", "out"]
    assert told == ["in", "out"] * (len(told) // 2)
    assert len(told) < 40


# Who goes next.


def test_who_is_further_along_goes_first_and_then_the_earlier_case() -> None:
    """A place that comes free goes to the case with most calls behind it, and of those to the first."""
    ranks: list[Priority] = [(-2, 7), (-2, 9), (-1, 0), (0, 0), (0, 3)]

    async def story(crowd: Crowd) -> None:
        crowd.come("holder")
        await settle()
        for rank in (ranks[3], ranks[1], ranks[4], ranks[0], ranks[2]):
            crowd.come(str(rank), rank)
        await one_by_one(crowd, "holder", *map(str, ranks))

    assert with_crowd(1, story).entered == ["holder", *map(str, ranks)]


def test_of_equal_rank_who_came_first_goes_first() -> None:
    """Calls of the same rank get their places in the order in which they asked."""
    names = list("abcdefgh")

    async def story(crowd: Crowd) -> None:
        for name in names:
            crowd.come(name, (-1, 7))
        await one_by_one(crowd, *names)

    assert with_crowd(1, story).entered == names


def test_a_newcomer_does_not_overtake_an_equal() -> None:
    """A call that asks just when a place comes free stands behind those that wait already."""

    async def story(crowd: Crowd) -> None:
        crowd.come("holder")
        await settle()
        crowd.come("waiting")
        await settle()
        crowd.leave("holder")
        crowd.come("newcomer")
        await one_by_one(crowd, "waiting", "newcomer")

    assert with_crowd(1, story).entered == ["holder", "waiting", "newcomer"]


def test_the_rank_is_that_of_the_moment_of_waiting() -> None:
    """A slot that is entered again asks anew how far its case has come."""
    asked: list[Priority] = []

    async def story(crowd: Crowd) -> None:
        def rank() -> Priority:
            asked.append((-len(asked), 4))
            return asked[-1]

        slot = Slot(crowd.limiter, crowd.gate, rank)
        for _ in range(3):
            async with slot:
                slot.answered()

    with_crowd(1, story)
    assert asked == [(0, 4), (-1, 4), (-2, 4)]


def test_who_goes_next_is_decided_over_all_endpoints() -> None:
    """Of the calls that wait for different endpoints, the one of lowest rank gets the next place."""

    async def story(crowd: Crowd) -> None:
        other = unpaced_gate(crowd.limiter)
        crowd.come("holder")
        await settle()
        crowd.come("late", (0, 2))
        crowd.come("early", (0, 1), other)
        await one_by_one(crowd, "holder", "early", "late")

    assert with_crowd(1, story).entered == ["holder", "early", "late"]


# What an endpoint bears.


def test_an_endpoint_gets_no_more_than_its_pace_allows() -> None:
    """A new endpoint is given a quarter of the ceiling at first, however many wait and are free."""

    async def story(crowd: Crowd) -> None:
        gate = crowd.limiter.gate()
        names = [str(number) for number in range(8)]
        for name in names:
            crowd.come(name, gate=gate)
        await settle()
        assert len(crowd.entered) == gate.pace.in_flight == crowd.limiter.in_flight == 2
        await one_by_one(crowd, *names)
        assert crowd.entered == names

    with_crowd(8, story)


def test_an_endpoint_that_is_full_holds_no_other_back() -> None:
    """A call of higher rank that its endpoint has no room for lets calls to other endpoints pass."""

    async def story(crowd: Crowd) -> None:
        narrow = crowd.limiter.gate()
        for name in ("a", "b", "c"):
            crowd.come(name, (-1, 0), narrow)
        crowd.come("elsewhere", (0, 9))
        await one_by_one(crowd, "elsewhere", "a", "b", "c")

    assert with_crowd(4, story).entered == ["a", "elsewhere", "b", "c"]


def test_answers_open_the_gate_further() -> None:
    """Each answer that comes while all are out lets one more in than went out."""

    async def story(crowd: Crowd) -> None:
        gate = crowd.limiter.gate()
        highest = 0

        async def call() -> None:
            nonlocal highest
            slot = Slot(crowd.limiter, gate, lambda: ANY)
            async with slot:
                highest = max(highest, gate.pace.in_flight)
                await asyncio.sleep(0)
                slot.answered()

        await asyncio.gather(*(call() for _ in range(200)))
        assert highest == 16

    with_crowd(16, story)


def test_a_refusal_halves_what_an_endpoint_is_given() -> None:
    """A slot that says that it was refused is told by how much the pace was cut, once for all in flight."""
    cuts: list[Cut | None] = []

    async def story(crowd: Crowd) -> None:
        gate = crowd.limiter.gate()

        async def call() -> None:
            slot = Slot(crowd.limiter, gate, lambda: ANY)
            async with slot:
                await settle()
                cuts.append(slot.refused())

        await asyncio.gather(*(call() for _ in range(4)))
        assert (gate.pace.in_flight, gate.pace.refused) == (0, 4)

    with_crowd(16, story)
    assert cuts[0] == Cut(before=4, after=2, borne=3)
    assert cuts[1:] == [None] * 3


def test_a_call_that_just_leaves_says_nothing_of_the_endpoint() -> None:
    """Neither answered nor refused, a call changes nothing but the number in flight."""

    async def story(crowd: Crowd) -> None:
        gate = crowd.limiter.gate()
        before = gate.pace.limit
        for _ in range(100):
            async with Slot(crowd.limiter, gate, lambda: ANY):
                pass
        assert (gate.pace.limit, gate.pace.refused, gate.pace.in_flight) == (before, 0, 0)

    with_crowd(4, story)


# Other processes.


def two_processes(most: int) -> tuple[Shared, Pace, Pace]:
    """What this process and another share of an endpoint, and the pace of each."""
    shared = Shared(cells=[0] * CELLS, flights=[0, 0], wishes=[0, 0])
    return shared, Pace(most, shared, 0), Pace(most, shared, 1)


def test_room_that_another_process_leaves_is_found() -> None:
    """A call that waits for others' calls to come home goes out soon after, though nothing happens here."""

    async def story(crowd: Crowd) -> None:
        _, ours, theirs = two_processes(4)
        gate = crowd.limiter.gate(ours)
        theirs.begin()
        visit = crowd.come("a", gate=gate)
        crowd.leave("a")
        await asyncio.sleep(3 * LOOK_SECONDS)
        assert crowd.entered == []
        theirs.end()
        await asyncio.wait_for(visit, 5)

    assert with_crowd(4, story).entered == ["a"]


def test_other_processes_see_how_many_wait_here() -> None:
    """What is wished for is told whenever somebody comes or goes, so that all get their share."""

    async def story(crowd: Crowd) -> None:
        shared, ours, _ = two_processes(4)
        gate = crowd.limiter.gate(ours)
        for name in ("a", "b", "c"):
            crowd.come(name, gate=gate)
        await settle()
        assert (list(shared.flights), list(shared.wishes)) == ([1, 0], [2, 0])
        await one_by_one(crowd, "a", "b", "c")
        assert (list(shared.flights), list(shared.wishes)) == ([0, 0], [0, 0])

    assert with_crowd(4, story).entered == ["a", "b", "c"]


# Pauses.


class Pause:
    """An endpoint's wish to be left alone for a while."""

    def __init__(self) -> None:
        self.until = 0.0

    def __call__(self) -> float:
        """In seconds of `time.monotonic`."""
        return self.until

    def begin(self, seconds: float) -> None:
        """From now on."""
        self.until = time.monotonic() + seconds


def test_nobody_is_let_in_during_a_pause() -> None:
    """Calls to an endpoint that wants none wait until it is over, and then go without being called."""

    async def story(crowd: Crowd) -> None:
        pause = Pause()
        gate = unpaced_gate(crowd.limiter, pause)
        pause.begin(0.05)
        visits = [crowd.come(name, gate=gate) for name in ("a", "b")]
        await settle()
        assert crowd.entered == []
        crowd.leave("a", "b")
        await asyncio.wait_for(asyncio.gather(*visits), 5)
        assert time.monotonic() >= pause.until

    assert with_crowd(2, story).entered == ["a", "b"]


def test_a_pause_that_is_made_longer_is_kept_to_its_end() -> None:
    """What was asked for while others waited for the end of the first pause is obeyed as well."""

    async def story(crowd: Crowd) -> None:
        pause = Pause()
        gate = unpaced_gate(crowd.limiter, pause)
        pause.begin(0.02)
        waiting = crowd.come("a", gate=gate)
        await settle()
        pause.begin(0.06)
        crowd.leave("a")
        await asyncio.wait_for(waiting, 5)
        assert time.monotonic() >= pause.until

    with_crowd(1, story)


def test_a_pause_concerns_one_endpoint() -> None:
    """While one endpoint is left alone, calls to another take all places."""

    async def story(crowd: Crowd) -> None:
        pause = Pause()
        gate = unpaced_gate(crowd.limiter, pause)
        pause.begin(60)
        stuck = crowd.come("stuck", (-5, 0), gate)
        crowd.come("free", (0, 9))
        await one_by_one(crowd, "free")
        stuck.cancel()

    assert with_crowd(1, story).entered == ["free"]


def test_each_endpoint_is_called_again_when_its_own_pause_ends() -> None:
    """Of two endpoints that are left alone, the one with the shorter pause need not wait for the other."""

    async def story(crowd: Crowd) -> None:
        long, short = Pause(), Pause()
        gates = [unpaced_gate(crowd.limiter, pause) for pause in (long, short)]
        long.begin(60)
        short.begin(0.02)
        stuck, free = crowd.come("stuck", gate=gates[0]), crowd.come("free", gate=gates[1])
        crowd.leave("free")
        await asyncio.wait_for(free, 5)
        assert time.monotonic() < long.until
        stuck.cancel()

    assert with_crowd(2, story).entered == ["free"]


def test_calls_in_flight_go_on_during_a_pause() -> None:
    """A pause keeps new calls out; a call that is out comes home, and its place is given to nobody."""

    async def story(crowd: Crowd) -> None:
        pause = Pause()
        gate = unpaced_gate(crowd.limiter, pause)
        holder, waiting = crowd.come("holder", gate=gate), crowd.come("waiting", gate=gate)
        await settle()
        pause.begin(60)
        await one_by_one(crowd, "holder")
        assert holder.done()
        assert crowd.limiter.in_flight == 0
        waiting.cancel()

    assert with_crowd(1, story).entered == ["holder"]


# Callers that give up.


def test_a_cancelled_waiter_leaves_the_queue() -> None:
    """The place goes past a waiter that was cancelled to the next one, and is free afterwards."""

    async def story(crowd: Crowd) -> None:
        crowd.come("holder")
        await settle()
        gone = crowd.come("gone", (-1, 0))
        crowd.come("next", (0, 0))
        await settle()
        gone.cancel()
        await one_by_one(crowd, "holder", "next")
        later = crowd.come("later")
        crowd.leave("later")
        await asyncio.wait_for(later, 5)

    crowd = with_crowd(1, story)
    assert crowd.entered == ["holder", "next", "later"]
    assert (crowd.limiter.in_flight, crowd.gate.pace.in_flight) == (0, 0)


def test_a_waiter_cancelled_right_after_its_grant_passes_the_place_on() -> None:
    """A call that is cancelled between being granted a place and taking it does not keep the place."""

    async def story(crowd: Crowd) -> None:
        await crowd.limiter.acquire(crowd.gate, ANY)
        granted, following = crowd.come("granted", (-1, 0)), crowd.come("next")
        await settle()
        crowd.gate.pace.end()
        crowd.limiter.release()
        granted.cancel()
        crowd.leave("next")
        await asyncio.wait_for(following, 5)
        assert granted.cancelled()

    crowd = with_crowd(1, story)
    assert crowd.entered == ["next"]
    assert (crowd.limiter.in_flight, crowd.gate.pace.in_flight) == (0, 0)


# The end of the session.


class Stoppable:
    """A limiter of one place whose session can end."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.limiter = Limiter(1, lambda: self.is_stopped)
        self.crowd = Crowd(self.limiter)

    def stop(self) -> None:
        """End the session and tell the limiter."""
        self.is_stopped = True
        self.limiter.stop()


def test_stop_turns_waiters_away_and_lets_calls_in_flight_go_on() -> None:
    """After stop() those who wait get SessionStopped while the call in flight comes to its own end."""

    async def story() -> None:
        session = Stoppable()
        holder = session.crowd.come("holder")
        await settle()
        other = unpaced_gate(session.limiter, lambda: time.monotonic() + 60)
        waiters = [session.crowd.come(f"waiter {n}", (0, n)) for n in range(3)]
        waiters.append(session.crowd.come("paused", gate=other))
        await settle()
        session.stop()
        answers = await asyncio.gather(*waiters, return_exceptions=True)
        assert [type(answer) for answer in answers] == [SessionStopped] * 4
        assert not holder.done()
        session.crowd.leave("holder")
        await holder
        assert session.crowd.entered == ["holder"]
        assert session.limiter.in_flight == 0

    asyncio.run(story())


@pytest.mark.parametrize("is_full", [False, True])
def test_nobody_enters_after_the_stop(is_full: bool) -> None:
    """A call that asks once the session is stopped is turned away at once, whether places are free or not."""

    async def story() -> None:
        session = Stoppable()
        if is_full:
            await session.limiter.acquire(session.crowd.gate, ANY)
        session.stop()
        with pytest.raises(SessionStopped):
            await asyncio.wait_for(session.limiter.acquire(session.crowd.gate, ANY), 5)
        assert session.limiter.in_flight == is_full

    asyncio.run(story())


def test_a_waiter_cancelled_right_after_it_was_turned_away_gives_back_no_place() -> None:
    """Only a place that was granted can come back."""

    async def story() -> None:
        session = Stoppable()
        session.crowd.come("holder")
        await settle()
        waiter = session.crowd.come("waiter")
        await settle()
        session.stop()
        waiter.cancel()
        await asyncio.wait([waiter])
        assert waiter.cancelled()
        assert (session.limiter.in_flight, session.crowd.gate.pace.in_flight) == (1, 1)
        session.crowd.leave("holder")
        await settle()

    asyncio.run(story())


def test_a_stop_that_another_process_asked_for_is_seen_at_the_next_grant() -> None:
    """A place that comes free is granted to nobody once `is_stopped` says yes, even without stop()."""

    async def story() -> None:
        session = Stoppable()
        session.crowd.come("holder")
        await settle()
        waiters = [session.crowd.come(name) for name in ("a", "b")]
        await settle()
        session.is_stopped = True
        session.crowd.leave("holder")
        answers = await asyncio.gather(*waiters, return_exceptions=True)
        assert [type(answer) for answer in answers] == [SessionStopped] * 2
        assert session.limiter.in_flight == 0

    asyncio.run(story())


def test_a_stop_is_seen_when_a_pause_ends() -> None:
    """Those who waited for the end of a pause are turned away if the session was stopped meanwhile."""

    async def story() -> None:
        session, pause = Stoppable(), Pause()
        gate = unpaced_gate(session.limiter, pause)
        pause.begin(0.02)
        waiter = session.crowd.come("a", gate=gate)
        await settle()
        session.is_stopped = True
        with pytest.raises(SessionStopped):
            await asyncio.wait_for(waiter, 5)

    asyncio.run(story())
