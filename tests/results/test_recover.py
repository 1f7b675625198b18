"""Results made of a journal alone: whose they are, where they go, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from builders import SUITE
from journals import SETTINGS, record, write

from conftest import EXAMPLE
from conftest import refusal as refused
from equipoise.results.journal import FORMAT, Journal
from equipoise.results.recover import Recovered, recover
from equipoise.results.store import Files, Lock

NAME = f"m.{SUITE}"
RUBRIC = EXAMPLE / "rubric" / f"{SUITE}.toml"
PLAN = ("a-run1", "b-run1")
ABOUT: dict[str, Any] = {"suite": SUITE, "settings": {**SETTINGS, "rubric_hash": "another"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal is."""
    return tmp_path / f"{NAME}.jsonl"


def make(path: Path, output: Path | None = None, *roots: Path) -> Recovered:
    """Recover with the project's own rubric, or with what is in these folders."""
    return recover(path, output, roots or (EXAMPLE,))


def refusal(path: Path, output: Path | None = None, *roots: Path) -> str:
    """The one line that says why nothing was recovered."""
    (line,) = refused(make, path, output, *roots).splitlines()
    return line


def complete(path: Path) -> None:
    """A journal in which every planned run has a score."""
    write(path, record("a"), record("b"), plan=PLAN, **ABOUT)


def names(folder: Path) -> list[str]:
    """The files of a folder that users see."""
    return sorted(item.name for item in folder.iterdir() if not item.name.startswith("."))


# What is written.


def test_results_are_written_beside_the_journal_or_where_they_are_wanted(tmp_path: Path) -> None:
    """Under the journal's name, of which the ending is changed; what is returned is what was written."""
    for journal, results in (("x.jsonl", "x.json"), ("x.y.jsonl", "x.y.json"), ("z", "z.json")):
        complete(tmp_path / journal)
        recovered = make(tmp_path / journal)
        assert recovered.results.path == tmp_path / results
        data = json.loads(recovered.results.path.read_bytes())
        assert data["metadata"]["status"] == recovered.results.metadata["status"] == "complete"
        assert data["summary"]["metrics"]["overall"]["value"] == 75.0
    before = names(tmp_path)
    target = tmp_path / "new" / "mine.json"
    assert make(tmp_path / "z", target).results.path == target
    assert json.loads(target.read_bytes())["metadata"]["status"] == "complete"
    assert names(tmp_path) == sorted([*before, "new"])


def test_the_journal_is_left_as_it_is(path: Path) -> None:
    """Not even a line that a crash has cut is ended."""
    complete(path)
    path.write_bytes(path.read_bytes()[:-20])
    before, written = path.read_bytes(), path.stat().st_mtime_ns
    make(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, written)


def test_older_results_are_replaced(path: Path) -> None:
    """A journal that has grown makes new results, as often as it is wanted."""
    write(path, record("a"), plan=PLAN, **ABOUT)
    first = make(path).results.metadata
    assert (first["status"], first["runs_completed"]) == ("interrupted", 1)
    log = Journal(path, "s1")
    log.append_record(record("b"), [])
    log.close()
    assert make(path).results.metadata["runs_completed"] == 2
    assert json.loads(path.with_suffix(".json").read_bytes())["metadata"]["runs_completed"] == 2


# What the user is told.


def test_what_limits_results_is_told(path: Path) -> None:
    """Cut lines, and another rubric than the session saw; nothing where nothing is missing or has changed."""
    settings = {**SETTINGS, "rubric_hash": hashlib.sha256(RUBRIC.read_bytes()).hexdigest()}
    write(path, record("a"), plan=["a-run1"], **{**ABOUT, "settings": settings})
    assert make(path).warnings == ()
    complete(path)
    (warning,) = make(path).warnings
    assert "the rubric has changed since" in warning
    complete(path)
    line = path.read_bytes().splitlines(keepends=True)[-1]
    for number in (1, 2):
        with path.open("ab") as file:
            file.write(line[: 20 + number] + b"\n")
        recovered = make(path)
        assert recovered.warnings[0].startswith(f"damaged lines skipped: {number} (line")
        assert recovered.results.metadata["status"] == "complete"


# The rubric.


def root(folder: Path, rubric: str) -> Path:
    """A folder with a rubric of this text."""
    (folder / "rubric").mkdir(parents=True)
    (folder / "rubric" / f"{SUITE}.toml").write_text(rubric, encoding="utf-8")
    return folder


