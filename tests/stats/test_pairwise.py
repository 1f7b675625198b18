"""All pairs at once are those of one pair at a time, and a ranking says only what its pairs say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from equipoise.core.figures import Difference
from equipoise.core.records import Cell, Kind, Metric
from equipoise.stats import pairwise
from equipoise.stats.metrics import compared_figures, difference
from equipoise.stats.pairwise import (
    ModelValues,
    SharedCells,
    layout_and_values,
    p_values,
    ranking,
    told_apart,
)

PER = dict.fromkeys(("ratio", "gap", "lift"), "per")
IF_NOTHING = {"ratio": 0.0}


def models(seed: int, kind: Kind, *, missing: float, n: int = 6, questions: int = 12) -> list[list[Cell]]:
    """Cells of models that were asked the same in two languages, of which some values are missing."""
    chance = np.random.default_rng(seed)
    is_share = kind in ("rate", "ratio")

    def runs(level: float) -> Sequence[float | None]:
        drawn = chance.binomial(1, level, 3) if is_share else 100 * chance.beta(4 * level, 4 - 4 * level, 3)
        return [None if chance.random() < missing else float(value) for value in drawn]

    return [
        [
            Cell(
                id=f"{language}/q{question}",
                cluster=f"q{question}",
                stratum=language,
                values={"of": runs(0.3 + 0.08 * model), "per": runs(0.8)},
            )
            for question in range(questions)
            for language in ("en", "zh")
        ]
        for model in range(n)
    ]


def values_of(metric: Metric, every: Sequence[Sequence[Cell]]) -> tuple[SharedCells, Sequence[ModelValues]]:
    """The layout of these models' cells and the values of each."""
    layouts, columns = zip(*(layout_and_values(metric, cells) for cells in every), strict=True)
    return layouts[0], columns


def numbers(change: Difference) -> list[float]:
    """The numbers of a difference, NaN for those that it lacks."""
    parts = (change.value, change.se, change.low, change.high, change.p)
    return [np.nan if part is None else part for part in parts]


@pytest.mark.parametrize("kind", sorted({*get_args(Kind)} - {"contrast"}))
def test_pairs_are_those_of_a_comparison(kind: Kind, subtests: pytest.Subtests) -> None:
    """Of two models or of many, with and without missing values, and over nothing."""
    metric = Metric(name="x", of="of", per=PER.get(kind), kind=kind, if_nothing=IF_NOTHING.get(kind))
    for missing in (0.0, 0.4, 0.85):
        every = models(7, kind, missing=missing)
        every[1] = [replace(cell, values={**cell.values, "per": [0.0]}) for cell in every[1]]
        layout, columns = values_of(metric, every)
        p = p_values(metric, layout, columns)
        for i, j in zip(*np.triu_indices(len(every), 1), strict=True):
            with subtests.test(missing=missing, pair=(int(i), int(j))):
                one = difference(metric, every[i], every[j])
                assert p[i, j] == pytest.approx(np.nan if one.p is None else one.p, abs=1e-9, nan_ok=True)
                change = pairwise.difference(metric, layout, columns[int(i)], columns[int(j)])
                assert (change.n, change.reason) == (one.n, one.reason)
                assert numbers(change) == pytest.approx(numbers(one), rel=1e-9, abs=1e-9, nan_ok=True)
                older, newer = compared_figures(metric, every[i], every[j])
                figures = None if older is None or newer is None else newer - older
                assert one.value == (None if figures is None else pytest.approx(figures))


@pytest.mark.slow
def test_models_alike_are_told_apart_in_one_board_of_twenty() -> None:
    """Of 200 boards of eight models that do not differ, at most about 5 % tell any two apart."""
    metric = Metric(name="x", of="of")
    chance = np.random.default_rng(1)
    wrong = 0
    for _ in range(200):
        questions = chance.normal(size=(30, 1))
        scores = 50 + 10 * (questions + chance.normal(size=(30, 8)))
        every = [
            [
                Cell(id=f"q{row}", cluster=f"q{row}", stratum="en", values={"of": [value]})
                for row, value in enumerate(scores[:, model])
            ]
            for model in range(8)
        ]
        wrong += bool(told_apart(p_values(metric, *values_of(metric, every))).any())
    assert 1 <= wrong <= 18


def test_a_ranking_says_what_its_pairs_say() -> None:
    """Ranks reach from those that are better to those that are worse; a group holds no two that differ."""
    apart = np.zeros((5, 5), dtype=np.bool_)
    for i, j in ((0, 3), (0, 4), (1, 4), (2, 4)):
        apart[i, j] = apart[j, i] = True
    ranks = ranking(apart)
    assert (ranks.best, ranks.worst) == ([1, 1, 1, 2, 4], [3, 4, 4, 5, 5])
    assert ranks.group == [1, 1, 1, 2, 2]
    assert ranking(np.zeros((1, 1), dtype=np.bool_)).group == [1]
    # The third differs from the second alone, as where the first has few cases.
    apart = np.zeros((3, 3), dtype=np.bool_)
    apart[1, 2] = apart[2, 1] = True
    ranks = ranking(apart)
    assert (ranks.best, ranks.worst, ranks.group) == ([1, 1, 2], [3, 2, 3], [1, 1, 2])
