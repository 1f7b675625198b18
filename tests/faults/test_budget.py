"""What a session would cost, what it may cost at most, and what it is a sample of when that cuts it."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from conftest import SMALL_DATASET, Bench
from equipoise.cli import main
from equipoise.core import json_io
from equipoise.results.journal import FORMAT
from loopback import (
    Answer,
    Loopback,
    Script,
    completion,
    error,
    is_judge,
    plain_script,
    question_of,
    score_of,
)

Workers = tuple[str, str]
ALL = 2 * 2 * 5
"""Languages, questions, runs of the small dataset."""
CALLS = 2 * ALL
PRICES = ("--price-input", "1", "--price-output", "50")
CALL_USD = (100 * 1 + 20 * 50) / 1e6
"""What a call of the scripted usage costs by these prices."""
LISTED = "gpt-4o"
"""A model whose price is known: 2.50 USD for a million input tokens, 10 USD for a million output tokens."""


def files(folder: Path) -> set[Path]:
    """Every file and folder but Python's own."""
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def figures(output: str) -> dict[str, str]:
    """The lines of an estimate by their first word; what is indented goes with the line above."""
    found: dict[str, str] = {}
    name = ""
    for line in output.splitlines():
        match = re.fullmatch(r"(runs|subject|evaluator|total): +(\S.*)", line)
        if match and "(http" not in line:
            name = match[1]
            found[name] = match[2]
        elif name and line.startswith(" "):
            found[name] += f"\n{line.strip()}"
        else:
            name = ""
    return found


# --estimate.


