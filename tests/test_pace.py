"""How many calls an endpoint is given at once: rule by rule, and against endpoints that are simulated."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import pytest

from equipoise.pace import CELLS, FIRST_PATIENCE, SLOWLY, START, STEP, Cut, Pace, Shared


def together(most: int, processes: int) -> list[Pace]:
    """The paces of processes that share an endpoint."""
    shared = Shared(cells=[0] * CELLS, flights=[0] * processes, wishes=[0] * processes)
    return [Pace(most, shared, number) for number in range(processes)]


def fill(pace: Pace) -> int:
    """Begin as many calls as there is room for; how many are in flight then."""
    while pace.has_room:
        pace.begin()
    return pace.in_flight


def answer(pace: Pace, calls: int) -> None:
    """So many calls are answered, one after the other, with as many in flight as there may be."""
    for _ in range(calls):
        fill(pace)
        pace.succeed()
    fill(pace)


def refused_at(calls: int, most: int = 64) -> tuple[Pace, Cut]:
    """A pace that has grown to so many calls in flight and was then refused one for the first time."""
    pace = Pace(most)
    while fill(pace) < calls:
        answer(pace, 1)
    cut = pace.refuse(0)
    assert cut is not None
    return pace, cut


def settled_at(calls: int, most: int = 64) -> Pace:
    """A pace that knows that so many calls are borne, and is back at that level."""
    pace, cut = refused_at(calls + 1, most)
    while pace.level < cut.borne:
        answer(pace, 1)
    assert pace.level == fill(pace) == calls
    return pace


def answers_until_a_try(pace: Pace) -> int:
    """How many answers it takes until the level goes up."""
    before = pace.level
    for number in range(1, 100_000):
        answer(pace, 1)
        if pace.level > before:
            return number
    raise AssertionError("it does not go up")


# Growing.


@pytest.mark.parametrize(("most", "first"), [(1, 1), (2, 1), (4, 1), (5, 2), (64, 16), (256, 64)])
def test_the_first_level_is_a_fraction_of_what_is_allowed(most: int, first: int) -> None:
    """A quarter, rounded up: many endpoints take far less than a user allows."""
    pace = Pace(most)
    assert START == 4
    assert (pace.level, pace.limit, fill(pace)) == (first, first, first)
    assert (pace.lowest, pace.highest, pace.refused) == (first, first, 0)


def test_the_level_grows_with_the_answers_up_to_what_is_allowed() -> None:
    """By one for every few answers, so by a third with every round, and never above the user's limit."""
    pace = Pace(64)
    answer(pace, 10 * SLOWLY)
    assert (pace.level, pace.in_flight) == (26, 26)
    answer(pace, 1000)
    assert (pace.level, pace.in_flight, pace.highest, pace.lowest) == (64, 64, 64, 16)


def test_answers_without_need_for_more_do_not_raise_the_level() -> None:
    """Where fewer calls are made than may be, nothing is learnt of how many more the endpoint would take."""
    pace = Pace(64)
    for _ in range(1000):
        pace.begin()
        pace.succeed()
    assert (pace.level, pace.in_flight) == (16, 0)


def test_a_call_that_ends_otherwise_says_nothing() -> None:
    """A timeout or a fault of the request neither raises nor lowers the level."""
    pace = Pace(64)
    for _ in range(1000):
        fill(pace)
        pace.end()
    assert (pace.level, pace.in_flight, pace.refused) == (16, 15, 0)


# Refusals.


def test_a_refusal_halves_the_level() -> None:
    """Of 40 calls the first is refused: at most 20 from now on, though 39 were borne."""
    pace, cut = refused_at(40)
    assert cut == Cut(before=40, after=20, borne=39)
    assert (pace.level, pace.in_flight, pace.refused, pace.lowest) == (20, 39, 1, 16)
    for _ in range(20):
        assert not pace.has_room
        pace.end()
    assert pace.has_room


