"""How many calls are in flight, to which endpoint, and which goes next."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from itertools import product

import pytest
from fakes import settle

from equipoise.core.errors import SessionStopped
from equipoise.models.rate_limit import (
    FIRST_PATIENCE,
    SLOW_START,
    AdaptiveLimit,
    Cut,
    EndpointQueue,
    Limiter,
    Priority,
    Slot,
)


def fill(limit: AdaptiveLimit) -> int:
    """Begin as many calls as there is room for; how many are in flight then."""
    while limit.has_room:
        limit.begin()
    return limit.in_flight


def answer(limit: AdaptiveLimit, calls: int) -> None:
    """So many calls are answered, one after the other, with as many in flight as there may be."""
    for _ in range(calls):
        fill(limit)
        limit.succeed()
    fill(limit)


def refused_at(calls: int, ceiling: int = 64) -> tuple[AdaptiveLimit, Cut]:
    """A limit that has grown to so many calls in flight and was then refused one for the first time."""
    limit = AdaptiveLimit(ceiling)
    while fill(limit) < calls:
        answer(limit, 1)
    cut = limit.refuse(0)
    assert cut is not None
    return limit, cut


def settled_at(calls: int, ceiling: int = 64) -> AdaptiveLimit:
    """A limit that knows that so many calls are sustained, and is back there."""
    limit, cut = refused_at(calls + 1, ceiling)
    while limit.limit < cut.sustained:
        answer(limit, 1)
    assert limit.limit == fill(limit) == calls
    return limit


def answers_until_a_probe(limit: AdaptiveLimit) -> int:
    """How many answers it takes until the limit goes up."""
    before = limit.limit
    for number in range(1, 100_000):
        answer(limit, 1)
        if limit.limit > before:
            return number
    raise AssertionError("it does not go up")


# Growing.


def test_the_first_limit_is_a_fraction_of_the_ceiling(subtests: pytest.Subtests) -> None:
    """A quarter, rounded up: many endpoints take far less than a user allows."""
    for ceiling, first in {1: 1, 2: 1, 4: 1, 5: 2, 64: 16, 256: 64}.items():
        with subtests.test(ceiling=ceiling):
            limit = AdaptiveLimit(ceiling)
            assert (limit.limit, fill(limit)) == (first, first)
            assert (limit.lowest, limit.highest, limit.refused) == (first, first, 0)


def test_the_limit_grows_with_the_answers_up_to_the_ceiling() -> None:
    """By a third in the first round, then by one for every answer, and never above the ceiling."""
    limit = AdaptiveLimit(64)
    answer(limit, 5 * SLOW_START)
    assert (limit.limit, limit.in_flight) == (21, 21)
    answer(limit, 1 + 21)
    assert (limit.limit, limit.in_flight) == (42, 42)
    answer(limit, 1000)
    assert (limit.limit, limit.in_flight, limit.highest, limit.lowest) == (64, 64, 64, 16)


def test_what_says_nothing_does_not_move_the_limit() -> None:
    """Answers where fewer calls are made than may be, and a timeout or a fault of the request."""
    limit = AdaptiveLimit(64)
    for _ in range(1000):
        limit.begin()
        limit.succeed()
    assert (limit.limit, limit.in_flight) == (16, 0)
    for _ in range(1000):
        fill(limit)
        limit.end()
    assert (limit.limit, limit.in_flight, limit.refused) == (16, 15, 0)


# Refusals.


def test_a_refusal_halves_the_limit() -> None:
    """Of 40 calls ten are refused: at most 20 from now on, once, and back to the 30 that were sustained."""
    limit, cut = refused_at(40)
    assert cut == Cut(before=40, after=20, sustained=39)
    assert (limit.limit, limit.in_flight, limit.refused, limit.lowest) == (20, 39, 1, 16)
    assert [limit.refuse(0) for _ in range(9)] == [None] * 9
    assert (limit.limit, limit.refused, limit.cuts) == (20, 10, 1)
    for _ in range(11):
        assert not limit.has_room
        limit.end()
    assert limit.has_room
    answer(limit, 30)
    assert (limit.limit, limit.in_flight) == (30, 30)
    answer(limit, 100)
    assert limit.limit == 30


def test_server_errors_of_different_requests_in_a_burst_halve_the_limit() -> None:
    """Then each counts where as many calls are in flight as were sustained."""
    limit = AdaptiveLimit(64)
    fill(limit)
    cuts = [limit.fail(0, request) for request in range(7)]
    assert cuts == [None] * 4 + [Cut(before=16, after=6, sustained=11), None, None]
    assert (limit.limit, limit.cuts, limit.refused) == (6, 1, 3)
    limit = AdaptiveLimit(64)
    fill(limit)
    for request in range(5):
        limit.fail(0, request)
    assert (limit.limit, limit.sustained) == (6, 11)
    limit.begin()
    assert limit.fail(1, 77) is None
    while limit.limit < limit.sustained:
        answer(limit, 1)
    assert limit.fail(1, 78) is not None


def test_server_errors_that_say_nothing_of_the_load_do_not_lower_the_limit() -> None:
    """One request that keeps failing, also beside three others, or an outage: nothing else is in flight."""
    limit = AdaptiveLimit(64)
    fill(limit)
    assert [limit.fail(0, number % 4) for number in range(12)] == [None] * 12
    assert (limit.limit, limit.cuts) == (16, 0)
    limit = AdaptiveLimit(64)
    fill(limit)
    for request in range(16):
        limit.fail(0, request)
    assert (limit.in_flight, limit.limit, limit.sustained) == (0, 16, 0)
    limit = AdaptiveLimit(64)
    for _ in range(9):
        limit.fail(limit.begin(), 1)
    assert limit.limit == 16
    for request in range(60):
        fill(limit)
        limit.fail(limit.cuts, request)
    assert limit.cuts == 1


def test_the_limit_is_halved_from_what_was_in_flight() -> None:
    """What was not used is no measure; it follows what was sustained, and is never below one."""
    limit = AdaptiveLimit(64)
    begun = [limit.begin() for _ in range(3)]
    assert limit.refuse(begun[0]) == Cut(before=16, after=1, sustained=2)
    limit = AdaptiveLimit(256)
    assert fill(limit) == 64
    first, *_ = [limit.refuse(0) for _ in range(60)]
    assert first == Cut(before=64, after=32, sustained=63)
    assert (limit.limit, limit.in_flight, limit.lowest) == (4, 4, 4)
    for _ in range(50):
        fill(limit)
        for _ in range(limit.in_flight):
            limit.refuse(limit.begin())
            limit.end()
    assert (limit.limit, limit.lowest, limit.in_flight, limit.has_room) == (1, 1, 0, True)


def test_a_call_made_after_the_cut_halves_the_limit_again() -> None:
    """Half is still too much then; one that was in flight before the last cut but one only ends."""
    limit, _ = refused_at(40)
    while not limit.has_room:
        limit.end()
    assert limit.refuse(limit.begin()) == Cut(before=20, after=10, sustained=19)
    before, in_flight = limit.limit, limit.in_flight
    assert limit.refuse(0) is None
    assert (limit.limit, limit.in_flight) == (before, in_flight - 1)
    answer(limit, 100)
    assert limit.limit == 19


# Coming back, and probing for more.


def test_after_a_while_the_limit_probes_for_a_tenth_more(subtests: pytest.Subtests) -> None:
    """It stays at what was sustained for so many rounds, and takes one step, of one call at least."""
    for calls in (5, 9, 12, 19, 39):
        with subtests.test(calls=calls):
            limit = settled_at(calls, ceiling=20 if calls < 20 else 64)
            assert answers_until_a_probe(limit) == FIRST_PATIENCE * calls
            assert limit.limit == fill(limit) == calls + max(1, calls // 10)


def test_a_probe_that_is_refused_is_taken_back_and_put_off() -> None:
    """The limit returns to what was sustained before, and the next probe comes later than the first."""
    limit = settled_at(39)
    first = answers_until_a_probe(limit)
    assert limit.refuse(limit.begin()) == Cut(before=42, after=21, sustained=39)
    answer(limit, 25)
    assert limit.limit == 39
    assert answers_until_a_probe(limit) > 1.5 * first


def test_a_probe_that_goes_well_is_followed_by_the_next_sooner() -> None:
    """An endpoint that takes more than it did is soon given all that it takes, up to the user's ceiling."""
    limit = settled_at(39, ceiling=120)
    waits = [answers_until_a_probe(limit) / 39]
    while limit.limit < 100:
        before = limit.limit
        waits.append(answers_until_a_probe(limit) / before)
    assert waits[0] == FIRST_PATIENCE
    assert waits == sorted(waits, reverse=True)
    assert waits[-1] == 1
    assert sum(waits) < 4 * FIRST_PATIENCE
    answer(limit, 10_000)
    assert (limit.limit, limit.highest) == (120, 120)


