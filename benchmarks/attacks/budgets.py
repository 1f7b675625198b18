"""Endpoints that count tokens oddly, under --max-cost and --max-calls."""

from __future__ import annotations

import random
from typing import Any

from attacks.sessions import CALLS, IN_FLIGHT, bed, calls, compare, go_on
from attacks.tally import Harm, Size, Tally
from conftest import is_orderly
from loopback import Answer, completion, plain_script

PRICES = ("--price-input", "1", "--price-output", "50")
LENGTHS = ("--subject-max-tokens", "40", "--evaluator-max-tokens", "40")
CAP = 0.06
"""USD; each call sets aside some 0.004."""
USAGES: dict[str, Any] = {
    "missing": None,
    "null": {"prompt_tokens": None, "completion_tokens": None},
    "empty": {},
    "negative": {"prompt_tokens": -5, "completion_tokens": -(10**9)},
    "zeros": {"prompt_tokens": 0, "completion_tokens": 0},
    "floats": {"prompt_tokens": 30.0, "completion_tokens": 7.0},
    "broken floats": {"prompt_tokens": 30.5, "completion_tokens": 1e-9},
    "infinite": {"prompt_tokens": 1e400, "completion_tokens": 10},
    "absurd": {"prompt_tokens": 10**30, "completion_tokens": 10**30},
    "texts": {"prompt_tokens": "100", "completion_tokens": "20"},
    "booleans": {"prompt_tokens": True, "completion_tokens": False},
    "sums that do not fit": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": -1},
    "more cached than read": {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 10**12},
    },
    "a list": [100, 20],
    "a different one each time": ...,
}
SAMPLED = ("negative", "absurd", "a different one each time")


def attack(size: Size) -> Tally:
    """Each kind under a cap on the cost and under one on the calls; both hold, and nothing is lost."""
    tally = Tally("budgets")
    dice = size.dice("budgets")
    for name in USAGES if size.is_full else SAMPLED:
        for cap in ("--max-cost", "--max-calls"):
            with tally.attack(f"{name}, {cap}") as harm:
                _spend(name, cap, dice, harm)
    return tally


def _spend(name: str, cap: str, dice: random.Random, harm: Harm) -> None:
    # The calls before the first question, one to each of the two models, count.
    most = dice.randrange(3, CALLS)

    def script(body: dict[str, Any], number: int) -> Answer:
        usage = USAGES[name]
        if usage is ...:
            usage = [*USAGES.values()][number % (len(USAGES) - 1)]
        return Answer(completion(plain_script(body, number), usage=usage))

    with bed(script, delay=0.0) as bench:
        arguments = (*PRICES, *LENGTHS, "-n", dice.choice("02"))
        limit = f"{CAP}" if cap == "--max-cost" else f"{most}"
        done = bench.run("--concurrency", str(IN_FLIGHT), *arguments, cap, limit)
        output = done.stdout + done.stderr
        harm.expect(is_orderly(output) and done.returncode in (0, 2), f"{done.returncode}: {output[-800:]}")
        made = len(bench.server.requests)
        harm.expect(made, "asked nothing")
        harm.expect(cap == "--max-cost" or made <= most, f"{made} calls of {most}")
        spent = sum(bench.results()["metadata"]["cost_usd"].values())
        harm.expect(cap == "--max-calls" or 0 <= spent <= CAP, f"{spent} USD of {CAP}")
        harm.lost += made - len(calls(bench))
        go_on(bench, harm, *arguments)
        compare(bench, harm, again=0)