def test_calls_that_were_in_flight_together_halve_it_once() -> None:
    """Of 40 calls ten are refused: the level goes to 20, and comes back to the 30 that were borne."""
    pace, _ = refused_at(40)
    assert [pace.refuse(0) for _ in range(9)] == [None] * 9
    assert (pace.level, pace.refused) == (20, 10)
    answer(pace, 30)
    assert (pace.level, pace.in_flight) == (30, 30)
    answer(pace, 100)
    assert pace.level == 30


def test_where_most_are_refused_the_level_follows() -> None:
    """Half of what was tried may still be more than what was borne."""
    pace = Pace(256)
    assert fill(pace) == 64
    cuts = [pace.refuse(0) for _ in range(60)]
    assert cuts[0] == Cut(before=64, after=32, borne=63)
    assert (pace.level, pace.in_flight, pace.lowest) == (4, 4, 4)


def test_the_level_is_halved_from_what_was_in_flight() -> None:
    """A level that was not used is no measure: three were too many."""
    pace = Pace(64)
    eras = [pace.begin() for _ in range(3)]
    assert pace.refuse(eras[0]) == Cut(before=16, after=1, borne=2)


def test_a_call_made_after_the_cut_halves_the_level_again() -> None:
    """What is refused although the level was halved already says that half is still too much."""
    pace, _ = refused_at(40)
    while not pace.has_room:
        pace.end()
    era = pace.begin()
    assert pace.refuse(era) == Cut(before=20, after=10, borne=19)


def test_a_refusal_from_long_ago_says_nothing_of_now() -> None:
    """A call that was in flight before the last cut but one no longer counts, but comes home."""
    pace, _ = refused_at(40)
    while not pace.has_room:
        pace.end()
    assert pace.refuse(pace.begin()) is not None
    level, in_flight = pace.level, pace.in_flight
    assert pace.refuse(0) is None
    assert (pace.level, pace.in_flight) == (level, in_flight - 1)
    answer(pace, 100)
    assert pace.level == 19


def test_the_level_is_never_below_one() -> None:
    """However often everything is refused, one call may always be tried."""
    pace = Pace(64)
    for _ in range(50):
        fill(pace)
        for _ in range(pace.in_flight):
            pace.refuse(pace.begin())
            pace.end()
    assert (pace.level, pace.lowest, pace.in_flight) == (1, 1, 0)
    assert pace.has_room


# Coming back, and trying for more.


def test_the_level_comes_back_with_every_answer() -> None:
    """From half of 40 it takes nineteen answers to the 39 that were borne, where it stays."""
    pace, _ = refused_at(40)
    levels = []
    for _ in range(25):
        answer(pace, 1)
        levels.append(pace.level)
    assert levels == [*range(21, 40), *[39] * 6]


def test_after_a_while_the_level_tries_for_a_tenth_more() -> None:
    """It stays at what was borne for so many rounds, and then takes one step."""
    pace = settled_at(39)
    assert answers_until_a_try(pace) == FIRST_PATIENCE * 39
    assert pace.level == fill(pace) == 39 + 39 // STEP


@pytest.mark.parametrize("calls", [5, 9, 12, 19])
def test_a_small_level_tries_for_one_more(calls: int) -> None:
    """Where a tenth is less than one call."""
    pace = settled_at(calls, most=20)
    answers_until_a_try(pace)
    assert pace.level == calls + 1


def test_a_try_that_is_refused_is_taken_back_and_put_off() -> None:
    """The level returns to what was borne before, and the next try comes later than the first."""
    pace = settled_at(39)
    first = answers_until_a_try(pace)
    era = pace.begin()
    assert pace.refuse(era) == Cut(before=42, after=21, borne=39)
    answer(pace, 25)
    assert pace.level == 39
    assert answers_until_a_try(pace) > 1.5 * first


def test_a_try_that_goes_well_is_followed_by_the_next_sooner() -> None:
    """An endpoint that takes more than it did is soon given all that it takes."""
    pace = settled_at(39, most=120)
    waits = [answers_until_a_try(pace) / 39]
    while pace.level < 100:
        level = pace.level
        waits.append(answers_until_a_try(pace) / level)
    assert waits[0] == FIRST_PATIENCE
    assert waits == sorted(waits, reverse=True)
    assert waits[-1] == 1
    assert sum(waits) < 4 * FIRST_PATIENCE