def test_an_estimate_asks_and_leaves_nothing(bench: Bench, workers: Workers) -> None:
    """No request, no file, no folder, no worker; the session ends well."""
    before = files(bench.folder)
    done = bench.run(*workers, "--estimate", "-p", "no:cacheprovider", "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert bench.server.requests == []
    assert files(bench.folder) == before
    assert not re.search(r"\[gw\d\]|\d workers?\b", done.stdout)


def test_an_estimate_shows_every_figure_with_its_interval(bench: Bench, workers: Workers) -> None:
    """Calls, tokens and cost by role and in all, and on what they rest: by assumption, 20 runs of 2 calls."""
    done = bench.run(*workers, "--estimate", *PRICES)
    found = figures(done.stdout)
    assert list(found) == ["runs", "subject", "evaluator", "total"]
    assert found["runs"] == "20 to ask"
    for role, model, reply in (("subject", "subject", 800), ("evaluator", "judge", 250)):
        shown = found[role]
        assert re.match(rf"{model}: 20 calls, \d+\.\d\d USD \(\d+\.\d\d to \d+\.\d\d\)\n", shown), shown
        assert re.search(
            r"\n[\d,]+( \([\d,]+ to [\d,]+\))? tokens in, [\d,]+ \([\d,]+ to [\d,]+\) out\n", shown
        )
        assert f"assumed: {reply} tokens a reply" in shown
        assert f" {20 * reply:,} (" in shown
    assert re.fullmatch(r"\d+\.\d\d USD \(\d+\.\d\d to \d+\.\d\d\)", found["total"])


def test_the_likely_figure_lies_within_its_interval_and_the_total_is_the_sum(bench: Bench) -> None:
    """Low, likely and high are in this order, and those of the total are the sums of the roles'."""
    done = bench.run("--estimate", "--price-input", "1000", "--price-output", "1000")
    shown = figures(done.stdout)
    values = {}
    for name in ("subject", "evaluator", "total"):
        match = re.search(r"([\d,.]+) USD \(([\d,.]+) to ([\d,.]+)\)", shown[name])
        assert match
        likely, low, high = (float(text.replace(",", "")) for text in match.groups())
        assert 0 < low < likely < high
        values[name] = (likely, low, high)
    sums = [sum(pair) for pair in zip(values["subject"], values["evaluator"], strict=True)]
    assert values["total"] == pytest.approx(sums, abs=0.03)


def test_an_estimate_counts_the_runs_that_are_selected(bench: Bench, workers: Workers) -> None:
    """A selection makes it smaller, and what is not a run of a suite does not count."""
    found = figures(bench.run(*workers, "--estimate", "-k", "first_area and bb", "--runs", "3").stdout)
    assert found["runs"] == "3 to ask"
    assert found["subject"].startswith("subject: 3 calls")


def test_an_estimate_has_a_line_for_each_evaluator(bench: Bench, workers: Workers) -> None:
    """A panel of two judges every reply twice."""
    done = bench.run(*workers, "--estimate", "--evaluator-model", "second")
    assert "evaluator: judge: 20 calls" in done.stdout
    assert "evaluator: second: 20 calls" in done.stdout


def test_an_estimate_rests_on_an_earlier_session(bench: Bench, workers: Workers) -> None:
    """After a session that used 100 tokens in and 20 out a call, that is what the next one would use."""
    assert bench.run(*workers).returncode == 0
    before, asked = files(bench.folder), len(bench.server.requests)
    prices = ("--price-input", "1000", "--price-output", "2000")
    done = bench.run(*workers, "--estimate", "-p", "no:cacheprovider", "--fresh", *prices)
    assert files(bench.folder) == before
    assert len(bench.server.requests) == asked
    found = figures(done.stdout)
    assert found["runs"] == "20 to ask"
    for role, model in (("subject", "subject"), ("evaluator", "judge")):
        assert found[role].splitlines() == [
            f"{model}: 20 calls, 2.80 USD (2.80 to 2.80)",
            "2,000 tokens in, 400 out",
            "as in 20 runs of it, the last in subject.neutrality.jsonl",
        ]
    assert found["total"] == "5.60 USD (5.60 to 5.60)"


def test_an_estimate_of_more_runs_goes_by_what_one_run_used(bench: Bench) -> None:
    """Twice the runs make twice the tokens; a model that is not known goes by those that are."""
    assert bench.run().returncode == 0
    found = figures(bench.run("--estimate", "--runs", "10", "--model", "other", "--fresh").stdout)
    assert found["runs"] == "40 to ask"
    assert found["subject"].splitlines()[1:] == ["4,000 tokens in, 800 out", "as in 20 runs of other models"]
    assert found["evaluator"].splitlines()[1] == "4,000 tokens in, 800 out"


def test_an_estimate_of_uneven_replies_has_a_wide_interval(bench: Bench) -> None:
    """Where runs used very different numbers of tokens, the interval is wide and the mean in the middle."""
    bench.server.script = with_usage(lambda body, number: (100, 10 if number % 2 else 400))
    assert bench.run("--concurrency", "1").returncode == 0
    found = figures(bench.run("--estimate", "--fresh").stdout)
    used = bench.results()["metadata"]["tokens"]["subject"]["output"]
    match = re.search(r"([\d,]+) \(([\d,]+) to ([\d,]+)\) out", found["subject"])
    if match is None:  # every reply of the subject was of one length
        assert f"{used:,} out" in found["subject"]
        return
    likely, low, high = (int(text.replace(",", "")) for text in match.groups())
    assert likely == used
    assert low < 0.8 * likely < 1.2 * likely < high


def test_an_estimate_after_an_interrupted_session_counts_what_is_missing(
    bench: Bench, workers: Workers
) -> None:
    """Runs that are done are not counted again; --fresh counts them all."""
    bench.run(*workers, "--max-calls", "12", "--concurrency", "2")
    finished = bench.results()["metadata"]["runs_completed"]
    assert 0 < finished < ALL
    found = figures(bench.run(*workers, "--estimate").stdout)
    assert found["runs"] == f"{ALL - finished} to ask, {finished} are done already"
    assert found["evaluator"].startswith(f"judge: {ALL - finished} calls")
    assert f"{100 * (ALL - finished):,} tokens in, {20 * (ALL - finished):,} out" in found["evaluator"]
    assert figures(bench.run(*workers, "--estimate", "--fresh").stdout)["runs"] == f"{ALL} to ask"


def test_an_estimate_without_a_price_says_so(bench: Bench, workers: Workers) -> None:
    """Calls and tokens are shown all the same, and what to type to learn the cost."""
    found = figures(bench.run(*workers, "--estimate").stdout)
    assert found["subject"].startswith(
        "subject: 20 calls, cost unknown: give --price-input and --price-output\n"
    )
    assert found["total"] == "cost unknown: give --price-input and --price-output"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--runs", "0"), "--runs: '0' is not a whole number from 1 up"),
        (("--topics", "nowhere"), "no such file or folder"),
        (("--language", "xx"), "--language: no 'xx' in"),
        (("--price-input", "1"), "--price-input and --price-output: give both, or neither"),
        (("--max-cost", "1"), "the price of 'subject' is not known"),
        (("--max-cost", "-1"), "--max-cost: '-1' is not a number from 0 up"),
    ],
    ids=["runs", "topics", "language", "price", "unknown-price", "negative"],
)
def test_an_estimate_of_what_cannot_work_is_an_error(
    bench: Bench, workers: Workers, arguments: tuple[str, ...], message: str
) -> None:
    """Exit 4 with the message that the session itself would end with, and nothing is written."""
    before = files(bench.folder)
    done = bench.run(*workers, "--estimate", "-p", "no:cacheprovider", *arguments)
    assert done.returncode == 4
    assert message in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert files(bench.folder) == before


