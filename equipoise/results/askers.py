"""Runs with a cue: their part of a journal and of results, and the figures that are made of them.

Plain figures never see them: what is made of the plain part is what a session without `--asker` gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, outcomes
from equipoise.core.types import JSON, PLACES, is_asked
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.history import History
from equipoise.stats import askers
from equipoise.suites import AnySuite


def parted(history: History) -> tuple[History, History | None]:
    """The plain runs of a journal, and those with a cue; None where no session planned any."""
    if not history.is_asked:
        return history, None
    asked = {run for run in history.planned if is_asked(run)}
    return history.snapshot(history.planned.keys() - asked), history.snapshot(asked)


def section(
    suite: AnySuite,
    scale: Scale,
    asked: History,
    made: Sequence[RunRow],
    errors: Sequence[JSON],
    *,
    is_running: bool,
) -> dict[str, JSON]:
    """The part `askers` of results: how far their runs have come, and the runs."""
    return {
        "status": asked.status(is_running=is_running),
        "runs_expected": len(asked.planned),
        "runs_completed": len(asked.planned) - len(asked.missing()),
        "results": rows.to_json(suite, made, scale, has_means=False),
        "errors": list(errors),
    }


def cells(suite: AnySuite, plain: Sequence[RunRow], asked: Sequence[RunRow]) -> list[Cell]:
    """The cells of figures about who asks; none of a suite without askers."""
    own = suite.asked
    return askers.cells(plain, asked, own.SCALES, own.stances, own.answer) if own and asked else []


def metrics(suite: AnySuite, cells: Sequence[Cell], settings: Mapping[str, JSON]) -> dict[str, Metric]:
    """The metrics of these cells by name, given the part `asker` of the metadata."""
    if suite.asked is None:
        return {}
    first, second = settings["sides"]
    return {metric.name: metric for metric in askers.metrics(cells, suite.asked.SCALES, (first, second))}


def summarise(
    suite: AnySuite,
    plain: Sequence[RunRow],
    asked: Sequence[RunRow],
    settings: Mapping[str, JSON],
) -> dict[str, JSON]:
    """The part `asker` of a summary: figures in both scopes, and how many replies name who asks."""
    # Imported here: numpy and scipy are slow to load, and only aggregation needs them.
    from equipoise.results import summary
    from equipoise.stats.metrics import measure

    made = cells(suite, plain, asked)
    found: dict[str, JSON] = {
        "sides": list(settings["sides"]),
        "forms": list(settings["forms"]),
        "cases": len(made),
        "cases_without": len({row.question.key for row in plain} - {row.question.key for row in asked}),
        "outcomes": outcomes(asked),
        "names_asker": _naming(asked, settings),
        "metrics": {
            name: {
                **summary.described(metric, measure(metric, made), suite.clusters),
                "these": summary.on_these(metric, made),
            }
            for name, metric in metrics(suite, made, settings).items()
        },
    }
    told: dict[str, JSON] = summary.with_cluster_names(summary.plain(found), suite.clusters)
    return told


def _naming(asked: Sequence[RunRow], settings: Mapping[str, JSON]) -> dict[str, dict[str, int]]:
    """Of the runs of each side, how many have a reply that names who asks."""
    found = {}
    for place, side in zip(PLACES, settings["sides"], strict=True):
        own = [row.names_asker for row in asked if row.asker and row.asker.place == place]
        found[side] = {"runs": len(own), "naming": sum(map(bool, own))}
    return found
