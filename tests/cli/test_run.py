"""`equipoise run` and `equipoise init`: what they hand to pytest, and what they write."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ROOT
from equipoise import suites
from equipoise.cli import main
from equipoise.cli.run import PROJECT


@pytest.fixture
def handed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """An empty folder, and the commands that would take the place of this process there."""
    found: list[list[str]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "execv", lambda path, command: found.append(command))
    return found


def test_a_suite_runs_from_an_empty_folder(handed: list[list[str]], tmp_path: Path) -> None:
    """With the package's own test, and the folder as the project; all else goes to pytest as it is."""
    arguments = ("--model", "x", "-n", "8", "-k", "hong_kong", "--help")
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
    assert [command[3:] for command in handed] == [
        ["tests_benchmark/test_neutrality.py", "-x"],
        ["tests_benchmark"],
    ]


def test_several_suites_are_one_session(handed: list[list[str]], tmp_path: Path) -> None:
    """In the order in which they are named; all from the project, or all from the package."""
    named = ["run", "politicsbench,neutrality"]
    tests = [f"tests_benchmark/test_{name}.py" for name in ("politicsbench", "neutrality")]
    assert CliRunner().invoke(main, named).exit_code == 0
    (tmp_path / "tests_benchmark").mkdir()
    (tmp_path / tests[1]).touch()
    done = CliRunner().invoke(main, named)
    assert (done.exit_code, f"{tests[0]}: not in this project, as others are" in done.output) == (4, True)
    (tmp_path / tests[0]).touch()
    assert CliRunner().invoke(main, named).exit_code == 0
    assert [command[3:5] for command in handed] == [[str(ROOT / test) for test in tests], tests]


@pytest.mark.parametrize("named", ["nonsense", "neutrality,nonsense", "nonsense,all"])
def test_an_unknown_suite_is_refused(handed: list[list[str]], named: str) -> None:
    """With those that there are."""
    done = CliRunner().invoke(main, ["run", named])
    assert (done.exit_code, handed) == (4, [])
    assert f"no suite 'nonsense'; there are {', '.join(suites.names())}, and all" in done.output


def test_help_without_a_suite_names_them(handed: list[list[str]]) -> None:
    """With one, it is pytest's own."""
    done = CliRunner().invoke(main, ["run", "--help"])
    assert (done.exit_code, handed) == (0, [])
    assert "Usage: main run SUITE [PYTEST ARGUMENTS]..." in done.output
    assert f"Suites: {', '.join(suites.names())}" in done.output


def test_a_project_has_all_that_can_be_edited(tmp_path: Path) -> None:
    """And is written nowhere where there is one."""
    folder = tmp_path / "mine"
    assert CliRunner().invoke(main, ["init", str(folder)]).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(PROJECT)
    for name in ("conftest.py", "pytest.ini", "rubric/neutrality.toml", "topics/neutrality/en-US.txt"):
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes()
    assert not list(folder.rglob("original"))
    again = CliRunner().invoke(main, ["init", str(folder)])
    assert again.exit_code == 4
    assert (
        "has conftest.py, pytest.ini, tests_benchmark, topics, rubric already; nothing was written"
        in again.output
    )
