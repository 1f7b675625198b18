"""Clustered means, rates and the bootstrap: against scipy and statsmodels, by hand and by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.special import stdtrit
from simulated import benchmarks, holds, observe

from equipoise.core.figures import Estimate
from equipoise.stats import mean
from equipoise.stats.intervals import (
    Observation,
    _bca_levels,
    clustered_mean,
    clustered_rate,
    clustered_ratio,
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


def fields(found: Estimate) -> tuple[float | None, ...]:
    """Value, standard error and limits."""
    return found.value, found.se, found.low, found.high


def test_with_all_cells_it_is_the_t_interval_on_the_questions_means() -> None:
    """Balanced, the questions' own means are a simple sample, for which scipy has the interval."""
    for questions, languages, confidence in ((2, 1, 0.95), (2, 3, 0.5), (7, 2, 0.999), (50, 3, 0.95)):
        cells = gapped(3, questions, languages, gaps=0)
        test = scipy.stats.ttest_1samp(cells.mean(axis=1), 0)
        interval = test.confidence_interval(confidence)
        found = clustered_mean(observe(cells), confidence=confidence)
        expected = (cells.mean(), scipy.stats.sem(cells.mean(axis=1)), interval.low, interval.high)
        assert fields(found) == pytest.approx(expected, rel=1e-9)
        assert found.n == questions
        assert linearised_mean(observe(cells), confidence)[1] == pytest.approx(questions - 1, rel=1e-12)


def fitted(cells: Array) -> tuple[NDArray[np.int_], Array, Array, Any]:
    """Least squares of the cells on their languages, clustered: questions, design, contrast and fit."""
    from statsmodels.regression.linear_model import OLS  # type: ignore[import-untyped]

    rows, columns = np.nonzero(~np.isnan(cells))
    design = np.eye(cells.shape[1])[columns]
    options = {"groups": rows, "use_correction": False}
    fit = OLS(cells[rows, columns], design).fit(cov_type="cluster", cov_kwds=options)
    return rows, design, np.full(cells.shape[1], 1 / cells.shape[1]), fit


def test_with_all_cells_it_is_the_clustered_least_squares_of_statsmodels() -> None:
    """OLS on the languages, clustered by question, times Q/(Q-1), with the contrast 1/L of each language."""
    cells = gapped(4, 40, 3, gaps=0)
    _, _, contrast, fit = fitted(cells)
    test = fit.t_test(contrast)
    se = float(test.sd.item()) * math.sqrt(40 / 39)
    half = float(stdtrit(39, 0.975)) * se
    expected = (test.effect.item(), se, test.effect.item() - half, test.effect.item() + half)
    assert fields(clustered_mean(observe(cells))) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.5])
def test_with_cells_missing_it_is_bias_reduced_linearisation_by_its_definition(gaps: float) -> None:
    """Bell and McCaffrey: residuals times (I - H)^(-1/2) by question; degrees from the quadratic form."""
    cells = gapped(5, 30, 3, gaps)
    rows, design, contrast, fit = fitted(cells)
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
    found, found_degrees = linearised_mean(observe(cells), 0.95)
    half = stdtrit(degrees, 0.975) * math.sqrt(squares)
    value = fit.params.mean()
    assert fields(found) == pytest.approx((value, math.sqrt(squares), value - half, value + half), rel=1e-9)
    assert found_degrees == pytest.approx(degrees, rel=1e-9)


def test_two_questions_by_hand() -> None:
    """Means 2 and 4: the mean 3, the standard error 1, the half-width t(1 degree) = 12.706."""
    found = clustered_mean(observe([[1, 3], [3, 5]]))
    assert fields(found) == pytest.approx((3, 1, 3 - 12.7062047364, 3 + 12.7062047364), rel=1e-10)
    assert found.reason is None


def test_one_language_missing_for_a_question_by_hand() -> None:
    """Pulls -(1/sqrt 6 + 1/sqrt 8), 1/sqrt 8 and 1/sqrt 6: their squares add up to 7/12 + 1/sqrt 12."""
    found = clustered_mean(observe([[1, 2], [3, 4], [5, NAN]]))
    assert found.value == 3
    assert found.se == pytest.approx(math.sqrt(7 / 12 + 1 / math.sqrt(12)), rel=1e-12)
    assert found.n == 3


