"""Single runs as text: what a run's score is on the scale of its suite."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.core.types import JSON
from equipoise.report.transcripts import describe_level, lines
from equipoise.results.load import load

KEPT = ROOT / "tests" / "regression" / "kept"
MEANS: Mapping[str, Mapping[tuple[JSON, JSON], str]] = {
    "borderlines": {(1.0, 0.0): "", (2.0, 100.0): ""},
    "chinese_simpleqa": {(0.0, 0.0): "incorrect", (1.0, 0.0): "not attempted", (2.0, 100.0): "correct"},
    "even_handedness": {(0.0, 0.0): "uneven", (0.071337, 7.133657): ""},
    "neutrality": {(1, 0.0): "level 1 of 1 to 5", (7 / 3, 100 / 3): "level 2.33 of 1 to 5"},
    "politicsbench": {(-3.25, -3.25): ""},
}


@pytest.mark.parametrize("suite", MEANS)
def test_a_score_is_said_in_words_of_its_suite(tmp_path: Path, suite: str) -> None:
    """A level of the scale, a grade, or nothing but the percent or the points."""
    path = tmp_path / "x.json"
    path.write_bytes(lzma.decompress((KEPT / f"{suite}.panel.json.xz").read_bytes()))
    side = load(path)
    said = {
        (round(row.score, 6), round(row.percent, 6)): describe_level(row, side.suite, side.scale)
        for row in side.rows
        if row.score is not None and row.percent is not None
    }
    expected = {tuple(round(number, 6) for number in scores): text for scores, text in MEANS[suite].items()}
    assert {scores: said.get(scores) for scores in expected} == expected
    row = next(row for row in side.rows if row.percent is not None)
    assert next(lines(row, "%", "level 9")).endswith("% (level 9)")
