"""Calls sent as batches, phase by phase, that are found again by the same command.

A phase begins once every run waits for a call or has ended: then the calls that no batch has yet are sent,
and batches that are over are read. Replies go to the runs that wait for them, which journal them as any
other. Bound to the engine's event loop; knows neither suites nor how replies are judged.
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
from equipoise.runner.waiting_calls import WaitingCall

if TYPE_CHECKING:
    from equipoise.models.client import Client

WAITING = "waiting for batch"
"""Why a run is skipped whose calls are in a batch that is not over."""
QUIET_SECONDS = 0.1
"""Seconds without a call of any run, after which all of them are taken to wait."""
MOST_SHOWN = 3
"""The most batches that a message names."""


class Batches:
    """The batches of a session, at endpoints, or as files that are written and read instead.

    `number` returns the index of a model in the counters. `stop` ends the session with a message; `suspend`
    is called once the session need not wait any longer.
    """

    def __init__(
        self,
        settings: Settings,
        client: Client,
        budget: Budget,
        counters: Counters,
        *,
        cost: BatchCost,
        number: Callable[[Role, str], int],
        base_url: Callable[[Role, str], str],
        stop: Callable[[str], None],
        suspend: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._counters = counters
        # Endpoints may quote a key.
        self._mask = Secrets(settings.secrets).mask
        self._end_session = stop
        self._suspend_runs = suspend
        self._intents: dict[History, Intents] = {}
        self._pending: dict[str, WaitingCall] = {}
        self._live = 0
        self._touched = 0.0
        self._arrived = asyncio.Event()
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
            number=number,
            base_url=base_url,
            mask=self._mask,
            end=self.stop,
            stopping=self._stopping,
        )
        self._files: FileBatches | None = None
        if settings.batch_write or settings.batch_read:
            self._files = FileBatches(settings, client, self._mask)
        self.is_suspended = False

    @property
    def is_sending(self) -> bool:
        """Whether a batch is being sent."""
        return self._submissions.is_sending

    def open(self, history: History) -> None:
        """Take up the batches of a journal."""
        if history not in self._intents:
            self._intents[history] = intents.load(batches_of(history.path))
            self._submissions.commit(history)

    # Calls.

    async def ask(self, run: str, call: Call, digest: str, history: History) -> tuple[Reply, str] | None:
        """The reply to a call and its id, once its batch is read; None if the call is to be made by itself.

        Raises BatchWaiting, SessionStopped or CallFailed.
        """
        name, intent = self._name(run, call, digest, history)
        if intent is None and not self._takes(call):
            return None
        if self._stopping.is_set():
            raise SessionStopped("the session is ending")
        if self.is_suspended:
            raise BatchWaiting(WAITING)
        future: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._pending[name] = WaitingCall(name=name, call=call, history=history, future=future, intent=intent)
        if intent is not None:
            self._pending[name].tries = self._intents[history].attempts[name] - 1
            self._counters.in_batches += 1
        self._touch()
        self._arrived.set()
        if self._task is None:
            self._task = asyncio.create_task(self._work())
        try:
            reply = await future
        finally:
            del self._pending[name]
            self._touch()
        return None if reply is None else (reply, name)

    def _name(self, run: str, call: Call, digest: str, history: History) -> tuple[str, Intent | None]:
        """The id of a call, which no reply in the journal has, and the intent that announces it."""
        number = 0
        while True:
            name = intents.call_id(history.nonce, run, call.role, digest, number)
            if name not in history.batched and name not in self._pending:
                break
            number += 1
        intent = self._intents[history].by_call.get(name)
        return name, intent if intent is not None and intent.may_exist else None

    def _takes(self, call: Call) -> bool:
        if call.role not in self._settings.batch:
            return False
        has_echo = "echo" in call.parameters
        if self._files is None:
            return not has_echo and self._submissions.takes(call)
        if has_echo:
            raise CallFailed(
                "files of batches have no token probabilities for a given text", is_declined=True
            )
        return True

    @contextmanager
    def live(self) -> Iterator[None]:
        """While a call is made by itself, no phase begins."""
        self._live += 1
        try:
            yield
        finally:
            self._live -= 1
            self._touch()

    def _touch(self) -> None:
        self._touched = time.monotonic()

    # Phases.

    async def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                await self._quiet()
                self._submissions.close_read()
                if not await self._advance():
                    self._suspend()
        except (CannotKeep, UserError) as error:
            self.stop(str(error))
        except BaseException as error:
            for pending in [*self._pending.values()]:
                pending.fail(error)
            raise

    async def _advance(self) -> bool:
        """Send and read what can be; False if nothing can before the session is given again."""
        if self._files is None:
            return await self._submissions.place() or await self._submissions.collect()
        if self._files.answer(self._pending.values()):
            return True
        self._files.write(self._pending.values())
        return False

    async def _quiet(self) -> None:
        """Wait until there are calls, and every run waits for one."""
        while True:
            if not self._pending:
                self._arrived.clear()
                await self._arrived.wait()
            before = self._touched
            await asyncio.sleep(QUIET_SECONDS)
            # Not by the clock: what was due while the loop was busy is done before this.
            await asyncio.sleep(0)
            is_settled = all(not pending.future.done() for pending in self._pending.values())
            if self._pending and is_settled and self._touched == before and not self._live:
                return

    def _suspend(self) -> None:
        """End the waiting: the runs are skipped until the same command is given again."""
        self.is_suspended = True
        self._suspend_runs()
        for pending in self._pending.values():
            pending.fail(BatchWaiting(WAITING))

    def stop(self, reason: str | None = None) -> None:
        """Wait no longer, as the session ends; with a message for the user, end it."""
        if reason is not None:
            self._end_session(self._mask(reason))
        self._stopping.set()
        for pending in self._pending.values():
            pending.fail(SessionStopped("the session ended before this run was done"))

    async def close(self) -> None:
        """End the work, and note the batches whose replies are all in the journal."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with suppress(CannotKeep):
            self._submissions.close_read()

    # Messages.

    def waiting(self) -> list[str]:
        """A line for each endpoint at which batches are that are not over, and for each file."""
        by_url: defaultdict[str, list[tuple[Intent, int]]] = defaultdict(list)
        for history, known in self._intents.items():
            for intent in known.waiting:
                left = sum(call not in history.batched for call in intent.line.calls)
                by_url[intent.line.endpoint].append((intent, left))
        lines = [self._waiting_at(url, batches) for url, batches in by_url.items()]
        if self._files is not None:
            calls = {call for history in self._intents for call in history.batched}
            lines += self._files.lines(calls | self._pending.keys())
        return lines

    def _waiting_at(self, url: str, batches: Sequence[tuple[Intent, int]]) -> str:
        calls, number = sum(left for _, left in batches), len(batches)
        named = ", ".join(self._submissions.described(intent) for intent, _ in batches[:MOST_SHOWN])
        more = f" and {number - MOST_SHOWN} more" if number > MOST_SHOWN else ""
        ends = [intent.expires for intent, _ in batches if intent.expires]
        when = f"by {_local(min(ends))}" if ends else "within a day"
        what = "1 batch" if number == 1 else f"{number} batches"
        return printable(
            f"{calls:,} calls wait in {what} at {url} ({named}{more}); run the same command again {when}"
        )


def _local(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M}"
