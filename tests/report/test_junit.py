"""Gates as cases of a report of tests: which verdict is a failure, and which an error."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec import structs

from equipoise.report.junit import ReportedCase, gate_cases, incomplete_case, missing_run_cases
from equipoise.results.document import GateVerdict, Ruling

RULES = [
    Ruling(rule="a:-2pp", verdict="pass", why="it rose"),
    Ruling(rule="b:+1pp", verdict="inconclusive", why="too few runs"),
]


def gate(verdict: Literal["pass", "fail", "inconclusive"], rules: list[Ruling]) -> GateVerdict:
    """This verdict, of no runs."""
    return {"verdict": verdict, "rules": rules, "tests": 0, "planned": 0, "left": 0, "unscored": 0}


@pytest.mark.parametrize(
    ("inconclusive", "outcome"), [(None, "error"), ("pass", "skipped"), ("fail", "failed")]
)
def test_a_gate_and_each_of_its_rules_are_cases(inconclusive: str | None, outcome: str) -> None:
    """What is inconclusive is an error, as its exit status is another one, or what its option makes of it."""
    cases = list(gate_cases("x", gate("inconclusive", RULES), inconclusive))
    assert [(case.name, case.outcome) for case in cases] == [
        ("gate", outcome),
        ("gate::a:-2pp", "passed"),
        ("gate::b:+1pp", outcome),
    ]
    assert [case.why for case in cases] == [
        "a:-2pp PASS, b:+1pp INCONCLUSIVE",
        "gate PASS: a:-2pp: it rose",
        "gate INCONCLUSIVE: b:+1pp: too few runs",
    ]
    assert {case.suite for case in cases} == {"x"}


@pytest.mark.parametrize("inconclusive", [None, "pass", "fail"])
def test_a_gate_that_fails_is_a_failure(inconclusive: str | None) -> None:
    """Whatever becomes of its inconclusive rules."""
    rules = [*RULES, Ruling(rule="c:-1%", verdict="fail", why="it fell")]
    whole, *_, last = gate_cases("x", gate("fail", rules), inconclusive)
    assert (whole.outcome, last.outcome) == ("failed", "failed")


def test_an_advisory_rule_fails_nothing() -> None:
    """It is skipped, with its reason, unless it passes; results that are not complete are an error."""
    rules = [structs.replace(rule, required=False) for rule in RULES]
    _, *cases = gate_cases("x", gate("pass", rules), None)
    assert [(case.outcome, case.why) for case in cases] == [
        ("passed", "advisory PASS: a:-2pp: it rose"),
        ("skipped", "advisory INCONCLUSIVE: b:+1pp: too few runs"),
    ]
    assert incomplete_case("x", "disk full") == ReportedCase(
        suite="x", name="results", outcome="error", why="disk full"
    )


def test_missing_runs_are_no_success() -> None:
    """Runs that were not done are an error, and runs without a score a failure."""
    lacking: GateVerdict = {**gate("pass", RULES), "planned": 9, "left": 2, "unscored": 1}
    assert [(case.outcome, case.why) for case in missing_run_cases("x", lacking)] == [
        ("error", "2 of 9 runs were not done"),
        ("failed", "1 of 9 runs have no score"),
    ]
    assert [*missing_run_cases("x", gate("pass", RULES))] == []
