"""Agreement of evaluators: coefficients against other people's code, intervals, and what is not defined."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import krippendorff
import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from simulated import holds, limits

from equipoise.stats.agreement import (
    Distance,
    KappaWeights,
    fleiss_kappa,
    krippendorff_alpha,
    leans,
    percent_agreement,
    variance_within_units,
    weighted_kappa,
)

LEVELS = [1, 2, 3, 4, 5]
Ratings = dict[str, dict[str, float]]


def table(chance: np.random.Generator, raters: int, units: int, missing: float) -> NDArray[np.float64]:
    """Verdicts from 1 to 5 about the units' own levels, raters by units, NaN where missing."""
    own = chance.integers(1, 6, units)
    verdicts = np.clip(own + chance.integers(-1, 2, (raters, units)), 1, 5)
    return np.where(chance.random((raters, units)) < missing, np.nan, verdicts)


def ratings(verdicts: NDArray[np.float64]) -> Ratings:
    """The same by rater and unit, without what is missing."""
    return {
        f"rater {rater}": {f"unit {unit}": value for unit, value in enumerate(row) if not math.isnan(value)}
        for rater, row in enumerate(verdicts.tolist())
    }


def clusters(units: int, size: int) -> dict[str, str]:
    """The question of each unit, so many units each."""
    return {f"unit {unit}": f"question {unit // size}" for unit in range(units)}


def panel(
    chance: np.random.Generator, questions: int, units: int = 15
) -> tuple[Ratings, Mapping[str, str], int]:
    """Three evaluators of so many units of each question, whose levels depend on question and unit."""
    level = chance.normal(3, 0.8, (questions, 1, 1)) + chance.normal(0, 0.4, (questions, units, 1))
    verdicts = np.clip(np.rint(level + chance.normal(0, 0.5, (questions, units, 3))), 1, 5)
    return ratings(verdicts.reshape(-1, 3).T), clusters(questions * units, units), questions


def test_alpha_is_that_of_the_krippendorff_package() -> None:
    """On chance data with and without missing verdicts, whatever the distance, to nine digits."""
    metrics: tuple[Distance, ...] = ("ordinal", "interval")
    for metric, missing, seed in itertools.product(metrics, (0.0, 0.4), range(3)):
        verdicts = table(np.random.default_rng(seed), raters=3, units=40, missing=missing)
        expected = krippendorff.alpha(verdicts, value_domain=LEVELS, level_of_measurement=metric)
        alpha = krippendorff_alpha(ratings(verdicts), LEVELS, metric).value
        assert alpha == pytest.approx(expected, abs=1e-9), (metric, missing, seed)


def test_alpha_that_is_not_defined_says_why() -> None:
    """No value rather than a one or a zero; a verdict off the scale is neither rounded nor left out."""
    cases: list[tuple[Ratings, str]] = [
        ({}, "no unit has two verdicts"),
        ({"a": {"u": 1, "v": 2}}, "one evaluator"),
        ({"a": {"u": 1, "v": 2}, "b": {}}, "one evaluator"),
        ({"a": {"u": 1}, "b": {"v": 2}}, "no unit has two verdicts"),
        ({"a": {"u": 3, "v": 3}, "b": {"u": 3, "v": 3}}, "all verdicts are equal"),
        ({"a": {"u": 3, "v": 1}, "b": {"u": 3}}, "all verdicts are equal"),
    ]
    for by_rater, reason in cases:
        alpha = krippendorff_alpha(by_rater, LEVELS, cluster_of={"u": "q", "v": "r"})
        assert (alpha.value, alpha.low, alpha.reason) == (None, None, reason), by_rater
    with pytest.raises(ValueError, match=r"2\.5 of 'b' is not one of the levels"):
        krippendorff_alpha({"a": {"u": 2.0}, "b": {"u": 2.5}}, LEVELS)


@pytest.mark.parametrize(
    ("questions", "is_clustered", "reason"),
    [
        (10, False, "no clusters given"),
        (5, True, "5 questions are too few to resample"),
        (1, True, "1 question"),
    ],
)
def test_without_enough_clusters_there_is_a_value_but_no_interval(
    questions: int, is_clustered: bool, reason: str
) -> None:
    """Units of one question are not independent, so units are not taken for clusters."""
    by_rater, cluster_of, _ = panel(np.random.default_rng(6), questions=questions)
    alpha = krippendorff_alpha(by_rater, LEVELS, cluster_of=cluster_of if is_clustered else None)
    assert alpha.value is not None
    assert (alpha.low, alpha.high, alpha.reason) == (None, None, reason)


