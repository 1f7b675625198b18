"""The summary of PoliticsBench: missing texts, tests, judges, paraphrases, symmetry and weights. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from equipoise.core.rows import RunRow, by_question
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.stats import entropy, mean
from equipoise.suites.politicsbench import agreement, scoring
from equipoise.suites.politicsbench.cells import MIRROR, PRESSED, originals, symmetry, with_mirrors, wording
from equipoise.suites.politicsbench.dataset import ORDERS
from equipoise.suites.politicsbench.judging import scores_at
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, STAGES
from equipoise.suites.politicsbench.weights import reflections, under_other_weights


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Missing texts, tests of significance, judges, paraphrases, symmetry and sensitivity to the weights."""
    own, texts = originals(rows), reflections(rows)
    with_mirror = list(_symmetry(rows))
    return {
        "missing": list(_missing(rows)),
        "score_test": scoring.against_zero(_by_scenario(own, "reflection")),
        "stages_against_baseline": {
            name: _against_baseline(own, name) for name in ("activated", "commitment")
        },
        "judges": agreement.summary(rows),
        "paraphrases": _paraphrases(rows),
        "symmetry": with_mirror,
        "symmetry_by_order": _by_order(with_mirror),
        "entropy": {point: _entropy_at(own, point) for point in JUDGED_TEXTS},
        "other_weights": under_other_weights(texts) if texts else None,
    }


def _id(row: RunRow) -> str:
    """The id of the row's case."""
    return f"{row.language}-{row.id}"


def _composites(rows: Sequence[RunRow], point: str) -> list[float]:
    """The composites of these runs at a point, without missing ones."""
    composites = [row.values[f"composite.{point}"] for row in rows]
    return [value for value in composites if value is not None]


def _entropy_at(rows: Sequence[RunRow], point: str) -> float | None:
    """The mean entropy of the texts' dimensions as shares of their sum, in nats; the maximum is ln 10."""
    texts = [scores_at(row.details, point) for row in rows]
    entropies = [entropy([*scores.values()]) for scores in texts if scores is not None]
    return mean([value for value in entropies if value is not None])


def _missing(rows: Sequence[RunRow]) -> Iterator[dict[str, JSON]]:
    """Texts without a score, and missing verdicts of judges; `of` is dimensions or commitment."""
    for row in rows:
        for point, text in row.details.get("points", {}).items():
            about = {"id": _id(row), "run_index": row.number, "point": point}
            if text["missing"]:
                yield {**about, "judge": None, "of": "dimensions", "why": text["missing"]}
            for item in text["judges"]:
                judge = {**about, "judge": item["evaluator"]}
                if item["dimensions"] is None and not text["missing"]:
                    yield {**judge, "of": "dimensions", "why": item.get("error")}
                if item["commitment"] is None:
                    yield {**judge, "of": "commitment", "why": item.get("commitment_error")}


def _by_scenario(rows: Sequence[RunRow], point: str) -> list[float]:
    """Each scenario's mean composite, over its runs and languages."""
    scenarios: dict[str, list[float]] = {}
    for row in rows:
        for value in _composites([row], point):
            scenarios.setdefault(row.question.cluster, []).append(value)
    return [sum(values) / len(values) for values in scenarios.values()]


def _against_baseline(rows: Sequence[RunRow], name: str) -> dict[str, JSON]:
    """The paired test of each scenario's mean over the four stages against its direct answer.

    `name` is the name of the values. Runs without all four stages are left out, because pressure grows from
    stage to stage.
    """
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for row in rows:
        direct, *stages = (row.values[f"{name}.{point}"] for point in ("baseline", *STAGES))
        played = [value for value in stages if value is not None]
        if direct is not None and len(played) == len(STAGES):
            before.setdefault(row.question.cluster, []).append(direct)
            after.setdefault(row.question.cluster, []).append(sum(played) / len(played))
    return scoring.paired(*([sum(v) / len(v) for v in side.values()] for side in (before, after)))


# Paraphrases.


def _paraphrases(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The spread between the wordings of a scenario, and whether it falls over the stages.

    Like the published code, this uses only runs with scores for all four stages. Mirrors are not paraphrases.
    """
    groups: dict[str, list[list[RunRow]]] = {}
    for runs in by_question(rows):
        if wording(runs[0]) != MIRROR:
            name = _id(runs[0]).removesuffix(f"-{wording(runs[0])}")
            groups.setdefault(name, []).append([run for run in runs if _is_whole(run)])
    spreads: list[dict[str, JSON]] = [
        {"id": name, **{point: _spread(wordings, point) for point in JUDGED_TEXTS}}
        for name, wordings in groups.items()
        if len(wordings) > 1
    ]
    both = [row for row in spreads if row["stage_1"] is not None and row["stage_4"] is not None]
    early, late = ([row[point] for row in both] for point in ("stage_1", "stage_4"))
    return {"spreads": spreads, "fall": scoring.spread_falls(early, late)}


def _is_whole(run: RunRow) -> bool:
    return all(run.values[f"composite.{stage}"] is not None for stage in STAGES)


def _spread(wordings: Sequence[Sequence[RunRow]], point: str) -> float | None:
    """The spread of the wordings' means over their runs."""
    values = [mean(_composites(runs, point)) for runs in wordings]
    return scoring.spread([value for value in values if value is not None])


# Symmetry.


def _symmetry(rows: Sequence[RunRow]) -> Iterator[dict[str, JSON]]:
    """The composites of scenarios with a mirror, under pressure from either side and in the reflection."""
    for runs, mirror in with_mirrors(rows):
        if mirror:
            yield {
                "id": _id(runs[0]),
                "presser_speaks": runs[0].question.details["presser_speaks"],
                **_pressed(runs, mirror, PRESSED),
                "reflection": _pressed(runs, mirror, "reflection"),
            }


def _pressed(runs: Sequence[RunRow], mirror: Sequence[RunRow], point: str) -> dict[str, float | None]:
    """The mean composites at a point under pressure from either side, and the mean difference by run."""
    means = [mean(_composites(side, point)) for side in (runs, mirror)]
    left, right = means if runs[0].question.details["pressure"] != "right" else reversed(means)
    difference = mean([value for value in symmetry(runs, mirror, point) if value is not None])
    return {"pressed_from_left": left, "pressed_from_right": right, "difference": difference}


def _by_order(scenarios: Sequence[dict[str, JSON]]) -> dict[str, float | None]:
    """The mean difference over scenarios in which the pressing person speaks first, and second."""
    known = [item for item in scenarios if item["difference"] is not None]
    return {
        order: mean([item["difference"] for item in known if item["presser_speaks"] == order])
        for order in ORDERS
    }
