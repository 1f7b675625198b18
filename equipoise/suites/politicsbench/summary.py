"""Summary, cells, metrics and table of PoliticsBench results. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from equipoise.core.records import Bounds, Cell, Metric
from equipoise.core.types import JSON
from equipoise.stats import entropy, mean
from equipoise.suites.politicsbench import scoring
from equipoise.suites.politicsbench.scoring import EIGHT, POINTS, STAGES, WEIGHTS, composite, mean_scores

Rows = Sequence[Mapping[str, JSON]]
Figure = Callable[[Mapping[str, JSON], str], float | None]
"""A figure of a run at a point of the conversation."""
ORIGINAL = "original"
PARAPHRASES = (ORIGINAL, "paraphrase_a", "paraphrase_b")
MIRROR = "mirror"
EIGHT_SCORE = "score.eight_dimensions"
PRESSED = "stage_3"
"""The stage at which pressure is highest: the fourth tells how it ended, the reflection looks back."""
APART, ACTIVATED = (-200.0, 200.0), (0.0, float(len(WEIGHTS)))
"""The bounds of the difference of two composites, and of the number of activated dimensions."""


# Summary.


def summary(rows: Rows) -> dict[str, JSON]:
    """Missing texts, tests of significance, judges, paraphrases, symmetry and sensitivity to the weights."""
    own = [row for row in rows if row["wording"] == ORIGINAL]
    texts = _reflections(rows)
    return {
        "missing": list(_missing(rows)),
        "score_test": scoring.against_zero(_by_scenario(own, "reflection")),
        "stages_against_baseline": {
            "activated": _against_baseline(own, _activated_at),
            "commitment": _against_baseline(own, _commitment_at),
        },
        "judges": _judges(rows),
        "paraphrases": _paraphrases(rows),
        "symmetry": list(_twins(rows)),
        "symmetry_by_order": _by_order(rows),
        "entropy": {point: _entropy_at(own, point) for point in POINTS},
        "other_weights": scoring.under_other_weights(texts) if texts else None,
    }


def _reflections(rows: Rows) -> list[dict[str, float]]:
    """The mean dimensions of all reflections on original wordings."""
    own = [row for row in rows if row["wording"] == ORIGINAL]
    return [found for _, run in _runs_of(own) if (found := _scores_at(run, "reflection")) is not None]


def _entropy_at(rows: Rows, point: str) -> float | None:
    """The mean entropy of the texts' dimensions as shares of their sum, in nats; ln 10 is the most."""
    found = [scores for _, run in _runs_of(rows) if (scores := _scores_at(run, point)) is not None]
    known = [value for scores in found if (value := entropy([*scores.values()])) is not None]
    return mean(known)


def _missing(rows: Rows) -> Iterator[dict[str, JSON]]:
    """Texts without a score, and judgements without a verdict; `of` is dimensions or commitment."""
    for row, run in _runs_of(rows):
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
    for row, run in _runs_of(rows):
        value = _composite_at(run, point)
        if value is not None:
            found.setdefault(row["scenario"], []).append(value)
    return [sum(values) / len(values) for values in found.values()]


def _against_baseline(rows: Rows, of: Figure) -> dict[str, JSON]:
    """Each scenario's mean over the four stages against its direct answer.

    Runs with fewer stages are left out: pressure grows from stage to stage.
    """
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for row, run in _runs_of(rows):
        direct, stages = of(run, "baseline"), [of(run, stage) for stage in STAGES]
        played = [value for value in stages if value is not None]
        if direct is not None and len(played) == len(STAGES):
            before.setdefault(row["scenario"], []).append(direct)
            after.setdefault(row["scenario"], []).append(sum(played) / len(played))
    return scoring.paired(*([sum(v) / len(v) for v in side.values()] for side in (before, after)))


