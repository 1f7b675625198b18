"""Adaptive concurrency limit per endpoint, with a priority queue for its slots.

Additive increase, multiplicative decrease (AIMD) with a memory: a rate-limited call halves the limit, which
then grows back quickly to what the endpoint has sustained, stays there for a while and probes for more. A
"cut" is a halving of the limit, a "refusal" a call that the endpoint rejects because of load or rate. Bound
to one event loop, not thread-safe.
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
"""The initial limit is the ceiling divided by this."""
SLOW_START = 3
"""For as many answers as the initial limit, the limit grows by one per SLOW_START answers, then by one per
answer, until a call is refused. The slow start leaves time for refusals that come late."""
PROBE_SHARE = 10
"""A probe raises the limit by one PROBE_SHARE-th."""
REFUSAL_COST, MOST_CREDIT = 20, 100
"""Some endpoints refuse calls at random. Each answer adds 1 to a credit of at most MOST_CREDIT, and each
refusal takes REFUSAL_COST from it. While there is credit left, refusals are taken to be random."""
RANDOM_CUTS = 4
"""One in RANDOM_CUTS cuts that are taken to be random still lowers the sustained limit, by one."""
BURST, CALM = 5, 8
"""BURST different requests with server errors are not chance; CALM answers cancel out one of them."""
OUTAGE = 3
"""This many calls that fail in a row, each with no other call in flight, make an outage."""
FIRST_PATIENCE, MOST_PATIENCE = 16, 32
"""Answers per slot before the limit leaves the sustained level to probe for more: FIRST_PATIENCE at first,
twice as many after each failed probe, and MOST_PATIENCE at most."""

Priority = tuple[int, int]
"""Lowest first: minus the number of finished calls of the case, then the position of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A halving of the limit: before, after, and the limit that the endpoint is assumed to sustain."""

    before: int
    after: int
    sustained: int


class AdaptiveLimit:
    """The number of concurrent calls to one endpoint, from 1 to `ceiling`.

    Every call starts with `begin` and ends with `succeed`, `refuse`, `fail` or `end`. `sustained` is 0 until
    a call is refused; `last_good` is the sustained limit before the current probe, 0 if there is none;
    `lowest`, `highest`, `cuts` and `refused` report what happened so far.

    A server error may be due to chance, its request or an outage, and then fewer calls do not help. It counts
    as due to load if different requests fail in a burst (a CUSUM test) while others are answered. From then
    on, server errors count as refusals while the limit is at least `sustained`. OUTAGE failures in a row of
    calls that were alone in flight cannot be due to load: they reset the limit.

    `_answers` counts answers that came while all slots were in use, towards the next rise of the limit.
    `_failing` has the requests whose last attempt was a server error, and `_burst` is the sum of the test.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self._initial = self.limit = self.lowest = self.highest = -(-ceiling // START)
        self.in_flight = self.cuts = self.refused = 0
        self.sustained = self.last_good = 0
        self._in_flight_at_cut = self._refused_since_cut = 0
        self._credit = self._answers = 0
        self._patience = FIRST_PATIENCE
        self._failing: set[int] = set()
        self._burst = 0.0
        self._failures_in_row = 0
        self._fails_under_load = False

    @property
    def has_room(self) -> bool:
        """Whether another call may start."""
        return self.in_flight < self.limit

    def begin(self) -> int:
        """Count one more call in flight. Returns the number of cuts so far, to be passed to `refuse`."""
        self.in_flight += 1
        return self.cuts

    def succeed(self, request: int = 0) -> None:
        """End a call that was answered; if all slots were in use, the limit may grow.

        `request` identifies the request, as for `fail`.
        """
        were_all_in_use = not self.has_room
        self.end()
        self._failing.discard(request)
        self._burst = max(0.0, self._burst - 1 / CALM)
        self._failures_in_row = 0
        self._credit = min(MOST_CREDIT, self._credit + 1)
        if were_all_in_use:
            self._grow()
            self.highest = max(self.highest, self.limit)

    def end(self) -> None:
        """End a call whose outcome says nothing about the limit."""
        self.in_flight -= 1

    def refuse(self, cuts: int) -> Cut | None:
        """End a call that the endpoint refused because of load or rate. Returns the cut that follows, if any.

        `cuts` is what `begin` returned: calls that were in flight together cut the limit only once.
        """
        self.refused += 1
        cut = None
        if cuts == self.cuts:
            cut = self._halve()
        elif cuts == self.cuts - 1:
            self._refused_since_cut += 1
            self._update_sustained()
        self.lowest = min(self.lowest, self.limit)
        self.end()
        return cut

    def fail(self, cuts: int, request: int) -> Cut | None:
        """End a call that failed with a server error. Returns the cut that follows, if any.

        `request` is equal for all retries of a request, and differs for other requests.
        """
        is_new = request not in self._failing
        self._failing.add(request)
        self._burst += is_new
        self._failures_in_row += 1
        if self.in_flight == 1 and self._failures_in_row >= OUTAGE:
            self._restart()
        elif self._is_refusal(cuts, is_new=is_new):
            return self.refuse(cuts)
        self.end()
        return None

    def _is_refusal(self, cuts: int, *, is_new: bool) -> bool:
        """Whether a server error is due to too many calls at once."""
        if cuts < self.cuts:
            # The call began before the last cut: if its error is due to load, it belongs to that cut.
            return self._fails_under_load
        if self._failures_in_row > self.limit:
            # Nothing is answered: an outage.
            return False
        is_burst = self._burst >= BURST
        if is_burst:
            self._burst, self._fails_under_load = 0.0, True
        return is_burst or (self._fails_under_load and is_new and self.limit >= self.sustained)

    def _restart(self) -> None:
        """Forget server errors after an outage, and reset the limit if they had been ascribed to load."""
        if self._fails_under_load:
            self.limit, self.sustained, self.last_good = self._initial, 0, 0
            self._answers = self._credit = 0
        self._burst, self._fails_under_load = 0.0, False
        self._failing.clear()

    def _halve(self) -> Cut:
        before = self.limit
        self.cuts += 1
        self._in_flight_at_cut, self._refused_since_cut = self.in_flight, 1
        self.limit = max(1, min(before, self.in_flight) // 2)
        self._update_sustained()
        return Cut(before=before, after=self.limit, sustained=self.sustained)

    def _update_sustained(self) -> None:
        """Set `sustained` to the calls in flight at the cut minus the refused, unless these may be random."""
        self._credit -= REFUSAL_COST
        if self.sustained and self._credit >= 0:
            # A limit that is too high by one causes no more refusals than chance does: lower it, but rarely.
            is_lowered = self._refused_since_cut == 1 and self.cuts % RANDOM_CUTS == 0
            self.sustained = max(1, self.sustained - is_lowered)
            return
        accepted = max(1, self._in_flight_at_cut - self._refused_since_cut)
        self.sustained = min(accepted, self.last_good or self.sustained or accepted)
        if self.last_good:
            self._patience = min(MOST_PATIENCE, 2 * self._patience)
        self.last_good = self._answers = self._credit = 0
        self.limit = min(self.limit, self.sustained)

    def _grow(self) -> None:
        if not self.sustained:
            self._answers += 1
            is_due = self._answers > self._initial or self._answers % SLOW_START == 0
            self.limit = min(self.ceiling, self.limit + is_due)
        elif self.limit < self.sustained:
            self.limit += 1
        elif self.limit < self.ceiling:
            self._answers += 1
            # A probe that succeeds for one round is followed by the next one immediately.
            if self._answers >= self.limit * (1 if self.last_good else self._patience):
                self._probe()

    def _probe(self) -> None:
        if self.last_good:
            self._patience = FIRST_PATIENCE
        self.last_good, self._answers, self._credit = self.limit, 0, 0
        self.limit = self.sustained = min(self.ceiling, self.limit + max(1, self.limit // PROBE_SHARE))


@dataclass(slots=True)
class EndpointQueue:
    """The calls waiting for one endpoint, by priority; none leaves the queue before `paused_until`.

    `paused_until` is in seconds of `time.monotonic`. `waiting` is a heap of priorities, arrival numbers, and
    futures that a granted slot resolves.
    """

    concurrency: AdaptiveLimit
    paused_until: Callable[[], float]
    waiting: list[tuple[Priority, int, asyncio.Future[int]]] = field(default_factory=list)

    def next_rank(self) -> tuple[Priority, int] | None:
        """The priority and arrival number of the next call; None if no call may start."""
        # A future that is done already belongs to a cancelled call.
        while self.waiting and self.waiting[0][2].done():
            heapq.heappop(self.waiting)
        return self.waiting[0][:2] if self.is_ready and time.monotonic() >= self.paused_until() else None

    @property
    def is_ready(self) -> bool:
        """Whether a call is waiting and has room, so that only a pause can hold it back."""
        return bool(self.waiting) and self.concurrency.has_room


class Limiter:
    """Limits the calls in flight over all endpoints to `ceiling`; each endpoint also has its adaptive limit.

    `is_stopped` is checked before each grant. Once it returns true, waiting and later calls raise
    SessionStopped, while calls in flight continue.
    """

    def __init__(self, ceiling: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._is_stopped = is_stopped
        self._queues: list[EndpointQueue] = []
        self._timer: asyncio.TimerHandle | None = None
        self._arrivals = 0

    def queue(self, paused_until: Callable[[], float] = lambda: 0.0) -> EndpointQueue:
        """Add a queue for one more endpoint, with an adaptive limit of its own."""
        self._queues.append(EndpointQueue(AdaptiveLimit(self.ceiling), paused_until))
        return self._queues[-1]

    async def acquire(self, queue: EndpointQueue, priority: Priority) -> int:
        """Wait for a slot. Returns what AdaptiveLimit.begin returned. Raises SessionStopped."""
        self.raise_if_stopped()
        grant: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(queue.waiting, (priority, self._arrivals, grant))
        self.admit()
        try:
            await grant
        except asyncio.CancelledError:
            # Cancelled after the slot was granted: give it back.
            if grant.done() and not grant.cancelled() and grant.exception() is None:
                queue.concurrency.end()
                self.release()
            raise
        return grant.result()

    def release(self) -> None:
        """Free a slot whose outcome was reported to the endpoint's AdaptiveLimit, and admit the next call."""
        self.in_flight -= 1
        self.admit()

    def admit(self) -> None:
        """Admit as many calls as possible, and schedule another attempt for the end of a pause."""
        while self.in_flight < self.ceiling and (queue := self._next_queue()) is not None:
            grant = heapq.heappop(queue.waiting)[2]
            if self._is_stopped():
                grant.set_exception(SessionStopped("the session is ending"))
            else:
                self.in_flight += 1
                grant.set_result(queue.concurrency.begin())
        if self.in_flight < self.ceiling:
            self._admit_after_pause()

    def _next_queue(self) -> EndpointQueue | None:
        ready = [(rank, queue) for queue in self._queues if (rank := queue.next_rank()) is not None]
        return min(ready, key=lambda item: item[0])[1] if ready else None

    def _admit_after_pause(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pause_ends = [queue.paused_until() for queue in self._queues if queue.is_ready]
        if pause_ends:
            seconds = max(0.0, min(pause_ends) - time.monotonic())
            self._timer = asyncio.get_running_loop().call_later(seconds, self.admit)

    def raise_if_stopped(self) -> None:
        """Raise SessionStopped if no further call may start."""
        if self._is_stopped():
            raise SessionStopped("the session is ending")

    def stop(self) -> None:
        """Reject all waiting calls; `is_stopped` must already return true."""
        for queue in self._queues:
            while queue.waiting:
                grant = heapq.heappop(queue.waiting)[2]
                if not grant.done():
                    grant.set_exception(SessionStopped("the session is ending"))


class Slot:
    """A slot for one call in flight at a time, entered once per attempt.

    `request` identifies the request, `priority` is called on each entry. While the slot is held, `answered`,
    `refused` or `failed` reports how the attempt ended; an attempt that reports nothing does not change the
    limit.
    """

    __slots__ = ("_cuts", "_is_unreported", "_limiter", "_priority", "_queue", "_request")

    def __init__(
        self, limiter: Limiter, queue: EndpointQueue, priority: Callable[[], Priority], request: int = 0
    ) -> None:
        self._limiter = limiter
        self._queue = queue
        self._priority = priority
        self._request = request
        self._cuts = 0
        self._is_unreported = False

    async def __aenter__(self) -> None:
        self._cuts = await self._limiter.acquire(self._queue, self._priority())
        self._is_unreported = True

    def answered(self) -> None:
        """Report that the endpoint answered."""
        self._is_unreported = False
        self._queue.concurrency.succeed(self._request)

    def refused(self) -> Cut | None:
        """Report that the endpoint rate-limited the call. Returns the cut that follows, if any."""
        self._is_unreported = False
        return self._queue.concurrency.refuse(self._cuts)

    def failed(self) -> Cut | None:
        """Report that the endpoint had a server error. Returns the cut that follows, if any."""
        self._is_unreported = False
        return self._queue.concurrency.fail(self._cuts, self._request)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        """Free the slot, and end an attempt that reported nothing."""
        if self._is_unreported:
            self._is_unreported = False
            self._queue.concurrency.end()
        self._limiter.release()