def test_interval_does_not_depend_on_the_order_of_units() -> None:
    """Nor on when it is computed: the draws are always the same."""
    by_rater, cluster_of, questions = panel(np.random.default_rng(2), questions=12)
    turned = {rater: dict(reversed(verdicts.items())) for rater, verdicts in by_rater.items()}
    first = krippendorff_alpha(by_rater, LEVELS, cluster_of=cluster_of)
    assert first == krippendorff_alpha(turned, LEVELS, cluster_of=cluster_of)
    assert first.n == questions


def test_standard_error_is_the_jackknifes() -> None:
    """Worked out with the krippendorff package, leaving out one question at a time."""
    verdicts = table(np.random.default_rng(10), raters=3, units=24, missing=0.2)
    questions = np.arange(24) // 3
    others = [
        krippendorff.alpha(
            verdicts[:, questions != left_out], level_of_measurement="ordinal", value_domain=LEVELS
        )
        for left_out in range(8)
    ]
    alpha = krippendorff_alpha(ratings(verdicts), LEVELS, cluster_of=clusters(24, 3))
    assert alpha.se == pytest.approx(math.sqrt(7 * np.var(others)), rel=1e-9)


@pytest.mark.slow
def test_interval_holds_the_true_alpha_as_often_as_it_says() -> None:
    """Of 100 panels of ten questions, whose true alpha a large panel tells, 95 % give or take four errors."""
    chance = np.random.default_rng(4)
    true = krippendorff_alpha(panel(chance, questions=4000, units=6)[0], LEVELS).value
    assert true is not None
    held = 0
    for _ in range(100):
        by_rater, cluster_of, _ = panel(chance, questions=10, units=6)
        held += holds(krippendorff_alpha(by_rater, LEVELS, cluster_of=cluster_of), true)
    assert held / 100 == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / 100))


def test_limits_stay_on_the_scale_of_a_coefficient() -> None:
    """Few questions make wide intervals, but none above 1."""
    by_rater, cluster_of, _ = panel(np.random.default_rng(5), questions=6, units=2)
    alpha = krippendorff_alpha(by_rater, LEVELS, cluster_of=cluster_of)
    low, high = limits(alpha)
    assert -1 <= low < high <= 1


@pytest.mark.parametrize("disagreements", [0, 1])
def test_where_hardly_anything_differs_there_is_no_interval(disagreements: int) -> None:
    """An interval without width would say that no further question could be judged differently."""
    units = 20
    verdicts = np.tile(np.arange(units) % 5 + 1.0, (2, 1))
    verdicts[0, :disagreements] = 5
    alpha = krippendorff_alpha(ratings(verdicts), LEVELS, cluster_of=clusters(units, 1))
    assert alpha.value == pytest.approx(1, abs=0.3)
    assert (alpha.low, alpha.reason) == (None, "too few questions with disagreement to resample")


def test_kappa_is_that_of_statsmodels() -> None:
    """On chance data, on the units that both rated, whatever disagreement weighs, to nine digits."""
    from statsmodels.stats.inter_rater import cohens_kappa

    kinds: tuple[KappaWeights, ...] = ("none", "quadratic")
    for weights, seed in itertools.product(kinds, range(3)):
        by_rater = ratings(table(np.random.default_rng(seed), raters=2, units=60, missing=0.2))
        a, b = by_rater.values()
        counts = np.zeros((5, 5))
        for unit in a.keys() & b.keys():
            counts[int(a[unit]) - 1, int(b[unit]) - 1] += 1
        wt = None if weights == "none" else weights
        expected = cohens_kappa(counts, wt=wt, return_results=False)
        assert weighted_kappa(a, b, LEVELS, weights).value == pytest.approx(expected, abs=1e-9)


def test_kappa_of_yes_and_no() -> None:
    """By how many were yes of both, of one only, of none; undefined where chance alone agrees always."""
    kinds = ((True, True), (True, False), (False, True), (False, False))
    for counts, value, reason in (
        ((20, 5, 10, 15), 0.4, "no clusters given"),  # 0.7 observed, 0.5 by chance
        ((0, 10, 10, 0), -1.0, "no clusters given"),
        ((10, 10, 0, 0), 0.0, "no clusters given"),  # one says yes to all: chance explains the half
        ((0, 9, 0, 0), 0.0, "no clusters given"),  # always yes against always no
        ((10, 0, 0, 0), None, "all verdicts are equal"),
        ((0, 0, 0, 0), None, "no unit that both rated"),
    ):
        pairs = [kind for kind, n in zip(kinds, counts, strict=True) for _ in range(n)]
        a, b = ({unit: pair[side] for unit, pair in enumerate(pairs)} for side in (0, 1))
        kappa = weighted_kappa(a, b, (False, True), "none")
        assert (kappa.value, kappa.reason) == (pytest.approx(value), reason), counts  # type: ignore[comparison-overlap]


