"""Clustered means, rates and the bootstrap: against scipy and statsmodels, by hand, rates by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.special import stdtrit
from simulated import four, holds, limits, observe

from equipoise.stats import Observation, mean
from equipoise.stats.intervals import (
    clustered_mean,
    clustered_rate,
    clustered_ratio,
    codes,
    linearised_mean,
    wilson,
)

Array = NDArray[np.float64]
NAN = math.nan


def gapped(seed: int, questions: int, languages: int, gaps: float) -> Array:
    """Correlated cells, some of which are missing."""
    chance = np.random.default_rng(seed)
    cells = chance.normal(size=(questions, 1)) + chance.normal(size=(questions, languages)) + 3
    cells[chance.random(cells.shape) < gaps] = NAN
    return cells


def test_with_all_cells_it_is_the_t_interval_on_the_questions_means() -> None:
    """Balanced, the questions' own means are a simple sample, for which scipy has the interval."""
    for questions, languages, confidence in ((2, 1, 0.95), (2, 3, 0.5), (7, 2, 0.999), (50, 3, 0.95)):
        cells = gapped(3, questions, languages, gaps=0)
        test = scipy.stats.ttest_1samp(cells.mean(axis=1), 0)
        interval = test.confidence_interval(confidence)
        estimate = clustered_mean(observe(cells), confidence=confidence)
        expected = (cells.mean(), scipy.stats.sem(cells.mean(axis=1)), interval.low, interval.high)
        assert four(estimate) == pytest.approx(expected, rel=1e-9)
        assert estimate.n == questions
        assert linearised_mean(observe(cells), confidence)[1] == pytest.approx(questions - 1, rel=1e-12)


@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.5])
def test_with_cells_missing_it_is_bias_reduced_linearisation_by_its_definition(gaps: float) -> None:
    """Bell and McCaffrey: residuals times (I - H)^(-1/2) by question; degrees from the quadratic form."""
    from statsmodels.regression.linear_model import OLS

    cells = gapped(5, 30, 3, gaps)
    rows, columns = np.nonzero(~np.isnan(cells))
    design, contrast = np.eye(3)[columns], np.full(3, 1 / 3)
    fit = OLS(cells[rows, columns], design).fit()
    bread = np.linalg.inv(design.T @ design)
    hat = np.eye(len(rows)) - design @ bread @ design.T
    parts, squares = [], 0.0
    for question in np.unique(rows):
        own = rows == question
        values, vectors = np.linalg.eigh(hat[np.ix_(own, own)])
        adjusted = vectors @ np.diag(values**-0.5) @ vectors.T @ design[own] @ bread @ contrast
        squares += float(adjusted @ fit.resid[own]) ** 2
        parts.append(hat[:, own] @ adjusted)
    form = np.array(parts) @ np.array(parts).T
    degrees = np.trace(form) ** 2 / (form**2).sum()
    estimate, found_degrees = linearised_mean(observe(cells), 0.95)
    half = stdtrit(degrees, 0.975) * math.sqrt(squares)
    value = fit.params.mean()
    assert four(estimate) == pytest.approx((value, math.sqrt(squares), value - half, value + half), rel=1e-9)
    assert found_degrees == pytest.approx(degrees, rel=1e-9)


@pytest.mark.parametrize("cells", [gapped(7, 49, 3, gaps=0.1), np.full((6, 2), 0.1)], ids=["any", "tenths"])
def test_the_value_is_the_published_figure_to_the_last_bit(cells: Array) -> None:
    """The same sums in the same precision as the suites' own aggregation."""
    columns = [[value for value in column if not math.isnan(value)] for column in cells.T.tolist()]
    assert clustered_mean(observe(cells)).value == mean([mean(column) or 0.0 for column in columns])


