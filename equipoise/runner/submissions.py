"""Waiting calls sent as batches to endpoints, whose results are read and given to them.

What an intent on disk announces is never sent again. Bound to the engine's event loop; knows neither runs nor
when a phase begins.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.errors import printable
from equipoise.core.files import shown
from equipoise.core.settings import Settings, is_local, public_url
from equipoise.core.types import Call, Reply, Role, Usage
from equipoise.models.batches import Batch, BatchEndpoint, BatchFailed, ResultLine, read_line, request_line
from equipoise.models.budget import NANO, RESUMES, Budget, usage_of
from equipoise.models.counters import Counters
from equipoise.models.failures import Failure
from equipoise.results.history import History
from equipoise.results.intents import Intent, Intents
from equipoise.runner.waiting_calls import UNANSWERED, WaitingCall

if TYPE_CHECKING:
    from equipoise.models.client import Client

LEAST = 20
"""Fewer calls than this are made one by one."""
MOST_LINES, MOST_BYTES = 50_000, 100_000_000
"""The most lines and bytes of a batch at endpoints of every kind; of one that takes fewer, half each time."""
MOST_TRIES = 2
"""The most batches in which a call may fail for no reason of its own, before it is made by itself."""
FIRST_POLL, LONGEST_POLL = 1.0, 60.0
"""Seconds between looks at batches: the first, growing by half each time."""
LOOKUP_SECONDS = 5.0
"""Seconds after its creation began that a batch may be missing from the endpoint's list."""
MOST_CREATIONS = 3
"""The most attempts to create a batch that the endpoint's list does not show."""
TOO_MANY_TOKENS = "token_limit"
"""Part of the code of a batch that failed because too much is enqueued."""
UNREADABLE = frozenset({404, 410})
"""Statuses of an endpoint that does not have a batch or a file any more."""


@dataclass(slots=True)
class Counted:
    """The lines of a batch that was read, counted; `gone` are the calls that it has no answer to."""

    status: str
    answered: int = 0
    unknown: int = 0
    doubled: int = 0
    failed: int = 0
    lost: int = 0
    gone: set[str] = field(default_factory=set)
    is_out_of_balance: bool = False


BatchCost = Callable[[Role, str, Usage], int]
"""The cost of a model's tokens in a batch, in nano-dollars."""
Group = tuple[History, Role, str, str]
"""Calls of one journal to one model by one path, which may be in the same batch."""


