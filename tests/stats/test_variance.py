"""Components of variance against analysis of variance and algebra; what more data would do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from equipoise.core.figures import StudyDesign
from equipoise.stats import Observation
from equipoise.stats.intervals import clustered_mean
from equipoise.stats.variance import (
    Component,
    Components,
    ScoreKey,
    advice,
    estimate_components,
    predict_se,
    sentence,
    smallest_difference,
)

Array = NDArray[np.float64]
NAMES: tuple[Component, ...] = ("question", "language", "run", "evaluator", "rest")
TRUE: dict[Component, float] = {"question": 1.0, "language": 0.5, "run": 0.3, "evaluator": 0.2, "rest": 0.4}
KNOWN = Components(variance=TRUE)


def drawn(chance: np.random.Generator, *shape: int) -> Array:
    """Scores of the model by question, language, run and evaluator, with fixed effects of the fixed ones."""
    q, lang, run, judge = shape
    sizes: dict[Component, tuple[int, ...]] = {
        "question": (q, 1, 1, 1),
        "language": (q, lang, 1, 1),
        "run": (q, lang, run, 1),
        "evaluator": (q, lang, 1, judge),
        "rest": shape,
    }
    scores: Array = 0.3 * np.multiply.outer(np.arange(lang), np.arange(judge) - 1.0)[None, :, None, :]
    for name, size in sizes.items():
        scores = scores + chance.normal(0, math.sqrt(TRUE[name]), size)
    return scores


def cells(scores: Array, there: NDArray[np.bool_] | None = None) -> dict[ScoreKey, float]:
    """The scores that are there, by question, language, run and evaluator."""
    return {
        (f"q{q}", f"l{lang}", run, f"e{judge}"): float(scores[q, lang, run, judge])
        for q, lang, run, judge in itertools.product(*map(range, scores.shape))
        if there is None or there[q, lang, run, judge]
    }


def test_two_way_table_by_hand() -> None:
    """Questions 1 2, 3 5, 4 4: MS(question) = 25/6 and MS(rest) = 1/2, so (25/6 - 1/2) / 2 and 1/2."""
    components = estimate_components(cells(np.array([[1.0, 2], [3, 5], [4, 4]])[:, :, None, None]))
    assert components.variance == pytest.approx({"question": 11 / 6, "language": 1 / 2})
    assert components.share == pytest.approx({"question": 11 / 14, "language": 3 / 14})
    assert (components.negative, components.reason) == ((), None)


def test_cells_missing_the_expectations_are_those_of_plain_matrices() -> None:
    """The same sums of squares and traces with every matrix written out in full."""
    chance = np.random.default_rng(2)
    scores = drawn(chance, 8, 3, 3, 2)
    by_cell = cells(scores, chance.random(scores.shape) > 0.3)
    y = np.array([*by_cell.values()])
    parts = {
        "question": (0,),
        "language": (0, 1),
        "run": (0, 1, 2),
        "evaluator": (0, 1, 3),
        "rest": (0, 1, 2, 3),
    }
    designs = [incidence([tuple(cell[i] for i in part) for cell in by_cell]) for part in parts.values()]
    fixed = incidence([(cell[1], cell[3]) for cell in by_cell])
    centre = np.eye(len(y)) - fixed @ np.linalg.pinv(fixed)
    forms = [centre @ z @ np.diag(1 / z.sum(axis=0)) @ z.T @ centre for z in designs]
    traces = [[np.trace(form @ z @ z.T) for z in designs] for form in forms]
    expected = np.linalg.solve(traces, [y @ form @ y for form in forms])
    assert [*estimate_components(by_cell).variance.values()] == pytest.approx(expected.clip(0))


def incidence(labels: list[tuple[object, ...]]) -> Array:
    """Which label each score has, scores by labels."""
    names = list(dict.fromkeys(labels))
    return np.array([[float(label == name) for name in names] for label in labels])


def test_predicted_error_of_the_data_is_the_clustered_error() -> None:
    """In balanced data, whatever could be told apart, it is the error of the mean of the questions' means."""
    for shape in ((9, 3, 4, 2), (9, 3, 1, 2), (9, 3, 4, 1), (9, 1, 4, 2), (9, 3, 1, 1), (9, 1, 1, 1)):
        scores = drawn(np.random.default_rng(12), *shape)
        estimates = estimate_components(cells(scores))
        means = [
            Observation(cluster=str(q), stratum="", value=value)
            for q, value in enumerate(scores.mean((1, 2, 3)).tolist())
        ]
        assert not estimates.negative
        assert predict_se(estimates, *shape) == pytest.approx(clustered_mean(means).se), shape


