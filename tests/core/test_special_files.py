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


def _page(folder: Path) -> None:
    os.mkfifo(folder / "x.json")
    with pytest.raises(UserError, match="no results files"):
        find_results([folder])


def _page_output(folder: Path) -> None:
    os.mkfifo(folder / "x.html")
    with pytest.raises(UserError, match=r"x\.html: is not a regular file"):
        page.refuse_output("--report", folder / "x.html")


def _journals(folder: Path) -> None:
    os.mkfifo(folder / "x.jsonl")
    with pytest.raises(OSError, match="is not a regular file"):
        next(journal.scan(folder / "x.jsonl"))


def _audits(folder: Path) -> None:
    (folder / audits.FOLDER).mkdir()
    os.mkfifo(folder / audits.FOLDER / "judge.x.json")
    assert files.read(folder, "judge", "x") == []


def _pins(folder: Path) -> None:
    (folder / "x").mkdir()
    os.mkfifo(folder / "x" / "original.toml")
    with pytest.raises(UserError, match="not a valid list of pins"):
        resources.originals([folder])


PARTS = {"gate": {"verdict": "pass", "rules": []}}


def _job_summary(folder: Path) -> None:
    os.mkfifo(folder / "summary")
    assert github.publish({"x": PARTS}, {"GITHUB_STEP_SUMMARY": str(folder / "summary")}) == [
        "warning: $GITHUB_STEP_SUMMARY: cannot be written to (No such device or address)"
    ]


@pytest.mark.parametrize("reads", [_page, _page_output, _journals, _audits, _pins, _job_summary])
def test_a_pipe_among_the_files_is_not_waited_for(reads: Callable[[Path], None], tmp_path: Path) -> None:
    """In a folder of results, of journals, of audits, of data, and where a file is to be written."""
    reads(tmp_path)
