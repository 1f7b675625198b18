"""The axis on which a column of intervals is drawn: the part of the scale that contains all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from equipoise.core.figures import Figure

_STEPS = 6
"""Number of steps between the lowest and the highest value, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis. Its ends are round numbers, in the unit of the metrics."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def share(self, value: float) -> float:
        """The position of a value: 0 at the low end, 100 at the high end."""
        return 100 * (value - self.low) / (self.high - self.low)


def axis(metrics: Iterable[Figure]) -> Axis:
    """The axis of these metrics' values and intervals; the whole scale if no metric has a value."""
    figures = [*metrics]
    ends = [end for figure in figures for end in (figure.value, figure.low, figure.high)]
    values = [end for end in ends if end is not None]
    is_percent = all(figure.unit == "%" for figure in figures)
    if not values:
        return Axis(low=0.0 if is_percent else -100.0, high=100.0)
    step = _round_up((max(values) - min(values)) / _STEPS)
    low, high = step * (floor(min(values) / step)), step * (ceil(max(values) / step))
    if low == high:
        low, high = low - step, high + step
    return Axis(low=max(0.0, low), high=min(100.0, high)) if is_percent else Axis(low=low, high=high)


def _round_up(size: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, 100 ... that is not less than `size`."""
    power = 10.0 ** floor(log10(max(size, 1.0)))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= size)
