"""The transport of replies that exist already: the subject's calls are answered by a file, others live or in
batches.
"""

from __future__ import annotations

from typing import Protocol

from equipoise.core.types import Call, Reply
from equipoise.results.history import History
from equipoise.runner.transport import Answered, Request, Transport


class SubjectReplies(Protocol):
    """The subject's replies in a file."""

    def has(self, run: str) -> bool:
        """Whether a run of this id is to be judged."""

    def reply(self, run: str, call: Call, digest: str) -> Reply:
        """The reply to a call of a run, whose request has this hash. Raises CallFailed."""


class FromFile(Transport):
    """Answers the subject's calls with `replies`, and leaves those of evaluators to another transport."""

    def __init__(self, replies: SubjectReplies, others: Transport) -> None:
        self._replies = replies
        self._others = others

    @property
    def is_suspended(self) -> bool:
        """Whether the other transport is."""
        return self._others.is_suspended

    @property
    def is_sending(self) -> bool:
        """Whether the other transport is."""
        return self._others.is_sending

    def open(self, history: History) -> None:
        """Open the other transport."""
        self._others.open(history)

    async def answer(self, request: Request) -> Answered:
        """The reply in the file; no subject is ever called."""
        if request.call.role != "subject":
            return await self._others.answer(request)
        reply = self._replies.reply(request.run, request.call, request.digest)
        return Answered(reply=reply, is_given=True)

    def messages(self) -> list[str]:
        """The messages of the other transport."""
        return self._others.messages()

    def stop(self) -> None:
        """Stop the other transport."""
        self._others.stop()

    async def close(self) -> None:
        """Close the other transport."""
        await self._others.close()
