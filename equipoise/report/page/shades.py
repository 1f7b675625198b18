"""Matrices as tables with shaded cells. Digits are readable on the colour of every shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.types import JSON
from equipoise.suites.plots import Plot

PALE, DEEP, CONTRARY = "#f4f1ea", "#1a5a96", "#b35806"
"""The lightest shade, the darkest, and the darkest on the other side of a zero."""
STEPS = 20
"""The highest step of shades; the lowest is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadedCell:
    """A cell of a matrix. `css_class` is one of `style`, empty for a cell without a value."""

    text: str
    css_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadedTable:
    """A matrix as a table: the headings of the columns, and each row as its heading and cells.

    None is a cell that no row of the plot describes.
    """

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[ShadedCell | None]]]


def grid(plot: Plot) -> ShadedTable:
    """The plot, a matrix, as a table."""
    columns, rows = (list(dict.fromkeys(str(row[key]) for row in plot.rows)) for key in ("column", "row"))
    cells = {
        (str(row["row"]), str(row["column"])): _cell(plot, row["value"], row["text"]) for row in plot.rows
    }
    return ShadedTable(
        columns=columns, rows=[(row, [cells.get((row, column)) for column in columns]) for row in rows]
    )


def _cell(plot: Plot, value: float | None, text: JSON) -> ShadedCell:
    kind = "shade" if plot.zero is None else "diverging"
    return ShadedCell(text=str(text), css_class="" if value is None else f"{kind}-{step(plot, value)}")


def colour(plot: Plot, value: float) -> str:
    """The colour of a value."""
    return colours(is_diverging=plot.zero is not None)[step(plot, value)]


def step(plot: Plot, value: float) -> int:
    """The step of a value, 0 to STEPS. The middle step is the plot's zero, if it has one."""
    low, high = ends(plot)
    if plot.zero is None:
        share = (value - low) / (high - low)
    else:
        half_range = high - plot.zero if value > plot.zero else plot.zero - low
        # A scale that ends at its zero has a half without a range.
        share = 0.5 + (value - plot.zero) / (2 * half_range if half_range else 1)
    return round(STEPS * min(max(share, 0.0), 1.0))


def ends(plot: Plot) -> tuple[float, float]:
    """The values of the lowest and the highest step: the plot's own, or else its lowest and highest value."""
    values = [row["value"] for row in plot.rows if row["value"] is not None] or [0.0]
    low = min(values) if plot.low is None else plot.low
    high = max(values) if plot.high is None else plot.high
    # Never equal, because `step` divides by their difference.
    return (low, high) if high > low else (low, low + 1)


def colours(*, is_diverging: bool) -> list[str]:
    """The colour of each step. Diverging colours are pale in the middle, with another hue at each end."""
    shares = [number / STEPS for number in range(STEPS + 1)]
    if is_diverging:
        return [
            mix(PALE, CONTRARY, 1 - 2 * share) if share < 0.5 else mix(PALE, DEEP, 2 * share - 1)
            for share in shares
        ]
    return [mix(PALE, DEEP, share) for share in shares]


def style() -> str:
    """The CSS rules: for each step N a class `shade-N`, and a class `diverging-N` with diverging colours."""
    rules = [
        f".{kind}-{number} {{ background: {colour}; color: {ink(colour)}; }}"
        for kind in ("shade", "diverging")
        for number, colour in enumerate(colours(is_diverging=kind == "diverging"))
    ]
    return "\n".join(rules) + "\n"


def mix(first: str, second: str, share: float) -> str:
    """A mixture of two colours; `share` is the second one's, 0 to 1."""
    pairs = zip(_channels(first), _channels(second), strict=True)
    return "#" + "".join(f"{round(one + share * (other - one)):02x}" for one, other in pairs)


def ink(paper: str) -> str:
    """Black or white, whichever has the higher contrast to `paper`: always at least 4.5."""
    return max("#000000", "#ffffff", key=lambda colour: contrast(colour, paper))


def contrast(first: str, second: str) -> float:
    """The contrast of two colours, 1 to 21 (WCAG 2.2, contrast ratio)."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance, from 0 for black to 1 for white (WCAG 2.2)."""
    shares = (channel / 255 for channel in _channels(colour))
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a colour such as `#1a5a96`, each 0 to 255."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue
