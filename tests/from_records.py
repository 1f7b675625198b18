"""What a session would make of records: rows, cells, and the parts of the results JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.records import Cell, Record
from equipoise.core.rows import RunRow, count_outcomes
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.document import CaseMove, LanguageConsistency, PanelFigures, VarianceParts
from equipoise.results.summary import summarise


def rows_of(suite: str, records: Sequence[Record], scale: Scale, without: str | None = None) -> list[RunRow]:
    """The rows of these records, or as they were without an evaluator."""
    return rows.of_records(suites.load(suite), records, scale, without)


def cells_of(
    suite: str, records: Sequence[Record], scale: Scale, without: str | None = None
) -> Sequence[Cell]:
    """The cells of these records."""
    return suites.load(suite).combine(rows_of(suite, records, scale, without))


def parts_of(suite: str, records: Sequence[Record], scale: Scale) -> dict[str, Any]:
    """`results`, and the `summary` without statistics, as they are read from a file."""
    made, loaded = rows_of(suite, records, scale), suites.load(suite)
    parts: dict[str, Any] = json_io.loads(
        json_io.dumps(
            {
                "summary": {"outcomes": count_outcomes(made), **loaded.summary(made, scale)},
                "results": rows.to_json(loaded, made, scale),
            }
        )
    )
    return parts


def statistics_of(suite: str, records: Sequence[Record], scale: Scale) -> dict[str, Any]:
    """The shared parts of the summary."""
    return summarise(
        suites.load(suite),
        suites.load(suite).combine(rows_of(suite, records, scale)),
        scale,
        lambda evaluator: rows_of(suite, records, scale, evaluator),
    )


def as_read(data: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """A part of results written as strict JSON and read again, its `metrics` as figures of this type."""
    read = json.loads(json.dumps(data, allow_nan=False, default=msgspec.to_builtins))
    metrics: dict[str, Any] = {
        name: msgspec.convert(figures, kind) for name, figures in read["metrics"].items()
    }
    return typed({**read, "metrics": metrics})


def typed(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A summary with figures in place of the objects of its shared parts."""
    moves = {"fell": list[CaseMove], "rose": list[CaseMove]}
    types = {
        "variance": VarianceParts,
        "consistency": LanguageConsistency | None,
        "panel": PanelFigures,
        **moves,
    }
    parts = {name: msgspec.convert(summary[name], of) for name, of in types.items() if name in summary}
    return {**summary, **parts}
