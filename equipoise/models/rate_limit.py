"""Adaptive concurrency limit per endpoint, with a priority queue for its slots.

Additive increase, multiplicative decrease (AIMD) with a memory: a rate-limited call halves the limit, which
then grows back quickly to what the endpoint has sustained, stays there for a while and probes for more. Lives
on one event loop and is not thread-safe; knows neither HTTP nor what a call is about.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from equipoise.core.errors import SessionStopped

START = 4
"""The first limit is one part in so many of the ceiling."""
SLOWLY = 3
"""Until a call is rate-limited for the first time, the limit grows by one for so many answers."""
STEP = 10
"""A probe raises the limit by one part in so many."""
FEW, MOST_CREDIT = 20, 100
"""So many answers make up for one refusal, which then says nothing about the limit: some endpoints refuse at
random. No more than so many answers are remembered."""
DOUBTS = 4
"""Of refusals that may be chance, one in so many lowers what is believed to be sustained by one call."""
FIRST_PATIENCE, MOST_PATIENCE = 16, 32
"""For how many answers to each slot the limit stays at what was sustained before it probes for more."""

Priority = tuple[int, int]
"""Lowest first: minus the number of calls the case has behind it, then the position of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The limit was halved: from what to what, and what the endpoint is believed to sustain."""

    before: int
    after: int
    sustained: int


class AdaptiveLimit:
    """How many calls one endpoint is given at once, from 1 to `ceiling`.

    Every call starts with `begin` and ends with `succeed`, `refuse` or `end`. `sustained` is 0 until a call
    is refused; `last_good` is what was sustained before the present probe, 0 while there is none; `lowest`,
    `highest`, `cuts` and `refused` report what happened so far.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.limit = self.lowest = self.highest = -(-ceiling // START)
        self.in_flight = self.cuts = self.refused = 0
        self.sustained = self.last_good = 0
        self._in_flight_at_cut = self._refused_of_those = 0
        self._credit = self._answers = 0
        self._patience = FIRST_PATIENCE

    @property
    def has_room(self) -> bool:
        """Whether one more call may be in flight."""
        return self.in_flight < self.limit

    def begin(self) -> int:
        """Count one more call in flight; the number of cuts so far, to be given back to `refuse`."""
        self.in_flight += 1
        return self.cuts

    def succeed(self) -> None:
        """End a call that was answered: where all slots were taken, the limit may grow."""
        is_full = not self.has_room
        self.end()
        self._credit = min(MOST_CREDIT, self._credit + 1)
        if is_full:
            self._grow()
            self.highest = max(self.highest, self.limit)

    def end(self) -> None:
        """End a call in a way that says nothing about the limit."""
        self.in_flight -= 1

    def refuse(self, cuts: int) -> Cut | None:
        """End a call that was refused as one too many; the cut, where this made one.

        Calls that were in flight together cut the limit once: `cuts` is what `begin` returned.
        """
        self.refused += 1
        cut = None
        if cuts == self.cuts:
            cut = self._halve()
        elif cuts == self.cuts - 1:
            self._refused_of_those += 1
            self._learn()
        self.lowest = min(self.lowest, self.limit)
        self.end()
        return cut

    def _halve(self) -> Cut:
        before = self.limit
        self.cuts += 1
        self._in_flight_at_cut, self._refused_of_those = self.in_flight, 1
        self.limit = max(1, min(before, self.in_flight) // 2)
        self._learn()
        return Cut(before=before, after=self.limit, sustained=self.sustained)

    def _learn(self) -> None:
        """What is sustained is what was in flight less what was refused, unless that may be chance."""
        self._credit -= FEW
        if self.sustained and self._credit >= 0:
            # A limit that is too high by one is refused as seldom as by chance.
            is_doubtful = self._refused_of_those == 1 and self.cuts % DOUBTS == 0
            self.sustained = max(1, self.sustained - is_doubtful)
            return
        found = max(1, self._in_flight_at_cut - self._refused_of_those)
        self.sustained = min(found, self.last_good or self.sustained or found)
        if self.last_good:
            self._patience = min(MOST_PATIENCE, 2 * self._patience)
        self.last_good = self._answers = self._credit = 0
        self.limit = min(self.limit, self.sustained)

    def _grow(self) -> None:
        if not self.sustained:
            self._answers += 1
            self.limit = min(self.ceiling, self.limit + (self._answers % SLOWLY == 0))
        elif self.limit < self.sustained:
            self.limit += 1
        elif self.limit < self.ceiling:
            self._answers += 1
            # A probe that has gone well for one round is followed by the next at once.
            if self._answers >= self.limit * (1 if self.last_good else self._patience):
                self._probe()

    def _probe(self) -> None:
        if self.last_good:
            self._patience = FIRST_PATIENCE
        self.last_good, self._answers, self._credit = self.limit, 0, 0
        self.limit = self.sustained = min(self.ceiling, self.limit + max(1, self.limit // STEP))


@dataclass(slots=True)
class EndpointQueue:
    """The calls that wait for one endpoint, by priority; none leaves the queue before `paused_until`.

    `paused_until` is in seconds of `time.monotonic`.
    """

    concurrency: AdaptiveLimit
    paused_until: Callable[[], float] = lambda: 0.0
    waiting: list[tuple[Priority, int, asyncio.Future[int]]] = field(default_factory=list)

    def next_rank(self) -> tuple[Priority, int] | None:
        """The rank of the call that goes next; None where none may."""
        while self.waiting and self.waiting[0][2].done():
            heapq.heappop(self.waiting)
        return self.waiting[0][:2] if self.is_ready and time.monotonic() >= self.paused_until() else None

    @property
    def is_ready(self) -> bool:
        """Whether a call waits that only a pause can hold back."""
        return bool(self.waiting) and self.concurrency.has_room


class Limiter:
    """At most `ceiling` calls in flight at once, over all endpoints; each has its adaptive limit besides.

    `is_stopped` is asked before every grant. Once it says yes, waiting and later calls raise SessionStopped,
    while calls in flight go on.
    """

    def __init__(self, ceiling: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._is_stopped = is_stopped
        self._queues: list[EndpointQueue] = []
        self._timer: asyncio.TimerHandle | None = None
        self._arrivals = 0

    def queue(
        self, concurrency: AdaptiveLimit | None = None, paused_until: Callable[[], float] = lambda: 0.0
    ) -> EndpointQueue:
        """The queue of one more endpoint, with a limit of its own where none is given."""
        self._queues.append(EndpointQueue(concurrency or AdaptiveLimit(self.ceiling), paused_until))
        return self._queues[-1]

    async def acquire(self, queue: EndpointQueue, priority: Priority) -> int:
        """Wait for a slot; what the `begin` of the queue's limit returned. Raises SessionStopped."""
        self.refuse_if_stopped()
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(queue.waiting, (priority, self._arrivals, turn))
        self.admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                queue.concurrency.end()
                self.release()
            raise
        return turn.result()

    def release(self) -> None:
        """Free a slot, after its outcome was reported to the queue's limit, and admit the next call."""
        self.in_flight -= 1
        self.admit()

    def admit(self) -> None:
        """Let in as many calls as may go now, and come back once a pause is over."""
        while self.in_flight < self.ceiling and (queue := self._next_queue()) is not None:
            turn = heapq.heappop(queue.waiting)[2]
            if self._is_stopped():
                turn.set_exception(SessionStopped("the session is ending"))
            else:
                self.in_flight += 1
                turn.set_result(queue.concurrency.begin())
        if self.in_flight < self.ceiling:
            self._admit_after_pause()

    def _next_queue(self) -> EndpointQueue | None:
        ready = [(rank, queue) for queue in self._queues if (rank := queue.next_rank()) is not None]
        return min(ready, key=lambda found: found[0])[1] if ready else None

    def _admit_after_pause(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        ends = [queue.paused_until() for queue in self._queues if queue.is_ready]
        if ends:
            seconds = max(0.0, min(ends) - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(seconds, self.admit)

    def refuse_if_stopped(self) -> None:
        """Raise SessionStopped where no further call may start."""
        if self._is_stopped():
            raise SessionStopped("the session is ending")

    def stop(self) -> None:
        """Turn away every call that still waits; `is_stopped` must say yes already."""
        for queue in self._queues:
            while queue.waiting:
                turn = heapq.heappop(queue.waiting)[2]
                if not turn.done():
                    turn.set_exception(SessionStopped("the session is ending"))


class Slot:
    """A slot for one call in flight at a time; entered again for each attempt.

    `priority` is asked whenever it waits. While it is held, `answered` or `refused` says how the attempt
    ended; an attempt that says neither does not move the limit.
    """

    __slots__ = ("_cuts", "_is_counted", "_limiter", "_priority", "_queue")

    def __init__(self, limiter: Limiter, queue: EndpointQueue, priority: Callable[[], Priority]) -> None:
        self._limiter = limiter
        self._queue = queue
        self._priority = priority
        self._cuts = 0
        self._is_counted = False

    async def __aenter__(self) -> None:
        self._cuts = await self._limiter.acquire(self._queue, self._priority())
        self._is_counted = True

    def answered(self) -> None:
        """The endpoint answered."""
        self._is_counted = False
        self._queue.concurrency.succeed()

    def refused(self) -> Cut | None:
        """The endpoint rate-limited the call; the cut of the limit, where this made one."""
        self._is_counted = False
        return self._queue.concurrency.refuse(self._cuts)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self._queue.concurrency.end()
        self._limiter.release()
