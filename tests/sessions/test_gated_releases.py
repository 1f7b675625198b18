"""Whole sessions of all suites against a folder of baselines: one table, one verdict, one exit status."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import reported
from click.testing import CliRunner

from conftest import SHIPPED, Bench
from equipoise.cli import main
from loopback import SUBJECT, any_verdict, verdict

GATES = """
inconclusive = "pass"
[all]
required = ["unscored:1%"]
[neutrality]
required = ["overall:-2pp", "refused:+3pp"]
advisory = ["zh-CN:-5%"]
[chinese_simpleqa]
required = ["incorrect:+2pp"]
[borderlines]
required = ["unscored:0%"]
"""


def harsh(body: dict[str, Any], number: int) -> str:
    """As before, but neutrality's evaluator gives a 1."""
    text = any_verdict(body, number)
    return verdict(1) if '"score"' in text else text


def released(bench: Bench, *arguments: str, status: int = 0) -> Any:
    """A session of all suites, two items of each and two runs."""
    part = ("--limit", "2", "--runs", "2", "--fresh")
    return bench.run("tests_benchmark", *part, *arguments, status=status)


def results_of(bench: Bench) -> list[str]:
    """The results files of all suites."""
    return [str(bench.folder / "results" / f"{SUBJECT}.{name}.json") for name in SHIPPED]


def junit_ids(file: str) -> set[tuple[str, str]]:
    """The class and the name of each case in JUnit's report."""
    return {(case.attrib["classname"], case.attrib["name"]) for case in ET.parse(file).iter("testcase")}


@pytest.fixture
def base(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A project with a folder of baselines of all suites, and rules."""
    monkeypatch.chdir(bench.folder)
    bench.use_real_topics()
    bench.server.script = any_verdict
    released(bench)
    (bench.folder / "baselines").mkdir()
    for path in results_of(bench):
        shutil.copy(path, bench.folder / "baselines")
    (bench.folder / "gates.toml").write_text(GATES)
    return bench


def gate(*arguments: str, files: Sequence[str]) -> tuple[int, list[str]]:
    """`equipoise gate` on these results: its exit status and its lines."""
    done = CliRunner().invoke(
        main, ["gate", *files, "--baseline", "baselines", "--gate", "gates.toml", *arguments]
    )
    return done.exit_code, done.stdout.splitlines()


@pytest.mark.slow
def test_a_release_of_all_suites_has_one_verdict(base: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terminal, JUnit, job summary, results and `equipoise gate` agree; a fall in one suite fails all."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(base.folder / "summary.md"))
    options = ("--baseline", "baselines", "--gate", "gates.toml", "-n", "2")
    for script, status, word in ((any_verdict, 0, "PASS"), (harsh, 7, "FAIL")):
        base.server.script = script
        (base.folder / "summary.md").unlink(missing_ok=True)
        done = released(base, *options, *reported.OPTIONS, status=status)
        lines = done.stdout.splitlines()
        first = next(line for line in lines if line.startswith("gate: "))
        assert first == ("gate: FAIL" if status else "gate: INCONCLUSIVE")
        rows = [line.split() for line in lines[lines.index(first) + 2 :][: len(SHIPPED)]]
        shown = {row[0]: row[1] for row in rows}
        assert [*shown] == [*SHIPPED]
        assert (shown["borderlines"], shown["even_handedness"]) == ("PASS", "PASS")
        reports = reported.read(base.folder)
        assert reports.status == status
        assert (reports.junit.get("failure", 0) > 0) is bool(status)
        summary = (base.folder / "summary.md").read_text(encoding="utf-8")
        assert summary.startswith(f"**Gate: {first.removeprefix('gate: ')}: ")
        for name, path in zip(SHIPPED, results_of(base), strict=True):
            ruling = json.loads(Path(path).read_bytes())["gate"]
            assert ruling["verdict"].upper() == shown[name]
            assert ruling["tests"] == 3
        again, printed = gate("--junitxml", "gate.xml", files=results_of(base))
        assert (again, printed[0]) == (status, first)
        of_runs = {name for name in junit_ids("junit.xml") if "[" in name[1]}
        assert junit_ids("gate.xml") == junit_ids("junit.xml") - of_runs
        assert (' failures="0"' in Path("gate.xml").read_text(encoding="utf-8")) is not bool(status)
        assert word in printed[0] or not status
    assert base.server.requests
