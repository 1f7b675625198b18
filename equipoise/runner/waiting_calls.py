"""The type of calls that wait for a batch: WaitingCall."""

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
