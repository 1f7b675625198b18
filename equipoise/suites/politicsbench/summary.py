"""The summary of PoliticsBench: missing texts, tests, judges, paraphrases, symmetry and weights. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from operator import itemgetter

from equipoise.core.rows import RunRow, by_question, grouped
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.stats import entropy, mean, valid
from equipoise.stats.significance import rounded_differences, sample_sd, signed_rank_p, t_test
from equipoise.suites.politicsbench import agreement, cells
from equipoise.suites.politicsbench.dataset import ORDERS
from equipoise.suites.politicsbench.judging import scores_at
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, STAGES
from equipoise.suites.politicsbench.weights import reflections, under_other_weights


def summary(rows: Sequence[RunRow], scale: Scale) -> dict[str, JSON]:
    """Missing texts, tests of significance, judges, paraphrases, symmetry and sensitivity to the weights."""
    original_rows, texts = cells.originals(rows), reflections(rows)
    scenarios = list(_mirrored_scenarios(rows))
    return {
        "missing": list(_missing_scores(rows)),
        "score_test": asdict(t_test(_scenario_means(original_rows, "reflection"))),
        "stages_against_baseline": {
            name: _stages_against_baseline(original_rows, name) for name in ("activated", "commitment")
        },
        "judges": agreement.summary(rows),
        "paraphrases": _paraphrases(rows),
        "symmetry": scenarios,
        "symmetry_by_order": _mean_symmetry_by_order(scenarios),
        "entropy": {point: _mean_entropy(original_rows, point) for point in JUDGED_TEXTS},
        "other_weights": under_other_weights(texts) if texts else None,
    }


def _case_id(row: RunRow) -> str:
    return f"{row.language}-{row.id}"


def _composites(rows: Sequence[RunRow], point: str) -> list[float]:
    """The composites of these runs at a point; missing composites are left out."""
    return valid(row.values[f"composite.{point}"] for row in rows)


def _mean_entropy(rows: Sequence[RunRow], point: str) -> float | None:
    """The mean entropy of a text's dimensions, taken as shares of their sum, in nats; at most ln 10."""
    texts = [scores_at(row.details, point) for row in rows]
    return mean(valid(entropy([*scores.values()]) for scores in texts if scores is not None))


def _missing_scores(rows: Sequence[RunRow]) -> Iterator[dict[str, JSON]]:
    """Texts without a score, and missing verdicts of judges; `of` is dimensions or commitment."""
    for row in rows:
        for point, text in row.details.get("points", {}).items():
            about = {"id": _case_id(row), "run_index": row.number, "point": point}
            if text["missing"]:
                yield {**about, "judge": None, "of": "dimensions", "why": text["missing"]}
            for item in text["judges"]:
                judge = {**about, "judge": item["evaluator"]}
                if item["dimensions"] is None and not text["missing"]:
                    yield {**judge, "of": "dimensions", "why": item.get("error")}
                if item["commitment"] is None:
                    yield {**judge, "of": "commitment", "why": item.get("commitment_error")}


def _scenario_means(rows: Sequence[RunRow], point: str) -> list[float]:
    """Each scenario's mean composite at a point, over its runs and languages."""
    by_scenario = grouped(rows, lambda row: row.question.cluster)
    return valid(mean(_composites(runs, point)) for runs in by_scenario.values())


def _stages_against_baseline(rows: Sequence[RunRow], name: str) -> dict[str, JSON]:
    """The test of each scenario's mean value over the four stages against the value of its direct answer.

    `name` is `activated` or `commitment`. Runs without all four stages are left out, because pressure grows
    from stage to stage.
    """
    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for row in rows:
        direct, *stages = (row.values[f"{name}.{point}"] for point in ("baseline", *STAGES))
        played = valid(stages)
        if direct is not None and len(played) == len(STAGES):
            before.setdefault(row.question.cluster, []).append(direct)
            after.setdefault(row.question.cluster, []).append(sum(played) / len(played))
    means = ([sum(values) / len(values) for values in scenarios.values()] for scenarios in (after, before))
    gains = rounded_differences(*means)
    test = t_test(gains)
    return {
        "n": test.n,
        "gain": test.mean,
        "t": test.t,
        "p": test.p,
        "wilcoxon_p": signed_rank_p(gains),
        "dz": test.effect_size,
    }


# Paraphrases.


def _paraphrases(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The SD over the wordings of a scenario at each point, and whether it falls over the stages.

    Like the published code, this uses only runs with scores for all four stages. Mirrors are not paraphrases.
    """
    groups: dict[str, list[list[RunRow]]] = {}
    for runs in by_question(rows):
        if cells.wording(runs[0]) != cells.MIRROR:
            name = _case_id(runs[0]).removesuffix(f"-{cells.wording(runs[0])}")
            groups.setdefault(name, []).append([run for run in runs if _has_all_stages(run)])
    spreads: list[dict[str, JSON]] = [
        {"id": name, **{point: _sd_of_wordings(wordings, point) for point in JUDGED_TEXTS}}
        for name, wordings in groups.items()
        if len(wordings) > 1
    ]
    stages = ("stage_1", "stage_4")
    complete = [row for row in spreads if all(row[stage] is not None for stage in stages)]
    falls = rounded_differences(*([row[stage] for row in complete] for stage in stages))
    test = {"n": len(falls), "fall": mean(falls), "wilcoxon_p": signed_rank_p(falls, "greater")}
    return {"spreads": spreads, "fall": test}


def _has_all_stages(run: RunRow) -> bool:
    return all(run.values[f"composite.{stage}"] is not None for stage in STAGES)


def _sd_of_wordings(wordings: Sequence[Sequence[RunRow]], point: str) -> float | None:
    """The sample SD of the wordings' mean composites at a point; None for fewer than two means."""
    return sample_sd(valid(mean(_composites(runs, point)) for runs in wordings))


# Symmetry.


def _mirrored_scenarios(rows: Sequence[RunRow]) -> Iterator[dict[str, JSON]]:
    """The composites of scenarios with a mirror, under pressure from either side and in the reflection."""
    for runs, mirror_runs in cells.with_mirrors(rows):
        if mirror_runs:
            yield {
                "id": _case_id(runs[0]),
                "presser_speaks": runs[0].question.details["presser_speaks"],
                **_composites_by_pressure(runs, mirror_runs, cells.PRESSURE_STAGE),
                "reflection": _composites_by_pressure(runs, mirror_runs, "reflection"),
            }


def _composites_by_pressure(
    runs: Sequence[RunRow], mirror_runs: Sequence[RunRow], point: str
) -> dict[str, float | None]:
    """The mean composites at a point under pressure from either side, and the mean difference by run."""
    means = [mean(_composites(rows, point)) for rows in (runs, mirror_runs)]
    left, right = reversed(means) if runs[0].question.details["pressure"] == "right" else means
    difference = mean(valid(cells.symmetry(runs, mirror_runs, point)))
    return {"pressed_from_left": left, "pressed_from_right": right, "difference": difference}


def _mean_symmetry_by_order(scenarios: Sequence[dict[str, JSON]]) -> dict[str, float | None]:
    """The mean difference of the scenarios in which the pressing person speaks first, and second."""
    by_order = grouped(scenarios, itemgetter("presser_speaks"))
    return {order: mean(valid(row["difference"] for row in by_order.get(order, ()))) for order in ORDERS}
