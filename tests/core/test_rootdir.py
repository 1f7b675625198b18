"""Which command lines begin again with the settings of the project that they were typed in."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from equipoise.core.rootdir import pytest_addoption

OURS = "[pytest]\naddopts = -p equipoise.plugin\n"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would take the place of this process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, command: commands.append(command))
    return commands


def start(folder: Path, inipath: Path | None, *arguments: str, argv: Sequence[str] | None = None) -> None:
    """Load the module as pytest does that was started in this folder and found these settings."""
    typed = SimpleNamespace(dir=folder, args=arguments)
    config = SimpleNamespace(inipath=inipath, invocation_params=typed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["pytest", *(arguments if argv is None else argv)])
        pytest_addoption(SimpleNamespace(getplugin={"pytestconfig": config}.__getitem__))


def test_a_command_that_lost_its_project_begins_again(tmp_path: Path, begun: list[list[str]]) -> None:
    """With the project's settings before its own arguments; so it does from a folder in the project."""
    own, typed = tmp_path / "pytest.ini", ("--baseline", "/releases/good.json", "--model=x")
    own.write_text(OURS, encoding="utf-8")
    (tmp_path / "inner").mkdir()
    command = [sys.executable, "-m", "pytest", "-c", str(own), f"--rootdir={tmp_path}", *typed]
    for folder, inipath in ((tmp_path, None), (tmp_path / "inner", Path("/releases/pytest.ini"))):
        start(folder, inipath, *typed)
    assert begun == [command, command]


def test_all_other_commands_go_on(tmp_path: Path, begun: list[list[str]]) -> None:
    """With their own settings, without an option of ours, or called by a program such as a notebook."""
    own = tmp_path / "pytest.ini"
    start(tmp_path, None, "--model", "x")
    own.write_text(OURS, encoding="utf-8")
    start(tmp_path, own, "--model", "x")
    start(tmp_path, None, "../other/tests", "-k", "x")
    for settings in ("-c", "-cother.ini", "--config-file=other.ini", "--rootdir=elsewhere"):
        start(tmp_path, None, "--model", "x", settings)
    own.write_text("[pytest]\n", encoding="utf-8")
    start(tmp_path, None, "--model", "x")
    assert begun == []
    (tmp_path / "pytest.ini").write_text(OURS, encoding="utf-8")
    start(tmp_path, None, "--baseline", "/releases/good.json", argv=["notebook.py"])
    assert begun == []
