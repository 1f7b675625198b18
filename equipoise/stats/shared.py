"""The cases that two results share, on which alone they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.records import Cell, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCases:
    """The cells that two results share, in the same order, with only the values that both have.

    `unpaired` counts the cases of which a value was left out because only one result has it.
    """

    before: Sequence[Cell]
    after: Sequence[Cell]
    unpaired: int


def shared_cases(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> SharedCases:
    """The metric's cases in which both results have a value, in the order of the later one.

    A gap or a lift compares two means, and a case may count in only one of them. The numerator and
    denominator of a ratio are sums over the same runs, so a case counts in both or in neither.
    """
    older, newer = (
        {(cell.cluster, cell.stratum): cell for cell in metric.select(cells)} for cells in (before, after)
    )
    pairs, unpaired = [], 0
    for key in newer | older:
        was, now = older.get(key), newer.get(key)
        old_names, new_names = _value_names(metric, was), _value_names(metric, now)
        unpaired += old_names != new_names
        both = old_names & new_names
        if was and now and both:
            pairs.append((_with_values(was, both, old_names), _with_values(now, both, new_names)))
    return SharedCases(before=[was for was, _ in pairs], after=[now for _, now in pairs], unpaired=unpaired)


def _value_names(metric: Metric, cell: Cell | None) -> frozenset[str]:
    """The names of the values that the cell has in at least one run; for a ratio, both or none."""
    # The `per` of a rate is a weight of runs, not a value that a case may lack.
    names = [metric.of] if metric.per is None or metric.kind == "rate" else [metric.of, metric.per]
    known = [name for name in names if cell and any(value is not None for value in cell.of(name))]
    return frozenset(names if known and metric.kind == "ratio" else known)


def _with_values(cell: Cell, names: frozenset[str], own_names: frozenset[str]) -> Cell:
    """The cell with the values of these `names` only; `own_names` are those that it has."""
    if names == own_names:
        return cell
    return replace(cell, values={name: cell.of(name) for name in names})
