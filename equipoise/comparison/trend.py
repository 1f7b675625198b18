"""The trend: the headline figure of each release and its change from the one before, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TypedDict

from equipoise.comparison.compare import ConfidenceLevels, change_in, common_cells, refuse_incomparable
from equipoise.core.figures import Change
from equipoise.core.rules import MOST_UNSCORED
from equipoise.core.types import JSON
from equipoise.results.document import ComparedResults, Estimated
from equipoise.results.results import Results
from equipoise.results.summary import to_plain_json, with_cluster_names
from equipoise.stats import fixed
from equipoise.stats.metrics import measure


class ReleaseFigure(ComparedResults):
    """One release: its headline in both scopes, and its change from the one before, None for the first."""

    value: float | None
    se: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None
    these: Estimated
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

    Each figure is for the population at top level, and for these questions under `these`. Each release but
    the first has its change from the one before, on the cells that both have. In a study, options whose
    effect the suite can report may differ. Up to `most_unscored` percent of a release's runs may lack a
    score. Raises UserError, as `compare` does, if two neighbours cannot be compared.
    """
    for older, newer in pairwise(releases):
        refuse_incomparable(
            older, newer, allows_mismatch=allows_mismatch, is_study=is_study, most_unscored=most_unscored
        )
    changes = [None, *(_change(older, newer) for older, newer in pairwise(releases))]
    data: Trend = to_plain_json(
        {
            "metric": releases[0].headline.name,
            "unit": releases[0].headline.unit,
            "releases": [_figure(side, change) for side, change in zip(releases, changes, strict=True)],
        }
    )
    return data


def _figure(side: Results, change: Change | None) -> JSON:
    metric = side.headline
    return {
        **side.about(),
        **with_cluster_names(asdict(measure(metric, side.cells)), side.suite.clusters),
        "these": with_cluster_names(asdict(fixed.estimate(metric, side.cells)), side.suite.clusters),
        "change": change,
    }


def _change(older: Results, newer: Results) -> Change:
    before, after = common_cells(older.cells, newer.cells)
    return change_in(newer.headline, before, after, newer.suite.clusters, ConfidenceLevels()).figures
