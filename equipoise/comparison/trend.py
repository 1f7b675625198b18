"""Trends: the headline figure of each release and its change since the previous release, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict, TypeVar

from equipoise.comparison.compare import ConfidenceLevels, change_in, common_cells, refuse_incomparable
from equipoise.comparison.entry import NO_METRIC, Entry
from equipoise.core.figures import Change, Difference, Figure
from equipoise.core.rules import MOST_UNSCORED
from equipoise.results import summary
from equipoise.results.document import ComparedResults
from equipoise.results.results import Results
from equipoise.stats.pairwise import difference

T = TypeVar("T")
C = TypeVar("C", bound=Difference)


def _changes(releases: Sequence[T], change: Callable[[T, T], C]) -> list[C | None]:
    """The change of each release, oldest first, since the previous one; None for the first."""
    return [None, *(change(older, newer) for older, newer in pairwise(releases))]


# Trends of results.


class ReleaseFigure(ComparedResults):
    """One release: its headline, and the change since the previous release, None for the first."""

    figure: Figure
    change: Change | None


class Trend(TypedDict):
    """The headline of each release, oldest first."""

    metric: str
    unit: str
    releases: list[ReleaseFigure]


def trend(
    releases: Sequence[Results],
    *,
    allows_mismatch: bool = False,
    is_study: bool = False,
    most_unscored: float = MOST_UNSCORED,
) -> Trend:
    """The section `trend`: the headline figure of each release, oldest first.

    Each release except the first has its change since the previous one, on the cells that both have. In a
    study, options whose effect the suite can report may differ. Up to `most_unscored` percent of a release's
    runs may lack a score. Raises UserError, as `compare` does, if two neighbours cannot be compared.
    """
    for older, newer in pairwise(releases):
        refuse_incomparable(
            older, newer, allows_mismatch=allows_mismatch, is_study=is_study, most_unscored=most_unscored
        )
    changes = _changes(releases, _change)
    return {
        "metric": releases[0].headline.name,
        "unit": releases[0].headline.unit,
        "releases": [_figure(side, change) for side, change in zip(releases, changes, strict=True)],
    }


def _figure(side: Results, change: Change | None) -> ReleaseFigure:
    figure = summary.figure(side.headline, side.cells, side.suite.about.clusters)
    return {**side.about(), "figure": figure, "change": change}


def _change(older: Results, newer: Results) -> Change:
    before, after = common_cells(older.cells, newer.cells)
    return change_in(newer.headline, before, after, newer.suite.about.clusters, ConfidenceLevels()).figures


# Trends of the entries of a board, which have no cells.


_SEPARATORS = "-_.:@ "
"""Characters that separate a model's name and the numbers of its version."""
_MOST_NUMBERS = 6
"""The maximum number of numbers in a version."""
_MOST_DIGITS = 8
"""The maximum number of digits of one number in a version. It allows dates such as 20260131."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyTrend:
    """Releases of one family, or one model measured several times, oldest first.

    `changes` has the change of each release's headline figure since the previous release, None for the first.
    """

    family: str
    releases: Sequence[Entry]
    changes: Sequence[Difference | None]


def family_trends(entries: Iterable[Entry]) -> list[FamilyTrend]:
    """The trend of each family with several of these entries. All entries must be of one table."""
    families: dict[str, list[Entry]] = {}
    for item in entries:
        family, _ = split_version(item.model)
        families.setdefault(family, []).append(item)
    return [_family_trend(name, items) for name, items in sorted(families.items()) if len(items) > 1]


def _family_trend(name: str, items: Iterable[Entry]) -> FamilyTrend:
    releases = sorted(items, key=lambda item: (split_version(item.model)[1], item.started, item.place))
    return FamilyTrend(family=name, releases=releases, changes=_changes(releases, change_between))


def change_between(older: Entry, newer: Entry) -> Difference:
    """The difference of the headline figures of two entries of one table."""
    return difference(newer.metric or NO_METRIC, newer.layout, older.column, newer.column)


def split_version(model: str) -> tuple[str, tuple[int, ...]]:
    """A model's family and version: its name without the numbers at the end, and these numbers.

    For example, `gpt-x-1.5` and `gpt-x-2026-01-31` are of the family `gpt-x`. `qwen3:8b` has no version:
    `8b` is not a number. Releases of one family are sorted by version.
    """
    version: list[int] = []
    while len(version) < _MOST_NUMBERS:
        separator = max(map(model.rfind, _SEPARATORS))
        last = model[separator + 1 :].lower().removeprefix("v")
        if separator < 1 or not (last.isascii() and last.isdigit() and len(last) <= _MOST_DIGITS):
            break
        version.insert(0, int(last))
        model = model[:separator]
    return model, tuple(version)
