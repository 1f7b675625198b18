"""A model without an endpoint, which says what it was told to say and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import Any, Self

from equipoise.core.types import Call, Reply
from equipoise.models.failures import Failure

Answer = Reply | BaseException | str
"""A text stands for the reply that has it; an exception is raised."""


class FakeModel:
    """Gives these answers in turn, the last one from then on, each after `delay` seconds.

    `history` has every call in order, `finished` counts those that were answered or failed.
    """

    def __init__(self, *answers: Answer, delay: float = 0.0) -> None:
        self.history: list[Call] = []
        self.finished = 0
        self._answers: deque[Reply | BaseException] = deque()
        self._delay = delay
        self.enqueue(*answers)

    def enqueue(self, *answers: Answer) -> Self:
        """Say these next, once all that was told before has been said."""
        self._answers += [Reply(text=answer) if isinstance(answer, str) else answer for answer in answers]
        return self

    async def __call__(self, call: Call) -> Reply:
        """Keep the call, wait, answer."""
        self.history.append(call)
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(self._delay)
        self.finished += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def call(self) -> Call:
        """The one call that there was."""
        (call,) = self.history
        return call

    @property
    def rooms(self) -> list[Any]:
        """How many tokens each call allowed; None where it set no limit."""
        return [call.parameters.get("max_tokens") for call in self.history]


class FreeSlot:
    """Leave for any number of attempts."""

    async def __aenter__(self) -> None:
        """Come in."""

    def succeed(self, reply: Reply) -> None:
        """Take note."""

    def fail(self, failure: Failure) -> None:
        """Take note."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Go out."""