def test_an_estimate_of_what_would_not_resume_is_an_error(bench: Bench) -> None:
    """An interrupted session with other settings is refused, as the session itself would be."""
    bench.run("--max-calls", "12")
    done = bench.run("--estimate", "--subject-temperature", "0.3")
    assert done.returncode == 4
    assert "subject_sampling was {'temperature': 1.0}, now {'temperature': 0.3}" in done.stderr
    assert bench.run("--estimate", "--subject-temperature", "0.3", "--fresh").returncode == 0


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ({"kind": "session", "suite": "neutrality", "format": 1}, 4),
        ({"kind": "session", "format": 2}, 4),
        ({"kind": "session"}, 0),
        ({"kind": "call", "run": "x"}, 0),
    ],
    ids=["other-format", "no-suite", "nothing", "call"],
)
def test_an_estimate_over_a_damaged_journal(bench: Bench, line: dict[str, Any], status: int) -> None:
    """A journal of another format is an error as for the session itself; a damaged line is passed over."""
    bench.run("--max-calls", "4")
    bench.journal_path.write_bytes(json_io.dumps(line) + bench.journal_path.read_bytes())
    done = bench.run("--estimate")
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if status:
        assert f"the journal has format {line['format']}, not {FORMAT}" in done.stderr


def test_journals_of_others_do_not_disturb_an_estimate(bench: Bench) -> None:
    """What stands in the results folder besides, in another format or no journal at all, is passed over."""
    bench.journal_path.parent.mkdir()
    for number, content in enumerate((b"\x00\xff\n", b'{"kind":"session"}\n', b'{"kind":"call"}\n', b"")):
        bench.journal_path.with_name(f"{number}.neutrality.jsonl").write_bytes(content)
    done = bench.run("--estimate")
    assert done.returncode == 0, done.stdout + done.stderr
    assert figures(done.stdout)["runs"] == "20 to ask"


def test_an_estimate_needs_to_know_the_model(bench: Bench, workers: Workers) -> None:
    """Without --model there is nothing to estimate: exit 4 and the lines to type."""
    done = bench.run_plain(*workers, "--estimate")
    assert done.returncode == 4
    assert "which model? Name it with --model:" in done.stderr


# What calls cost here.


def with_usage(tokens: Callable[[dict[str, Any], int], tuple[int, int]]) -> Script:
    """The plain script with the tokens, in and out, that a function of request and number says."""

    def script(body: dict[str, Any], number: int) -> Answer:
        tokens_in, tokens_out = tokens(body, number)
        usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        return Answer(completion(plain_script(body, number), usage=usage))

    return script


