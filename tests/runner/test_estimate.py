"""What a session would cost: by earlier sessions, else by assumptions that are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from journals import ask, begin, keep, record

from conftest import resolved
from equipoise.core.types import Foreseen, Reply, Role, Usage
from equipoise.models.budget import prompt_tokens
from equipoise.results.journal import FORMAT
from equipoise.runner import estimate
from equipoise.runner.estimate import ExpectedUse, Item, Range, Sample, Samples, SessionEstimate

Spent = tuple[Role, str, int, int]
"""One call: who, and how many tokens went in and came out."""


def near(value: float, low: float, high: float) -> Any:
    """A range that is this one but for rounding."""
    return pytest.approx((value, low, high))


def figures(estimated: Range) -> tuple[float, float, float]:
    """Value, low and high."""
    return estimated.value, estimated.low, estimated.high


def sample(*outputs: int) -> Sample:
    """One run for each of these, of one call with so many tokens of output and ten of input."""
    runs = Sample()
    for number, output in enumerate(outputs):
        runs.add(("x", f"a-run{number}"), Usage(input=10, output=output), 0.5)
    return runs


def session(
    path: Path, runs: dict[str, list[Spent]], *, ended: Sequence[str] | None = None, **about: Any
) -> Path:
    """The journal of a session on the suite s with these calls, all of whose runs ended where not said."""
    log = begin(path, list(runs), **{"suite": "s", **about})
    for run, calls in runs.items():
        for role, model, tokens_in, tokens_out in calls:
            usage = Usage(input=tokens_in, output=tokens_out)
            keep(log, ask("Why?", role=role, model=model), Reply(text="B", usage=usage), run=run)
        if ended is None or run in ended:
            log.append_record(record(run.removesuffix("-run1")), [])
    log.close()
    return path


def used(samples: Samples) -> dict[tuple[Role, str], list[list[float]]]:
    """Calls, input and output of every run, by role and model."""
    return {key: sorted(values[:3] for values in item.runs.values()) for key, (item, _) in samples.items()}


# From one sample.


def test_a_prediction_by_hand() -> None:
    """Of 10 and 14: mean 12, s = sqrt 8; for 3 more 36, plus or minus 1.96 sqrt(8 (3 + 9/2)) = 15.18."""
    use = sample(10, 14).expected_use(3, "so")
    margin = 1.96 * math.sqrt(8 * 7.5)
    assert margin == pytest.approx(15.182, abs=0.001)
    assert figures(use.output) == near(36, 36 - margin, 36 + margin)
    assert (figures(use.calls), figures(use.input)) == (near(3, 3, 3), near(30, 30, 30))
    assert use.basis == "so"
    # What varies from run to run is a run, not a call.
    runs = Sample()
    for output in (1, 2, 3):
        runs.add(("x", "a-run1"), Usage(input=5, output=output), 1.0)
    runs.add(("x", "b-run1"), Usage(input=15, output=6), 3.0)
    use = runs.expected_use(2, "")
    assert (use.input.value, use.output.value, use.calls.value, use.seconds.value) == (30, 12, 4, 6)
    assert figures(use.input) == near(30, 30, 30)


def test_a_range_where_a_sample_says_little() -> None:
    """After one run half and double, never below nothing, and nothing for nothing."""
    use = sample(20).expected_use(5, "")
    assert (figures(use.output), figures(use.calls)) == ((100, 50, 200), (5, 2.5, 10))
    use = sample(0, 1000).expected_use(2, "")
    assert use.output.low == 0
    assert use.output.high > 2000
    assert figures(sample(10, 14).expected_use(0, "").output) == (0, 0, 0)


# From journals.


def test_what_every_model_used_is_read_run_by_run(tmp_path: Path) -> None:
    """By role and model, over all journals; the last journal that tells of it is named."""
    calls: list[Spent] = [("subject", "m", 10, 20), ("evaluator", "e", 30, 5), ("evaluator", "e", 30, 6)]
    one = session(tmp_path / "one.jsonl", {"a-run1": calls, "b-run1": [("subject", "m", 1, 2)]})
    two = session(tmp_path / "two.jsonl", {"a-run1": [("subject", "m", 7, 8)]})
    samples = estimate.samples([one, two], "s")
    assert used(samples) == {
        ("subject", "m"): [[1, 1, 2], [1, 7, 8], [1, 10, 20]],
        ("evaluator", "e"): [[2, 60, 11]],
    }
    assert {key: name for key, (_, name) in samples.items()} == {
        ("subject", "m"): "two.jsonl",
        ("evaluator", "e"): "one.jsonl",
    }


def test_what_tells_nothing_is_left_out(tmp_path: Path) -> None:
    """Another suite or format, and runs that did not end, whatever a run of that name elsewhere did."""
    spent: list[Spent] = [("subject", "m", 10, 20)]
    for about in ({"suite": "other"}, {"format": FORMAT + 1}):
        path = session(tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl", {"a-run1": spent}, **about)
        assert estimate.samples([path], "s") == {}, about
    runs: dict[str, list[Spent]] = {"a-run1": spent, "b-run1": [("subject", "m", 1, 1)]}
    path = session(tmp_path / "x.jsonl", runs, ended=["a-run1"])
    session(path, {"b-run1": spent}, suite="other")
    assert used(estimate.samples([path], "s")) == {("subject", "m"): [[1, 10, 20]]}


def test_replies_without_a_count_of_tokens_are_estimated(tmp_path: Path) -> None:
    """By the length of the texts; they were calls like all others."""
    log = begin(tmp_path / "x.jsonl", ["a-run1"], suite="s")
    keep(log, ask("Why?"), Reply(text="x" * 30))
    log.append_record(record("a"), [])
    log.close()
    expected = [[1, prompt_tokens(ask("Why?")), 10]]
    assert used(estimate.samples([tmp_path / "x.jsonl"], "s")) == {("subject", "m"): expected}


# What a model would use.

RUNS = [
    [Foreseen(role="subject", prompt="Why?"), Foreseen(role="evaluator", prompt="Judge it. é😀", quoted=1)]
] * 3


def test_what_is_known_of_the_model_itself_comes_first() -> None:
    """In that role, else of other models, of which the built-in one is none."""
    other = Sample()
    other.add(("x", "a-run0"), Usage(input=10, output=30), 0.5)
    judging: Samples = {("evaluator", "m"): (sample(1000), "y.jsonl")}
    own: Samples = {("subject", "m"): (sample(10, 14), "x.jsonl")}
    own = {**own, ("subject", "n"): (sample(1000), "y.jsonl")}
    use = estimate.expected_use("subject", "m", RUNS, {**own, **judging})
    assert (use.output.value, use.basis) == (36, "as in 2 runs of it, the last in x.jsonl")
    others: Samples = {("subject", "a"): (sample(10), "x.jsonl"), ("subject", "b"): (other, "y.jsonl")}
    use = estimate.expected_use("subject", "m", RUNS, {**others, **judging})
    lengths = "from a third to three times the lengths in 2 runs of other models (a, b)"
    assert (use.output.value, use.basis) == (60, f"wide, as the model is new here: {lengths}")
    same = sample(10)
    same.add(("y", "a-run0"), Usage(input=10, output=30), 0.5)
    narrow = same.expected_use(3, "").output
    assert figures(use.output) == (60, narrow.low / 3, narrow.high * 3)
    use = estimate.expected_use("subject", "m", RUNS, {("subject", "local"): (sample(10), "demo.jsonl")})
    assert use.basis.startswith("assumed")


def test_a_new_subject_makes_the_evaluators_prompts_uncertain() -> None:
    """They quote its replies: what is known of the evaluator is about those of others."""
    known: Samples = {("evaluator", "e"): (sample(10, 14), "x.jsonl")}
    settings = resolved({"model": "m", "evaluator_model": ["e"]})
    new = estimate.expected_uses(settings, RUNS, known)[1]
    assert figures(new.input) == near(30, 15, 60)
    assert new.basis == (
        "as in 2 runs of it, the last in x.jsonl, of other subjects: from half to twice the prompts"
    )
    again = estimate.expected_uses(settings, RUNS, {**known, ("subject", "m"): (sample(1), "x.jsonl")})[1]
    assert figures(again.input) == near(30, 30, 30)


def test_else_it_is_assumed() -> None:
    """A token for four bytes of a prompt, more or less, replies of a likely, a low and a high length."""
    # Three prompts of 4 bytes; three of 16, each with one reply of the subject in it.
    subject, evaluator = (estimate.expected_use(role, "m", RUNS, {}) for role in ("subject", "evaluator"))
    assert (figures(subject.calls), figures(evaluator.calls)) == ((3, 3, 3), (3, 3, 3))
    assert figures(subject.input) == pytest.approx((3, 2.4, 4.8))
    assert figures(subject.output) == (2400, 900, 6000)
    assert figures(evaluator.input) == pytest.approx((12 + 2400, 9.6 + 900, 19.2 + 6000))
    assert figures(evaluator.output) == (750, 300, 1800)
    assert subject.basis == (
        "assumed: 800 tokens a reply (300 to 2000), a token for 4 bytes of a prompt (5 to 2.5)"
    )
    assert "250 tokens a reply (100 to 600)" in evaluator.basis
    # A limit bounds what the subject writes and what the evaluator reads of it.
    limits: estimate.Limits = {"subject": 500, "evaluator": None}
    subject, evaluator = (estimate.expected_use(role, "m", RUNS, {}, limits) for role in limits)
    assert figures(subject.output) == (1500, 900, 1500)
    assert figures(evaluator.input) == pytest.approx((12 + 1500, 9.6 + 900, 19.2 + 1500))
    assert subject.basis.startswith("assumed: 500 tokens a reply (300 to 500)")


def test_a_call_that_a_run_may_make_is_in_the_highest_case_alone() -> None:
    """With the reply that it quotes, as long as the first one may be; the basis says how many there are."""
    first = Foreseen(role="subject", prompt="Why?", length=5)
    again = Foreseen(role="subject", prompt="Why? Yes?!", quoted=1, length=5, is_possible=True)
    use = estimate.expected_use("subject", "m", [[first, again]] * 3, {})
    assert figures(use.calls) == (3, 3, 6)
    assert figures(use.input) == pytest.approx((3, 2.4, 4.8 + 12 + 3 * 300))
    assert figures(use.output) == (15, 15, 6 * 300)
    assert figures(use.seconds) == pytest.approx((3 + 15 / 50, 1.5 + 15 / 150, 18 + 1800 / 15))
    assert use.basis.startswith("assumed: 5 tokens a reply (5 to 300), a token")
    assert use.basis.endswith("; at most 3 further calls, where a run asks again")


# What a user sees.


def exactly(value: float) -> Range:
    """A range without width."""
    return Range(value=value, low=value, high=value)


USE = ExpectedUse(
    calls=exactly(1200),
    input=Range(value=2000, low=1000, high=4000),
    output=Range(value=200, low=100, high=400),
    seconds=exactly(600),
    basis="so it is",
)


def item(role: str, model: str, cost: Range | None) -> Item:
    """A model's part of an estimate."""
    return Item(role=role, model=model, use=USE, cost=cost)


