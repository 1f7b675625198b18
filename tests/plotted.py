"""What a suite wants drawn of its results: the rows of its figures, each with the columns of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from from_records import parts_of, statistics_of, typed

from equipoise import suites
from equipoise.core.records import Record
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.suites.plots import COLUMNS, Plot


def whole(suite: str, records: Sequence[Record], scale: Scale) -> dict[str, JSON]:
    """The results of a session of these records."""
    parts = parts_of(suite, records, scale)
    return {**parts, "summary": {**parts["summary"], **statistics_of(suite, records, scale)}}


def drawn(suite: str, data: Mapping[str, JSON]) -> Sequence[Plot]:
    """The figures of these results."""
    loaded, made = suites.load(suite), rows.of_json(data["results"])
    return [*loaded.drawn(typed(data["summary"]), made, loaded.combine(made))]


def plotted(suite: str, data: Mapping[str, JSON]) -> dict[str, list[dict[str, JSON]]]:
    """The rows of each figure by its name, each of which has the columns of its kind."""
    figures = drawn(suite, data)
    for figure in figures:
        assert all({*COLUMNS[figure.kind]} <= {*row} for row in figure.rows), figure.name
    return {figure.name: [dict(row) for row in figure.rows] for figure in figures}