def test_the_first_rubric_counts(path: Path, tmp_path: Path) -> None:
    """The rubric of an earlier folder is taken, a folder without one passed by."""
    complete(path)
    text = RUBRIC.read_text(encoding="utf-8").replace("high = 5", "high = 6").replace("5 = ", "6 = 'x'\n5 = ")
    here = root(tmp_path / "here", text)
    recovered = make(path, None, tmp_path / "nowhere", here, EXAMPLE)
    assert recovered.results.summary["metrics"]["overall"].value == 60.0


def test_without_a_whole_rubric_there_are_no_results(path: Path, tmp_path: Path) -> None:
    """The line names the file; the next attempt is not refused as a second one."""
    complete(path)
    assert "rubric/attribution.toml: cannot be read" in refusal(path, None, tmp_path)
    assert names(tmp_path) == [path.name]
    assert "rubric/attribution.toml: verdict is missing" in refusal(path, None, root(tmp_path / "here", ""))
    assert make(path).results.metadata["status"] == "complete"


# What is refused.


def test_what_is_no_journal_is_refused(path: Path, subtests: pytest.Subtests) -> None:
    """The line names the file; it stays as it is and nothing is put beside it."""
    for content in (
        b"",
        b"\n\n",
        b"my notes\n",
        b"\x00\xff\xfe" * 100,
        b'{"metadata": {"status": "complete"}}\n',
        b'{"mine": 1}\n{"mine": 2}\n',
        b'{"kind":"record"}\n',
        b'{"kind":"session"}\n',
        b'{"kind":"session","format":4,"suite":"attribution"}\n',
        b'{"kind":"session","format":4,"suite":"att',
    ):
        with subtests.test(content=content[:60]):
            path.write_bytes(content)
            assert path.name in refusal(path)
            assert path.read_bytes() == content
            assert names(path.parent) == [path.name]


def test_another_format_or_suite_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The line says which it is and which it should be; nothing of an unknown suite's name is imported."""
    for form in (0, FORMAT + 1, str(FORMAT), None):
        with subtests.test(format=form):
            write(tmp_path / repr(form), plan=PLAN, **{**ABOUT, "format": form})
            assert f"the journal has format {form}, not {FORMAT}" in refusal(tmp_path / repr(form))
    write(tmp_path / "x", plan=PLAN, **{**ABOUT, "suite": "../os"})
    assert "there is no suite '../os'" in refusal(tmp_path / "x")


def test_a_journal_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """The line names it and says where journals are."""
    (tmp_path / "folder").mkdir()
    for name in ("nowhere.jsonl", "x" * 300, "folder"):
        message = refusal(tmp_path / name)
        assert message.endswith(f"{name}: no such journal; journals end in .jsonl and are beside the results")
        assert names(tmp_path) == ["folder"]


def test_a_journal_in_use_is_refused(path: Path) -> None:
    """The line names the process that has it; afterwards it can be recovered."""
    complete(path)
    lock = Lock(Files(results=path.with_suffix(".json"), journal=path))
    try:
        assert f"process {os.getpid()} is using it" in refusal(path)
    finally:
        lock.release()
    assert make(path).results.metadata["status"] == "complete"


# Where results cannot go.


def test_what_is_something_else_is_no_place_for_results(
    path: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The journal itself, however it is spelt, another journal, notes: the line names it, and it stays."""
    complete(path)
    complete(tmp_path / "other.jsonl")
    (tmp_path / "notes.txt").write_text("my notes")
    (tmp_path / "x").mkdir()
    for output in (path, tmp_path / "x" / ".." / path.name, tmp_path / "other.jsonl", tmp_path / "notes.txt"):
        with subtests.test(output=output.name):
            before = output.read_bytes()
            assert output.name in refusal(path, output)
            assert output.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(
    path: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """The line says why not; a folder stays empty and no temporary file is left."""
    complete(path)
    for output in (Path("/proc/mine.json"), Path("/proc/no/mine.json"), Path("x" * 300), path / "x.json"):
        with subtests.test(output=str(output)):
            assert "cannot be written" in refusal(path, output)
    (tmp_path / "folder").mkdir()
    assert "folder" in refusal(path, tmp_path / "folder")
    assert [item.name for item in tmp_path.rglob("*folder*")] == ["folder"]
