"""Sends calls as batches, in phases. The same command, run again, finds its batches and reads them.

A phase begins once every run waits for a call or has ended: then the calls that are in no batch yet are sent,
and finished batches are read. The runs that wait for replies continue, and journal them like any other.
Everything here runs on the engine's event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from equipoise.core.errors import (
    BatchWaiting,
    CallFailed,
    CannotKeep,
    SessionStopped,
    UserError,
    printable,
)
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply
from equipoise.results.history import History
from equipoise.results.store import batches_of
from equipoise.runner.access import Access
from equipoise.runner.batches import intents
from equipoise.runner.batches.files import FileBatches
from equipoise.runner.batches.intents import Intent
from equipoise.runner.batches.submissions import Submissions
from equipoise.runner.batches.waiting import WaitingCall, WaitingCalls
from equipoise.runner.transport import WAITING, Answered, Request, Transport

QUIET_SECONDS = 0.1
"""A phase begins if no run makes progress for this many seconds: all are then assumed to wait for calls."""
MOST_SHOWN = 3
"""The largest number of batches that a message names."""


class Batches(Transport):
    """The batches of a session, at endpoints or in files.

    `suspend` is called when the session stops waiting for batches, to skip its remaining runs.
    """

    def __init__(self, settings: Settings, access: Access, suspend: Callable[[], None]) -> None:
        self._settings = settings
        self._suspend_runs = suspend
        self._waiting = WaitingCalls(settings, access)
        self._submissions = Submissions(settings, access, self._waiting)
        self._files: FileBatches | None = None
        if settings.batch_write or settings.batch_read:
            self._files = FileBatches(settings, access.client, self._waiting)
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
        return self._submissions.is_sending

    def open(self, history: History) -> None:
        """Load the intents of a journal's batches, and add their cost to the budget."""
        if history not in self._waiting.intents:
            self._waiting.intents[history] = intents.load(batches_of(history.path))
            self._submissions.commit_earlier_costs(history)

    # Calls.

    async def answer(self, request: Request) -> Answered:
        """Wait for the batch of a call, or send the call by itself, and return the reply.

        Raises BatchWaiting, SessionStopped or CallFailed.
        """
        answer = await self._ask(request)
        if answer is not None:
            return answer
        with self._single_call():
            return Answered(reply=await request.send())

    async def _ask(self, request: Request) -> Answered | None:
        """The answer from a batch; None if the call has to be sent by itself."""
        call, history = request.call, request.history
        custom_id, intent = self._identify(request.run, call, request.digest, history)
        if intent is None and not self._can_batch(call):
            return None
        if self._waiting.stopping.is_set():
            raise SessionStopped("the session is ending")
        if self._is_suspended:
            raise BatchWaiting(WAITING)
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        waiting_call = WaitingCall(
            custom_id=custom_id, call=call, history=history, future=future, intent=intent
        )
        self._waiting.add(waiting_call)
        self._note_progress()
        self._has_calls.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run_phases())
        try:
            reply = await future
        finally:
            self._waiting.remove(waiting_call)
            self._note_progress()
        return None if reply is None else Answered(reply=reply, batch=custom_id)

    def _identify(self, run: str, call: Call, digest: str, history: History) -> tuple[str, Intent | None]:
        """The custom_id of a call, and the intent of the batch that has the call, if any.

        A run may repeat a request: the id depends on a number, the lowest for which no call in the journal
        and no waiting call has that id.
        """
        number = 0
        while True:
            custom_id = intents.call_id(history.nonce, run, call.role, digest, number)
            if custom_id not in history.batched and custom_id not in self._waiting:
                break
            number += 1
        intent = self._waiting.intents[history].by_call.get(custom_id)
        return custom_id, intent if intent is not None and intent.may_exist else None

    def _can_batch(self, call: Call) -> bool:
        """Whether a call can be part of a batch. Raises CallFailed if files cannot have it."""
        if call.role not in self._settings.batch:
            return False
        has_echo = "echo" in call.parameters
        if self._files is None:
            return not has_echo and self._submissions.can_batch(call)
        if has_echo:
            raise CallFailed(
                "files of batches have no token probabilities for a given text", is_declined=True
            )
        return True

    @contextmanager
    def _single_call(self) -> Iterator[None]:
        """Prevent a phase from beginning while a call is sent by itself in this block."""
        self._single_calls += 1
        try:
            yield
        finally:
            self._single_calls -= 1
            self._note_progress()

    def _note_progress(self) -> None:
        """Delay the next phase, as a run has made progress."""
        self._last_progress = time.monotonic()

    # Phases.

    async def _run_phases(self) -> None:
        try:
            while not self._waiting.stopping.is_set():
                await self._await_quiet()
                self._submissions.mark_read()
                if not await self._advance():
                    self._suspend()
        except (CannotKeep, UserError) as error:
            self._waiting.end(str(error))
        except BaseException as error:
            # A bug: without this, the runs would wait forever.
            self._waiting.fail(error)
            raise

    async def _advance(self) -> bool:
        """Send calls, or wait for replies. Returns False if no run can continue in this session."""
        if self._files is None:
            return await self._submissions.send_waiting() or await self._submissions.await_batch()
        if self._files.answer():
            return True
        self._files.write()
        return False

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
            self._submissions.mark_read()

    # Messages.

    def messages(self) -> list[str]:
        """A message for each endpoint with unread batches, and for each file."""
        by_url: defaultdict[str, list[tuple[Intent, int]]] = defaultdict(list)
        messages = []
        for history, journal_intents in self._waiting.intents.items():
            for intent in journal_intents.waiting:
                unread_calls = sum(call not in history.batched for call in intent.line.calls)
                problem = self._submissions.unreadable_message(intent, journal_intents, unread_calls)
                if problem is None:
                    by_url[intent.line.endpoint].append((intent, unread_calls))
                else:
                    messages.append(printable(problem))
        messages += [self._waiting_message(url, batches) for url, batches in by_url.items()]
        if self._files is not None:
            call_ids = {custom_id for history in self._waiting.intents for custom_id in history.batched}
            messages += self._files.messages(call_ids | self._waiting.ids)
        return messages

    def _waiting_message(self, url: str, batches: Sequence[tuple[Intent, int]]) -> str:
        """The message about an endpoint's batches, each with its number of unread calls."""
        calls, number = sum(unread_calls for _, unread_calls in batches), len(batches)
        named = ", ".join(self._submissions.describe(intent) for intent, _ in batches[:MOST_SHOWN])
        more = f" and {number - MOST_SHOWN} more" if number > MOST_SHOWN else ""
        ends = [intent.expires for intent, _ in batches if intent.expires]
        when = f"by {_local_time(min(ends))}" if ends else "within a day"
        what = "1 batch" if number == 1 else f"{number} batches"
        return printable(
            f"{calls:,} calls wait in {what} at {url} ({named}{more}); run the same command again {when}"
        )


def _local_time(timestamp: float) -> str:
    return f"{datetime.fromtimestamp(timestamp).astimezone():%Y-%m-%d %H:%M}"
