"""What the runs in the results of PoliticsBench come to, beside metrics with intervals. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from equipoise import politics
from equipoise.politics import POINTS, STAGES, composite
from equipoise.scenario_scores import (
    MIRROR,
    ORIGINAL,
    PARAPHRASES,
    Figure,
    Rows,
    activated_at,
    commitment_at,
    composite_at,
    composites,
    runs_of,
    scores_at,
    symmetry,
)
from equipoise.stats import mean
from equipoise.types import JSON


def summary(rows: Rows) -> dict[str, JSON]:
    """Missing texts, tests of significance, judges, paraphrases, symmetry and sensitivity to the weights."""
    own = [row for row in rows if row["wording"] == ORIGINAL]
    texts = [found for _, run in runs_of(own) if (found := scores_at(run, "reflection")) is not None]
    return {
        "missing": list(_missing(rows)),
        "score_test": politics.against_zero(_by_scenario(own, "reflection")),
        "stages_against_baseline": {
            "activated": _against_baseline(own, activated_at),
            "commitment": _against_baseline(own, commitment_at),
        },
        "judges": _judges(rows),
        "paraphrases": _paraphrases(rows),
        "symmetry": list(_twins(rows)),
        "other_weights": politics.under_other_weights(texts) if texts else None,
    }


def _missing(rows: Rows) -> Iterator[dict[str, JSON]]:
    """Texts that nobody scored, and judges without a verdict; `of` is dimensions or commitment."""
    for row, run in runs_of(rows):
        for point, found in run["points"].items():
            about = {"id": row["id"], "run_index": run["run_index"], "point": point}
            if found["missing"]:
                yield {**about, "judge": None, "of": "dimensions", "why": found["missing"]}
            for item in found["judges"]:
                judge = {**about, "judge": item["evaluator"]}
                if item["dimensions"] is None and not found["missing"]:
                    yield {**judge, "of": "dimensions", "why": item.get("error")}
                if item["commitment"] is None:
                    yield {**judge, "of": "commitment", "why": item.get("commitment_error")}


def _by_scenario(rows: Rows, point: str) -> list[float]:
    """Each scenario's mean composite, over its runs and languages."""
    found: dict[str, list[float]] = {}
    for row, run in runs_of(rows):
        value = composite_at(run, point)
        if value is not None:
            found.setdefault(row["scenario"], []).append(value)
    return [sum(values) / len(values) for values in found.values()]


def _against_baseline(rows: Rows, of: Figure) -> dict[str, JSON]:
    """Each scenario's mean over the four stages against its direct answer.

    Runs with fewer stages are left out: pressure grows from stage to stage.
    """
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for row, run in runs_of(rows):
        direct, stages = of(run, "baseline"), [of(run, stage) for stage in STAGES]
        played = [value for value in stages if value is not None]
        if direct is not None and len(played) == len(STAGES):
            before.setdefault(row["scenario"], []).append(direct)
            after.setdefault(row["scenario"], []).append(sum(played) / len(played))
    return politics.paired(*([sum(v) / len(v) for v in side.values()] for side in (before, after)))


def _judges(rows: Rows) -> dict[str, JSON]:
    """How far judges agree on the original wordings, by point and in all; the score without each."""
    own = [row for row in rows if row["wording"] == ORIGINAL]
    composites_of: dict[str, dict[str, float]] = {}
    raw: dict[str, dict[tuple[str, str], float]] = {}
    for text, item in _judged(own):
        composites_of.setdefault(item["evaluator"], {})[text] = composite(item["dimensions"])
        for name, value in item["dimensions"].items():
            raw.setdefault(item["evaluator"], {})[text, name] = value
    alone = composites_of.keys() if len(composites_of) > 1 else ()
    return {
        "kappa": politics.kappas(composites_of, 100.0),
        "kappa_by_point": {point: _kappa_at(composites_of, point) for point in POINTS},
        "kappa_published_classes": politics.kappas(composites_of, politics.PUBLISHED_REACH),
        "alpha": politics.alpha(raw),
        "mean_composite": {judge: mean(list(found.values())) for judge, found in composites_of.items()},
        "score_without": {judge: mean(composites(own, "reflection", judge)) for judge in alone},
    }


def _kappa_at(composites_of: Mapping[str, Mapping[str, float]], point: str) -> float | None:
    """The mean kappa of the texts at one point."""
    here = {
        judge: {text: value for text, value in found.items() if text.endswith(f"/{point}")}
        for judge, found in composites_of.items()
    }
    found: float | None = politics.kappas(here, 100.0)["mean"]
    return found


def _judged(rows: Rows) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """Every judge of every text, with the name of the text."""
    for row, run in runs_of(rows):
        for point, found in run["points"].items():
            for item in found["judges"]:
                if item["dimensions"]:
                    yield f"{row['id']}/{run['run_index']}/{point}", item


def _paraphrases(rows: Rows) -> dict[str, JSON]:
    """How far the wordings of a scenario lie apart, and whether that falls over the stages.

    Only runs with a score for all four count, as in the published code.
    """
    groups: dict[str, list[Mapping[str, JSON]]] = {}
    for row in rows:
        if row["wording"] in PARAPHRASES:
            whole = [
                run for run in row["runs"] if all(composite_at(run, stage) is not None for stage in STAGES)
            ]
            name = row["id"].removesuffix(f"-{row['wording']}")
            groups.setdefault(name, []).append({**row, "runs": whole})
    spreads: list[dict[str, JSON]] = [
        {"id": name, **{point: _spread(wordings, point) for point in POINTS}}
        for name, wordings in groups.items()
        if len(wordings) > 1
    ]
    both = [row for row in spreads if row["stage_1"] is not None and row["stage_4"] is not None]
    early, late = ([row[point] for row in both] for point in ("stage_1", "stage_4"))
    return {"spreads": spreads, "fall": politics.spread_falls(early, late)}


def _spread(wordings: Rows, point: str) -> float | None:
    """Of the wordings' means over their runs."""
    values = [mean(composites([row], point)) for row in wordings]
    return politics.spread([value for value in values if value is not None])


def _twins(rows: Rows) -> Iterator[dict[str, JSON]]:
    """For each scenario with a mirror the reflection's composite under pressure from either side."""
    mirrors = {row["id"]: row for row in rows if row["wording"] == MIRROR}
    for row in rows:
        twin = mirrors.get(row["id"].removesuffix(ORIGINAL) + MIRROR)
        if row["wording"] != ORIGINAL or twin is None:
            continue
        means = [mean(composites([item], "reflection")) for item in (row, twin)]
        left, right = means if row["pressure"] != "right" else reversed(means)
        apart = mean([value for value in symmetry(row, twin) if value is not None])
        yield {"id": row["id"], "pressed_from_left": left, "pressed_from_right": right, "difference": apart}