def test_languages_weigh_the_same_however_many_questions_they_have() -> None:
    """The mean over languages, not over cells: (1 + 5) / 2 with four and two questions."""
    assert clustered_mean(observe([[1, 5], [1, 5], [1, NAN], [1, NAN]])).value == 3


@pytest.mark.parametrize("cells", [gapped(7, 49, 3, gaps=0.1), np.full((6, 2), 0.1)], ids=["any", "tenths"])
def test_the_value_is_the_published_figure_to_the_last_bit(cells: Array) -> None:
    """The same sums in the same precision as the suites' own aggregation."""
    columns = [[value for value in column if not math.isnan(value)] for column in cells.T.tolist()]
    assert clustered_mean(observe(cells)).value == mean([mean(column) or 0.0 for column in columns])


def test_the_order_of_observations_does_not_matter() -> None:
    """Reversed, the figures are the same."""
    items = observe(gapped(8, 20, 3, gaps=0.2))
    assert fields(clustered_mean(items)) == pytest.approx(fields(clustered_mean(items[::-1])), rel=1e-12)


def test_the_interval_moves_and_stretches_with_the_scale() -> None:
    """25 (y - 1), from the scale 1..5 to percent, does the same to the limits."""
    cells = gapped(9, 20, 3, gaps=0.2)
    plain, percent = clustered_mean(observe(cells)), clustered_mean(observe(25 * (cells - 1)))
    assert plain.low is not None
    assert plain.se is not None
    assert percent.low == pytest.approx(25 * (plain.low - 1), rel=1e-9)
    assert percent.se == pytest.approx(25 * plain.se, rel=1e-9)


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
    found = clustered_mean(observe(cells))
    assert (found.se, found.low, found.high, found.n, found.reason) == (None, None, None, n, reason)
    assert found.value == pytest.approx(value)


def test_what_is_no_number_is_refused() -> None:
    """A missing score must be left out by the caller; it is not silently dropped here."""
    for value in (NAN, math.inf, -math.inf):
        with pytest.raises(ValueError, match="not a finite number"):
            clustered_mean([*observe([[1.0]]), Observation(cluster="b", stratum="l0", value=value)])


def test_a_cell_observed_twice_is_refused() -> None:
    """Runs must have been averaged: two of one question would count as two questions' worth."""
    with pytest.raises(ValueError, match="twice"):
        clustered_mean(observe([[1, 2]]) * 2)


def test_a_confidence_is_a_share() -> None:
    """95 for 0.95 is a mistake, not a wide interval."""
    for confidence in (0, 1, 95, NAN):
        with pytest.raises(ValueError, match="between 0 and 1"):
            clustered_mean(observe([[1, 2], [2, 4]]), confidence=confidence)


@pytest.mark.slow
def test_the_interval_holds_the_true_mean_and_one_that_ignores_questions_does_not() -> None:
    """Of 2,000 benchmarks 93 to 97 % are held; with all 750 runs taken as independent, fewer than 70 %."""
    scores, truth = benchmarks(2000, (0.6, 0.4, 0.6), seed=20)
    means = scores.mean(axis=3)
    clustered = np.mean([holds(clustered_mean(observe(cells)), truth) for cells in means])
    runs = scores.reshape(2000, -1)
    half = stdtrit(749, 0.975) * runs.std(axis=1, ddof=1) / math.sqrt(750)
    independent = np.mean(np.abs(runs.mean(axis=1) - truth) <= half)
    assert 0.93 <= clustered <= 0.97
    assert independent < 0.70


@pytest.mark.slow
def test_the_interval_holds_where_one_language_was_cut_short() -> None:
    """With 5 of 50 questions in one language, 93 to 97 %, which a common factor Q/(Q-1) does not reach."""
    scores, truth = benchmarks(2000, (0.6, 0.4, 0.6), seed=21)
    means = scores.mean(axis=3)
    means[:, 5:, 2] = NAN
    found = [clustered_mean(observe(cells)) for cells in means]
    counts = np.array([50, 50, 5])
    pulls = np.nansum((means - np.nanmean(means, axis=1, keepdims=True)) / (3 * counts), axis=2)
    common = stdtrit(49, 0.975) * np.sqrt(50 / 49 * (pulls**2).sum(axis=1))
    values = np.array([item.value for item in found])
    assert 0.93 <= np.mean([holds(item, truth) for item in found]) <= 0.97
    assert np.mean(np.abs(values - truth) <= common) < 0.92


