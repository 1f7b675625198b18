"""The cases that two results share: comparisons use no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.records import Cell, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCases:
    """The cells in which two results both have a value, in the same order.

    `unpaired` counts the cases that were left out because only one result has a value.
    """

    before: Sequence[Cell]
    after: Sequence[Cell]
    unpaired: int


def shared_cases(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> SharedCases:
    """The metric's cases in which both results have a value, in the order of the later one.

    The numerator and denominator of a ratio are sums over the same runs, so a case counts in both or in
    neither. The same holds for a gap and a lift, which compare two means of the same case.
    """
    older, newer = (
        {(cell.cluster, cell.stratum): cell for cell in metric.select(cells) if _is_in_figure(metric, cell)}
        for cells in (before, after)
    )
    keys = [key for key in newer if key in older]
    return SharedCases(
        before=[older[key] for key in keys],
        after=[newer[key] for key in keys],
        unpaired=len(older) + len(newer) - 2 * len(keys),
    )


def _is_in_figure(metric: Metric, cell: Cell) -> bool:
    """Whether the cell has a value in at least one run; for a gap or a lift, both of its values."""
    # The `per` of a rate is a weight of runs, not a value that a case may lack.
    names = [metric.of] if metric.per is None or metric.kind == "rate" else [metric.of, metric.per]
    known = [any(value is not None for value in cell.of(name)) for name in names]
    return any(known) if metric.kind == "ratio" else all(known)
