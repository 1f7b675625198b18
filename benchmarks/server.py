"""A fast loopback endpoint with a fixed latency, in a process of its own.

    python benchmarks/server.py LATENCY_SECONDS

prints its port, answers every chat completion after the latency, tells at GET /stats when the first call
came, how many came and how many were in flight at most, and ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

VERDICT = json.dumps({"reasoning": "Balanced and accurate. " * 8, "refused": False, "score": 4})
REPLY = "A balanced answer that names its sources. " * 40
STATS = {"first": 0.0, "calls": 0, "in_flight": 0, "peak": 0}


def _completion(text: str) -> bytes:
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": "bench-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 300, "total_tokens": 700},
    }
    return _response(json.dumps(body).encode())


def _response(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


JUDGED, ANSWERED = _completion(VERDICT), _completion(REPLY)


class Connection(asyncio.Protocol):
    """One kept-alive connection: just enough HTTP to be fast."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            head = self.pending[:end].lower()
            start = head.find(b"content-length:")
            length = int(head[start + 15 :].split(b"\r\n", 1)[0]) if start >= 0 else 0
            if len(self.pending) < end + 4 + length:
                return
            body = self.pending[end + 4 : end + 4 + length]
            self.pending = self.pending[end + 4 + length :]
            self._answer(head, body)

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"get"):
            self.transport.write(_response(json.dumps(STATS).encode()))
            return
        STATS["first"] = STATS["first"] or time.time()
        STATS["calls"] += 1
        STATS["in_flight"] += 1
        STATS["peak"] = max(STATS["peak"], STATS["in_flight"])
        answer = JUDGED if b'"judge"' in body[:200] else ANSWERED
        asyncio.get_running_loop().call_later(self.latency, self._send, answer)

    def _send(self, answer: bytes) -> None:
        STATS["in_flight"] -= 1
        self.transport.write(answer)


async def main(latency: float) -> None:
    """Serve until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