def test_tries_end_at_what_is_allowed() -> None:
    """The last step leads to the user's limit and not beyond."""
    pace = settled_at(39, most=41)
    answer(pace, 10_000)
    assert (pace.level, pace.highest) == (41, 41)


# Chance.


def test_one_refusal_among_many_answers_is_chance() -> None:
    """The level is halved, and comes back to where it was."""
    pace = settled_at(39)
    answer(pace, 100)
    assert pace.refuse(1) == Cut(before=39, after=19, borne=39)
    answer(pace, 30)
    assert pace.level == 39


def test_many_refusals_at_once_are_no_chance() -> None:
    """Where a quarter of those in flight are refused, it is because the endpoint takes fewer than before."""
    pace = settled_at(39)
    answer(pace, 100)
    for _ in range(10):
        pace.refuse(1)
    answer(pace, 60)
    assert pace.level == 29


# Several processes.


def test_every_process_with_calls_to_make_has_the_same_share() -> None:
    """The level is divided among those that have calls in flight or waiting, and all of it is given out."""
    paces = together(64, 3)
    for pace in paces:
        pace.wish(100)
    assert [pace.limit for pace in paces] == [6, 5, 5]
    paces[0].wish(0)
    assert [pace.limit for pace in paces[1:]] == [8, 8]
    paces[0].begin()
    assert [pace.limit for pace in paces] == [6, 5, 5]


def test_a_process_alone_with_calls_has_the_whole_level() -> None:
    """What others do not use is not kept for them."""
    first, *others = together(64, 8)
    assert fill(first) == 16
    assert not any(pace.has_room for pace in others)


def test_a_latecomer_gets_its_share_as_calls_come_home() -> None:
    """All processes together never have more in flight than the level, and soon as much each."""
    first, second = together(64, 2)
    fill(first)
    second.wish(100)
    for _ in range(16):
        assert (first.has_room, second.has_room) == (False, False)
        first.end()
        fill(second)
        assert first.in_flight + second.in_flight <= 16
        if second.limit == second.in_flight:
            break
    assert (fill(first), fill(second)) == (8, 8)


def test_processes_learn_from_each_others_refusals() -> None:
    """One cut is for all, whoever was refused, and the total in flight is what was too much."""
    first, second = together(64, 2)
    for pace in (first, second):
        pace.wish(100)
    fill(first)
    fill(second)
    assert first.refuse(0) == Cut(before=16, after=8, borne=15)
    assert second.refuse(0) is None
    assert (first.level, second.level, second.limit) == (8, 8, 4)
    assert (first.refused, second.refused) == (1, 1)
    answer(first, 8)
    assert second.level == 14


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_the_books_are_kept(seed: int) -> None:
    """Answers, refusals and other ends in any order leave every process with the flights it has.

    The level stays between one and what is allowed, and nobody begins a call beyond it.
    """
    dice = random.Random(seed)  # noqa: S311 - not a secret
    paces = together(50, 4)
    flights: list[list[int]] = [[] for _ in paces]
    for _ in range(20_000):
        number = dice.randrange(4)
        pace, eras = paces[number], flights[number]
        pace.wish(dice.randrange(3))
        kind = dice.random()
        if kind < 0.55 and pace.has_room:
            eras.append(pace.begin())
            assert sum(map(len, flights)) <= pace.level
        elif eras:
            era = eras.pop(dice.randrange(len(eras)))
            if kind < 0.6:
                pace.refuse(era)
            elif kind < 0.65:
                pace.end()
            else:
                pace.succeed()
        assert [pace.in_flight for pace in paces] == list(map(len, flights))
        assert all(1 <= pace.level <= 50 for pace in paces)


# Simulated endpoints.

