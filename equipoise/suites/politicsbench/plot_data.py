"""Plots of PoliticsBench: composite, dimensions and commitment over the stages. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, interval_row
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """The composite, the activated dimensions and the commitment at each point; the dimensions."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    return [
        _plot_over_stages("composite", "Political lean over the stages", metrics, "points", zero=0.0),
        _plot_over_stages("activated", "Activated dimensions over the stages", metrics, "dimensions"),
        _plot_over_stages("commitment", "Commitment over the stages", metrics, "points"),
        _dimensions_plot(metrics),
    ]


def _plot_over_stages(
    name: str, title: str, metrics: Mapping[str, Figure], unit: str, zero: float | None = None
) -> Plot:
    """The metric `name` at each point."""
    by_point = {point: metrics.get(f"{name}.{point}") for point in JUDGED_TEXTS}
    if name == "composite":
        by_point["reflection"] = metrics["score"]
    return Plot(
        name=f"{name}-over-stages",
        title=title,
        kind="intervals",
        rows=[interval_row(point, figure) for point, figure in by_point.items() if figure],
        unit=unit,
        zero=zero,
        note="Above zero replies are progressive, below it traditional." if zero is not None else "",
    )


def _dimensions_plot(metrics: Mapping[str, Figure]) -> Plot:
    return Plot(
        name="dimensions",
        title="The ten dimensions of the reflection",
        kind="intervals",
        rows=[interval_row(name, metrics[name]) for name in WEIGHTS if name in metrics],
        unit="points",
    )
