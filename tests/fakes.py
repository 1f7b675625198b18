"""A model without an endpoint, and what tests of the client share: calls through one, and a rude server."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Self

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Reply, Role, Token
from equipoise.models.failures import Failure
from equipoise.models.redact import Secrets

Answer = Reply | BaseException | str
"""A text stands for the reply that has it; an exception is raised."""


class FakeModel:
    """Gives these answers in turn, the last one from then on, each after `delay` seconds.

    With `by_text` it gives the answer to the first of the texts that the last message contains. It gives a
    text back with the log-probability that `echoes` has for its ending, and declines to without one.
    `history` has every call in order, `finished` counts those that were answered or failed.
    """

    def __init__(
        self, *answers: Answer, delay: float = 0.0, by_text: Mapping[str, Answer] | None = None
    ) -> None:
        self.history: list[Call] = []
        self.finished = 0
        self.echoes: dict[str, float] = {}
        self._by_text = by_text or {}
        self._answers: deque[Reply | BaseException] = deque()
        self._delay = delay
        self.enqueue(*answers)

    def enqueue(self, *answers: Answer) -> Self:
        """Say these next, once all that was told before has been said."""
        self._answers += [Reply(text=answer) if isinstance(answer, str) else answer for answer in answers]
        return self

    async def __call__(self, call: Call) -> Reply:
        """Keep the call, wait, answer."""
        if "echo" in call.parameters:
            return self._echo(call)
        self.history.append(call)
        answer = self._next(call)
        await asyncio.sleep(self._delay)
        self.finished += 1
        if isinstance(answer, BaseException):
            raise answer
        return Reply(text=answer) if isinstance(answer, str) else answer

    def _next(self, call: Call) -> Answer:
        if self._by_text:
            prompt = call.messages[-1]["content"]
            return next(answer for text, answer in self._by_text.items() if text in prompt)
        return self._answers.popleft() if len(self._answers) > 1 else self._answers[0]

    def _echo(self, call: Call) -> Reply:
        if not self.echoes:
            raise CallFailed("no probabilities", is_declined=True)
        self.history.append(call)
        text = call.messages[0]["content"]
        ending = text.rpartition(":")[2].strip()
        tokens = (Token(text=":", top={}), Token(text=ending, top={ending: self.echoes[ending]}))
        return Reply(text=text, tokens=tokens)

    @property
    def asked(self) -> list[str]:
        """The last message of each call."""
        return [call.messages[-1]["content"] for call in self.history]

    @property
    def call(self) -> Call:
        """The one call that there was."""
        (call,) = self.history
        return call

    @property
    def rooms(self) -> list[Any]:
        """How many tokens each call allowed; None where it set no limit."""
        return [call.parameters.get("max_tokens") for call in self.history]


class FakeSlot:
    """Leave for any number of attempts; keeps who is inside and what it was told."""

    def __init__(self) -> None:
        self.held = 0
        self.taken = 0
        self.replies: list[Reply] = []
        self.failures: list[Failure] = []
        self.errors: list[BaseException | None] = []

    async def __aenter__(self) -> None:
        self.held += 1
        self.taken += 1

    def succeed(self, reply: Reply) -> None:
        """Keep the reply."""
        assert self.held
        self.replies.append(reply)

    def fail(self, failure: Failure) -> None:
        """Keep the failure."""
        assert self.held
        self.failures.append(failure)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.held -= 1
        self.errors.append(error)


def complete(
    endpoint: Callable[[Role, str], Endpoint],
    *calls: Call,
    slot: Any = None,
    at_once: int = 1,
    **options: Any,
) -> list[Reply | CallFailed]:
    """What one client makes of these calls, so many at a time; it does not retry if not told."""
    # The client takes long to import, which most users of this module do without.
    from equipoise.models.client import Client

    async def session() -> list[Reply | CallFailed]:
        client = Client(endpoint, **{"max_retries": 0, "timeout": 10, "secrets": Secrets([]), **options})
        turns = asyncio.Semaphore(at_once)

        async def answer(call: Call) -> Reply | CallFailed:
            async with turns:
                try:
                    return await client.complete(call, slot or FakeSlot())
                except CallFailed as failed:
                    return failed

        try:
            return await asyncio.gather(*map(answer, calls))
        finally:
            await client.close()

    return asyncio.run(session())


async def settle() -> None:
    """Let every task that can run come to its next wait."""
    for _ in range(10):
        await asyncio.sleep(0)


@contextmanager
def rude_server(*pieces: bytes) -> Iterator[str]:
    """The base URL of a server that says exactly this to its first caller, bit by bit, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(0.02 if len(pieces) > 1 else 0)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(5)
