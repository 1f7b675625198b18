"""The contract of all suites, and which packages meet it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from mypy import api as mypy

from conftest import ROOT
from equipoise import suites

SNIPPET = """\
from typing import Any
from equipoise.suites import Suite
import {module} as {name}

{name}_as_suite: Suite[Any, Any] = {name}
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What mypy says of each module that is taken for a suite: all suites, and two that are none."""
    folder = tmp_path_factory.mktemp("types")
    known = {name: f"equipoise.suites.{name}" for name in suites.names()}
    (folder / "nameonly.py").write_text('NAME = "nameonly"\n', encoding="utf-8")
    source = Path(suites.load("borderlines").__file__ or "").read_text(encoding="utf-8")
    (folder / "tableless.py").write_text(source.replace("def table(", "def tables("), encoding="utf-8")
    for name, module in {**known, "nameonly": "nameonly", "tableless": "tableless"}.items():
        snippet = SNIPPET.format(module=module, name=name)
        (folder / f"of_{name}.py").write_text(snippet, encoding="utf-8")
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(folder / "cache")]
    with pytest.MonkeyPatch.context() as patch:
        # The package from the source tree and modules from the folder, wherever pytest was started.
        patch.chdir(ROOT)
        patch.setenv("MYPYPATH", str(folder))
        report, errors, _ = mypy.run([*options, *map(str, sorted(folder.glob("of_*.py")))])
    assert errors == ""
    lines = [line for line in report.splitlines() if ": error: " in line]
    names = [path.stem.removeprefix("of_") for path in folder.glob("of_*.py")]
    return {name: [line for line in lines if f"of_{name}.py:" in line] for name in names}


@pytest.mark.slow
def test_what_a_type_checker_takes_for_a_suite(
    checked: dict[str, list[str]], subtests: pytest.Subtests
) -> None:
    """Every suite, typed as the protocol says; not what has only a name, nor what lacks a single function."""
    for name in suites.names():
        with subtests.test(name):
            assert checked[name] == []
    for name in ("nameonly", "tableless"):
        with subtests.test(name):
            (line,) = checked[name]
            assert 'variable has type "Suite[Any, Any]"' in line


def test_every_suite_has_what_the_protocol_asks_for(subtests: pytest.Subtests) -> None:
    """Its own name, and every member that is required, whose parameters have the same names."""
    members = {
        name: [*inspect.signature(member).parameters][1:]
        for name, member in vars(suites.Suite).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }
    assert {"rubric", "cases", "evaluate", "aggregate", "cells", "metrics", "table"} == members.keys()
    for name in suites.names():
        package = suites.load(name)
        with subtests.test(name):
            assert (package.NAME, type(package.OPTIONS)) == (name, tuple)
            found = {member: [*inspect.signature(getattr(package, member)).parameters] for member in members}
            assert found == members