def _judges(rows: Rows) -> dict[str, JSON]:
    """How far judges agree on the original wordings, by point and in all; the score without each."""
    own = [row for row in rows if row["wording"] == ORIGINAL]
    composites_of: dict[str, dict[str, float]] = {}
    scenario_of: dict[str, str] = {}
    raw: dict[str, dict[tuple[str, str], float]] = {}
    for text, scenario, item in _judged(own):
        scenario_of[text] = scenario
        composites_of.setdefault(item["evaluator"], {})[text] = composite(item["dimensions"])
        for name, value in item["dimensions"].items():
            raw.setdefault(item["evaluator"], {})[text, name] = value
    alone = composites_of.keys() if len(composites_of) > 1 else ()
    return {
        "kappa": scoring.kappas(composites_of, 100.0),
        "kappa_by_point": {point: _kappa_at(composites_of, point) for point in POINTS},
        "kappa_published_classes": scoring.kappas(composites_of, scoring.PUBLISHED_REACH),
        **scoring.agreement(composites_of),
        "alpha": scoring.alpha(raw),
        "leans": scoring.leans(composites_of, scenario_of),
        "mean_composite": {judge: mean(list(found.values())) for judge, found in composites_of.items()},
        "score_without": {judge: mean(_composites(own, "reflection", judge)) for judge in alone},
    }


def _kappa_at(composites_of: Mapping[str, Mapping[str, float]], point: str) -> float | None:
    """The mean kappa of the texts at one point."""
    here = {
        judge: {text: value for text, value in found.items() if text.endswith(f"/{point}")}
        for judge, found in composites_of.items()
    }
    found: float | None = scoring.kappas(here, 100.0)["mean"]
    return found


def _judged(rows: Rows) -> Iterator[tuple[str, str, Mapping[str, JSON]]]:
    """Each judge's scores, with the name of the text and its scenario."""
    for row, run in _runs_of(rows):
        for point, found in run["points"].items():
            for item in found["judges"]:
                if item["dimensions"]:
                    yield f"{row['id']}/{run['run_index']}/{point}", row["scenario"], item