# Chance.


def test_one_refusal_among_many_answers_is_chance() -> None:
    """The limit comes back to where it was, but not where a quarter of those in flight are refused."""
    for refusals, answers, back in ((1, 30, 39), (10, 60, 29)):
        limit = settled_at(39)
        answer(limit, 100)
        first, *_ = [limit.refuse(1) for _ in range(refusals)]
        assert first == Cut(before=39, after=19, sustained=39)
        answer(limit, answers)
        assert limit.limit == back


# The limiter.

ANY: Priority = (0, 0)


class Unlimited(AdaptiveLimit):
    """Holds no call back, for tests of everything else; counts as the real one does."""

    @property
    def has_room(self) -> bool:
        """Always."""
        return True


def unlimited_queue(limiter: Limiter, paused_until: Callable[[], float] = lambda: 0.0) -> EndpointQueue:
    """The queue of one more endpoint, which takes whatever the limiter lets through."""
    queue = limiter.queue(paused_until)
    queue.concurrency = Unlimited(limiter.ceiling)
    return queue


class Crowd:
    """Callers that wait for a slot and note who got one; they keep it until told to leave."""

    def __init__(self, limiter: Limiter) -> None:
        self.limiter = limiter
        self.queue = unlimited_queue(limiter)
        self.entered: list[str] = []
        self._leave: dict[str, asyncio.Event] = {}

    def come(
        self, name: str, priority: Priority = ANY, queue: EndpointQueue | None = None
    ) -> asyncio.Task[None]:
        """Ask for a slot in a task of its own."""
        self._leave[name] = asyncio.Event()
        return asyncio.create_task(self._visit(name, priority, queue or self.queue))

    def leave(self, *names: str) -> None:
        """Let these callers give their slots back."""
        for name in names:
            self._leave[name].set()

    @property
    def in_flight(self) -> tuple[int, int]:
        """As the limiter counts it, and as the endpoint's limit does."""
        return self.limiter.in_flight, self.queue.concurrency.in_flight

    async def _visit(self, name: str, priority: Priority, queue: EndpointQueue) -> None:
        async with Slot(self.limiter, queue, lambda: priority):
            self.entered.append(name)
            await self._leave[name].wait()


