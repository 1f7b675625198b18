"""How a call is answered: live, in a batch, or from a file. Callers know only this protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from equipoise.core.types import JSON, Call, Reply
from equipoise.results.history import History

WAITING = "waiting for batch"
"""The reason that is shown for a run that is skipped because its calls wait for a later session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A call of a run to be answered.

    `digest` is the hash of what the call asks for. `history` is the history of the journal that the reply is
    written to. `send` sends the call by itself, with retries, within the limits of session and run. It raises
    CallFailed or SessionStopped.
    """

    run: str
    call: Call
    digest: str
    history: History
    send: Callable[[], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The reply to a call. `custom_id` is the call's id in its batch, if it was answered in one.

    `is_given` says that no model was called: the reply is in a file.
    """

    reply: Reply
    custom_id: str | None = None
    is_given: bool = False


class Transport(Protocol):
    """Answers the calls of a session.

    `answer`, `stop` and `close` are called on the engine's event loop, the other methods in other threads,
    too.
    """

    @property
    def is_suspended(self) -> bool:
        """Whether every unfinished run waits for replies that only a later session can read."""
        return False

    @property
    def is_sending(self) -> bool:
        """Whether calls that no single run waits for alone are being sent, such as a batch."""
        return False

    def open(self, history: History) -> None:
        """Prepare for calls whose replies go to this journal."""

    async def answer(self, request: Request) -> Answered:
        """Answer a call. Raises CallFailed, SessionStopped or BatchWaiting."""

    def messages(self) -> list[str]:
        """Messages for the user about calls that are left to a later session."""
        return []

    def stop(self) -> None:
        """Send nothing more: the session is ending."""

    async def close(self) -> None:
        """End everything that was begun."""


class SubjectReplies(Transport, Protocol):
    """A transport that has the subject's replies already: the subject is not called."""

    def has(self, run: str) -> bool:
        """Whether a run of this id is to be judged."""

    def reference(self) -> Mapping[str, JSON]:
        """The metadata of results that say where the replies come from."""

    def check(self, suite: str, data_hash: str, cues_hash: str | None) -> None:
        """Raise UserError if the replies are to another suite, to other questions, or to other cues.

        Cues are the sentences of --asker that say who asks; `cues_hash` is None without it.
        """


class Live(Transport):
    """Sends each call by itself."""

    def open(self, history: History) -> None:
        """Do nothing: calls that are sent by themselves need no preparation."""

    async def answer(self, request: Request) -> Answered:
        """Send the call, and return the reply."""
        return Answered(reply=await request.send())

    def stop(self) -> None:
        """Do nothing: the session's rate limiter stops calls."""

    async def close(self) -> None:
        """Do nothing: calls in flight end with their runs."""
