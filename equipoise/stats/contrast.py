"""Contrasts: the mean of one group of questions minus that of another, as balances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from equipoise.core.records import Cell, Metric


def as_balance(metric: Metric, cells: Sequence[Cell]) -> tuple[Metric, list[Cell]]:
    """The balance whose figure over the returned cells equals that of the contrast `metric` over `cells`.

    In each language, each group is a stratum of its own, and the values of the group `minus` have the
    opposite sign. The mean over these strata would be half the mean difference, so values are doubled. The
    interval over questions is then that of two independent groups. Languages without a value in one of the
    groups are left out.
    """
    first, second = _group(metric, metric.where, cells), _group(metric, metric.minus, cells)
    shared = {cell.stratum for cell in first} & {cell.stratum for cell in second}
    signed = [
        _signed(metric.of, cell, labels, sign)
        for group, labels, sign in ((first, metric.where, 1), (second, metric.minus, -1))
        for cell in group
        if cell.stratum in shared
    ]
    return replace(metric, kind="balance", where={}, minus={}), signed


def _group(metric: Metric, labels: Mapping[str, str], cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a group that have a value."""
    return [
        cell
        for cell in cells
        if labels.items() <= cell.labels.items() and any(value is not None for value in cell.of(metric.of))
    ]


def _signed(name: str, cell: Cell, labels: Mapping[str, str], sign: int) -> Cell:
    stratum = f"{cell.stratum}, {' '.join(labels.values())}"
    values = [None if value is None else 2 * sign * value for value in cell.of(name)]
    return replace(cell, stratum=stratum, values={name: values})