async def one_by_one(crowd: Crowd, *names: str) -> None:
    """Let these leave in turn, each once all others have come to rest."""
    for name in names:
        await settle()
        crowd.leave(name)
    await settle()


# The ceiling.


class Load:
    """A hundred calls to two endpoints that come, go and are cancelled at random."""

    def __init__(self, ceiling: int, seed: int) -> None:
        self.ceiling = ceiling
        self.running = self.most = self.finished = 0
        self._dice = random.Random(seed)  # noqa: S311 - not a secret

    async def run(self) -> tuple[Limiter, list[EndpointQueue]]:
        """All of them."""
        limiter = Limiter(self.ceiling)
        queues = [unlimited_queue(limiter), limiter.queue()]
        tasks = [asyncio.create_task(self._call(limiter, self._dice.choice(queues))) for _ in range(100)]
        while not all(task.done() for task in tasks):
            if self._dice.random() < 0.2:
                self._dice.choice(tasks).cancel()
            await asyncio.sleep(0)
        return limiter, queues

    async def _call(self, limiter: Limiter, queue: EndpointQueue) -> None:
        slot = Slot(limiter, queue, lambda: (-self._dice.randrange(3), self._dice.randrange(5)))
        for end in (slot.refused, slot.answered):
            async with slot:
                self.running += 1
                self.most = max(self.most, self.running)
                try:
                    await asyncio.sleep(self._dice.choice([0, 0, 0.001]))
                    end()
                    self.finished += 1
                finally:
                    self.running -= 1


