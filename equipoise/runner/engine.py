"""Runs all cases of a session concurrently while tests wait for them one by one.

One event loop in one background thread with one client, in the process that the user started. Nothing here
knows pytest or its workers; any number of threads talk to the engine through `Engine.start`, `Engine.record`
and `Engine.close`.
"""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace

from equipoise.core.errors import CannotKeep, NotNeeded, SessionStopped
from equipoise.core.records import Record
from equipoise.core.settings import Endpoint, Settings
from equipoise.core.types import Role, Run
from equipoise.judge.rubric import Rubric
from equipoise.models.counters import Board
from equipoise.models.rate_limit import Limiter
from equipoise.models.redact import Secrets
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.runner.calls import Asker, Deadline, Office
from equipoise.runner.evaluate import run_case
from equipoise.runner.office import open_office
from equipoise.suites import AnySuite

STOP_SECONDS = 0.2
"""How often a test that waits for its run looks whether the session has been stopped."""
LOOK_SECONDS = 0.02
"""How often a session that ends looks whether its calls are home."""
ROUND_SECONDS = 0.05
"""How often the engine looks whether the next round of runs is open."""
RUNS_AHEAD = 4
"""How many runs are under way for each call that may be in flight: some wait to be tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the engine needs of one suite: the suite, its rubric and what its journal holds."""

    suite: AnySuite
    rubric: Rubric
    history: History


