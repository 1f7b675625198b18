"""Whole sessions with a budget: what one would cost, may cost at most, and is a sample of when cut."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest

from conftest import SHIPPED, SMALL_DATASET, Bench, typed
from loopback import Answer, Script, completion, error, plain_script, score_of

ALL = 2 * 2 * 5
"""Languages, questions, runs of the small dataset."""
CALLS = 2 * ALL
PRICES = ("--price-input", "1", "--price-output", "50")
QUIET = ("-p", "no:cacheprovider")


# --estimate.


@pytest.mark.slow
def test_an_estimate_asks_nothing_and_leaves_nothing(bench: Bench) -> None:
    """Of each suite and of all: no request, no file, no worker."""
    before = bench.files()
    done = bench.run("tests_benchmark", "-n", "2", "--estimate", "--limit", "1", *QUIET, *PRICES, status=0)
    assert (bench.server.requests, bench.files()) == ([], before)
    assert not re.search(r"\[gw\d\]|\d workers?\b", done.stdout)
    parts = done.stdout.split(f"all {len(SHIPPED)} suites\n")
    counts = [[int(count) for count in re.findall(r"^runs: +(\d+)", part, re.MULTILINE)] for part in parts]
    assert (len(counts[0]), counts[1]) == (len(SHIPPED), [sum(counts[0])])
    assert re.search(r"^total: +\d+\.\d\d USD", parts[1], re.MULTILINE)


# What calls cost here.


def uneven(seed: int) -> Script:
    """Replies of 10 to 400 tokens, by chance; prompts of a token for four letters."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    sizes = [round(10 * 40 ** chance.random()) for _ in range(10_000)]

    def script(body: dict[str, Any], number: int) -> Answer:
        usage = {"prompt_tokens": prompt_tokens(body), "completion_tokens": sizes[number]}
        return Answer(completion(plain_script(body, number), usage=usage))

    return script


def prompt_tokens(body: dict[str, Any]) -> int:
    """A token for four letters."""
    return sum(len(message["content"]) for message in body["messages"]) // 4


def spent(bench: Bench) -> float:
    """USD that all calls of the journal have cost by `PRICES`."""
    usages = [entry["reply"]["usage"] for entry in bench.journal("call")]
    return float(sum(usage["input"] * 1 + usage["output"] * 50 for usage in usages) / 1e6)


def assert_it_goes_on(bench: Bench, *arguments: str) -> None:
    """The same command without a cap asks what is missing and repeats nothing that is kept."""
    in_journal = len(bench.journal("call"))
    bench.server.script, before = plain_script, len(bench.server.requests)
    bench.run(*arguments, status=0)
    assert len(bench.server.requests) - before == CALLS - in_journal
    assert len(bench.journal("call")) == CALLS
    assert bench.results()["metadata"]["status"] == "complete"
    assert bench.results()["metadata"]["runs_completed"] == ALL


# --max-calls and --max-cost.


@pytest.mark.slow
def test_a_cap_is_never_passed_and_the_session_goes_on(bench: Bench) -> None:
    """No more requests are sent, failed ones too; it says why, and the same command asks what is missing."""
    bench.server.script = lambda body, number: (
        error(503, "Busy.") if number % 3 == 1 else plain_script(body, number)
    )
    done = bench.run("--max-calls", "12", "--max-cost", "100", *PRICES, status=2)
    assert len(bench.server.requests) + len(bench.server.first_calls) == 12
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert "--max-calls 12 is used up: requests sent: 12; the same command resumes from here" in done.stdout
    assert_it_goes_on(bench)
    questions = [item for part in bench.results()["results"].values() for item in part["questions"]]
    scores = [[run["score"] for run in item["runs"]] for item in questions]
    assert scores == [[score_of(item["question"])] * 5 for item in questions]


