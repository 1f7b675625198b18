"""The calls that wait for batches."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from equipoise.core.types import Call, Reply
from equipoise.models.failures import Failure
from equipoise.results.history import History
from equipoise.results.intents import Intent

UNANSWERED = Failure(message="the batch has no answer to this call")


@dataclass(eq=False, slots=True, kw_only=True)
class WaitingCall:
    """A call that waits, by its custom_id; `intent` is that of the batch that it is part of.

    `tries` counts the batches in which it failed; `is_alone` says that it is to be made by itself.
    """

    name: str
    call: Call
    history: History
    future: asyncio.Future[Reply | None]
    intent: Intent | None = None
    tries: int = 0
    is_alone: bool = False

    def answer(self, reply: Reply | None) -> None:
        """Let its run continue with the reply, or with None, which has the call made by itself."""
        if not self.future.done():
            self.future.set_result(reply)

    def fail(self, error: BaseException) -> None:
        """Raise an error where its run waits."""
        if not self.future.done():
            self.future.set_exception(error)