@pytest.mark.parametrize(
    ("shape", "merged"),
    [
        pytest.param((6, 3, 2, 2), {}, id="all"),
        pytest.param((6, 3, 1, 2), {"run": "language", "rest": "evaluator"}, id="one_run"),
        pytest.param((6, 3, 2, 1), {"evaluator": "language", "rest": "run"}, id="one_evaluator"),
        pytest.param((6, 1, 2, 2), {"language": "question"}, id="one_language"),
        pytest.param((6, 3, 1, 1), dict.fromkeys(("run", "evaluator", "rest"), "language"), id="one_verdict"),
        pytest.param((6, 1, 1, 1), dict.fromkeys(NAMES[1:], "question"), id="questions_alone"),
    ],
)
def test_what_cannot_be_told_apart_is_named(
    shape: tuple[int, int, int, int], merged: dict[Component, Component]
) -> None:
    """A component of which there is one level in every coarser one is in that coarser one."""
    components = estimate_components(cells(drawn(np.random.default_rng(6), *shape)))
    assert components.merged == merged
    assert [*components.variance] == [name for name in NAMES if name not in merged]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        pytest.param({}, "no evaluator scored a whole run", id="nothing"),
        pytest.param(
            {("q", "l", run, "e"): run for run in range(9)}, "fewer than 2 questions", id="question"
        ),
        pytest.param(
            {(q, q, run, "e"): run for q in "pq" for run in range(3)},
            "too few scores in common to tell the components apart",
            id="each_question_in_its_own_language",
        ),
    ],
)
def test_nothing_is_estimated_where_nothing_can_be_told(scores: dict[ScoreKey, float], reason: str) -> None:
    """Neither components nor predictions, but a reason."""
    components = estimate_components(scores)
    design = StudyDesign(questions=2, languages=1, runs=1, evaluators=1)
    assert (components.variance, components.share, components.reason) == ({}, {}, reason)
    assert predict_se(components, 2, 1, 1, 1) is None
    assert advice(components, design) is None
    assert smallest_difference(components, design) is None


def test_what_is_no_variance() -> None:
    """A constant added to what an evaluator says in a language changes nothing, nor does the order."""
    scores = drawn(np.random.default_rng(7), 6, 3, 2, 2)
    moved = scores + np.array([[0.0, 2], [1, -1], [3, 0]])[None, :, None, :]
    assert estimate_components(cells(moved)).variance == pytest.approx(
        estimate_components(cells(scores)).variance
    )
    chance = np.random.default_rng(8)
    scores = drawn(chance, 6, 3, 2, 2)
    by_cell = cells(scores, chance.random(scores.shape) > 0.2)
    turned = estimate_components({cell: 2 * score for cell, score in reversed(by_cell.items())})
    expected = {name: 4 * variance for name, variance in estimate_components(by_cell).variance.items()}
    assert turned.variance == pytest.approx(expected)
    one = drawn(np.random.default_rng(9), 6, 3, 2, 1)
    components = estimate_components(cells(np.repeat(one, 3, axis=3)))
    assert (components.variance["evaluator"], components.variance["rest"], components.negative) == (0, 0, ())


def test_estimate_below_zero_is_shown_as_zero_and_named() -> None:
    """Languages that always move apart leave the questions less variance than none."""
    components = estimate_components(cells(np.array([[1.0, 5], [5, 1], [2, 4]])[:, :, None, None]))
    assert components.variance["question"] == 0
    assert components.negative == ("question",)
    assert components.share == {"question": 0, "language": 1}


@pytest.mark.parametrize("score", [0.0, 0.1, 3.0])
def test_scores_that_are_all_equal_have_no_variance(score: float) -> None:
    """Zeros without a sign of rounding, no shares, and nothing to narrow."""
    components = estimate_components(cells(np.full((4, 3, 2, 2), score)))
    assert components.variance == dict.fromkeys(NAMES, 0.0)
    assert (components.share, components.negative) == ({}, ())
    design = StudyDesign(questions=4, languages=3, runs=2, evaluators=2)
    recommendation = advice(components, design)
    assert recommendation is not None
    assert sentence(recommendation) == "Nothing varied: there is no interval to narrow."
    assert smallest_difference(components, design) == 0


def test_predicted_error_by_hand() -> None:
    """1/10 + 0.5/20 + 0.3/80 + 0.2/100 + 0.4/400 of 10 questions, 2 languages, 4 runs, 5 evaluators."""
    assert predict_se(KNOWN, 10, 2, 4, 5) == pytest.approx(math.sqrt(0.1 + 0.025 + 0.00375 + 0.002 + 0.001))
    components = estimate_components(cells(drawn(np.random.default_rng(10), 9, 3, 1, 2)))
    assert predict_se(components, 9, 3, 8, 2) == predict_se(components, 9, 3, 1, 2)


