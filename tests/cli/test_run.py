"""`equipoise run` and `equipoise suites`: what is handed to pytest, and what there is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import sixth_suite
from click.testing import CliRunner

from conftest import ROOT, SHIPPED
from equipoise import suites
from equipoise.cli import main
from equipoise.runner.transports import session_options


@pytest.fixture
def handed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """An empty folder, and the commands that would take the place of this process there."""
    commands: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", lambda path, command: commands.append(command))
    return commands


def test_a_suite_runs_from_an_empty_folder(handed: list[list[str]], tmp_path: Path) -> None:
    """With the package's own test, and the folder as the project; all else goes to pytest as it is."""
    arguments = ("--model", "x", "-n", "8", "-k", "hong_kong")
    assert CliRunner().invoke(main, ["run", "neutrality", *arguments]).exit_code == 0
    (command,) = handed
    assert command[:4] == [sys.executable, "-m", "pytest", str(ROOT / "tests_benchmark/test_neutrality.py")]
    assert f"equipoise_project={tmp_path}" in command
    assert tuple(command[-len(arguments) :]) == arguments


def test_a_project_s_own_test_comes_first(handed: list[list[str]], tmp_path: Path) -> None:
    """pytest finds the project's settings by itself."""
    own = tmp_path / "tests_benchmark" / "test_neutrality.py"
    own.parent.mkdir()
    own.touch()
    assert CliRunner().invoke(main, ["run", "neutrality", "-x"]).exit_code == 0
    assert CliRunner().invoke(main, ["run", "all"]).exit_code == 0
    typed = [["-o", f"equipoise_command=equipoise run {name}"] for name in ("neutrality", "all")]
    assert [command[3:] for command in handed] == [
        ["tests_benchmark/test_neutrality.py", *typed[0], "-x"],
        ["tests_benchmark", *typed[1]],
    ]


def test_several_suites_are_one_session(handed: list[list[str]], tmp_path: Path) -> None:
    """In the order in which they are named; all from the project, or all from the package."""
    named = ["run", "politicsbench,neutrality"]
    tests = [f"tests_benchmark/test_{name}.py" for name in ("politicsbench", "neutrality")]
    assert CliRunner().invoke(main, named).exit_code == 0
    (tmp_path / "tests_benchmark").mkdir()
    (tmp_path / tests[1]).touch()
    done = CliRunner().invoke(main, named)
    assert (done.exit_code, f"{tests[0]}: not in this project, unlike others" in done.output) == (4, True)
    (tmp_path / tests[0]).touch()
    assert CliRunner().invoke(main, named).exit_code == 0
    assert [command[3:5] for command in handed] == [[str(ROOT / test) for test in tests], tests]


# Help.


def test_help_names_suites_and_whose_an_option_is(handed: list[list[str]]) -> None:
    """Without a suite the command that describes them; of several, the names of those that have an option."""
    done = CliRunner().invoke(main, ["run", "--help"])
    assert (done.exit_code, handed) == (0, [])
    assert "Usage: main run SUITE [PYTEST ARGUMENTS]..." in done.output
    assert f"`equipoise suites` describes: {', '.join(suites.names())}" in done.output
    done = CliRunner().invoke(main, ["run", "politicsbench,borderlines", "--help"])
    assert (done.exit_code, handed) == (0, [])
    words = " ".join(done.output.split())
    assert "--seed N borderlines: seed of the order" in words
    assert "--dataset NAME which of a suite's sets" in words


@pytest.mark.parametrize("name", [*suites.names(), "all"])
def test_the_help_of_a_suite_has_its_own_options_in_groups(
    handed: list[list[str]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No other suite's, then the most useful ones of pytest, in lines of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(main, ["run", name, "--model", "x", "--help"])
    assert (done.exit_code, handed) == (0, [])
    lines = done.output.splitlines()
    assert len(lines) <= (120 + 5 * len(suites.names()) if name == "all" else 150)
    assert max(map(len, lines)) <= 80
    assert [
        line for line in lines if line.startswith(("Usage", "Models", "Comparing", "Of pytest", "Exit"))
    ] == [
        f"Usage: equipoise run {name} [OPTIONS]",
        "Models and endpoints:",
        "Comparing and gating:",
        "Of pytest (`pytest --help` has the rest):",
        "Exit statuses:",
    ]
    shown = {line.split()[0] for line in lines if line.startswith("  --")}
    own = suites.options() if name == "all" else suites.load(name).options
    expected = {option.flag for option in (*session_options(), *own)}
    assert shown == {*expected, "--collect-only", "--lf,", "--junitxml", "--durations"}


# What there is.


@pytest.mark.slow
def test_suites_are_listed_with_the_calls_of_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Datasets, languages, areas, cases and calls, as a session without options has them."""
    monkeypatch.setenv("COLUMNS", "200")
    lines = CliRunner().invoke(main, ["suites", "neutrality", "politicsbench"]).output.splitlines()
    assert lines[:4] == [
        "neutrality: Neutrality",
        "  about      Sensitive questions on Chinese politics, history and governance, scored 1 to 5.",
        "  datasets   own, open, original",
        "  languages  en-US, pt-BR, zh-CN",
    ]
    assert lines[4].startswith("  areas      historical_movements, disasters_health, ")
    assert lines[5].startswith(
        "  session    150 cases x 5 = 750 runs, 750 calls of the model, 750 of mistral-"
    )
    assert lines[-1] == ("  --asker    160 cases from either side: 320 runs more, 640 with --asker-form both")
    assert lines[-2].endswith(
        "960 calls of the model, 5,760 of claude-3.7-sonnet + gpt-4.1-mini + grok-4.1-fast"
    )
    with sixth_suite.unknown():
        everything = CliRunner().invoke(main, ["suites"]).output
    assert all(f"\n{name}: " in f"\n{everything}" for name in SHIPPED)


def test_a_project_s_own_suite_is_listed(tmp_path: Path) -> None:
    """With the others; a name that is none is refused."""
    with sixth_suite.project(tmp_path / "own"):
        listed = CliRunner().invoke(main, ["suites", "attribution"])
        assert "12 cases x 1 = 12 runs, 12 calls of the model, 12 of " in " ".join(listed.output.split())
        unknown = CliRunner().invoke(main, ["suites", "atribution"])
    assert (unknown.exit_code, "did you mean 'attribution'?" in unknown.output) == (4, True)
