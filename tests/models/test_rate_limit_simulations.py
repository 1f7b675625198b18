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
    for no reason.
    """

    capacity: int = 39
    latency: float = 0.05
    jitter: float = 0.0
    refusal: Refusal = "at once"
    chance: float = 0.0
    changes: tuple[tuple[float, int], ...] = ()


class Simulation:
    """So many calls to an endpoint, each tried again 0.25 to 0.5 s after it was refused.

    What happens at the same moment happens in the order in which it was brought about.
    """

    def __init__(self, endpoint: Endpoint, *, ceiling: int, calls: int = 1500, seed: int = 0) -> None:
        self._endpoint = endpoint
        self._dice = random.Random(seed)  # noqa: S311 - not a secret
        self._capacity = endpoint.capacity
        self._limit = AdaptiveLimit(ceiling)
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
            history.append((moment, self._serving, self._limit.limit))
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
            self._limit.succeed()
        elif kind == "refused":
            self._limit.refuse(cuts)
            self._plan(self._now + self._dice.uniform(0.25, 0.5), "again", number)
        else:
            heapq.heappush(self._waiting, number)

    def _admit(self) -> None:
        while self._waiting and self._limit.has_room:
            self._send(heapq.heappop(self._waiting), self._limit.begin())

    def _send(self, call: int, cuts: int) -> None:
        self._attempts += 1
        endpoint = self._endpoint
        takes = endpoint.latency * (1 + self._dice.uniform(-endpoint.jitter, endpoint.jitter))
        if self._serving < self._capacity and self._dice.random() >= endpoint.chance:
            self._serving += 1
            self._plan(self._now + takes, "answered", call, cuts)
        else:
            self._refused += 1
            self._plan(self._now + takes * (endpoint.refusal != "at once"), "refused", call, cuts)


def test_an_endpoint_that_refuses_is_used_well_all_the_same() -> None:
    """Of 500 calls to an endpoint for 39, few are refused while nearly all of its capacity is used."""
    done = Simulation(Endpoint(latency=1.0, jitter=0.3), ceiling=64, calls=500).run()
    assert done.utilisation >= 0.8
    assert 0 < done.refused <= 0.05


@pytest.mark.slow
def test_an_endpoint_is_used_well_and_seldom_refuses(subtests: pytest.Subtests) -> None:
    """Of 1,500 calls to an endpoint for 39, at most 2 % are refused while 90 % of its capacity is used.

    At most 3 % where it takes its time to refuse.
    """
    for latency, refusal, jitter, ceiling, seed in product(
        LATENCIES, REFUSALS, (0.0, 0.3), (64, 256), range(3)
    ):
        endpoint = Endpoint(latency=latency, refusal=refusal, jitter=jitter)
        with subtests.test(endpoint=endpoint, ceiling=ceiling, seed=seed):
            done = Simulation(endpoint, ceiling=ceiling, seed=seed).run()
            assert done.utilisation >= 0.9
            assert done.refused <= (0.02 if refusal == "at once" else 0.03)


@pytest.mark.slow
def test_an_endpoint_that_takes_all_that_is_allowed_never_refuses(subtests: pytest.Subtests) -> None:
    """Where the ceiling is what limits, it is reached within some rounds and kept."""
    for latency in LATENCIES:
        with subtests.test(latency=latency):
            done = Simulation(Endpoint(latency=latency, jitter=0.3), ceiling=32).run()
            assert done.refused == 0
            assert max(serving for _, serving, _ in done.history) == 32
            assert done.seconds < 1.25 * 1500 / 32 * latency


@pytest.mark.slow
def test_an_endpoint_that_takes_less_than_before_gets_less(subtests: pytest.Subtests) -> None:
    """From 39 to 15: soon no more than that are sent, few are refused, and its capacity stays used."""
    for refusal in REFUSALS:
        with subtests.test(refusal=refusal):
            endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, changes=((15.0, 15),))
            done = Simulation(endpoint, ceiling=256, calls=1000).run()
            assert done.refused < 0.05
            assert all(limit <= 18 for moment, _, limit in done.history if moment > 25)
            assert done.served(25.0) > 0.8 * 15


@pytest.mark.slow
def test_an_endpoint_that_takes_next_to_nothing_is_not_hammered(subtests: pytest.Subtests) -> None:
    """Three calls at once are kept in flight, and hardly ever four."""
    for latency in LATENCIES:
        with subtests.test(latency=latency):
            endpoint = Endpoint(capacity=3, latency=latency, jitter=0.3)
            done = Simulation(endpoint, ceiling=64, calls=300).run()
            assert done.utilisation >= 0.9
            assert done.refused < 0.08


@pytest.mark.slow
def test_an_endpoint_that_refuses_at_random_is_not_given_up(subtests: pytest.Subtests) -> None:
    """One refusal in fifty that has nothing to do with the number of calls leaves dozens in flight."""
    for seed in range(3):
        with subtests.test(seed=seed):
            endpoint = Endpoint(capacity=10_000, latency=1.0, jitter=0.3, chance=0.02)
            done = Simulation(endpoint, ceiling=256, calls=3000, seed=seed).run()
            assert done.served(0.0) >= 20


@pytest.mark.slow
def test_an_endpoint_that_takes_more_again_gets_more(subtests: pytest.Subtests) -> None:
    """From 39 to 15 and then to 60: what comes back is found, though a probe was refused in between."""
    for refusal in REFUSALS:
        with subtests.test(refusal=refusal):
            changes = ((10.0, 15), (40.0, 60))
            endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, changes=changes)
            done = Simulation(endpoint, ceiling=256, calls=3000).run()
            assert done.refused < 0.03
            assert done.served(80.0) > 0.75 * 60
