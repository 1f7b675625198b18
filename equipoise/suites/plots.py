"""Plots as plain data: suites make them, and reports draw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from equipoise.core.figures import Estimate, Figure, LanguagePair
from equipoise.core.records import Metric
from equipoise.core.types import JSON

PlotKind = Literal["intervals", "plane", "stacked", "matrix", "lines", "bars", "checks"]
COLUMNS: Mapping[PlotKind, tuple[str, ...]] = {
    "intervals": ("name", "value", "low", "high"),
    "plane": ("name", "x", "x low", "x high", "value", "low", "high", "note"),
    "stacked": ("name", "part", "value"),
    "matrix": ("row", "column", "value", "text"),
    "lines": ("x", "series", "value"),
    "bars": ("x", "series", "value"),
    "checks": ("series", "name", "value", "low", "high", "from", "to", "ruling"),
}
"""The columns of a plot's rows, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A plot and the table behind it.

    The kinds: `intervals` are points with whiskers, one for each row. A `plane` has a point for each row with
    whiskers both ways, zero in the middle of `x`, and a `note` below its name. `stacked` are shares of a
    whole, a bar for each name. A `matrix` has a text in each cell, and shades the cell by its value if it has
    one. `lines` connect values over `x` in the order of the rows, a line for each series. `bars` show values
    over `x`, the series side by side. `checks` are points with whiskers before the band, `from` and `to`, in
    which they should be, a panel for each series; `ruling` says whether a check found a fault.

    The rows have the COLUMNS of the kind. Slugs and language codes in `name`, `row` and `column` are shown in
    their readable form. A value of None is not drawn. `unit` is the unit of the values, `low` and `high` are
    the ends of their axis or shades, and `zero` is the position of the line that means no difference.
    `sides` are the names of the two sides of zero, below and above, in a plane. `diagonal` adds the line
    where x equals the value, for `lines` over numbers. `folds` is a noun for the rows of `intervals`, such as
    "language pairs"; with it, a page shows rows whose interval contains zero only in its table.
    """

    name: str
    title: str
    kind: PlotKind
    rows: Sequence[Mapping[str, JSON]]
    unit: str = "%"
    x_title: str = ""
    sides: tuple[str, str] = ("", "")
    low: float | None = None
    high: float | None = None
    zero: float | None = None
    diagonal: bool = False
    note: str = ""
    folds: str = ""

    @property
    def drawn(self) -> Plot:
        """The plot with only those rows that a page draws."""
        return replace(self, rows=[row for row in self.rows if not (self.folds and _contains_zero(row))])


def intervals(
    name: str, title: str, figures: Iterable[tuple[str, Estimate | LanguagePair]], **options: Any
) -> Plot:
    """A plot of these figures with their intervals, each with its name; `options` are fields of the plot.

    Shares have an axis from 0 to 100, unless the options say otherwise.
    """
    ends: dict[str, Any] = {} if "unit" in options else {"low": 0.0, "high": 100.0}
    rows = [interval_row(*figure) for figure in figures]
    return Plot(name=name, title=title, kind="intervals", rows=rows, **ends, **options)


def lowest_first(figures: Iterable[tuple[str, Estimate]]) -> list[tuple[str, Estimate]]:
    """These figures, each with its name, the lowest first."""
    return sorted(figures, key=lambda item: item[1].value or 0.0)


def breakdowns(metrics: Sequence[Metric], figures: Mapping[str, Figure]) -> list[Plot]:
    """A plot of the first metric for each label that it is broken down by (`Metric.by`).

    Languages and areas have none: the page shows them in a matrix of their own.
    """
    whole, by_label = metrics[0], dict[str, list[tuple[str, Estimate]]]()
    for metric in metrics:
        added = metric.where.keys() - whole.where.keys() - {"language", "area"}
        if metric.of == whole.of and len(metric.where) == len(whole.where) + 1 and added:
            (label,) = added
            by_label.setdefault(label, []).append((metric.where[label], figures[metric.name]))
    unit = {} if whole.unit == "%" and whole.kind != "balance" else {"unit": whole.unit}
    return [
        intervals(f"by-{label}", f"{whole.name} by {label}".replace("_", " "), lowest_first(own), **unit)
        for label, own in by_label.items()
    ]


def interval_row(name: str, figure: Estimate | LanguagePair) -> dict[str, JSON]:
    """The row of a figure in a plot of `intervals`."""
    return {"name": name, "value": figure.value, "low": figure.low, "high": figure.high}


def _contains_zero(row: Mapping[str, JSON]) -> bool:
    """Whether the interval contains zero; also True without an interval."""
    low, high = row["low"], row["high"]
    return low is None or high is None or low <= 0 <= high
