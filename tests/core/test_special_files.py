"""Inputs that are no files: pipes and devices are refused, not waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from equipoise.audit import files
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, read_text
from equipoise.report import github
from equipoise.report.page import page
from equipoise.results import audits, journal
from equipoise.results.document import GateVerdict, Sections
from equipoise.results.find import find_results
from equipoise.suites import resources


def test_a_pipe_and_a_device_are_no_files(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Said at once, whoever may still write to them."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with (
            subtests.test(path.name),
            pytest.raises(UserError, match=r"cannot be read \(is not a regular file\)"),
        ):
            read_text(path)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)


REFUSED: list[tuple[str, Callable[[Path], object], str]] = [
    ("x.json", lambda folder: find_results([folder]), "no results files"),
    ("x.html", lambda folder: page.refuse_output("--report", folder / "x.html"), "is not a regular file"),
    ("x.jsonl", lambda folder: next(journal.scan(folder / "x.jsonl")), "is not a regular file"),
    ("x/original.toml", lambda folder: resources.originals([folder]), "not a valid list of pins"),
]


def test_a_pipe_among_the_files_is_not_waited_for(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """In a folder of results, of journals, of audits, of data, and where a file is to be written."""
    for number, (name, reads, message) in enumerate(REFUSED):
        with subtests.test(name), pytest.raises((UserError, OSError), match=message):
            reads(with_pipe(tmp_path / str(number), name))
    assert files.read(with_pipe(tmp_path / "audits", f"{audits.FOLDER}/judge.x.json"), "judge", "x") == []
    summary = with_pipe(tmp_path / "job", "summary") / "summary"
    gate: GateVerdict = {"verdict": "pass", "rules": [], "tests": 0, "planned": 1, "left": 0, "unscored": 0}
    parts: Sections = {"gate": gate}
    assert github.publish({"x": parts}, {"GITHUB_STEP_SUMMARY": str(summary)}) == [
        "warning: $GITHUB_STEP_SUMMARY: cannot be written to (No such device or address)"
    ]


def with_pipe(folder: Path, name: str) -> Path:
    """A folder with a pipe of this name."""
    (folder / name).parent.mkdir(parents=True)
    os.mkfifo(folder / name)
    return folder
