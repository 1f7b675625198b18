"""How an endpoint of a certain capacity fares under the adaptive limit, in simulated time."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import pytest

from equipoise.models.rate_limit import AdaptiveLimit

Refusal = Literal["at once", "after the latency"]
LATENCIES = (0.05, 1.0)
REFUSALS: tuple[Refusal, ...] = ("at once", "after the latency")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`utilisation` is the share of the endpoint's capacity that was used, from the first call to the last.

    `refused` is the share of all attempts. `history` has time, calls that are being served, and limit.
    """

    utilisation: float
    refused: float
    seconds: float
    history: Sequence[tuple[float, int, int]]

    def served(self, since: float) -> float:
        """The mean number of calls that were being served from then on."""
        steps = zip(self.history, self.history[1:], strict=False)
        spans = [(later[0] - now[0], now[1]) for now, later in steps if now[0] >= since]
        return sum(length * calls for length, calls in spans) / sum(length for length, _ in spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Serves so many calls at once, each in `latency` seconds, more or less, and refuses the rest.

    `changes` are times at which the capacity becomes another; `chance` is the share of calls that it refuses
    for no reason, `errors` that of server errors for none. With `fails` it has server errors in place of
    refusals.
    """

    capacity: int = 39
    latency: float = 0.05
    jitter: float = 0.0
    refusal: Refusal = "at once"
    chance: float = 0.0
    changes: tuple[tuple[float, int], ...] = ()
    fails: bool = False
    errors: float = 0.0


class Simulation:
    """So many calls to an endpoint, each tried again 0.25 to 0.5 s after it was refused or failed.

    What happens at the same moment happens in the order in which it was brought about.
    """

    def __init__(self, endpoint: Endpoint, *, ceiling: int, calls: int = 1500, seed: int = 0) -> None:
        self._endpoint = endpoint
        self._dice = random.Random(seed)  # noqa: S311 - not a secret
        self._capacity = endpoint.capacity
        self.limit = AdaptiveLimit(ceiling)
        self._waiting = list(range(calls))
        self._events: list[tuple[float, int, str, int, int]] = []
        self._planned = self._serving = self._attempts = self._refused = 0
        self._now = 0.0
        self._left = calls
        for moment, capacity in endpoint.changes:
            self._plan(moment, "change", capacity)

    def run(self) -> Outcome:
        """Let time pass until every call is answered."""
        taken = offered = 0.0
        history = []
        self._admit()
        while self._left:
            moment, _, kind, number, cuts = heapq.heappop(self._events)
            taken += self._serving * (moment - self._now)
            offered += self._capacity * (moment - self._now)
            self._now = moment
            self._happen(kind, number, cuts)
            self._admit()
            history.append((moment, self._serving, self.limit.limit))
        return Outcome(
            utilisation=taken / offered,
            refused=self._refused / self._attempts,
            seconds=self._now,
            history=history,
        )

    def _plan(self, moment: float, kind: str, number: int, cuts: int = 0) -> None:
        self._planned += 1
        heapq.heappush(self._events, (moment, self._planned, kind, number, cuts))

    def _happen(self, kind: str, number: int, cuts: int) -> None:
        if kind == "change":
            self._capacity = number
        elif kind == "answered":
            self._serving -= 1
            self._left -= 1
            self.limit.succeed(number)
        elif kind == "refused":
            self.limit.refuse(cuts)
            self._again(number)
        elif kind == "failed":
            self.limit.fail(cuts, number)
            self._again(number)
        else:
            heapq.heappush(self._waiting, number)

    def _again(self, number: int) -> None:
        self._plan(self._now + self._dice.uniform(0.25, 0.5), "again", number)

    def _admit(self) -> None:
        while self._waiting and self.limit.has_room:
            self._send(heapq.heappop(self._waiting), self.limit.begin())

    def _send(self, call: int, cuts: int) -> None:
        self._attempts += 1
        endpoint = self._endpoint
        takes = endpoint.latency * (1 + self._dice.uniform(-endpoint.jitter, endpoint.jitter))
        is_error = self._dice.random() < endpoint.errors
        if not is_error and self._serving < self._capacity and self._dice.random() >= endpoint.chance:
            self._serving += 1
            self._plan(self._now + takes, "answered", call, cuts)
        else:
            self._refused += 1
            kind = "failed" if is_error or endpoint.fails else "refused"
            self._plan(self._now + takes * (endpoint.refusal != "at once"), kind, call, cuts)


def test_an_endpoint_that_refuses_is_used_well_all_the_same(subtests: pytest.Subtests) -> None:
    """Few calls are sent in vain, to one for 39, and to one for 12 that has server errors beyond that."""
    done = Simulation(Endpoint(latency=1.0, jitter=0.3), ceiling=64, calls=500).run()
    assert done.utilisation >= 0.8
    assert 0 < done.refused <= 0.05
    for refusal, most in zip(REFUSALS, (0.05, 0.15), strict=True):
        with subtests.test(refusal=refusal):
            endpoint = Endpoint(capacity=12, latency=1.0, jitter=0.3, refusal=refusal, fails=True)
            simulation = Simulation(endpoint, ceiling=32, calls=144)
            done = simulation.run()
            assert done.utilisation >= 0.85
            assert 0 < done.refused <= most
            assert simulation.limit.limit <= 13


def test_server_errors_at_random_do_not_lower_the_limit(subtests: pytest.Subtests) -> None:
    """In a hundred calls about three."""
    endpoint = Endpoint(capacity=1000, latency=1.0, jitter=0.3, errors=0.03)
    for seed in range(3):
        with subtests.test(seed=seed):
            simulation = Simulation(endpoint, ceiling=64, calls=2000, seed=seed)
            simulation.run()
            assert (simulation.limit.cuts, simulation.limit.limit) == (0, 64)


@pytest.mark.slow
def test_an_endpoint_is_used_well_and_seldom_refuses(subtests: pytest.Subtests) -> None:
    """At most 2 % of calls, 3 % where refusals take time or are server errors; 90 % of it is used."""
    for latency, refusal, fails, jitter, ceiling, seed in product(
        LATENCIES, REFUSALS, (False, True), (0.0, 0.3), (64, 256), range(3)
    ):
        endpoint = Endpoint(latency=latency, refusal=refusal, fails=fails, jitter=jitter)
        with subtests.test(endpoint=endpoint, ceiling=ceiling, seed=seed):
            done = Simulation(endpoint, ceiling=ceiling, seed=seed).run()
            assert done.utilisation >= 0.9
            assert done.refused <= (0.02 if refusal == "at once" and not fails else 0.03)


@pytest.mark.slow
def test_an_endpoint_that_is_never_full_never_refuses(subtests: pytest.Subtests) -> None:
    """The ceiling is reached and kept, or the three calls that it takes, and hardly ever four."""
    for latency in LATENCIES:
        with subtests.test(latency=latency):
            done = Simulation(Endpoint(latency=latency, jitter=0.3), ceiling=32).run()
            assert done.refused == 0
            assert max(serving for _, serving, _ in done.history) == 32
            assert done.seconds < 1.25 * 1500 / 32 * latency
            endpoint = Endpoint(capacity=3, latency=latency, jitter=0.3)
            done = Simulation(endpoint, ceiling=64, calls=300).run()
            assert done.utilisation >= 0.9
            assert done.refused < 0.08


@pytest.mark.slow
def test_what_changes_is_followed(subtests: pytest.Subtests) -> None:
    """From 39 to 15, and to 60; refusals by chance leave dozens in flight."""
    for refusal, fails in product(REFUSALS, (False, True)):
        with subtests.test(refusal=refusal, fails=fails):
            changes: tuple[tuple[float, int], ...] = ((15.0, 15),)
            endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, fails=fails, changes=changes)
            done = Simulation(endpoint, ceiling=256, calls=1000).run()
            assert done.refused < (0.07 if fails else 0.05)
            assert all(limit <= 18 for moment, _, limit in done.history if moment > 25)
            assert done.served(25.0) > 0.8 * 15
    for refusal in REFUSALS:
        with subtests.test("and back", refusal=refusal):
            changes = ((10.0, 15), (40.0, 60))
            endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, changes=changes)
            done = Simulation(endpoint, ceiling=256, calls=3000).run()
            assert done.refused < 0.03
            assert done.served(80.0) > 0.75 * 60
    for seed in range(3):
        with subtests.test("chance", seed=seed):
            endpoint = Endpoint(capacity=10_000, latency=1.0, jitter=0.3, chance=0.02)
            done = Simulation(endpoint, ceiling=256, calls=3000, seed=seed).run()
            assert done.served(0.0) >= 20
