"""A raw HTTP endpoint that answers some calls twice, as a proxy does that has sent a request on two times."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from itertools import count
from types import MappingProxyType
from typing import Any

from loopback import Script, Threaded, completion, plain_script


class StrayServer(Threaded):
    """Answers each call after `delay` seconds, and some of them, by their numbers from 1, twice.

    A call in `twice` is answered again so many seconds later, whatever else goes over its connection by then.
    A call in `late` is answered again while a later one on its connection waits: the one so many behind it.
    A call in `early` gets another answer before its body has been read, 0.3 s before its own, with the status
    `early_status`. Without `has_ids` all answers have the same id.
    """

    def __init__(
        self,
        twice: Mapping[int, float] = MappingProxyType({}),
        *,
        delay: float = 0.005,
        late: Mapping[int, int] = MappingProxyType({}),
        early: Collection[int] = (),
        early_status: str = "200 OK",
        has_ids: bool = True,
        script: Script = plain_script,
    ) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self._twice = twice
        self._late = late
        self._early = early
        self._early_status = early_status
        self._has_ids = has_ids
        self._delay = delay
        self._script = script
        self._heads = 0

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        copies: dict[int, bytes] = {}
        try:
            for turn in count():
                body = await self._body(reader, writer)
                writer.write(copies.pop(turn, b""))
                number, response = await self._answer(body)
                writer.write(response)
                if number in self._twice:
                    self._loop.call_later(self._twice[number], writer.write, response)
                if number in self._late:
                    copies[turn + self._late[number]] = response
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _body(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> dict[str, Any]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        self._heads += 1
        if self._heads in self._early:
            writer.write(_response(completion("The answer to something else."), self._early_status))
            await asyncio.sleep(0.3)
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        return dict(json.loads(await reader.readexactly(length)))

    async def _answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        """The number of a call, and its answer."""
        self.requests.append(body)
        number = len(self.requests)
        await asyncio.sleep(self._delay)
        answer = completion(str(self._script(body, number - 1)))
        return number, _response({**answer, "id": f"chatcmpl-{number}"} if self._has_ids else answer)


def _response(answer: dict[str, Any], status: str = "200 OK") -> bytes:
    content = json.dumps(answer).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content
