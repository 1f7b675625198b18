"""Sessions in batches that are killed at random moments, on an endpoint that fails as real ones do."""

from __future__ import annotations

import random
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from batch_server import BatchServer
from journals import entries

from attacks.sessions import ALL, CALLS, ended, kill_group, undisturbed, wait_for
from attacks.tally import Harm, Size, Tally
from conftest import Bench, is_orderly
from loopback import Answer, error

PAUSE = 0.1
"""Seconds that a request about files and batches takes."""
REQUESTS = 11
"""Requests of a session that nothing disturbs, but for the last."""
OFTEN = 8
"""Commands that may be needed to the end."""
KEY = "sk-planted-0123456789abcdef"
DROP = Answer(drop=True)
Prepare = Callable[[BatchServer], object]


def _once(answer: Answer) -> Prepare:
    """Half of the lines fail the first time."""

    def prepare(server: BatchServer) -> None:
        count = iter(range(10**6))
        server.faults.fails = lambda body, times: answer if times == 1 and next(count) % 2 else None

    return prepare


def _before(kind: str, *answers: Answer) -> Prepare:
    return lambda server: server.faults.before.update({kind: list(answers)})


def _after(kind: str, *answers: Answer) -> Prepare:
    return lambda server: server.faults.after.update({kind: list(answers)})


def _set(**faults: object) -> Prepare:
    def prepare(server: BatchServer) -> None:
        for name, value in faults.items():
            setattr(server.faults, name, value)

    return prepare


FAULTS: Mapping[str, Prepare] = {
    "nothing": _set(),
    "creation accepted, answer lost": _after("POST batches", DROP),
    "creation not accepted": _before("POST batches", DROP),
    "creation accepted, 500": _after("POST batches", error(500, "Oops.")),
    "429 and 5xx at upload": _before("POST files", error(429, "Slow down."), error(503, "Busy.")),
    "1 % lost lines": _set(lost=0.01),
    "lines with 429": _once(error(429, "Rate limit reached.")),
    "doubled and unknown ids": _set(doubled=0.3, unknown=3),
    "expiry in the middle": _set(done=0.5),
    "broken downloads": _set(broken_downloads=2),
    "503 at looks": _before("GET batches/ID", error(503, "Busy."), error(503, "Busy.")),
    "too much enqueued": _set(whole=["token_limit_exceeded"]),
}


def attack(size: Size) -> Tally:
    """kill -9 at ten random moments of undisturbed sessions, and at one of each that has a fault."""
    tally = Tally("batches")
    dice = size.dice("batches")
    moments = ["nothing"] * size.of(2, 10)
    moments += [*FAULTS][1:] if size.is_full else ["creation accepted, answer lost"]
    for number, name in enumerate(moments):
        with tally.attack(f"{name}, kill number {number}") as harm:
            _kill(FAULTS[name], dice, harm)
    return tally


def _kill(prepare: Prepare, dice: random.Random, harm: Harm) -> None:
    with tempfile.TemporaryDirectory() as folder, BatchServer(looks=3) as server:
        bench = Bench(Path(folder), server)
        server.pause = PAUSE
        prepare(server)
        command = ("--batch", "--batch-wait=60s", "--api-key", KEY, "-n", dice.choice("02"))
        process = bench.start(*command)
        number = dice.randrange(1, REQUESTS)
        wait_for(lambda: len(server.log) >= number, process)
        time.sleep(dice.uniform(0, 2 * PAUSE))
        kill_group(process, signal.SIGKILL)
        ended(process)
        _go_on(bench, harm, command)
        _compare(bench, server, harm)


def _go_on(bench: Bench, harm: Harm, command: tuple[str, ...]) -> None:
    for _ in range(OFTEN):
        done = bench.run(*command)
        harm.expect(is_orderly(done.stdout + done.stderr), f"{done.stdout}{done.stderr}"[-1500:])
        if done.returncode == 0:
            return
    harm.expect(False, f"not complete: {done.stdout}{done.stderr}"[-1500:])


def _compare(bench: Bench, server: BatchServer, harm: Harm) -> None:
    """Nothing lost, nothing answered twice in batches or beside them, scores as of an undisturbed session."""
    server.conclude()
    # What was lost or failed in a batch was made again by itself.
    harm.twice += sum(count - 1 for count in server.answered.values())
    answered = len(entries(bench.journal_path, "call"))
    harm.lost += max(0, CALLS - answered)
    harm.twice += max(0, answered - CALLS)
    expected = undisturbed()["results"]
    for language, content in bench.results()["results"].items():
        scores = [[run["score"] for run in question["runs"]] for question in content["questions"]]
        wanted = [[run["score"] for run in question["runs"]] for question in expected[language]["questions"]]
        harm.changed += scores != wanted
    harm.expect(len(bench.scores()) == ALL, f"{len(bench.scores())} scores")
    texts = [path.read_bytes() for path in (bench.folder / "results").rglob("*") if path.is_file()]
    harm.keys += sum(KEY.encode() in text for text in texts)