def test_kappa_has_an_interval_by_question() -> None:
    """The same bootstrap as alpha's, around the same value as without."""
    by_rater, cluster_of, questions = panel(np.random.default_rng(7), questions=15)
    a, b, _ = by_rater.values()
    kappa = weighted_kappa(a, b, LEVELS, cluster_of=cluster_of)
    assert kappa.value == weighted_kappa(a, b, LEVELS).value
    assert holds(kappa, kappa.value or 0)
    assert -1 <= limits(kappa)[0] < limits(kappa)[1] <= 1
    assert kappa.n == questions


def test_percent_agreement_and_variance_within_units() -> None:
    """Of units that two rated, whatever one of them alone rated; of none there is neither."""
    a, b = {"u": 1, "v": 2, "w": 3, "x": 4}, {"u": 1, "v": 2, "w": 4, "y": 5}
    assert percent_agreement(a, b) == pytest.approx(200 / 3, rel=1e-9)
    assert percent_agreement({"u": 1}, {"v": 1}) is None
    verdicts = table(np.random.default_rng(3), 3, 20, 0.2)
    several = verdicts[:, (~np.isnan(verdicts)).sum(axis=0) > 1]
    variance = variance_within_units(ratings(verdicts))
    assert variance == pytest.approx(np.nanvar(several, axis=0, ddof=1).mean())
    assert variance_within_units({"a": {"t": 1.0}, "b": {"u": 1.0}}) is None
    assert variance_within_units({}) is None


def test_leans_by_hand() -> None:
    """Question q says 5 - 3, r says 3 - 4 and 4 - 4 against the others' means: 2 and -0.5, by scipy's t."""
    by_rater = {
        "a": {"q1": 5.0, "r1": 3.0, "r2": 4.0, "alone": 1.0},
        "b": {"q1": 2.0, "r1": 4.0, "r2": 5.0},
        "c": {"q1": 4.0, "r2": 3.0},
    }
    first = leans(by_rater, {"q1": "q", "r1": "r", "r2": "r", "alone": "s"})[0]
    assert (first.evaluator, first.units, first.difference.n) == ("a", 3, 2)
    assert first.mean == pytest.approx((5 + 3.5 + 1) / 3, rel=1e-9)
    expected = scipy.stats.ttest_1samp([2, -0.5], 0).confidence_interval(0.95)
    assert first.difference.value == pytest.approx((2 - 0.5) / 2, rel=1e-9)
    assert limits(first.difference) == pytest.approx(tuple(expected), rel=1e-9)


def test_a_lean_needs_others_who_differ() -> None:
    """One evaluator has a mean and nobody to differ from; where all agree, 0 is no certainty."""
    (lean,) = leans({"a": {"u": 4, "v": 2}}, {"u": "q", "v": "r"})
    assert (lean.mean, lean.units, lean.difference.value) == (3, 0, None)
    assert lean.difference.reason == "no questions"
    verdicts = {f"unit {number}": float(number) for number in range(1, 5)}
    lean = leans({"a": verdicts, "b": verdicts}, clusters(5, 1))[0]
    assert (lean.difference.value, lean.difference.low) == (0, None)
    assert lean.difference.reason is not None


# Several raters at once.


def test_fleiss_kappa_is_that_of_other_code() -> None:
    """Of three raters, on the units that all of them rated."""
    from statsmodels.stats import inter_rater

    for seed in range(5):
        verdicts = table(np.random.default_rng(seed), 3, 40, 0.1)
        whole = verdicts[:, ~np.isnan(verdicts).any(axis=0)]
        counts, _ = inter_rater.aggregate_raters(whole.T)
        assert fleiss_kappa(ratings(verdicts), LEVELS) == pytest.approx(inter_rater.fleiss_kappa(counts))


def test_fleiss_kappa_by_hand() -> None:
    """Of two units one is rated alike: half of the pairs agree, where chance gives 5 in 8."""
    verdicts = {"t": 1.0, "u": 2.0}
    assert fleiss_kappa({"a": {"t": 1.0, "u": 1.0}, "b": verdicts}, LEVELS) == pytest.approx(-1 / 3)
    for by_rater in ({}, {"a": verdicts}, {"a": verdicts, "b": {}}, {"a": {"t": 2.0}, "b": {"t": 2.0}}):
        assert fleiss_kappa(by_rater, LEVELS) is None
    assert fleiss_kappa({"a": verdicts, "b": dict(verdicts)}, LEVELS) == pytest.approx(1)
    with pytest.raises(ValueError, match="is not one of the levels"):
        fleiss_kappa({"a": {"t": 9.0}, "b": {"t": 1.0}}, LEVELS)
