"""The trend: the headline figure of each release and its change from the one before, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise

from equipoise.comparison.compare import ConfidenceLevels, MetricChange, common, measured, refuse_unlike
from equipoise.comparison.side import Side
from equipoise.core.rules import MOST_UNSCORED
from equipoise.core.types import JSON
from equipoise.results.summary import plain
from equipoise.stats import fixed
from equipoise.stats.metrics import measure


def trend(
    releases: Sequence[Side],
    *,
    allows_mismatch: bool = False,
    is_study: bool = False,
    most: float = MOST_UNSCORED,
) -> dict[str, JSON]:
    """The section `trend`: the headline figure of each release, oldest first, in both scopes.

    Each but the first has its change from the one before, on the cells that both have. Raises UserError, as
    `compare` does, if two neighbours cannot be compared.
    """
    for older, newer in pairwise(releases):
        refuse_unlike(older, newer, allows_mismatch=allows_mismatch, is_study=is_study, most=most)
    changes = [None, *(_change(older, newer) for older, newer in pairwise(releases))]
    data: dict[str, JSON] = plain(
        {
            "metric": next(iter(releases[0].metrics)),
            "unit": next(iter(releases[0].metrics.values())).unit,
            "releases": [
                {**_figure(side), "change": change} for side, change in zip(releases, changes, strict=True)
            ],
        }
    )
    return data


def _figure(side: Side) -> dict[str, JSON]:
    metric = next(iter(side.metrics.values()))
    return {
        **side.about(),
        **asdict(measure(metric, side.cells)),
        "these": asdict(fixed.estimate(metric, side.cells)),
    }


def _change(older: Side, newer: Side) -> dict[str, JSON]:
    before, after = common(older.cells, newer.cells)
    metric = next(iter(newer.metrics.values()))
    change: MetricChange = measured(metric, before, after, newer.suite.clusters, ConfidenceLevels())
    return {**asdict(change.difference), "these": asdict(change.these)}
