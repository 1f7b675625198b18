"""Sends waiting calls as batches to endpoints, polls the batches, and has the results of ended ones read.

Everything here runs on the engine's event loop. A UserError ends the session.
"""

from __future__ import annotations

import asyncio
import io
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from equipoise.core.errors import UserError, printable
from equipoise.core.quantities import first_few
from equipoise.core.settings import Settings, is_local, public_url
from equipoise.core.types import CONTINUES, Call, Role
from equipoise.models.budget import RESUMES_MENDED
from equipoise.results.history import History
from equipoise.runner.access import Access, Route
from equipoise.runner.batches.endpoint import Batch, BatchEndpoint, BatchFailed
from equipoise.runner.batches.intents import Intent, IntentLine, new_id
from equipoise.runner.batches.reading import BatchReader
from equipoise.runner.batches.sent import NotCreated, SentBatch, resumes
from equipoise.runner.batches.waiting import WaitingCall, WaitingCalls

LEAST_CALLS = 20
"""The smallest batch: fewer calls than this are sent one by one."""
MOST_LINES, MOST_BYTES = 50_000, 100_000_000
"""The largest batch, in lines (one per call) and bytes. The lines are halved if an endpoint rejects it."""
FIRST_POLL, LONGEST_POLL = 1.0, 60.0
"""The first and the longest interval between polls of batches, in seconds; it grows by half each time."""
TOO_MANY_TOKENS = "token_limit"
"""Part of the error code of a batch that failed because too many tokens are enqueued."""
MOST_SHOWN = 3
"""The largest number of batches that a message names."""


