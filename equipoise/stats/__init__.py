"""Statistics as pure functions over plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence


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
