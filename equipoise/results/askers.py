"""Runs with a cue about who asks: their part of a journal and of results, and the figures made of them.

All other figures use the plain runs alone, so they equal those of a session without `--asker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import RunRow, count_outcomes
from equipoise.core.types import JSON, PLACES, Case, has_asker
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.history import History
from equipoise.stats import askers
from equipoise.stats.askers import AskerScale
from equipoise.suites import AnySuite


def parted(history: History) -> tuple[History, History | None]:
    """The journal's history of plain runs, and that of runs with a cue; None if no session planned any."""
    if not history.plans_askers:
        return history, None
    cued = {run for run in history.planned if has_asker(run)}
    return history.snapshot(history.planned.keys() - cued), history.snapshot(cued)


def section(
    suite: AnySuite,
    scale: Scale,
    cued: History,
    cued_rows: Sequence[RunRow],
    errors: Sequence[JSON],
    *,
    is_running: bool,
) -> dict[str, JSON]:
    """The part `askers` of results: status and counts of the runs with a cue, and the runs `made`."""
    return {
        "status": cued.status(is_running=is_running),
        "runs_expected": len(cued.planned),
        "runs_completed": len(cued.planned) - len(cued.missing()),
        "results": rows.to_json(suite, cued_rows, scale, has_means=False),
        "errors": list(errors),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class AskerCells:
    """Cells and scales of the figures about who asks, in one result; empty without such runs.

    `settings` is the part `asker` of the metadata.
    """

    settings: Mapping[str, JSON] = field(default_factory=dict)
    cells: Sequence[Cell] = ()
    scales: Sequence[AskerScale] = ()

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name."""
        if not self.settings:
            return {}
        first, second = self.settings["sides"]
        return {item.name: item for item in askers.metrics(self.cells, self.scales, (first, second))}

    def is_like(self, other: AskerCells) -> bool:
        """Whether both have the same cues in the same forms, so that they can be compared."""
        return all(self.settings.get(name) == other.settings.get(name) for name in _MUST_AGREE)


_MUST_AGREE = ("mode", "sides", "forms", "cues_hash")
NO_ASKERS = AskerCells()


def of(
    suite: AnySuite, data: Mapping[str, JSON], plain: Sequence[RunRow], cued: Sequence[RunRow]
) -> AskerCells:
    """Cells and scales of the figures about who asks, from results with their rows."""
    settings = data["metadata"].get("asker")
    if not settings or suite.asked is None or "askers" not in data:
        return NO_ASKERS
    return AskerCells(settings=settings, cells=cells(suite, plain, cued), scales=suite.asked.SCALES)


def expected(suite: AnySuite, cases: Iterable[Case], settings: Mapping[str, JSON]) -> AskerCells:
    """Cells and scales that these cases would have, without numbers."""
    if suite.asked is None:
        return NO_ASKERS
    rows = [suite.question(case.to_json()) for case in cases]
    own = suite.asked
    expected_cells = askers.expected_cells(rows, own.SCALES, settings["forms"], by_cluster=own.BY_CLUSTER)
    return AskerCells(settings=settings, cells=expected_cells, scales=suite.asked.SCALES)


def cells(suite: AnySuite, plain: Sequence[RunRow], cued: Sequence[RunRow]) -> list[Cell]:
    """The cells of figures about who asks; empty for a suite without askers."""
    own = suite.asked
    if own is None or not cued:
        return []
    by_cluster = own.BY_CLUSTER
    return askers.cells(plain, cued, own.SCALES, own.stances, own.answer, by_cluster=by_cluster)


def summarise(
    suite: AnySuite,
    plain: Sequence[RunRow],
    cued: Sequence[RunRow],
    settings: Mapping[str, JSON],
) -> dict[str, JSON]:
    """The part `asker` of a summary: figures in both scopes, and how many replies name who asks."""
    # Imported here: numpy and scipy are slow to load, and only aggregation needs them.
    from equipoise.results import summary
    from equipoise.stats.metrics import measure

    own = suite.asked
    asker_cells = AskerCells(
        settings=settings, cells=cells(suite, plain, cued), scales=own.SCALES if own is not None else ()
    )
    figures: dict[str, JSON] = {
        "sides": list(settings["sides"]),
        "forms": list(settings["forms"]),
        "cases": sum("language" in cell.labels for cell in asker_cells.cells),
        "cases_without": len({row.question.key for row in plain} - {row.question.key for row in cued}),
        "outcomes": count_outcomes(cued),
        "names_asker": _naming(cued, settings),
        "metrics": {
            name: {
                **summary.described(metric, measure(metric, asker_cells.cells), suite.clusters),
                "these": summary.on_these(metric, asker_cells.cells),
            }
            for name, metric in asker_cells.metrics.items()
        },
    }
    named: dict[str, JSON] = summary.with_cluster_names(summary.to_plain_json(figures), suite.clusters)
    return named


def _naming(cued: Sequence[RunRow], settings: Mapping[str, JSON]) -> dict[str, dict[str, int]]:
    """By side, the number of its runs, and of those whose reply names who asks."""
    counts = {}
    for position, side in zip(PLACES, settings["sides"], strict=True):
        own = [row.names_asker for row in cued if row.asker and row.asker.place == position]
        counts[side] = {"runs": len(own), "naming": sum(map(bool, own))}
    return counts