def uneven(seed: int) -> Script:
    """Replies of 10 to 400 tokens, by chance; prompts of a token for four letters."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    sizes = [round(10 * 40 ** chance.random()) for _ in range(10_000)]
    return with_usage(lambda body, number: (prompt_tokens(body), sizes[number]))


def prompt_tokens(body: dict[str, Any]) -> int:
    """A token for four letters."""
    return sum(len(message["content"]) for message in body["messages"]) // 4


def spent(bench: Bench) -> float:
    """USD that all calls of the journal have cost by `PRICES`."""
    usages = [entry["reply"]["usage"] for entry in bench.journal("call")]
    return float(sum(usage["input"] * 1 + usage["output"] * 50 for usage in usages) / 1e6)


def plain_scores() -> dict[tuple[str, int, int], float]:
    """Every score of the small dataset under the plain script."""
    return {
        (name.removesuffix(".txt"), index, run): score_of(question)
        for name, text in SMALL_DATASET.items()
        if name.endswith(".txt")
        for index, question in enumerate(text.splitlines(), start=1)
        for run in range(1, 6)
    }


def assert_it_goes_on(bench: Bench, *arguments: str) -> None:
    """The same command without a cap asks what is missing and repeats nothing that is kept."""
    kept = len(bench.journal("call"))
    bench.server.script, before = plain_script, len(bench.server.requests)
    done = bench.run(*arguments)
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) - before == CALLS - kept
    assert len(bench.journal("call")) == CALLS
    assert bench.results()["metadata"]["status"] == "complete"
    assert bench.results()["metadata"]["runs_completed"] == ALL


# --max-calls.


@pytest.mark.parametrize("most", [1, 7, 30])
def test_no_more_requests_than_max_calls(bench: Bench, workers: Workers, most: int) -> None:
    """Exactly so many are sent; the session ends with 2, says why, and can be taken up again."""
    done = bench.run(*workers, "--max-calls", str(most))
    assert done.returncode == 2, done.stdout
    assert len(bench.server.requests) == most
    assert len(bench.journal("call")) == most
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert f"--max-calls {most} is used up: requests sent: {most}" in done.stdout
    assert "the same command resumes from here" in done.stdout
    assert "Traceback" not in done.stdout
    assert_it_goes_on(bench, *workers)


def test_a_retry_is_a_request_too(bench: Bench, workers: Workers) -> None:
    """Where every second request fails and is repeated, the failed ones count."""
    bench.server.script = lambda body, number: (
        error(503, "Busy.") if number % 2 else plain_script(body, number)
    )
    done = bench.run(*workers, "--max-calls", "10", "--concurrency", "4")
    assert done.returncode == 2, done.stdout
    assert len(bench.server.requests) == 10
    assert "--max-calls 10 is used up: requests sent: 10" in done.stdout
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert_it_goes_on(bench, *workers)


def test_nothing_but_failures_uses_up_the_calls(bench: Bench, workers: Workers) -> None:
    """An endpoint that is down gets no more requests than the cap allows, though many retries are left."""
    bench.server.script = lambda body, number: error(503, "Busy.")
    done = bench.run(*workers, "--max-calls", "5", "--keep-going", "--concurrency", "4")
    assert done.returncode == 2, done.stdout
    assert len(bench.server.requests) == 5
    assert bench.results()["metadata"]["runs_completed"] == 0
    assert_it_goes_on(bench, *workers)


def test_a_cap_is_for_one_session(bench: Bench, workers: Workers) -> None:
    """The same command with the cap goes on by as many requests again, until all is done."""
    arguments = (*workers, "--max-calls", "16")
    assert [bench.run(*arguments).returncode for _ in range(3)] == [2, 2, 0]
    assert len(bench.server.requests) == CALLS
    assert bench.results()["metadata"]["status"] == "complete"


@pytest.mark.parametrize("most", ["40", "1000"], ids=["just", "far"])
def test_a_cap_that_is_not_reached_changes_nothing(bench: Bench, workers: Workers, most: str) -> None:
    """The session is complete, each score that of its question, up to the very last request."""
    done = bench.run(*workers, "--max-calls", most)
    assert done.returncode == 0, done.stdout
    assert "used up" not in done.stdout
    assert bench.scores() == plain_scores()


# --max-cost.


@pytest.mark.parametrize("cap", [0.02, 0.03])
def test_no_more_is_spent_than_max_cost(bench: Bench, workers: Workers, cap: float) -> None:
    """The cap is never passed, at least 70 % of it is used, and the session can be taken up again."""
    done = bench.run(*workers, "--max-cost", str(cap), *PRICES)
    assert done.returncode == 2, done.stdout
    assert 0.7 * cap <= spent(bench) <= cap
    assert len(bench.server.requests) == len(bench.journal("call"))
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert f"--max-cost {cap:g} USD is used up: " in done.stdout
    assert "the same command resumes from here" in done.stdout
    assert "Traceback" not in done.stdout
    assert_it_goes_on(bench, *workers)


@pytest.mark.parametrize("seed", [0, 1, 6])
def test_uneven_replies_do_not_pass_the_cap(bench: Bench, workers: Workers, seed: int) -> None:
    """Replies of 10 to 400 tokens, of which no limit says how long they can be."""
    bench.server.script = uneven(seed)
    bench.server.delay = 0.02
    done = bench.run(*workers, "--max-cost", "0.15", *PRICES)
    assert done.returncode == 2, done.stdout
    assert 0.7 * 0.15 <= spent(bench) <= 0.15


def test_a_limit_on_tokens_makes_the_cap_certain(bench: Bench, workers: Workers) -> None:
    """With --subject-max-tokens and --evaluator-max-tokens the most that a call may cost is known."""
    bench.server.script = uneven(0)
    bench.server.delay = 0.02
    limits = ("--subject-max-tokens", "400", "--evaluator-max-tokens", "400")
    done = bench.run(*workers, "--max-cost", "0.15", *PRICES, *limits)
    assert done.returncode == 2, done.stdout
    assert 0.7 * 0.15 <= spent(bench) <= 0.15
    assert_it_goes_on(bench, *workers, *limits)


def test_the_replies_that_were_paid_for_are_judged(bench: Bench, workers: Workers) -> None:
    """What is spent goes into whole runs: a verdict is not kept waiting while other replies are asked for."""
    bench.server.delay = 0.02
    bench.run(*workers, "--max-cost", "0.03", *PRICES, "--concurrency", "4")
    calls = Counter(entry["role"] for entry in bench.journal("call"))
    assert calls["evaluator"] >= calls["subject"] - 8


def test_failed_requests_cost_nothing(bench: Bench, workers: Workers) -> None:
    """Refusals of an endpoint are not paid for: as much of the cap is used as without them."""
    bench.server.script = lambda body, number: (
        error(503, "Busy.") if number % 3 == 1 else plain_script(body, number)
    )
    done = bench.run(*workers, "--max-cost", "0.03", *PRICES, "--concurrency", "4")
    assert done.returncode == 2, done.stdout
    assert 0.7 * 0.03 <= spent(bench) <= 0.03
    assert_it_goes_on(bench, *workers)


def test_without_usage_a_reply_counts_as_the_most_it_may_have_cost(bench: Bench, workers: Workers) -> None:
    """An endpoint that counts no tokens cannot lead past the cap; the session ends and can go on."""
    bench.server.script = lambda body, number: Answer(completion(plain_script(body, number), usage=None))
    limits = ("--subject-max-tokens", "20", "--evaluator-max-tokens", "20")
    done = bench.run(*workers, "--max-cost", "0.02", *PRICES, *limits)
    assert done.returncode == 2, done.stdout
    sent = [prompt_tokens(body) * 1 + 20 * 50 for body in bench.server.requests]
    assert 0.5 * 0.02 <= sum(sent) / 1e6 <= 0.02
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert_it_goes_on(bench, *workers, *limits)


ODD_USAGES = (
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


def test_usage_that_cannot_be_read_does_not_pass_the_cap(bench: Bench, workers: Workers) -> None:
    """It is estimated, kept to, and said; whoever reads the journal again comes to the same figures."""
    cap, bills = 0.03, []

    def script(body: dict[str, Any], number: int) -> Answer:
        text = plain_script(body, number) + " " * 12
        bills.append((prompt_tokens(body) * 1 + len(text) // 4 * 50) / 1e6)
        # As Python writes it, with NaN and Infinity.
        said = json.dumps(completion(text, usage=ODD_USAGES[number % len(ODD_USAGES)]))
        return Answer(said, headers={"Content-Type": "application/json"})

    bench.server.script = script
    done = bench.run(*workers, "--runs", "10", "--max-cost", str(cap), *PRICES)
    assert done.returncode == 2, done.stdout
    assert f"--max-cost {cap:g} USD is used up: " in done.stdout
    assert len(bills) >= len(ODD_USAGES)
    assert 0.4 * cap <= sum(bills) <= cap
    told = bench.results()["metadata"]
    assert sum(bills) <= sum(told["cost_usd"].values()) <= 2 * sum(bills)
    assert sum(told["usage_estimated"].values()) == len(bills)
    assert " USD, partly estimated\n" in done.stdout
    count = f"calls without a readable usage: {told['usage_estimated']['subject']}"
    assert f"the subject's tokens are partly estimated; {count}" in done.stdout
    assert CliRunner().invoke(main, ["recover", str(bench.journal_path)]).exit_code == 0
    again = bench.results()["metadata"]
    for name in ("tokens", "cost_usd", "usage_estimated"):
        assert again[name] == told[name]


def test_usage_that_has_no_price_counts_as_the_most_it_may_have_cost(bench: Bench, workers: Workers) -> None:
    """More tokens from the cache than there were at all have no price: the cap holds all the same."""
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 50}}
    bench.server.script = lambda body, number: Answer(completion(plain_script(body, number), usage=usage))
    models = ("--model", LISTED, "--evaluator-model", LISTED)
    endpoint = ("--api-base-url", bench.server.url)
    done = bench.run_plain(*workers, *models, *endpoint, "--max-cost", "0.005", "--max-calls", "39")
    assert done.returncode == 2, done.stdout
    assert "--max-cost 0.005 USD is used up" in done.stdout
    assert len(bench.server.requests) < 39


def test_a_model_without_a_price_is_refused_before_any_call(bench: Bench, workers: Workers) -> None:
    """Exit 4, naming the model and the two options that help."""
    done = bench.run(*workers, "--max-cost", "1")
    assert done.returncode == 4
    assert "--max-cost: the price of 'subject' is not known" in done.stderr
    assert "--price-input and --price-output" in done.stderr
    assert bench.server.requests == []
    assert not (bench.folder / "results").exists()


def test_an_evaluator_without_a_price_is_refused_too(bench: Bench, workers: Workers) -> None:
    """The subject's price alone does not say what a session costs."""
    done = bench.run(*workers, "--max-cost", "1", "--model", LISTED)
    assert done.returncode == 4
    assert "--max-cost: the price of 'judge' is not known" in done.stderr
    assert bench.server.requests == []


