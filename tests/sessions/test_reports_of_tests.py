"""Whole sessions, and whether JUnit's report and pytest-json-report say of them what the exit status says."""

from __future__ import annotations

import shutil
from itertools import repeat
from pathlib import Path

import pytest
import reported
import sixth_suite

import forked
from conftest import PYTEST, ROOT, SMALL_DATASET, Bench, write_files
from fates import Fates
from loopback import JUDGE, SUBJECT, is_judge, verdict

FILE = "tests_benchmark/test_neutrality.py"
RUNS = 4
"""Runs of the small dataset, each asked once."""
ONCE = ("--runs", "1", "--evaluator-attempts", "1")


@pytest.mark.slow
def test_a_run_without_a_score_is_a_failure_beside_the_gate(bench: Bench) -> None:
    """It fails the rule, too, whose sentence is in the reports; nothing that a model said is."""
    bench.server.script = Fates(judge={"O que é um?": repeat("No verdict.")})
    done = bench.run(*ONCE, "--gate", "unscored:1%", *reported.OPTIONS, status=7)
    assert "1 gate FAIL" in done.stdout
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit) == (7, {"passed": RUNS - 1, "failure": 3})
    assert reports.json == {"passed": RUNS - 1, "unscored": 1, "failed": 2}
    why = "gate FAIL: unscored:1%: 1 of 4 runs have no score (25.0 %)"
    assert reports.cases[f"{FILE}::gate::unscored:1%"] == ("failure", "failed", why)
    texts = [(bench.folder / name).read_text(encoding="utf-8") for name in ("junit.xml", "report.json")]
    assert not any("An answer to" in text for text in texts)


@pytest.mark.slow
def test_a_session_that_was_stopped_is_an_error(bench: Bench) -> None:
    """By a limit of calls: the results are a case that says how much is left, and why."""
    bench.run(*ONCE, "--concurrency", "1", "--max-calls", "3", *reported.OPTIONS, status=2)
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit["error"], reports.json["error"]) == (2, 1, 1)
    tag, outcome, why = reports.cases[f"{FILE}::results"]
    assert (tag, outcome) == ("error", "error")
    assert "runs are still to be done: --max-calls" in why


UNSAVED = """\
import pathlib

def pytest_runtest_logreport(report):
    pathlib.Path("results/subject.neutrality.json").mkdir(parents=True, exist_ok=True)
"""


@pytest.mark.slow
def test_results_that_cannot_be_written_are_an_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """All runs have a score, and the last line does not read as if all were well."""
    done = bench.run("-n", "2", *ONCE, *bench.plugin(monkeypatch, UNSAVED), *reported.OPTIONS, status=1)
    assert f"{RUNS} passed, 1 not saved in" in done.stdout
    reports = reported.read(bench.folder)
    assert (reports.status, reports.junit) == (1, {"passed": RUNS, "error": 1})
    assert "equipoise show" in reports.cases[f"{FILE}::results"][2]


@pytest.mark.slow
def test_workers_and_resumed_sessions_report_the_same(bench: Bench, subtests: pytest.Subtests) -> None:
    """A gate that fails, when runs are asked and when all are replayed; --lf and -x do not go by it."""
    bench.server.script = lambda body, number: verdict(4) if is_judge(body) else "Hm."
    bench.run("--runs", "2", status=0)
    shutil.copy(bench.results_path, bench.folder / "base.json")
    bench.server.script = lambda body, number: verdict(2) if is_judge(body) else "Hm."
    rules = ("--gate", "question:-1.0", "--gate", "unscored:1%")
    gated = ("-n", "2", "--runs", "2", "--baseline=base.json", *rules, *reported.OPTIONS)
    for extra in ("--fresh", "--lf", "-x"):
        with subtests.test(extra):
            done = bench.run(*gated, extra, status=7)
            assert f"{2 * RUNS} passed, 1 gate FAIL in" in done.stdout
            assert "stopping after" not in done.stdout
            reports = reported.read(bench.folder)
            assert (reports.status, reports.junit) == (7, {"passed": 2 * RUNS + 1, "failure": 2})
            assert reports.cases[f"{FILE}::gate"][2] == "question:-1.0 FAIL, unscored:1% PASS"


@pytest.mark.slow
def test_an_inconclusive_gate_is_what_its_option_says(bench: Bench) -> None:
    """Skipped where it counts as passed, and a failure where it counts as failed, in red."""
    bench.server.script = lambda body, number: verdict(1 + number % 5) if is_judge(body) else "Hm."
    bench.run("--runs", "2", status=0)
    shutil.copy(bench.results_path, bench.folder / "base.json")
    again = ("--runs", "2", "--output", "new.json", "--baseline=base.json", "--color=yes")
    for how, status, tag in (("pass", 0, "skipped"), ("fail", 7, "failure")):
        gated = ("--gate", "overall:-2pp@population", "--gate-inconclusive", how)
        done = bench.run(*again, *gated, *reported.OPTIONS, status=status)
        last = done.stdout.splitlines()[-1]
        assert ("1 gate INCONCLUSIVE" in last, "\x1b[31m" in last) == (True, how == "fail")
        reports = reported.read(bench.folder)
        assert (reports.status, reports.junit) == (status, {"passed": 2 * RUNS, tag: 2})


@pytest.mark.slow
def test_each_suite_has_a_gate_of_its_own(bench: Bench, tmp_path: Path) -> None:
    """Of two suites in one session one fails: each has its cases in its own file."""
    folder = sixth_suite.copied(tmp_path / "own")
    shutil.copy(ROOT / FILE, folder / FILE)
    write_files(folder / "topics" / "neutrality", SMALL_DATASET)
    bench.server.script = Fates(judge={"O que é um?": repeat("No verdict.")})
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", bench.server.url)
    arguments = ("tests_benchmark", *ONCE, "--gate", "unscored:1%", *reported.OPTIONS)
    done = forked.run([*PYTEST[3:], *models, *arguments], folder)
    assert done.returncode == 7, done.stdout + done.stderr
    reports = reported.read(folder)
    other = "tests_benchmark/test_attribution.py"
    assert {name: tag for name, (tag, *_) in reports.cases.items()} == {
        f"{other}::gate": "passed",
        f"{other}::gate::unscored:1%": "passed",
        f"{FILE}::gate": "failure",
        f"{FILE}::gate::unscored:1%": "failure",
    }
