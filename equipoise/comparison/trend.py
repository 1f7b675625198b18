"""The trend: the headline figure of each release and its change from the one before, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypedDict

from equipoise.comparison.compare import ConfidenceLevels, change_in, common_cells, refuse_incomparable
from equipoise.core.figures import Change, Figure
from equipoise.core.rules import MOST_UNSCORED
from equipoise.results import summary
from equipoise.results.document import ComparedResults
from equipoise.results.results import Results


class ReleaseFigure(ComparedResults):
    """One release: its headline, and the change from the one before, None for the first."""

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

    Each release but the first has its change from the one before, on the cells that both have. In a study,
    options whose effect the suite can report may differ. Up to `most_unscored` percent of a release's runs
    may lack a score. Raises UserError, as `compare` does, if two neighbours cannot be compared.
    """
    for older, newer in pairwise(releases):
        refuse_incomparable(
            older, newer, allows_mismatch=allows_mismatch, is_study=is_study, most_unscored=most_unscored
        )
    changes = [None, *(_change(older, newer) for older, newer in pairwise(releases))]
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
