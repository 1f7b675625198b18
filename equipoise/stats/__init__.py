"""Statistics as pure functions over plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None for an empty sequence."""
    return math.fsum(values) / len(values) if values else None


def squares(values: Sequence[float]) -> float:
    """The sum of squared deviations from the mean of at least one value."""
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values)


def population_sd(values: Sequence[float]) -> float | None:
    """Population standard deviation (divisor n); None for fewer than two values."""
    return math.sqrt(squares(values) / len(values)) if len(values) > 1 else None
