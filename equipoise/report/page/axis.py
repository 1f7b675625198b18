"""The axis on which a column of intervals is drawn: the part of the scale that contains all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from equipoise.core.figures import Figure

_STEPS = 6
"""Maximum number of steps between the lowest and the highest value."""


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

    @property
    def parts(self) -> int:
        """The number of equal parts, 1 to 8, whose size is a round number if any is."""
        length = self.high - self.low
        sizes = ((number, length / number) for number in (4, 5, 3, 6, 7, 8, 2))
        return next((number for number, size in sizes if size >= 1 and _round_up(size) == size), 2)

    @property
    def labels(self) -> list[str]:
        """The values at the ends of the parts."""
        size = (self.high - self.low) / self.parts
        return [f"{self.low + size * number:g}" for number in range(self.parts + 1)]

    def ticks(self) -> list[float]:
        """Round values from one end to the other, about five."""
        step = _round_up((self.high - self.low) / 5)
        return [step * number for number in range(ceil(self.low / step), floor(self.high / step) + 1)]


def axis(metrics: Iterable[Figure]) -> Axis:
    """The axis of these metrics' values and intervals; the whole scale if no metric has a value."""
    figures = [*metrics]
    ends = [end for figure in figures for end in (figure.value, figure.low, figure.high)]
    values = [end for end in ends if end is not None]
    is_percent = all(figure.is_share for figure in figures)
    if not values:
        return Axis(low=0.0 if is_percent else -100.0, high=100.0)
    whole = rounded_axis(values)
    return Axis(low=max(0.0, whole.low), high=min(100.0, whole.high)) if is_percent else whole


def rounded_axis(values: Sequence[float]) -> Axis:
    """The axis of these values, with round ends."""
    step = _round_up((max(values) - min(values)) / _STEPS)
    low, high = step * floor(min(values) / step), step * ceil(max(values) / step)
    return Axis(low=low, high=high) if low < high else Axis(low=low - step, high=high + step)


def _round_up(size: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, 50, 100 ... that is not less than `size`."""
    power = 10.0 ** floor(log10(max(size, 1.0)))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= size)
