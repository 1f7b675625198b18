"""Selects the questions of `--limit` in turn, so that a few are spread over topics as all questions are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from equipoise.core.rows import grouped
from equipoise.core.types import Case
from equipoise.suites.contract import AnySuite

T = TypeVar("T")
_Unit = tuple[str, tuple[str, ...]]
"""The name of a unit, and the name of its group at each level."""
_MISSING = object()


def in_turn(groups: Iterable[Sequence[T]]) -> list[T]:
    """The first item of each group, then the second of each, and so on."""
    nth_items = zip_longest(*groups, fillvalue=_MISSING)
    return [item for item in chain.from_iterable(nth_items) if item is not _MISSING]  # type: ignore[misc]


def within_limit(suite: AnySuite, cases: Sequence[Case], limit: int) -> set[str]:
    """The ids of the cases of the first `limit` units, in all languages. See `Case.unit`.

    The order of units does not depend on the limit, so a larger limit includes the units of a smaller one.
    """
    rows = {case.id: suite.question(case.to_json()) for case in cases}
    units = {case.id: rows[case.id].id if case.unit == "" else case.unit for case in cases}
    levels: dict[str, tuple[str, ...]] = {}
    for case in cases:
        if (unit := units[case.id]) is not None:
            row = rows[case.id]
            levels.setdefault(unit, (row.area, row.language, case.area, row.cluster))
    chosen = set(_deal(levels)[:limit])
    with_cases = {(row.cluster, row.language) for case_id, row in rows.items() if units[case_id] in chosen}
    return {
        case_id
        for case_id, row in rows.items()
        if units[case_id] in chosen or (units[case_id] is None and (row.cluster, row.language) in with_cases)
    }


def _deal(levels: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The names of units, in turn over the groups of their `levels`: area, language, topic, cluster.

    Each area begins one cluster later than the area before. Areas may have the same clusters, and should not
    all begin with the same one.
    """
    areas = _groups([*levels.items()], 0)
    return in_turn(_spread(units, 1, start) for start, units in enumerate(areas))


def _spread(units: Sequence[_Unit], level: int, start: int) -> list[str]:
    """The names of a group's units, in turn over its parts at this level; the clusters begin at `start`."""
    names, levels = [name for name, _ in units], units[0][1]
    if level == len(levels):
        return names
    groups = _groups(units, level)
    if level == len(levels) - 1:
        first = start % len(groups)
        groups = [*groups[first:], *groups[:first]]
    return in_turn(_spread(group, level + 1, start) for group in groups)


def _groups(units: Sequence[_Unit], level: int) -> list[list[_Unit]]:
    return [*grouped(units, lambda unit: unit[1][level]).values()]
