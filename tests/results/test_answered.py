"""Who answered: a change of the model in a session or between two is told in a line, and decides nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_client import USAGE, Answer, Project, plain

from equipoise.comparison.compare import compare
from equipoise.comparison.gate.verdict import rule_on_all
from equipoise.comparison.of_files import compare_files
from equipoise.core.rules import parse_rule
from equipoise.core.types import Call, Reply
from equipoise.report import verdict
from equipoise.report.page import data as page_data
from equipoise.results.answered import changes, changes_between, changes_within, sentences
from equipoise.results.load import load
from equipoise.results.results import RunCounts

NEW = "subject subject: the endpoint answered as gpt-1 in 10 calls and gpt-2 in 10 (from {} on)"


def answering(name: Callable[[int], dict[str, Any]]) -> Callable[[Call], Answer]:
    """A client whose nth reply of the subject is by this model."""
    number = iter(range(10_000))

    def script(call: Call) -> Answer:
        text = plain(call)
        if call.role == "evaluator":
            return text
        return Reply(text=str(text), usage=USAGE, **name(next(number)))

    return script


def row(name: str | None = "m-1", calls: int = 5, **parts: Any) -> dict[str, Any]:
    """A row of the metadata."""
    return {"role": "subject", "model": "m", "response_model": name, "calls": calls, **parts}


def placed(first: int, last: int) -> dict[str, Any]:
    """Which calls of all a row is about."""
    return {"first_run": f"run-{first}", "first_call": first, "last_call": last}


def told(*rows: dict[str, Any], concurrency: int = 4) -> list[str]:
    """What is said of a session, without the role and the model."""
    metadata: Any = {"response_models": rows, "concurrency": concurrency}
    texts = sentences(metadata)
    return [text.removeprefix("subject m: the endpoint ") for text in texts]


def test_a_change_in_a_session_is_told_everywhere(project: Project) -> None:
    """In the results, the table, on the page, in a comparison, and beside the verdict of a gate."""
    project.client.script = answering(lambda n: {"model": "gpt-1" if n < 10 else "gpt-2"})
    ran = project.run(concurrency="1")
    data = json.loads(project.results_path.read_bytes())
    [text] = data["metadata"]["answered"]
    second = next(item for item in data["metadata"]["response_models"] if item["response_model"] == "gpt-2")
    assert text == NEW.format(second["first_run"])
    assert f"answered: {text}" in ran.summary
    side = load(project.results_path)
    assert f"Who answered: {text}" in page_data.page_result(side, 0, {}).warnings
    assert [item for item in compare(side, side).warnings if "answered" in item] == [
        f"in the baseline, {text}",
        f"in the candidate, {text}",
    ]
    path = project.results_path
    [sections] = compare_files([path], [path], [parse_rule("overall:-2pp")], allows_mismatch=False)
    plainly = rule_on_all(
        [parse_rule("overall:-2pp")], compare(side, side), RunCounts(planned=20, left=0, unscored=0)
    )
    assert sections["gate"]["verdict"] == plainly["verdict"]
    assert f"answered:  in the candidate, {text}" in list(verdict.lines({"": sections}))


def test_models_side_by_side_and_fingerprints(subtests: pytest.Subtests) -> None:
    """A first one that goes on is no change in time, and random fingerprints tell nothing."""
    for rows, expected in (
        ([row(**placed(1, 5)), row(None, **placed(2, 9))], []),
        (
            [row(**placed(1, 30)), row("m-2", 3, **placed(9, 40))],
            ["answered as m-1 in 5 calls and m-2 in 3 (interleaved, from run-9 on)"],
        ),
        (
            [row("m-2", 3, **placed(9, 40)), row(**placed(1, 12)), row("m-3", 1, **placed(41, 41))],
            ["answered as m-1 in 5 calls, m-2 in 3 (from run-9 on) and m-3 in 1 (from run-41 on)"],
        ),
        *(
            (
                [row(**placed(1, last)), row("m-2", 3, **placed(9, 40))],
                [f"answered as m-1 in 5 calls and m-2 in 3 ({how} run-9 on)"],
            )
            for last, how in ((17, "from"), (18, "interleaved, from"))
        ),
        ([row(), row("m-2", 3)], ["answered as m-1 in 5 calls and m-2 in 3"]),
        (
            [row(system_fingerprint="f1", **placed(1, 8)), row(system_fingerprint="f2", **placed(9, 9))],
            ["gave the fingerprint as f1 in 5 calls and f2 in 5 (from run-9 on)"],
        ),
        (
            [row(provider="p", **placed(1, 2)), row(provider="q", **placed(3, 4))],
            ["answered by way of p in 5 calls and q in 5 (from run-3 on)"],
        ),
        (
            [row(system_fingerprint=f"f{n}", **placed(n, n)) for n in range(1, 99)],
            ["gave 98 fingerprints, too many for a new one to indicate a change"],
        ),
    ):
        with subtests.test(str(expected)):
            assert told(*rows) == expected
    sides: list[Any] = [
        {"response_models": [row(system_fingerprint=f"{side}{n}") for n in range(9)]} for side in "ab"
    ]
    one, other = sides
    assert (changes_between(one, other), changes_within(one, other)) == ([], [])
    assert (len(sentences(one)), changes(one)) == (1, [])