def test_a_random_load_never_goes_above_the_ceiling(subtests: pytest.Subtests) -> None:
    """However calls come, go and are cancelled; all slots come back."""
    for ceiling, seed in product((1, 3, 8), range(2)):
        with subtests.test(ceiling=ceiling, seed=seed):
            load = Load(ceiling, seed)
            limiter, queues = asyncio.run(load.run())
            assert load.most == ceiling
            assert load.finished > 0
            assert (load.running, limiter.in_flight) == (0, 0)
            assert [queue.concurrency.in_flight for queue in queues] == [0, 0]
            assert 1 <= queues[1].concurrency.lowest <= queues[1].concurrency.highest <= ceiling


# Which goes next.


async def test_the_case_that_is_further_along_goes_first_and_then_the_earlier_one() -> None:
    """Whichever endpoint they wait for."""
    ranks: list[Priority] = [(-2, 7), (-2, 9), (-1, 0), (0, 0), (0, 3)]
    crowd = Crowd(Limiter(1))
    queues = (crowd.queue, unlimited_queue(crowd.limiter))
    crowd.come("holder")
    await settle()
    for number, rank in enumerate((ranks[3], ranks[1], ranks[4], ranks[0], ranks[2])):
        crowd.come(str(rank), rank, queues[number % 2])
    await one_by_one(crowd, "holder", *map(str, ranks))
    assert crowd.entered == ["holder", *map(str, ranks)]


async def test_of_equal_rank_the_first_to_come_goes_first() -> None:
    """Also before one that asks just as a slot comes free."""
    names = list("abcdefgh")
    crowd = Crowd(Limiter(1))
    for name in names:
        crowd.come(name, (-1, 7))
    await settle()
    crowd.leave("a")
    crowd.come("newcomer", (-1, 7))
    await one_by_one(crowd, *names[1:], "newcomer")
    assert crowd.entered == [*names, "newcomer"]


async def test_the_rank_is_that_of_the_moment_of_waiting() -> None:
    """A slot that is entered again asks anew how far its case has come."""
    ranks: list[Priority] = []

    def rank() -> Priority:
        ranks.append((-len(ranks), 4))
        return ranks[-1]

    crowd = Crowd(Limiter(1))
    slot = Slot(crowd.limiter, crowd.queue, rank)
    for _ in range(3):
        async with slot:
            slot.answered()
    assert ranks == [(0, 4), (-1, 4), (-2, 4)]


# The limit of an endpoint.


async def test_an_endpoint_gets_no_more_than_its_limit() -> None:
    """A new endpoint is given a quarter of the ceiling at first, however many wait and are free."""
    crowd = Crowd(Limiter(8))
    queue = crowd.limiter.queue()
    names = [str(number) for number in range(8)]
    for name in names:
        crowd.come(name, queue=queue)
    await settle()
    assert len(crowd.entered) == queue.concurrency.in_flight == crowd.limiter.in_flight == 2
    await one_by_one(crowd, *names)
    assert crowd.entered == names


async def test_an_endpoint_that_is_full_holds_no_other_back() -> None:
    """A call of higher rank that its endpoint has no room for lets calls to other endpoints pass."""
    crowd = Crowd(Limiter(4))
    narrow = crowd.limiter.queue()
    for name in ("a", "b", "c"):
        crowd.come(name, (-1, 0), narrow)
    crowd.come("elsewhere", (0, 9))
    await one_by_one(crowd, "elsewhere", "a", "b", "c")
    assert crowd.entered == ["a", "elsewhere", "b", "c"]


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


async def test_no_call_is_let_in_during_a_pause() -> None:
    """Calls to a paused endpoint wait to its end, also where that was put off, and then go uncalled."""
    crowd = Crowd(Limiter(2))
    pause = Pause()
    queue = unlimited_queue(crowd.limiter, pause)
    pause.begin(0.2)
    visits = [crowd.come(name, queue=queue) for name in ("a", "b")]
    await settle()
    assert crowd.entered == []
    pause.begin(0.25)
    crowd.leave("a", "b")
    await asyncio.wait_for(asyncio.gather(*visits), 5)
    assert time.monotonic() >= pause.until
    assert crowd.entered == ["a", "b"]


