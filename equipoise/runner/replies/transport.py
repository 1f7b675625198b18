"""The transport of replies that exist already, which answers the calls of the subject."""

from __future__ import annotations

from abc import abstractmethod

from equipoise.core.types import Call, Reply
from equipoise.runner.transport import Answered, Live, Request


class FromFile(Live):
    """Answers each call with a reply in a file."""

    @abstractmethod
    def reply(self, run: str, call: Call, digest: str) -> Reply:
        """The reply to a call of a run, whose request has this hash. Raises CallFailed."""

    async def answer(self, request: Request) -> Answered:
        """The reply in the file; no subject is ever called."""
        return Answered(reply=self.reply(request.run, request.call, request.digest), is_given=True)
