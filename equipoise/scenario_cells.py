"""The cells and metrics that the results of PoliticsBench give, and their table. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise import politics
from equipoise.politics import POINTS, WEIGHTS
from equipoise.records import Cell, Metric
from equipoise.scenario_scores import MIRROR, ORIGINAL, commitment_at, composite_at, scores_at, symmetry
from equipoise.types import JSON


def cells(results: Mapping[str, JSON], without: str | None) -> list[Cell]:
    """One for each wording of a scenario in each language."""
    found = []
    for language, listed in results.items():
        twins = {row["scenario"]: row for row in listed["scenarios"] if row["wording"] == MIRROR}
        for place, row in enumerate(listed["scenarios"]):
            at = f"/results/{language}/scenarios/{place}/runs"
            twin = twins.get(row["scenario"]) if row["wording"] == ORIGINAL else None
            found.append(_cell(language, row, twin, without, at))
    return found


def _cell(
    language: str, row: Mapping[str, JSON], twin: Mapping[str, JSON] | None, without: str | None, at: str
) -> Cell:
    runs = row["runs"]
    scores = {point: [scores_at(run, point, without) for run in runs] for point in POINTS}
    values: dict[str, list[float | None]] = {}
    for point in POINTS:
        values[f"composite.{point}"] = [composite_at(run, point, without) for run in runs]
        values[f"activated.{point}"] = [
            None if found is None else float(politics.activated(found)) for found in scores[point]
        ]
        values[f"commitment.{point}"] = [commitment_at(run, point, without) for run in runs]
    for name in WEIGHTS:
        values[name] = [None if found is None else found[name] for found in scores["reflection"]]
    values["change"] = [_less(run, "stage_4", "stage_1", without) for run in runs]
    values["symmetry"] = symmetry(row, twin, without)
    return Cell(
        id=row["id"],
        cluster=row["scenario"],
        stratum=language if row["wording"] == ORIGINAL else f"{language}/{row['wording']}",
        labels={"language": language, "wording": row["wording"], "area": row["area"]},
        values=values,
        at=at,
    )


def _less(run: Mapping[str, JSON], late: str, early: str, without: str | None) -> float | None:
    a, b = composite_at(run, late, without), composite_at(run, early, without)
    return None if a is None or b is None else a - b


def metrics(cells: Sequence[Cell]) -> list[Metric]:
    """The score first; the curves over the points; the dimensions; languages, wordings and symmetry."""
    own = {"wording": ORIGINAL}
    composites = [_balance(f"composite.{point}", f"composite.{point}", own) for point in POINTS[:-1]]
    counts = [
        _count(f"{name}.{point}", own, unit)
        for name, unit in (("activated", "dimensions"), ("commitment", "points"))
        for point in POINTS
    ]
    languages = dict.fromkeys(cell.labels["language"] for cell in cells)
    wordings = dict.fromkeys(cell.labels["wording"] for cell in cells)
    return [
        _balance("score", "composite.reflection", own),
        *composites,
        *counts,
        _count("change", own, "points"),
        _count("symmetry", own, "points"),
        *(_count(name, own, "points") for name in WEIGHTS),
        *(
            _balance(f"language.{name}", "composite.reflection", {**own, "language": name})
            for name in languages
        ),
        *(_balance(f"wording.{name}", "composite.reflection", {"wording": name}) for name in wordings),
    ]


def _balance(name: str, of: str, where: Mapping[str, str]) -> Metric:
    return Metric(name=name, of=of, kind="balance", where=where, higher_is_better=None, unit="points")


def _count(name: str, where: Mapping[str, str], unit: str) -> Metric:
    return Metric(name=name, of=name, kind="count", where=where, higher_is_better=None, unit=unit)


_HEAD = ("", "scenarios", "composite", "95 % interval", "activated", "commitment")


def table(summary: Mapping[str, JSON]) -> list[tuple[str, ...]]:
    """The points in their order, then the score by language and wording, and what pressure does."""
    found = summary["metrics"]
    rows = [_point_row(point, found) for point in POINTS]
    rows += [
        (name, str(metric["n"]), _figure(metric["value"]), _interval(metric), "", "")
        for name, metric in found.items()
        if name.split(".")[0] in ("language", "wording", "change", "symmetry")
    ]
    return [_HEAD, *rows]


def _point_row(point: str, found: Mapping[str, JSON]) -> tuple[str, ...]:
    metric = found["score"] if point == "reflection" else found[f"composite.{point}"]
    return (
        "reflection (score)" if point == "reflection" else point,
        str(metric["n"]),
        _figure(metric["value"]),
        _interval(metric),
        *(_figure(found[f"{name}.{point}"]["value"]) for name in ("activated", "commitment")),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}" if value < 0 else f"{value:.2f}"


def _interval(metric: Mapping[str, JSON]) -> str:
    return "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"
