"""Contrasts of two groups of questions, against scipy and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray
from simulated import limits

from equipoise.core.records import Cell, Metric
from equipoise.results.summary import figure, smallest_of_contrast
from equipoise.stats import fixed
from equipoise.stats.metrics import compared_figures, difference, figures_by_run, measure

Array = NDArray[np.float64]
FEW, MANY = {"group": "few"}, {"group": "many"}
METRIC = Metric(name="few_less_many", of="percent", kind="contrast", where=FEW, minus=MANY, unit="pp")
LANGUAGES = ("en", "zh")


def cell(group: str, question: int, language: str, runs: Sequence[float | None]) -> Cell:
    """The cell of a question of a group."""
    name = f"{group}{question}"
    return Cell(
        id=f"{language}/{name}",
        cluster=name,
        stratum=language,
        labels={"group": group},
        values={"percent": runs},
    )


def cells_of(few: Array, many: Array) -> list[Cell]:
    """The cells of both groups, by (question, language, run), and of a third group, which is left out."""
    groups = {"few": few, "neither": np.zeros((3, 2, few.shape[2])), "many": many}
    return [
        cell(group, question, LANGUAGES[column], runs)
        for group, questions in groups.items()
        for question, languages in enumerate(questions.tolist())
        for column, runs in enumerate(languages)
    ]


def scores(seed: int) -> tuple[Array, Array]:
    """Percentages of 7 questions around 70 and 12 around 50, in two languages, three runs each."""
    chance = np.random.default_rng(seed)
    few, many = (
        np.clip(level + chance.normal(0, 9, (n, 1, 1)) + chance.normal(0, 6, (n, 2, 3)), 0, 100)
        for level, n in ((70, 7), (50, 12))
    )
    return few, many


def test_a_contrast_is_the_difference_of_the_means_of_two_independent_groups() -> None:
    """Value and error are those of the questions' means; fewer questions show larger differences alone."""
    few, many = scores(1)
    means = [group.mean(axis=(1, 2)) for group in (few, many)]
    estimate = measure(METRIC, cells_of(few, many))
    assert estimate.value == pytest.approx(means[0].mean() - means[1].mean())
    assert estimate.se == pytest.approx(np.hypot(*map(scipy.stats.sem, means)))
    assert estimate.n == 19
    low, high = limits(estimate)
    assert 0 < low < (estimate.value or 0) < high < 100
    few, many = scores(6)
    whole = smallest_of_contrast(METRIC, cells_of(few, many))
    part = smallest_of_contrast(METRIC, cells_of(few[:3], many))
    assert whole is not None
    assert part is not None
    assert 0 < whole < part < 200
    assert smallest_of_contrast(METRIC, cells_of(few[:1], many)) is None
    assert figure(METRIC, cells_of(few, many), "questions").smallest_difference == pytest.approx(whole)


def test_on_these_questions_only_runs_vary() -> None:
    """The squared error is the sum over cases of the variance of their mean, weighted as in the figure."""
    few, many = scores(2)
    estimate = fixed.estimate(METRIC, cells_of(few, many))
    parts = [group.var(axis=2, ddof=1).sum() / 3 / group[..., 0].size ** 2 for group in (few, many)]
    assert estimate.value == pytest.approx(few.mean() - many.mean())
    assert estimate.se == pytest.approx(np.sqrt(sum(parts)))
    assert estimate.n == 2 * 19


def test_two_models_are_compared_question_by_question() -> None:
    """The difference is the contrast of the questions' changes; what a model shares with another cancels."""
    (few, many), (more_few, more_many) = scores(3), scores(4)
    older, newer = (few, many), ((few + more_few) / 2, (many + more_many) / 2)
    changes = [now.mean(axis=(1, 2)) - was.mean(axis=(1, 2)) for was, now in zip(older, newer, strict=True)]
    change = difference(METRIC, cells_of(*older), cells_of(*newer))
    assert change.value == pytest.approx(changes[0].mean() - changes[1].mean())
    assert change.se == pytest.approx(np.hypot(*map(scipy.stats.sem, changes)))
    assert change.p is not None
    was, now = compared_figures(METRIC, cells_of(*older), cells_of(*newer))
    assert was is not None
    assert now is not None
    assert change.value == pytest.approx(now - was)
    these = fixed.difference(METRIC, cells_of(*older), cells_of(*newer))
    errors = [fixed.estimate(METRIC, cells_of(*side)).se or 0.0 for side in (older, newer)]
    assert (these.value, these.se) == pytest.approx((now - was, math.hypot(*errors)))


def test_a_language_without_one_of_the_groups_does_not_count() -> None:
    """It says nothing of a difference, nor do cases that only one of two models has."""
    few, many = scores(5)
    cells = cells_of(few, many)
    half = [item for item in cells if (item.stratum, item.labels["group"]) != ("zh", "many")]
    english = [item for item in cells if item.stratum == "en"]
    assert measure(METRIC, half) == measure(METRIC, english)
    empty = [cell("many", number, "zh", [None] * 3) for number in range(12)]
    assert measure(METRIC, [*half, *empty]) == measure(METRIC, english)
    assert fixed.estimate(METRIC, half) == fixed.estimate(METRIC, english)
    assert difference(METRIC, cells, half).value == pytest.approx(0)
    assert difference(METRIC, cells, half).n == 19
    one_group = [item for item in cells if item.labels["group"] == "few"]
    for both in ((cells, one_group), (one_group, one_group)):
        change = difference(METRIC, *both)
        assert (change.value, change.low, change.reason) == (None, None, "no questions")
    assert measure(METRIC, one_group).value is None


def test_each_run_has_a_contrast_of_its_own() -> None:
    """A run in which a group has no value in a language is without that language."""
    cells = [
        cell("few", 1, "en", [100, 50]),
        cell("few", 1, "zh", [90, 80]),
        cell("many", 1, "en", [60, 40]),
        cell("many", 1, "zh", [70, None]),
    ]
    assert figures_by_run(METRIC, cells) == [pytest.approx(30), pytest.approx(10)]
    assert figures_by_run(METRIC, cells[:2]) == [None, None]
