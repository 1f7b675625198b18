"""Pooling: several results of one model as one, with the runs of all of them for each case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from equipoise.comparison.comparable import mismatches, sampling_differences
from equipoise.comparison.side import Side
from equipoise.core.errors import UserError
from equipoise.core.records import Cell
from equipoise.core.rules import GATE
from equipoise.core.types import JSON
from equipoise.results.answered import PLACES
from equipoise.results.askers import NO_ASKERS, AskerCells

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures


def pooled(sides: Iterable[Side]) -> list[Side]:
    """The results, with those of the same model and settings joined into one, in the order of the first.

    Results that ended by `--until gate` are not joined, as that rule stopped them because of their values.
    Raises UserError for results that are there twice.
    """
    groups: list[list[Side]] = []
    for side in sides:
        group = next((group for group in groups if _belong_together(group[0], side)), None)
        if group is None:
            groups.append([side])
        else:
            _refuse_twice(group, side)
            group.append(side)
    return [group[0] if len(group) == 1 else _joined(group) for group in groups]


def _belong_together(first: Side, second: Side) -> bool:
    names = [(side.suite.name, side.model) for side in (first, second)]
    if names[0] != names[1] or any(side.until and side.until["rule"] == GATE for side in (first, second)):
        return False
    metadata = first.metadata, second.metadata
    return not mismatches(*metadata) and not sampling_differences(*metadata)


def _refuse_twice(group: Sequence[Side], side: Side) -> None:
    for other in group:
        if other.digest == side.digest or _session(other) == _session(side):
            raise UserError(f"{side.file}: has the same runs as {other.file}; they would count twice")


def _session(side: Side) -> tuple[JSON, JSON]:
    return side.metadata.get("started"), side.metadata.get("verdicts_sha256", side.digest)


def _joined(group: Sequence[Side]) -> Side:
    doubts = [f"{side.file}: {side.doubt}" for side in group if side.doubt]
    return Side(
        file=" + ".join(side.file for side in group),
        digest=" + ".join(side.digest or "" for side in group),
        suite=group[0].suite,
        metadata=_pooled_metadata([side.metadata for side in group]),
        errors=[error for side in group for error in side.errors],
        audits=_latest_audits(group),
        cells=_pooled_cells([side.cells for side in group]),
        doubt="; ".join(doubts) or None,
        asking=_pooled_askers(group),
    )


def _pooled_askers(group: Sequence[Side]) -> AskerCells:
    """The pooled cells about who asks; empty unless all pieces used the same cues."""
    first, *others = [side.asking for side in group]
    if not all(other.is_like(first) for other in others):
        return NO_ASKERS
    return replace(first, cells=_pooled_cells([side.asking.cells for side in group]))


def _pooled_metadata(every: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """The metadata of the first piece, with counts summed and the rows of all pieces."""
    worst = next((item["status"] for item in every if item["status"] != "complete"), "complete")
    return {
        **every[0],
        "status": worst,
        "started": min((time for item in every if (time := item.get("started"))), default=None),
        "finished": max((time for item in every if (time := item.get("finished"))), default=None),
        "runs": sum(item.get("runs") or 0 for item in every),
        **{name: sum(item[name] for item in every) for name in ("runs_expected", "runs_completed")},
        **{
            name: [
                # Without positions, which are valid only in the piece's own journal.
                {part: value for part, value in row.items() if part not in PLACES}
                for item in every
                for row in item[name]
            ]
            for name in ("response_models", "parameters_changed")
        },
    }


def _latest_audits(group: Sequence[Side]) -> dict[str, AuditFigures | None]:
    """The latest audit of each evaluator in any piece; None for those without one."""
    audits: dict[str, AuditFigures | None] = dict.fromkeys(group[0].metadata["evaluator_models"])
    for audit, name in (
        (audit, name) for side in group for name, audit in side.audits.items() if audit is not None
    ):
        before = audits.get(name)
        if before is None or (audit["finished"] or "") > (before["finished"] or ""):
            audits[name] = audit
    return audits


def _pooled_cells(group: Sequence[Sequence[Cell]]) -> list[Cell]:
    """Each case of any piece, with the runs of all pieces in order."""
    pieces: dict[str, list[Cell]] = {}
    for cell in chain.from_iterable(group):
        pieces.setdefault(cell.id, []).append(cell)
    return [_pooled_cell(cells) for cells in pieces.values()]


def _pooled_cell(cells: Sequence[Cell]) -> Cell:
    first = cells[0]
    return Cell(
        id=first.id,
        cluster=first.cluster,
        stratum=first.stratum,
        labels=first.labels,
        values=_concatenated([cell.values for cell in cells]),
        verdicts=_concatenated([cell.verdicts for cell in cells]),
        at=first.at,
    )


def _concatenated(
    pieces: Sequence[Mapping[str, Sequence[float | None]]],
) -> dict[str, Sequence[float | None]]:
    """The values of each name over all runs; None for the runs of a piece without that name."""
    lengths = [max(map(len, piece.values()), default=0) for piece in pieces]
    names = dict.fromkeys(name for piece in pieces for name in piece)
    return {
        name: [
            value
            for piece, length in zip(pieces, lengths, strict=True)
            for value in piece.get(name, [None] * length)
        ]
        for name in names
    }
