"""The calls of one run. Each is replayed from the journal, or else sent, journalled and counted.

Every attempt waits for a slot, and stays within the budget and the run's deadline.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType

from equipoise.core.errors import CallFailed
from equipoise.core.quantities import duration
from equipoise.core.types import Call, Exchange, Reply, Usage
from equipoise.models.budget import prompt_tokens, usage_of
from equipoise.models.failures import Failure
from equipoise.models.rate_limit import Cut, Priority, Slot
from equipoise.results import journal
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.runner.context import CallContext, Log
from equipoise.runner.transport import Answered, Request

LONGEST_PAUSE = 3600.0
"""The longest pause of an endpoint, in seconds. A longer pause that it requests is shortened to this."""
NOTICE_SECONDS = 10.0
"""The shortest pause, in seconds, that the user is notified of."""
DATE_SECONDS = 12 * 3600.0
"""The wait, in seconds, above which the user needs the date of its end, and not only the time."""


class Deadline:
    """A time limit in seconds that runs only while calls are in progress, and not while they wait for slots.

    Calls may be concurrent: the clock runs while `resume` was called more often than `pause`.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._active_calls = 0
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
        """Whether the time limit was reached."""
        return self._timeout.expired()

    @property
    def _can_reschedule(self) -> bool:
        return self._is_open and not self._timeout.expired()

    def resume(self) -> None:
        """Start the clock."""
        self._active_calls += 1
        if self._active_calls == 1 and self._can_reschedule:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)

    def pause(self) -> None:
        """Stop the clock."""
        self._active_calls -= 1
        end = self._timeout.when()
        if self._active_calls == 0 and end is not None and self._can_reschedule:
            self._left = end - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)


class CallSlot(Slot):
    """A slot for the attempts of one call that also applies the budget, the deadline and the counters.

    `queued` is how many seconds the call has waited for the slot.
    """

    __slots__ = ("_call", "_context", "_deadline", "_log", "_reserved", "_route", "_spent", "queued")

    def __init__(
        self,
        context: CallContext,
        call: Call,
        priority: Callable[[], Priority],
        deadline: Deadline,
        log: Log,
    ) -> None:
        self._route = context.routes[call.role, call.model]
        content_hash = hash((self._route.model_index, *(message["content"] for message in call.messages)))
        super().__init__(context.limiter, self._route.queue, priority, content_hash)
        self._context = context
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
        """Reserve the cost of the attempt, and count it as in flight. `__aexit__` settles both."""
        context, model = self._context, self._route.model_index
        if not context.budget.is_limited:
            context.counters.enter()
            return
        try:
            # This also counts the attempt as in flight.
            self._reserved = await context.budget.reserve(self._call, model, self._route.cost)
            # What counts as spent if the attempt ends without a report: the most that it may cost, or the
            # prompt if the length of the reply has no bound.
            bound = context.budget.most_cost(self._call, model, self._route.cost)
            prompt_cost = self._route.cost(Usage(input=prompt_tokens(self._call)))
            self._spent = prompt_cost if bound is None else min(bound, self._reserved)
        except BaseException:
            self._give_back()
            raise

    def succeed(self, reply: Reply) -> None:
        """Report a reply; the concurrency limit may grow."""
        self.answered()
        if self._reserved:
            cost = self._route.cost(usage_of(self._call, reply))
            # Without usage in the response, hidden reasoning may have used all tokens up to the limit.
            may_be_more = not reply.is_metered and self._call.parameters.get("max_tokens")
            self._spent = max(self._spent, cost) if may_be_more else cost

    def fail(self, failure: Failure) -> None:
        """Report a failed attempt; what may have been charged for it counts as spent."""
        if self._reserved and failure.usage is not None:
            self._spent = self._route.cost(failure.usage)
        elif failure.status not in (None, 200):
            # Rejected requests are free; after a timeout or a broken response, the model may have answered.
            self._spent = 0
        if failure.is_overload:
            self._slow_down(failure, self.refused(), failure.retry_after)
        elif failure.may_be_overload:
            self._slow_down(failure, self.failed(), None)

    def _slow_down(self, failure: Failure, cut: Cut | None, wait: float | None) -> None:
        """Pause the endpoint for the `wait` that it requests, and journal a cut of its concurrency limit."""
        pause = min(wait or 0.0, LONGEST_PAUSE)
        if wait:
            self._pause(wait, time.monotonic() + pause)
        if cut is not None:
            self._log.append(
                "limit",
                event="cut",
                endpoint=self._route.endpoint_index,
                second=round(time.monotonic() - self._context.opened, 1),
                status=failure.status,
                pause=round(pause, 3),
                before=cut.before,
                after=cut.after,
                sustained=cut.sustained,
            )

    def _pause(self, wait: float, end: float) -> None:
        """Pause all calls to the endpoint until the monotonic time `end`, and notify the user of a long wait.

        Ends the session if the wait is longer than --max-wait.
        """
        context, endpoint = self._context, self._route.endpoint_index
        is_news = end > context.counters.paused_until(endpoint) + NOTICE_SECONDS
        context.counters.pause(endpoint, end)
        notice = (
            f"{self._call.role} {self._call.model!r}: the endpoint asks to wait {_duration_and_end(wait)}"
        )
        if wait > context.max_wait:
            context.stop(f"{notice}, longer than --max-wait allows; resume with the same command after that")
        elif wait >= NOTICE_SECONDS and is_news:
            context.counters.notify(notice)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        context = self._context
        context.counters.leave()
        if self._reserved:
            context.budget.settle(self._reserved, self._spent)
            self._reserved = self._spent = 0
        if isinstance(error, CallFailed) and not error.is_declined:
            self._report(error)
        self._give_back()

    def _report(self, error: CallFailed) -> None:
        """Report the failure of the call, which may end the session."""
        self._context.on_failure(error)


