"""Whole sessions of releases that are compared, gated, or stopped when they are precise enough."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import Bench, typed
from loopback import is_judge, question_of, score_of, verdict

TWO = ("-n", "2")
BASELINE = "base.json"
FRESH = ("--fresh", "--runs", "2")
WITH = (f"--baseline={BASELINE}", *FRESH)


@pytest.fixture
def small(bench: Bench) -> Bench:
    """A project with the small dataset and a baseline of it."""
    bench.run("--runs", "2", status=0)
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    bench.server.requests.clear()
    return bench


@pytest.mark.slow
def test_a_run_without_a_score_fails_the_session_whatever_the_gate(small: Bench) -> None:
    """A gate that passes does not hide that something is missing."""
    small.server.script = lambda body, number: "No verdict." if is_judge(body) else "Hm."
    done = small.run(*WITH, "--gate", "unscored:100%", "--evaluator-attempts", "1", status=1)
    assert "gate PASS: unscored:100%" in done.stdout


# Precise enough.


@pytest.mark.slow
def test_rounds_are_bought_until_the_interval_is_narrow(bench: Bench, tmp_path: Path) -> None:
    """Where runs do not differ few rounds tell as much as five; results that are recovered know of it."""
    bench.use_real_topics()
    bench.server.script = lambda body, number: (
        verdict(3 + score_of(question_of(body)) % 2) if is_judge(body) else "An answer."
    )
    done = bench.run(*TWO, "--until", "overall:±5pp@population", status=0)
    data = bench.results()
    until = data["summary"]["until"]
    assert until["is_reached"]
    assert until["runs"] < 5
    assert len(bench.server.requests) == 2 * 150 * until["runs"]
    assert data["metadata"]["status"] == "complete"
    assert data["metadata"]["runs_expected"] == 150 * until["runs"]
    assert until["looks"][-1]["half_width"] <= 5
    assert data["summary"]["metrics"]["overall"]["low"] == until["looks"][-1]["low"]
    assert (
        f"until:     overall:±5pp@population reached after {until['runs']} runs of each question"
        in done.stdout
    )
    assert f"{150 * (5 - until['runs'])} skipped" in done.stdout
    output = tmp_path / "again.json"
    typed("show", bench.journal_path, "--output", output)
    again = json.loads(output.read_text(encoding="utf-8"))
    assert (again["summary"], again["metadata"]["status"]) == (data["summary"], "complete")


@pytest.mark.slow
def test_an_interrupted_session_of_rounds_goes_on_to_the_end(bench: Bench) -> None:
    """Nothing is asked and no look taken twice; the results say that the width was not reached."""
    arguments = (*TWO, "--until", "overall:±0.1pp", "--runs", "3")
    bench.run(*arguments, "--max-calls", "13", status=2)
    bench.run(*arguments, status=0)
    assert len(bench.server.requests) == 2 * 4 * 3
    assert [look["round"] for look in bench.journal("look")] == [1, 2, 3]
    until = bench.results()["summary"]["until"]
    assert (until["is_reached"], until["runs"], len(until["looks"])) == (False, 3, 3)
