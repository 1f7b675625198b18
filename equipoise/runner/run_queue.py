"""Begins the runs of a session in order, with a limit on those in progress, and round by round.

Everything runs on the engine's event loop; only `future`, `forget` and `take` are called from other threads.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from equipoise.core.errors import BatchWaiting, NotNeeded, SessionStopped
from equipoise.models.counters import Counters
from equipoise.results.history import History
from equipoise.runner.calls import RunCalls
from equipoise.runner.transport import WAITING

ROUND_SECONDS = 0.05
"""Interval in seconds at which the queue checks whether the next round of runs is open."""
RunId = tuple[str, str]
"""A suite, or the name of a journal, and the id of a run in it."""
FIRST_POSITION = -1
"""The position of a run that a test waits for: the calls of this run precede those of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRun:
    """A run that has not begun: the history of its journal, its work, and its position among all runs.

    It may begin once `round` is open; round 0 is always open.
    """

    key: RunId
    history: History
    work: Callable[[RunCalls], Awaitable[Any]]
    position: int
    round: int = 0


class RunQueue:
    """Has at most `limit` runs in progress. `perform` does one run; `counters` say which round is open.

    `is_stopping` says whether the session stops. Without `counters`, all rounds are open.
    """

    def __init__(
        self,
        perform: Callable[[PendingRun], Awaitable[Any]],
        *,
        limit: int,
        is_stopping: Callable[[], bool],
        counters: Counters | None = None,
    ) -> None:
        self._perform = perform
        self._limit = limit
        self._is_stopping = is_stopping
        self._counters = counters
        self._waiting: OrderedDict[RunId, PendingRun] = OrderedDict()
        self._futures: dict[RunId, Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._round_check: asyncio.TimerHandle | None = None
        self._is_suspended = False

    @property
    def is_busy(self) -> bool:
        """Whether runs are in progress."""
        return bool(self._tasks)

    def future(self, key: RunId) -> Future[Any]:
        """The future of a run, created at the first request: by a test that waits, or by the run's end."""
        return self._futures.setdefault(key, Future())

    def forget(self, key: RunId) -> None:
        """Drop the future of a run, to save memory."""
        self._futures.pop(key, None)

    def take(self, key: RunId) -> Any:
        """Remove and return the result of a run that has ended; None if it has none, or was taken before."""
        future = self._futures.get(key)
        if future is None or not future.done() or future.exception():
            return None
        self.forget(key)
        return future.result()

    def add(self, pending: Sequence[PendingRun]) -> None:
        """Append these runs to the queue."""
        self._waiting.update((item.key, item) for item in pending)
        if self._is_suspended:
            self.suspend()
        self._begin_more()

    def prioritise(self, key: RunId) -> None:
        """Begin a run at once because a test waits for it, even if that exceeds the limit."""
        pending = self._waiting.get(key)
        if pending is not None and self._may_begin(pending):
            del self._waiting[key]
            self._begin(replace(pending, position=FIRST_POSITION))

    def suspend(self) -> None:
        """Skip the runs that have not begun, and those added later: the session does not wait for batches."""
        self._is_suspended = True
        self._fail_waiting(BatchWaiting, WAITING)

    def stop(self) -> None:
        """Refuse the runs that have not begun, because the session ends."""
        self._fail_waiting(SessionStopped, "the session ended before this run was begun")

    async def cancel(self) -> None:
        """Cancel the runs in progress."""
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, pending: PendingRun) -> None:
        task = asyncio.get_running_loop().create_task(self._deliver(pending))
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._begin_more()

    def _begin_more(self) -> None:
        """Begin runs until the limit is reached; called again whenever one ends."""
        while self._waiting and len(self._tasks) < self._limit:
            if not self._may_begin(next(iter(self._waiting.values()))):
                break
            self._begin(self._waiting.popitem(last=False)[1])

    def _may_begin(self, pending: PendingRun) -> bool:
        """Whether the run's round is open. If not, check again soon; if no more rounds open, skip these."""
        if self._counters is None or pending.round <= self._counters.round:
            return True
        if self._counters.is_enough:
            self._skip_rounds()
        elif not self._is_stopping():
            self._check_later()
        return False

    def _check_later(self) -> None:
        loop = asyncio.get_running_loop()
        if self._round_check is None or self._round_check.when() <= loop.time():
            self._round_check = loop.call_later(ROUND_SECONDS, self._begin_more)

    def _skip_rounds(self) -> None:
        """Skip the runs that have not begun, except for those in round 0, which are extra jobs."""
        for pending in self._take_waiting():
            if pending.round:
                self.future(pending.key).set_exception(NotNeeded("--until is satisfied without it"))
            else:
                self._waiting[pending.key] = pending
        if self._waiting:
            asyncio.get_running_loop().call_soon(self._begin_more)

    def _fail_waiting(self, exception: type[Exception], message: str) -> None:
        for pending in self._take_waiting():
            self.future(pending.key).set_exception(exception(message))

    def _take_waiting(self) -> list[PendingRun]:
        """Remove and return the runs that have not begun."""
        pending = list(self._waiting.values())
        self._waiting.clear()
        return pending

    async def _deliver(self, pending: PendingRun) -> None:
        """Do a run, and set the result of its future."""
        try:
            result = await self._perform(pending)
        except asyncio.CancelledError:
            stopped = SessionStopped("the session ended before this run was done")
            self.future(pending.key).set_exception(stopped)
            raise
        except BaseException as error:
            self.future(pending.key).set_exception(error)
        else:
            self.future(pending.key).set_result(result)
