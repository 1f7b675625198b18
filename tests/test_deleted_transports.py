"""Each transport can be deleted: without its package, tests, page and line in the list, the rest works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.runner.transports import TRANSPORTS
from loopback import JUDGE, SUBJECT, Loopback, any_verdict

pytestmark = pytest.mark.nightly
COPIED = (
    *("conftest.py", "pytest.ini", "pyproject.toml", "README.md", "CHANGELOG.md", "docs", "equipoise"),
    *("benchmarks", "examples", "rubric", "tests", "tests_benchmark", "topics"),
)
PARTS = {
    "batches": (
        "equipoise/runner/batches",
        "equipoise/cli/batch.py",
        "tests/batch_server.py",
        "tests/cli/test_batch.py",
        "tests/runner/test_batch*.py",
        "tests/runner/test_intents.py",
        "tests/sessions/test_batches.py",
    ),
    "replies": (
        "equipoise/runner/replies",
        "docs/replies.md",
        "tests/runner/test_*replies.py",
        "tests/sessions/test_replies.py",
        "tests/sessions/test_rejudging.py",
    ),
}
"""What is deleted with each transport."""
LEFT = (
    "tests/runner",
    "tests/sessions/test_sessions.py",
    "tests/sessions/test_lines.py",
    "tests/cli/test_run.py",
)
"""The tests of sessions that are run without it: their quick ones."""
OPTIONS = {"batches": "--batch", "replies": "--replies=answers.csv"}


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, whose package comes before the one that is installed."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module", params=sorted(PARTS))
def without(request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    """The name of a transport, and a copy of the checkout without it.

    It is no folder of pytest's, as the sessions of pytest in it would remove that.
    """
    with tempfile.TemporaryDirectory() as folder:
        name = str(request.param)
        _copy(Path(folder) / "copy", name)
        yield name, Path(folder) / "copy"


def _copy(folder: Path, name: str) -> None:
    folder.mkdir()
    for copied in COPIED:
        source = ROOT / copied
        if source.is_dir():
            shutil.copytree(source, folder / copied, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / copied)
    for pattern in PARTS[name]:
        paths = [*folder.glob(pattern)]
        assert paths, pattern
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    listing = folder / "equipoise" / "runner" / "transports.py"
    text = re.sub(rf'^    "{name}": .*\n', "", listing.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listing.write_text(text, encoding="utf-8")


def test_every_transport_is_tried() -> None:
    """A further one in the list needs its parts here."""
    assert PARTS.keys() == TRANSPORTS.keys()


def test_its_option_and_its_command_are_unknown_without_it(without: tuple[str, Path]) -> None:
    """The option is refused in one line, as any word that is none."""
    name, folder = without
    flag = OPTIONS[name].partition("=")[0]
    refused = python(folder, "-m", "pytest", OPTIONS[name], "--model", "x")
    (line,) = refused.stderr.strip().splitlines()
    assert (refused.returncode, line.partition(";")[0]) == (4, f"ERROR: {flag}: there is no such option"), (
        line
    )
    command = TRANSPORTS[name]
    listed = python(folder, "-c", "from equipoise.cli import main; main()", "--help")
    assert listed.returncode == 0, listed.stderr
    assert command is None or f"  {command} " not in listed.stdout


def test_a_session_and_its_page_are_made_without_it(without: tuple[str, Path], loopback: Loopback) -> None:
    """Live, on our own questions."""
    _, folder = without
    loopback.script = any_verdict
    models = ("--model", SUBJECT, "--evaluator-model", JUDGE, "--api-base-url", loopback.url)
    done = python(folder, "-m", "pytest", *models, "--limit", "1", "--runs", "1", "--report", "page.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert loopback.count(judge=False) == loopback.count(judge=True) == 3
    assert "transcript" in (folder / "page.html").read_text(encoding="utf-8")


def test_the_quick_tests_of_sessions_pass_without_it(without: tuple[str, Path]) -> None:
    """Those that are left."""
    _, folder = without
    left = [path for path in LEFT if (folder / path).exists()]
    options = ("-q", "-n", "2", "-m", "not slow and not nightly", "--basetemp", str(folder.parent / "t"))
    done = python(folder, "-m", "pytest", *options, *left)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