@dataclass(eq=False, slots=True, kw_only=True)
class BatchModel:
    """The batches of a model in a role: its endpoint, and what the session has learned about it.

    At the token limit, no further batch is accepted before another one has ended.
    """

    role: Role
    name: str
    endpoint: BatchEndpoint
    route: Route
    most_lines: int = MOST_LINES
    is_at_token_limit: bool = False

    def halve(self, calls: int) -> None:
        """Limit batches to half of this many calls, as a batch of these was too large."""
        self.most_lines = max(LEAST_CALLS, min(self.most_lines, calls) // 2)


class Submissions:
    """The batches that a session has at endpoints. `is_sending` says whether one is being sent."""

    def __init__(self, settings: Settings, access: Access, waiting: WaitingCalls) -> None:
        self._settings = settings
        self._access = access
        self._waiting = waiting
        self._models: dict[tuple[Role, str], BatchModel] = {}
        self._sent: dict[str, SentBatch] = {}
        self._reader = BatchReader(access, waiting)
        self._urls_without_batches: set[str] = set()
        self._models_notified: set[str] = set()
        self._deadline: float | None = None
        self._poll = FIRST_POLL
        self.is_sending = False

    def open(self, history: History) -> None:
        """Add the batches of earlier sessions, and count what they may still cost as spent."""
        for intent in self._waiting.open(history).waiting:
            sent = self._add(history, intent)
            self._waiting.commit(intent.reserved_per_call * sent.unread_calls)

    def takes(self, call: Call) -> bool:
        """Whether a call may be sent in a batch; False if its endpoint is known not to support batches."""
        if is_local(call.model):
            self._notify_of_single_calls(call.model, "the built-in server", "")
            return False
        url = self._access.routes[call.role, call.model].base_url
        return "echo" not in call.parameters and url not in self._urls_without_batches

    async def advance(self) -> bool:
        """Send calls, or wait for replies. Returns False if no run can continue in this session."""
        self.mark_read()
        return await self._send_waiting() or await self._await_batch()

    def _add(self, history: History, intent: Intent) -> SentBatch:
        model = self._model(intent.line.role, intent.line.model)
        sent = SentBatch(history, self._waiting.logs[history], intent, model.endpoint)
        self._sent[intent.id] = sent
        return sent

    def _model(self, role: Role, name: str) -> BatchModel:
        key = role, name
        if key not in self._models:
            endpoint = BatchEndpoint(
                self._access.client,
                *key,
                max_retries=self._settings.max_retries,
                max_wait=self._settings.max_wait,
                mask=self._waiting.mask,
            )
            route = self._access.routes[key]
            self._models[key] = BatchModel(role=role, name=name, endpoint=endpoint, route=route)
        return self._models[key]

    def _model_of(self, sent: SentBatch) -> BatchModel:
        return self._model(sent.intent.line.role, sent.intent.line.model)

    # Sending.

    async def _send_waiting(self) -> bool:
        """Send the calls that are in no batch yet: in batches, or by themselves if there are few.

        Returns whether any were sent. If none can be sent, and no call is in a batch, the session ends.
        """
        groups: defaultdict[tuple[History, BatchModel, bool], list[WaitingCall]] = defaultdict(list)
        for item in self._waiting:
            if item.intent is None:
                model = self._model(item.call.role, item.call.model)
                # Continuations have a path of their own.
                groups[item.history, model, CONTINUES in item.call.parameters].append(item)
        is_any = False
        for (_, model, _), items in groups.items():
            alone, together = self._divide(model, items)
            for item in alone:
                # Makes the run send the call by itself.
                item.answer(None)
            is_any |= bool(alone)
            if together:
                is_any |= await self._send(model, together)
        if groups and not is_any and not self._awaited:
            self._access.budget.stop_for_batch()
            self._waiting.end(None)
        return is_any

    def _divide(
        self, model: BatchModel, items: Sequence[WaitingCall]
    ) -> tuple[list[WaitingCall], list[WaitingCall]]:
        """The calls to send by themselves now, and the calls to send in batches."""
        alone = [item for item in items if item.is_alone]
        together = [item for item in items if not item.is_alone]
        # Calls may come from a failed batch of an earlier session whose --batch named more roles.
        may_batch = (
            model.role in self._settings.batch and model.route.base_url not in self._urls_without_batches
        )
        if len(together) < LEAST_CALLS or not may_batch:
            return [*items], []
        if model.is_at_token_limit:
            return alone, []
        if self._settings.max_cost is not None and self._most_cost(model, together[0]) is None:
            # Send one call by itself: the length of its reply gives a bound on the cost of the others.
            return [*alone, together[0]], []
        return alone, together

    def _most_cost(self, model: BatchModel, item: WaitingCall) -> int | None:
        """The most that a call may cost in a batch, in nano-dollars; None if there is no bound."""
        return self._access.budget.most_cost(item.call, model.route.model_index, model.route.cost_in_batch)

    async def _send(self, model: BatchModel, items: Sequence[WaitingCall]) -> bool:
        """Send the calls that the budget allows, in as few batches as possible; the others keep waiting.

        Returns whether the budget allowed any.
        """
        left = self._affordable(model, items)
        is_any = bool(left)
        while left and not self._waiting.stopping.is_set():
            batch, content = self._next_batch(model, left)
            left = left[len(batch) :]
            if not await self._submit(self._intend(model, batch), model, batch, content):
                break
        return is_any

    def _affordable(self, model: BatchModel, items: Sequence[WaitingCall]) -> list[WaitingCall]:
        """The first of these calls that the budget allows."""
        calls, dollars = self._access.budget.remaining()
        fitting: list[WaitingCall] = []
        for item in items[:calls]:
            if dollars is not None:
                dollars -= self._most_cost(model, item) or 0
                if dollars < 0:
                    break
            fitting.append(item)
        return fitting

    def _next_batch(self, model: BatchModel, items: Sequence[WaitingCall]) -> tuple[list[WaitingCall], bytes]:
        """The first calls, as many as one batch takes, and the content of their file.

        The calls are divided evenly, so that the last batch is not much smaller than the others.
        """
        batch_count = math.ceil(len(items) / model.most_lines)
        taken: list[WaitingCall] = []
        content = io.BytesIO()
        for item in items[: math.ceil(len(items) / batch_count)]:
            line = self._waiting.request_line(item)
            if taken and content.tell() + len(line) > MOST_BYTES:
                break
            taken.append(item)
            content.write(line)
        return taken, content.getvalue()

    def _intend(self, model: BatchModel, items: Sequence[WaitingCall]) -> SentBatch:
        """Write the intent of a batch to disk before its calls are sent. Raises CannotKeep."""
        history, has_limit = items[0].history, self._settings.max_cost is not None
        log = self._waiting.logs[history]
        path, _ = self._access.client.batch_request(items[0].call)
        line = IntentLine(
            intent=new_id(),
            role=model.role,
            model=model.name,
            endpoint=public_url(model.route.base_url),
            path=path,
            **log.credential(credential(self._settings, model.role)),
            reserved=sum(self._most_cost(model, item) or 0 for item in items) if has_limit else 0,
            calls=tuple(item.custom_id for item in items),
        )
        log.append(line)
        return self._add(history, log.by_id[line.intent])

    async def _submit(
        self, sent: SentBatch, model: BatchModel, items: Sequence[WaitingCall], content: bytes
    ) -> bool:
        """Upload calls and create their batch. Returns whether further batches may be sent."""
        self.is_sending = True
        try:
            await sent.create(content)
        except BatchFailed as error:
            sent.end(f"not created: {error}")
            self._handle_rejection(model, error, len(items))
            return False
        finally:
            self.is_sending = False
        self._waiting.commit(sent.intent.reserved_per_call * len(items))
        self._access.counters.send_batch(len(items))
        for item in items:
            self._waiting.put(item, sent.intent)
        return True

    def _handle_rejection(self, model: BatchModel, error: BatchFailed, calls: int) -> None:
        """Handle a rejected batch: avoid batches, make them smaller, or end the session."""
        url = model.route.base_url
        if error.is_unsupported:
            self._notify_of_single_calls(model.name, public_url(url), f" ({error})")
            self._urls_without_batches.add(url)
        elif error.is_too_large and calls > LEAST_CALLS:
            model.halve(calls)
        else:
            advice = "; top up the account" if error.failure.is_out_of_balance else ""
            raise UserError(
                f"{model.role} {model.name!r}: no batch of {calls:,} calls: {error}{advice}{resumes(error)}"
            )

    def _notify_of_single_calls(self, model: str, endpoint: str, why: str) -> None:
        """Notify the user, once for each model, that its endpoint does not support batches."""
        if model not in self._models_notified:
            self._models_notified.add(model)
            self._access.counters.notify(
                f"{model}: {endpoint} has no batches{why}: its calls are made one by one, at their usual "
                "price"
            )

    # Polling.

    async def _await_batch(self) -> bool:
        """Wait until a batch has ended, and deliver its replies.

        Returns False if none has ended after the seconds of --batch-wait, which count from the first wait of
        the session; True if one has, or if the session is ending.
        """
        if self._deadline is None:
            self._deadline = time.monotonic() + self._settings.batch_wait
        while not self._waiting.stopping.is_set():
            is_read = False
            for sent in self._readable:
                is_read |= await self._read_if_ended(sent)
                if self._waiting.stopping.is_set():
                    return True
            left = self._deadline - time.monotonic()
            if is_read or left <= 0 or not self._readable:
                return is_read
            with suppress(TimeoutError):
                await asyncio.wait_for(self._waiting.stopping.wait(), min(self._poll, left))
            self._poll = min(LONGEST_POLL, 1.5 * self._poll)
        return True

    @property
    def _awaited(self) -> list[SentBatch]:
        """The batches that calls wait for."""
        return [
            self._sent[name]
            for name in dict.fromkeys(item.intent.id for item in self._waiting if item.intent)
        ]

    @property
    def _readable(self) -> list[SentBatch]:
        """The open batches, without those whose results cannot be read in this session."""
        return [sent for sent in self._awaited if not sent.unreadable]

    async def _read_if_ended(self, sent: SentBatch) -> bool:
        """Request the status of a batch, and deliver its replies if it has ended.

        Returns whether runs can continue: the batch has ended and answers calls, or was never created.
        """
        try:
            if sent.intent.state == "creating":
                await sent.find()
            batch = await sent.poll()
            if batch is None or not batch.is_over:
                return False
            self._poll = FIRST_POLL
            self._model_of(sent).is_at_token_limit = False
            if batch.has_failed:
                self._handle_failed_batch(sent, batch)
                return True
            if not batch.files and not batch.has_no_more(0):
                sent.status = f"{batch.status}, but no file of its results is named yet"
                return False
            return await self._reader.read(sent, batch)
        except NotCreated:
            self._release(sent, "not created")
            return True
        except BatchFailed as error:
            sent.status = str(error)
            if not error.failure.is_transient:
                raise UserError(sent.failed_message(error)) from None
            return False

    def _handle_failed_batch(self, sent: SentBatch, batch: Batch) -> None:
        """Handle a batch that failed as a whole, before any of its calls was made.

        If that is because too many tokens are enqueued, its calls are sent again in smaller batches;
        otherwise the session ends.
        """
        why = batch.problem or "the endpoint does not say why"
        released = self._release(sent, f"failed: {why}")
        if TOO_MANY_TOKENS not in batch.code or len(sent.calls) <= LEAST_CALLS or not released:
            where = f"{sent.intent.line.endpoint}: batch {batch.id}"
            raise UserError(
                printable(f"{where} failed, and none of its calls was made: {why}{RESUMES_MENDED}")
            )
        model = self._model_of(sent)
        model.halve(len(released))
        # Until one of the open batches has ended, no further batch would be accepted.
        model.is_at_token_limit = bool(self._awaited)

    def _release(self, sent: SentBatch, why: str) -> list[WaitingCall]:
        """Have the calls of a batch sent again because it will not answer them, and return these calls."""
        sent.end(why)
        self._waiting.commit(-sent.intent.reserved_per_call * len(sent.calls))
        released = self._waiting.calls_in(sent.intent)
        for item in released:
            self._waiting.put(item, None)
        return released

    def mark_read(self) -> None:
        """Record the end of batches whose replies are all in the journal, so none is requested again."""
        self._reader.mark_read()

    # Messages.

    def messages(self) -> Iterator[str]:
        """A message for each endpoint with unread batches."""
        by_url: defaultdict[str, list[SentBatch]] = defaultdict(list)
        for sent in self._sent.values():
            if sent.intent.may_have_batch and sent.unreadable:
                yield printable(sent.unreadable_message())
            elif sent.intent.may_have_batch:
                by_url[sent.intent.line.endpoint].append(sent)
        for url, batches in by_url.items():
            yield printable(_waiting_message(url, batches))


def _waiting_message(url: str, batches: Sequence[SentBatch]) -> str:
    calls, number = sum(sent.unread_calls for sent in batches), len(batches)
    named = first_few([sent.describe() for sent in batches], MOST_SHOWN)
    ends = [sent.intent.expires for sent in batches if sent.intent.expires]
    when = f"by {datetime.fromtimestamp(min(ends)).astimezone():%Y-%m-%d %H:%M}" if ends else "within a day"
    what = "1 batch" if number == 1 else f"{number} batches"
    return f"{calls:,} calls wait in {what} at {url} ({named}); run the same command again {when}"


def credential(settings: Settings, role: Role) -> str:
    """The credential of a role's batches: the API key, and the headers that name the organization."""
    endpoint = settings.endpoint(role)
    headers = settings.header_values if endpoint.takes_environment else ()
    return "\0".join((endpoint.api_key, *headers))
