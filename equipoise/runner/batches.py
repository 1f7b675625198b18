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
from typing import TYPE_CHECKING

from equipoise.core.errors import (
    BatchWaiting,
    CallFailed,
    CannotKeep,
    SessionStopped,
    UserError,
    printable,
)
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply, Role
from equipoise.models.budget import Budget
from equipoise.models.counters import Counters
from equipoise.models.redact import Secrets
from equipoise.results import intents
from equipoise.results.history import History
from equipoise.results.intents import Intent, Intents
from equipoise.results.store import batches_of
from equipoise.runner.batch_files import FileBatches
from equipoise.runner.submissions import BatchCost, Submissions
from equipoise.runner.transport import Answered, Request, Transport
from equipoise.runner.waiting_calls import WaitingCall

if TYPE_CHECKING:
    from equipoise.models.client import Client

WAITING = "waiting for batch"
"""The reason that is shown for a run that is skipped because its calls are in a batch that still runs."""
QUIET_SECONDS = 0.1
"""A phase begins if no run makes progress for this many seconds: all are then assumed to wait for calls."""
MOST_SHOWN = 3
"""The largest number of batches that a message names."""


class Batches(Transport):
    """The batches of a session, at endpoints or in files.

    `cost` is as in `BatchCost`. `model_index` returns the index of a model in the counters. `stop` ends the
    session with a message. `suspend` is called when the session stops waiting for batches, to skip its
    remaining runs.
    """

    def __init__(
        self,
        settings: Settings,
        client: Client,
        budget: Budget,
        counters: Counters,
        *,
        cost: BatchCost,
        model_index: Callable[[Role, str], int],
        base_url: Callable[[Role, str], str],
        stop: Callable[[str], None],
        suspend: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._counters = counters
        # Error messages of endpoints may quote a key.
        self._mask = Secrets(settings.secrets).mask
        self._end_session = stop
        self._suspend_runs = suspend
        self._intents: dict[History, Intents] = {}
        self._pending: dict[str, WaitingCall] = {}
        self._single_calls = 0
        self._last_progress = 0.0
        self._has_calls = asyncio.Event()
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._submissions = Submissions(
            settings,
            client,
            budget,
            counters,
            pending=self._pending,
            intents=self._intents,
            cost=cost,
            model_index=model_index,
            base_url=base_url,
            mask=self._mask,
            end=self.stop,
            stopping=self._stopping,
        )
        self._files: FileBatches | None = None
        if settings.batch_write or settings.batch_read:
            self._files = FileBatches(settings, client, self._mask, self._intents)
        self._is_suspended = False

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
        if history not in self._intents:
            self._intents[history] = intents.load(batches_of(history.path))
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
        if self._stopping.is_set():
            raise SessionStopped("the session is ending")
        if self.is_suspended:
            raise BatchWaiting(WAITING)
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        waiting_call = WaitingCall(
            custom_id=custom_id, call=call, history=history, future=future, intent=intent
        )
        self._pending[custom_id] = waiting_call
        if intent is not None:
            # All batches with this call but the last one have failed.
            waiting_call.tries = self._intents[history].attempts[custom_id] - 1
            self._counters.in_batches += 1
        self._note_progress()
        self._has_calls.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run_phases())
        try:
            reply = await future
        finally:
            del self._pending[custom_id]
            if future.cancelled() and waiting_call.intent is not None:
                self._counters.in_batches -= 1
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
            if custom_id not in history.batched and custom_id not in self._pending:
                break
            number += 1
        intent = self._intents[history].by_call.get(custom_id)
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
            while not self._stopping.is_set():
                await self._await_quiet()
                self._submissions.mark_read()
                if not await self._advance():
                    self._suspend()
        except (CannotKeep, UserError) as error:
            self.stop(str(error))
        except BaseException as error:
            # A bug: without this, the runs would wait forever.
            for pending in [*self._pending.values()]:
                pending.fail(error)
            raise

    async def _advance(self) -> bool:
        """Send calls, or wait for replies. Returns False if no run can continue in this session."""
        if self._files is None:
            return await self._submissions.send_waiting() or await self._submissions.await_batch()
        if self._files.answer(self._pending.values()):
            return True
        self._files.write(self._pending.values())
        return False

    async def _await_quiet(self) -> None:
        """Wait until there are waiting calls, and no run makes progress any more."""
        while True:
            if not self._pending:
                self._has_calls.clear()
                await self._has_calls.wait()
            before = self._last_progress
            await asyncio.sleep(QUIET_SECONDS)
            # If the loop was busy, other tasks may be due by now: let these run first.
            await asyncio.sleep(0)
            is_settled = all(not pending.future.done() for pending in self._pending.values())
            if self._pending and is_settled and self._last_progress == before and not self._single_calls:
                return

    def _suspend(self) -> None:
        """Stop waiting: the runs are skipped, until the same command is run again."""
        self._is_suspended = True
        self._suspend_runs()
        for pending in self._pending.values():
            pending.fail(BatchWaiting(WAITING))

    def stop(self, reason: str | None = None) -> None:
        """Stop waiting because the session ends; with a `reason`, also end it, and show that to the user."""
        if reason is not None:
            self._end_session(self._mask(reason))
        self._stopping.set()
        for pending in self._pending.values():
            pending.fail(SessionStopped("the session ended before this run was done"))

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
        for history, journal_intents in self._intents.items():
            for intent in journal_intents.waiting:
                unread_calls = sum(call not in history.batched for call in intent.line.calls)
                problem = self._submissions.unreadable_message(intent, journal_intents, unread_calls)
                if problem is None:
                    by_url[intent.line.endpoint].append((intent, unread_calls))
                else:
                    messages.append(printable(problem))
        messages += [self._waiting_message(url, batches) for url, batches in by_url.items()]
        if self._files is not None:
            call_ids = {custom_id for history in self._intents for custom_id in history.batched}
            messages += self._files.messages(call_ids | self._pending.keys())
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
