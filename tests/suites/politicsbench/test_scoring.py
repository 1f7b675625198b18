"""Ten political dimensions: composites, tests, other weights."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]  # scipy has no types

from equipoise.suites.politicsbench import scoring, weights
from equipoise.suites.politicsbench.scoring import WEIGHTS

EVEN = dict.fromkeys(WEIGHTS, 10.0)
LEFT = {name: 20.0 if weight > 0 else 0.0 for name, weight in WEIGHTS.items()}
RIGHT = {name: 20.0 - value for name, value in LEFT.items()}


def drawn(seed: int) -> dict[str, float]:
    """A text with dimensions by chance."""
    numbers = np.random.default_rng(seed).uniform(0, 20, len(WEIGHTS))
    return dict(zip(WEIGHTS, numbers.tolist(), strict=True))


# Composites.


def test_weights_are_balanced() -> None:
    """They sum to 0 and their magnitudes to 10, five on each side."""
    assert math.fsum(WEIGHTS.values()) == 0
    assert math.fsum(map(abs, WEIGHTS.values())) == 10
    assert sum(weight > 0 for weight in WEIGHTS.values()) == 5
    assert sum(weight < 0 for weight in WEIGHTS.values()) == 5


def test_a_text_with_all_dimensions_alike_is_in_the_middle() -> None:
    """However high they are."""
    alike = (scoring.composite(dict.fromkeys(WEIGHTS, value)) for value in (0, 3.7, 10, 14, 20))
    assert {*alike} == {0}


def test_eight_dimensions_leave_out_how_a_text_argues() -> None:
    """Certainty and nuance do not move it; the other eight have their published weights, all but balanced."""
    style = {**EVEN, "moral_certainty": 20.0, "nuanced_pragmatism": 0.0}
    assert scoring.composite(style) == -18.75
    assert scoring.composite(style, scoring.EIGHT) == 0
    assert scoring.composite({**LEFT, "moral_certainty": 20.0}, scoring.EIGHT) == 100
    assert (len(scoring.EIGHT), math.fsum(scoring.EIGHT.values())) == (8, 0.125)


def test_each_extreme_is_a_hundred() -> None:
    """All that counts to one side at 20 and all else at 0."""
    assert (scoring.composite(LEFT), scoring.composite(RIGHT)) == (100, -100)


def test_scores_beyond_the_scale_do_not_lead_beyond_a_hundred() -> None:
    """A composite is clipped at either end."""
    far = {name: 10 + 3 * (value - 10) for name, value in LEFT.items()}
    assert scoring.composite(far) == 100
    assert scoring.composite({name: 20 - value for name, value in far.items()}) == -100


@given(scores=st.fixed_dictionaries(dict.fromkeys(WEIGHTS, st.floats(0, 20))))
@settings(max_examples=25, deadline=None)
def test_a_composite_is_the_weighted_sum(scores: dict[str, float]) -> None:
    """With all ten dimensions 100 * sum of w (s - 10) / 100, which is the plain sum of w s."""
    by_hand = 100 * sum(WEIGHTS[name] * (value - 10) for name, value in scores.items()) / 100
    assert scoring.composite(scores) == pytest.approx(by_hand, abs=1e-9)
    assert by_hand == pytest.approx(sum(WEIGHTS[name] * scores[name] for name in scores), abs=1e-9)
    mirrored = {name: 20 - value for name, value in scores.items()}
    assert scoring.composite(mirrored) == pytest.approx(-by_hand, abs=1e-9)


def test_a_missing_dimension_renormalises() -> None:
    """The rest is divided by its own weights; what is no dimension does not count."""
    rest = {name: value for name, value in LEFT.items() if name != "progress_orientation"}
    assert scoring.composite({**rest, "reasoning": 3}) == 100
    two = {"tradition_orientation": 10.0, "progress_orientation": 15.0}
    assert scoring.composite(two) == pytest.approx(100 * 5 / (10 * 2.125))


def test_no_dimension_is_no_composite() -> None:
    """It is an error, and never 0."""
    for scores in ({}, {"elsewhere": 12.0}):
        with pytest.raises(ValueError, match="at least one dimension"):
            scoring.composite(scores)


def test_a_dimension_is_activated_from_fourteen_on() -> None:
    """At the threshold itself it is; another threshold can be given."""
    found = {value: scoring.activated(dict.fromkeys(WEIGHTS, value)) for value in (13, 13.999, 14, 20)}
    assert found == {13: 0, 13.999: 0, 14: 10, 20: 10}
    assert scoring.activated({**EVEN, "egalitarianism": 14.0}) == 1
    assert scoring.activated(dict.fromkeys(WEIGHTS, 13.0), 12) == 10


def test_judges_are_averaged_over_those_who_scored() -> None:
    """A dimension that one of them lacks is the mean of the others."""
    whole, part = {**EVEN, "egalitarianism": 20.0}, {"egalitarianism": 5.0, "risk_aversion": 13.0}
    found = scoring.mean_scores([whole, {}, part])
    assert found == {**EVEN, "egalitarianism": 12.5, "risk_aversion": 11.5}
    assert scoring.mean_scores([part]) == {"risk_aversion": 13, "egalitarianism": 5}
    assert scoring.mean_scores([]) is None
    assert scoring.mean_scores([{}, {}]) is None


# Sensitivity to the weights.


def test_other_weights_by_hand() -> None:
    """Signs alone; one dimension left out."""
    text = {**EVEN, "progress_orientation": 20.0, "tradition_orientation": 20.0}
    assert scoring.composite(text) == pytest.approx(-1.25)
    found = weights.under_other_weights([text, EVEN])
    assert found["equal"] == pytest.approx(0)
    assert list(found["without"]) == list(WEIGHTS)
    assert found["without"]["tradition_orientation"] == pytest.approx(100 * 10 / (10 * 8.875) / 2)
    assert found["without"]["progress_orientation"] == pytest.approx(100 * -11.25 / (10 * 9) / 2)
    assert found["without"]["egalitarianism"] == pytest.approx(100 * -1.25 / (10 * 8.875) / 2)


def test_weights_are_perturbed_the_same_each_time() -> None:
    """By numpy's generator with seed 42, a factor from 0.8 to 1.2 for each weight in order."""
    texts = [drawn(seed) for seed in range(3)]
    factors = np.random.default_rng(42).uniform(0.8, 1.2, (1000, 10))
    drawn_weights = factors * np.array(list(WEIGHTS.values()))
    centred = np.array([[text[name] - 10 for name in WEIGHTS] for text in texts])
    draws = (10 * drawn_weights @ centred.T / np.abs(drawn_weights).sum(axis=1)[:, None]).mean(axis=1)
    own = sum(map(scoring.composite, texts)) / 3
    found = weights.under_other_weights(texts)["perturbed"]
    assert found == pytest.approx(
        {
            "draws": 1000,
            "mean": draws.mean(),
            "low": draws.min(),
            "high": draws.max(),
            "sd": draws.std(),
            "same_sign": 100 * ((draws > 0) == (own > 0)).mean(),
        }
    )
    assert weights.under_other_weights(texts)["perturbed"] == found