class RunCalls:
    """Makes the calls of one run, whose id is `run`. `position` is the run's position among all runs, from 0.

    New replies are returned unmasked; recorded and replayed exchanges are masked. `queued` is how many
    seconds the calls have waited for slots; `deadline` limits the run as a whole.
    """

    def __init__(
        self,
        context: CallContext,
        run: str,
        position: int,
        log: Journal,
        history: History,
        deadline: Deadline,
    ) -> None:
        self.exchanges: list[Exchange] = []
        self.queued = 0.0
        self.deadline = deadline
        self._context = context
        self._run = run
        self._position = position
        self._log = log
        self._history = history

    def code(self, *parts: str) -> str:
        """A code that no model can guess, derived from this run and these parts."""
        return journal.one_time_code(self._history.nonce, self._run, *parts)

    async def __call__(self, call: Call) -> Reply:
        """The reply to a call. Raises CallFailed or SessionStopped."""
        masked = self._log.secrets.masked_call(call)
        digest = journal.request_hash(masked)
        exchange = self._history.take(self._run, call.role, digest)
        if exchange is None:
            answer = await self._ask(self._context.with_room(call), digest)
            reply, is_replayed = answer.reply, answer.is_given
            exchange = self._log.append_call(
                self._run, masked, digest, reply, answer.custom_id, is_given=answer.is_given
            )
        else:
            reply, is_replayed = exchange.reply, True
        self._context.observe(call, reply)
        self.exchanges.append(exchange)
        self._context.count(
            exchange.call, exchange.reply, replayed=is_replayed, is_batched=exchange.is_batched
        )
        return reply

    async def _ask(self, call: Call, digest: str) -> Answered:
        """The answer of the transport of the call's role."""
        return await self._context.transports[call.role].answer(
            Request(
                run=self._run,
                call=call,
                digest=digest,
                history=self._history,
                send=partial(self._send, call),
            )
        )

    async def _send(self, call: Call) -> Reply:
        """The reply to a call. Journals a failure, unless the endpoint only lacks an optional feature."""
        slot = CallSlot(self._context, call, self._priority, self.deadline, self._log)
        self.deadline.resume()
        try:
            return await self._context.client.complete(call, slot)
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
            self.queued += slot.queued
            self.deadline.pause()

    def _priority(self) -> Priority:
        """Smaller is earlier: runs with more calls done go first, then those earlier in order."""
        return (-len(self.exchanges), self._position)


def _duration_and_end(wait: float) -> str:
    """A wait in seconds as text: how long it takes, and the local time at which it ends."""
    end = datetime.now().astimezone() + timedelta(seconds=wait)
    return f"{duration(wait)}, until {end:%H:%M}" + (f" on {end:%Y-%m-%d}" if wait > DATE_SECONDS else "")
