"""Whole sessions on an endpoint that takes few calls at once: how many it is given, and what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from conftest import Bench
from fates import calls, finish, outcomes, write_dataset
from loopback import Answer, Loopback, error, plain_script

Workers = tuple[str, str]
PLACES, CEILING = 8, "64"
"""What the endpoint takes at once, and what the user allows: the first level is a quarter of that."""
QUESTIONS = tuple(f"Is {number} a number?" for number in range(1, 121))
ASKED = 2 * len(QUESTIONS)
BEGINNING = 60
"""So many requests come before the level must have been found."""


class Rationed(Loopback):
    """Refuses at once what comes while all its places are taken; counts both."""

    def __init__(self, status: int) -> None:
        super().__init__(self._say, delay=0.05)
        self.in_flight_on_arrival: list[int] = []
        self.taken_on_arrival: list[int] = []
        self.refused = 0
        self._refusal = error(status, "Slow down.")
        self._taken = 0

    def _say(self, body: dict[str, Any], number: int) -> str:
        self.in_flight_on_arrival.append(self.in_flight)
        return plain_script(body, number)

    async def _respond(
        self, request: web.Request, answer: Answer | str, *, is_held: bool = True
    ) -> web.StreamResponse:
        self.taken_on_arrival.append(self._taken)
        if self._taken >= PLACES:
            self.refused += 1
            return web.json_response(self._refusal.body, status=self._refusal.status)
        self._taken += 1
        try:
            return await super()._respond(request, answer, is_held=is_held)
        finally:
            self._taken -= 1


Start = Callable[[int], Bench]


@pytest.fixture
def rationed(tmp_path: Path) -> Iterator[Start]:
    """Begins an endpoint that refuses with a status, and makes a folder to run sessions against it."""
    servers: list[Rationed] = []

    def start(status: int) -> Bench:
        servers.append(Rationed(status))
        bench = Bench(tmp_path, servers[0].__enter__())
        write_dataset(bench, QUESTIONS)
        return bench

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.mark.parametrize(
    "is_quiet",
    [pytest.param(False, marks=pytest.mark.slow), pytest.param(True, marks=pytest.mark.nightly)],
    ids=["any-machine", "quiet-machine"],
)
def test_an_endpoint_is_given_about_as_many_calls_as_it_takes(
    rationed: Start, workers: Workers, is_quiet: bool
) -> None:
    """Too many at first; then what it takes and hardly more, by all processes together; nothing is lost."""
    status = 429 if workers[1] == "0" else 503
    bench = rationed(status)
    server = bench.server
    assert isinstance(server, Rationed)
    finish(bench, *workers, "--concurrency", CEILING, status=0)

    assert list(outcomes(bench).values()) == ["scored"] * len(QUESTIONS)
    assert len(server.requests) == ASKED + server.refused
    retries = {"retries": server.refused, "repeated": 0}
    assert calls(bench) == {"made": ASKED, "replayed": 0, "failed": 0, **retries}
    assert max(server.in_flight_on_arrival) > PLACES
    assert 0 < server.refused < len(server.requests) / 5
    limits = bench.results()["metadata"]["limits"]
    assert limits["refused"] == server.refused
    assert limits["lowest"] <= PLACES < limits["highest"]
    assert [move for move in limits["moves"] if move["after"] <= move["before"] // 2]
    assert {move["status"] for move in limits["moves"]} == {status}
    assert len(limits["moves"]) + limits["moves_left_out"] == limits["cuts"] <= server.refused
    if is_quiet:
        afterwards = sorted(server.in_flight_on_arrival[BEGINNING:])
        # A busy machine may now and then see calls arrive together that were sent one after the other.
        assert afterwards[len(afterwards) * 19 // 20] <= PLACES + 4
        assert afterwards[-1] < 2 * PLACES
        # Having been halved, the calls come back to all places.
        assert max(server.taken_on_arrival[-ASKED // 2 :]) >= PLACES - 1
        assert PLACES / 2 <= limits["last"][0] <= PLACES + 4
