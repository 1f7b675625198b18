"""No word moves: kept journals look at every door as they did when golden files were written."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path

import pytest
from regression import doors, figures

from conftest import ROOT
from equipoise.report.layout import text_width

GOLDEN = ROOT / "tests" / "golden"
SLOW = pytest.mark.slow
SUBJECTS: dict[str, Callable[[Path], doors.Texts]] = {
    **{suite: partial(doors.of_suite, suite) for suite in figures.SUITES},
    **doors.STUDIES,
}


@pytest.mark.parametrize(
    "subject", [figures.SUITES[0], *(pytest.param(name, marks=SLOW) for name in [*SUBJECTS][1:])]
)
def test_doors_show_what_they_showed(subject: str, project: Path, subtests: pytest.Subtests) -> None:
    """Of each suite and study. EQUIPOISE_UPDATE_GOLDEN=1 writes the golden files anew."""
    shown = {f"{subject}.{end}": text for end, text in SUBJECTS[subject](project)}
    for name, text in shown.items():
        with subtests.test(name):
            refuse_changed(GOLDEN / name, doors.stable(text, project))
    if narrow := shown.get(f"{subject}.80.txt"):
        refuse_long(narrow)
    assert {path.name for path in GOLDEN.glob(f"{subject}.*")} - {"neutrality.json"} == {*shown}


def refuse_long(narrow: str) -> None:
    """Raise AssertionError unless what results say first fits a terminal of 80 columns and 24 lines."""
    text, _, _ = narrow.partition("\nresults: ")
    lines = [*text.splitlines(), "results: "]
    assert (len(lines) <= 24, max(map(text_width, lines)) <= 80) == (True, True), text


def refuse_changed(golden: Path, text: str) -> None:
    """Raise AssertionError that shows where a text is not that of a golden file."""
    if os.environ.get("EQUIPOISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    wanted = golden.read_text(encoding="utf-8")
    changed = unified_diff(wanted.splitlines(), text.splitlines(), golden.name, "now", lineterm="", n=1)
    assert text == wanted, "\n".join(islice(changed, 40))
