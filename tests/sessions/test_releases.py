"""Whole sessions of releases that are compared, gated, or stopped when they are precise enough."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import reported
from click.testing import CliRunner
from releases import release

from conftest import Bench
from equipoise.cli import main
from fates import write_dataset
from loopback import is_judge, question_of, verdict

TWO = ("-n", "2")
BASELINE = "base.json"
FRESH = ("--fresh", "--runs", "2")
WITH = (f"--baseline={BASELINE}", *FRESH)
GATE = ("--gate", "overall:-2pp")


def rulings(bench: Bench) -> dict[str, str]:
    """The verdicts in the results JSON, by rule, and of the whole."""
    gate = bench.results()["gate"]
    return {**{row["rule"]: row["verdict"] for row in gate["rules"]}, "": gate["verdict"]}


def test_the_gate_decides_the_exit_status(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same model passes, one that fell everywhere fails, one that fell and rose is not decided."""
    write_dataset(bench, [f"What is item {number}?" for number in range(8)])
    bench.server.script = lambda body, number: verdict(4) if is_judge(body) else "Hm."
    assert bench.run("--runs", "2").returncode == 0
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    summary = bench.folder / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    file = "tests_benchmark/test_neutrality.py"
    rule = f"{file}::gate::overall:-2pp"
    passed = bench.run(*WITH, *GATE, *reported.OPTIONS)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit, {*reports.json}) == (0, {"passed": 18}, {"passed"})
    assert [*reports.cases] == [f"{file}::gate", rule]
    assert reports.cases[f"{file}::gate"] == ("passed", "passed", "overall:-2pp PASS")
    assert rulings(bench) == {"overall:-2pp": "pass", "": "pass"}
    assert bench.results()["comparison"]["baseline"]["file"] == BASELINE
    assert "::notice title=neutrality%3A gate PASS::overall:-2pp: " in passed.stdout
    assert "**Gate: PASS: every rule passes.**\n\n## Equipoise: " in summary.read_text(encoding="utf-8")
    bench.server.script = lambda body, number: verdict(2) if is_judge(body) else "Hm."
    failed = bench.run(*WITH, *GATE, *reported.OPTIONS)
    assert failed.returncode == 7, failed.stdout + failed.stderr
    assert "gate FAIL: overall:-2pp" in failed.stdout
    assert "16 passed, 1 gate FAIL in" in failed.stdout
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit, reports.json) == (
        7,
        {"passed": 16, "failure": 2},
        {"passed": 16, "failed": 2},
    )
    tag, outcome, why = reports.cases[rule]
    assert (tag, outcome) == ("failure", "failed")
    assert why.startswith("gate FAIL: overall:-2pp: 75.00 % before, 25.00 % after: -50.00 pp")
    bench.server.script = lambda body, number: (
        verdict(1 + 4 * (int(question_of(body)[-2]) % 2)) if is_judge(body) else "Hm."
    )
    undecided = bench.run(*WITH, "--gate", "overall:-2pp@population", *reported.OPTIONS)
    assert undecided.returncode == 6, undecided.stdout + undecided.stderr
    assert "gate INCONCLUSIVE: overall:-2pp@population" in undecided.stdout
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit, reports.json) == (
        6,
        {"passed": 16, "error": 2},
        {"passed": 16, "error": 2},
    )


@pytest.fixture
def small(bench: Bench) -> Bench:
    """A project with the small dataset and a baseline of it."""
    assert bench.run("--runs", "2").returncode == 0
    shutil.copy(bench.results_path, bench.folder / BASELINE)
    bench.server.requests.clear()
    return bench


@pytest.mark.slow
def test_a_run_without_a_score_fails_the_session_whatever_the_gate(small: Bench) -> None:
    """A gate that passes does not hide that something is missing."""
    small.server.script = lambda body, number: "No verdict." if is_judge(body) else "Hm."
    done = small.run(*WITH, "--gate", "unscored:100%", "--evaluator-attempts", "1")
    assert done.returncode == 1
    assert "gate PASS: unscored:100%" in done.stdout


# Precise enough.


@pytest.mark.slow
def test_rounds_are_bought_until_the_interval_is_narrow(bench: Bench, tmp_path: Path) -> None:
    """Where runs hardly differ one round tells as much as five; results that are recovered know of it."""
    bench.use_real_topics()
    bench.server.script = release(1)
    done = bench.run(*TWO, "--until", "overall:±5pp@population")
    assert done.returncode == 0, done.stdout + done.stderr
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
    assert CliRunner().invoke(main, ["show", str(bench.journal_path), "--output", str(output)]).exit_code == 0
    again = json.loads(output.read_text(encoding="utf-8"))
    assert (again["summary"], again["metadata"]["status"]) == (data["summary"], "complete")


@pytest.mark.slow
def test_an_interrupted_session_of_rounds_goes_on_to_the_end(bench: Bench) -> None:
    """Nothing is asked and no look taken twice; the results say that the width was not reached."""
    arguments = (*TWO, "--until", "overall:±0.1pp", "--runs", "3")
    assert bench.run(*arguments, "--max-calls", "13").returncode == 2
    done = bench.run(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bench.server.requests) == 2 * 4 * 3
    assert [look["round"] for look in bench.journal("look")] == [1, 2, 3]
    until = bench.results()["summary"]["until"]
    assert (until["is_reached"], until["runs"], len(until["looks"])) == (False, 3, 3)
