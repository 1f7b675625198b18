"""A raw HTTP endpoint that answers some calls twice, as a proxy does that has sent a request on two times."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from typing import Any

from loopback import Script, Threaded, completion, plain_script


class StrayServer(Threaded):
    """Answers each call after `delay` seconds, and those numbered in `twice` (from 1) again `apart` later.

    The second answer is written whatever else goes over that connection by then. With `early` the answer to
    each call whose number is in it is written before the body of the call has been read.
    """

    def __init__(
        self,
        twice: Collection[int] = (),
        *,
        apart: float = 0.05,
        delay: float = 0.005,
        early: Collection[int] = (),
        script: Script = plain_script,
    ) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self._twice = twice
        self._early = early
        self._apart = apart
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
        try:
            while True:
                await self._exchange(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        self._heads += 1
        if self._heads in self._early:
            writer.write(_response("The answer to something else."))
            await asyncio.sleep(self._apart)
        length = int(head.partition("content-length:")[2].partition("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        number = len(self.requests)
        self.requests.append(body)
        await asyncio.sleep(self._delay)
        response = _response(str(self._script(body, number)))
        writer.write(response)
        if number + 1 in self._twice:
            self._loop.call_later(self._apart, writer.write, response)


def _response(text: str) -> bytes:
    content = json.dumps(completion(text)).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content