@pytest.mark.parametrize(
    ("successes", "totals"),
    [([0] * 12, [15] * 12), ([0] * 50, [15] * 50), ([0] * 150, [5] * 150), ([0] * 50, [1] * 50)],
)
def test_no_event_is_no_certainty(successes: list[int], totals: list[int]) -> None:
    """The upper limit is at least the one-sided exact one of k independent questions, and not much more."""
    found, k = clustered_rate(successes, totals), len(totals)
    assert (found.value, found.se, found.low, found.reason) == (0, None, 0, None)
    assert found.high is not None
    assert 1 - 0.05 ** (1 / k) < found.high < 1.2 * (1 - 0.025 ** (1 / k))


def test_only_events_are_the_mirror_of_none() -> None:
    """[low, 1] for all is [0, 1 - low] for none, and likewise in between."""
    totals = [5, 5, 4, 5, 3, 5, 5, 5]
    for successes in ([5, 5, 4, 5, 3, 5, 5, 5], [1, 0, 0, 3, 2, 0, 5, 0]):
        found = clustered_rate(successes, totals)
        turned = clustered_rate(
            [total - found for found, total in zip(successes, totals, strict=True)], totals
        )
        assert found.low is not None
        assert found.high is not None
        assert (turned.low, turned.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)


def test_a_question_asked_far_more_often_than_the_others_bounds_less() -> None:
    """The figure is then nearly that question's own: the effective number of questions counts, not 50."""
    even, uneven = clustered_rate([0] * 50, [15] * 50), clustered_rate([0] * 50, [295] + [5] * 49)
    assert even.high is not None
    assert uneven.high is not None
    assert uneven.high > 3 * even.high


def test_more_runs_of_the_same_questions_do_not_make_no_event_surer() -> None:
    """The units are questions: 0 of 50 and 0 of 750 bound the rate of further questions alike."""
    assert clustered_rate([0] * 50, [1] * 50).high == clustered_rate([0] * 50, [15] * 50).high


def test_one_event_hardly_moves_the_limits_of_none() -> None:
    """No seam: 1 run of 750 changes the upper limit by less than a tenth."""
    none, one = clustered_rate([0] * 50, [15] * 50), clustered_rate([1] + [0] * 49, [15] * 50)
    assert none.high is not None
    assert one.high == pytest.approx(none.high, rel=0.1)
    assert one.low is not None
    assert one.low > 0


def test_single_runs_of_many_questions_have_wilsons_own_interval() -> None:
    """One run a question is a binomial sample: statsmodels' Wilson, once t and the halves weigh little."""
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

    found = clustered_rate([1] * 6000 + [0] * 14000, [1] * 20000)
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(6000, 20000, method="wilson"), rel=1e-4
    )


def test_the_limits_of_a_rate_by_hand() -> None:
    """0 in 4 questions: centre 0.1, squares 0.45, n = 0.1 * 0.9 * 16 / 0.45 = 3.2, high = t^2 / (n + t^2)."""
    high = 3.1824463053**2 / (3.2 + 3.1824463053**2)
    assert wilson(0.0, 0.0, 4, 0.95) == pytest.approx((0, high), rel=1e-9)


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
    found = clustered_rate(successes, totals)
    assert (found.value, found.n, found.reason, found.low, found.high) == (value, n, reason, None, None)


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


@pytest.mark.slow
def test_neither_student_nor_the_bootstrap_holds_a_rare_rate() -> None:
    """Why rates have limits of their own: at 0.5 % both hold it in fewer than 70 % of 400 sets."""
    chance = np.random.default_rng(12)
    successes = chance.binomial(15, chance.beta(0.005 * 1.5, 0.995 * 1.5, (400, 50)))
    student = [clustered_mean(observe(row[:, None] / 15)) for row in successes]
    drawn = [clustered_ratio(row, [15] * 50, seed=1, draws=1000) for row in successes]
    for found in (student, drawn):
        assert np.mean([item.low is not None and holds(item, 0.005) for item in found]) < 0.70


