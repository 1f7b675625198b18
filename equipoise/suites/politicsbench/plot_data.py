"""Plots of PoliticsBench: composite, dimensions and commitment over the stages. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS

REFLECTION = JUDGED_TEXTS[-1]


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """The composite, the activated dimensions and the commitment at each point; the dimensions."""
    metrics = summary["metrics"]
    return [
        _over("composite", "Political lean over the stages", metrics, "points", zero=0.0),
        _over("activated", "Activated dimensions over the stages", metrics, "dimensions"),
        _over("commitment", "Commitment over the stages", metrics, "points"),
        _dimensions(metrics),
    ]


def _over(name: str, title: str, metrics: Mapping[str, JSON], unit: str, zero: float | None = None) -> Plot:
    at = {point: metrics.get(f"{name}.{point}") for point in JUDGED_TEXTS}
    if name == "composite":
        at[REFLECTION] = metrics["score"]
    return Plot(
        name=f"{name}-over-stages",
        title=title,
        kind="intervals",
        rows=[
            {"name": point} | {part: metric[part] for part in ("value", "low", "high")}
            for point, metric in at.items()
            if metric
        ],
        unit=unit,
        zero=zero,
        note="Above zero replies are progressive, below it traditional." if zero is not None else "",
    )


def _dimensions(metrics: Mapping[str, JSON]) -> Plot:
    return Plot(
        name="dimensions",
        title="The ten dimensions of the reflection",
        kind="intervals",
        rows=[
            {"name": name} | {part: metrics[name][part] for part in ("value", "low", "high")}
            for name in WEIGHTS
            if name in metrics
        ],
        unit="points",
    )
