"""Reads the results of batches that have ended, answers their calls, and has failed calls sent again."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass, field

from equipoise.core.errors import UserError
from equipoise.core.types import Reply, Role
from equipoise.models.budget import RESUMES, RESUMES_MENDED, usage_of
from equipoise.models.failures import Failure
from equipoise.runner.access import Access
from equipoise.runner.batches.endpoint import Batch, BatchFailed, ResultLine, read_result_line, shown_id
from equipoise.runner.batches.intents import Intent
from equipoise.runner.batches.sent import SentBatch
from equipoise.runner.batches.waiting import UNANSWERED, WaitingCall, WaitingCalls

MOST_TRIES = 2
"""The number of batches in which a call may fail with a transient error; then it is sent by itself."""
MOST_EMPTY = 3
"""The session stops once this many batches of a model have ended without any answer."""
MOST_READINGS = 3
"""The most often that a session reads the results of a batch while some of its calls lack an answer."""
_COUNTS = {
    "unknown": "with another id",
    "unreadable": "unreadable",
    "doubled": "duplicate",
    "failed": "failed",
    "lost": "lost",
}
"""The counts of result lines and calls without a usable answer, and how messages name them."""


@dataclass(slots=True)
class ReadBatch:
    """The results that were read of a batch. `counts` has the calls `answered`, and the counts of _COUNTS.

    `unanswered` are the custom_ids of calls that have failed, or have no line; `failures` has the line of
    each call without a usable one.
    """

    status: str
    counts: Counter[str] = field(default_factory=Counter)
    unanswered: set[str] = field(default_factory=set)
    failures: dict[str, tuple[ResultLine, Failure]] = field(default_factory=dict)


class BatchReader:
    """Delivers the replies of batches to the calls that wait for them. A UserError ends the session.

    `_empty_batches` counts, by role and model, the batches that have ended without any answer.
    """

    def __init__(self, access: Access, waiting: WaitingCalls) -> None:
        self._access = access
        self._waiting = waiting
        self._read_batches: list[tuple[SentBatch, ReadBatch]] = []
        self._empty_batches: Counter[tuple[Role, str]] = Counter()

    async def read(self, sent: SentBatch, batch: Batch) -> bool:
        """Deliver the replies of a batch that has ended, and have its failed calls sent again.

        If calls lack an answer that the endpoint should have, all results are read again a little later.
        After MOST_READINGS these calls keep waiting, and a message asks the user to decide. Returns whether
        any run can continue. Raises BatchFailed.
        """
        retries, answered = sent.endpoint.new_retries(MOST_READINGS - 1), 0
        while True:
            results = ReadBatch(batch.status, Counter(answered=answered))
            if not await self._deliver(sent, batch, results):
                self._conclude(sent, results)
                return True
            answered, why = results.counts["answered"], _why_missing(batch, results)
            try:
                await sent.endpoint.wait_to_retry(retries, Failure(message=why))
            except BatchFailed:
                sent.unreadable = why
                return answered > 0
            batch = await sent.endpoint.get(sent.intent.batch)

    async def _deliver(self, sent: SentBatch, batch: Batch, results: ReadBatch) -> set[str]:
        """Read the results of a batch line by line, and answer the calls that wait for them.

        Returns the calls without an answer that the endpoint has, or may have. Raises BatchFailed.
        """
        counts, read_ids, batch_ids = results.counts, set[str](), set(sent.calls)
        async with aclosing(sent.lines(batch)) as lines:
            async for data in lines:
                line = read_result_line(data)
                if line is None:
                    counts["unreadable"] += bool(data.strip())
                elif line.custom_id not in batch_ids:
                    counts["unknown"] += 1
                else:
                    counts["doubled"] += line.custom_id in read_ids
                    read_ids.add(line.custom_id)
                    self._receive(sent.intent, line, results)
        missing = {call for call in batch_ids - read_ids if self._waiting.waiting_for(call, sent.intent)}
        if counts["unreadable"] or not batch.has_no_more(len(read_ids)):
            return missing
        counts["lost"] = len(missing)
        results.unanswered |= missing
        return set()

    def _receive(self, intent: Intent, line: ResultLine, results: ReadBatch) -> None:
        """Answer the call of a line, unless its run has ended, or was not selected in this session.

        A line without an answer is kept as a failure until a later line for the same call has one.
        """
        item = self._waiting.waiting_for(line.custom_id, intent)
        if item is None:
            return
        answer = self._waiting.result(item, line)
        if isinstance(answer, Failure):
            results.failures.setdefault(line.custom_id, (line, answer))
            return
        results.failures.pop(line.custom_id, None)
        results.counts["answered"] += 1
        self._settle(item, intent, answer)
        item.answer(answer)

    def _settle(self, item: WaitingCall, intent: Intent, reply: Reply | None) -> None:
        """Replace the reservation of a call in the budget by its cost; without a reply it is free."""
        route = self._access.routes[item.call.role, item.call.model]
        cost = 0 if reply is None else route.cost_in_batch(usage_of(item.call, reply))
        self._waiting.commit(cost - intent.reserved_per_call)

    def _conclude(self, sent: SentBatch, results: ReadBatch) -> None:
        """After a batch was read, have its failed and lost calls sent again."""
        for custom_id, (line, failure) in results.failures.items():
            if item := self._waiting.waiting_for(custom_id, sent.intent):
                results.counts["failed"] += 1
                self._settle(item, sent.intent, None)
                # Calls without a status expired or were cancelled: their model was not asked.
                self._retry(item, failure, is_counted=line.status is not None)
        for item in self._waiting.calls_in(sent.intent):
            if item.custom_id in results.unanswered:
                self._retry(item, UNANSWERED, is_counted=results.status == "completed")
        results.unanswered |= results.failures.keys()
        self._read_batches.append((sent, results))
        self._notify(sent, results)
        self._stop_if_useless(sent, results)

    def _stop_if_useless(self, sent: SentBatch, results: ReadBatch) -> None:
        """Raise UserError if further batches would end like this one."""
        model = sent.intent.line.role, sent.intent.line.model
        self._empty_batches[model] += not results.counts["answered"] and bool(results.unanswered)
        if any(failure.is_out_of_balance for _, failure in results.failures.values()):
            raise UserError(f"{sent.name}: the account has no balance left; top it up{RESUMES}")
        # Batches that end at once, each without an answer, would be sent for ever.
        if self._empty_batches[model] >= MOST_EMPTY:
            raise UserError(
                f"{sent.name} is {results.status}, as others were, and has no answer{RESUMES_MENDED}"
            )

    def _retry(self, item: WaitingCall, failure: Failure, *, is_counted: bool) -> None:
        """Have a call sent again: in the next batch, or by itself if it would fail in every batch.

        `is_counted` says whether the failure counts as a try of the call.
        """
        self._waiting.put(item, None)
        item.tries += is_counted
        self._access.counters.count_retry(self._waiting.mask(failure.message))
        if is_counted and not failure.is_out_of_balance:
            item.is_alone = item.tries >= MOST_TRIES or not self._waiting.may_succeed(item, failure)

    def _notify(self, sent: SentBatch, results: ReadBatch) -> None:
        """Notify the user of failed, lost or unexpected lines of a batch, if there are any."""
        counts = [f"{count:,} {what}" for name, what in _COUNTS.items() if (count := results.counts[name])]
        if counts:
            batch = f"batch {shown_id(sent.intent.batch)} {results.status}"
            answered = f"{results.counts['answered']:,} of {len(sent.calls):,} calls were answered"
            self._access.counters.notify(f"{batch}: {answered}; lines: {', '.join(counts)}")

    def mark_read(self) -> None:
        """Record the end of batches whose replies are all in the journal, so none is requested again."""
        for sent, results in self._read_batches:
            if all(call in sent.history.batched or call in results.unanswered for call in sent.calls):
                sent.end(results.status, **results.counts)
        self._read_batches.clear()


def _why_missing(batch: Batch, results: ReadBatch) -> str:
    """Why calls have no readable answer in the files of a batch."""
    unreadable = results.counts["unreadable"]
    lines = f"{unreadable:,} lines are unreadable" if unreadable else "no line names them"
    return f"file {' and '.join(map(shown_id, batch.files))}: {lines}"
