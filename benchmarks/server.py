"""A fast loopback endpoint with a fixed latency, in a process of its own.

    python benchmarks/server.py LATENCY_SECONDS [--at-most N] [--scripted stubborn|recovering]

Prints its port, and answers every chat completion after the latency. GET /stats returns when the first call
came, the number of calls and the peak of calls in flight. Ends when its standard input closes. With --at-most
it refuses calls beyond N in flight, without delay, and /stats has the call-seconds in use. With --scripted
the replies are those of scripted.py; an evaluator with an invalid verdict repeats it (stubborn), or gives a
valid verdict when the error is returned to it (recovering).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import time
from collections.abc import Callable
from functools import partial

import scripted

VERDICT = {"reasoning": "Balanced and accurate. " * 8, "refused": False, "score": 4}
REPLY = "A balanced answer that names its sources. " * 40
STATS = {"first": 0.0, "last": 0.0, "calls": 0, "in_flight": 0, "peak": 0, "refused": 0, "used": 0.0}


def _completion(text: str) -> bytes:
    body = {
        "id": scripted.ID,
        "object": "chat.completion",
        "model": "bench-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 300, "total_tokens": 700},
    }
    return _response(json.dumps(body).encode())


def _response(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


JUDGED, GRADED, ANSWERED = _completion(json.dumps(VERDICT)), _completion("A"), _completion(REPLY)
ID = scripted.ID.encode()
ERROR = json.dumps({"error": {"message": "Rate limit reached."}}).encode()
REFUSED = _response(ERROR, "429 Error")


def _plain(body: bytes) -> bytes:
    """The same response to every call of a role, but for the names of facts in a verdict."""
    if b'"judge"' in body:
        return _with_facts(body) if b'"facts"' in body else JUDGED
    return GRADED if b'"grader"' in body else ANSWERED


def _with_facts(body: bytes) -> bytes:
    """The verdict with all facts that the schema of the call requires."""
    schema = json.loads(body)["response_format"]["json_schema"]["schema"]
    facts = dict.fromkeys(schema["properties"]["facts"]["required"], "left_out")
    return _completion(json.dumps({**VERDICT, "facts": facts}))


def _scripted(body: bytes, *, recovers: bool) -> bytes:
    status, answer = scripted.answer(json.loads(body), recovers=recovers)
    return _response(json.dumps(answer).encode(), "200 OK" if status == 200 else f"{status} Error")


def _count_in_flight(change: int) -> None:
    """Record in STATS that a call came (1) or was answered (-1)."""
    now = time.time()
    STATS["first"] = STATS["first"] or now
    STATS["used"] += STATS["in_flight"] * (now - (STATS["last"] or now))
    STATS["last"] = now
    STATS["in_flight"] += change
    STATS["peak"] = max(STATS["peak"], STATS["in_flight"])


class Connection(asyncio.Protocol):
    """One kept-alive connection: just enough HTTP to be fast."""

    def __init__(self, latency: float, limit: float, script: Callable[[bytes], bytes]) -> None:
        self.latency = latency
        self.limit = limit
        self.script = script
        self.pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every complete request."""
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
        STATS["calls"] += 1
        if STATS["in_flight"] >= self.limit:
            STATS["refused"] += 1
            self.transport.write(REFUSED)
            return
        _count_in_flight(1)
        answer = self.script(body).replace(ID, b"chatcmpl-%08d" % STATS["calls"])
        asyncio.get_running_loop().call_later(self.latency, self._send, answer)

    def _send(self, answer: bytes) -> None:
        _count_in_flight(-1)
        self.transport.write(answer)


async def main(latency: float, limit: float, script: Callable[[bytes], bytes]) -> None:
    """Serve until standard input closes; `limit` is the maximum of calls in flight."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: Connection(latency, limit, script), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("latency", type=float)
    parser.add_argument("--at-most", type=int, default=math.inf)
    parser.add_argument("--scripted", choices=["stubborn", "recovering"])
    arguments = parser.parse_args()
    replies = _plain
    if arguments.scripted:
        replies = partial(_scripted, recovers=arguments.scripted == "recovering")
    asyncio.run(main(arguments.latency, arguments.at_most, replies))
