"""Agreement of the judges of PoliticsBench. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.stats import mean, valid
from equipoise.suites.politicsbench.cells import originals
from equipoise.suites.politicsbench.judging import scores_at
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, Scores, composite

CLASSES = 11
"""The number of equal classes into which composites are sorted."""
FULL_REACH = 100.0
PUBLISHED_REACH = 24.0
"""The ends of the range of classes, in points from 0: the project's own, and those of the published code."""

Composites = Mapping[str, Mapping[str, float]]
"""Composites by judge, then by the name of the text: the name of its run, a slash and its point."""


def summary(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The judges' agreement on the original wordings, by point and overall; the score without each judge."""
    original_rows = originals(rows)
    composites: dict[str, dict[str, float]] = {}
    scenario_of: dict[str, str] = {}
    dimensions: dict[str, dict[tuple[str, str], float]] = {}
    for text, scenario, judge, scores in _text_scores(original_rows):
        scenario_of[text] = scenario
        composites.setdefault(judge, {})[text] = composite(scores)
        dimensions.setdefault(judge, {}).update({(text, name): value for name, value in scores.items()})
    several = composites.keys() if len(composites) > 1 else ()
    return {
        "kappa": pairwise_kappas(composites, FULL_REACH),
        "kappa_by_point": {point: _mean_kappa_at(composites, point) for point in JUDGED_TEXTS},
        "kappa_published_classes": pairwise_kappas(composites, PUBLISHED_REACH),
        **overall_agreement(composites),
        "alpha": alpha_of_dimensions(dimensions),
        "leans": judge_leans(composites, scenario_of),
        "mean_composite": {judge: mean(list(by_text.values())) for judge, by_text in composites.items()},
        "score_without": {judge: _score_without(original_rows, judge) for judge in several},
    }


def _text_scores(rows: Sequence[RunRow]) -> Iterator[tuple[str, str, str, Scores]]:
    """For each valid verdict on dimensions: the text's name, its scenario, the judge, and the scores."""
    for row in rows:
        for point, text in row.details.get("points", {}).items():
            for item in text["judges"]:
                if item["dimensions"]:
                    yield f"{row.name}/{point}", row.question.cluster, item["evaluator"], item["dimensions"]


def _score_without(rows: Sequence[RunRow], judge: str) -> float | None:
    """The mean composite of the reflections, from the scores of the other judges."""
    by_run = [scores_at(row.details, "reflection", without=judge) for row in rows]
    return mean([composite(scores) for scores in by_run if scores is not None])


def _mean_kappa_at(composites: Composites, point: str) -> float | None:
    """The mean kappa of the texts at one point."""
    at_point = {
        judge: {text: value for text, value in by_text.items() if text.endswith(f"/{point}")}
        for judge, by_text in composites.items()
    }
    value: float | None = pairwise_kappas(at_point, FULL_REACH)["mean"]
    return value


def composite_class(value: float, reach: float = FULL_REACH) -> int:
    """The class of a composite, 0 to 10, of eleven from -reach to reach; values outside are clipped.

    Rounds half to even, like the published code.
    """
    index = round((value + reach) / (2 * reach) * (CLASSES - 1))
    return min(CLASSES - 1, max(0, index))


def pairwise_kappas(composites: Composites, reach: float) -> dict[str, JSON]:
    """The quadratic-weighted kappa of each two judges' composites in classes, and the mean over the pairs.

    Kappa is 1 for judges that put all texts into the same classes, even if they use only one class.
    """
    pairs: list[dict[str, JSON]] = []
    for first, second in combinations(composites, 2):
        # Imported here: numpy is slow to import, and a single judge does not need it.
        from equipoise.stats.agreement import weighted_kappa

        shared = [text for text in composites[first] if text in composites[second]]
        a, b = (
            {text: composite_class(composites[judge][text], reach) for text in shared}
            for judge in (first, second)
        )
        kappa = weighted_kappa(a, b, list(range(CLASSES)))
        value = 1.0 if shared and a == b else kappa.value
        pairs.append({"first": first, "second": second, "texts": len(shared), "value": value})
    return {"pairs": pairs, "mean": mean(valid(pair["value"] for pair in pairs))}


def overall_agreement(composites: Composites) -> dict[str, JSON]:
    """Fleiss' kappa of all judges' composites in classes, and the mean variance of a text's composites."""
    from equipoise.stats.agreement import fleiss_kappa, variance_within_units

    classes = {
        judge: {text: composite_class(value) for text, value in by_text.items()}
        for judge, by_text in composites.items()
    }
    return {
        "fleiss_kappa": fleiss_kappa(classes, list(range(CLASSES))),
        "variance_within_texts": variance_within_units(composites),
    }


def judge_leans(composites: Composites, scenario_of: Mapping[str, str]) -> list[dict[str, JSON]]:
    """How much further left each judge places the same texts than the other judges, in points."""
    from equipoise.stats.agreement import leans

    return [
        {
            "evaluator": lean.evaluator,
            "difference": lean.difference.value,
            "low": lean.difference.low,
            "high": lean.difference.high,
            "texts": lean.units,
        }
        for lean in (leans(composites, scenario_of) if len(composites) > 1 else ())
    ]


def alpha_of_dimensions(dimensions: Mapping[str, Mapping[tuple[str, str], float]]) -> float | None:
    """Krippendorff's alpha (interval) of the judges' scores, by judge and (text, dimension).

    None if no unit has scores of two judges, or if the scores do not vary.
    """
    from equipoise.stats.agreement import krippendorff_alpha

    levels = sorted({score for by_unit in dimensions.values() for score in by_unit.values()})
    return krippendorff_alpha(dimensions, levels, "interval").value