@pytest.mark.parametrize(
    ("cells", "value", "n", "reason"),
    [
        pytest.param([], None, 0, "no questions", id="nothing"),
        pytest.param([[3.0, 4.0]], 3.5, 1, "1 question", id="one_question"),
        pytest.param([[5.0, 5.0]] * 50, 5.0, 50, "no variation between questions", id="all_at_the_top"),
        pytest.param([[0.0], [0.0]], 0.0, 2, "no variation between questions", id="all_zero"),
        pytest.param([[0.1, 0.7]] * 9, 0.4, 9, "no variation between questions", id="not_binary"),
        pytest.param([[3.3, 2.7], [2.7, 3.3]], 3.0, 2, "no variation between questions", id="cancelled"),
        pytest.param([[1.0, 2.0], [2.0, NAN]], 1.75, 2, "1 question in 'l1'", id="one_in_a_language"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    cells: Sequence[Sequence[float]], value: float | None, n: int, reason: str
) -> None:
    """The figure stays; limits and error are None, never zero wide."""
    estimate = clustered_mean(observe(cells))
    assert (estimate.se, estimate.low, estimate.high) == (None, None, None)
    assert (estimate.n, estimate.reason) == (n, reason)
    assert estimate.value == pytest.approx(value)


def test_what_is_no_number_is_refused() -> None:
    """Nor may a cell be observed twice: two runs of one question would count as two questions."""
    for value in (NAN, math.inf, -math.inf):
        with pytest.raises(ValueError, match="not a finite number"):
            clustered_mean([*observe([[1.0]]), Observation(cluster="b", stratum="l0", value=value)])
    with pytest.raises(ValueError, match="finite"):
        clustered_ratio([NAN], [1])
    with pytest.raises(ValueError, match="twice"):
        clustered_mean(observe([[1, 2]]) * 2)


def test_codes_are_in_the_order_of_first_appearance() -> None:
    """So that they fit a list of names without duplicates."""
    assert (codes("bab").tolist(), codes([]).tolist()) == ([0, 1, 0], [])


def test_a_confidence_is_a_share() -> None:
    """95 for 0.95 is a mistake, not a wide interval."""
    for confidence in (0, 1, 95, NAN):
        with pytest.raises(ValueError, match="between 0 and 1"):
            clustered_mean(observe([[1, 2], [2, 4]]), confidence=confidence)


@pytest.mark.parametrize(
    ("successes", "totals"),
    [([0] * 12, [15] * 12), ([0] * 50, [15] * 50), ([0] * 150, [5] * 150), ([0] * 50, [1] * 50)],
)
def test_no_event_is_no_certainty(successes: list[int], totals: list[int]) -> None:
    """The upper limit is at least the one-sided exact one of k independent questions, and not much more."""
    estimate, k = clustered_rate(successes, totals), len(totals)
    assert (estimate.value, estimate.se, estimate.low, estimate.reason) == (0, None, 0, None)
    _, high = limits(estimate)
    assert 1 - 0.05 ** (1 / k) < high < 1.2 * (1 - 0.025 ** (1 / k))
    assert limits(clustered_rate(totals, totals)) == pytest.approx((1 - high, 1), abs=1e-12)


def test_a_question_asked_far_more_often_than_the_others_bounds_less() -> None:
    """The figure is then nearly that question's own: the effective number of questions counts, not 50."""
    even, uneven = clustered_rate([0] * 50, [15] * 50), clustered_rate([0] * 50, [295] + [5] * 49)
    assert limits(uneven)[1] > 3 * limits(even)[1]


def test_single_runs_of_many_questions_have_wilsons_own_interval() -> None:
    """One run a question is a binomial sample: statsmodels' Wilson, once t and the halves weigh little."""
    from statsmodels.stats.proportion import proportion_confint

    estimate = clustered_rate([1] * 6000 + [0] * 14000, [1] * 20000)
    assert (estimate.low, estimate.high) == pytest.approx(
        proportion_confint(6000, 20000, method="wilson"), rel=1e-4
    )


def test_the_limits_of_a_rate_by_hand() -> None:
    """0 in 4 questions: centre 0.1, squares 0.45, n = 0.1 * 0.9 * 16 / 0.45 = 3.2, high = t^2 / (n + t^2).

    All runs of 1 in 4: centre 0.3, squares 1.05, n = 3.2: roots of (0.25 - x)^2 n = t^2 x (1 - x).
    """
    t2 = 3.1824463053**2
    assert wilson(0.0, 0.0, 4, 0.95) == pytest.approx((0, t2 / (3.2 + t2)), rel=1e-9)
    for limit in wilson(0.25, 0.0625, 4, 0.95):
        assert 3.2 * (0.25 - limit) ** 2 == pytest.approx(t2 * limit * (1 - limit), rel=1e-9)


@pytest.mark.parametrize(
    ("successes", "totals", "value", "n", "reason"),
    [
        pytest.param([], [], None, 0, "no questions", id="nothing"),
        pytest.param([0, 0], [0, 0], None, 0, "no questions", id="no_runs"),
        pytest.param([2, 0], [5, 0], 0.4, 1, "1 question", id="one_question"),
    ],
)
def test_a_rate_of_too_few_questions_has_a_reason(
    successes: list[int], totals: list[int], value: float | None, n: int, reason: str
) -> None:
    """Questions without runs do not count."""
    estimate = clustered_rate(successes, totals)
    assert (estimate.value, estimate.n, estimate.reason) == (value, n, reason)
    assert (estimate.low, estimate.high) == (None, None)


@pytest.mark.parametrize(("successes", "totals"), [([2], [1]), ([-1], [1]), ([1], []), ([NAN], [1])])
def test_impossible_counts_are_refused(successes: list[int], totals: list[int]) -> None:
    """More successes than runs, or lists of different lengths, are mistakes of the caller."""
    with pytest.raises(ValueError, match=r"between 0|argument"):
        clustered_rate(successes, totals)


@pytest.mark.slow
def test_a_rate_is_held_however_rare_and_however_alike_the_runs(subtests: pytest.Subtests) -> None:
    """Of 2,000 sets of 50 questions with 15 runs (beta-binomial), at least 93 % are held, even near 0."""
    for rate, likeness in itertools.product((0.005, 0.02, 0.1, 0.5), (0.05, 0.4, 0.8)):
        with subtests.test(f"{rate} {likeness}"):
            chance = np.random.default_rng(11)
            size = (1 - likeness) / likeness
            successes = chance.binomial(15, chance.beta(rate * size, (1 - rate) * size, (2000, 50)))
            held = [holds(clustered_rate(row, [15] * 50), rate) for row in successes.tolist()]
            assert np.mean(held) >= 0.93


def test_the_bootstrap_of_a_ratio_is_scipys() -> None:
    """Two sums by question, drawn together."""
    chance = np.random.default_rng(15)
    above, below = chance.gamma(1, size=25), chance.gamma(4, size=25)
    theirs = scipy.stats.bootstrap(
        (above, below),
        lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis),
        paired=True,
        n_resamples=4000,
        confidence_level=0.9,
        rng=np.random.default_rng(20_260_101),
    )
    estimate = clustered_ratio(above.tolist(), below.tolist(), confidence=0.9)
    assert estimate.se == pytest.approx(theirs.standard_error, rel=1e-9)
    assert limits(estimate) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)


