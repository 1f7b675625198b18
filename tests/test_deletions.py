"""A suite is its own files and nothing else: a checkout without them runs, and its tests pass."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PYTEST, ROOT, SHIPPED
from loopback import JUDGE, SUBJECT, Loopback, any_verdict

LISTS = ("README.md", "docs/index.md", "pytest.ini")
"""Files with a line for each suite, or for the one that `pytest` runs."""
SCHEMA = "docs/results.schema.json"
"""Made of all suites by `equipoise export --to schema`."""
LEFT = ("test_layout.py", "suites", "results")
"""The tests that run again, without those in the folder of a single suite; no room before knows of any."""
SHARED = {"conftest", "builders", "fake_client", "loopback"}
"""Modules that most tests import, whatever suite they are about."""


class Checkout:
    """A copy of the files that git knows, to run commands in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)

    def delete(self, suite: str) -> None:
        """Remove the files of a suite, the tests that name it, and its lines in lists."""
        for name in (
            *(f"equipoise/suites/{suite}", f"topics/{suite}", f"rubric/{suite}.toml"),
            *(f"rubric/anchors/{suite}", f"docs/suites/{suite}.md", f"tests_benchmark/test_{suite}.py"),
            *(f"tests/suites/{suite}", f"tests/sessions/test_{suite}.py"),
        ):
            shutil.rmtree(path) if (path := self.folder / name).is_dir() else path.unlink(missing_ok=True)
        for path in self.tests_of(suite):
            path.unlink()
        for name in LISTS:
            path = self.folder / name
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            path.write_text("".join(line for line in lines if suite not in line), encoding="utf-8")

    def tests_of(self, suite: str) -> set[Path]:
        """The modules of tests that name a suite, and those that import one of them."""
        tests = self.folder / "tests"
        modules = {path for path in tests.glob("*.py") if path.stem not in SHARED} | {
            *tests.rglob("test_*.py")
        }
        own = {path for path in modules if re.search(rf"\b{suite}\b", path.read_text(encoding="utf-8"))}
        while more := {path for path in modules - own if imports(path) & {other.stem for other in own}}:
            own |= more
        return own

    def run(self, *command: str) -> str:
        """What a command prints, which succeeds."""
        # The package of the copy, which the first command compiles for the others.
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-5000:]}{done.stderr[-2000:]}"
        return done.stdout

    def equipoise(self, *arguments: str) -> str:
        """What the command `equipoise` prints."""
        return self.run(str(Path(sys.executable).with_name("equipoise")), *arguments)


def imports(path: Path) -> set[str]:
    """The names of the modules that a module imports."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize(
    ("suite", "other"),
    [
        pytest.param(
            name, SHIPPED[number - 1], marks=pytest.mark.slow if number == 1 else pytest.mark.nightly
        )
        for number, name in enumerate(SHIPPED)
    ],
)
def test_a_suite_can_be_deleted(suite: str, other: str, tmp_path: Path, loopback: Loopback) -> None:
    """Another one is asked, shown and compared; its data are valid, and what tests are left passes."""
    checkout, loopback.script = Checkout(tmp_path), any_verdict
    checkout.delete(suite)
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", loopback.url)
    benchmark = f"tests_benchmark/test_{other}.py"
    checkout.run(*PYTEST, benchmark, *models, "--limit", "2", "--runs", "1", "--report", "page.html")
    results = tmp_path / "results" / f"{SUBJECT}.{other}.json"
    assert other in (tmp_path / "page.html").read_text(encoding="utf-8")
    earlier = shutil.copy(results, tmp_path / "earlier.json")
    assert other in checkout.equipoise("compare", str(earlier), str(results))
    assert suite not in checkout.equipoise("data", "validate")
    assert "compare" in checkout.equipoise("--help")
    (tmp_path / SCHEMA).write_text(checkout.equipoise("export", "--to", "schema"), encoding="utf-8")
    quick = ("-q", "--assert=plain", "-m", "not slow and not nightly", "--ignore-glob=tests/suites/*/*")
    checkout.run(*PYTEST[:3], *quick, *(f"tests/{name}" for name in LEFT))
