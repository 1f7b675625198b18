"""Plots of PoliticsBench: composite, dimensions and commitment over the stages. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure
from equipoise.core.records import Cell
from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.plots import Plot, intervals
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS


def plots(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """Composite, activated dimensions and commitment at each point; then the reflection's dimensions."""
    metrics: Mapping[str, Figure] = {
        **summary["metrics"],
        "composite.reflection": summary["metrics"]["score"],
    }

    def over_stages(name: str, title: str, unit: str, **options: JSON) -> Plot:
        figures = [(point, metrics[f"{name}.{point}"]) for point in JUDGED_TEXTS]
        return intervals(f"{name}-over-stages", title, figures, unit=unit, **options)

    return [
        over_stages(
            "composite",
            "Political lean over the stages",
            "points",
            zero=0.0,
            note="Above zero replies are progressive, below it traditional.",
        ),
        over_stages("activated", "Activated dimensions over the stages", "dimensions"),
        over_stages("commitment", "Commitment over the stages", "points"),
        intervals(
            "dimensions",
            "The ten dimensions of the reflection",
            [(name, metrics[name]) for name in WEIGHTS],
            unit="points",
        ),
    ]
