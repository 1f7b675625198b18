"""How many calls may be in flight, and who goes next."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from equipoise.errors import SessionStopped
from equipoise.limiter import Limiter, share


async def settle() -> None:
    """Let every task that can run come to its next wait."""
    for _ in range(10):
        await asyncio.sleep(0)


class Crowd:
    """Callers that wait for a place in turn and note who got one; they keep it until told to leave."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.entered: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}

    def come(self, name: str, priority: int = 0) -> asyncio.Task[None]:
        """Ask for a place in a task of its own."""
        self._leave[name] = asyncio.Event()
        return asyncio.create_task(self._visit(name, priority))

    def leave(self, name: str) -> None:
        """Let that caller give its place back."""
        self._leave[name].set()

    async def _visit(self, name: str, priority: int) -> None:
        async with self.limiter.slot(priority):
            self.entered.append(name)
            await self._leave[name].wait()


def with_crowd(ceiling: int, story: Callable[[Crowd], Awaitable[None]]) -> Crowd:
    """Run the story on a loop of its own."""

    async def tell() -> Crowd:
        crowd = Crowd(Limiter(ceiling))
        await story(crowd)
        return crowd

    return asyncio.run(tell())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ceiling", [1, 3, 8])
def test_a_random_load_never_goes_above_the_ceiling(seed: int, ceiling: int) -> None:
    """However calls come, go and are cancelled, no more than the ceiling run, and all places come back."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    running, most, finished = 0, 0, 0

    async def call(limiter: Limiter) -> None:
        nonlocal running, most, finished
        async with limiter.slot(dice.randrange(5)):
            running += 1
            most = max(most, running)
            try:
                await asyncio.sleep(dice.choice([0, 0, 0.001]))
                finished += 1
            finally:
                running -= 1

    async def load() -> Limiter:
        limiter = Limiter(ceiling)
        tasks = [asyncio.create_task(call(limiter)) for _ in range(200)]
        while not all(task.done() for task in tasks):
            if dice.random() < 0.3:
                dice.choice(tasks).cancel()
            await asyncio.sleep(0)
        return limiter

    limiter = asyncio.run(load())
    assert (most, limiter.peak) == (ceiling, ceiling)
    assert finished > 0
    assert (running, limiter.in_flight) == (0, 0)


def test_the_lowest_priority_number_goes_first() -> None:
    """A place that comes free goes to the waiting call with the lowest number."""

    async def story(crowd: Crowd) -> None:
        crowd.come("first", 9)
        await settle()
        tasks = [crowd.come(str(priority), priority) for priority in (3, 1, 4, 2)]
        await settle()
        for name in ("first", "1", "2", "3", "4"):
            crowd.leave(name)
            await settle()
        await asyncio.gather(*tasks)

    assert with_crowd(1, story).entered == ["first", "1", "2", "3", "4"]


def test_within_a_priority_who_came_first_goes_first() -> None:
    """Calls of the same priority get their places in the order in which they asked."""
    names = list("abcdefgh")

    async def story(crowd: Crowd) -> None:
        tasks = [crowd.come(name, 7) for name in names]
        for name in names:
            await settle()
            crowd.leave(name)
        await asyncio.gather(*tasks)

    assert with_crowd(1, story).entered == names


def test_a_newcomer_does_not_overtake_an_equal() -> None:
    """A call that asks just when a place comes free stands behind those that wait already."""

    async def story(crowd: Crowd) -> None:
        crowd.come("holder")
        await settle()
        waiting = crowd.come("waiting")
        await settle()
        crowd.leave("holder")
        newcomer = crowd.come("newcomer")
        await settle()
        crowd.leave("waiting")
        crowd.leave("newcomer")
        await asyncio.gather(waiting, newcomer)

    assert with_crowd(1, story).entered == ["holder", "waiting", "newcomer"]


def test_a_cancelled_waiter_leaves_the_queue() -> None:
    """The place goes past a waiter that was cancelled to the next one, and is free afterwards."""

    async def story(crowd: Crowd) -> None:
        crowd.come("holder")
        await settle()
        gone, next_one = crowd.come("gone", 0), crowd.come("next", 1)
        await settle()
        gone.cancel()
        crowd.leave("holder")
        crowd.leave("next")
        await next_one
        later = crowd.come("later")
        crowd.leave("later")
        await asyncio.wait_for(later, 1)

    crowd = with_crowd(1, story)
    assert crowd.entered == ["holder", "next", "later"]
    assert crowd.limiter.in_flight == 0


def test_a_waiter_cancelled_right_after_its_grant_passes_the_place_on() -> None:
    """A call that is cancelled between being granted a place and taking it does not keep the place."""

    async def story() -> tuple[list[str], int]:
        limiter = Limiter(1)
        crowd = Crowd(limiter)
        await limiter.acquire(0)
        granted, next_one = crowd.come("granted", 0), crowd.come("next", 1)
        await settle()
        limiter.release()
        granted.cancel()
        crowd.leave("next")
        await asyncio.wait_for(next_one, 1)
        assert granted.cancelled()
        return crowd.entered, limiter.in_flight

    assert asyncio.run(story()) == (["next"], 0)


def test_a_place_comes_back_when_its_call_fails() -> None:
    """An exception inside a slot gives the place back and is passed on."""

    async def story() -> int:
        limiter = Limiter(1)
        with pytest.raises(ZeroDivisionError):
            async with limiter.slot(0):
                raise ZeroDivisionError
        return limiter.in_flight

    assert asyncio.run(story()) == 0


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
        waiters = [session.crowd.come(f"waiter {n}", n) for n in range(3)]
        await settle()
        session.stop()
        answers = await asyncio.gather(*waiters, return_exceptions=True)
        assert [type(answer) for answer in answers] == [SessionStopped] * 3
        assert not holder.done()
        session.crowd.leave("holder")
        await holder
        assert session.crowd.entered == ["holder"]
        assert session.limiter.in_flight == 0

    asyncio.run(story())


def test_nobody_enters_after_the_stop() -> None:
    """A call that asks once the session is stopped is turned away although places are free."""

    async def story() -> None:
        session = Stoppable()
        session.stop()
        with pytest.raises(SessionStopped):
            await session.limiter.acquire(0)
        assert session.limiter.in_flight == 0

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


@pytest.mark.parametrize("processes", [1, 2, 3, 7, 8, 16, 64])
@pytest.mark.parametrize("ceiling", [1, 2, 5, 8, 31, 32, 33, 1000])
def test_the_shares_add_up_to_the_ceiling(ceiling: int, processes: int) -> None:
    """All processes together may use exactly the ceiling, and no two differ by more than one."""
    shares = [share(ceiling, processes, number) for number in range(processes)]
    assert sum(shares) == ceiling
    assert max(shares) - min(shares) <= 1
    assert shares == sorted(shares, reverse=True)