PRICE = estimate.price(USE, lambda tokens_in, tokens_out: (tokens_in + tokens_out) / 1000)


def test_the_lines_of_an_estimate() -> None:
    """Runs, then every model with calls, cost, tokens and basis, then the sum, and notes."""
    session_estimate = SessionEstimate(
        runs=1500, done=0, items=[item("subject", "m", PRICE), item("evaluator", "e", PRICE)], notes=["so"]
    )
    assert list(session_estimate.lines()) == [
        "runs:      1,500 to do",
        "subject:   m: 1,200 calls, 2.20 USD (1.10 to 4.40)",
        "           2,000 (1,000 to 4,000) tokens in, 200 (100 to 400) out",
        "           so it is",
        "evaluator: e: 1,200 calls, 2.20 USD (1.10 to 4.40)",
        "           2,000 (1,000 to 4,000) tokens in, 200 (100 to 400) out",
        "           so it is",
        "total:     4.40 USD (2.20 to 8.80), subject 2.20 and evaluators 2.20: prices as listed or given, "
        "tokens as estimated",
        "note:      so",
    ]


def test_several_suites_have_a_total() -> None:
    """The sums of runs, calls, tokens and cost."""
    one = SessionEstimate(runs=1500, done=10, items=[item("subject", "m", PRICE)])
    two = SessionEstimate(runs=3, done=0, items=[item("subject", "m", PRICE), item("evaluator", "e", PRICE)])
    assert list(estimate.together([one, two]).total()) == [
        "runs:      1,503 to do, 10 already done",
        "calls:     3,600",
        "tokens:    6,000 (3,000 to 12,000) in, 600 (300 to 1,200) out",
        "total:     6.60 USD (3.30 to 13.20), subject 4.40 and evaluators 2.20: prices as listed or given, "
        "tokens as estimated",
    ]


def test_a_model_without_a_price_leaves_the_sum_unknown() -> None:
    """That is said once, with what to do, and the others' cost is still shown."""
    items = [item("subject", "m", PRICE), item("evaluator", "e", None)]
    shown = [*SessionEstimate(runs=1, done=2000, items=items).lines()]
    assert shown[0] == "runs:      1 to do, 2,000 already done"
    assert shown[1] == "subject:   m: 1,200 calls, 2.20 USD (1.10 to 4.40)"
    assert shown[4] == "evaluator: e: 1,200 calls"
    unknown = "unknown: no price for e; give --price-input and --price-output"
    assert shown[-1] == f"total:     {unknown}; all else 2.20 USD (1.10 to 4.40)"
    assert sum("unknown" in line for line in shown) == 1
    one, other = (SessionEstimate(runs=1, done=0, items=[item]) for item in items)
    assert [*estimate.together([one, other]).total()][-1].startswith("total:     unknown: no price for e; ")
