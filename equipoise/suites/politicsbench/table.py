"""The summary of PoliticsBench as a table. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from equipoise.core.figures import Figure, format_value
from equipoise.core.types import JSON
from equipoise.suites.politicsbench.metrics import EIGHT_SCORE
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS

_HEADER = ("", "scenarios", "composite", "95 % interval", "activated", "commitment")


def table(summary: Mapping[str, JSON]) -> list[tuple[str, ...]]:
    """A header, a row for each point, then the other scores, the change and the symmetry."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    rows = [_point_row(point, metrics) for point in JUDGED_TEXTS]
    rows += [
        (name, str(figure.n), format_value(figure.value), figure.limits(), "", "")
        for name, figure in metrics.items()
        if name.split(".")[0] in ("language", "wording", "change", "symmetry") or name == EIGHT_SCORE
    ]
    return [_HEADER, *rows]


def _point_row(point: str, metrics: Mapping[str, Figure]) -> tuple[str, ...]:
    figure = metrics["score"] if point == "reflection" else metrics[f"composite.{point}"]
    return (
        "reflection (score)" if point == "reflection" else point,
        str(figure.n),
        format_value(figure.value),
        figure.limits(),
        *(format_value(metrics[f"{name}.{point}"].value) for name in ("activated", "commitment")),
    )
