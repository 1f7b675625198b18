"""`equipoise compare`: what it shows, what it writes and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import one_question
import pytest
from click.testing import CliRunner, Result
from sides import Runs, by_chance, data_of, write, write_data

from equipoise.cli import main
from equipoise.comparison.of_files import compare_files
from equipoise.core import json_io
from equipoise.core.rules import parse_rule
from equipoise.core.types import JSON

BEFORE = by_chance(1)
METRICS = ("overall", "aa", "bb", "cc")


@pytest.fixture(autouse=True)
def _baseline(folder: Path) -> None:
    """The baseline is in the current folder."""
    write(folder / "old.json", BEFORE)


def run(*arguments: str) -> Result:
    """What comes of `equipoise compare` with the baseline."""
    return CliRunner().invoke(main, ["compare", "old.json", *arguments])


def error(result: Result) -> str:
    """The one line in which the command said that the input cannot work."""
    assert (result.exit_code, result.stdout) == (4, "")
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture
def candidates(folder: Path) -> None:
    """The same model again, one that is far worse, and one of which nobody can tell."""
    write(folder / "same.json", BEFORE, subject_model="same")
    write(folder / "worse.json", by_chance(2, 2.0), subject_model="worse")
    write(folder / "unclear.json", by_chance(2, 0.1), subject_model="unclear")


@pytest.mark.usefixtures("candidates")
def test_the_exit_status_is_that_of_the_worst_ruling(subtests: pytest.Subtests) -> None:
    """0 where all pass or nothing is asked, 7 where any fails, 6 where any is inconclusive."""
    rules = 'inconclusive = "fail"\n[all]\nrequired = ["overall:-2pp@population"]\n'
    Path("gate.toml").write_text(rules, encoding="utf-8")
    for line, status in (
        ("worse.json", 0),
        ("same.json --gate=overall:-2pp@population", 0),
        ("worse.json --gate=overall:-2pp@population", 7),
        ("unclear.json --gate=overall:-2pp@population", 6),
        ("unclear.json --gate=overall:-2pp@population --gate-inconclusive=pass", 0),
        ("unclear.json --gate=overall:-2pp@population --gate-inconclusive=fail", 7),
        ("worse.json --gate=overall:-2pp@population --gate-inconclusive=pass", 7),
        ("unclear.json --gate=gate.toml", 7),
        ("unclear.json --gate=gate.toml --gate-inconclusive=pass", 0),
        ("unclear.json --gate=unscored:1% --gate=overall:-2pp@population", 6),
        ("same.json unclear.json --gate=overall:-2pp@population", 6),
        ("unclear.json worse.json same.json --gate=overall:-2pp@population", 7),
        ("same.json --gate=overall:-20pp", 0),
        ("worse.json --gate=overall:-20pp", 7),
        ("same.json --gate=overall:-2pp", 6),
    ):
        with subtests.test(line):
            result = run(*line.split())
            assert (result.exit_code, result.stderr) == (status, "")


PART: Runs = {**BEFORE, "aa/q1/y": [5, "unscored", 5]}


def test_a_candidate_that_lacks_a_score_does_not_pass(folder: Path, subtests: pytest.Subtests) -> None:
    """What is left of it may be as good as ever, and some may be allowed to lack."""
    interrupted: dict[str, JSON] = {"status": "interrupted", "runs_expected": 109}
    every: list[tuple[Runs, dict[str, JSON], str, int]] = [
        (PART, {}, "overall:-50pp", 1),
        (BEFORE, interrupted, "overall:-50pp", 2),
        (PART, {}, "unscored:0%", 7),
        (BEFORE, interrupted, "unscored:0%", 2),
    ]
    for runs, about, rule, status in every:
        for option in ("--gate-inconclusive=pass", "--gate=unscored:50%"):
            with subtests.test(option, rule=rule, about=about):
                write(folder / "part.json", runs, **about)
                result = run("part.json", f"--gate={rule}", option)
                assert (result.exit_code, result.stderr) == (status, "")
                total = 109 if about else 108
                verdict = "FAIL" if rule == "unscored:0%" else "PASS"
                assert result.stdout.splitlines()[0] == f"gate: {verdict}; 1 of {total} runs have no score"


def test_without_rules_a_candidate_that_lacks_a_score_is_warned_of(folder: Path) -> None:
    """Nobody asked whether it may be released."""
    write(folder / "part.json", PART)
    result = run("part.json")
    assert result.exit_code == 0
    warning = "warning:   the candidate has no score for 1 of 108 runs: what both have is compared"
    assert result.stdout.splitlines().count(warning) == 1
    assert "no score" not in run("old.json").stdout


def test_a_mismatch_that_is_allowed_marks_every_line_of_figures(folder: Path) -> None:
    """Of one candidate and of several."""
    write(folder / "m2.json", by_chance(2), data_hash="d1")
    write(folder / "m3.json", by_chance(3), data_hash="d1", subject_model="m3")
    for names in (["m2.json"], ["m2.json", "m3.json"]):
        result = run(*names, "--allow-mismatch", "--gate=overall:-2pp", "--all")
        assert result.exit_code == 6
        shown = [line for line in result.stdout.splitlines() if not line.lstrip().startswith("(difference")]
        figures = [line for line in shown if "%" in line or " pp" in line]
        assert len(figures) > 3 * len(METRICS)
        assert [line for line in figures if "mismatch" not in line] == []


@pytest.mark.usefixtures("candidates")
def test_the_output_is_what_was_compared(folder: Path) -> None:
    """JSON, one entry for each candidate in order, with its gate; also where the gate fails."""
    result = run("worse.json", "same.json", "--gate=overall:-2pp@population", "--output=new/out.json")
    assert result.exit_code == 7
    sections = json.loads((folder / "new" / "out.json").read_bytes())
    assert [part["gate"]["verdict"] for part in sections] == ["fail", "pass"]
    assert [part["comparison"]["candidate"]["file"] for part in sections] == ["worse.json", "same.json"]
    rule = parse_rule("overall:-2pp@population")
    paths = [Path("worse.json"), Path("same.json")]
    compared = compare_files([Path("old.json")], paths, [rule], allows_mismatch=False)
    assert sections == json_io.loads(json_io.dumps(compared))


@pytest.mark.usefixtures("candidates")
def test_in_actions_the_command_annotates_and_summarises(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command for each candidate's rule below the report, and a heading for each in the summary."""
    arguments = ("worse.json", "same.json", "--gate=overall:-2pp@population")
    assert "::error" not in run(*arguments).stdout
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    first, second = run(*arguments).stdout.splitlines()[-2:]
    assert first.startswith("::error title=worse%3A gate FAIL::overall:-2pp@population: ")
    assert second.startswith("::notice title=same%3A gate PASS::overall:-2pp@population: ")
    headings = [line for line in (folder / "summary.md").read_text().splitlines() if line.startswith("## ")]
    assert headings == ["## Equipoise: worse", "## Equipoise: same"]