def test_the_bootstrap_is_scipys() -> None:
    """The same draws give the same bias-corrected and accelerated limits, here of a skewed mean."""
    values = np.random.default_rng(13).gamma(1, size=30)
    theirs = scipy.stats.bootstrap((values,), np.mean, n_resamples=4000, rng=np.random.default_rng(14))
    found = clustered_ratio(values.tolist(), [1.0] * 30, seed=14)
    interval = theirs.confidence_interval
    assert (found.low, found.high, found.se) == pytest.approx(
        (interval.low, interval.high, theirs.standard_error), rel=1e-9
    )


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
        rng=np.random.default_rng(16),
    ).confidence_interval
    found = clustered_ratio(above.tolist(), below.tolist(), seed=16, confidence=0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_draws_that_are_equal_but_for_rounding_are_ties(subtests: pytest.Subtests) -> None:
    """Gaps in thirds have the limits of the same gaps in whole numbers, whose sums are exact."""
    for seed in range(12):
        gaps = np.random.default_rng(seed).choice([0, 0, 0, 1, 2, -1], 12)
        whole, thirds = (clustered_ratio([*gaps * unit], [1.0] * 12, seed=2) for unit in (1, 100 / 3))
        with subtests.test(seed=seed):
            assert whole.low is not None
            assert whole.high is not None
            limits = (whole.low * 100 / 3, whole.high * 100 / 3)
            assert (thirds.low, thirds.high) == pytest.approx(limits, abs=1e-9)


def test_the_seed_decides_the_draws() -> None:
    """The same seed gives the same limits, another seed others."""
    first, again, other = (clustered_ratio(range(20), [20] * 20, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.low != other.low


def test_percentiles_take_over_where_the_correction_does_not_exist() -> None:
    """A figure that does not feel the loss of any one question, as a median may not, has no acceleration."""
    assert _bca_levels(1.0, np.arange(4000.0), np.ones(8), 0.9).tolist() == pytest.approx([0.05, 0.95])


def test_percentiles_take_over_where_the_correction_turns_around() -> None:
    """A strong bias and acceleration at 99.99 %: the denominator is negative, and the level no level."""
    drawn, left_out = np.append(np.zeros(3999), 2.0), np.append(np.zeros(99), -1.0)
    assert _bca_levels(1.0, drawn, left_out, 0.9999).tolist() == pytest.approx([0.00005, 0.99995])
    assert _bca_levels(1.0, drawn, left_out, 0.9)[1] > 0.999


@pytest.mark.parametrize(
    ("pairs", "value", "reason"),
    [
        pytest.param([], None, "no questions", id="nothing"),
        pytest.param([(1, 1)], 1.0, "1 question", id="one"),
        pytest.param([(1, 1), (2, 1)], 1.5, "2 questions are too few to resample", id="two"),
        pytest.param([(1, 1)] * 5, 1.0, "5 questions are too few to resample", id="five"),
        pytest.param([(1, 1)] * 6, 1.0, "no variation between questions", id="constant"),
        pytest.param([(0, 0)] * 8, None, "not defined", id="undefined"),
        pytest.param([(0, 0)] * 6 + [(5, 1)], 5.0, "not defined in 32% of the draws", id="often"),
    ],
)
def test_where_nothing_can_be_resampled_the_reason_is(
    pairs: list[tuple[int, int]], value: float | None, reason: str
) -> None:
    """The questions are too few, too much alike, or have too often nothing to divide by."""
    found = clustered_ratio([above for above, _ in pairs], [below for _, below in pairs], seed=5)
    assert (found.value, found.n, found.reason) == (value, len(pairs), reason)
    assert (found.se, found.low, found.high) == (None, None, None)


def test_a_ratio_to_nothing_is_not_defined() -> None:
    """Denominators of zero give a reason, and a number that is none is refused."""
    assert clustered_ratio([0] * 9, [0] * 9, seed=1).reason == "not defined"
    assert clustered_ratio([], [], seed=1).reason == "no questions"
    with pytest.raises(ValueError, match="finite"):
        clustered_ratio([NAN], [1], seed=1)
