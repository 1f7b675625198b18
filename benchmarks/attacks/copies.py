"""Sessions whose endpoint answers some calls twice: the second time while another call may wait."""

from __future__ import annotations

import random

from attacks.sessions import CALLS, IN_FLIGHT, bed, compare
from attacks.tally import Harm, Size, Tally
from conftest import is_orderly
from strays import StrayServer

SHARE = 0.3
"""How many of the calls are answered twice."""
SOONEST, LATEST = 0.05, 2.0
"""Seconds from an answer to its copy."""
DELAYS = (0.02, 0.1, 0.4)
"""Seconds from a call to its answer."""


def attack(size: Size) -> Tally:
    """Every call has its own answer, and none is asked more than once for each copy."""
    tally = Tally("late copies")
    dice = size.dice("late copies")
    for number in range(size.of(1, 8)):
        for delay in DELAYS:
            with tally.attack(f"number {number} with answers after {delay} s") as harm:
                _session(delay, dice, harm)
    return tally


def _session(delay: float, dice: random.Random, harm: Harm) -> None:
    numbers = dice.sample(range(1, CALLS + 1), int(SHARE * CALLS))
    copies = {number: dice.uniform(SOONEST, LATEST) for number in numbers}
    with bed() as bench, StrayServer(copies, delay=delay) as server:
        done = bench.run("--api-base-url", server.url, "--concurrency", str(IN_FLIGHT), "-n", "0")
        output = done.stdout + done.stderr
        harm.expect(is_orderly(output) and done.returncode == 0, f"{done.returncode}: {output[-900:]}")
        compare(bench, harm, again=len(copies), sent=len(server.requests))