Refusal = Literal["at once", "after the latency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`utilisation` is the share of the endpoint's places that were taken, from the first call to the last.

    `refused` is the share of all attempts. `history` has time, calls that are being served, and level.
    """

    utilisation: float
    refused: float
    seconds: float
    history: Sequence[tuple[float, int, int]]

    def served(self, since: float) -> float:
        """The mean number of calls that were being served from then on."""
        steps = [(now, later) for now, later in zip(self.history, self.history[1:], strict=False)]
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
    """Processes that call an endpoint, with as many calls to make each; the last one begins `late`.

    A call that is refused is tried again after 0.25 to 0.5 s. What happens at the same moment happens in
    the order in which it was brought about.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        ceiling: int,
        processes: int = 1,
        calls: int = 1500,
        late: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._endpoint = endpoint
        self._dice = random.Random(seed)  # noqa: S311 - not a secret
        self._capacity = endpoint.capacity
        self._paces = together(ceiling, processes)
        self._most = ceiling
        self._waiting = [list(range(number, calls, processes)) for number in range(processes)]
        self._looking: set[int] = set()
        self._events: list[tuple[float, int, str, int, int, int]] = []
        self._planned = self._serving = self._attempts = self._refused = 0
        self._now = 0.0
        self._left = calls
        for time, capacity in endpoint.changes:
            self._plan(time, "change", capacity)
        for number in range(processes - bool(late)):
            self._paces[number].wish(len(self._waiting[number]))
            self._plan(0.0, "look", number)
        if late:
            self._plan(late, "look", processes - 1)

    def run(self) -> Outcome:
        """Let time pass until every call is answered."""
        taken = offered = 0.0
        history = []
        while self._left:
            time, _, kind, number, call, era = heapq.heappop(self._events)
            taken += self._serving * (time - self._now)
            offered += self._capacity * (time - self._now)
            self._now = time
            if kind == "change":
                self._capacity = number
            else:
                self._come_home(kind, number, call, era)
                self._admit(number)
            history.append((time, self._serving, self._paces[0].level))
        return Outcome(
            utilisation=taken / offered,
            refused=self._refused / self._attempts,
            seconds=self._now,
            history=history,
        )

    def _plan(self, time: float, kind: str, number: int, call: int = 0, era: int = 0) -> None:
        self._planned += 1
        heapq.heappush(self._events, (time, self._planned, kind, number, call, era))

    def _come_home(self, kind: str, number: int, call: int, era: int) -> None:
        if kind == "answered":
            self._serving -= 1
            self._left -= 1
            self._paces[number].succeed()
        elif kind == "refused":
            self._paces[number].refuse(era)
            self._plan(self._now + self._dice.uniform(0.25, 0.5), "again", number, call)
        elif kind == "again":
            heapq.heappush(self._waiting[number], call)
        else:
            self._looking.discard(number)

    def _admit(self, number: int) -> None:
        pace, waiting = self._paces[number], self._waiting[number]
        pace.wish(len(waiting))
        while waiting and sum(item.in_flight for item in self._paces) < self._most and pace.has_room:
            self._send(number, heapq.heappop(waiting), pace.begin())
        pace.wish(len(waiting))
        # Where nothing of its own is in flight, a process looks now and then whether there is room.
        if waiting and not pace.in_flight and number not in self._looking:
            self._looking.add(number)
            self._plan(self._now + 0.05, "look", number)

    def _send(self, number: int, call: int, era: int) -> None:
        self._attempts += 1
        endpoint = self._endpoint
        takes = endpoint.latency * (1 + self._dice.uniform(-endpoint.jitter, endpoint.jitter))
        if self._serving < self._capacity and self._dice.random() >= endpoint.chance:
            self._serving += 1
            self._plan(self._now + takes, "answered", number, call, era)
        else:
            self._refused += 1
            self._plan(
                self._now + (0.0 if endpoint.refusal == "at once" else takes), "refused", number, call, era
            )


LATENCIES = (0.05, 1.0)
REFUSALS: tuple[Refusal, ...] = ("at once", "after the latency")
every_endpoint = pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param(
            Endpoint(latency=latency, jitter=jitter, refusal=refusal), id=f"{latency}s-{refusal}-{jitter}"
        )
        for latency, refusal, jitter in product(LATENCIES, REFUSALS, (0.0, 0.3))
    ],
)


