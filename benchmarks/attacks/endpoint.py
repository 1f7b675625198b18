"""An endpoint that sends any bytes at any moment, and what a client of ours makes of it.

The part of the path before `/v1` names the behaviour, so that it is known before a body has come.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from fakes import FakeSlot

from attacks.tally import Harm, Tally
from equipoise.core.errors import CallFailed
from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Message, Reply
from equipoise.models import retry
from equipoise.models.client import Client
from equipoise.models.redact import Secrets
from loopback import Threaded, completion

KEY = "sk-planted-attack-Zq81Xw52Kt"
TIMEOUT = 1.0
RETRIES = 1
MOST_BODY = 4 * 2**20
_IDS = count()
LONGEST = 20.0
"""Seconds that one attack may take, on a machine that has other work."""


class Line:
    """One request, its head read, and the connection to answer it on. `number` counts those of its name."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str, name: str, number: int
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.head = head
        self.name = name
        self.number = number
        self._is_read = False

    async def body(self) -> dict[str, Any]:
        """The body of the request."""
        self._is_read = True
        length = int(self.head.lower().partition("content-length:")[2].partition("\r\n")[0] or 0)
        content = await self.reader.readexactly(length)
        return dict(json.loads(content)) if content else {}

    async def send(self, *pieces: bytes, pause: float = 0.0) -> None:
        """Send these, after the body has come, with a pause between them."""
        if not self._is_read:
            await self.body()
        for number, piece in enumerate(pieces):
            await asyncio.sleep(pause if number else 0)
            self.writer.write(piece)
            await self.writer.drain()

    def close(self) -> None:
        """Close the connection in an orderly way."""
        self.writer.close()

    def reset(self) -> None:
        """Tear the connection down."""
        found = self.writer.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Behaviour = Callable[[Line], Awaitable[None]]


class RawEndpoint(Threaded):
    """Answers by the behaviour that the path names; by none of them, with the name itself."""

    def __init__(self, behaviours: Mapping[str, Behaviour], *, host: str = "127.0.0.1") -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.heads: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.host = host
        self._behaviours = dict(behaviours)

    def behave(self, behaviours: Mapping[str, Behaviour]) -> None:
        """Take on more behaviours."""
        self._behaviours |= behaviours

    def base_url(self, name: str) -> str:
        """Where this behaviour is met."""
        return f"http://{self.host}:{self.port}/{name}/v1"

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, self.host, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # What is left of a request that nobody has read is no request.
        no_request = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, ValueError)
        with suppress(*no_request, OSError, asyncio.CancelledError):
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                name = head.split(" ", 2)[1].split("/")[1]
                self.heads.append(head)
                # Models are listed for a message about a name that is not there.
                self.asked[name] += head.startswith("POST ")
                line = Line(reader, writer, head, name, self.asked[name])
                await self._behaviours.get(name, plainly)(line)
        writer.close()


def response(
    body: bytes | str,
    status: str = "200 OK",
    *,
    kind: str | None = "application/json",
    headers: str = "",
    length: int | str | None = None,
) -> bytes:
    """A response as bytes; `length` is what it says of itself, `headers` end in a line break each."""
    content = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    typed = "" if kind is None else f"Content-Type: {kind}\r\n"
    said = len(content) if length is None else length
    head = f"HTTP/1.1 {status}\r\n{typed}Content-Length: {said}\r\n{headers}\r\n"
    return head.encode("latin-1") + content


def answering(text: str) -> bytes:
    """An ordinary response that says this, with an id of its own."""
    return response(json.dumps({**completion(text), "id": f"chatcmpl-{next(_IDS)}"}))


async def plainly(line: Line) -> None:
    """An ordinary answer: the name that was asked for."""
    await line.send(answering(line.name))


def client_of(endpoint: RawEndpoint) -> Client:
    """A client whose models are the behaviours of the endpoint."""
    return Client(
        lambda role, model: Endpoint(base_url=endpoint.base_url(model), api_key=KEY),
        max_retries=RETRIES,
        timeout=TIMEOUT,
        secrets=Secrets([KEY]),
        max_body=MOST_BODY,
    )


async def ask(client: Client, name: str, slot: FakeSlot | None = None) -> Reply | CallFailed:
    """The reply of the behaviour, or why there is none; any other exception is a defect."""
    messages = (Message(role="user", content=name),)
    call = Call(role="subject", model=name, messages=messages, parameters={})
    try:
        return await client.complete(call, slot or FakeSlot())
    except CallFailed as failed:
        return failed


Expected = Callable[[Reply | CallFailed], bool]


def failed(found: Reply | CallFailed) -> bool:
    """No reply, and a message of one short printable line without the key."""
    if isinstance(found, Reply):
        return False
    said = str(found)
    return bool(said) and len(said) < 1500 and said.isprintable() and KEY not in said


def blocked(found: Reply | CallFailed) -> bool:
    """A filter has refused or cut it."""
    return isinstance(found, Reply) and found.blocked is not None


def says(text: str) -> Expected:
    """A reply with exactly this text."""
    return lambda found: isinstance(found, Reply) and found.text == text and found.blocked is None


def one_of(*expected: Expected) -> Expected:
    """Any of these."""
    return lambda found: any(is_met(found) for is_met in expected)


async def strike(
    client: Client, endpoint: RawEndpoint, name: str, expected: Expected, harm: Harm, most: int
) -> None:
    """Ask for a behaviour beside ordinary calls on the same client, which must get their own replies."""
    plain = [f"{name}-plain-{number}" for number in range(3)]
    started = time.monotonic()
    found, *ordinary = await asyncio.gather(ask(client, name), ask(client, plain[0]))
    ordinary += [await ask(client, text) for text in plain[1:]]
    _judge(found, expected, harm)
    for text, answer in zip(plain, ordinary, strict=True):
        harm.changed += isinstance(answer, Reply) and answer.text != text
        harm.lost += isinstance(answer, CallFailed)
        harm.twice += endpoint.asked[text] - 1
    harm.expect(endpoint.asked[name] <= most, f"asked {endpoint.asked[name]} times")
    harm.expect(time.monotonic() - started < LONGEST, f"took more than {LONGEST:g} s")


async def strike_all(
    tally: Tally,
    endpoint: RawEndpoint,
    attacks: Iterable[tuple[str, Expected]],
    *,
    at_once: int = 1,
    most: int = 1 + RETRIES,
) -> None:
    """Every one of these behaviours on one client, so many at the same time."""
    client = client_of(endpoint)
    room = asyncio.Semaphore(at_once)

    async def strike_one(name: str, expected: Expected) -> None:
        async with room:
            with tally.attack(name) as harm:
                await strike(client, endpoint, name, expected, harm, most)

    with retry.testing():
        try:
            await asyncio.gather(*(strike_one(name, expected) for name, expected in attacks))
        finally:
            await client.close()


def _judge(found: Reply | CallFailed, expected: Expected, harm: Harm) -> None:
    if expected(found):
        usage = found.usage if isinstance(found, Reply) else None
        harm.expect(usage is None or min(usage.input, usage.output, usage.cached) >= 0, "negative tokens")
        return
    harm.expect(False, f"{found!r}"[:500] if isinstance(found, Reply) else f"failed: {found}"[:500])
    if isinstance(found, CallFailed):
        harm.lost += 1
    else:
        harm.changed += 1
