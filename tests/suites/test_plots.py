"""Plots that follow from metrics, for suites without plots of their own."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from equipoise.core.figures import NO_FIGURE
from equipoise.core.records import Cell, Metric
from equipoise.suites.plots import breakdowns


def test_the_first_metric_is_drawn_by_each_label_of_its_breakdowns() -> None:
    """Other metrics have no plot; languages and areas have a matrix instead."""
    cells = [
        Cell(id=tone, cluster=tone, stratum="en", values={}, labels={"tone": tone, "language": "en"})
        for tone in ("harsh", "mild")
    ]
    score, length = Metric(name="score", of="percent"), Metric(name="length", of="words", kind="count")
    metrics = [
        *(score, length),
        *score.by("tone", cells),
        *score.by("language", cells),
        *length.by("tone", cells),
    ]
    values = {"score.tone.harsh": 80.0, "score.tone.mild": 20.0}
    figures = {
        metric.name: structs.replace(NO_FIGURE, value=values.get(metric.name, 50.0)) for metric in metrics
    }
    (plot,) = breakdowns(metrics, figures)
    assert (plot.name, plot.title, plot.low, plot.high) == ("by-tone", "score by tone", 0.0, 100.0)
    assert [(row["name"], row["value"]) for row in plot.rows] == [("mild", 20.0), ("harsh", 80.0)]
    (in_points,) = breakdowns([replace(metric, unit="points") for metric in metrics], figures)
    assert (in_points.unit, in_points.low) == ("points", None)
    (balance,) = breakdowns([replace(metric, kind="balance") for metric in metrics], figures)
    assert (balance.unit, balance.low) == ("%", None), "a balance may lie below 0"
