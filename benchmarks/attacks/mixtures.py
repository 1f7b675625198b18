"""Whole sessions of which every third call or so gets a broken answer, over raw connections."""

from __future__ import annotations

import random
from typing import Any

from attacks import bodies, transports
from attacks.endpoint import MOST_BODY, Behaviour, Line, RawEndpoint, answering, failed, response
from attacks.sessions import IN_FLIGHT, bed, compare, go_on
from attacks.tally import Harm, Size, Tally
from conftest import is_orderly
from loopback import plain_script

FATAL = tuple(f"status-{status}" for status in (300, 304, 401, 402, 403, 404, 407))
"""After these a session stops at once, as it should."""
IN_TIME = ("late",)
"""Answers for a client that waits as long as a session does."""
SHARE = 0.3


def attack(size: Size) -> Tally:
    """Sessions with answers of chance among all that are no reply; the rest is asked by the same command."""
    tally = Tally("mixtures")
    dice = size.dice("mixtures")
    broken = dict(_broken())
    for number in range(size.of(3, 20)):
        with tally.attack(f"number {number}") as harm:
            names = dice.sample(sorted(broken), 15)
            _mix([broken[name] for name in names], dice, harm)
    return tally


def _broken() -> list[tuple[str, Behaviour]]:
    shapes = [*bodies.shapes(), *bodies.errors_beside()]
    found = [(name, bodies.behaviour(answer), expected) for name, answer, expected in shapes]
    found += transports.transports()
    return [
        (name, how) for name, how, expected in found if expected is failed and name not in FATAL + IN_TIME
    ]


def _mix(broken: list[Behaviour], dice: random.Random, harm: Harm) -> None:
    requests: list[dict[str, Any]] = []
    plainly = _plainly(requests)

    async def answer(line: Line) -> None:
        if dice.random() < SHARE:
            await dice.choice(broken)(line)
            return
        await plainly(line)

    with bed() as bench, RawEndpoint({"v1": answer}) as endpoint:
        limits = (
            "--request-timeout",
            "2",
            "--max-retries",
            "4",
            "--max-response-size",
            f"{MOST_BODY / 2**20}",
        )
        done = bench.run(
            "--api-base-url", endpoint.url, "--concurrency", str(IN_FLIGHT), *limits, "-n", dice.choice("02")
        )
        output = done.stdout + done.stderr
        harm.expect(
            is_orderly(output) and done.returncode in (0, 1, 2), f"{done.returncode}: {output[-900:]}"
        )
        endpoint.behave({"v1": plainly})
        go_on(bench, harm, "--api-base-url", endpoint.url)
        # An answer that came too late for a machine that has other work is asked for again.
        compare(bench, harm, again=IN_FLIGHT, sent=len(requests))


def _plainly(requests: list[dict[str, Any]]) -> Behaviour:
    async def answer(line: Line) -> None:
        if not line.head.startswith("POST "):
            # A list of models, for a message about a name that is not there.
            await line.send(response("{}"))
            return
        requests.append(await line.body())
        await line.send(answering(plain_script(requests[-1], len(requests))))

    return answer
