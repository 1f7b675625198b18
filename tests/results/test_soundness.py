"""Summaries that contradict their runs, down to the smallest difference that is told."""

from __future__ import annotations

from msgspec import structs

from equipoise.core.records import Cell, Metric
from equipoise.results.soundness import contradiction
from equipoise.results.summary import figure


def test_half_a_point_is_a_contradiction() -> None:
    """What rounding to six decimals changes is none."""
    metric = Metric(name="overall", of="percent")
    cells = [
        Cell(id=name, cluster=name, stratum="aa", values={"percent": [value]})
        for name, value in (("a", 60.0), ("b", 80.0))
    ]
    stated = figure(metric, cells, "questions")
    for value, expected in (
        (70.00001, None),
        (70.5, "its summary says overall 70.5, its runs come to 70"),
    ):
        summary = {"metrics": {"overall": structs.replace(stated, value=value)}}
        assert contradiction(summary, [metric], cells, []) == expected
