"""Sessions that are killed, interrupted, left without room or doubled at any moment, and taken up again."""

from __future__ import annotations

import os
import random
import resource
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attacks.sessions import (
    ALL,
    CALLS,
    IN_FLIGHT,
    bed,
    calls,
    compare,
    ended,
    go_on,
    kill_group,
    records,
    wait_for,
)
from attacks.tally import Harm, Size, Tally
from conftest import Bench, is_orderly
from forked import Started

LAST = 0.5
"""Seconds behind the last record in which a session counts, writes and says goodbye."""
GOES_ON = ("run the same command again", "(complete)")
"""What a session says that was interrupted, or was done before it noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way of stopping a session, and how many calls may be asked again for it."""

    stop: Callable[[Started, random.Random], None]
    again: int
    is_told: bool = False
    """Whether the session has to say how to go on, and to end with status 2."""


def _signal_one(number: int, process: Started, dice: random.Random) -> None:
    process.send_signal(number)


def _signal_all(number: int, process: Started, dice: random.Random) -> None:
    kill_group(process, number)


def _twice(process: Started, dice: random.Random) -> None:
    kill_group(process, signal.SIGINT)
    time.sleep(dice.uniform(0, 0.2))
    kill_group(process, signal.SIGINT)


def _kill_worker(process: Started, dice: random.Random) -> None:
    """One of the processes of the group that is not the session's own."""
    others = [pid for pid in _group(process.pid) if pid != process.pid]
    with suppress(ProcessLookupError):
        os.kill(dice.choice(others) if others else process.pid, signal.SIGKILL)


def _group(leader: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if entry.read_text().rpartition(")")[2].split()[2] == str(leader):
                found.append(int(entry.parent.name))
    return found


WAYS: Mapping[str, Way] = {
    "kill -9 of everything": Way(stop=partial(_signal_all, signal.SIGKILL), again=IN_FLIGHT),
    "SIGINT": Way(stop=partial(_signal_all, signal.SIGINT), again=0, is_told=True),
    "SIGTERM": Way(stop=partial(_signal_one, signal.SIGTERM), again=0, is_told=True),
    "kill -9 of the session alone": Way(stop=partial(_signal_one, signal.SIGKILL), again=IN_FLIGHT),
    "kill -9 of a worker": Way(stop=_kill_worker, again=IN_FLIGHT),
    "SIGINT twice": Way(stop=_twice, again=IN_FLIGHT, is_told=True),
    "SIGTERM to all": Way(stop=partial(_signal_all, signal.SIGTERM), again=0, is_told=True),
}
SAMPLED = ("kill -9 of everything", "SIGINT", "SIGTERM")


def attack(size: Size) -> Tally:
    """Every way at random moments: as it begins, in the middle, and behind the last record."""
    tally = Tally("crashes")
    dice = size.dice("crashes")
    every = (_beginning, _middle, _middle, _middle, _end, _end)
    for number, name in enumerate(WAYS if size.is_full else SAMPLED):
        for workers in ("0", "2"):
            # A sample has each way, each number of workers and each moment, not all of them together.
            sampled = (_middle, _end)[(number + int(workers) // 2) % 2]
            for moment in every if size.is_full else (sampled,):
                with tally.attack(f"{name}, -n {workers}, {moment.__name__[1:]}") as harm:
                    _crash(WAYS[name], workers, moment, dice, harm)
    return tally


Moment = Callable[[Bench, Started, random.Random], None]


def _beginning(bench: Bench, process: Started, dice: random.Random) -> None:
    wait_for(bench.journal_path.exists, process)
    time.sleep(dice.uniform(0, 0.1))


def _middle(bench: Bench, process: Started, dice: random.Random) -> None:
    number = dice.randrange(1, CALLS)
    wait_for(lambda: len(bench.server.requests) >= number, process)
    time.sleep(dice.uniform(0, 0.05))


def _end(bench: Bench, process: Started, dice: random.Random) -> None:
    wait_for(lambda: records(bench) == ALL, process)
    time.sleep(dice.uniform(0, LAST))


def _crash(way: Way, workers: str, moment: Moment, dice: random.Random, harm: Harm) -> None:
    with bed() as bench:
        process = bench.start("-n", workers, "--concurrency", str(IN_FLIGHT))
        moment(bench, process, dice)
        way.stop(process, dice)
        output = ended(process)
        if way.is_told:
            _expect_word(process, output, harm)
        else:
            harm.expect(is_orderly(output), output[-1500:])
        _count_lost(bench, harm, way.again)
        go_on(bench, harm, "-n", dice.choice("02"))
        compare(bench, harm, again=way.again)


def _expect_word(process: Started, output: str, harm: Harm) -> None:
    harm.expect(is_orderly(output), output[-1500:])
    harm.expect(process.returncode in (0, 2), f"exit status {process.returncode}: {output[-800:]}")
    harm.expect(any(word in output for word in GOES_ON), f"not said how to go on: {output[-800:]}")


def _count_lost(bench: Bench, harm: Harm, most: int) -> None:
    """Calls that were answered and are not in the journal, beyond those in flight."""
    seen = -1
    while seen != len(bench.server.requests) or bench.server.in_flight:
        seen = len(bench.server.requests)
        time.sleep(0.1)
    harm.lost += max(0, seen - len(calls(bench)) - most)


# A full disk.


def full_disk(size: Size) -> Tally:
    """No file grows beyond a size of chance; with room again the same command completes the rest."""
    tally = Tally("full disk")
    dice = size.dice("full disk")
    for number in range(size.of(3, 12)):
        workers, most = "02"[number % 2], dice.randrange(2000, 90_000)
        with tally.attack(f"{most} bytes, -n {workers}") as harm:
            _fill(workers, most, harm)
    return tally


def _fill(workers: str, most: int, harm: Harm) -> None:
    with bed() as bench:
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        process = bench.start("-n", workers, "--concurrency", str(IN_FLIGHT), preexec_fn=limit)
        output = ended(process)
        harm.expect(is_orderly(output), output[-1500:])
        harm.expect(process.returncode != 3, f"exit status 3: {output[-800:]}")
        harm.expect("File too large" in output or process.returncode == 0, output[-800:])
        # What was in flight, and what had just been answered.
        missing = len(bench.server.requests) - len(calls(bench))
        harm.lost += max(0, missing - 2 * IN_FLIGHT)
        go_on(bench, harm, "-n", "0")
        compare(bench, harm, again=2 * IN_FLIGHT)


# Two sessions at once.


def doubled(size: Size) -> Tally:
    """A second session on the same files is refused, whenever it comes, and nothing is asked twice."""
    tally = Tally("two at once")
    dice = size.dice("two at once")
    for number in range(size.of(3, 12)):
        workers = "02"[number % 2]
        with tally.attack(f"number {number}, -n {workers}") as harm:
            _double(workers, dice, harm)
    return tally


def _double(workers: str, dice: random.Random, harm: Harm) -> None:
    with bed() as bench:
        arguments = ("-n", workers, "--concurrency", str(IN_FLIGHT))
        processes = [bench.start(*arguments)]
        time.sleep(dice.choice((0.0, 0.0, dice.uniform(0, 1))))
        processes.append(bench.start(*arguments))
        shown = [ended(process) for process in processes]
        found = sorted(process.returncode or 0 for process in processes)
        harm.expect(found in ([0, 4], [0, 0]), f"exit statuses {found}: {shown}"[:1500])
        harm.expect(all(map(is_orderly, shown)), f"{shown}"[:1500])
        harm.lost += CALLS - len(calls(bench))
        compare(bench, harm, again=0)
