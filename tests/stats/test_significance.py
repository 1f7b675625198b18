"""Tests of means and of paired differences whose values have rounding errors."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import scipy

from equipoise.stats.significance import rounded_differences, sample_sd, signed_rank_p, t_test


def test_a_mean_against_zero_is_the_published_one() -> None:
    """A mean of -7.81 with a sample deviation of 30.83 over twenty scenarios is printed with p = 0.27."""
    row = np.random.default_rng(1).normal(size=20)
    values = ((row - row.mean()) / row.std(ddof=1) * 30.83 - 7.81).tolist()
    test = t_test(values)
    assert (test.n, test.mean, test.sd) == (20, pytest.approx(-7.81), pytest.approx(30.83))  # type: ignore[comparison-overlap]
    assert test.p == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue)
    assert test.p == pytest.approx(0.27, abs=0.005)
    assert test.t == pytest.approx(-7.81 / (30.83 / math.sqrt(20)))
    assert test.effect_size == pytest.approx(-7.81 / 30.83)


def test_what_does_not_vary_is_not_tested() -> None:
    """There is neither t nor p nor an effect size of nothing, of one value, of equal ones."""
    for values in ([], [3.0], [2.0, 2.0], [1e-16, -1e-16, 2e-16]):
        test = t_test(values)
        assert (test.n, test.t, test.p, test.effect_size) == (len(values), None, None, None)
    assert signed_rank_p([]) is None
    assert signed_rank_p(rounded_differences([1.0, 2.0], [1.0, 2.0])) is None
    assert sample_sd([1.0, 3.0, 8.0]) == pytest.approx(np.std([1, 3, 8], ddof=1))
    assert sample_sd([4.0]) is None
    assert sample_sd([]) is None


def test_paired_differences_are_tested_as_scipy_does() -> None:
    """By t and by ranks, two-sided; by ranks also one-sided."""
    chance = np.random.default_rng(1)
    before = chance.normal(3, 1, 15)
    after = before + chance.normal(0.5, 1, 15)
    differences = rounded_differences(after.tolist(), before.tolist())
    assert differences == pytest.approx(after - before)
    test = t_test(differences)
    assert test.t == pytest.approx(scipy.stats.ttest_rel(after, before).statistic)
    assert test.p == pytest.approx(scipy.stats.ttest_rel(after, before).pvalue)
    two_sided = scipy.stats.wilcoxon(after, before, zero_method="wilcox").pvalue
    greater = scipy.stats.wilcoxon(after, before, zero_method="wilcox", alternative="greater").pvalue
    assert signed_rank_p(differences) == pytest.approx(two_sided)
    assert signed_rank_p(differences, "greater") == pytest.approx(greater)


def test_ranks_are_those_of_exact_differences(subtests: pytest.Subtests) -> None:
    """Means of whole scores that differ alike tie, and those that are the same are 0, as in whole numbers."""
    chance = np.random.default_rng(1)
    for number in range(10):
        # The same thirtieths in two ways: over ten runs of three judges, and over three judges of ten runs.
        whole = chance.integers(0, 150, 20)
        apart = np.concatenate([[0, 0, 0], chance.integers(-4, 9, 17)])
        before = [n / 10 / 3 for n in whole.tolist()]
        after = [n / 3 / 10 for n in (whole + apart).tolist()]
        two_sided = scipy.stats.wilcoxon(apart, zero_method="wilcox").pvalue
        greater = scipy.stats.wilcoxon(apart, zero_method="wilcox", alternative="greater").pvalue
        differences = rounded_differences(after, before)
        with subtests.test(number=number):
            assert signed_rank_p(differences) == pytest.approx(two_sided)
            assert signed_rank_p(differences, "greater") == pytest.approx(greater)
    # Of three pairs two differ, and one is the same but for its last digit: p is 1 in 4, not in 8.
    first = [15.026019100214135, 7.0710678118654755, 0.7071067811865476]
    second = [3.005, 1.414, 0.7071067811865474]
    differences = rounded_differences(first, second)
    assert differences[2] == 0
    assert signed_rank_p(differences, "greater") == 0.25
    assert signed_rank_p(differences[2:], "greater") is None
    alike = rounded_differences([0.1 + 0.2, 0.3, 0.7], [0.3, 0.1 + 0.2, 0.1 + 0.6])
    assert alike == [0, 0, 0]
    assert signed_rank_p([0.001, 0.002, 0.004]) == 0.25


def test_ranks_of_few_differences_are_exact_with_ties_and_zeros(subtests: pytest.Subtests) -> None:
    """The share of all signs of the differences whose positive ranks sum to as much, or to as little."""
    chance = np.random.default_rng(1)
    for n in range(1, 14):
        apart = np.append(chance.integers(-3, 4, n - 1), chance.choice([-2, 2])).astype(float)
        ranks = scipy.stats.rankdata(np.abs(apart[apart != 0]))
        signs = np.array([*product((0, 1), repeat=len(ranks))])
        sums, positive = signs @ ranks, ranks[apart[apart != 0] > 0].sum()
        upper, lower = (sums >= positive).mean(), (sums <= positive).mean()
        with subtests.test(n=n):
            p = signed_rank_p(apart.tolist())
            assert p == pytest.approx(min(1, 2 * min(upper, lower)), rel=1e-12)
            assert signed_rank_p(apart.tolist(), "greater") == pytest.approx(upper)
            if n < 9:
                # scipy tries the signs of more differences for seconds.
                assert p == pytest.approx(scipy.stats.wilcoxon(apart, zero_method="wilcox").pvalue)
    with subtests.test("as much up as down"):
        assert signed_rank_p([2.0, -2.0]) == 1
