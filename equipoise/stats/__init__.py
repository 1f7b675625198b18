"""Statistics as pure functions over plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def squares(values: Sequence[float]) -> float:
    """The sum of the squared distances from the mean of at least one value."""
    centre = math.fsum(values) / len(values)
    return math.fsum((value - centre) ** 2 for value in values)


def population_sd(values: Sequence[float]) -> float | None:
    """Population standard deviation; None below two values."""
    return math.sqrt(squares(values) / len(values)) if len(values) > 1 else None
