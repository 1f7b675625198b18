"""The published main table of Chinese SimpleQA: its last two columns follow from the first three."""

from __future__ import annotations

import csv

import pytest

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.scoring import shares

TABLE = ROOT / "tests" / "data" / "chinese_simpleqa_published.csv"
"""Figures of the leaderboard at openstellarteam.github.io/ChineseSimpleQA (He and others 2024)."""
with TABLE.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
HALF = 0.05
"""What rounding to one decimal may hide."""


def test_the_formulas_give_the_published_figures(subtests: pytest.Subtests) -> None:
    """CGA and F are those of some counts that round to the published CO, NA and IN."""
    for row in ROWS:
        with subtests.test(row=row):
            co, na, wrong = (float(row[name]) for name in ("correct", "not_attempted", "incorrect"))
            assert co + na + wrong == pytest.approx(100, abs=0.11)
            for name in ("correct_given_attempted", "f"):
                found = [
                    shares(co + sign * HALF, wrong - sign * HALF, na + other * HALF)[name] or 0.0
                    for sign in (-1, 1)
                    for other in (-1, 1)
                ]
                assert min(found) - HALF - 1e-9 <= float(row[name]) <= max(found) + HALF + 1e-9
                assert shares(co, wrong, na)[name] == pytest.approx(float(row[name]), abs=0.11)


def test_the_table_is_whole() -> None:
    """Seventeen closed and twenty-four open models."""
    assert len(ROWS) == len({row["model"] for row in ROWS}) == 41