@every_endpoint
@pytest.mark.parametrize("ceiling", [64, 256])
@pytest.mark.parametrize("processes", [1, 2])
def test_an_endpoint_is_used_well_and_seldom_refuses(
    endpoint: Endpoint, ceiling: int, processes: int
) -> None:
    """Of 1,500 calls to an endpoint for 39, under 3 % are refused while 85 % of its places are taken."""
    for seed in range(3):
        done = Simulation(endpoint, ceiling=ceiling, processes=processes, seed=seed).run()
        assert done.utilisation >= 0.85
        assert done.refused < 0.03


@every_endpoint
@pytest.mark.parametrize(("ceiling", "least"), [(64, 0.88), (256, 0.9)])
def test_eight_processes_share_an_endpoint(endpoint: Endpoint, ceiling: int, least: float) -> None:
    """Eight processes are as good: what one does not use the others do."""
    for seed in range(3):
        done = Simulation(endpoint, ceiling=ceiling, processes=8, seed=seed).run()
        assert done.utilisation >= least
        assert done.refused < 0.03


@pytest.mark.parametrize("processes", [1, 2, 8])
@pytest.mark.parametrize("latency", LATENCIES)
def test_an_endpoint_that_takes_all_that_is_allowed_never_refuses(processes: int, latency: float) -> None:
    """Where the ceiling is what limits, it is reached within some rounds and kept."""
    endpoint = Endpoint(latency=latency, jitter=0.3)
    done = Simulation(endpoint, ceiling=32, processes=processes).run()
    assert done.refused == 0
    assert max(serving for _, serving, _ in done.history) == 32
    assert done.seconds < 1.25 * 1500 / 32 * latency


@pytest.mark.parametrize("processes", [1, 2, 8])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_endpoint_that_takes_less_than_before_gets_less(processes: int, refusal: Refusal) -> None:
    """From 39 to 15: soon no more than that are sent, few are refused, and its places stay taken."""
    endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, changes=((15.0, 15),))
    done = Simulation(endpoint, ceiling=256, processes=processes, calls=1000).run()
    assert done.refused < 0.05
    assert all(level <= 18 for time, _, level in done.history if time > 25)
    assert done.served(25.0) > 0.8 * 15


@pytest.mark.parametrize("processes", [1, 2, 8])
@pytest.mark.parametrize("latency", LATENCIES)
def test_an_endpoint_that_takes_next_to_nothing_is_not_hammered(processes: int, latency: float) -> None:
    """Three places for up to eight processes: they wait for each other instead of being refused."""
    endpoint = Endpoint(capacity=3, latency=latency, jitter=0.3)
    done = Simulation(endpoint, ceiling=64, processes=processes, calls=300).run()
    assert done.utilisation >= 0.9
    assert done.refused < 0.08


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_process_that_begins_late_is_not_shut_out(refusal: Refusal) -> None:
    """Though another one has taken all places by then, both soon have the same, without many refusals."""
    endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal)
    done = Simulation(endpoint, ceiling=64, processes=2, late=10.0).run()
    assert done.utilisation >= 0.85
    assert done.refused < 0.03


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_an_endpoint_that_refuses_at_random_is_not_given_up(processes: int) -> None:
    """One refusal in fifty that has nothing to do with the number of calls leaves dozens in flight."""
    endpoint = Endpoint(capacity=10_000, latency=1.0, jitter=0.3, chance=0.02)
    for seed in range(3):
        done = Simulation(endpoint, ceiling=256, processes=processes, calls=3000, seed=seed).run()
        assert done.served(0.0) >= 20


@pytest.mark.parametrize("processes", [1, 2, 8])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_endpoint_that_takes_more_again_gets_more(processes: int, refusal: Refusal) -> None:
    """From 39 to 15 and then to 60: what comes back is found, though a try was refused in between."""
    endpoint = Endpoint(latency=1.0, jitter=0.3, refusal=refusal, changes=((10.0, 15), (40.0, 60)))
    done = Simulation(endpoint, ceiling=256, processes=processes, calls=3000).run()
    assert done.refused < 0.03
    assert done.served(80.0) > 0.75 * 60
