"""One run's way to its models: replayed where the journal knows the reply, else asked, kept and counted.

Every attempt waits for its turn, within the budget and the run's own deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

from equipoise.core.errors import CallFailed
from equipoise.core.types import Call, Exchange, Reply, Role, Usage
from equipoise.models.budget import Budget, prompt_tokens, usage_of
from equipoise.models.counters import Board
from equipoise.models.failures import Failure
from equipoise.models.rate_limit import EndpointQueue, Limiter, Priority, Slot
from equipoise.results import journal
from equipoise.results.history import History
from equipoise.results.journal import Journal

if TYPE_CHECKING:
    from equipoise.models.client import Client

LONGEST_PAUSE = 3600.0
"""Seconds that an endpoint may ask all calls to wait; then it is asked again."""


class Deadline:
    """A time limit in seconds that runs only between `resume` and `pause`; these may nest."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._running = 0
        self._timeout = asyncio.timeout(None)
        self._is_open = False

    async def __aenter__(self) -> Deadline:
        await self._timeout.__aenter__()
        self._is_open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_open = False
        await self._timeout.__aexit__(kind, error, traceback)

    @property
    def is_over(self) -> bool:
        """Whether the time was up."""
        return self._timeout.expired()

    @property
    def _can_be_moved(self) -> bool:
        return self._is_open and not self._timeout.expired()

    def resume(self) -> None:
        """Let the time run."""
        self._running += 1
        if self._running == 1 and self._can_be_moved:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)

    def pause(self) -> None:
        """Stop the clock."""
        self._running -= 1
        when = self._timeout.when()
        if self._running == 0 and when is not None and self._can_be_moved:
            self._left = when - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a model is reached: its number on the board, its endpoint's queue, and what its tokens cost."""

    model: int
    endpoint: int
    queue: EndpointQueue
    cost: Callable[[Usage], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """What all runs share. `on_failure` hears of a failed call before the next is let in.

    `stop` ends the session, for a reason that users read.
    Models in a role that is `silent` are not asked: what is kept of them has to do.
    """

    client: Client
    limiter: Limiter
    board: Board
    budget: Budget
    ways: Mapping[tuple[Role, str], Way]
    stop: Callable[[str], None]
    on_failure: Callable[[CallFailed], None]
    silent: frozenset[Role] = frozenset()
    opened: float = field(default_factory=time.monotonic)

    def limits(self) -> list[dict[str, int]]:
        """How many calls each endpoint was given at once, at least and at most, and how many it refused."""
        queues = {way.endpoint: way.queue for way in self.ways.values()}
        return [
            {
                "endpoint": endpoint,
                "lowest": queue.concurrency.lowest,
                "highest": queue.concurrency.highest,
                "last": queue.concurrency.limit,
                "refused": queue.concurrency.refused,
            }
            for endpoint, queue in queues.items()
        ]


class Place(Slot):
    """A slot for the attempts of one call: within budget and deadline, shown on the board.

    `queued` is for how many seconds the call has waited for it.
    """

    __slots__ = ("_call", "_deadline", "_log", "_office", "_reserved", "_spent", "_way", "queued")

    def __init__(
        self, office: Office, call: Call, priority: Callable[[], Priority], deadline: Deadline, log: Journal
    ) -> None:
        self._way = office.ways[call.role, call.model]
        super().__init__(office.limiter, self._way.queue, priority)
        self._office = office
        self._call = call
        self._deadline = deadline
        self._log = log
        self._reserved = self._spent = 0
        self.queued = 0.0

    async def __aenter__(self) -> None:
        self._deadline.pause()
        begun = time.perf_counter()
        try:
            await super().__aenter__()
            await self._begin()
        finally:
            self.queued += time.perf_counter() - begun
            self._deadline.resume()

    async def _begin(self) -> None:
        office = self._office
        if not office.budget.is_limited:
            office.board.enter()
            return
        try:
            self._reserved = await office.budget.reserve(self._call, self._way.model, self._way.cost)
            # Until more is known. Where nothing bounds the reply, what is certain: the prompt was read.
            bound = office.budget.most_of(self._call, self._way.model, self._way.cost)
            read = self._way.cost(Usage(input=prompt_tokens(self._call)))
            self._spent = read if bound is None else min(bound, self._reserved)
        except BaseException:
            self._leave()
            raise

    def succeed(self, reply: Reply) -> None:
        """The endpoint answered: the next may come, perhaps more than before."""
        super().answered()
        if self._reserved:
            # What was thought in silence is in no text: it may have reached the limit, where there is one.
            has_bound = not reply.is_metered and self._call.parameters.get("max_tokens")
            self._spent = max(self._spent if has_bound else 0, self._way.cost(usage_of(self._call, reply)))

    def fail(self, failure: Failure) -> None:
        """The attempt brought nothing; what may have been paid all the same counts as spent."""
        if self._reserved and failure.usage is not None:
            self._spent = self._way.cost(failure.usage)
        elif failure.status not in (None, 200):
            self._spent = 0
        if failure.is_overload:
            self._slow_down(failure)

    def _slow_down(self, failure: Failure) -> None:
        cut, wait = super().refused(), failure.retry_after
        pause = 0.0 if wait is None else min(wait, LONGEST_PAUSE)
        if pause:
            self._office.board.pause(self._way.endpoint, time.monotonic() + pause)
        if cut is not None:
            self._log.append(
                "limit",
                event="cut",
                endpoint=self._way.endpoint,
                second=round(time.monotonic() - self._office.opened, 1),
                status=failure.status,
                pause=round(pause, 3),
                before=cut.before,
                after=cut.after,
                borne=cut.sustained,
            )

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        office = self._office
        office.board.leave()
        if self._reserved:
            office.budget.settle(self._reserved, self._spent)
            self._reserved = self._spent = 0
        if isinstance(error, CallFailed) and not error.is_declined:
            office.on_failure(error)
        self._leave()


class Asker:
    """Asks for one run, and remembers what was asked. `place` is the run's place among all, from 0.

    Whoever asks gets a reply as it came; what is remembered of it, and replayed, is masked. `queued` is for
    how many seconds its calls have waited for their turns.
    """

    def __init__(
        self, office: Office, run: str, place: int, log: Journal, history: History, deadline: Deadline
    ) -> None:
        self.exchanges: list[Exchange] = []
        self.queued = 0.0
        self._office = office
        self._run = run
        self._place = place
        self._log = log
        self._history = history
        self._deadline = deadline

    async def __call__(self, call: Call) -> Reply:
        """The reply to a call. Raises CallFailed or SessionStopped."""
        kept = self._log.secrets.masked_call(call)
        digest = journal.request_hash(kept)
        exchange = known = self._history.take(self._run, call.role, digest)
        reply = known.reply if known else await self._ask(call)
        if exchange is None:
            exchange = self._log.append_call(self._run, kept, digest, reply)
        self.exchanges.append(exchange)
        self._count(exchange, replayed=known is not None)
        return reply

    async def _ask(self, call: Call) -> Reply:
        place = Place(self._office, call, self._priority, self._deadline, self._log)
        self._deadline.resume()
        try:
            if call.role in self._office.silent:
                raise CallFailed("there is no kept reply of the subject to this, and it is asked nothing")
            return await self._office.client.complete(call, place)
        except CallFailed as failure:
            if failure.is_declined:
                raise
            self._log.append(
                "failed",
                run=self._run,
                role=call.role,
                model=call.model,
                retries=failure.retries,
                message=str(failure),
            )
            raise
        finally:
            self.queued += place.queued
            self._deadline.pause()

    def _priority(self) -> Priority:
        return (-len(self.exchanges), self._place)

    def _count(self, exchange: Exchange, *, replayed: bool) -> None:
        call, reply = exchange.call, exchange.reply
        usage = usage_of(call, reply)
        model = self._office.ways[call.role, call.model].model
        self._office.board.count_reply(
            model, usage.input, usage.output, replayed=replayed, is_estimated=not reply.is_metered
        )
