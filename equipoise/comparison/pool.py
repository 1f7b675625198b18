"""Pooling: several results of one model as one, with the runs of all of them for each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from equipoise.comparison.comparable import mismatches, sampling_differences
from equipoise.core.errors import UserError
from equipoise.core.records import Cell
from equipoise.core.rules import GATE
from equipoise.results.answered import FIRST_AND_LAST_KEYS
from equipoise.results.askers import NO_ASKERS, AskerCells
from equipoise.results.results import Results

if TYPE_CHECKING:
    from equipoise.results.document import AnsweredBy, Audit, Metadata, OutcomeCounts


def pool_results(sides: Iterable[Results]) -> list[Results]:
    """The results, with those of the same model and settings pooled, in the order of their first occurrence.

    Results that ended by `--until gate` are not pooled, because their number of runs depends on their values.
    Raises UserError for duplicates.
    """
    groups: list[list[Results]] = []
    for side in sides:
        group = next((group for group in groups if _belong_together(group[0], side)), None)
        if group is None:
            groups.append([side])
        else:
            _refuse_duplicate(group, side)
            group.append(side)
    return [group[0] if len(group) == 1 else _pool_group(group) for group in groups]


def _belong_together(first: Results, second: Results) -> bool:
    names = [(side.suite.name, side.model) for side in (first, second)]
    if names[0] != names[1] or any(side.until and side.until["rule"] == GATE for side in (first, second)):
        return False
    metadata = first.metadata, second.metadata
    return not mismatches(*metadata) and not sampling_differences(*metadata)


def _refuse_duplicate(group: Sequence[Results], side: Results) -> None:
    for other in group:
        if other.digest == side.digest or _session_key(other) == _session_key(side):
            raise UserError(f"{side.file}: has the same runs as {other.file}; they would count twice")


def _session_key(side: Results) -> tuple[str | None, str | None]:
    """The start of a session and the hash of its verdicts, which are the same in all files with its runs."""
    return side.metadata.get("started"), side.metadata.get("verdicts_sha256", side.digest)


def _pool_group(group: Sequence[Results]) -> Results:
    """The results of a group as one, without people's labels, which belong to the replies of one file."""
    doubts = [f"{side.file}: {side.doubt}" for side in group if side.doubt]
    return Results(
        file=" + ".join(side.file for side in group),
        digest=" + ".join(side.digest or "" for side in group),
        suite=group[0].suite,
        metadata=_pooled_metadata([side.metadata for side in group]),
        summary={"outcomes": _pooled_outcomes(group)},
        errors=[error for side in group for error in side.errors],
        sections={"audit": _latest_audits(group)},
        own_cells=_pooled_cells([side.cells for side in group]),
        own_asker_cells=_pooled_askers(group),
        doubt="; ".join(doubts) or None,
    )


def _pooled_askers(group: Sequence[Results]) -> AskerCells:
    """The pooled cells of the metrics about who asks; empty unless all results have the same cues."""
    first, *others = [side.asker_cells for side in group]
    if not all(other.is_like(first) for other in others):
        return NO_ASKERS
    return replace(first, cells=_pooled_cells([side.asker_cells.cells for side in group]))


def _pooled_outcomes(group: Sequence[Results]) -> OutcomeCounts:
    counts = sum((Counter[str](side.outcomes) for side in group), Counter())
    return cast("OutcomeCounts", dict(counts))


def _pooled_metadata(all_metadata: Sequence[Metadata]) -> Metadata:
    """The metadata of the first results with summed counts, and with all rows about models and parameters."""
    statuses = [metadata["status"] for metadata in all_metadata]
    started = [text for metadata in all_metadata if (text := metadata.get("started"))]
    finished = [end for metadata in all_metadata if (end := metadata.get("finished"))]
    pooled = all_metadata[0].copy()
    pooled["status"] = next((status for status in statuses if status != "complete"), "complete")
    if started:
        pooled["started"] = min(started)
    pooled["finished"] = max(finished, default=None)
    pooled["runs"] = sum(metadata.get("runs") or 0 for metadata in all_metadata)
    pooled["runs_expected"] = sum(metadata["runs_expected"] for metadata in all_metadata)
    pooled["runs_completed"] = sum(metadata["runs_completed"] for metadata in all_metadata)
    # Without positions, which are valid only in one journal.
    pooled["response_models"] = [
        cast("AnsweredBy", {key: value for key, value in row.items() if key not in FIRST_AND_LAST_KEYS})
        for metadata in all_metadata
        for row in metadata["response_models"]
    ]
    if cautions := dict.fromkeys(text for item in all_metadata for text in item.get("cautions", ())):
        pooled["cautions"] = [*cautions]
    pooled["parameters_changed"] = [row for item in all_metadata for row in item["parameters_changed"]]
    return pooled


def _latest_audits(group: Sequence[Results]) -> dict[str, Audit | None]:
    """The latest audit of each evaluator in any of the results; None for an evaluator without an audit."""
    audits: dict[str, Audit | None] = dict.fromkeys(group[0].metadata["evaluator_models"])
    for audit, name in (
        (audit, name) for side in group for name, audit in side.audits.items() if audit is not None
    ):
        latest = audits.get(name)
        if latest is None or (audit["finished"] or "") > (latest["finished"] or ""):
            audits[name] = audit
    return audits


def _pooled_cells(group: Sequence[Sequence[Cell]]) -> list[Cell]:
    """The cells of all results. A case in several results has one cell, with their runs in order."""
    cells_by_id: dict[str, list[Cell]] = {}
    for cell in chain.from_iterable(group):
        cells_by_id.setdefault(cell.id, []).append(cell)
    return [_pooled_cell(cells) for cells in cells_by_id.values()]


def _pooled_cell(cells: Sequence[Cell]) -> Cell:
    return replace(
        cells[0],
        values=_concatenated([cell.values for cell in cells]),
        verdicts=_concatenated([cell.verdicts for cell in cells]),
    )


def _concatenated(
    pieces: Sequence[Mapping[str, Sequence[float | None]]],
) -> dict[str, Sequence[float | None]]:
    """The values of all runs by name. A piece that lacks a name has None for each of its runs."""
    run_counts = [max(map(len, piece.values()), default=0) for piece in pieces]
    names = dict.fromkeys(name for piece in pieces for name in piece)
    return {
        name: [
            value
            for piece, runs in zip(pieces, run_counts, strict=True)
            for value in piece.get(name, [None] * runs)
        ]
        for name in names
    }