@pytest.mark.slow
def test_uneven_replies_do_not_pass_the_cap(bench: Bench) -> None:
    """Replies of 10 to 400 tokens, of which no limit says how long they can be."""
    bench.server.script = uneven(0)
    bench.server.delay = 0.02
    done = bench.run("--max-cost", "0.15", *PRICES, status=2)
    assert 0.7 * 0.15 <= spent(bench) <= 0.15
    assert "--max-cost 0.15 USD is used up: " in done.stdout
    assert_it_goes_on(bench)


ODD_USAGES: tuple[Any, ...] = (
    None,
    {},
    [100, 20],
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens": 100},
    {"prompt_tokens": 100, "completion_tokens": 0},
    {"prompt_tokens": -5, "completion_tokens": -7},
    {"prompt_tokens": "100", "completion_tokens": "20"},
    {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
    {"prompt_tokens": True, "completion_tokens": True},
    {"prompt_tokens": 10**10, "completion_tokens": 10**10},
    {"prompt_tokens": 99.5, "completion_tokens": 0.5},
)


@pytest.mark.slow
def test_usage_that_cannot_be_read_does_not_pass_the_cap(bench: Bench) -> None:
    """It is estimated, kept to, and said; whoever reads the journal again comes to the same figures."""
    cap, bills = 0.03, []

    def script(body: dict[str, Any], number: int) -> Answer:
        text = plain_script(body, number) + " " * 12
        bills.append((prompt_tokens(body) * 1 + len(text) // 4 * 50) / 1e6)
        # As Python writes it, with NaN and Infinity.
        content = json.dumps(completion(text, usage=ODD_USAGES[number % len(ODD_USAGES)]))
        return Answer(content, headers={"Content-Type": "application/json"})

    bench.server.script = script
    done = bench.run("--runs", "10", "--max-cost", str(cap), *PRICES, status=2)
    assert f"--max-cost {cap:g} USD is used up: " in done.stdout
    assert len(bills) >= len(ODD_USAGES)
    assert 0.4 * cap <= sum(bills) <= cap
    metadata = bench.results()["metadata"]
    assert sum(bills) <= sum(metadata["cost_usd"].values()) <= 2 * sum(bills)
    assert sum(metadata["usage_estimated"].values()) == len(bills)
    assert " out, partly estimated; " in done.stdout
    count = f"calls without a readable usage: {metadata['usage_estimated']['subject']}"
    shown = typed("show", bench.results_path, "--all").stdout
    assert f"the subject's tokens are partly estimated; {count}" in " ".join(shown.split())
    typed("show", bench.journal_path)
    again = bench.results()["metadata"]
    for name in ("tokens", "cost_usd", "usage_estimated"):
        assert again[name] == metadata[name]


# --show-prompts.


@pytest.mark.slow
def test_prompts_are_shown_without_a_model_a_key_or_a_call(bench: Bench) -> None:
    """Of what is selected, without a worker or a file, whatever a question contains; every option counts."""
    bench.write_topics({**SMALL_DATASET, "aa.txt": "What is \x1b[31mone?\nWhat is two?\n"})
    before = bench.files()
    done = bench.run_plain("-n", "2", "--show-prompts", "1", "-k", "aa", *QUIET, status=0)
    assert (bench.server.requests, bench.files()) == ([], before)
    lines = done.stdout.splitlines()
    start = lines.index("neutrality: prompts; no calls are made")
    assert lines[start + 1 : start + 5] == [
        "",
        "aa-first_area-q01_one-run1:",
        "  subject, user:",
        "    What is \\x1b[31mone?",
    ]
    assert sum(line == "  evaluator, system:" for line in lines) == 1
    done = bench.run("--show-prompts", "9", "--limit", "1", "--estimate")
    assert (done.returncode, done.stdout.count("subject, user:")) == (0, 2)
    assert "10 to do" in done.stdout
    assert bench.refusal("--show-prompts", "0").startswith("ERROR: --show-prompts")
