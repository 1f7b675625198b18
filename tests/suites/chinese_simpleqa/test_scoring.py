"""What short answers of fact come to, worked out by hand."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.scoring import best_of, calibration, five_metrics, in_percent

TABLE = ROOT / "tests" / "data" / "chinese_simpleqa_published.csv"
"""Figures of the leaderboard at openstellarteam.github.io/ChineseSimpleQA (He and others 2024)."""
HALF = 0.05
"""What rounding to one decimal may hide."""


def test_the_formulas_give_the_published_figures() -> None:
    """CGA and F are those of some counts that round to the published CO, NA and IN, for all 41 models."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = {row.pop("model"): row for row in csv.DictReader(file)}
    assert len(rows) == 41
    wrong = []
    for model, row in rows.items():
        co, na, incorrect = (float(row[name]) for name in ("correct", "not_attempted", "incorrect"))
        near = [
            five_metrics(co + a * HALF, incorrect - a * HALF, na + b * HALF) for a in (-1, 1) for b in (-1, 1)
        ]
        for name in ("correct_given_attempted", "f"):
            values = [figures[name] or 0.0 for figures in near]
            is_met = min(values) - HALF - 1e-9 <= float(row[name]) <= max(values) + HALF + 1e-9
            is_near = abs((five_metrics(co, incorrect, na)[name] or 0.0) - float(row[name])) <= 0.11
            wrong += [] if is_met and is_near else [(model, name)]
    assert wrong == []


def test_best_of_by_hand() -> None:
    """Two questions with three answers, one with two; those with fewer answers leave the later tries."""
    counts = [(False, True, False), (False, False, False), (True, False)]
    assert best_of(counts, 4) == [
        {"tries": 1, "questions": 3, "prefix": pytest.approx(100 / 3), "unbiased": pytest.approx(500 / 18)},
        {"tries": 2, "questions": 3, "prefix": pytest.approx(200 / 3), "unbiased": pytest.approx(500 / 9)},
        {"tries": 3, "questions": 2, "prefix": 50, "unbiased": 50},
        {"tries": 4, "questions": 0, "prefix": None, "unbiased": None},
    ]


def test_calibration_by_hand() -> None:
    """Bins are closed on the left, the last holds 100 too; each bin's distance counts by its answers."""
    curve = calibration([(0, False), (9.9, True), (10, True), (90, True), (95, False), (100, True)])
    bins: list[dict[str, Any]] = curve["bins"]
    assert [(row["low"], row["high"]) for row in bins] == [(low, low + 10) for low in range(0, 100, 10)]
    names = ("n", "confidence", "accuracy")
    assert [[row[name] for name in names] for row in (bins[0], bins[1], bins[9], curve)] == [
        [2, pytest.approx(4.95), 50],
        [1, 10, 100],
        [3, 95, pytest.approx(200 / 3)],
        [6, pytest.approx(304.9 / 6), pytest.approx(400 / 6)],
    ]
    assert [[row[name] for name in names] for row in bins[2:9]] == [[0, None, None]] * 7
    assert curve["ece"] == pytest.approx((2 * 45.05 + 90 + 3 * (95 - 200 / 3)) / 6)
    nothing = calibration([])
    assert [nothing[name] for name in (*names, "ece")] == [0, None, None, None]


def test_a_confidence_is_a_percentage_unless_all_are_shares() -> None:
    """Where one is above 1, a fraction may be either, and is nothing."""
    assert in_percent([0.9, None, 1, 0]) == [90, None, 100, 0]
    assert in_percent([0.9, None, 1, 0, 85.5]) == [None, None, 1, 0, 85.5]
    assert (in_percent([None]), in_percent([])) == ([None], [])
