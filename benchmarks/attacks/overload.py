"""Sessions whose endpoint has server errors while it is asked too much at once, or for one prompt always."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web

from attacks.sessions import bed
from attacks.tally import Harm, Size, Tally
from conftest import is_orderly
from loopback import Answer, Loopback, error, plain_script, question_of

CAPACITY, CEILING = 12, 32
QUESTIONS = 72
CALLS = 2 * QUESTIONS
LATENCY = 0.1
MOST = 1.3
"""So many requests a call are acceptable."""
STATUSES = (500, 502, 503)
BAD = "Question number 7?"


class Overloaded(Loopback):
    """Has a server error for what comes while it is full, at once or after a while; and for BAD always."""

    def __init__(self, status: int, *, capacity: int, is_quick: bool, is_bad: bool) -> None:
        super().__init__(plain_script)
        self.answered = self._served = 0
        self._status = status
        self._capacity = capacity
        self._is_quick = is_quick
        self._is_bad = is_bad

    async def _respond(
        self, request: web.Request, answer: Answer | str, *, is_held: bool = True
    ) -> web.StreamResponse:
        # Whether the model answers at all is asked before there is any load.
        if not is_held:
            return await super()._respond(request, answer, is_held=False)
        is_full = self._served >= self._capacity
        if is_full or (self._is_bad and question_of(await request.json()) == BAD):
            await asyncio.sleep(0 if is_full and self._is_quick else LATENCY)
            return await super()._respond(request, error(self._status, "Something went wrong."))
        self._served += 1
        try:
            await asyncio.sleep(LATENCY)
            self.answered += 1
            return await super()._respond(request, answer)
        finally:
            self._served -= 1


def attack(size: Size) -> Tally:
    """Every call is answered in the end, with few requests more than calls; one bad prompt slows no other."""
    tally = Tally("overload by 5xx")
    for status in STATUSES:
        for is_quick in (True, False) if size.is_full else (True,):
            with tally.attack(f"{status}, {'at once' if is_quick else 'after a while'}") as harm:
                data = _session(Overloaded(status, capacity=CAPACITY, is_quick=is_quick, is_bad=False), harm)
                harm.lost += QUESTIONS - _scored(data)
                harm.expect(data["metadata"]["limits"]["lowest"] <= CAPACITY, "the limit was not lowered")
    with tally.attack("one prompt") as harm:
        data = _session(Overloaded(500, capacity=CALLS, is_quick=True, is_bad=True), harm, status=1)
        harm.lost += QUESTIONS - 1 - _scored(data)
        harm.expect(data["metadata"]["limits"]["cuts"] == 0, f"{data['metadata']['limits']}")
    return tally


def _session(server: Overloaded, harm: Harm, *, status: int = 0) -> dict[str, Any]:
    """The results of a session of which every question is asked once."""
    with bed() as bench, server:
        bench.server = server
        bench.write_topics({"aa.txt": "".join(f"Question number {n}?\n" for n in range(QUESTIONS))})
        done = bench.run("--runs", "1", "--concurrency", str(CEILING), "-n", "0")
        output = done.stdout + done.stderr
        harm.expect(is_orderly(output) and done.returncode == status, f"{done.returncode}: {output[-900:]}")
        sent = len(server.requests)
        harm.expect(sent <= MOST * CALLS, f"{sent} requests for {CALLS} calls")
        harm.twice += max(0, server.answered - CALLS)
        return bench.results()


def _scored(data: dict[str, Any]) -> int:
    return json.dumps(data["results"]).count('"outcome": "scored"')