def test_nothing_may_be_spent(bench: Bench, workers: Workers) -> None:
    """--max-cost 0 sends no request, ends with 2 and leaves a session to take up."""
    done = bench.run(*workers, "--max-cost", "0", *PRICES)
    assert done.returncode == 2, done.stdout
    assert bench.server.requests == []
    assert "--max-cost 0 USD is used up" in done.stdout
    assert bench.results()["metadata"]["status"] == "interrupted"
    assert_it_goes_on(bench, *workers)


def test_a_large_cost_cap_changes_nothing(bench: Bench, workers: Workers) -> None:
    """The session is complete, each score that of its question, with as many calls in flight as may be."""
    bench.server.delay = 0.05
    done = bench.run(*workers, "--max-cost", "1000", *PRICES, "--concurrency", "6")
    assert done.returncode == 0, done.stdout
    assert len(bench.server.requests) == CALLS
    assert bench.server.peak == 6
    assert bench.scores() == plain_scores()


def test_what_is_replayed_costs_nothing(bench: Bench, workers: Workers) -> None:
    """A session that goes on spends its cap on what is missing only."""
    cap = 0.5 * CALLS * CALL_USD
    assert bench.run(*workers, "--max-cost", str(cap), *PRICES).returncode == 2
    first = spent(bench)
    done = bench.run(*workers, "--max-cost", str(cap), *PRICES)
    assert 0.7 * cap <= spent(bench) - first <= cap, done.stdout