def test_the_same_sign_is_a_share_of_the_draws() -> None:
    """All of them for a text far to one side, and not all for one near the middle."""
    assert weights.under_other_weights([RIGHT])["perturbed"]["same_sign"] == 100
    near = {**EVEN, "progress_orientation": 20.0, "moral_certainty": 19.5}
    assert 0 < weights.under_other_weights([near])["perturbed"]["same_sign"] < 100


# Tests of significance.


def test_a_mean_against_zero_is_the_published_one() -> None:
    """A mean of -7.81 with a sample deviation of 30.83 over twenty scenarios is printed with p = 0.27."""
    row = np.random.default_rng(1).normal(size=20)
    values = ((row - row.mean()) / row.std(ddof=1) * 30.83 - 7.81).tolist()
    found = scoring.against_zero(values)
    assert (found["n"], round(found["mean"], 2), round(found["sd"], 2)) == (20, -7.81, 30.83)
    assert found["p"] == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert found["t"] == pytest.approx(-7.81 / (30.83 / math.sqrt(20)))
    assert round(found["p"], 2) == 0.27


def test_what_does_not_vary_is_not_tested() -> None:
    """There is neither t nor p of nothing, of one value, of equal ones."""
    for values in ([], [3.0], [2.0, 2.0]):
        found = scoring.against_zero(values)
        assert (found["n"], found["t"], found["p"]) == (len(values), None, None)


def test_gains_are_tested_as_scipy_does() -> None:
    """By t and by ranks, two-sided; dz is the mean gain in its sample deviations."""
    chance = np.random.default_rng(1)
    before = chance.normal(3, 1, 12)
    after = before + chance.normal(0.5, 1, 12)
    found = scoring.paired(before.tolist(), after.tolist())
    apart = after - before
    assert found == pytest.approx(
        {
            "n": 12,
            "gain": apart.mean(),
            "t": stats.ttest_rel(after, before).statistic,
            "p": stats.ttest_rel(after, before).pvalue,
            "wilcoxon_p": stats.wilcoxon(after, before, zero_method="wilcox").pvalue,
            "dz": apart.mean() / apart.std(ddof=1),
        }
    )