def _paraphrases(rows: Rows) -> dict[str, JSON]:
    """How far the wordings of a scenario lie apart, and whether that falls over the stages.

    Only runs with a score for all four count, as in the published code.
    """
    groups: dict[str, list[Mapping[str, JSON]]] = {}
    for row in rows:
        if row["wording"] in PARAPHRASES:
            whole = [
                run for run in row["runs"] if all(_composite_at(run, stage) is not None for stage in STAGES)
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
    return {"spreads": spreads, "fall": scoring.spread_falls(early, late)}


def _spread(wordings: Rows, point: str) -> float | None:
    """The spread of the wordings' means over their runs."""
    values = [mean(_composites([row], point)) for row in wordings]
    return scoring.spread([value for value in values if value is not None])


def _twins(rows: Rows) -> Iterator[dict[str, JSON]]:
    """For each scenario with a mirror the composite under pressure from either side, and once it is over."""
    mirrors = {row["id"]: row for row in rows if row["wording"] == MIRROR}
    for row in rows:
        twin = mirrors.get(row["id"].removesuffix(ORIGINAL) + MIRROR)
        if row["wording"] != ORIGINAL or twin is None:
            continue
        about = {"id": row["id"], "presser_speaks": row.get("presser_speaks")}
        yield {**about, **_pressed(row, twin, PRESSED), "reflection": _pressed(row, twin, "reflection")}


def _pressed(row: Mapping[str, JSON], twin: Mapping[str, JSON], point: str) -> dict[str, float | None]:
    """The composite at a point under pressure from either side, and the mean difference of the runs."""
    means = [mean(_composites([item], point)) for item in (row, twin)]
    left, right = means if row["pressure"] != "right" else reversed(means)
    apart = mean([value for value in _symmetry(row, twin, point) if value is not None])
    return {"pressed_from_left": left, "pressed_from_right": right, "difference": apart}


def _by_order(rows: Rows) -> dict[str, float | None]:
    """The mean difference of the scenarios in which the pressing person speaks first, and second."""
    found = [item for item in _twins(rows) if item["difference"] is not None]
    return {
        order: mean([item["difference"] for item in found if item["presser_speaks"] == order])
        for order in ("first", "second")
    }


# Over models.


def over_models(sessions: Sequence[Mapping[str, JSON]]) -> list[dict[str, JSON]]:
    """How far models rank alike under other weights: equal ones, perturbed ones, one dimension left out.

    Scores are mean composites of all reflections on original wordings, `sessions` whole results of one panel.
    """
    models = [_reflections(_rows_of(data["results"])) for data in sessions]
    texts = {str(number): found for number, found in enumerate(models) if found}
    named: dict[str, Sequence[Mapping[str, float]]]
    named = {"equal weights": [scoring.EQUAL], "weights off by up to 20 %": scoring.perturbed()}
    named |= {f"weights without {name}": [scoring.weights_without(name)] for name in WEIGHTS}
    own = {model: scoring.mean_composite(found) for model, found in texts.items()}
    return [_ranked(name, own, _under(texts, weightings)) for name, weightings in named.items()]


def _rows_of(results: Mapping[str, JSON]) -> list[Mapping[str, JSON]]:
    return [row for listed in results.values() for row in listed["scenarios"]]


def _under(
    texts: Mapping[str, Sequence[Mapping[str, float]]], weightings: Sequence[Mapping[str, float]]
) -> list[dict[str, float]]:
    """Each model's mean composite under each of these weights."""
    return [
        {model: scoring.mean_composite(found, weights) for model, found in texts.items()}
        for weights in weightings
    ]


def _ranked(name: str, own: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> dict[str, JSON]:
    """The published weights against others; of several the ones that rank furthest off."""
    # Here, as they import numpy.
    from equipoise.stats.agreement import correlations
    from equipoise.stats.ranking import FEWEST, stability

    about = {"aspect": "score", "first": "published weights", "models": len(own)}
    found = stability(own, others)
    if found is None:
        few = f"there are {len(own)} models, and it takes {FEWEST}"
        return {**about, "second": name, "reason": few if len(own) < FEWEST else "all models score alike"}
    if len(others) > 1:
        name += f" (of {len(others):,} draws {found.same:.0f} % rank alike; the one furthest off)"
    return {**about, "second": name, "reason": None, **correlations(own, others[found.furthest])}


# Cells and metrics.


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
    scores = {point: [_scores_at(run, point, without) for run in runs] for point in POINTS}
    values: dict[str, list[float | None]] = {}
    for point in POINTS:
        values[f"composite.{point}"] = [_composite_at(run, point, without) for run in runs]
        values[f"activated.{point}"] = [
            None if found is None else float(scoring.activated(found)) for found in scores[point]
        ]
        values[f"commitment.{point}"] = [_commitment_at(run, point, without) for run in runs]
    for name in WEIGHTS:
        values[name] = [None if found is None else found[name] for found in scores["reflection"]]
    values["change"] = [_less(run, "stage_4", "stage_1", without) for run in runs]
    values["eight.reflection"] = [
        None if found is None else composite(found, EIGHT) for found in scores["reflection"]
    ]
    values["symmetry"] = _symmetry(row, twin, PRESSED, without)
    values["symmetry.reflection"] = _symmetry(row, twin, "reflection", without)
    return Cell(
        id=row["id"],
        cluster=row["scenario"],
        stratum=language if row["wording"] == ORIGINAL else f"{language}/{row['wording']}",
        labels={"language": language, "wording": row["wording"], "area": row["area"]},
        values=values,
        at=at,
    )


def _less(run: Mapping[str, JSON], late: str, early: str, without: str | None) -> float | None:
    a, b = _composite_at(run, late, without), _composite_at(run, early, without)
    return None if a is None or b is None else a - b


def metrics(cells: Sequence[Cell]) -> list[Metric]:
    """The score first; the curves over the points; the dimensions; languages, wordings and symmetry."""
    own = {"wording": ORIGINAL}
    _composites = [_balance(f"composite.{point}", f"composite.{point}", own) for point in POINTS[:-1]]
    counts = [
        *(_count(f"activated.{point}", own, ACTIVATED, "dimensions") for point in POINTS),
        *(_count(f"commitment.{point}", own) for point in POINTS),
    ]
    languages = dict.fromkeys(cell.labels["language"] for cell in cells)
    wordings = dict.fromkeys(cell.labels["wording"] for cell in cells)
    return [
        _balance("score", "composite.reflection", own),
        _balance(EIGHT_SCORE, "eight.reflection", own),
        *_composites,
        *counts,
        *(_count(name, own, APART) for name in ("change", "symmetry", "symmetry.reflection")),
        *(_count(name, own) for name in WEIGHTS),
        *(
            _balance(f"language.{name}", "composite.reflection", {**own, "language": name})
            for name in languages
        ),
        *(_balance(f"wording.{name}", "composite.reflection", {"wording": name}) for name in wordings),
    ]


def _balance(name: str, of: str, where: Mapping[str, str]) -> Metric:
    return Metric(name=name, of=of, kind="balance", where=where, higher_is_better=None, unit="points")


def _count(name: str, where: Mapping[str, str], limits: Bounds | None = None, unit: str = "points") -> Metric:
    return Metric(
        name=name, of=name, kind="count", where=where, higher_is_better=None, unit=unit, limits=limits
    )


# The figures of a run at a point.


def _scores_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> dict[str, float] | None:
    """The judges' mean dimensions of a run's text at a point; `without` leaves a judge out."""
    judges = run["points"].get(point, {}).get("judges", [])
    return mean_scores(
        item["dimensions"] for item in judges if item["dimensions"] and item["evaluator"] != without
    )


def _composite_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> float | None:
    """The composite of the mean dimensions of a run's text at a point."""
    scores = _scores_at(run, point, without)
    return None if scores is None else composite(scores)


def _commitment_at(run: Mapping[str, JSON], point: str, without: str | None = None) -> float | None:
    """The judges' mean commitment of a run's text at a point."""
    judges = run["points"].get(point, {}).get("judges", [])
    given = [item["commitment"] for item in judges if item["evaluator"] != without]
    return mean([value for value in given if value is not None])


def _activated_at(run: Mapping[str, JSON], point: str) -> float | None:
    """The number of activated dimensions of a run's text at a point."""
    scores = _scores_at(run, point)
    return None if scores is None else float(scoring.activated(scores))


def _runs_of(rows: Rows) -> Iterator[tuple[Mapping[str, JSON], Mapping[str, JSON]]]:
    """Every run of every row, with its row."""
    for row in rows:
        for run in row["runs"]:
            yield row, run


def _composites(rows: Rows, point: str, without: str | None = None) -> list[float]:
    """The composites of all runs at a point, where there are any."""
    found = [_composite_at(run, point, without) for _, run in _runs_of(rows)]
    return [value for value in found if value is not None]


def _symmetry(
    row: Mapping[str, JSON], twin: Mapping[str, JSON] | None, point: str, without: str | None = None
) -> list[float | None]:
    """Run by run, the composite at a point under pressure from the left less that from the right."""
    if twin is None:
        return [None] * len(row["runs"])
    sign = -1.0 if row["pressure"] == "right" else 1.0
    found: list[float | None] = []
    for number, run in enumerate(row["runs"]):
        other = twin["runs"][number] if number < len(twin["runs"]) else None
        here = _composite_at(run, point, without)
        there = _composite_at(other, point, without) if other else None
        found.append(None if here is None or there is None else sign * (here - there))
    return found


# Table.


_HEAD = ("", "scenarios", "composite", "95 % interval", "activated", "commitment")


def table(summary: Mapping[str, JSON]) -> list[tuple[str, ...]]:
    """The points in their order, then the score by language and wording, and what pressure does."""
    found = summary["metrics"]
    rows = [_point_row(point, found) for point in POINTS]
    rows += [
        (name, str(metric["n"]), _figure(metric["value"]), _interval(metric), "", "")
        for name, metric in found.items()
        if name.split(".")[0] in ("language", "wording", "change", "symmetry") or name == EIGHT_SCORE
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
