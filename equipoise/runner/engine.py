"""Runs the cases of a session, or the jobs of a command, concurrently, while tests or the command wait.

There is one event loop in one background thread, with one client, in the process that the user started.
`Engine.start`, `Engine.record` and `Engine.close` are thread-safe.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import product
from typing import Any, TypeVar

from equipoise.core.errors import CannotKeep, SessionStopped, UserError
from equipoise.core.records import Record
from equipoise.core.settings import Endpoint, Settings
from equipoise.core.types import Call, Role, Run
from equipoise.models.counters import Counters
from equipoise.models.rate_limit import Limiter
from equipoise.models.redact import Secrets
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.kinds import RecordCheck
from equipoise.runner import evaluate, first_calls
from equipoise.runner.awake_loop import AwakeLoop
from equipoise.runner.calls import Deadline, RunCalls
from equipoise.runner.context import CallContext, open_context
from equipoise.runner.evaluate import run_case
from equipoise.runner.extra_jobs import ExtraJob, scatter
from equipoise.runner.first_calls import FirstCalls
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.run_queue import PendingRun, RunId, RunQueue
from equipoise.runner.signals import Interruptions
from equipoise.runner.transport import Transport
from equipoise.runner.trial import Trial

T = TypeVar("T")

STOP_SECONDS = 0.2
"""Interval in seconds at which a test that waits for its run checks whether the session was stopped."""
DRAIN_SECONDS = 0.02
"""Interval in seconds at which a session that is ending checks whether its calls have finished."""
WATCH_SECONDS = 2.0
"""Interval in seconds at which the engine checks whether the journals still exist."""
RUNS_AHEAD = 4
"""Runs in progress for each call that may be in flight, as some runs wait for a retry."""


Work = Callable[[RunCalls], Awaitable[T]]
"""The coroutine function that does one run or job, and makes its calls with the RunCalls."""


class Engine:
    """Runs cases on its own event loop.

    `endpoint` returns the endpoint of a model in a role. `counters` also say when the session has to stop.
    `load` returns a suite and the history of its journal, by the suite's name. `idle` is called repeatedly
    while a test waits for its run. `has_batches` allows batches: a run ends with BatchWaiting if its calls
    are in a batch that is unfinished at the end of the session. `replies` returns the transport of replies
    that exist already; with it, the subject is not called.

    `_started` has the runs and jobs that were queued, until a test has taken their records.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        endpoint: Callable[[Role, str], Endpoint],
        counters: Counters,
        load: Callable[[str], tuple[LoadedSuite, History]] | None = None,
        idle: Callable[[], None] = lambda: None,
        has_batches: bool = False,
        replies: Callable[[], Transport] | None = None,
    ) -> None:
        self.settings = settings
        self._endpoint = endpoint
        self._counters = counters
        self._load = load
        self._idle = idle
        self._is_closing = False
        self._limiter = Limiter(settings.concurrency, self._is_stopping)
        self._has_batches = has_batches
        self._replies = replies
        self._queue = RunQueue(
            self._run,
            # A batch takes the calls of all runs.
            limit=sys.maxsize if has_batches else RUNS_AHEAD * settings.concurrency,
            is_stopping=self._is_stopping,
            counters=counters if settings.until else None,
        )
        self._suites: dict[str, tuple[LoadedSuite, History]] = {}
        self._checks: dict[str, RecordCheck] = {}
        self._journals: dict[History, Journal] = {}
        self._started: set[RunId] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._call_context: CallContext | None = None
        self._first_calls = FirstCalls()
        self._trial = Trial(self._end_trial, Secrets(settings.secrets).mask)

    def _is_stopping(self) -> bool:
        return self._is_closing or self._counters.is_stopped

    @property
    def stop_reason(self) -> str | None:
        """Why the session has to end; None while it continues."""
        return self._counters.stop_reason if self._counters.is_stopped else None

    @property
    def is_suspended(self) -> bool:
        """Whether every unfinished run waits for a batch."""
        return any(transport.is_suspended for transport in self._transports)

    def batch_messages(self) -> list[str]:
        """A message for each endpoint with unread batches, and for each file of batches."""
        return [message for transport in self._transports for message in transport.messages()]

    @property
    def _transports(self) -> Collection[Transport]:
        """The transports of the roles, each once."""
        return dict.fromkeys(self._call_context.transports.values()) if self._call_context else ()

    def warm_up(self) -> None:
        """Start the thread, which imports the client in the background."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run_loop, name="equipoise", daemon=True)
            self._thread.start()

    def ask_first(self, calls: Sequence[Call], on_wait: Callable[[], None] = lambda: None) -> None:
        """Ask each model once before any journal is open. Raises UserError for failures that will persist.

        `on_wait` is called once if the answers take long.
        """
        self._prepare()
        asking = asyncio.run_coroutine_threadsafe(
            first_calls.ask(self._context, self.settings, calls, self._first_calls), self._loop
        )
        try:
            if not wait([asking], first_calls.NOTICE_SECONDS).done:
                on_wait()
            asking.result()
        finally:
            asking.cancel()

    def start(self, runs: Iterable[Run], extra: Sequence[ExtraJob] = ()) -> None:
        """Start these runs, in this order, with the extra jobs scattered among those of their suite.

        Runs and jobs that have ended according to the journal are left out.
        """
        items: list[Run | ExtraJob] = [*runs, *extra]
        for suite in dict.fromkeys(item.suite for item in items):
            self._open_suite(suite)
        not_ended = [item for item in items if not self._history(item.suite).has_ended(item.id)]
        ordered = self._scatter_extra(not_ended) if extra else not_ended
        self._enqueue([self._pending_run(item, position) for position, item in enumerate(ordered)])

    def _scatter_extra(self, items: Sequence[Run | ExtraJob]) -> Iterator[Run | ExtraJob]:
        """The runs, suite by suite, with the extra jobs of each suite scattered among its runs."""
        for suite in dict.fromkeys(item.suite for item in items):
            runs = [item for item in items if item.suite == suite and isinstance(item, Run)]
            extra = [item for item in items if item.suite == suite and not isinstance(item, Run)]
            yield from scatter(runs, extra, self._history(suite).nonce)

    def _pending_run(self, item: Run | ExtraJob, position: int) -> PendingRun:
        return PendingRun(
            key=(item.suite, item.id),
            history=self._history(item.suite),
            work=partial(self._evaluate, item) if isinstance(item, Run) else partial(self._do_extra, item),
            position=position,
            round=item.number if isinstance(item, Run) else 0,
        )

    def await_extra(self, job: ExtraJob) -> None:
        """Wait for an extra job that was started.

        Raises CallFailed, SessionStopped, BatchWaiting, or the exception of a bug.
        """
        key = (job.suite, job.id)
        self._await(key, self._queue.future(key))
        self._queue.forget(key)

    def submit(self, history: History, jobs: Mapping[str, Work[T]]) -> list[Future[T]]:
        """Start jobs, by name, whose calls go into one journal. Returns their futures in order."""
        self._open(history)
        pending = [
            PendingRun(key=(history.path.name, name), history=history, work=work, position=position)
            for position, (name, work) in enumerate(jobs.items())
        ]
        futures = [self._queue.future(item.key) for item in pending]
        self._enqueue(pending)
        return futures

    def _enqueue(self, pending: Sequence[PendingRun]) -> None:
        self._prepare()
        # The objects that exist now live until the process ends: exclude them from garbage collection.
        gc.freeze()
        self._started.update(item.key for item in pending)
        self._loop.call_soon_threadsafe(self._queue.add, pending)

    def _prepare(self) -> None:
        """The first time, start the thread and create the call context."""
        self.warm_up()
        self._ready.result()
        if self._call_context is None:
            # Not earlier: built-in servers have no address before they are ready.
            self._call_context = asyncio.run_coroutine_threadsafe(self._open_context(), self._loop).result()
            for transport, history in product(self._transports, self._journals):
                transport.open(history)
            self._loop.call_soon_threadsafe(self._watch_journals)

    def record(self, run: Run) -> Record:
        """Wait for a run's record, which may be requested repeatedly.

        A run that has not begun is begun next. Raises SessionStopped, NotNeeded, BatchWaiting, or the
        exception of a bug.
        """
        # Tests usually wait for runs that have ended, so most records are still in memory.
        key = (run.suite, run.id)
        record: Record | None = self._queue.take(key)
        if record:
            self._started.discard(key)
            return record
        record = self.await_run(run) or self._history(run.suite).record(run.id)
        assert record is not None
        return record

    def await_run(self, run: Run) -> Record | None:
        """Wait until a run has ended. Returns its record, or None if that is already in the journal.

        Raises the same exceptions as `record`.
        """
        key = (run.suite, run.id)
        with self._lock:
            if not self._has_ended(run) and key not in self._started:
                self.start([run])
        record = None if self._has_ended(run) else self._await(key, self._queue.future(key))
        # Later calls read the record from the journal, to save memory.
        self._queue.forget(key)
        self._started.discard(key)
        return record

    def _has_ended(self, run: Run) -> bool:
        return run.suite in self._suites and self._history(run.suite).has_ended(run.id)

    def _await(self, key: RunId, future: Future[T]) -> T:
        """Wait for the result of a run, and begin the run next if it has not begun.

        Raises SessionStopped, or the run's exception.
        """
        if not future.done():
            self._loop.call_soon_threadsafe(self._queue.prioritise, key)
        # Not `result(timeout)`: its TimeoutError could also come from the run itself.
        while not wait([future], STOP_SECONDS).done:
            if self._counters.is_stopped:
                raise SessionStopped(self._counters.stop_reason)
            self._idle()
        return future.result()

    def _history(self, suite: str) -> History:
        return self._suites[suite][1]

    def close(self, interruptions: Interruptions) -> None:
        """Wait for calls in flight, whose replies are journalled, and end the thread.

        Calls are cancelled after a time limit, or if the user interrupts twice. Raises CannotKeep if a
        journal has vanished.
        """
        if self._thread is None:
            return
        self._ready.result()
        self._is_closing = True
        self._drain(interruptions)
        asyncio.run_coroutine_threadsafe(self._cancel_all(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        with ExitStack() as steps:
            for journal in self._journals.values():
                steps.callback(self._close_journal, journal)

    def _close_journal(self, journal: Journal) -> None:
        with closing(journal):
            journal.check()
            # This line is optional: results without it only lack the limits of this session.
            with suppress(CannotKeep):
                for limit in self._call_context.concurrency_limits() if self._call_context else ():
                    journal.append("limit", event="end", **limit)

    def _run_loop(self) -> None:
        try:
            # Imported here because it takes long: the other threads continue meanwhile.
            import equipoise.models.client  # noqa: F401

            self._loop = AwakeLoop()
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        self._loop.run_forever()
        self._loop.close()

    async def _open_context(self) -> CallContext:
        return open_context(
            self.settings,
            endpoint=self._endpoint,
            limiter=self._limiter,
            counters=self._counters,
            # Before a journal is open, FirstCalls collects its lines.
            logs=lambda: [*self._journals.values()] or [self._first_calls],
            suspend=self._queue.suspend if self._has_batches else None,
            replies=self._replies() if self._replies else None,
        )

    def _watch_journals(self) -> None:
        """Stop the session if a journal has vanished, as the next write to it may be minutes away."""
        for journal in list(self._journals.values()):
            try:
                journal.check()
            except CannotKeep as error:
                self._context.stop(str(error))
        self._loop.call_later(WATCH_SECONDS, self._watch_journals)

    def _open_suite(self, suite: str) -> None:
        if suite not in self._suites:
            assert self._load is not None
            loaded, _ = self._suites[suite] = self._load(suite)
            self._checks[suite] = RecordCheck(loaded.suite, loaded.rubric.scale)
            self._open(self._history(suite))

    def _open(self, history: History) -> None:
        """Open the journal of a history, and the transport for it."""
        if history not in self._journals:
            secrets = Secrets(self.settings.secrets)
            self._journals[history] = Journal(
                history.path, history.session, secrets, on_line=history.add, on_move=history.move
            )
            self._first_calls.write(self._journals[history])
            for transport in self._transports:
                transport.open(history)

    @property
    def _context(self) -> CallContext:
        assert self._call_context is not None
        return self._call_context

    async def _run(self, pending: PendingRun) -> Any:
        self._limiter.raise_if_stopped()
        _, run_id = pending.key
        journal, deadline = self._journals[pending.history], Deadline(self.settings.case_timeout)
        calls = RunCalls(self._context, run_id, pending.position, journal, pending.history, deadline)
        try:
            return await pending.work(calls)
        except CannotKeep as error:
            self._context.stop(str(error))
            raise

    async def _evaluate(self, run: Run, calls: RunCalls) -> Record:
        loaded, history = self._suites[run.suite]
        record, ids = await run_case(
            loaded,
            run,
            calls,
            on_judged=lambda name, verdicts: self._trial.note(name, verdicts, history.records),
        )
        try:
            self._checks[run.suite].require_possible(record)
        except UserError as error:
            # The calls are journalled, and a corrected suite can make the record from them.
            self._context.stop(str(error))
            raise SessionStopped(str(error)) from None
        return self._journals[history].append_record(record, ids)

    async def _do_extra(self, job: ExtraJob, calls: RunCalls) -> None:
        loaded, history = self._suites[job.suite]
        content = await evaluate.do_job(job.do, calls, loaded.settings)
        replies = [exchange.reply for exchange in calls.exchanges]
        answering = dict.fromkeys((reply.model, reply.fingerprint, reply.provider) for reply in replies)
        self._journals[history].append(
            job.line_kind,
            run=job.id,
            **content,
            seen=[*map(list, answering)],
            calls=[exchange.id for exchange in calls.exchanges],
        )

    def _end_trial(self, reason: str) -> None:
        if not self.settings.keep_going:
            self._context.stop(reason, is_mistake=True)

    def _drain(self, interruptions: Interruptions) -> None:
        """Wait for calls in flight, within the patience of `interruptions`."""
        self._loop.call_soon_threadsafe(self._refuse_waiting)
        began, longest_call = time.monotonic(), self.settings.request_timeout
        while self._is_busy and time.monotonic() - began < interruptions.longest_wait(longest_call):
            if interruptions.drops_calls:
                break
            time.sleep(DRAIN_SECONDS)

    @property
    def _is_busy(self) -> bool:
        """Whether calls are in flight, or the transport sends others."""
        return self._queue.is_busy or any(transport.is_sending for transport in self._transports)

    def _refuse_waiting(self) -> None:
        self._limiter.stop()
        for transport in self._transports:
            transport.stop()
        self._queue.stop()

    async def _cancel_all(self) -> None:
        """Cancel the runs in progress, and close the transport and the client."""
        self._refuse_waiting()
        await self._queue.cancel()
        for transport in self._transports:
            await transport.close()
        if self._call_context is not None:
            await self._call_context.client.close()