def test_earlier_releases_show_the_trend(folder: Path) -> None:
    """A row for each, the candidate last; the first has no change."""
    for number in (1, 2):
        write(folder / f"r{number}.json", by_chance(number, 0.5 * number), subject_model=f"r{number}")
    command = ["compare", "--baseline=old.json", "--baseline=r1.json", "r2.json"]
    rows = [line.split() for line in CliRunner().invoke(main, command).stdout.splitlines()]
    head = next(number for number, row in enumerate(rows) if row[:2] == ["overall", "figure"])
    assert [row[0] for row in rows[head + 1 : head + 4]] == ["m1", "r1", "r2"]
    assert [row[-3:] == ["-", "-", "-"] for row in rows[head + 1 : head + 4]] == [True, False, False]


def test_a_name_may_have_half_a_character(folder: Path) -> None:
    """As JSON may."""
    text = write(folder / "new.json", by_chance(2), subject_model="m2").read_text()
    (folder / "new.json").write_text(text.replace('"m2"', '"m\\ud83d"'))
    assert run("new.json").exit_code == 0


@pytest.mark.slow
def test_the_verdict_stands_where_nobody_reads_to_the_end(folder: Path) -> None:
    """As behind `| head`: the exit status is that of the gate, and the JUnit file is written."""
    for name, runs in (("old.json", BEFORE), ("worse.json", by_chance(2, 2.0))):
        write_data(folder / name, data_of(runs, one_question.SUITE, subject_model=name))
    start = "from equipoise.cli import main; main()"
    command = [sys.executable, "-c", start, "gate", "worse.json", "--baseline", "old.json"]
    rule = ["--gate", "overall:-2pp@population", "--junitxml", "gate.xml"]
    with subprocess.Popen([*command, *rule], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 7
    assert "<failure" in Path("gate.xml").read_text(encoding="utf-8")
