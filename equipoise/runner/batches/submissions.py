"""Sends waiting calls as batches to endpoints, reads the results, and answers the calls.

Before a batch is sent, an intent with its calls is written to disk: these calls are never sent twice.
Everything here runs on the engine's event loop.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from equipoise.core.errors import printable
from equipoise.core.files import shown
from equipoise.core.settings import Settings, is_local, public_url
from equipoise.core.types import Call, Reply, Role
from equipoise.models.budget import NANO, RESUMES, RESUMES_MENDED, usage_of
from equipoise.models.failures import Failure
from equipoise.results.history import History
from equipoise.runner.access import Access
from equipoise.runner.batches.endpoint import (
    Batch,
    BatchEndpoint,
    BatchFailed,
    ResultLine,
    read_result_line,
    request_line,
    shown_id,
)
from equipoise.runner.batches.intents import Intent, Intents
from equipoise.runner.batches.waiting import UNANSWERED, WaitingCall, WaitingCalls

if TYPE_CHECKING:
    pass

LEAST_CALLS = 20
"""The smallest batch: fewer calls than this are sent one by one."""
MOST_LINES, MOST_BYTES = 50_000, 100_000_000
"""The largest batch, in lines (one per call) and bytes. The lines are halved if an endpoint rejects it."""
MOST_TRIES = 2
"""The number of batches in which a call may fail with a transient error; then it is sent by itself."""
FIRST_POLL, LONGEST_POLL = 1.0, 60.0
"""The first and the longest interval between polls of batches, in seconds; it grows by half each time."""
LOOKUP_SECONDS = 5.0
"""Seconds after the request to create a batch during which the endpoint's list may not yet have it."""
MOST_CREATIONS = 3
"""The number of attempts to create a batch."""
MOST_EMPTY = 3
"""The number of batches of a model that may end without any answer in a session; then it stops."""
TOO_MANY_TOKENS = "token_limit"
"""Part of the error code of a batch that failed because too many tokens are enqueued."""
MOST_READINGS = 3
"""The number of times that results are read in a session while calls of their batch lack an answer there."""
MOST_REASON = 100
"""The limit on the characters that messages quote of an endpoint's reason: what to do follows it."""
GONE_STATUSES = frozenset({404, 410})
"""HTTP statuses of an endpoint that no longer has a batch or a file."""


@dataclass(slots=True)
class ReadBatch:
    """The status of a batch that was read, and the counts of its lines.

    `answered` and `failed` count calls. `lost` counts calls without a line; `unanswered` are the custom_ids
    of lost and failed calls. `unknown` counts lines about no call of the batch, `unreadable` those that say
    nothing about any, `doubled` repeated lines. `is_out_of_balance` says that a call failed because the
    account has no balance left. `failures` has the lines of calls without a usable one.
    """

    status: str
    answered: int = 0
    unknown: int = 0
    unreadable: int = 0
    doubled: int = 0
    failed: int = 0
    lost: int = 0
    unanswered: set[str] = field(default_factory=set)
    is_out_of_balance: bool = False
    failures: dict[str, tuple[ResultLine, Failure]] = field(default_factory=dict)


class Group(NamedTuple):
    """What all calls of a batch have in common: journal, role, model, and the path of their URL."""

    history: History
    role: Role
    model: str
    path: str

    @property
    def role_and_model(self) -> tuple[Role, str]:
        """The key of what is known about a model's batches."""
        return self.role, self.model


