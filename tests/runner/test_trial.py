"""An evaluator that never gives a valid verdict: how many runs it may spoil, and who is not on trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from fake_client import Answer, plain
from journals import record

from equipoise.core.records import Choice, Record, Verdict
from equipoise.core.types import Call
from equipoise.runner.trial import MOST_RUNS, Trial

if TYPE_CHECKING:
    from fake_client import Project

SILLY = Verdict(evaluator="j", fields=None, attempts=1, error="not a JSON object", raw=("I'd\nrather not.",))
VALID = Verdict(evaluator="j", fields={"score": 3}, attempts=1)
NO_LABEL = Choice(evaluator="j", probabilities=None, error="an answer without a label", raw=("Both.",))
LABEL = Choice(evaluator="j", probabilities={"A": 1.0}, method="samples")
UNANSWERED = Verdict(evaluator="j", fields=None, attempts=0, error="HTTP 400: No.")


def judged(*runs: Sequence[Verdict | Choice], earlier: Sequence[Record] = ()) -> list[str]:
    """Why the session is stopped once an evaluator has given this, run by run."""
    reasons: list[str] = []
    trial = Trial(reasons.append, lambda text: text)
    for answers in runs:
        trial.note("j", answers, lambda: earlier)
    return reasons


def test_an_evaluator_without_a_valid_verdict_ends_the_session(subtests: pytest.Subtests) -> None:
    """After so many runs, naming it, what was wrong and what it says; labels are verdicts, too."""
    for name, answers, reason in (
        ("verdict", [SILLY], "(not a JSON object); it says: I'd\\nrather not.; name another"),
        ("label", [NO_LABEL, NO_LABEL], "(an answer without a label); it says: Both.; name another"),
        ("empty", [Verdict(evaluator="j", fields=None, attempts=1, error="x", raw=("",))], "(nothing)"),
    ):
        with subtests.test(name):
            assert judged(*[answers] * (MOST_RUNS - 1)) == []
            (why,) = judged(*[answers] * MOST_RUNS)
            assert why.startswith("evaluator 'j': no valid verdict in the first 20 runs that it judged ")
            assert reason in why


def test_one_valid_verdict_is_enough(subtests: pytest.Subtests) -> None:
    """Also in an earlier session; runs without a reply do not count, nor does another's verdict."""
    earlier, others = (
        replace(record("a"), verdicts=(replace(VALID, evaluator=name),)) for name in ("j", "k")
    )
    for name, runs, records, stops in (
        ("verdict", [[VALID], *[[SILLY]] * 30], [], 0),
        ("label", [[NO_LABEL, LABEL], *[[NO_LABEL]] * 30], [], 0),
        ("no reply", [[UNANSWERED]] * 30, [], 0),
        ("earlier verdict", [[SILLY]] * 30, [earlier], 0),
        ("another's earlier verdict", [[SILLY]] * MOST_RUNS, [others], 1),
    ):
        with subtests.test(name):
            assert len(judged(*runs, earlier=records)) == stops
    # A long reply is shortened: the line stays one that can be read.
    (why,) = judged(*[[replace(SILLY, raw=("y" * 5000,))]] * 20)
    assert f"{'y' * 200}...; name" in why


def test_a_member_of_a_panel_is_on_trial_as_well(project: Project, subtests: pytest.Subtests) -> None:
    """Others' verdicts do not count for it; once it judges, or with --keep-going, all goes on."""

    def judging(call: Call) -> Answer:
        return "No." if call.model == "b" else plain(call)

    project.client.script = judging
    options: dict[str, Any] = {"evaluator_model": ["a", "b"], "evaluator_attempts": "1"}
    with subtests.test("stops"):
        assert "evaluator 'b': no valid verdict in the first 20" in (project.run(**options).stop_reason or "")
        project.client.script = plain
        assert project.run(**options).is_complete
        assert project.client.count("subject") == 20
    project.client.script = judging
    with subtests.test("keeps going"):
        ran = project.run(**options, keep_going="true", fresh="true")
        assert ran.stop_reason is None
        assert len(ran.records) == 20