def test_no_gain_at_all_is_not_tested() -> None:
    """Neither by ranks nor by t, and it has no size."""
    nothing = {"t": None, "p": None, "wilcoxon_p": None, "dz": None}
    assert scoring.paired([1.0, 2.0], [1.0, 2.0]) == {"n": 2, "gain": 0, **nothing}
    assert scoring.paired([], []) == {"n": 0, "gain": None, **nothing}


def test_a_fall_of_spreads_is_tested_one_sided() -> None:
    """As scipy does: is the early spread greater than the late one?"""
    chance = np.random.default_rng(1)
    early, late = chance.gamma(4, 2, 15), chance.gamma(3, 2, 15)
    found = scoring.spread_falls(early.tolist(), late.tolist())
    p = stats.wilcoxon(early, late, zero_method="wilcox", alternative="greater").pvalue
    assert found == pytest.approx({"n": 15, "fall": (early - late).mean(), "wilcoxon_p": p})
    assert scoring.spread_falls([1.0], [1.0]) == {"n": 1, "fall": 0, "wilcoxon_p": None}


def test_ranks_are_those_of_exact_differences(subtests: pytest.Subtests) -> None:
    """Means of whole scores that differ alike tie, and those that are the same are 0, as in whole numbers."""
    chance = np.random.default_rng(1)
    for number in range(10):
        # The same thirtieths in two ways: over ten runs of three judges, and over three judges of ten runs.
        whole = chance.integers(0, 150, 20)
        apart = np.concatenate([[0, 0, 0], chance.integers(-4, 9, 17)])
        before = [n / 10 / 3 for n in whole.tolist()]
        after = [n / 3 / 10 for n in (whole + apart).tolist()]
        two_sided = stats.wilcoxon(apart, zero_method="wilcox").pvalue
        falls = stats.wilcoxon(apart, zero_method="wilcox", alternative="greater").pvalue
        with subtests.test(number=number):
            assert scoring.paired(before, after)["wilcoxon_p"] == pytest.approx(two_sided)
            assert scoring.spread_falls(after, before)["wilcoxon_p"] == pytest.approx(falls)


def test_ranks_of_few_differences_are_exact_with_ties_and_zeros(subtests: pytest.Subtests) -> None:
    """The share of all signs of the differences whose positive ranks sum to as much, or to as little."""
    chance = np.random.default_rng(1)
    for n in range(1, 14):
        apart = np.append(chance.integers(-3, 4, n - 1), chance.choice([-2, 2])).astype(float)
        ranks = stats.rankdata(np.abs(apart[apart != 0]))
        signs = np.array([*product((0, 1), repeat=len(ranks))])
        sums, positive = signs @ ranks, ranks[apart[apart != 0] > 0].sum()
        upper, lower = (sums >= positive).mean(), (sums <= positive).mean()
        with subtests.test(n=n):
            found = scoring.paired([0.0] * n, apart.tolist())["wilcoxon_p"]
            assert found == pytest.approx(min(1, 2 * min(upper, lower)), rel=1e-12)
            assert scoring.spread_falls(apart.tolist(), [0.0] * n)["wilcoxon_p"] == pytest.approx(upper)
            if n < 9:
                # scipy tries the signs of more differences for seconds.
                assert found == pytest.approx(stats.wilcoxon(apart, zero_method="wilcox").pvalue)


def test_rounding_is_no_fall() -> None:
    """Of three spreads two fall and one is the same but for its last digit: p is 1 in 4, not in 8."""
    early, late = (
        [15.026019100214135, 7.0710678118654755, 0.7071067811865476],
        [3.005, 1.414, 0.7071067811865474],
    )
    assert scoring.spread_falls(early, late)["wilcoxon_p"] == 0.25
    assert scoring.spread_falls(early[2:], late[2:]) == {"n": 1, "fall": 0, "wilcoxon_p": None}


def test_rounding_is_no_gain() -> None:
    """Where stages differ from the direct answer by rounding alone nothing is tested."""
    before, after = [0.1 + 0.2, 0.3, 0.7], [0.3, 0.1 + 0.2, 0.1 + 0.6]
    nothing = {"t": None, "p": None, "wilcoxon_p": None, "dz": None}
    assert scoring.paired(before, after) == {"n": 3, "gain": 0, **nothing}
    assert scoring.against_zero([1e-16, -1e-16, 2e-16])["p"] is None
    assert scoring.paired([0.0, 0.0, 0.0], [0.001, 0.002, 0.004])["wilcoxon_p"] == 0.25


def test_a_spread_is_a_sample_deviation() -> None:
    """Of fewer than two wordings there is none."""
    assert scoring.spread([1.0, 3.0, 8.0]) == pytest.approx(np.std([1, 3, 8], ddof=1))
    assert scoring.spread([4.0]) is None
    assert scoring.spread([]) is None
