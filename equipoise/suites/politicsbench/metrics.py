"""The metrics of PoliticsBench, and their table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure, format_value
from equipoise.core.records import Bounds, Cell, Metric
from equipoise.core.types import JSON
from equipoise.suites.politicsbench.cells import ORIGINAL, SYMMETRY_HALVES
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, WEIGHTS

EIGHT_SCORE = "score.eight_dimensions"
DIFFERENCE_LIMITS = (-200.0, 200.0)
"""The limits of the difference between two composites."""
ACTIVATED_LIMITS = (0.0, float(len(WEIGHTS)))
"""The limits of the number of activated dimensions."""


def metrics(cells: Sequence[Cell]) -> list[Metric]:
    """The score; composites, activated dimensions and commitment by point; symmetry; dimensions; by group."""
    originals = {"wording": ORIGINAL}
    composites = [
        _balance(f"composite.{point}", f"composite.{point}", originals) for point in JUDGED_TEXTS[:-1]
    ]
    by_point = [
        *(_count(f"activated.{point}", originals, ACTIVATED_LIMITS, "dimensions") for point in JUDGED_TEXTS),
        *(_count(f"commitment.{point}", originals) for point in JUDGED_TEXTS),
    ]
    score = _balance("score", "composite.reflection", originals)
    halves = [name for name in SYMMETRY_HALVES if any(name in cell.values for cell in cells)]
    return [
        score,
        _balance(EIGHT_SCORE, "eight.reflection", originals),
        *composites,
        *by_point,
        *(
            _count(name, originals, DIFFERENCE_LIMITS)
            for name in ("change", "symmetry", "symmetry.reflection", *halves)
        ),
        *(_count(name, originals) for name in WEIGHTS),
        *score.by("language", cells, "language."),
        *score.by("wording", cells, "wording."),
    ]


def _balance(name: str, of: str, where: Mapping[str, str]) -> Metric:
    return Metric(name=name, of=of, kind="balance", where=where, higher_is_better=None, unit="points")


def _count(name: str, where: Mapping[str, str], limits: Bounds | None = None, unit: str = "points") -> Metric:
    return Metric(
        name=name, of=name, kind="count", where=where, higher_is_better=None, unit=unit, limits=limits
    )


# The table.

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