async def test_each_endpoint_is_called_again_when_its_own_pause_ends() -> None:
    """Of two that are paused, the one with the shorter pause goes first; one that is not does not wait."""
    crowd = Crowd(Limiter(1))
    long, short = Pause(), Pause()
    queues = [unlimited_queue(crowd.limiter, pause) for pause in (long, short)]
    long.begin(60)
    short.begin(0.2)
    stuck, soon = crowd.come("stuck", (-5, 0), queues[0]), crowd.come("soon", queue=queues[1])
    crowd.come("free", (0, 9))
    await one_by_one(crowd, "free")
    assert crowd.entered == ["free"]
    crowd.leave("soon")
    await asyncio.wait_for(soon, 5)
    assert time.monotonic() < long.until
    stuck.cancel()
    assert crowd.entered == ["free", "soon"]


async def test_calls_in_flight_go_on_during_a_pause() -> None:
    """A pause keeps new calls out; one in flight ends, and its slot is given to no other."""
    crowd = Crowd(Limiter(1))
    pause = Pause()
    queue = unlimited_queue(crowd.limiter, pause)
    holder, waiting = crowd.come("holder", queue=queue), crowd.come("waiting", queue=queue)
    await settle()
    pause.begin(60)
    await one_by_one(crowd, "holder")
    assert holder.done()
    assert crowd.limiter.in_flight == 0
    waiting.cancel()
    assert crowd.entered == ["holder"]


# Callers that give up, and the end of the session.


async def test_a_waiter_cancelled_right_after_its_grant_passes_the_slot_on() -> None:
    """A call that is cancelled between being granted a slot and taking it does not keep the slot."""
    crowd = Crowd(Limiter(1))
    await crowd.limiter.acquire(crowd.queue, ANY)
    granted, following = crowd.come("granted", (-1, 0)), crowd.come("next")
    await settle()
    crowd.queue.concurrency.end()
    crowd.limiter.release()
    granted.cancel()
    crowd.leave("next")
    await asyncio.wait_for(following, 5)
    assert granted.cancelled()
    assert crowd.entered == ["next"]
    assert crowd.in_flight == (0, 0)


class Stoppable:
    """A limiter of one slot whose session can end."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.limiter = Limiter(1, lambda: self.is_stopped)
        self.crowd = Crowd(self.limiter)

    def stop(self) -> None:
        """End the session and tell the limiter."""
        self.is_stopped = True
        self.limiter.stop()


async def test_stop_turns_waiters_away_and_lets_calls_in_flight_go_on() -> None:
    """And whoever asks later, whether slots are free or not."""
    session = Stoppable()
    holder = session.crowd.come("holder")
    await settle()
    other = unlimited_queue(session.limiter, lambda: time.monotonic() + 60)
    waiters = [session.crowd.come(f"waiter {n}", (0, n)) for n in range(3)]
    waiters.append(session.crowd.come("paused", queue=other))
    await settle()
    session.stop()
    waiters.append(session.crowd.come("late"))
    answers = await asyncio.gather(*waiters, return_exceptions=True)
    assert [type(answer) for answer in answers] == [SessionStopped] * 5
    assert not holder.done()
    session.crowd.leave("holder")
    await holder
    with pytest.raises(SessionStopped):
        await asyncio.wait_for(session.limiter.acquire(session.crowd.queue, ANY), 5)
    assert session.crowd.entered == ["holder"]
    assert session.limiter.in_flight == 0


async def test_a_waiter_cancelled_right_after_it_was_turned_away_gives_back_no_slot() -> None:
    """Only a slot that was granted can come back."""
    session = Stoppable()
    session.crowd.come("holder")
    await settle()
    waiter = session.crowd.come("waiter")
    await settle()
    session.stop()
    waiter.cancel()
    await asyncio.wait([waiter])
    assert waiter.cancelled()
    assert session.crowd.in_flight == (1, 1)
    session.crowd.leave("holder")
    await settle()


async def test_a_stop_is_seen_at_the_next_grant() -> None:
    """A slot that comes free is granted to no call once `is_stopped` says yes, even without stop()."""
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


async def test_a_stop_is_seen_when_a_pause_ends() -> None:
    """Calls that waited for the end of a pause are turned away if the session was stopped meanwhile."""
    session, pause = Stoppable(), Pause()
    pause.begin(0.02)
    waiter = session.crowd.come("a", queue=unlimited_queue(session.limiter, pause))
    await settle()
    session.is_stopped = True
    with pytest.raises(SessionStopped):
        await asyncio.wait_for(waiter, 5)