# What is done when a budget ends a session.


LANGUAGES, AREAS, EACH, RUNS = ("aa", "bb", "cc"), ("one", "two", "three"), 4, 5
EVERY_QUESTION = len(LANGUAGES) * len(AREAS) * EACH


class NoHeadStart(Loopback):
    """Answers nobody for some seconds: a worker that is there first waits for the other."""

    def __init__(self, seconds: float) -> None:
        super().__init__(delay=0.01)
        self._seconds = seconds
        self._opens = 0.0

    async def _respond(self, request: web.Request, answer: Answer | str) -> web.StreamResponse:
        now = time.monotonic()
        self._opens = self._opens or now + self._seconds
        await asyncio.sleep(max(0.0, self._opens - now))
        return await super()._respond(request, answer)


@pytest.fixture
def wide(tmp_path: Path, workers: Workers) -> Iterator[Bench]:
    """Three languages with four questions in each of three areas."""
    lines = [f"{area} {n}" for area in AREAS for n in range(1, EACH + 1)]
    rows = [
        f"{n},q{n:02d},{line.split()[0]},{line.replace(' ', '_')},\n" for n, line in enumerate(lines, start=1)
    ]
    index = {"index.csv": "line,id,area,slug,keywords\n" + "".join(rows)}
    datasets = {f"{code}.txt": "".join(f"{line} in {code}?\n" for line in lines) for code in LANGUAGES}
    with NoHeadStart(0.0 if workers[1] == "0" else 2.0) as server:
        bench = Bench(tmp_path, server)
        bench.write_topics({**index, **datasets})
        yield bench


