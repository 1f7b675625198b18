"""Answers to whoever asks, in turn, without an endpoint."""

from __future__ import annotations

import asyncio
from typing import Any

from equipoise.core.types import Call, Reply

Answer = Reply | BaseException | str


class FakeAsk:
    """Gives out these answers in turn, the last one from then on, and keeps every call."""

    def __init__(self, *answers: Answer, delay: float = 0.0) -> None:
        self.calls: list[Call] = []
        self.finished = 0
        self._answers = [Reply(text=answer) if isinstance(answer, str) else answer for answer in answers]
        self._delay = delay

    async def __call__(self, call: Call) -> Reply:
        """Keep the call, wait, answer."""
        answer = self._answers[min(len(self.calls), len(self._answers) - 1)]
        self.calls.append(call)
        await asyncio.sleep(self._delay)
        self.finished += 1
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def call(self) -> Call:
        """The one call that there was."""
        (call,) = self.calls
        return call

    @property
    def rooms(self) -> list[Any]:
        """How many tokens each call allowed."""
        return [call.parameters["max_tokens"] for call in self.calls]
