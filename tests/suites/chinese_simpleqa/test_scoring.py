"""What short answers of fact come to, worked out by hand."""

from __future__ import annotations

import csv
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.scoring import (
    best_of,
    calibration,
    five_metrics,
    majority_grade,
)

FIVE = ("correct", "incorrect", "not_attempted", "correct_given_attempted", "f")


# Shares.


def test_shares_by_hand(subtests: pytest.Subtests) -> None:
    """Nothing attempted and all incorrect give 0; no answer at all gives nothing."""
    for counts, found in (
        ((5, 3, 2), (50, 30, 20, 62.5, 1000 / 18)),
        ((1, 0, 3), (25, 0, 75, 100, 40)),
        ((4, 0, 0), (100, 0, 0, 100, 100)),
        ((0, 4, 0), (0, 100, 0, 0, 0)),
        ((0, 1, 1), (0, 50, 50, 0, 0)),
        ((0, 0, 7), (0, 0, 100, 0, 0)),
        ((0, 0, 0), (None, None, None, None, None)),
    ):
        with subtests.test(counts=counts, found=found):
            told = five_metrics(*counts)
            assert tuple(told) == FIVE
            assert [told[name] for name in FIVE] == [None if v is None else pytest.approx(v) for v in found]


COUNTS = st.integers(min_value=0, max_value=3000)


@settings(max_examples=25)
@given(COUNTS, COUNTS, COUNTS)
def test_the_shares_hold_together(correct: int, incorrect: int, not_attempted: int) -> None:
    """CO + IN + NA = 100, CGA = CO/(CO+IN), F = 2CO/(2-NA) and the harmonic mean of CO and CGA."""
    found = five_metrics(correct, incorrect, not_attempted)
    if found["correct"] is None:
        assert correct + incorrect + not_attempted == 0
        return
    co, wrong, na, cga, f = (found[name] or 0.0 for name in FIVE)
    assert co + wrong + na == pytest.approx(100)
    if co + wrong:
        assert cga == pytest.approx(100 * co / (co + wrong))
        assert f == pytest.approx(2 * co / (2 - na / 100))
    assert f == pytest.approx(2 * co * cga / (co + cga) if co else 0)


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
            found = [given[name] or 0.0 for given in near]
            is_met = min(found) - HALF - 1e-9 <= float(row[name]) <= max(found) + HALF + 1e-9
            is_near = abs((five_metrics(co, incorrect, na)[name] or 0.0) - float(row[name])) <= 0.11
            wrong += [] if is_met and is_near else [(model, name)]
    assert wrong == []


# Grades.


def test_the_majority_decides() -> None:
    """In a tie incorrect before not attempted before correct, whoever said it first."""
    expected = {"A": "A AAB BAA", "B": "AB BA CB ABC", "C": "CCA AC AACCB"}
    found = {
        grade: [majority_grade(list(given)) for given in panels.split()] for grade, panels in expected.items()
    }
    assert found == {grade: [grade] * len(panels.split()) for grade, panels in expected.items()}
    assert majority_grade([]) is None


# Best of several.


def test_best_of_by_hand() -> None:
    """Two questions with three answers, one with two; those with fewer answers leave the later tries."""
    counts = [(False, True, False), (False, False, False), (True, False)]
    assert best_of(counts, 4) == [
        {"tries": 1, "questions": 3, "prefix": pytest.approx(100 / 3), "unbiased": pytest.approx(500 / 18)},
        {"tries": 2, "questions": 3, "prefix": pytest.approx(200 / 3), "unbiased": pytest.approx(500 / 9)},
        {"tries": 3, "questions": 2, "prefix": 50, "unbiased": 50},
        {"tries": 4, "questions": 0, "prefix": None, "unbiased": None},
    ]
    assert best_of([], 0) == []


def test_best_of_is_the_mean_over_all_subsets(subtests: pytest.Subtests) -> None:
    """The unbiased figure is what any k of the answers have; the other what the first k have."""
    for answers in list(product([False, True], repeat=5))[::3]:
        with subtests.test(answers=answers):
            for k, row in enumerate(best_of([answers], 5), start=1):
                subsets = list(combinations(answers, k))
                assert row["unbiased"] == pytest.approx(100 * sum(map(any, subsets)) / len(subsets))
                assert row["prefix"] == 100 * any(answers[:k])


# Calibration.


def test_calibration_by_hand() -> None:
    """Bins are closed on the left, the last holds 100 too; each bin's distance counts by its answers."""
    found = calibration([(0, False), (9.9, True), (10, True), (90, True), (95, False), (100, True)])
    bins: list[dict[str, Any]] = found["bins"]
    assert [(row["low"], row["high"]) for row in bins] == [(low, low + 10) for low in range(0, 100, 10)]
    assert [row["n"] for row in bins] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert (bins[0]["confidence"], bins[0]["accuracy"]) == (pytest.approx(4.95), 50)
    assert (bins[1]["confidence"], bins[1]["accuracy"]) == (10, 100)
    assert (bins[2]["confidence"], bins[2]["accuracy"]) == (None, None)
    assert (bins[9]["confidence"], bins[9]["accuracy"]) == (95, pytest.approx(200 / 3))
    whole = (found["n"], found["confidence"], found["accuracy"])
    assert whole == (6, pytest.approx(304.9 / 6), pytest.approx(400 / 6))
    assert found["ece"] == pytest.approx((2 * 45.05 + 90 + 3 * (95 - 200 / 3)) / 6)


def test_calibration_of_nothing_and_of_the_perfect() -> None:
    """Without answers there is no figure; who is right where he is sure has no error."""
    nothing = calibration([])
    assert (nothing["n"], nothing["confidence"], nothing["accuracy"], nothing["ece"]) == (0, None, None, None)
    assert calibration([(100, True), (0, False)])["ece"] == 0
