"""Sends calls as batches, in phases. The same command, run again, finds its batches and reads them.

A phase begins once every run waits for a call or has ended: then the calls that are in no batch yet are sent,
and finished batches are read. Runs whose replies were read continue, and journal them like any other.
Everything here runs on the engine's event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

from equipoise.core.errors import BatchWaiting, CannotKeep, SessionStopped, UserError
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply
from equipoise.results.history import History
from equipoise.runner.access import Access
from equipoise.runner.batches import intents
from equipoise.runner.batches.files import FileBatches
from equipoise.runner.batches.intents import Intent
from equipoise.runner.batches.submissions import Submissions
from equipoise.runner.batches.waiting import WaitingCall, WaitingCalls
from equipoise.runner.transport import WAITING, Answered, Request, Transport

QUIET_SECONDS = 0.1
"""A phase begins if no run makes progress for this many seconds: all are then assumed to wait for calls."""


class Carrier(Protocol):
    """Carries the lines of waiting calls to where they are answered, and the answers back."""

    is_sending: bool

    def open(self, history: History) -> None:
        """Load the log of a journal's batches."""

    def takes(self, call: Call) -> bool:
        """Whether a call can be a line of a batch. Raises CallFailed if the call cannot be made at all."""

    async def advance(self) -> bool:
        """Carry lines or answers. Returns False if no run can continue in this session."""

    def mark_read(self) -> None:
        """Record the end of batches whose replies are all in the journal."""

    def messages(self) -> Iterable[str]:
        """Messages for the user about calls that still wait."""


class Batches(Transport):
    """The batches of a session, at endpoints or in files.

    `suspend` is called when the session stops waiting for batches, to skip its remaining runs.
    """

    def __init__(self, settings: Settings, access: Access, suspend: Callable[[], None]) -> None:
        self._roles = settings.batch
        self._suspend_runs = suspend
        self._waiting = WaitingCalls(settings, access)
        carrier = FileBatches if settings.batch_write or settings.batch_read else Submissions
        self._carrier: Carrier = carrier(settings, access, self._waiting)
        self._is_suspended = False
        self._single_calls = 0
        self._last_progress = 0.0
        self._has_calls = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_suspended(self) -> bool:
        """Whether the session no longer waits for batches."""
        return self._is_suspended

    @property
    def is_sending(self) -> bool:
        """Whether a batch is being sent."""
        return self._carrier.is_sending

    def open(self, history: History) -> None:
        """Load the log of a journal's batches, and count the cost of earlier sessions as spent."""
        if history not in self._waiting.logs:
            self._carrier.open(history)

    # Calls.

    async def answer(self, request: Request) -> Answered:
        """Wait for the batch of a call, or send the call by itself, and return the reply.

        Raises BatchWaiting, SessionStopped or CallFailed.
        """
        custom_id, intent = self._identify(request)
        is_in_batch = intent is not None or (
            request.call.role in self._roles and self._carrier.takes(request.call)
        )
        reply = await self._wait(request, custom_id, intent) if is_in_batch else None
        if reply is not None:
            return Answered(reply=reply, custom_id=custom_id)
        # No phase begins while a call is sent by itself.
        self._single_calls += 1
        try:
            return Answered(reply=await request.send())
        finally:
            self._single_calls -= 1
            self._note_progress()

    async def _wait(self, request: Request, custom_id: str, intent: Intent | None) -> Reply | None:
        """The reply from a batch; None if the call has to be sent by itself."""
        if self._waiting.stopping.is_set():
            raise SessionStopped("the session is ending")
        if self._is_suspended:
            raise BatchWaiting(WAITING)
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        item = WaitingCall(custom_id=custom_id, call=request.call, history=request.history, future=future)
        self._waiting.add(item, intent)
        self._note_progress()
        self._has_calls.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run_phases())
        try:
            return await future
        finally:
            self._waiting.remove(item)
            self._note_progress()

    def _identify(self, request: Request) -> tuple[str, Intent | None]:
        """The custom_id of a call, and the intent of the batch that has the call, if any.

        A run may repeat a request, so the id also depends on a number: the lowest number whose id belongs to
        no call in the journal and to no waiting call.
        """
        history, number = request.history, 0
        while True:
            custom_id = intents.call_id(history.nonce, request.run, request.call.role, request.digest, number)
            if custom_id not in history.batched and custom_id not in self._waiting:
                break
            number += 1
        intent = self._waiting.logs[history].by_call.get(custom_id)
        has_batch = intent is not None and intent.may_have_batch
        return custom_id, intent if has_batch else None

    def _note_progress(self) -> None:
        """Delay the next phase, as a run has made progress."""
        self._last_progress = time.monotonic()

    # Phases.

    async def _run_phases(self) -> None:
        try:
            while not self._waiting.stopping.is_set():
                await self._await_quiet()
                if not await self._carrier.advance():
                    self._suspend()
        except (CannotKeep, UserError) as error:
            self._waiting.end(str(error))
        except BaseException as error:
            # A bug: without this, the runs would wait forever.
            self._waiting.fail(error)
            raise

    async def _await_quiet(self) -> None:
        """Wait until there are waiting calls, and no run makes progress any more."""
        while True:
            if not self._waiting:
                self._has_calls.clear()
                await self._has_calls.wait()
            before = self._last_progress
            await asyncio.sleep(QUIET_SECONDS)
            # If the loop was busy, other tasks may be due by now: let these run first.
            await asyncio.sleep(0)
            is_settled = all(not call.future.done() for call in self._waiting)
            if self._waiting and is_settled and self._last_progress == before and not self._single_calls:
                return

    def _suspend(self) -> None:
        """Stop waiting: the runs are skipped, until the same command is run again."""
        self._is_suspended = True
        self._suspend_runs()
        self._waiting.fail(BatchWaiting(WAITING))

    def stop(self) -> None:
        """Stop waiting because the session ends."""
        self._waiting.end(None)

    async def close(self) -> None:
        """Stop the phases, and record the end of batches whose replies are all in the journal."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with suppress(CannotKeep):
            self._carrier.mark_read()

    def messages(self) -> list[str]:
        """A message for each endpoint with unread batches, and for each file."""
        return [*self._carrier.messages()]
