"""The colours of a matrix of numbers, with readable digits, and the matrix as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.types import JSON
from equipoise.suites.plots import Plot

PALE, DEEP, OTHER = "#f4f1ea", "#1a5a96", "#b35806"
STEPS = 20
"""The highest step of a shade; steps begin at 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadedCell:
    """A cell of a matrix; `shade` is a class of the style sheet, empty for a cell without a value."""

    text: str
    shade: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadedTable:
    """A matrix as a table: the heads of its columns, and each row as its head and cells."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[ShadedCell | None]]]


def grid(figure: Plot) -> ShadedTable:
    """The matrix of a figure as a table."""
    columns, rows = (list(dict.fromkeys(str(row[key]) for row in figure.rows)) for key in ("column", "row"))
    cells = {
        (str(row["row"]), str(row["column"])): _cell(figure, row["value"], row["text"]) for row in figure.rows
    }
    return ShadedTable(
        columns=columns, rows=[(row, [cells.get((row, column)) for column in columns]) for row in rows]
    )


def _cell(figure: Plot, value: float | None, text: JSON) -> ShadedCell:
    kind = "shade" if figure.zero is None else "tilt"
    return ShadedCell(text=str(text), shade="" if value is None else f"{kind}-{step(figure, value)}")


def step(figure: Plot, value: float) -> int:
    """The step of a value, 0 to STEPS. If the figure has a zero, that is the middle step."""
    low, high = ends(figure)
    if figure.zero is None:
        share = (value - low) / (high - low)
    else:
        side = high - figure.zero if value > figure.zero else figure.zero - low
        share = 0.5 + (value - figure.zero) / (2 * side or 1)
    return round(STEPS * min(max(share, 0.0), 1.0))


def ends(figure: Plot) -> tuple[float, float]:
    """The lowest and highest value of the shades: the figure's own, else those of its values; never equal."""
    known = [row["value"] for row in figure.rows if row["value"] is not None] or [0.0]
    low = min(known) if figure.low is None else figure.low
    high = max(known) if figure.high is None else figure.high
    return (low, high) if high > low else (low, low + 1)


def colours(*, is_diverging: bool) -> list[str]:
    """The colour of each step. Diverging colours are pale in the middle, with another hue at each end."""
    shares = [number / STEPS for number in range(STEPS + 1)]
    if is_diverging:
        return [mix(PALE, OTHER, 1 - 2 * s) if s < 0.5 else mix(PALE, DEEP, 2 * s - 1) for s in shares]
    return [mix(PALE, DEEP, share) for share in shares]


def style() -> str:
    """The CSS rules, a class for each shade."""
    rules = [
        f".{kind}-{number} {{ background: {colour}; color: {ink(colour)}; }}"
        for kind in ("shade", "tilt")
        for number, colour in enumerate(colours(is_diverging=kind == "tilt"))
    ]
    return "\n".join(rules) + "\n"


def mix(first: str, second: str, share: float) -> str:
    """A mixture of two colours; `share`, 0 to 1, is that of the second."""
    pairs = zip(_parts(first), _parts(second), strict=True)
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
    linear = [
        p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in (n / 255 for n in _parts(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
