"""The calls of a session that wait for batches, and the intents of the batches of its journals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from equipoise.core.errors import SessionStopped
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply
from equipoise.models.counters import Counters
from equipoise.models.failures import Failure
from equipoise.models.redact import Secrets
from equipoise.results.history import History
from equipoise.runner.access import Access
from equipoise.runner.batches.intents import Intent, Intents

UNANSWERED = Failure(message="the batch has no answer to this call")


@dataclass(eq=False, slots=True, kw_only=True)
class WaitingCall:
    """A call that waits for a batch; `custom_id` is its id there.

    `intent` is that of the batch that the call is in, None before it is sent. `tries` counts the batches in
    which it failed. `is_alone` says that it must be sent by itself. Its run waits for `future`.
    """

    custom_id: str
    call: Call
    history: History
    future: asyncio.Future[Reply | None]
    intent: Intent | None = None
    tries: int = 0
    is_alone: bool = False

    def answer(self, reply: Reply | None) -> None:
        """Let the run continue with the reply; None makes the run send the call by itself."""
        if not self.future.done():
            self.future.set_result(reply)

    def fail(self, error: BaseException) -> None:
        """Raise an error in the run that waits."""
        if not self.future.done():
            self.future.set_exception(error)


class WaitingCalls:
    """The waiting calls by custom_id, and the intents of each journal.

    `stopping` is set when the session is ending. `mask` removes API keys from a text: error messages of
    endpoints may quote one.
    """

    def __init__(self, settings: Settings, access: Access) -> None:
        self.mask: Callable[[str], str] = Secrets(settings.secrets).mask
        self.stopping = asyncio.Event()
        self.intents: dict[History, Intents] = {}
        self._calls: dict[str, WaitingCall] = {}
        self._counters: Counters = access.counters
        self._stop_session = access.stop

    def __iter__(self) -> Iterator[WaitingCall]:
        """The calls at this moment: runs may end, and others begin, while they are gone through."""
        return iter([*self._calls.values()])

    def __contains__(self, custom_id: str) -> bool:
        return custom_id in self._calls

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def ids(self) -> set[str]:
        """The custom_ids."""
        return {*self._calls}

    def add(self, call: WaitingCall) -> None:
        """Add a call, which may be in a batch of an earlier session."""
        self._calls[call.custom_id] = call
        if call.intent is not None:
            # All batches with this call but the last one have failed.
            call.tries = self.intents[call.history].attempts[call.custom_id] - 1
            self._counters.in_batches += 1

    def remove(self, call: WaitingCall) -> None:
        """Remove a call whose run continues, or was cancelled."""
        del self._calls[call.custom_id]
        if call.future.cancelled() and call.intent is not None:
            self._counters.in_batches -= 1

    def put_in(self, call: WaitingCall, intent: Intent) -> None:
        """Note that a call is in the batch of this intent, unless its run was cancelled meanwhile."""
        if self._calls.get(call.custom_id) is call:
            call.intent = intent
            self._counters.in_batches += 1

    def take_out(self, call: WaitingCall) -> None:
        """Note that a call is in no batch any more."""
        call.intent = None
        self._counters.in_batches -= 1

    def of(self, intent: Intent) -> list[WaitingCall]:
        """The calls in the batch of this intent."""
        return [call for call in self if call.intent is intent]

    def waiting_for(self, custom_id: str, intent: Intent) -> WaitingCall | None:
        """The call with this id, if it waits for an answer in the batch of this intent."""
        call = self._calls.get(custom_id)
        return call if call is not None and call.intent is intent and not call.future.done() else None

    def fail(self, error: BaseException) -> None:
        """Raise an error in all runs that wait."""
        for call in self:
            call.fail(error)

    def end(self, reason: str | None) -> None:
        """Stop waiting because the session ends; with a `reason`, also end it, and show that to the user."""
        if reason is not None:
            self._stop_session(self.mask(reason))
        self.stopping.set()
        self.fail(SessionStopped("the session ended before this run was done"))
