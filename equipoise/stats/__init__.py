"""Statistics as pure functions over plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Observation(NamedTuple):
    """The mean of the valid runs of a question (`cluster`) in a language (`stratum`)."""

    cluster: str
    stratum: str
    value: float


def valid(values: Iterable[float | None]) -> list[float]:
    """The values that are not None."""
    return [value for value in values if value is not None]


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None for an empty sequence."""
    return math.fsum(values) / len(values) if values else None


def sum_of_squares(values: Sequence[float]) -> float:
    """The sum of squared deviations from the mean; ZeroDivisionError without values."""
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values)


def entropy(values: Sequence[float]) -> float | None:
    """Shannon's entropy, in nats, of the shares that values have in their sum; None if the sum is 0.

    It is 0 if only one value is above 0, ln(n) if n values are equal (Shannon 1948, Bell System Technical
    Journal 27, 379-423). ValueError for a negative value.
    """
    total = math.fsum(values)
    if min(values, default=0.0) < 0:
        raise ValueError("a share cannot be negative")
    shares = [value / total for value in values if value] if total else []
    return max(0.0, -math.fsum(share * math.log(share) for share in shares)) if shares else None


def population_sd(values: Sequence[float]) -> float | None:
    """Population standard deviation (divisor n); None for fewer than two values."""
    return math.sqrt(sum_of_squares(values) / len(values)) if len(values) > 1 else None


def equal_weight_runs(columns: Sequence[Sequence[float]]) -> list[float]:
    """Values, one for each run, whose mean is the mean of the columns' means: columns have equal weights.

    Columns without values are left out. If the others are equally long, value i is the mean of their i-th
    values. Otherwise no single value has a meaning: the values are made so that their mean is right, and so
    that their variance gives the variance of that mean, which is sum(s^2 / n) / k^2 for k independent
    columns of n values with the variance s^2. For a column of one value, s^2 is the mean of the others'.
    """
    filled = [column for column in columns if column]
    length = max(map(len, filled), default=0)
    if all(len(column) == length for column in filled):
        return [math.fsum(run) / len(run) for run in zip(*filled, strict=True)]
    centre = math.fsum(math.fsum(column) / len(column) for column in filled) / len(filled)
    variances = [sum_of_squares(column) / (len(column) - 1) for column in filled if len(column) > 1]
    typical = math.fsum(variances) / len(variances)
    of_means = [
        (sum_of_squares(column) / (len(column) - 1) if len(column) > 1 else typical) / len(column)
        for column in filled
    ]
    # With two values at this distance from the mean and the rest on it, the sum of squares is the right one.
    distance = math.sqrt(math.fsum(of_means) / len(filled) ** 2 * length * (length - 1) / 2)
    return [centre + distance, centre - distance, *[centre] * (length - 2)]