@pytest.mark.parametrize("calls", [40, 72, 100])
def test_what_a_budget_leaves_is_an_even_sample(wide: Bench, workers: Workers, calls: int) -> None:
    """However early a session ends, all areas of all languages have had about as many runs."""
    done = wide.run(*workers, "--max-calls", str(calls), "--concurrency", "8")
    assert done.returncode == 2, done.stdout
    finished: Counter[tuple[str, str]] = Counter({(code, area): 0 for code in LANGUAGES for area in AREAS})
    for entry in wide.journal("record"):
        finished[entry["record"]["case"]["language"], entry["record"]["case"]["area"]] += 1
    assert sum(finished.values()) > calls / 2 - 10
    assert max(finished.values()) - min(finished.values()) <= 2


def test_no_question_is_asked_again_before_nearly_all_were_asked_once(wide: Bench, workers: Workers) -> None:
    """The nth time comes when all but the few in hand have had theirs of the time before."""
    assert wide.run(*workers, "--runs", "3", "--concurrency", "8").returncode == 0
    asked: Counter[str] = Counter()
    for question in (question_of(body) for body in wide.server.requests if not is_judge(body)):
        had = sum(asked[other] >= asked[question] for other in asked)
        if asked[question]:
            assert had >= EVERY_QUESTION - 12
        asked[question] += 1
    assert set(asked.values()) == {3}


def test_no_question_has_a_second_score_before_nearly_all_have_one(wide: Bench, workers: Workers) -> None:
    """The records of a session that was ended in its second round: the first is as good as complete."""
    wide.run(*workers, "--max-calls", "90", "--concurrency", "8")
    runs = Counter(entry["record"]["run"] for entry in wide.journal("record"))
    assert runs[1] >= EVERY_QUESTION - 12
    assert set(runs) <= {1, 2}


def collected(bench: Bench, *arguments: str) -> list[str]:
    """The ids in the order in which pytest has collected them."""
    done = bench.run("--collect-only", "-q", *arguments)
    return re.findall(r"\[(.*)\]$", done.stdout, re.MULTILINE)


def test_collection_goes_round_languages_and_areas_runs_outermost(wide: Bench, workers: Workers) -> None:
    """First the first question of each area in every language, then the second; then all of it once more."""
    expected = [
        f"{code}-{area}-q{1 + place * EACH + n:02d}_{area}_{n + 1}-run{run}"
        for run in range(1, RUNS + 1)
        for n in range(EACH)
        for place, area in enumerate(AREAS)
        for code in LANGUAGES
    ]
    assert collected(wide, *workers) == expected


def test_areas_of_unequal_size_end_one_after_the_other(bench: Bench) -> None:
    """Where an area has no question left, the others go on."""
    areas = ("one", "two", "one", "one", "three", "two")
    rows = [f"{n},q{n},{area},s,\n" for n, area in enumerate(areas, start=1)]
    index = "line,id,area,slug,keywords\n" + "".join(rows)
    text = "".join(f"Question {n}?\n" for n, _ in enumerate(areas))
    bench.write_topics({"index.csv": index, "aa.txt": text, "bb.txt": text})
    found = [name.split("-") for name in collected(bench, "--runs", "1")]
    assert [item.removesuffix("_s") for code, _, item, _ in found if code == "aa"] == [
        *("q1", "q2", "q5"),
        *("q3", "q6"),
        "q4",
    ]
    assert [code for code, *_ in found] == ["aa", "bb"] * 6
