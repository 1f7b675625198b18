"""Scores by question, language and run for tests of statistics: as observations, as cells, and by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell
from equipoise.stats import Observation

Array = NDArray[np.float64]
QUESTIONS = [f"q{number}" for number in range(20000)]
LANGUAGES = ["l0", "l1", "l2"]
ROUNDS = 5


def observe(cells: Array | Sequence[Sequence[float]]) -> list[Observation]:
    """Questions by languages; a cell that is NaN was not observed."""
    return [
        Observation(cluster=QUESTIONS[row], stratum=LANGUAGES[column], value=value)
        for row, values in enumerate(np.asarray(cells, dtype=np.float64).tolist())
        for column, value in enumerate(values)
        if not math.isnan(value)
    ]


def cells(**values: Array | Sequence[Sequence[Sequence[float]]]) -> list[Cell]:
    """A cell for each question and language of runs by (question, language, run); NaN is no score."""
    arrays = {name: np.asarray(runs, dtype=np.float64) for name, runs in values.items()}
    questions, languages, _ = next(iter(arrays.values())).shape
    return [
        Cell(
            id=f"{LANGUAGES[column]}/{QUESTIONS[row]}",
            cluster=QUESTIONS[row],
            stratum=LANGUAGES[column],
            labels={"language": LANGUAGES[column]},
            values={
                name: [None if math.isnan(value) else value for value in runs[row, column].tolist()]
                for name, runs in arrays.items()
            },
        )
        for row in range(questions)
        for column in range(languages)
    ]


def cells_of(name: str, runs: Array | Sequence[Sequence[Sequence[float]]]) -> list[Cell]:
    """The cells of one value."""
    return cells(**{name: runs})


def benchmarks(
    number: int, spreads: tuple[float, float, float], seed: int, *, questions: int = 50, languages: int = 3
) -> tuple[Array, float]:
    """Scores 1..5 (benchmark, question, language, round) with these deviations, and their true mean."""
    chance = np.random.default_rng(seed)
    shapes = ((questions, 1, 1), (questions, languages, 1), (questions, languages, ROUNDS))
    latent = 3.6 + sum(
        spread * chance.normal(size=(number, *shape)) for spread, shape in zip(spreads, shapes, strict=True)
    )
    limits = np.array([1.5, 2.5, 3.5, 4.5])
    truth = 1 + (1 - ndtr((limits - 3.6) / math.hypot(*spreads))).sum()
    return np.clip(np.rint(latent), 1, 5), float(truth)


def four(estimate: Estimate | Difference) -> tuple[float | None, ...]:
    """Value, standard error and limits."""
    return estimate.value, estimate.se, estimate.low, estimate.high


def limits(interval: Any) -> tuple[float, float]:
    """The lower and the upper limit of an interval that has both."""
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def holds(interval: Any, truth: float) -> bool:
    """Whether the interval contains the truth."""
    low, high = limits(interval)
    return low <= truth <= high
