"""Agreement of two evaluators on the same pairs: over runs, topics, models and thresholds. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.suites.even_handedness.scoring import (
    ASPECTS,
    YES,
    evaluators_of,
    judgements_behind,
    probabilities,
    reaches,
)

FEWEST_MODELS = 3
"""The minimum number of models, judged by both evaluators, for a correlation over models."""
_THRESHOLDS = [round(0.05 * step, 2) for step in range(1, 20)]
"""The thresholds that are tried: 0.05 to 0.95."""
Probabilities = Mapping[str, float]
"""An evaluator's probability of yes, by run."""
ByAspect = dict[str, dict[str, dict[str, float]]]
"""The probability of yes by aspect, evaluator and run."""


def agreement(rows: Sequence[RunRow]) -> list[dict[str, JSON]]:
    """The `agreements` of the panel that judged these runs."""
    by_aspect: ByAspect = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        for verdict in row.verdicts:
            for aspect, probability in ((aspect, verdict.get(aspect)) for aspect in ASPECTS):
                if isinstance(probability, float | int):
                    by_aspect[aspect].setdefault(verdict["evaluator"], {})[row.name] = probability
    topic_of = {row.name: row.question.labels["topic"] for row in rows}
    return agreements(by_aspect, topic_of, _sampled_evaluators(rows))


def _sampled_evaluators(rows: Sequence[RunRow]) -> dict[str, set[str]]:
    """By aspect, the evaluators whose answers were all sampled, without token probabilities."""
    methods_of: dict[str, dict[str, set[JSON]]] = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        judgements = row.details["judgements"]
        for aspect in ASPECTS:
            for item in (item for name in judgements_behind(aspect) for item in judgements.get(name, ())):
                methods_of[aspect].setdefault(item["evaluator"], set()).add(item["method"])
    return {
        aspect: {name for name, methods in by_evaluator.items() if methods - {None} == {"samples"}}
        for aspect, by_evaluator in methods_of.items()
    }


def agreements(
    by_aspect: Mapping[str, Mapping[str, Probabilities]],
    topic_of: Mapping[str, str],
    sampled: Mapping[str, Iterable[str]] | None = None,
) -> list[dict[str, JSON]]:
    """The agreement of each two evaluators in each aspect, given their probabilities by aspect and evaluator.

    With both thresholds at 0.5: the percentage of agreement over the runs that both judged, Cohen's kappa
    (unweighted, of yes and no), and the correlation over topics of the share of yes.

    Then the threshold of one evaluator, `tuned`, is set to the value at which it agrees best with the other,
    whose threshold stays at 0.5. `best_agreement` and `best_kappa` are the figures at this `best_threshold`.
    `sampled` names, by aspect, the evaluators that gave answers without probabilities; these are never tuned.
    If both can be tuned, the second is. Figures are None where undefined.
    """
    return [
        {
            "aspect": aspect,
            "first": a,
            "second": b,
            **_agreement(by_evaluator[a], by_evaluator[b], topic_of),
            **_best_agreement({a: by_evaluator[a], b: by_evaluator[b]}, (sampled or {}).get(aspect, ())),
        }
        for aspect, by_evaluator in by_aspect.items()
        for a, b in combinations(by_evaluator, 2)
    ]


def _agreement(a: Probabilities, b: Probabilities, topic_of: Mapping[str, str]) -> dict[str, JSON]:
    # Imported here and below, because it imports numpy.
    from equipoise.stats.agreement import correlations, percent_agreement

    both = [run for run in a if run in b]
    over_topics = correlations(_yes_share_by_topic(a, both, topic_of), _yes_share_by_topic(b, both, topic_of))
    a_yes, b_yes = _yes_or_no(a), _yes_or_no(b)
    return {
        "n": len(both),
        "agreement": percent_agreement(a_yes, b_yes),
        "kappa": _kappa(a_yes, b_yes),
        **{f"{name}_over_topics": value for name, value in over_topics.items()},
    }


def _yes_or_no(probabilities: Probabilities, threshold: float = YES) -> dict[str, bool]:
    return {run: reaches(probability, threshold) for run, probability in probabilities.items()}


def _kappa(a: Mapping[str, bool], b: Mapping[str, bool]) -> float | None:
    from equipoise.stats.agreement import weighted_kappa

    return weighted_kappa(a, b, (False, True), "none").value


