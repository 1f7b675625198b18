"""Means of columns of different lengths, in which each column has the same weight."""

from __future__ import annotations

import numpy as np
import pytest

from equipoise.stats import equal_weight_runs, mean, sum_of_squares


def test_columns_of_any_length_have_the_same_weight() -> None:
    """Those as long are averaged run by run, those without any value are left out.

    The mean is that of the columns' means, and its variance that of independent columns.
    """
    assert equal_weight_runs([[1, 2, 3], [], [5, 8, 11]]) == [3, 5, 7]
    assert equal_weight_runs([[4], [6]]) == [5]
    assert equal_weight_runs([[], []]) == equal_weight_runs([]) == []
    columns = [[10, 14, 12, 16], [50, 53], [7]]
    values = equal_weight_runs(columns)
    assert len(values) == 4
    assert mean(values) == pytest.approx((13 + 51.5 + 7) / 3)
    variances = [20 / 3, 4.5, (20 / 3 + 4.5) / 2]
    expected = sum(part / len(column) for part, column in zip(variances, columns, strict=True)) / 9
    assert sum_of_squares(values) / (4 * 3) == pytest.approx(expected)
    assert equal_weight_runs([[10] * 4, [50]]) == [30] * 4


def test_the_variance_is_that_of_the_mean_over_many_draws() -> None:
    """Of columns of four, two and one value: as the means of 4,000 sets of columns vary."""
    chance = np.random.default_rng(1)
    sets = [
        equal_weight_runs([chance.normal(size=size).tolist() for size in (4, 2, 1)]) for _ in range(4_000)
    ]
    stated = np.mean([sum_of_squares(values) / 12 for values in sets])
    assert stated == pytest.approx(np.var([mean(values) for values in sets]), rel=0.08)
