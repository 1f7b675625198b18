"""Single runs as text: what a run's score is on the scale of its suite."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import one_dispute
import pytest
from from_records import rows_of

from conftest import ROOT
from equipoise.core.records import Cell, Metric
from equipoise.core.types import JSON
from equipoise.report.transcripts import describe_level, lines, lowest_cells
from equipoise.results.load import load

KEPT = ROOT / "tests" / "regression" / "kept"
MEANS: Mapping[str, Mapping[tuple[JSON, JSON], str]] = {
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
    words = {
        (round(row.score, 6), round(row.percent, 6)): describe_level(row, side.suite, side.scale)
        for row in side.rows
        if row.score is not None and row.percent is not None
    }
    expected = {tuple(round(number, 6) for number in scores): text for scores, text in MEANS[suite].items()}
    assert {scores: words.get(scores) for scores in expected} == expected
    row = next(row for row in side.rows if row.percent is not None)
    assert next(lines(row, "%", "level 9")).endswith("% (level 9)")


def test_a_score_that_is_no_percent_is_not_shown() -> None:
    """Of borderlines it is a claimant's place in the table, or 0 for none."""
    replies = {1: "Attica", 2: "?"}
    records = [one_dispute.record(one_dispute.CASE, text, number) for number, text in replies.items()]
    rows = rows_of("borderlines", records, one_dispute.RUBRIC.scale)
    assert [row.score for row in rows] == [1, 0]
    assert [next(lines(row, "%")) for row in rows] == [f"xx/rock run {number}: scored" for number in replies]


def test_the_lowest_cells_have_the_lowest_means_of_the_headline() -> None:
    """With their runs; not without a value, nor those that the headline leaves out."""
    strategies = {"rock": "vanilla", "isle": "vanilla", "reef": "vanilla", "bank": "nationalist"}
    cases = [
        replace(one_dispute.CASE, id=f"xx-{name}-{strategy}", territory=name, strategy=strategy)
        for name, strategy in strategies.items()
    ]
    records = [one_dispute.record(case, "Attica", number) for case in cases for number in (1, 2)]
    rows = rows_of("borderlines", records, one_dispute.RUBRIC.scale)
    values = {"rock": (100.0, None), "isle": (0.0, 50.0), "reef": (None, None), "bank": (0.0, 0.0)}
    cells = [
        Cell(
            id=name, cluster=name, stratum="x", values={"alike": alike}, labels={"strategy": strategies[name]}
        )
        for name, alike in values.items()
    ]
    headline = Metric(name="consistency", of="alike", where={"strategy": "vanilla"})
    shown = lowest_cells(rows, cells, headline, 9)
    assert list(shown) == ["isle: consistency 25.0 %", "rock: consistency 100.0 %"]
    assert [[(row.question.cluster, row.number) for row in own] for own in shown.values()] == [
        [("isle", 1), ("isle", 2)],
        [("rock", 1), ("rock", 2)],
    ]
    assert list(lowest_cells(rows[:2], cells, headline, 9)) == ["rock: consistency 100.0 %"]
    assert len(lowest_cells(rows, cells, headline, 1)) == 1
