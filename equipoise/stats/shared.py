"""The cases that two results share: before, after, their difference and its intervals are of these alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from equipoise.core.records import Cell, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The cells that two results share, in the same order, without the values that only one of them has.

    `unpaired` counts the cases with a value that was left out.
    """

    before: Sequence[Cell]
    after: Sequence[Cell]
    unpaired: int


def shared(metric: Metric, before: Sequence[Cell], after: Sequence[Cell]) -> Shared:
    """The metric's cases in which both results have a value, in the order of the later one.

    A gap and a lift are between two means, and a case counts in each of them by itself. What a ratio divides
    and what it divides by are of the same runs: a case counts in both or in neither.
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
    """The values that the cell has at least one run of; of a ratio's two both, if it has either."""
    # The weight of a run of a rate is not a value that a case may lack.
    names = [metric.of] if metric.per is None or metric.kind == "rate" else [metric.of, metric.per]
    known = [name for name in names if cell and any(value is not None for value in cell.of(name))]
    return frozenset(names if known and metric.kind == "ratio" else known)


def _only(cell: Cell, names: frozenset[str], known: frozenset[str]) -> Cell:
    """The cell with these of its known values."""
    if names == known:
        return cell
    return replace(cell, values={name: cell.of(name) for name in names})
