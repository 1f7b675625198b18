"""Agreement of the judges of PoliticsBench. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.stats import mean
from equipoise.suites.politicsbench.cells import originals
from equipoise.suites.politicsbench.judging import scores_at
from equipoise.suites.politicsbench.scoring import JUDGED_TEXTS, composite

CLASSES = 11
PUBLISHED_REACH = 24.0
"""Half the range of the published classes; values outside belong to the first or the last class."""


def summary(rows: Sequence[RunRow]) -> dict[str, JSON]:
    """The judges' agreement on the original wordings, by point and overall; the score without each judge."""
    own = originals(rows)
    composites: dict[str, dict[str, float]] = {}
    scenario_of: dict[str, str] = {}
    raw: dict[str, dict[tuple[str, str], float]] = {}
    for text, scenario, judge, scores in _judged(own):
        scenario_of[text] = scenario
        composites.setdefault(judge, {})[text] = composite(scores)
        raw.setdefault(judge, {}).update({(text, name): value for name, value in scores.items()})
    several = composites.keys() if len(composites) > 1 else ()
    return {
        "kappa": kappas(composites, 100.0),
        "kappa_by_point": {point: _kappa_at(composites, point) for point in JUDGED_TEXTS},
        "kappa_published_classes": kappas(composites, PUBLISHED_REACH),
        **agreement(composites),
        "alpha": alpha(raw),
        "leans": leans(composites, scenario_of),
        "mean_composite": {judge: mean(list(by_text.values())) for judge, by_text in composites.items()},
        "score_without": {judge: _score_without(own, judge) for judge in several},
    }


def _judged(rows: Sequence[RunRow]) -> Iterator[tuple[str, str, str, Mapping[str, float]]]:
    """For each verdict: the text's name, its scenario, the judge's name, and the dimensions."""
    for row in rows:
        for point, text in row.details.get("points", {}).items():
            for item in text["judges"]:
                if item["dimensions"]:
                    yield f"{row.name}/{point}", row.question.cluster, item["evaluator"], item["dimensions"]


def _score_without(rows: Sequence[RunRow], judge: str) -> float | None:
    """The mean composite of the reflections by the scores of the other judges."""
    by_run = [scores_at(row.details, "reflection", judge) for row in rows]
    return mean([composite(scores) for scores in by_run if scores is not None])


def _kappa_at(composites: Mapping[str, Mapping[str, float]], point: str) -> float | None:
    """The mean kappa of the texts at one point."""
    chosen = {
        judge: {text: value for text, value in by_text.items() if text.endswith(f"/{point}")}
        for judge, by_text in composites.items()
    }
    value: float | None = kappas(chosen, 100.0)["mean"]
    return value


def in_class(value: float, reach: float = 100.0) -> int:
    """The class of a composite, 0 to 10, of eleven from -reach to reach; values outside are clipped.

    Rounds half to even, like the published code.
    """
    index = round((value + reach) / (2 * reach) * (CLASSES - 1))
    return min(CLASSES - 1, max(0, index))


def kappas(judged: Mapping[str, Mapping[str, float]], reach: float) -> dict[str, JSON]:
    """The quadratic-weighted kappa of each two judges' composites in classes, and the mean over the pairs.

    `judged` holds composites by judge and text. Kappa is 1 for judges that put all texts into the same
    classes, even if they use only one class.
    """
    pairs: list[dict[str, JSON]] = []
    for first, second in combinations(judged, 2):
        # Imported here: numpy is slow to import, and a single judge does not need it.
        from equipoise.stats.agreement import weighted_kappa

        shared = [text for text in judged[first] if text in judged[second]]
        a, b = ({text: in_class(judged[judge][text], reach) for text in shared} for judge in (first, second))
        kappa = weighted_kappa(a, b, list(range(CLASSES)))
        value = 1.0 if shared and a == b else kappa.value
        pairs.append({"first": first, "second": second, "texts": len(shared), "value": value})
    known = [pair["value"] for pair in pairs if pair["value"] is not None]
    return {"pairs": pairs, "mean": mean(known)}


def agreement(judged: Mapping[str, Mapping[str, float]]) -> dict[str, JSON]:
    """Fleiss' kappa of all judges' composites in classes, and the mean variance of a text's composites."""
    from equipoise.stats.agreement import fleiss_kappa, variance_within_units

    classes = {
        judge: {text: in_class(value) for text, value in composites.items()}
        for judge, composites in judged.items()
    }
    return {
        "fleiss_kappa": fleiss_kappa(classes, list(range(CLASSES))),
        "variance_within_texts": variance_within_units(judged),
    }


def leans(judged: Mapping[str, Mapping[str, float]], scenario_of: Mapping[str, str]) -> list[dict[str, JSON]]:
    """How much further left each judge places the same texts than the other judges, in points."""
    from equipoise.stats.agreement import leans

    return [
        {
            "evaluator": item.evaluator,
            "difference": item.difference.value,
            "low": item.difference.low,
            "high": item.difference.high,
            "texts": item.units,
        }
        for item in (leans(judged, scenario_of) if len(judged) > 1 else ())
    ]


def alpha(judged: Mapping[str, Mapping[tuple[str, str], float]]) -> float | None:
    """Krippendorff's alpha (interval) of the raw dimensions, by judge and (text, dimension).

    None where fewer than two judges share a unit, or nothing varies.
    """
    from equipoise.stats.agreement import krippendorff_alpha

    levels = sorted({score for by_unit in judged.values() for score in by_unit.values()})
    return krippendorff_alpha(judged, levels, "interval").value
