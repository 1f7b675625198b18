"""Look-ahead: runs all of this process's runs concurrently while tests wait for them one by one.

One event loop in one background thread with one client. Nothing here knows pytest; a test thread talks
to the engine through `Engine.start`, `Engine.record` and `Engine.close`.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise import journal
from equipoise.board import Board
from equipoise.errors import CallFailed, SessionStopped
from equipoise.journal import Journal, Replay
from equipoise.limiter import Limiter
from equipoise.models import Evaluator, Panel, Subject
from equipoise.rubric import Rubric
from equipoise.settings import Endpoint, Settings
from equipoise.shown_slot import ShownSlot
from equipoise.suites import Suite
from equipoise.types import Ask, Call, Record, Reply, Role, Run, Score

if TYPE_CHECKING:
    from equipoise.client import Client
    from equipoise.failures import Change

STOP_SECONDS = 0.2
"""How often a test that waits for its run looks whether the session has been stopped."""
DRAIN_SECONDS = 5.0
"""Less than xdist gives a worker to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the engine needs of one suite: the suite, its rubric and where its journal is."""

    suite: Suite[Any]
    rubric: Rubric
    journal: Path


class Engine:
    """Runs cases on a loop of its own. `ceiling` is this process's share of the calls in flight.

    `endpoint` says where a model is reached; `board` gets the counts and can stop everything.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        endpoint: Callable[[Role, str], Endpoint],
        ceiling: int,
        board: Board,
        desk: Callable[[str], Desk],
    ) -> None:
        self.settings = settings
        self._endpoint = endpoint
        self._board = board
        self._desk = desk
        self._is_closing = False
        self._limiter = Limiter(ceiling, lambda: self._is_closing or board.is_stopped)
        self._models: dict[tuple[str, str | None], int] = {
            ("subject", settings.model): 0,
            **{("evaluator", name): n for n, name in enumerate(settings.evaluator_models, start=1)},
        }
        self._desks: dict[str, tuple[Desk, Journal, Replay]] = {}
        self._futures: dict[tuple[str, str], Future[Record]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._client: Client

    @property
    def stop_reason(self) -> str | None:
        """Why the session has to end, once any process says that it has."""
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
        # What exists by now lives as long as the process: the collector need not look at it again.
        gc.freeze()
        wanted = list(runs)
        for suite in dict.fromkeys(run.suite for run in wanted):
            self._open(suite, {run.id for run in wanted if run.suite == suite})
        begun: list[tuple[Run, Future[Record]]] = [(run, Future()) for run in wanted]
        self._futures.update({(run.suite, run.id): future for run, future in begun})
        self._loop.call_soon_threadsafe(self._spawn, begun)

    def record(self, run: Run) -> Record:
        """Wait for a run's record. Raises SessionStopped, or whatever defect of ours hit the run."""
        if (run.suite, run.id) not in self._futures:
            self.start([run])
        future = self._futures.pop((run.suite, run.id))
        while True:
            try:
                return future.result(timeout=STOP_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                if self._board.is_stopped:
                    raise SessionStopped(self._board.stop_reason) from None

    def close(self) -> None:
        """Let calls in flight come home for a while, keep them, and end the thread."""
        if self._thread is None:
            return
        self._ready.result()
        self._is_closing = True
        asyncio.run_coroutine_threadsafe(self._drain(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for _, log, _ in self._desks.values():
            log.close()

    def _serve(self) -> None:
        try:
            from equipoise.client import Client

            self._loop = asyncio.new_event_loop()
            self._client = self._loop.run_until_complete(self._connect(Client))
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        self._loop.run_forever()
        self._loop.close()

    async def _connect(self, client: type[Client]) -> Client:
        return client(
            self._endpoint,
            max_retries=self.settings.max_retries,
            timeout=self.settings.request_timeout,
            on_learned=self._keep_learned,
            on_retry=self._board.count_retry,
        )

    def _keep_learned(self, call: Call, change: Change) -> None:
        what = {"parameter": change.parameter, "action": change.action, "reason": change.reason}
        for _, log, _ in self._desks.values():
            log.append("learned", role=call.role, model=call.model, **what)

    def _open(self, suite: str, runs: set[str]) -> None:
        if suite in self._desks:
            return
        desk = self._desk(suite)
        replay = Replay.of(desk.journal, runs)
        self._desks[suite] = (desk, Journal(desk.journal, replay.session), replay)

    def _spawn(self, begun: list[tuple[Run, Future[Record]]]) -> None:
        for priority, (run, future) in enumerate(begun):
            task = self._loop.create_task(self._deliver(run, priority, future))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deliver(self, run: Run, priority: int, future: Future[Record]) -> None:
        try:
            record = await self._run(run, priority)
        except asyncio.CancelledError:
            future.set_exception(SessionStopped("the session ended before this run was done"))
            raise
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(record)

    async def _run(self, run: Run, priority: int) -> Record:
        desk, log, replay = self._desks[run.suite]
        known = replay.records.pop(run.id, None)
        if known is not None:
            return known
        record = await run_case(desk, run, self._asker(run, priority), self.settings, replay.nonce)
        log.append_record(record)
        return record

    def _asker(self, run: Run, priority: int) -> Ask:
        _, log, replay = self._desks[run.suite]
        slot = ShownSlot(self._limiter, priority, self._board, self._note_failure)

        async def ask(call: Call) -> Reply:
            digest = journal.request_hash(call)
            reply = replay.take(run.id, call.role, digest)
            if reply is None:
                reply = await self._complete(call, slot, run, log)
                log.append_call(run.id, call, digest, reply)
                self._count(call, reply, replayed=False)
            else:
                self._count(call, reply, replayed=True)
            return reply

        return ask

    async def _complete(self, call: Call, slot: ShownSlot, run: Run, log: Journal) -> Reply:
        try:
            return await self._client.complete(call, slot)
        except CallFailed as failure:
            log.append("failed", run=run.id, role=call.role, model=call.model, message=str(failure))
            raise

    def _note_failure(self, failure: CallFailed) -> None:
        if failure.stops_session and not self.settings.keep_going:
            self._board.stop(str(failure))
            self._limiter.stop()

    def _count(self, call: Call, reply: Reply, *, replayed: bool) -> None:
        usage, model = reply.usage, self._models[call.role, call.model]
        tokens = (usage.input, usage.output) if usage else (0, 0)
        self._board.count_reply(model, *tokens, replayed=replayed)

    async def _drain(self) -> None:
        self._limiter.stop()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=DRAIN_SECONDS)
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()


async def run_case(desk: Desk, run: Run, ask: Ask, settings: Settings, nonce: str) -> Record:
    """One run from question to record. A model's failure is in the record; our own defects are raised."""
    subject = Subject(settings.model or "", settings.subject, ask)
    evaluators = [
        Evaluator(
            name,
            settings.evaluator,
            ask,
            attempts=settings.evaluator_attempts,
            code=lambda model: journal.code(nonce, run.id, model),
        )
        for name in settings.evaluator_models
    ]
    panel = Panel(evaluators, keeps_going=settings.keep_going)
    try:
        score = await desk.suite.evaluate(run.case, desk.rubric, subject, panel)
    except CallFailed as failure:
        score = Score(outcome="error", value=None, error=str(failure))
    return _record(run, score, subject, panel)


def _record(run: Run, score: Score, subject: Subject, panel: Panel) -> Record:
    return Record(
        case=run.case.to_json(),
        run=run.number,
        outcome=score.outcome,
        score=score.value,
        percent=score.percent,
        error=score.error,
        verdicts=score.verdicts,
        details=score.details,
        subject=tuple(subject.transcripts),
        evaluators=panel.transcripts,
    )
