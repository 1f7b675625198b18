"""Runs with a cue about who asks: their section of results, and the figures made of them.

All other figures use the plain runs alone, so they equal those of a session without `--asker`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from equipoise.core.records import Cell, Metric, Record
from equipoise.core.rows import RunRow, count_outcomes
from equipoise.core.types import JSON, PLACES, Case, has_asker
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.document import AskedResults, AskedRuns, AskerFigures, LanguageResult, RunError
from equipoise.results.history import History
from equipoise.stats import askers
from equipoise.stats.askers import AskerScale
from equipoise.suites import AnySuite


def split_history(history: History) -> tuple[History, History | None]:
    """The history of the plain runs, and that of the runs with a cue; None if no session planned any."""
    if not history.has_asker_plan:
        return history, None
    cued = {run for run in history.planned if has_asker(run)}
    return history.snapshot(history.planned.keys() - cued), history.snapshot(cued)


def section(cued: History, errors: Sequence[RunError], *, is_running: bool) -> AskedRuns:
    """The section `askers` of results: status and counts of the runs with a cue, without the runs."""
    return {
        "status": cued.status(is_running=is_running),
        "runs_expected": len(cued.planned),
        "runs_completed": len(cued.planned) - len(cued.missing()),
        "errors": list(errors),
    }


def with_results(section: AskedRuns, results: dict[str, LanguageResult]) -> AskedResults:
    """The section as in a file, where the runs come before the errors."""
    without_errors = {name: value for name, value in section.items() if name != "errors"}
    return cast("AskedResults", {**without_errors, "results": results, "errors": section["errors"]})


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


def read_cells(
    suite: AnySuite, metadata: Mapping[str, JSON], plain: Sequence[RunRow], cued: Sequence[RunRow]
) -> AskerCells:
    """Cells and scales of the figures about who asks, from results with their rows."""
    settings = metadata.get("asker")
    if not settings or suite.asked is None:
        return NO_ASKERS
    return AskerCells(settings=settings, cells=cells(suite, plain, cued), scales=suite.asked.SCALES)


def expected_cells(suite: AnySuite, cases: Iterable[Case], settings: Mapping[str, JSON]) -> AskerCells:
    """Cells and scales that these cases would have, without numbers."""
    if suite.asked is None:
        return NO_ASKERS
    questions, asker_module = [suite.question(case.to_json()) for case in cases], suite.asked
    forms, by_cluster = settings["forms"], asker_module.BY_CLUSTER
    asker_cells = askers.expected_cells(questions, asker_module.SCALES, forms, by_cluster=by_cluster)
    return AskerCells(settings=settings, cells=asker_cells, scales=asker_module.SCALES)


def cells(suite: AnySuite, plain: Sequence[RunRow], cued: Sequence[RunRow]) -> list[Cell]:
    """The cells of figures about who asks; empty for a suite without askers."""
    asker_module = suite.asked
    if asker_module is None or not cued:
        return []
    return askers.cells(
        plain,
        cued,
        asker_module.SCALES,
        asker_module.stances,
        asker_module.answer,
        by_cluster=asker_module.BY_CLUSTER,
    )


def summarise(
    suite: AnySuite,
    plain: Sequence[RunRow],
    cued: Sequence[RunRow],
    settings: Mapping[str, JSON],
) -> AskerFigures:
    """The part `asker` of a summary: figures with two intervals, and how many replies name who asks."""
    # Imported here: numpy and scipy are slow to load, and only aggregation needs them.
    from equipoise.results import summary

    scales = () if suite.asked is None else suite.asked.SCALES
    asker_cells = AskerCells(settings=settings, cells=cells(suite, plain, cued), scales=scales)
    figures: dict[str, JSON] = {
        "sides": list(settings["sides"]),
        "forms": list(settings["forms"]),
        "cases": sum("language" in cell.labels for cell in asker_cells.cells),
        "cases_without": len({row.question.key for row in plain} - {row.question.key for row in cued}),
        "outcomes": count_outcomes(cued),
        "names_asker": _naming_counts(cued, settings),
        "metrics": {
            name: summary.figure(metric, asker_cells.cells, suite.about.clusters)
            for name, metric in asker_cells.metrics.items()
        },
    }
    return cast("AskerFigures", figures)


def rows_of(
    suite: AnySuite, plain: Sequence[RunRow], records: Iterable[Record], scale: Scale
) -> list[RunRow]:
    """The rows of runs with a cue; questions are numbered as among the plain runs."""
    indices = {row.question.key: row.question.index for row in plain}
    return rows.of_records(suite, records, scale, section=rows.ASKERS_POINTER, plain_indices=indices)


def _naming_counts(cued: Sequence[RunRow], settings: Mapping[str, JSON]) -> dict[str, dict[str, int]]:
    """By side, the number of its runs, and of those whose reply names who asks."""
    counts = {}
    for position, side in zip(PLACES, settings["sides"], strict=True):
        names_asker = [row.names_asker for row in cued if row.asker and row.asker.place == position]
        counts[side] = {"runs": len(names_asker), "naming": sum(map(bool, names_asker))}
    return counts