class Submissions:
    """The batches that a session has at endpoints.

    `pending` are the calls that wait, by their custom_id, and `intents` those of each journal; both change
    while the session goes on. `number` returns the index of a model in the counters. `end` ends the session,
    with a message unless it has one already; once `stopping` is set, it is ending.
    """

    def __init__(
        self,
        settings: Settings,
        client: Client,
        budget: Budget,
        counters: Counters,
        *,
        pending: Mapping[str, WaitingCall],
        intents: Mapping[History, Intents],
        cost: BatchCost,
        number: Callable[[Role, str], int],
        base_url: Callable[[Role, str], str],
        mask: Callable[[str], str],
        end: Callable[[str | None], None],
        stopping: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._client = client
        self._budget = budget
        self._counters = counters
        self._pending = pending
        self._intents = intents
        self._cost = cost
        self._number = number
        self._base_url = base_url
        self._mask = mask
        self._end = end
        self._stopping = stopping
        self._endpoints: dict[tuple[Role, str], BatchEndpoint] = {}
        self._deadline: float | None = None
        self._poll = FIRST_POLL
        self._limits: dict[tuple[Role, str], tuple[int, int]] = {}
        self._unsupported: set[str] = set()
        self._full: set[tuple[Role, str]] = set()
        self._read: list[tuple[History, Intent, Counted]] = []
        self._last: dict[str, Batch | str] = {}
        self.is_sending = False

    def commit(self, history: History) -> None:
        """Count what earlier sessions have spent, and what their batches may still cost."""
        if self._settings.max_cost is not None:
            self._budget.commit(self._spent(history))
            for intent in self._intents[history].waiting:
                open_calls = sum(call not in history.batched for call in intent.line.calls)
                self._budget.commit(_each(intent) * open_calls)

    def _spent(self, history: History) -> int:
        """The cost of the calls of earlier sessions, in nano-dollars."""
        settings, totals = self._settings, history.totals
        # With --rejudge, the subject's were copied.
        roles: tuple[Role, ...] = ("evaluator",) if settings.rejudge else ("subject", "evaluator")
        costs = [
            totals.cost(role, model, self._base_url(role, model), settings.price, settings.batch_discount)
            for role in roles
            for kind, model in totals.tokens
            if kind == role
        ]
        return int(sum(filter(None, costs)) * NANO)

    def takes(self, call: Call) -> bool:
        """Whether the endpoint of a call may have batches."""
        if is_local(call.model):
            self._lacks_batches(call.model, "the built-in server", "")
            return False
        return self._base_url(call.role, call.model) not in self._unsupported

    # Sending.

    async def place(self) -> bool:
        """Send calls that no batch has: as batches, or by themselves if there are few.

        Returns whether any were.
        """
        groups: defaultdict[Group, list[WaitingCall]] = defaultdict(list)
        for pending in self._pending.values():
            if pending.intent is None:
                path, _ = self._client.line(pending.call)
                groups[pending.history, pending.call.role, pending.call.model, path].append(pending)
        is_any = False
        for group, items in groups.items():
            if not self._stopping.is_set():
                alone, together = self._divided(group, items)
                for item in alone:
                    item.answer(None)
                is_any |= bool(alone)
                if together:
                    is_any |= await self._send(group, together)
        if groups and not is_any and not self._open_intents() and not self._stopping.is_set():
            self._budget.use_up()
            self._end(None)
        return is_any

    def _divided(
        self, group: Group, items: Sequence[WaitingCall]
    ) -> tuple[list[WaitingCall], list[WaitingCall]]:
        """The calls that are made by themselves now, and those that are sent together."""
        alone = [item for item in items if item.is_alone]
        together = [item for item in items if not item.is_alone]
        _, role, model, _ = group
        is_taken = role in self._settings.batch and self._base_url(role, model) not in self._unsupported
        if len(together) < LEAST or not is_taken:
            return [*items], []
        if group[1:3] in self._full:
            return alone, []
        if not self._is_bounded(group, together[0]):
            # By itself, as it shows how long replies are, which limits what the others may cost.
            return [*alone, together[0]], []
        return alone, together

    def _is_bounded(self, group: Group, pending: WaitingCall) -> bool:
        return self._budget.room()[1] is None or self._most(group, pending) is not None

    def _most(self, group: Group, pending: WaitingCall) -> int | None:
        """The most that a call may cost in a batch, in nano-dollars."""
        _, role, model, _ = group
        return self._budget.most_of(
            pending.call, self._number(role, model), lambda usage: self._cost(role, model, usage)
        )

    async def _send(self, group: Group, items: Sequence[WaitingCall]) -> bool:
        """Send calls in as few batches as the endpoint takes; those beyond the budget stay.

        Returns whether anything was done about them.
        """
        left = self._affordable(group, items)
        is_any = bool(left)
        while left and not self._stopping.is_set():
            part, lines = self._cut(group, left)
            left = left[len(part) :]
            if not await self._submit(group, part, lines):
                break
        return is_any

    def _affordable(self, group: Group, items: Sequence[WaitingCall]) -> list[WaitingCall]:
        calls, dollars = self._budget.room()
        fitting: list[WaitingCall] = []
        for pending in items[:calls]:
            if dollars is not None:
                dollars -= self._most(group, pending) or 0
                if dollars < 0:
                    break
            fitting.append(pending)
        return fitting

    def _cut(self, group: Group, items: Sequence[WaitingCall]) -> tuple[list[WaitingCall], list[bytes]]:
        """The first calls that fit into one batch, as even a part as there can be, and their lines."""
        most_lines, most_bytes = self._limits.get(group[1:3], (MOST_LINES, MOST_BYTES))
        batches = -(-len(items) // most_lines)
        taken: list[WaitingCall] = []
        lines: list[bytes] = []
        size = 0
        for pending in items[: -(-len(items) // batches)]:
            line = request_line(pending.name, *self._client.line(pending.call))
            size += len(line)
            if size > most_bytes and lines:
                break
            taken.append(pending)
            lines.append(line)
        return taken, lines

    async def _submit(self, group: Group, items: Sequence[WaitingCall], lines: Sequence[bytes]) -> bool:
        """Upload calls and create their batch. Returns whether further ones may follow."""
        history, role, model, path = group
        known = self._intents[history]
        reserved = 0
        if self._settings.max_cost is not None:
            reserved = sum(self._most(group, pending) or 0 for pending in items)
        intent = known.begin(
            [pending.name for pending in items],
            role=role,
            model=model,
            endpoint=public_url(self._base_url(role, model)),
            path=path,
            key=credential(self._settings, role),
            reserved=reserved,
        )
        self.is_sending = True
        try:
            batch = await self._create(known, intent, lines)
        except BatchFailed as error:
            known.end(intent, self._mask(f"not created: {error}")[:500])
            return self._refused(group, error, len(items))
        finally:
            self.is_sending = False
        if batch is None:
            return False
        self._last[intent.id] = batch
        self._budget.commit(_each(intent) * len(items))
        self._counters.send_batch(len(items))
        self._counters.in_batches += len(items)
        for pending in items:
            pending.intent = intent
        return True

    async def _create(self, known: Intents, intent: Intent, lines: Sequence[bytes]) -> Batch | None:
        """The batch; None if it is not known whether there is one. Raises BatchFailed if there is none."""
        for attempt in range(1, MOST_CREATIONS + 1):
            if not intent.file:
                known.uploaded(intent, await self._upload(intent, lines))
            known.creating(intent)
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
                    batch = await self._find(known, intent)
                except _NotCreated:
                    if attempt == MOST_CREATIONS:
                        raise error from None
                    continue
            if batch is not None:
                known.created(intent, batch.id, batch.expires)
            return batch
        raise AssertionError

    async def _upload(self, intent: Intent, lines: Sequence[bytes]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.jsonl"
            with path.open("wb") as file:
                file.writelines(lines)
            return await self._endpoint(intent).upload(path, f"equipoise-{intent.id}.jsonl")

    async def _find(self, known: Intents, intent: Intent) -> Batch | None:
        """The batch whose creation may have succeeded; None if that cannot be known, which ends the session.

        Raises _NotCreated if there is none.
        """
        endpoint, begun = self._endpoint(intent), datetime.fromisoformat(intent.began).timestamp()
        while True:
            is_last = not 0 <= time.time() - begun < LOOKUP_SECONDS
            try:
                batch = await endpoint.find(intent.file, intent.id)
            except BatchFailed as error:
                self._end(self._question(intent, known, error))
                return None
            if batch is not None:
                return batch
            if is_last:
                raise _NotCreated
            await asyncio.sleep(LOOKUP_SECONDS / 5)

    def _question(self, intent: Intent, known: Intents, error: BatchFailed) -> str:
        return (
            f"{intent.line.endpoint}: a batch of {len(intent.line.calls):,} calls may have been created, but "
            f"the answer was lost, and the list of batches cannot be read ({error}); look there for a batch "
            f"of the file {intent.file}, then run: equipoise batch settle {shown(known.path)} {intent.id} "
            "--batch ID, or --none if there is none"
        )

    def _refused(self, group: Group, error: BatchFailed, calls: int) -> bool:
        """Deal with a batch that was not created. Returns whether others may follow."""
        _, role, model, _ = group
        url = self._base_url(role, model)
        if error.is_unsupported:
            self._lacks_batches(model, public_url(url), f" ({error})")
            self._unsupported.add(url)
        elif error.is_too_large and calls > LEAST:
            self._halve(group, calls)
        else:
            advice = "; top up the account" if error.failure.is_out_of_balance else ""
            self._end(f"{role} {model!r}: no batch of {calls:,} calls: {error}{advice}{RESUMES}")
        return False

    def _halve(self, group: Group, calls: int) -> None:
        lines, size = self._limits.get(group[1:3], (MOST_LINES, MOST_BYTES))
        self._limits[group[1:3]] = (max(LEAST, min(lines, calls) // 2), size)

    def _lacks_batches(self, model: str, where: str, why: str) -> None:
        if model not in self._unsupported:
            self._unsupported.add(model)
            what = f"{model}: {where} has no batches{why}"
            self._counters.notify(self._mask(f"{what}: its calls are made one by one, at their usual price"))

    def _endpoint(self, intent: Intent) -> BatchEndpoint:
        key = (intent.line.role, intent.line.model)
        if key not in self._endpoints:
            settings = self._settings
            self._endpoints[key] = BatchEndpoint(
                self._client, *key, max_retries=settings.max_retries, max_wait=settings.max_wait
            )
        return self._endpoints[key]

    # Reading.

    async def collect(self) -> bool:
        """Wait until a batch is over, and deliver its replies. False if none is in time."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._settings.batch_wait
        while not self._stopping.is_set():
            is_read = False
            for history, intent in self._open_intents():
                is_read |= await self._look(history, intent)
                if self._stopping.is_set():
                    return True
            left = self._deadline - time.monotonic()
            if is_read or left <= 0:
                return is_read
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), min(self._poll, left))
            self._poll = min(LONGEST_POLL, 1.5 * self._poll)
        return True

    def _open_intents(self) -> list[tuple[History, Intent]]:
        """The batches that calls wait for."""
        batches = {}
        for pending in self._pending.values():
            if pending.intent is not None:
                batches[pending.intent.id] = (pending.history, pending.intent)
        return list(batches.values())

    async def _look(self, history: History, intent: Intent) -> bool:
        """Look at a batch, and deliver its replies if it is over. Returns whether runs can go on."""
        known = self._intents[history]
        try:
            if intent.state == "creating":
                created = await self._find(known, intent)
                if created is None:
                    return False
                known.created(intent, created.id, created.expires)
            self._last[intent.id] = batch = await self._endpoint(intent).get(intent.batch)
            if not batch.is_over:
                return False
            self._poll = FIRST_POLL
            self._full.discard((intent.line.role, intent.line.model))
            if batch.status == "failed" and not batch.output_file:
                self._fail(known, intent, batch)
            else:
                await self._deliver(history, intent, batch)
            return True
        except _NotCreated:
            known.end(intent, "not created")
            self._budget.commit(-_each(intent) * len(intent.line.calls))
            self._free(intent)
            return True
        except BatchFailed as error:
            self._last[intent.id] = self._mask(str(error))
            if not error.failure.is_transient:
                self._end(self._cannot_read(intent, known, error))
            return False

    def _cannot_read(self, intent: Intent, known: Intents, error: BatchFailed) -> str:
        if error.failure.status not in UNREADABLE:
            return f"{intent.line.endpoint}: batch {intent.batch}: {error}{RESUMES}"
        return (
            f"{intent.line.endpoint}: batch {intent.batch} of {len(intent.line.calls):,} calls, or its "
            f"results, cannot be read any more ({error}); the calls may have been paid for, so they are not "
            f"sent again; to send them, run: equipoise batch settle {shown(known.path)} {intent.id} --none"
        )

    def _fail(self, known: Intents, intent: Intent, batch: Batch) -> None:
        """A batch was rejected as a whole, before any of its calls was made."""
        why = batch.problem or "the endpoint does not say why"
        known.end(intent, self._mask(f"failed: {why}")[:500])
        self._budget.commit(-_each(intent) * len(intent.line.calls))
        freed = self._free(intent)
        if TOO_MANY_TOKENS in batch.code and len(intent.line.calls) > LEAST and freed:
            first = freed[0]
            self._halve((first.history, first.call.role, first.call.model, intent.line.path), len(freed))
            if any(self._open_intents()):
                self._full.add((first.call.role, first.call.model))
            return
        where = f"{intent.line.endpoint}: batch {batch.id}"
        self._end(printable(f"{where} failed, and none of its calls was made: {why}{RESUMES}"))

    def _free(self, intent: Intent) -> list[WaitingCall]:
        """Take calls out of a batch that will not answer them."""
        freed = [pending for pending in self._pending.values() if pending.intent is intent]
        for pending in freed:
            pending.intent = None
        return freed

    async def _deliver(self, history: History, intent: Intent, batch: Batch) -> None:
        """Read the results of a batch line by line, and answer the calls that wait for them."""
        counted, names, own = Counted(batch.status), set[str](), set(intent.line.calls)
        for file in filter(None, (batch.output_file, batch.error_file)):
            async with aclosing(self._endpoint(intent).lines(file)) as lines:
                async for data in lines:
                    line = read_line(data)
                    if line is None or line.name not in own:
                        counted.unknown += bool(data.strip())
                    elif line.name in names:
                        counted.doubled += 1
                    else:
                        names.add(line.name)
                        self._receive(intent, line, counted)
        for name in own - names:
            if (pending := self._pending.get(name)) is not None and pending.intent is intent:
                counted.lost += 1
                counted.gone.add(name)
                self._retry(pending, UNANSWERED, is_counted=batch.status == "completed")
        self._read.append((history, intent, counted))
        self._notify(intent, counted)
        if counted.is_out_of_balance:
            where = f"{intent.line.endpoint}: batch {intent.batch}"
            self._end(f"{where}: the account has no balance left; top it up{RESUMES}")

    def _receive(self, intent: Intent, line: ResultLine, counted: Counted) -> None:
        """Answer the call that a line is about, unless its run was not selected or is done."""
        pending = self._pending.get(line.name)
        if pending is None or pending.intent is not intent or pending.future.done():
            return
        answer: Reply | Failure = UNANSWERED
        if line.status is not None:
            answer = self._client.read_line(pending.call, line.status, line.body, pending.tries)
        if isinstance(answer, Reply):
            counted.answered += 1
            spent = self._cost(pending.call.role, pending.call.model, usage_of(pending.call, answer))
            self._commit(intent, spent)
            self._counters.in_batches -= 1
            pending.answer(answer)
            return
        counted.failed += 1
        counted.gone.add(line.name)
        counted.is_out_of_balance |= answer.is_out_of_balance
        self._commit(intent, 0)
        # Without an answer it has expired, or was cancelled: no fault of its own.
        self._retry(pending, answer, is_counted=line.status is not None)

    def _commit(self, intent: Intent, spent: int) -> None:
        """Count what a call has cost instead of the most that it might have."""
        if self._settings.max_cost is not None:
            self._budget.commit(spent - _each(intent))

    def _retry(self, pending: WaitingCall, failure: Failure, *, is_counted: bool) -> None:
        """Have a call made again: in the next batch, or by itself if its failure would be the same there."""
        pending.intent = None
        pending.tries += is_counted
        self._counters.in_batches -= 1
        self._counters.count_retry(self._mask(failure.message))
        if is_counted and not failure.is_out_of_balance:
            may_pass = failure.is_transient or self._client.is_learned(pending.call, failure)
            pending.is_alone = pending.tries >= MOST_TRIES or not may_pass

    def _notify(self, intent: Intent, counted: Counted) -> None:
        """Say what was wrong with the lines of a batch, if anything was."""
        parts = {
            "with another id": counted.unknown,
            "doubled": counted.doubled,
            "failed": counted.failed,
            "lost": counted.lost,
        }
        if counts := [f"{count:,} {what}" for what, count in parts.items() if count]:
            what = f"{counted.answered:,} of {len(intent.line.calls):,} calls were answered"
            self._counters.notify(
                f"batch {intent.batch} {counted.status}: {what}; lines: {', '.join(counts)}"
            )

    def close_read(self) -> None:
        """Note that a batch is over once the journal has all its replies."""
        for history, intent, counted in self._read:
            if all(call in history.batched or call in counted.gone for call in intent.line.calls):
                self._intents[history].end(
                    intent,
                    counted.status,
                    answered=counted.answered,
                    failed=counted.failed,
                    lost=counted.lost,
                    unknown=counted.unknown,
                    doubled=counted.doubled,
                )
        self._read.clear()

    def described(self, intent: Intent) -> str:
        """A batch as a message names it: its id, and how far it is."""
        last = self._last.get(intent.id)
        if isinstance(last, Batch):
            total = last.total or len(intent.line.calls)
            return f"{last.id}: {last.status}, {last.done + last.failed} of {total} done"
        return f"{intent.batch or 'not yet found'}{': ' + last if last else ''}"


class _NotCreated(Exception):  # noqa: N818 - it says what the endpoint's list shows
    """There is no batch of an intent."""


def credential(settings: Settings, role: Role) -> str:
    """The credential of a role's batches: the key, and the headers that say for whom."""
    endpoint = settings.endpoint(role)
    headers = settings.header_values if endpoint.takes_environment else ()
    return "\0".join((endpoint.api_key, *headers))


def _each(intent: Intent) -> int:
    """The reservation for each call of a batch, in nano-dollars."""
    return intent.line.reserved // len(intent.line.calls)
