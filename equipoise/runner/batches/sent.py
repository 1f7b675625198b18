"""One batch at an endpoint: its creation, its state, the lines of its results, and messages about it.

Before a batch is created, its intent with its calls is on disk, so these calls are never sent twice. An error
that the user must decide about is a UserError, which ends the session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.models.budget import RESUMES, RESUMES_MENDED
from equipoise.results.history import History
from equipoise.runner.batches.endpoint import Batch, BatchEndpoint, BatchFailed, shown_id
from equipoise.runner.batches.intents import (
    CreatedLine,
    CreatingLine,
    Intent,
    Intents,
    OverLine,
    UploadedLine,
)

LOOKUP_SECONDS = 5.0
"""Seconds after the request to create a batch during which the endpoint's list may not yet have it."""
MOST_CREATIONS = 3
"""The number of attempts to create a batch."""
MOST_REASON = 100
"""The limit on the characters that messages quote of an endpoint's reason: what to do follows it."""
GONE_STATUSES = frozenset({404, 410})
"""HTTP statuses of an endpoint that no longer has a batch or a file."""


class NotCreated(Exception):  # noqa: N818 - it is a finding, not an error
    """The endpoint has no batch of an intent."""


@dataclass(eq=False, slots=True)
class SentBatch:
    """A batch that this session or an earlier one has sent, or may have sent.

    `status` is the progress that the endpoint last reported, or the reason why it reports none. `unreadable`
    says why calls have no readable answer; results with such calls are not read again in the session.
    """

    history: History
    log: Intents
    intent: Intent
    endpoint: BatchEndpoint
    status: str = ""
    unreadable: str = ""

    @property
    def name(self) -> str:
        """The endpoint and the id of the batch."""
        return f"{self.intent.line.endpoint}: batch {shown_id(self.intent.batch)}"

    @property
    def calls(self) -> Sequence[str]:
        """The custom_ids of the batch's calls."""
        return self.intent.line.calls

    @property
    def unread_calls(self) -> int:
        """The number of the batch's calls whose replies are not in the journal."""
        return sum(call not in self.history.batched for call in self.calls)

    # Creating.

    async def create(self, content: bytes) -> None:
        """Upload the calls, one per line of `content`, and create their batch.

        The file is uploaded again if the endpoint has lost it. If the answer to the creation is lost, the
        endpoint's list of batches says whether to try again. Raises BatchFailed if there is no batch, and
        UserError if it is unknown whether there is one.
        """
        for attempt in range(1, MOST_CREATIONS + 1):
            intent, is_last = self.intent, attempt == MOST_CREATIONS
            if not intent.file:
                file = await self.endpoint.upload(content, f"equipoise-{intent.id}.jsonl")
                self.log.append(UploadedLine(intent=intent.id, file=file))
            self.log.append(CreatingLine(intent=intent.id))
            try:
                self._record(await self.endpoint.create(intent.file, intent.line.path, intent.id))
                return
            except BatchFailed as error:
                if error.is_missing_file and not is_last:
                    intent.file = ""
                    continue
                if not error.is_in_doubt:
                    raise
                try:
                    await self.find()
                    return
                except NotCreated:
                    if is_last:
                        raise error from None

    async def find(self) -> None:
        """Search the endpoint's list for the batch, whose creation may have succeeded.

        Raises NotCreated if the batch is not in the list, and UserError if the list cannot be read.
        """
        began = datetime.fromisoformat(self.intent.began).timestamp()
        while True:
            # A negative time means that the clock was set back: then the list is requested only once.
            is_last = not 0 <= time.time() - began < LOOKUP_SECONDS
            try:
                batch = await self.endpoint.find(self.intent.file, self.intent.id)
            except BatchFailed as error:
                raise UserError(self._doubt_message(error)) from None
            if batch is not None:
                self._record(batch)
                return
            if is_last:
                raise NotCreated
            await asyncio.sleep(LOOKUP_SECONDS / 5)

    def _record(self, batch: Batch) -> None:
        self._note_progress(batch)
        self.log.append(CreatedLine(intent=self.intent.id, batch=batch.id, expires=batch.expires))

    def end(self, status: str, **counts: int) -> None:
        """Record that the batch is over, or that there is none."""
        self.log.append(OverLine(intent=self.intent.id, status=status[:500], counts=counts))

    # Polling.

    async def poll(self) -> Batch | None:
        """The batch at this moment; None if another one has its id. Raises BatchFailed."""
        batch = await self.endpoint.get(self.intent.batch)
        self._note_progress(batch)
        if batch.is_of(self.intent.id, self.intent.file):
            return batch
        self.unreadable = f"it is another batch: that of the file {shown_id(batch.input_file)}"
        return None

    async def lines(self, batch: Batch) -> AsyncGenerator[bytes]:
        """The lines of the batch's results. Raises BatchFailed."""
        for file in batch.files:
            async with aclosing(self.endpoint.lines(file)) as lines:
                async for data in lines:
                    yield data

    def _note_progress(self, batch: Batch) -> None:
        total = batch.total or len(self.calls)
        self.status = f"{batch.status}, {batch.done + batch.failed} of {total} done"

    # Messages.

    def describe(self) -> str:
        """The batch's id, and its progress."""
        name, status = shown_id(self.intent.batch) or "not yet found", self.status[:MOST_REASON]
        return f"{name}: {status}" if status else name

    def unreadable_message(self) -> str:
        """What to do about results that cannot be read."""
        return (
            f"{self.name}: {self.unread_calls:,} calls have no answer that can be read "
            f"({self.unreadable[:MOST_REASON]}); they may have been paid for, so they are not sent again. "
            f"The same command reads them again; to send them: {self._settle} --none, or --batch ID for "
            "another batch"
        )

    def failed_message(self, error: BatchFailed) -> str:
        """What to do if the batch or its results cannot be read for good."""
        if error.failure.status not in GONE_STATUSES:
            return f"{self.name}: {error}{resumes(error)}"
        return (
            f"{self.name} of {len(self.calls):,} calls, or its results, cannot be read any more "
            f"({str(error)[:MOST_REASON]}); the calls may have been paid for, so they are not sent again; to "
            f"send them, run: {self._settle} --none"
        )

    def _doubt_message(self, error: BatchFailed) -> str:
        return (
            f"{self.intent.line.endpoint}: a batch of {len(self.calls):,} calls may have been "
            "created, but the answer was lost, and the list of batches cannot be read "
            f"({str(error)[:MOST_REASON]}); look there for a batch of the file {shown_id(self.intent.file)}, "
            f"then run: {self._settle} --batch ID, or --none if there is none"
        )

    @property
    def _settle(self) -> str:
        return f"equipoise batch settle {shown(self.log.path)} {self.intent.id}"


def resumes(error: BatchFailed) -> str:
    """How to go on after a failure that ends the session."""
    return RESUMES_MENDED if error.failure.is_mistake else RESUMES
