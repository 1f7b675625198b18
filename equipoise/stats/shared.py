"""The cases that two results share, on which alone they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.records import Cell, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The cells that two results share, in the same order, with only the values that both have.

    `unpaired` counts the cases with a value that was left out because only one result has it.
    """

    before: Sequence[Cell]
    after: Sequence[Cell]
    unpaired: int


def shared(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> Shared:
    """The metric's cases in which both results have a value, in the order of the later one.

    A gap or a lift compares two means, and a case may count in only one of them. The numerator and
    denominator of a ratio are of the same runs, so a case counts in both or in neither.
    """
    older, newer = (
        {(cell.cluster, cell.stratum): cell for cell in metric.chosen(side)} for side in (before, after)
    )
    pairs, unpaired = [], 0
    for key in newer | older:
        was, now = older.get(key), newer.get(key)
        known = [_known(metric, cell) for cell in (was, now)]
        unpaired += known[0] != known[1]
        both = known[0] & known[1]
        if was and now and both:
            pairs.append((_only(was, both, known[0]), _only(now, both, known[1])))
    return Shared(before=[was for was, _ in pairs], after=[now for _, now in pairs], unpaired=unpaired)


def _known(metric: Metric, cell: Cell | None) -> frozenset[str]:
    """The names of the values that the cell has in at least one run; for a ratio, both or none."""
    # The `per` of a rate is a weight of runs, not a value that a case may lack.
    names = [metric.of] if metric.per is None or metric.kind == "rate" else [metric.of, metric.per]
    known = [name for name in names if cell and any(value is not None for value in cell.of(name))]
    return frozenset(names if known and metric.kind == "ratio" else known)


def _only(cell: Cell, names: frozenset[str], known: frozenset[str]) -> Cell:
    """The cell with the values of these `names` only."""
    if names == known:
        return cell
    return replace(cell, values={name: cell.of(name) for name in names})
