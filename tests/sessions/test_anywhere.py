"""A suite run from an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import forked
from conftest import PYTEST, Bench, equipoise, typed
from loopback import JUDGE, SUBJECT, Loopback


@pytest.mark.slow
def test_hints_repeat_the_command_that_was_typed(loopback: Loopback, tmp_path: Path) -> None:
    """Where there are no tests beside it, `pytest ...` would not work."""
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", loopback.url)
    none = equipoise(tmp_path, "run", "neutrality", status=4)
    assert "  equipoise run neutrality --model gpt-x -k AREA " in none.stderr
    assert "  equipoise run SUITE --model gpt-x " in none.stderr
    unlike = equipoise(tmp_path, "run", "neutrality", "--nothing-like-it")
    assert unlike.stderr.strip().endswith("no such option; `equipoise run neutrality --help` lists all")
    empty = equipoise(tmp_path, "run", "neutrality", *models, "-k", "nothing_like_it", status=5)
    assert "equipoise run neutrality --collect-only -q lists the names" in " ".join(empty.stdout.split())
    for done in (none, unlike, empty):
        assert not re.search("pytest (-|tests)", done.stdout + done.stderr), done.stdout


def test_several_models_are_asked_and_compared(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in results of their own, whose comparison ends the command."""
    monkeypatch.chdir(bench.folder)
    monkeypatch.setattr(
        "equipoise.cli.several_models.subprocess.run",
        lambda command, check: forked.run(command[len(PYTEST[:3]) :], bench.folder),
    )
    common = ("--evaluator-model", JUDGE, "--api-base-url", bench.server.url, "--runs", "2", "-q")
    done = typed("run", "neutrality", "--model", "one", "--model=two", *common)
    assert [line for line in done.stdout.splitlines() if line.startswith("== ")] == [
        "== one",
        "== two",
        "== neutrality: one and two",
    ]
    written = sorted(path.name for path in (bench.folder / "results").glob("[!.]*"))
    assert written == [f"{name}.neutrality.{kind}" for name in ("one", "two") for kind in ("json", "jsonl")]


def test_two_values_of_an_option_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one command line; what the environment adds to it is overridden."""
    assert bench.refusal("--model", "one", "--model", "two") == (
        "ERROR: --model: takes one value, but the command line has 'one' and 'two'; "
        "`equipoise run SUITE` takes it once for each model"
    )
    monkeypatch.setenv("PYTEST_ADDOPTS", "--runs 3")
    bench.run("--runs", "1", "--runs=1", status=0)
    assert {run for _, _, run in bench.scores()} == {1}