def test_advice_is_the_ratio_of_the_intervals() -> None:
    """Half widths with Student's t at ten and at twenty questions, and at twice the runs and evaluators."""
    recommendation = advice(KNOWN, StudyDesign(questions=10, languages=2, runs=4, evaluators=5))
    now = predict_se(KNOWN, 10, 2, 4, 5)
    more = predict_se(KNOWN, 20, 2, 4, 5), predict_se(KNOWN, 10, 2, 8, 5), predict_se(KNOWN, 10, 2, 4, 10)
    assert recommendation is not None
    assert now is not None
    assert recommendation.half_width == pytest.approx(scipy.stats.t.ppf(0.975, 9) * now)
    widths = [(se or 0) * scipy.stats.t.ppf(0.975, df) for se, df in zip(more, (19, 9, 9), strict=True)]
    expected = [1 - width / recommendation.half_width for width in widths]
    assert [*recommendation.narrowing] == ["questions", "runs", "evaluators"]
    assert [*recommendation.narrowing.values()] == pytest.approx(expected)
    assert recommendation.best_factor == "questions"


def test_sentence_names_all_three_factors() -> None:
    """The one that narrows most comes first; what cannot be told is named, and a little is not nothing."""
    recommendation = advice(KNOWN, StudyDesign(questions=50, languages=3, runs=1, evaluators=2))
    assert recommendation is not None
    expected = (
        "Doubling the questions would narrow the interval most (by 30 %); doubling the runs by 3 %; "
        "doubling the evaluators by 2 %."
    )
    assert sentence(recommendation) == expected
    assert sentence(recommendation, "territories") == expected.replace("questions", "territories")
    known = Components(variance={"question": 1.0, "run": 0.01}, merged={"evaluator": "question"})
    recommendation = advice(known, StudyDesign(questions=50, languages=1, runs=5, evaluators=1))
    assert recommendation is not None
    assert recommendation.unknown == ("evaluators",)
    assert sentence(recommendation) == (
        "Doubling the questions would narrow the interval most (by 30 %); doubling the runs by "
        "less than 1 %; what more evaluators would do cannot be estimated from one."
    )


def test_smallest_difference_has_the_power_that_statsmodels_gives_it() -> None:
    """Over the standard deviation of a question's difference it is Cohen's d of a paired t test."""
    from statsmodels.stats.power import TTestPower

    for questions, power in itertools.product((3, 20, 200), (0.5, 0.8, 0.95)):
        design = StudyDesign(questions=questions, languages=3, runs=5, evaluators=2)
        smallest = smallest_difference(KNOWN, design, power, 0.05, shared=0.25)
        se = math.sqrt(2 * (0.75 * (1 / 1 + 0.5 / 3) + 0.3 / 15 + 0.2 / 6 + 0.4 / 30))
        assert smallest is not None
        assert TTestPower().power(smallest / se, questions, 0.05) == pytest.approx(power, abs=1e-3)


def test_what_the_models_share_cancels() -> None:
    """All in common leaves runs, evaluators and the rest; the chance of a single run does not cancel."""
    design = StudyDesign(questions=20, languages=3, runs=5, evaluators=2)
    without = Components(variance={**TRUE, "question": 0.0, "language": 0.0})
    assert smallest_difference(KNOWN, design, shared=1) == smallest_difference(without, design, shared=0)
    ladder = [smallest_difference(KNOWN, design, shared=share) or 0 for share in (0, 0.5, 1)]
    assert ladder[0] > ladder[1] > ladder[2] > 0
    known = Components(variance={"question": 1.0, "language": 0.8}, merged={"run": "language"})
    design = StudyDesign(questions=20, languages=2, runs=1, evaluators=1)
    noise = Components(variance={"language": 0.8}, merged={"run": "language"})
    assert smallest_difference(known, design, shared=1) == smallest_difference(noise, design, shared=0)


def test_what_cannot_be_is_refused() -> None:
    """Scores that are none, a mean of nothing, an interval of one question, and rates out of range."""
    with pytest.raises(ValueError, match="not a finite number"):
        estimate_components({("q", "l", 0, "e"): math.nan, ("r", "l", 0, "e"): 1.0})
    with pytest.raises(ValueError, match="at least one of each"):
        predict_se(KNOWN, 10, 3, 0, 1)
    one, five = (StudyDesign(questions=n, languages=3, runs=5, evaluators=2) for n in (1, 5))
    for estimate in (advice, smallest_difference):
        with pytest.raises(ValueError, match="at least two questions"):
            estimate(KNOWN, one)
    for shared, power in ((-0.1, 0.8), (1.1, 0.8), (0.5, 0.01)):
        with pytest.raises(ValueError, match="need 0 <= shared"):
            smallest_difference(KNOWN, five, power, 0.05, shared=shared)
