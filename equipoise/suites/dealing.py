"""Deals questions in turn, so that a few of them are spread over topics as all of them are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from equipoise.core.rows import QuestionRow
from equipoise.core.types import Case
from equipoise.suites.contract import AnySuite

T = TypeVar("T")
_MISSING = object()


def in_turn(groups: Iterable[Sequence[T]]) -> list[T]:
    """The first item of each group, then the second of each, and so on."""
    nth_items = zip_longest(*groups, fillvalue=_MISSING)
    return [item for item in chain.from_iterable(nth_items) if item is not _MISSING]  # type: ignore[misc]


def within_limit(suite: AnySuite, cases: Sequence[Case], limit: int) -> set[str]:
    """The ids of the cases of the first `limit` units, in all languages. See `Suite.unit`.

    The units are dealt in one order, so that those of a smaller limit are among those of a larger one.
    """
    rows = {case.id: suite.question(case.to_json()) for case in cases}
    units = {case_id: suite.unit(row) for case_id, row in rows.items()}
    by_unit: dict[str, QuestionRow] = {}
    for case_id, unit in units.items():
        if unit is not None:
            by_unit.setdefault(unit, rows[case_id])
    chosen = set(_deal(by_unit)[:limit])
    with_cases = {(row.cluster, row.language) for case_id, row in rows.items() if units[case_id] in chosen}
    return {
        case_id
        for case_id, row in rows.items()
        if units[case_id] in chosen or (units[case_id] is None and (row.cluster, row.language) in with_cases)
    }


def _deal(units: Mapping[str, QuestionRow]) -> list[str]:
    """The units, given by their first rows: areas in turn, in an area languages, in a language clusters.

    Each area begins one cluster later than the one before: areas may have the same clusters, of which
    different ones should come first.
    """
    areas: dict[str, dict[str, dict[str, list[str]]]] = {}
    for unit, row in units.items():
        languages = areas.setdefault(row.area, {})
        languages.setdefault(row.language, {}).setdefault(row.cluster, []).append(unit)
    return in_turn(
        in_turn(in_turn(_beginning_at(number, [*clusters.values()])) for clusters in languages.values())
        for number, languages in enumerate(areas.values())
    )


def _beginning_at(number: int, items: Sequence[T]) -> list[T]:
    start = number % len(items)
    return [*items[start:], *items[:start]]
