"""How many calls may be in flight in this process, and who goes next.

A call that belongs to an earlier case goes first, so cases finish early and in order. The limiter
lives on one event loop and is not safe for threads.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from types import TracebackType

from equipoise.errors import SessionStopped


def share(ceiling: int, processes: int, number: int) -> int:
    """What process `number` (from 0) of `processes` may use of `ceiling`; the shares add up to it."""
    base, rest = divmod(ceiling, processes)
    return base + (1 if number < rest else 0)


class Limiter:
    """At most `ceiling` slots taken at once; waiting calls get theirs by priority, lowest first.

    `is_stopped` is asked before every grant; once it says yes, waiting and later calls raise
    SessionStopped, and calls in flight go on.
    """

    def __init__(self, ceiling: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
        self.ceiling = ceiling
        self.in_flight = 0
        self.peak = 0
        self._is_stopped = is_stopped
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._arrivals = 0

    def slot(self, priority: int) -> Slot:
        """A place for one call, to be used as an async context manager, any number of times."""
        return Slot(self, priority)

    async def acquire(self, priority: int) -> None:
        """Wait for a place. Raises SessionStopped."""
        self.refuse_if_stopped()
        if self.in_flight < self.ceiling and not self._waiting:
            self._take()
            return
        turn = asyncio.get_running_loop().create_future()
        self._arrivals += 1
        heapq.heappush(self._waiting, (priority, self._arrivals, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.release()
            raise

    def release(self) -> None:
        """Give a place back and let the next one in."""
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.ceiling:
            turn = heapq.heappop(self._waiting)[2]
            if turn.done():
                continue
            if self._is_stopped():
                turn.set_exception(SessionStopped("the session is ending"))
                continue
            self._take()
            turn.set_result(None)

    def refuse_if_stopped(self) -> None:
        """Raise SessionStopped where no further call may start."""
        if self._is_stopped():
            raise SessionStopped("the session is ending")

    def stop(self) -> None:
        """Turn everyone away who still waits; `is_stopped` must say yes already."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_exception(SessionStopped("the session is ending"))

    def _take(self) -> None:
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)


class Slot:
    """A place at a limiter; may be entered any number of times, one call after the other."""

    __slots__ = ("_limiter", "_priority")

    def __init__(self, limiter: Limiter, priority: int) -> None:
        self._limiter = limiter
        self._priority = priority

    async def __aenter__(self) -> None:
        await self._limiter.acquire(self._priority)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._limiter.release()
