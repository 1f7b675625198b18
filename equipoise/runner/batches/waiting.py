"""The calls of a session that wait for batches, and the logs of the batches of its journals.

An intent is the record of one batch in such a log.
"""

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
    """A call that waits for a batch. `custom_id` is the call's id in the batch; its run waits for `future`.

    `intent` is the record of the batch, None while the call is in no batch. `tries` counts the batches in
    which the call failed. `is_alone` says that the call must be sent by itself.
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

    `logs` has the log of each journal. `stopping` is set when the session is ending. `mask` removes API keys
    from a text, as error messages of endpoints may quote one.
    """

    def __init__(self, settings: Settings, access: Access) -> None:
        self.mask: Callable[[str], str] = Secrets(settings.secrets).mask
        self.stopping = asyncio.Event()
        self.logs: dict[History, Intents] = {}
        self._calls: dict[str, WaitingCall] = {}
        self._settings = settings
        self._access = access

    def __iter__(self) -> Iterator[WaitingCall]:
        """The calls at this moment, in a copy: runs may begin and end during the iteration."""
        return iter([*self._calls.values()])

    def __contains__(self, custom_id: str) -> bool:
        return custom_id in self._calls

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def ids(self) -> set[str]:
        """The custom_ids of the calls that wait, and of the calls in the journals that came in batches."""
        return {*self._calls}.union(*(history.batched for history in self.logs))

    def open(self, history: History) -> Intents:
        """Load the log of a journal's batches, and count the cost of earlier sessions as spent."""
        log = self.logs[history] = intents.load(batches_of(history.path))
        if self._settings.max_cost is not None:
            self._access.budget.commit(self._earlier_cost(history))
        return log

    def commit(self, amount: int) -> None:
        """Count nano-dollars as spent, or a negative amount as not spent, if there is a limit on cost."""
        if self._settings.max_cost is not None:
            self._access.budget.commit(amount)

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

    def add(self, item: WaitingCall, intent: Intent | None) -> None:
        """Add a call. If a batch of an earlier session has the call, `intent` is the record of that batch."""
        self._calls[item.custom_id] = item
        if intent is not None:
            # All batches with this call but the last one have failed.
            item.tries = self.logs[item.history].attempts[item.custom_id] - 1
            self.put(item, intent)

    def put(self, item: WaitingCall, intent: Intent | None) -> None:
        """Record that a call is in the batch of this intent, or with None that it has left its batch.

        Does nothing if the run of the call was cancelled meanwhile.
        """
        if self._calls.get(item.custom_id) is not item:
            return
        if item.intent is not None:
            self._access.counters.in_batches -= 1
        if intent is not None:
            self._access.counters.in_batches += 1
        item.intent = intent

    def remove(self, item: WaitingCall) -> None:
        """Remove a call whose run continues, or was cancelled."""
        self.put(item, None)
        del self._calls[item.custom_id]

    def calls_in(self, intent: Intent) -> list[WaitingCall]:
        """The calls in the batch of this intent."""
        return [item for item in self if item.intent is intent]

    def waiting_for(self, custom_id: str, intent: Intent) -> WaitingCall | None:
        """The call with this id, if it waits for an answer in the batch of this intent."""
        item = self._calls.get(custom_id)
        return item if item is not None and item.intent is intent and not item.future.done() else None

    def result(self, item: WaitingCall, line: ResultLine) -> Reply | Failure:
        """The reply to a call, or its failure, according to its line of results."""
        if line.status is None:
            return UNANSWERED
        return self._access.client.read_batch_result(item.call, line.status, line.body, item.tries)

    def may_succeed(self, item: WaitingCall, failure: Failure) -> bool:
        """Whether a call that has failed may succeed if it is sent again in the same way."""
        return failure.is_transient or self._access.client.is_learned(item.call, failure)

    def request_line(self, item: WaitingCall) -> bytes:
        """The line of a call in an input file."""
        path, body = self._access.client.batch_request(item.call)
        return request_line(item.custom_id, path, body)

    def fail(self, error: BaseException) -> None:
        """Raise an error in all runs that wait."""
        for item in self:
            item.fail(error)

    def end(self, reason: str | None) -> None:
        """Stop waiting because the session ends. With a `reason`, end the session, and show the reason."""
        if reason is not None:
            self._access.stop(self.mask(reason))
        self.stopping.set()
        self.fail(SessionStopped("the session ended before this run was done"))