Key = tuple[str, str]
"""A run: its suite and its id."""
FIRST = -1
"""The place of a run that is asked for before its turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """A run that was ordered: its place among all and the promise of its record."""

    run: Run
    place: int
    future: Future[Record]


class Engine:
    """Runs cases on a loop of its own.

    `endpoint` says where a model is reached; `board` gets the counts and can stop everything; `idle` is
    called while a test waits for its run.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        endpoint: Callable[[Role, str], Endpoint],
        board: Board,
        desk: Callable[[str], Desk],
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings = settings
        self._endpoint = endpoint
        self._board = board
        self._desk = desk
        self._idle = idle
        self._is_closing = False
        self._limiter = Limiter(settings.concurrency, lambda: self._is_closing or board.is_stopped)
        self._most_tasks = RUNS_AHEAD * settings.concurrency
        self._desks: dict[str, tuple[Desk, Journal]] = {}
        self._waiting: OrderedDict[Key, _Begun] = OrderedDict()
        self._futures: dict[Key, Future[Record]] = {}
        self._lock = threading.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._office: Office | None = None
        self._look: asyncio.TimerHandle | None = None

    @property
    def stop_reason(self) -> str | None:
        """Why the session has to end, once anything says that it has."""
        return self._board.stop_reason if self._board.is_stopped else None

    def warm_up(self) -> None:
        """Start the thread, which imports what it needs while this one goes on."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="equipoise", daemon=True)
            self._thread.start()

    def start(self, runs: Iterable[Run]) -> None:
        """Begin all these runs, the earlier the sooner."""
        self.warm_up()
        self._ready.result()
        if self._office is None:
            # Not before: only now is it sure that built-in servers are up.
            self._office = asyncio.run_coroutine_threadsafe(self._open_office(), self._loop).result()
        # What exists by now lives as long as the process: the collector need not look at it again.
        gc.freeze()
        wanted = list(runs)
        for suite in dict.fromkeys(run.suite for run in wanted):
            self._open(suite)
        begun = {
            (run.suite, run.id): _Begun(run=run, place=place, future=Future())
            for place, run in enumerate(wanted)
            if not self._history(run.suite).has_ended(run.id)
        }
        self._futures.update({key: item.future for key, item in begun.items()})
        self._loop.call_soon_threadsafe(self._take_on, begun)

    def record(self, run: Run) -> Record:
        """Wait for a run's record, however often it was asked for before.

        A run that waits for its turn goes first now. Raises SessionStopped, NotNeeded, or whatever defect of
        ours hit it.
        """
        key = (run.suite, run.id)
        with self._lock:
            known = self._history(run.suite).record(run.id) if run.suite in self._desks else None
            if known is None and key not in self._futures:
                self.start([run])
                known = self._history(run.suite).record(run.id)
            future = self._futures.get(key)
        if known is None and future is not None:
            known = self._await(key, future)
            # Whoever asks once more gets it from the journal: not all are held in memory.
            self._futures.pop(key, None)
        assert known is not None
        return known

    def _await(self, key: Key, future: Future[Record]) -> Record:
        self._loop.call_soon_threadsafe(self._put_first, key)
        while True:
            try:
                return future.result(timeout=STOP_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                if self._board.is_stopped:
                    raise SessionStopped(self._board.stop_reason) from None
                self._idle()

    def _history(self, suite: str) -> History:
        return self._desks[suite][0].history

    def close(self, patience: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Wait so many seconds at most for calls in flight, keep their replies, and end the thread.

        `is_enough` is asked while it waits; once it says yes, the calls are dropped.
        """
        if self._thread is None:
            return
        self._ready.result()
        self._is_closing = True
        self._drain(patience, is_enough)
        asyncio.run_coroutine_threadsafe(self._drop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for _, log in self._desks.values():
            self._keep_limits(log)
            log.close()

    def _keep_limits(self, log: Journal) -> None:
        with suppress(CannotKeep):
            for limit in self._office.limits() if self._office else ():
                log.append("limit", event="end", **limit)

    def _serve(self) -> None:
        try:
            # The SDK takes a while to import; the other threads go on.
            import equipoise.models.client  # noqa: F401

            self._loop = asyncio.new_event_loop()
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        self._loop.run_forever()
        self._loop.close()

    async def _open_office(self) -> Office:
        return open_office(
            self.settings,
            endpoint=self._endpoint,
            limiter=self._limiter,
            board=self._board,
            logs=lambda: [log for _, log in self._desks.values()],
        )

    def _open(self, suite: str) -> None:
        if suite in self._desks:
            return
        desk = self._desk(suite)
        history = desk.history
        log = Journal(history.path, history.session, Secrets(self.settings.secrets), history.hear)
        self._desks[suite] = (desk, log)

    def _take_on(self, begun: dict[Key, _Begun]) -> None:
        self._waiting.update(begun)
        self._go_on()

    def _put_first(self, key: Key) -> None:
        """A test waits for this run: it begins at once, however many are under way."""
        begun = self._waiting.get(key)
        if begun is not None and self._may_begin(begun):
            del self._waiting[key]
            self._begin(replace(begun, place=FIRST))

    def _begin(self, begun: _Begun) -> None:
        task = self._loop.create_task(self._deliver(begun))
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _go_on(self) -> None:
        """Begin runs until enough are under way; each that ends lets another one begin."""
        while self._waiting and len(self._tasks) < self._most_tasks:
            if not self._may_begin(next(iter(self._waiting.values()))):
                break
            self._begin(self._waiting.popitem(last=False)[1])

    def _may_begin(self, begun: _Begun) -> bool:
        """Whether its round is open; if not, look again soon, or turn it away where it will never be."""
        if self.settings.until is None or begun.run.number <= self._board.round:
            return True
        if self._board.is_enough:
            self._leave_out()
        elif not self._is_closing and not self._board.is_stopped:
            self._look_later()
        return False

    def _look_later(self) -> None:
        if self._look is None or self._look.when() <= self._loop.time():
            self._look = self._loop.call_later(ROUND_SECONDS, self._go_on)

    def _leave_out(self) -> None:
        for begun in self._take_all():
            begun.future.set_exception(NotNeeded("the interval is narrow enough without it"))

    def _take_all(self) -> list[_Begun]:
        """Everything that has not begun, which never will."""
        found = list(self._waiting.values())
        self._waiting.clear()
        return found

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._go_on()

    @property
    def _opened(self) -> Office:
        assert self._office is not None
        return self._office

    async def _deliver(self, begun: _Begun) -> None:
        future = begun.future
        try:
            record = await self._run(begun.run, begun.place)
        except asyncio.CancelledError:
            future.set_exception(SessionStopped("the session ended before this run was done"))
            raise
        except CannotKeep as error:
            self._opened.stop(str(error))
            future.set_exception(error)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(record)

    async def _run(self, run: Run, place: int) -> Record:
        desk, log = self._desks[run.suite]
        self._limiter.refuse_if_stopped()
        deadline = Deadline(self.settings.case_timeout)
        asker = Asker(self._opened, run.id, place, log, desk.history, deadline)
        record, calls = await run_case(
            desk.suite, desk.rubric, run, asker, deadline, self.settings, desk.history.nonce
        )
        return log.append_record(record, calls)

    def _drain(self, patience: float, is_enough: Callable[[], bool]) -> None:
        self._loop.call_soon_threadsafe(self._turn_away)
        end = time.monotonic() + patience
        while self._tasks and time.monotonic() < end and not is_enough():
            time.sleep(LOOK_SECONDS)

    def _turn_away(self) -> None:
        self._limiter.stop()
        for begun in self._take_all():
            begun.future.set_exception(SessionStopped("the session ended before this run was begun"))

    async def _drop(self) -> None:
        self._turn_away()
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._office is not None:
            await self._office.client.close()