class Submissions:
    """The batches that a session has at endpoints.

    `is_sending` says whether a batch is being sent.
    """

    def __init__(self, settings: Settings, access: Access, waiting: WaitingCalls) -> None:
        self._settings = settings
        self._client, self._budget, self._counters = access.client, access.budget, access.counters
        self._routes = access.routes
        self._waiting = waiting
        self._endpoints: dict[tuple[Role, str], BatchEndpoint] = {}
        self._deadline: float | None = None
        self._poll = FIRST_POLL
        self._limits: dict[tuple[Role, str], tuple[int, int]] = {}
        self._urls_without_batches: set[str] = set()
        self._models_notified: set[str] = set()
        self._at_token_limit: set[tuple[Role, str]] = set()
        self._read_batches: list[tuple[History, Intent, ReadBatch]] = []
        self._last_status: dict[str, Batch | str] = {}
        self._unreadable: dict[str, str] = {}
        self._empty: Counter[tuple[Role, str]] = Counter()
        self.is_sending = False

    def commit_earlier_costs(self, history: History) -> None:
        """Add to the budget what earlier sessions have spent, and what their batches may still cost."""
        if self._settings.max_cost is not None:
            self._budget.commit(self._earlier_cost(history))
            for intent in self._waiting.intents[history].waiting:
                unread_calls = sum(call not in history.batched for call in intent.line.calls)
                self._budget.commit(_reserved_per_call(intent) * unread_calls)

    def _earlier_cost(self, history: History) -> int:
        """The cost of the calls of earlier sessions, in nano-dollars."""
        settings, totals = self._settings, history.totals
        # With --replies, the subject was not called.
        roles: tuple[Role, ...] = ("evaluator",) if settings.replies else ("subject", "evaluator")
        costs = [
            totals.cost(
                role, model, self._routes[role, model].base_url, settings.price, settings.batch_discount
            )
            for role in roles
            for model_role, model in totals.tokens
            if model_role == role
        ]
        return int(sum(filter(None, costs)) * NANO)

    def can_batch(self, call: Call) -> bool:
        """Whether a call may be sent in a batch; False if its endpoint is known not to support batches."""
        if is_local(call.model):
            self._notify_of_single_calls(call.model, "the built-in server", "")
            return False
        return self._routes[call.role, call.model].base_url not in self._urls_without_batches

    # Sending.

    async def send_waiting(self) -> bool:
        """Send the calls that are in no batch yet: in batches, or by themselves if there are few.

        Returns whether any were sent. If none can be, and no call is in a batch, the session ends.
        """
        groups: defaultdict[Group, list[WaitingCall]] = defaultdict(list)
        for pending in self._waiting:
            if pending.intent is None:
                path, _ = self._client.batch_request(pending.call)
                groups[Group(pending.history, pending.call.role, pending.call.model, path)].append(pending)
        is_any = False
        for group, items in groups.items():
            if not self._waiting.stopping.is_set():
                alone, together = self._divide(group, items)
                for pending in alone:
                    # Its run then sends it by itself.
                    pending.answer(None)
                is_any |= bool(alone)
                if together:
                    is_any |= await self._send(group, together)
        if groups and not is_any and not self._open_intents() and not self._waiting.stopping.is_set():
            self._budget.stop_for_batch()
            self._waiting.end(None)
        return is_any

    def _divide(
        self, group: Group, items: Sequence[WaitingCall]
    ) -> tuple[list[WaitingCall], list[WaitingCall]]:
        """The calls that are sent by themselves now, and those that are sent in batches."""
        alone = [item for item in items if item.is_alone]
        together = [item for item in items if not item.is_alone]
        url = self._routes[group.role_and_model].base_url
        # An earlier session may have batched, without success, calls of a role that --batch now lacks.
        may_batch = group.role in self._settings.batch and url not in self._urls_without_batches
        if len(together) < LEAST_CALLS or not may_batch:
            return [*items], []
        if group.role_and_model in self._at_token_limit:
            return alone, []
        if not self._has_bound(group, together[0]):
            # Send one by itself: the length of its reply gives a bound on the cost of the others.
            return [*alone, together[0]], []
        return alone, together

    def _has_bound(self, group: Group, pending: WaitingCall) -> bool:
        """Whether the session has no limit on cost, or the most that the call may cost is known."""
        _, dollars = self._budget.remaining()
        return dollars is None or self._most_cost(group, pending) is not None

    def _most_cost(self, group: Group, pending: WaitingCall) -> int | None:
        """The most that a call may cost in a batch, in nano-dollars; None if there is no bound."""
        route = self._routes[group.role_and_model]
        return self._budget.most_cost(pending.call, route.model_index, route.cost_in_batch)

    async def _send(self, group: Group, items: Sequence[WaitingCall]) -> bool:
        """Send calls in as few batches as the endpoint allows; calls that the budget does not allow wait on.

        Returns whether the budget allowed any.
        """
        left = self._affordable(group, items)
        is_any = bool(left)
        while left and not self._waiting.stopping.is_set():
            batch, lines = self._next_batch(group, left)
            left = left[len(batch) :]
            if not await self._submit(group, batch, lines):
                break
        return is_any

    def _affordable(self, group: Group, items: Sequence[WaitingCall]) -> list[WaitingCall]:
        """The first of these calls that the budget allows."""
        calls, dollars = self._budget.remaining()
        fitting: list[WaitingCall] = []
        for pending in items[:calls]:
            if dollars is not None:
                dollars -= self._most_cost(group, pending) or 0
                if dollars < 0:
                    break
            fitting.append(pending)
        return fitting

    def _next_batch(
        self, group: Group, items: Sequence[WaitingCall]
    ) -> tuple[list[WaitingCall], list[bytes]]:
        """The first calls, as many as one batch takes, and their lines.

        The calls are divided evenly, so that the last batch is not much smaller than the others.
        """
        most_lines, most_bytes = self._limits.get(group.role_and_model, (MOST_LINES, MOST_BYTES))
        batch_count = math.ceil(len(items) / most_lines)
        taken: list[WaitingCall] = []
        lines: list[bytes] = []
        size = 0
        for pending in items[: math.ceil(len(items) / batch_count)]:
            line = request_line(pending.custom_id, *self._client.batch_request(pending.call))
            size += len(line)
            if size > most_bytes and lines:
                break
            taken.append(pending)
            lines.append(line)
        return taken, lines

    async def _submit(self, group: Group, items: Sequence[WaitingCall], lines: Sequence[bytes]) -> bool:
        """Upload calls and create their batch. Returns whether further batches may be sent."""
        history, role, model, path = group
        intents = self._waiting.intents[history]
        reserved = 0
        if self._settings.max_cost is not None:
            reserved = sum(self._most_cost(group, pending) or 0 for pending in items)
        intent = intents.record_intent(
            [pending.custom_id for pending in items],
            role=role,
            model=model,
            endpoint=public_url(self._routes[role, model].base_url),
            path=path,
            key=credential(self._settings, role),
            reserved=reserved,
        )
        self.is_sending = True
        try:
            batch = await self._create(intents, intent, lines)
        except BatchFailed as error:
            intents.record_end(intent, self._waiting.mask(f"not created: {error}")[:500])
            self._handle_rejection(group, error, len(items))
            return False
        finally:
            self.is_sending = False
        if batch is None:
            return False
        self._last_status[intent.id] = batch
        self._budget.commit(_reserved_per_call(intent) * len(items))
        self._counters.send_batch(len(items))
        for pending in items:
            self._waiting.put_in(pending, intent)
        return True

    async def _create(self, intents: Intents, intent: Intent, lines: Sequence[bytes]) -> Batch | None:
        """Upload the calls of an intent, create their batch, and return it.

        The file is uploaded again if the endpoint has lost it. If the answer to the creation is lost, the
        endpoint's list of batches says whether to try again.
        Returns None if it is unknown whether the batch was created; then the session ends. Raises BatchFailed
        if it was not.
        """
        for attempt in range(1, MOST_CREATIONS + 1):
            if not intent.file:
                intents.record_upload(intent, await self._upload(intent, lines))
            intents.record_creation(intent)
            try:
                batch: Batch | None = await self._endpoint(intent).create(
                    intent.file, intent.line.path, intent.id
                )
            except BatchFailed as error:
                if error.is_missing_file and attempt < MOST_CREATIONS:
                    intent.file = ""
                    continue
                if not error.is_in_doubt:
                    raise
                try:
                    batch = await self._find(intents, intent)
                except _NotCreated:
                    if attempt == MOST_CREATIONS:
                        raise error from None
                    continue
            if batch is not None:
                intents.record_batch(intent, batch.id, batch.expires)
            return batch
        raise AssertionError("the last attempt returns or raises")

    async def _upload(self, intent: Intent, lines: Sequence[bytes]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.jsonl"
            with path.open("wb") as file:
                file.writelines(lines)
            return await self._endpoint(intent).upload(path, f"equipoise-{intent.id}.jsonl")

    async def _find(self, intents: Intents, intent: Intent) -> Batch | None:
        """The batch whose creation may have succeeded, from the endpoint's list.

        None if the list cannot be read; then the session ends. Raises _NotCreated if it is not in the list.
        """
        endpoint, began = self._endpoint(intent), datetime.fromisoformat(intent.began).timestamp()
        while True:
            # A negative time means that the clock was set back: then the list is requested only once.
            is_last = not 0 <= time.time() - began < LOOKUP_SECONDS
            try:
                batch = await endpoint.find(intent.file, intent.id)
            except BatchFailed as error:
                self._waiting.end(self._doubt_message(intent, intents, error))
                return None
            if batch is not None:
                return batch
            if is_last:
                raise _NotCreated
            await asyncio.sleep(LOOKUP_SECONDS / 5)

    def _doubt_message(self, intent: Intent, intents: Intents, error: BatchFailed) -> str:
        return (
            f"{intent.line.endpoint}: a batch of {len(intent.line.calls):,} calls may have been created, but "
            f"the answer was lost, and the list of batches cannot be read ({self._brief(error)}); look there "
            f"for a batch of the file {shown_id(intent.file)}, then run: equipoise batch settle "
            f"{shown(intents.path)} {intent.id} --batch ID, or --none if there is none"
        )

    def _handle_rejection(self, group: Group, error: BatchFailed, calls: int) -> None:
        """Handle a rejected batch: avoid batches, make them smaller, or end the session."""
        role, model = group.role_and_model
        url = self._routes[role, model].base_url
        if error.is_unsupported:
            self._notify_of_single_calls(model, public_url(url), f" ({error})")
            self._urls_without_batches.add(url)
        elif error.is_too_large and calls > LEAST_CALLS:
            self._halve_limit(group, calls)
        else:
            advice = "; top up the account" if error.failure.is_out_of_balance else ""
            resumes = _resumes(error)
            self._waiting.end(f"{role} {model!r}: no batch of {calls:,} calls: {error}{advice}{resumes}")

    def _halve_limit(self, group: Group, calls: int) -> None:
        """Limit the batches of a model to half of this many calls, as a batch of these was too large."""
        most_lines, most_bytes = self._limits.get(group.role_and_model, (MOST_LINES, MOST_BYTES))
        self._limits[group.role_and_model] = (
            max(LEAST_CALLS, min(most_lines, calls) // 2),
            most_bytes,
        )

    def _notify_of_single_calls(self, model: str, endpoint: str, why: str) -> None:
        """Notify the user, once for each model, that its endpoint does not support batches."""
        if model not in self._models_notified:
            self._models_notified.add(model)
            what = f"{model}: {endpoint} has no batches{why}"
            self._counters.notify(
                self._waiting.mask(f"{what}: its calls are made one by one, at their usual price")
            )

    def _endpoint(self, intent: Intent) -> BatchEndpoint:
        key = (intent.line.role, intent.line.model)
        if key not in self._endpoints:
            settings = self._settings
            self._endpoints[key] = BatchEndpoint(
                self._client, *key, max_retries=settings.max_retries, max_wait=settings.max_wait
            )
        return self._endpoints[key]

    # Reading.

    async def await_batch(self) -> bool:
        """Wait until a batch has ended, and deliver its replies.

        Returns False if none has ended after the seconds of --batch-wait, which count from the first wait of
        the session; True if one has, or if the session is ending.
        """
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._settings.batch_wait
        while not self._waiting.stopping.is_set():
            is_read = False
            for history, intent in self._readable_intents():
                is_read |= await self._read_if_ended(history, intent)
                if self._waiting.stopping.is_set():
                    return True
            left = self._deadline - time.monotonic()
            if is_read or left <= 0 or not self._readable_intents():
                return is_read
            with suppress(TimeoutError):
                await asyncio.wait_for(self._waiting.stopping.wait(), min(self._poll, left))
            self._poll = min(LONGEST_POLL, 1.5 * self._poll)
        return True

    def _open_intents(self) -> list[tuple[History, Intent]]:
        """The histories and intents of the batches that calls wait for."""
        batches = {}
        for pending in self._waiting:
            if pending.intent is not None:
                batches[pending.intent.id] = (pending.history, pending.intent)
        return list(batches.values())

    def _readable_intents(self) -> list[tuple[History, Intent]]:
        """The open intents but those whose results were read as often as they are in a session."""
        return [item for item in self._open_intents() if item[1].id not in self._unreadable]

    async def _read_if_ended(self, history: History, intent: Intent) -> bool:
        """Request the status of a batch, and deliver its replies if it has ended.

        Returns whether runs can continue: it has ended and answers calls, or was never created.
        """
        intents = self._waiting.intents[history]
        try:
            if intent.state == "creating":
                created = await self._find(intents, intent)
                if created is None:
                    return False
                intents.record_batch(intent, created.id, created.expires)
            self._last_status[intent.id] = batch = await self._endpoint(intent).get(intent.batch)
            if not batch.is_of(intent.id, intent.file):
                self._unreadable[intent.id] = (
                    f"it is another batch: that of the file {shown_id(batch.input_file)}"
                )
                return False
            if not batch.is_over:
                return False
            self._poll = FIRST_POLL
            self._at_token_limit.discard((intent.line.role, intent.line.model))
            if batch.status == "failed" and not batch.output_file and not batch.done:
                self._handle_failed_batch(intents, intent, batch)
                return True
            if not (batch.output_file or batch.error_file or _is_all(batch, 0)):
                self._last_status[intent.id] = f"{batch.status}, but no file of its results is named yet"
                return False
            return await self._read(history, intent, batch)
        except _NotCreated:
            intents.record_end(intent, "not created")
            self._budget.commit(-_reserved_per_call(intent) * len(intent.line.calls))
            self._release_calls(intent)
            return True
        except BatchFailed as error:
            self._last_status[intent.id] = self._waiting.mask(str(error))
            if not error.failure.is_transient:
                self._waiting.end(self._cannot_read(intent, intents, error))
            return False

    async def _read(self, history: History, intent: Intent, batch: Batch) -> bool:
        """Deliver the replies of a batch that has ended, and have its calls that failed sent again.

        If calls lack an answer that the endpoint should have, all is read again a little later; after
        MOST_READINGS these calls wait on, and the user is asked. Returns whether any run can continue.
        Raises BatchFailed.
        """
        endpoint, answered = self._endpoint(intent), 0
        retries = endpoint.new_retries(MOST_READINGS - 1)
        while True:
            result = ReadBatch(batch.status, answered=answered)
            missing = await self._deliver(intent, batch, result)
            if not missing:
                self._conclude(history, intent, result)
                return True
            answered = result.answered
            why = _why_missing(batch, result)
            try:
                await endpoint.wait_to_retry(retries, Failure(message=why))
            except BatchFailed:
                self._unreadable[intent.id] = why
                return answered > 0
            self._last_status[intent.id] = batch = await endpoint.get(intent.batch)

    def _cannot_read(self, intent: Intent, intents: Intents, error: BatchFailed) -> str:
        where = f"{intent.line.endpoint}: batch {shown_id(intent.batch)}"
        if error.failure.status not in GONE_STATUSES:
            return f"{where}: {error}{_resumes(error)}"
        return (
            f"{where} of {len(intent.line.calls):,} calls, or its results, cannot be read any more "
            f"({self._brief(error)}); the calls may have been paid for, so they are not sent again; to send "
            f"them, run: equipoise batch settle {shown(intents.path)} {intent.id} --none"
        )

    def unreadable_message(self, intent: Intent, intents: Intents, calls: int) -> str | None:
        """The message about the results of a batch that cannot be read; None if there is nothing to say.

        `calls` is the number of its calls that are not in the journal.
        """
        why = self._unreadable.get(intent.id)
        if why is None:
            return None
        return (
            f"{intent.line.endpoint}: batch {shown_id(intent.batch)}: {calls:,} calls have no answer that "
            f"can be read ({why[:MOST_REASON]}); they may have been paid for, so they are not sent again. "
            f"The same command reads them again; to send them: equipoise batch settle {shown(intents.path)} "
            f"{intent.id} --none, or --batch ID for another batch"
        )

    def _brief(self, error: BatchFailed) -> str:
        """The beginning of an error that may quote an endpoint."""
        return self._waiting.mask(str(error))[:MOST_REASON]

    def _handle_failed_batch(self, intents: Intents, intent: Intent, batch: Batch) -> None:
        """Handle a batch that failed as a whole, before any of its calls was made.

        If that is because too many tokens are enqueued, its calls are sent again in smaller batches;
        otherwise the session ends.
        """
        why = batch.problem or "the endpoint does not say why"
        intents.record_end(intent, self._waiting.mask(f"failed: {why}")[:500])
        self._budget.commit(-_reserved_per_call(intent) * len(intent.line.calls))
        released = self._release_calls(intent)
        if TOO_MANY_TOKENS in batch.code and len(intent.line.calls) > LEAST_CALLS and released:
            first = released[0]
            group = Group(first.history, first.call.role, first.call.model, intent.line.path)
            self._halve_limit(group, len(released))
            if any(self._open_intents()):
                # Until one of these has ended, no further batch would be accepted.
                self._at_token_limit.add(group.role_and_model)
            return
        where = f"{intent.line.endpoint}: batch {batch.id}"
        self._waiting.end(printable(f"{where} failed, and none of its calls was made: {why}{RESUMES_MENDED}"))

    def _release_calls(self, intent: Intent) -> list[WaitingCall]:
        """Let the calls of a batch that will not answer them be sent again, and return them."""
        released = self._waiting.of(intent)
        for pending in released:
            self._waiting.take_out(pending)
        return released

    async def _deliver(self, intent: Intent, batch: Batch, result: ReadBatch) -> set[str]:
        """Read the results of a batch line by line, and answer the calls that wait for them.

        Returns the calls that wait for an answer which the endpoint has, or may have. Raises BatchFailed.
        """
        read_ids, batch_ids = set[str](), set(intent.line.calls)
        for file in dict.fromkeys(filter(None, (batch.output_file, batch.error_file))):
            async with aclosing(self._endpoint(intent).lines(file)) as lines:
                async for data in lines:
                    line = read_result_line(data)
                    if line is None:
                        result.unreadable += bool(data.strip())
                    elif line.custom_id not in batch_ids:
                        result.unknown += 1
                    else:
                        result.doubled += line.custom_id in read_ids
                        read_ids.add(line.custom_id)
                        self._receive(intent, line, result)
        missing = {call for call in batch_ids - read_ids if self._waiting.waiting_for(call, intent)}
        if result.unreadable or not _is_all(batch, len(read_ids)):
            return missing
        result.lost = len(missing)
        result.unanswered |= missing
        return set()

    def _receive(self, intent: Intent, line: ResultLine, result: ReadBatch) -> None:
        """Answer the call of a line, unless its run has ended, or was not selected in this session.

        A line without an answer is kept as a failure until a later line for the same call has one.
        """
        pending = self._waiting.waiting_for(line.custom_id, intent)
        if pending is None:
            return
        answer: Reply | Failure = UNANSWERED
        if line.status is not None:
            answer = self._client.read_batch_result(pending.call, line.status, line.body, pending.tries)
        if isinstance(answer, Failure):
            result.failures.setdefault(line.custom_id, (line, answer))
            return
        result.failures.pop(line.custom_id, None)
        result.answered += 1
        route = self._routes[pending.call.role, pending.call.model]
        self._settle(intent, route.cost_in_batch(usage_of(pending.call, answer)))
        self._counters.in_batches -= 1
        pending.answer(answer)

    def _conclude(self, history: History, intent: Intent, result: ReadBatch) -> None:
        """Have the calls of a batch that was read sent again if they failed or are lost."""
        for custom_id, (line, failure) in result.failures.items():
            if pending := self._waiting.waiting_for(custom_id, intent):
                result.failed += 1
                result.is_out_of_balance |= failure.is_out_of_balance
                self._settle(intent, 0)
                # Calls without a status expired or were cancelled; neither counts as an attempt.
                self._retry(pending, failure, is_counted=line.status is not None)
        for pending in self._waiting.of(intent):
            if pending.custom_id in result.unanswered:
                self._retry(pending, UNANSWERED, is_counted=result.status == "completed")
        result.unanswered |= result.failures.keys()
        self._read_batches.append((history, intent, result))
        self._notify(intent, result)
        where = f"{intent.line.endpoint}: batch {shown_id(intent.batch)}"
        # Batches that end at once, each without an answer, would be sent for ever.
        self._empty[intent.line.role, intent.line.model] += not result.answered and bool(result.unanswered)
        if self._empty[intent.line.role, intent.line.model] >= MOST_EMPTY:
            self._waiting.end(
                f"{where} is {result.status}, as others were, and has no answer{RESUMES_MENDED}"
            )
        if result.is_out_of_balance:
            self._waiting.end(f"{where}: the account has no balance left; top it up{RESUMES}")

    def _settle(self, intent: Intent, spent: int) -> None:
        """Replace the reservation of a call in the budget by its cost `spent`, in nano-dollars."""
        if self._settings.max_cost is not None:
            self._budget.commit(spent - _reserved_per_call(intent))

    def _retry(self, pending: WaitingCall, failure: Failure, *, is_counted: bool) -> None:
        """Have a call sent again: in the next batch, or by itself if it would fail in the same way there.

        `is_counted` says whether the failure counts as one of its tries.
        """
        self._waiting.take_out(pending)
        pending.tries += is_counted
        self._counters.count_retry(self._waiting.mask(failure.message))
        if is_counted and not failure.is_out_of_balance:
            may_succeed = failure.is_transient or self._client.is_learned(pending.call, failure)
            pending.is_alone = pending.tries >= MOST_TRIES or not may_succeed

    def _notify(self, intent: Intent, result: ReadBatch) -> None:
        """Notify the user of failed, lost or unexpected lines of a batch, if there are any."""
        line_counts = {
            "with another id": result.unknown,
            "unreadable": result.unreadable,
            "doubled": result.doubled,
            "failed": result.failed,
            "lost": result.lost,
        }
        if counts := [f"{count:,} {what}" for what, count in line_counts.items() if count]:
            what = f"{result.answered:,} of {len(intent.line.calls):,} calls were answered"
            self._counters.notify(
                f"batch {shown_id(intent.batch)} {result.status}: {what}; lines: {', '.join(counts)}"
            )

    def mark_read(self) -> None:
        """Record the end of batches whose replies are all in the journal, so that none is requested again."""
        for history, intent, result in self._read_batches:
            if all(call in history.batched or call in result.unanswered for call in intent.line.calls):
                self._waiting.intents[history].record_end(
                    intent,
                    result.status,
                    answered=result.answered,
                    failed=result.failed,
                    lost=result.lost,
                    unknown=result.unknown,
                    doubled=result.doubled,
                )
        self._read_batches.clear()

    def describe(self, intent: Intent) -> str:
        """The text for a batch in messages: its id and its progress."""
        last = self._last_status.get(intent.id)
        if isinstance(last, Batch):
            total = last.total or len(intent.line.calls)
            return f"{shown_id(last.id)}: {last.status}, {last.done + last.failed} of {total} done"
        return f"{shown_id(intent.batch) or 'not yet found'}{': ' + last[:MOST_REASON] if last else ''}"


class _NotCreated(Exception):  # noqa: N818 - it is a finding, not an error
    """The endpoint has no batch of an intent."""


def credential(settings: Settings, role: Role) -> str:
    """The credential of a role's batches: the API key, and the headers that name the organization."""
    endpoint = settings.endpoint(role)
    headers = settings.header_values if endpoint.takes_environment else ()
    return "\0".join((endpoint.api_key, *headers))


def _is_all(batch: Batch, read: int) -> bool:
    """Whether `read` calls with a line are all for which the endpoint has one, as it counts them itself.

    A batch that was cut short may have none; one that is completed has some.
    """
    if batch.status == "completed" and not batch.done + batch.failed:
        return False
    return read >= batch.done + batch.failed


def _why_missing(batch: Batch, result: ReadBatch) -> str:
    """Why calls have no readable answer in the files of a batch."""
    files = " and ".join(map(shown_id, filter(None, (batch.output_file, batch.error_file))))
    lines = f"{result.unreadable:,} lines are unreadable" if result.unreadable else "no line names them"
    return f"file {files}: {lines}"


def _resumes(error: BatchFailed) -> str:
    """How to go on after a failure that ends the session."""
    return RESUMES_MENDED if error.failure.is_mistake else RESUMES


def _reserved_per_call(intent: Intent) -> int:
    """The reservation for each call of a batch, in nano-dollars."""
    return intent.line.reserved // len(intent.line.calls)
