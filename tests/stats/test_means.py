"""Statistics: means and population deviations of plain numbers."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import pytest

from equipoise.stats import mean, population_sd


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([4], 4.0, id="one"),
        pytest.param([1, 2], 1.5, id="two"),
        pytest.param([0, 0, 0], 0.0, id="zeros_are_values"),
        pytest.param([-1.0, 1.0], 0.0, id="below_zero"),
        pytest.param((1, 5), 3.0, id="tuple"),
    ],
)
def test_mean_is_the_arithmetic_mean(values: Sequence[float], expected: float) -> None:
    """The sum over the number of values."""
    assert mean(values) == expected


def test_mean_of_nothing_is_none() -> None:
    """No values have no mean; that is neither zero nor an error."""
    assert mean([]) is None


def test_mean_does_not_gather_rounding_errors() -> None:
    """Ten times 0.1 has the mean 0.1, exactly."""
    assert mean([0.1] * 10) == 0.1


@pytest.mark.parametrize("values", [[], [3]], ids=["none", "one"])
def test_deviation_needs_two_values(values: list[float]) -> None:
    """Below two values there is no deviation, not even zero."""
    assert population_sd(values) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param([1, 5], 2.0, id="ends_of_the_scale"),
        pytest.param([2, 4, 4, 4, 5, 5, 7, 9], 2.0, id="textbook"),
        pytest.param([3, 3, 3], 0.0, id="all_equal"),
        pytest.param([0.1] * 10, 0.0, id="all_equal_and_not_binary"),
    ],
)
def test_deviation_is_that_of_a_population(values: list[float], expected: float) -> None:
    """The divisor is n, not n - 1."""
    assert population_sd(values) == expected


def test_deviation_agrees_with_the_standard_library() -> None:
    """statistics.pstdev says the same of odd numbers."""
    values = [1.5, 2.25, 4.75, 3.1, 4.9]
    assert population_sd(values) == pytest.approx(statistics.pstdev(values), rel=1e-12)


def test_deviation_does_not_suffer_from_a_large_centre() -> None:
    """A shift of all values leaves the deviation as it is."""
    assert population_sd([1e9 + 1, 1e9 + 5]) == 2.0
