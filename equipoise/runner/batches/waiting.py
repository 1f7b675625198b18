"""The calls of a session that wait for batches, and the logs of the batches of its journals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from equipoise.core.errors import SessionStopped
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Reply, Role
from equipoise.models.budget import NANO
from equipoise.models.failures import Failure
from equipoise.models.redact import Secrets
from equipoise.results.history import History
from equipoise.results.store import batches_of
from equipoise.runner.access import Access
from equipoise.runner.batches import intents
from equipoise.runner.batches.endpoint import ResultLine, request_line
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
    """The waiting calls by custom_id, and the log of each journal's batches.

    `stopping` is set when the session is ending. `mask` removes API keys from a text: error messages of
    endpoints may quote one.
    """

    def __init__(self, settings: Settings, access: Access) -> None:
        self.mask: Callable[[str], str] = Secrets(settings.secrets).mask
        self.stopping = asyncio.Event()
        self.logs: dict[History, Intents] = {}
        self._calls: dict[str, WaitingCall] = {}
        self._settings = settings
        self._access = access

    def __iter__(self) -> Iterator[WaitingCall]:
        """The calls at this moment: runs may end, and others begin, while they are gone through."""
        return iter([*self._calls.values()])

    def __contains__(self, custom_id: str) -> bool:
        return custom_id in self._calls

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def ids(self) -> set[str]:
        """The custom_ids of the calls that wait, and of those in the journals that came in batches."""
        return {*self._calls}.union(*(history.batched for history in self.logs))

    def open(self, history: History) -> Intents:
        """Load the log of a journal's batches, and add what earlier sessions have spent to the budget."""
        log = self.logs[history] = intents.load(batches_of(history.path))
        if self._settings.max_cost is not None:
            self._access.budget.commit(self._earlier_cost(history))
        return log

    def _earlier_cost(self, history: History) -> int:
        """The cost of the calls of earlier sessions, in nano-dollars."""
        settings, totals = self._settings, history.totals
        # With --replies, the subject was not called.
        roles: tuple[Role, ...] = ("evaluator",) if settings.replies else ("subject", "evaluator")
        costs = [
            totals.cost(role, model, route.base_url, settings.price, settings.batch_discount)
            for (role, model), route in self._access.routes.items()
            if role in roles and (role, model) in totals.tokens
        ]
        return int(sum(filter(None, costs)) * NANO)

    def add(self, call: WaitingCall, intent: Intent | None) -> None:
        """Add a call; `intent` is that of the batch of an earlier session that has it."""
        self._calls[call.custom_id] = call
        if intent is not None:
            # All batches with this call but the last one have failed.
            call.tries = self.logs[call.history].attempts[call.custom_id] - 1
            self.put(call, intent)

    def put(self, call: WaitingCall, intent: Intent | None) -> None:
        """Note which batch a call is in, None for none any more, unless its run was cancelled meanwhile."""
        if self._calls.get(call.custom_id) is call:
            self._access.counters.in_batches += (intent is not None) - (call.intent is not None)
            call.intent = intent

    def remove(self, call: WaitingCall) -> None:
        """Remove a call whose run continues, or was cancelled."""
        self.put(call, None)
        del self._calls[call.custom_id]

    def of(self, intent: Intent) -> list[WaitingCall]:
        """The calls in the batch of this intent."""
        return [call for call in self if call.intent is intent]

    def waiting_for(self, custom_id: str, intent: Intent) -> WaitingCall | None:
        """The call with this id, if it waits for an answer in the batch of this intent."""
        call = self._calls.get(custom_id)
        return call if call is not None and call.intent is intent and not call.future.done() else None

    def read(self, call: WaitingCall, line: ResultLine) -> Reply | Failure:
        """What a line of results says of a call."""
        if line.status is None:
            return UNANSWERED
        return self._access.client.read_batch_result(call.call, line.status, line.body, call.tries)

    def may_succeed(self, call: WaitingCall, failure: Failure) -> bool:
        """Whether a call that has failed may succeed if it is sent again in the same way."""
        return failure.is_transient or self._access.client.is_learned(call.call, failure)

    def request_line(self, call: WaitingCall) -> bytes:
        """The line of a call in an input file."""
        path, body = self._access.client.batch_request(call.call)
        return request_line(call.custom_id, path, body)

    def fail(self, error: BaseException) -> None:
        """Raise an error in all runs that wait."""
        for call in self:
            call.fail(error)

    def end(self, reason: str | None) -> None:
        """Stop waiting because the session ends; with a `reason`, also end it, and show that to the user."""
        if reason is not None:
            self._access.stop(self.mask(reason))
        self.stopping.set()
        self.fail(SessionStopped("the session ended before this run was done"))
