"""How runs are shown, and what a node id says."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.display import badge
from equipoise.naming import suite_and_run, suites_in


@pytest.mark.parametrize(
    ("properties", "letter", "words", "colour"),
    [
        ({"outcome": "scored", "score": 4.0, "percent": 75.0}, "4", "SCORE 4 (75%)", "green"),
        ({"outcome": "scored", "score": 3.5, "percent": 62.5}, "4", "SCORE 3.5 (62.5%)", "yellow"),
        ({"outcome": "scored", "score": 2.0, "percent": 25.0}, "2", "SCORE 2 (25%)", "red"),
        ({"outcome": "refused", "score": 1.0, "percent": 0.0}, "1", "REFUSED 1 (0%)", "red"),
        ({"outcome": "blocked", "score": 1.0, "percent": 0.0}, "b", "BLOCKED 1 (0%)", "yellow"),
        ({"outcome": "truncated", "score": 5.0, "percent": 100.0}, "t", "TRUNCATED 5 (100%)", "yellow"),
        ({"outcome": "empty", "score": 1.0, "percent": 0.0}, "e", "EMPTY 1 (0%)", "yellow"),
        ({"outcome": "unscored"}, "u", "UNSCORED", "red"),
        ({"outcome": "error"}, "E", "ERROR", "red"),
        ({"outcome": "scored", "score": 87.5}, ".", "SCORE 87.5", "red"),
    ],
    ids=lambda value: str(value.get("outcome")) if isinstance(value, dict) else None,
)
def test_badge(properties: dict[str, object], letter: str, words: str, colour: str) -> None:
    """A digit for a score, a letter for every other end, words and a colour."""
    found = badge(properties)
    assert found is not None
    assert (found.letter, found.words, found.colour) == (letter, words, colour)


def test_other_reports_have_no_badge() -> None:
    """A test that is none of ours is shown as pytest shows it."""
    assert badge({"score": 3}) is None


@pytest.mark.parametrize(
    ("nodeid", "found"),
    [
        ("tests_benchmark/test_neutrality.py::test_neutrality[aa-run1]", ("neutrality", "aa-run1")),
        ("x/tests_benchmark/test_neutrality.py::test_neutrality[a[b]-run1]", ("neutrality", "a[b]-run1")),
        ("tests/suites/test_neutrality.py::test_score[aa-run1]", None),
        ("tests_benchmark/test_unknown.py::test_unknown[aa-run1]", None),
        ("tests_benchmark/test_neutrality.py::test_plain", None),
    ],
)
def test_node_ids(nodeid: str, found: tuple[str, str] | None) -> None:
    """Only tests_benchmark/test_<suite>.py holds runs of a suite."""
    assert suite_and_run(nodeid) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("tests_benchmark/test_neutrality.py", ["neutrality"]),
        ("tests_benchmark", ["neutrality"]),
        (".", ["neutrality"]),
        ("tests", []),
        ("tests_benchmark/other.py", []),
    ],
)
def test_suites_of_a_command_line(tmp_path: Path, path: str, found: list[str]) -> None:
    """A suite is asked for by its file or by any folder above it."""
    assert [name for name in suites_in(tmp_path, [tmp_path / path]) if name == "neutrality"] == found
