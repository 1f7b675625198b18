"""Who may call now: at most so many calls in flight over all processes, and no more than an endpoint bears.

A call of a case that is further along goes first, then that of an earlier case, so cases finish early and
in order. The limiter lives on one event loop and is not safe for threads.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from types import TracebackType

from equipoise.errors import SessionStopped
from equipoise.pace import Cut, Pace

LOOK_SECONDS = 0.05
"""How often a process looks whether another one has left room."""
Priority = tuple[int, int]
"""Lowest first: minus the number of calls that the case has behind it, then the place of the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """The other processes: how many calls they have in flight, and what keeps them from beginning more."""

    in_flight: Callable[[], int]
    alone: Callable[[], AbstractContextManager[None]]


ALONE = Company(in_flight=lambda: 0, alone=nullcontext)
"""For a process that has no company."""


@dataclass(slots=True)
class Gate:
    """The way to one endpoint: its pace, who waits for it, and until when nobody may pass.

    `paused_until` is in seconds of `time.monotonic`, which all processes of a machine share.
    """

    pace: Pace
    paused_until: Callable[[], float] = lambda: 0.0
    waiting: list[tuple[Priority, int, asyncio.Future[int]]] = field(default_factory=list)

    def next_in_line(self) -> tuple[Priority, int] | None:
        """The rank of whoever goes next; None where nobody can."""
        while self.waiting and self.waiting[0][2].done():
            heapq.heappop(self.waiting)
        is_open = self.waiting and self.pace.has_room and time.monotonic() >= self.paused_until()
        return self.waiting[0][:2] if is_open else None

    def wait(self) -> float | None:
        """Seconds after which it is worth looking again; None where only an own call that ends can help."""
        pause = self.paused_until() - time.monotonic()
        if pause > 0 or self.pace.has_room:
            return max(0.0, pause)
        return LOOK_SECONDS if self.pace.is_shared else None


class Limiter:
    """At most `ceiling` calls in flight at once, over all gates and all processes.

    Who gets how much of it is for the gates to say, by the pace of each. `is_stopped` is asked before every
    grant; once it says yes, waiting and later calls raise SessionStopped, and calls in flight go on.
    """

    def __init__(
        self, ceiling: int, is_stopped: Callable[[], bool] = lambda: False, company: Company = ALONE
    ) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self._company = company
        self._is_stopped = is_stopped
        self._gates: list[Gate] = []
        self._timer: asyncio.TimerHandle | None = None
        self._arrivals = 0

    def gate(self, pace: Pace | None = None, paused_until: Callable[[], float] = lambda: 0.0) -> Gate:
        """A way to one more endpoint, at a pace of its own where none is given."""
        self._gates.append(Gate(pace=pace or Pace(self.ceiling), paused_until=paused_until))
        return self._gates[-1]

    async def acquire(self, gate: Gate, priority: Priority) -> int:
        """Wait for a place; the era of the gate's pace at that moment. Raises SessionStopped."""
        self.refuse_if_stopped()
        turn: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(gate.waiting, (priority, self._arrivals, turn))
        self.admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                gate.pace.end()
                self.release()
            raise
        return turn.result()

    def release(self) -> None:
        """A call is home, as the pace of its gate has been told: let the next one in."""
        self.in_flight -= 1
        self.admit()

    def admit(self) -> None:
        """Let in as many as may go."""
        if self._next_gate() is not None:
            with self._company.alone():
                self._admit()
        for gate in self._gates:
            gate.pace.wish(len(gate.waiting))
        if self.in_flight < self.ceiling:
            self._look_again_later()

    def _admit(self) -> None:
        while self._has_place and (gate := self._next_gate()) is not None:
            turn = heapq.heappop(gate.waiting)[2]
            if self._is_stopped():
                turn.set_exception(SessionStopped("the session is ending"))
            else:
                self.in_flight += 1
                turn.set_result(gate.pace.begin())

    @property
    def _has_place(self) -> bool:
        return self.in_flight + self._company.in_flight() < self.ceiling

    def _next_gate(self) -> Gate | None:
        """The gate of whoever goes next."""
        ready = [(rank, gate) for gate in self._gates if (rank := gate.next_in_line()) is not None]
        return min(ready, key=lambda found: found[0])[1] if ready else None

    def _look_again_later(self) -> None:
        """Come back when an endpoint's pause is over, or when another process may have left room."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waits = [wait for gate in self._gates if gate.waiting and (wait := gate.wait()) is not None]
        if waits:
            # Where others have all that is allowed, an open gate is not to be asked again and again.
            seconds = min(waits) if self._has_place else max(LOOK_SECONDS, min(waits))
            self._timer = asyncio.get_running_loop().call_later(seconds, self.admit)

    def refuse_if_stopped(self) -> None:
        """Raise SessionStopped where no further call may start."""
        if self._is_stopped():
            raise SessionStopped("the session is ending")

    def stop(self) -> None:
        """Turn everyone away who still waits; `is_stopped` must say yes already."""
        for gate in self._gates:
            while gate.waiting:
                turn = heapq.heappop(gate.waiting)[2]
                if not turn.done():
                    turn.set_exception(SessionStopped("the session is ending"))


class Slot:
    """A place for one call at a time; may be entered any number of times, one attempt after the other.

    `priority` is asked whenever it waits. Whoever holds it says how the attempt ended with `answered` or
    `refused`, or just leaves.
    """

    __slots__ = ("_era", "_gate", "_is_home", "_limiter", "_priority")

    def __init__(self, limiter: Limiter, gate: Gate, priority: Callable[[], Priority]) -> None:
        self._limiter = limiter
        self._gate = gate
        self._priority = priority
        self._era = 0
        self._is_home = True

    async def __aenter__(self) -> None:
        self._era = await self._limiter.acquire(self._gate, self._priority())
        self._is_home = False

    def answered(self) -> None:
        """The endpoint answered."""
        self._is_home = True
        self._gate.pace.succeed()

    def refused(self) -> Cut | None:
        """The endpoint said that this is one call too many; by how much the pace was cut for it."""
        self._is_home = True
        return self._gate.pace.refuse(self._era)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if not self._is_home:
            self._is_home = True
            self._gate.pace.end()
        self._limiter.release()
