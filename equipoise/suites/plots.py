"""Figures as plain data: what a suite wants drawn of its results. Knows no library that draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.core.types import JSON

PlotKind = Literal["intervals", "stacked", "matrix", "lines", "bars", "checks"]
COLUMNS: Mapping[PlotKind, tuple[str, ...]] = {
    "intervals": ("name", "value", "low", "high"),
    "stacked": ("name", "part", "value"),
    "matrix": ("row", "column", "value", "text"),
    "lines": ("x", "series", "value"),
    "bars": ("x", "series", "value"),
    "checks": ("series", "name", "value", "low", "high", "from", "to", "ruling"),
}
"""What the rows of each kind of figure have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One figure and the table behind it.

    `intervals` are points with whiskers, a row each; `stacked` are shares of a whole, a bar for each name;
    a `matrix` has a text in each cell and shades it by its value, where it has one; `lines` go over `x` in
    the order of the rows, one for each series, and `bars` stand over it, several series side by side;
    `checks` are points with whiskers before the band in which they should be, a panel for each series. Their
    rows have the COLUMNS of their kind; slugs and codes of languages in `name`, `row`, `column` are shown as
    people write them; a value of None is not drawn. `unit` names what the values are, `low` and
    `high` are the ends of their axis or of their shades, and `zero` draws the line that means no difference.
    `diagonal` adds the line where x and value are equal, for `lines` over numbers. `folds` names the rows of
    `intervals` that a page does not draw where their interval holds zero: they are in its table alone.
    """

    name: str
    title: str
    kind: PlotKind
    rows: Sequence[Mapping[str, JSON]]
    unit: str = "%"
    x_title: str = ""
    low: float | None = None
    high: float | None = None
    zero: float | None = None
    diagonal: bool = False
    note: str = ""
    folds: str = ""

    @property
    def open(self) -> Plot:
        """The figure of the rows that a page draws."""
        return replace(self, rows=[row for row in self.rows if not (self.folds and _holds_zero(row))])


def _holds_zero(row: Mapping[str, JSON]) -> bool:
    """Whether nothing can be told from chance; so it is without an interval."""
    low, high = row["low"], row["high"]
    return low is None or high is None or low <= 0 <= high