def test_draws_that_are_equal_but_for_rounding_are_ties(subtests: pytest.Subtests) -> None:
    """Gaps in thirds have the limits of the same gaps in whole numbers, whose sums are exact."""
    for seed in range(12):
        gaps = np.random.default_rng(seed).choice([0, 0, 0, 1, 2, -1], 12)
        whole, thirds = (clustered_ratio([*gaps * unit], [1.0] * 12) for unit in (1, 100 / 3))
        with subtests.test(seed=seed):
            expected = tuple(limit * 100 / 3 for limit in limits(whole))
            assert limits(thirds) == pytest.approx(expected, abs=1e-9)


def test_percentiles_take_over_where_the_correction_turns_around() -> None:
    """A strong acceleration at nearly 100 %: the denominator is negative, and the level no level."""
    estimate = clustered_ratio([0] * 99 + [1], [1] * 100, confidence=1 - 1e-9)
    low, high = limits(estimate)
    assert low == 0 < 0.04 < high


@pytest.mark.parametrize(
    ("pairs", "value", "reason"),
    [
        pytest.param([], None, "no questions", id="nothing"),
        pytest.param([(1, 1)], 1.0, "1 question", id="one"),
        pytest.param([(1, 1), (2, 1)], 1.5, "2 questions are too few to resample", id="two"),
        pytest.param([(1, 1)] * 5, 1.0, "5 questions are too few to resample", id="five"),
        pytest.param([(1, 1)] * 6, 1.0, "no variation between questions", id="constant"),
        pytest.param([(0, 0)] * 8, None, "not defined", id="undefined"),
        pytest.param([(0, 0)] * 6 + [(5, 1)], 5.0, "not defined in 34% of the draws", id="often"),
    ],
)
def test_where_nothing_can_be_resampled_the_reason_is(
    pairs: list[tuple[int, int]], value: float | None, reason: str
) -> None:
    """The questions are too few, too much alike, or have too often nothing to divide by."""
    estimate = clustered_ratio([above for above, _ in pairs], [below for _, below in pairs])
    assert (estimate.value, estimate.n, estimate.reason) == (value, len(pairs), reason)
    assert (estimate.se, estimate.low, estimate.high) == (None, None, None)
