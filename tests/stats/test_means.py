"""Statistics: means and population deviations of plain numbers, and of columns that weigh alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from equipoise.stats import entropy, equal_weight_runs, mean, population_sd, sum_of_squares


def test_mean_is_the_arithmetic_mean() -> None:
    """Without rounding errors; no values have none, which is neither zero nor an error."""
    means: list[tuple[Sequence[float], float | None]] = [
        ([4], 4.0),
        ([1, 2], 1.5),
        ([-1.0, 1.0], 0.0),
        ([0.1] * 10, 0.1),
        ([], None),
    ]
    assert [mean(values) for values, _ in means] == [expected for _, expected in means]


def test_deviation_is_that_of_a_population() -> None:
    """The divisor is n, whatever the centre; below two values there is none, not even zero."""
    deviations: list[tuple[Sequence[float], float | None]] = [
        ([2, 4, 4, 4, 5, 5, 7, 9], 2.0),
        ([1e9 + 1, 1e9 + 5], 2.0),
        ([0.1] * 10, 0.0),
        ([3], None),
        ([], None),
    ]
    assert [population_sd(values) for values, _ in deviations] == [expected for _, expected in deviations]


def test_entropy_is_that_of_shares() -> None:
    """In nats: 0 where one value has all, ln n where n are equal; of nothing there is none."""
    assert entropy([0.0, 7.0, 0.0]) == 0
    assert entropy([3.0] * 10) == pytest.approx(math.log(10))
    assert entropy([1, 3]) == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert (entropy([]), entropy([0.0, 0.0])) == (None, None)
    with pytest.raises(ValueError, match="negative"):
        entropy([2.0, -1.0])


def test_columns_of_any_length_have_the_same_weight() -> None:
    """Those as long are averaged run by run; others have the mean's variance as independent columns do."""
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