def _best_agreement(by_evaluator: Mapping[str, Probabilities], sampled: Iterable[str]) -> dict[str, JSON]:
    """The agreement of two evaluators at the best threshold of the tuned one; all None if neither is tuned.

    The tuned evaluator is the one with probabilities, or the second if both have them.
    """
    from equipoise.stats.agreement import percent_agreement

    tunable = [name for name in by_evaluator if name not in sampled]
    tuned = tunable[-1] if tunable else None
    if tuned is None:
        return {"tuned": None, "best_threshold": None, "best_agreement": None, "best_kappa": None}
    (fixed,) = by_evaluator.keys() - {tuned}
    of_fixed, of_tuned = by_evaluator[fixed], by_evaluator[tuned]
    best = best_threshold([(of_fixed[run], of_tuned[run]) for run in of_fixed if run in of_tuned])
    fixed_yes, tuned_yes = _yes_or_no(of_fixed), {} if best is None else _yes_or_no(of_tuned, best)
    return {
        "tuned": tuned,
        "best_threshold": best,
        "best_agreement": percent_agreement(fixed_yes, tuned_yes),
        "best_kappa": _kappa(fixed_yes, tuned_yes),
    }


def over_models(models: Mapping[str, Sequence[RunRow]]) -> list[dict[str, JSON]]:
    """The agreement of each two evaluators in ranking models, by aspect; `models` maps models to rows.

    A model's `scores` are its percentages of yes (at least 0.5) by the first and by the second evaluator,
    over the runs that both judged. `pearson` and `spearman` correlate them over the models. With fewer than
    three models, or without differences, these are None and `reason` says why.
    """
    by_model = {model: _probabilities_by_aspect(rows) for model, rows in models.items()}
    evaluators = dict.fromkeys(
        name for aspects in by_model.values() for by_evaluator in aspects.values() for name in by_evaluator
    )
    return [
        {"aspect": aspect, "first": a, "second": b, **_rank_agreement(_scores(by_model, aspect, a, b))}
        for aspect in ASPECTS
        for a, b in combinations(evaluators, 2)
    ]


def _probabilities_by_aspect(rows: Sequence[RunRow]) -> ByAspect:
    """The probabilities of the runs without a blocked side."""
    by_aspect: ByAspect = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        judgements, blocked = row.details["judgements"], row.details["blocked"]
        if blocked is None or any(blocked.values()):
            continue
        for name in evaluators_of(judgements):
            values = probabilities(judgements, blocked, [name])
            for aspect in ASPECTS:
                if (probability := values[aspect]) is not None:
                    by_aspect[aspect].setdefault(name, {})[row.name] = probability
    return by_aspect


def _scores(by_model: Mapping[str, ByAspect], aspect: str, a: str, b: str) -> dict[str, tuple[float, float]]:
    """The percentages of yes by evaluators `a` and `b` for each model, over the runs that both judged."""
    scores: dict[str, tuple[float, float]] = {}
    for model, by_aspect in by_model.items():
        of_a, of_b = (by_aspect[aspect].get(name, {}) for name in (a, b))
        both = [run for run in of_a if run in of_b]
        if both:
            percent_a, percent_b = (
                100 * sum(reaches(each[run]) for run in both) / len(both) for each in (of_a, of_b)
            )
            scores[model] = (percent_a, percent_b)
    return scores


def _rank_agreement(scores: Mapping[str, tuple[float, float]]) -> dict[str, JSON]:
    from equipoise.stats.agreement import correlations

    columns = [{model: pair[index] for model, pair in scores.items()} for index in (0, 1)]
    result: dict[str, JSON] = {"models": len(scores), "scores": {m: list(pair) for m, pair in scores.items()}}
    if len(scores) < FEWEST_MODELS:
        reason = f"they share {len(scores)} models, and it takes {FEWEST_MODELS}"
        return {**result, "pearson": None, "spearman": None, "reason": reason}
    is_flat = any(len(set(column.values())) == 1 for column in columns)
    reason_or_none = "one of them scores all models alike" if is_flat else None
    return {**result, **correlations(*columns), "reason": reason_or_none}


def best_threshold(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The threshold of the second evaluator at which it agrees best with the first at 0.5.

    In a tie, it is the threshold nearest to 0.5. `pairs` are both probabilities of each run. None without
    pairs.
    """
    if not pairs:
        return None

    def count_agreements(threshold: float) -> int:
        return sum(reaches(x) == reaches(y, threshold) for x, y in pairs)

    return max(_THRESHOLDS, key=lambda threshold: (count_agreements(threshold), -abs(threshold - YES)))


def _yes_share_by_topic(
    probabilities: Probabilities, runs: Sequence[str], topic_of: Mapping[str, str]
) -> dict[str, float]:
    topics: dict[str, list[float]] = {}
    for run in runs:
        topics.setdefault(topic_of[run], []).append(float(reaches(probabilities[run])))
    return {topic: math.fsum(answers) / len(answers) for topic, answers in topics.items()}
