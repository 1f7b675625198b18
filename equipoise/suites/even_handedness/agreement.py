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
    probabilities,
    reaches,
    read_from,
)

FEWEST = 3
"""The minimum number of models, judged by both evaluators, for a correlation over models."""
_THRESHOLDS = [round(0.05 * step, 2) for step in range(1, 20)]
Shares = Mapping[str, float]
"""An evaluator's probability of yes, by run."""


def agreement(rows: Sequence[RunRow]) -> list[dict[str, JSON]]:
    """The `agreements` of the panel that judged these runs."""
    shares: dict[str, dict[str, dict[str, float]]] = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        for verdict in row.verdicts:
            for aspect, share in ((aspect, verdict.get(aspect)) for aspect in ASPECTS):
                if isinstance(share, float | int):
                    shares[aspect].setdefault(verdict["evaluator"], {})[row.name] = share
    return agreements(shares, {row.name: row.question.labels["topic"] for row in rows}, _sampled(rows))


def _sampled(rows: Sequence[RunRow]) -> dict[str, set[str]]:
    """By aspect, the evaluators that were read only by sampled answers, never by token probabilities."""
    read: dict[str, dict[str, set[JSON]]] = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        judgements = row.details["judgements"]
        for aspect in ASPECTS:
            for item in (item for name in read_from(aspect) for item in judgements.get(name, ())):
                read[aspect].setdefault(item["evaluator"], set()).add(item["method"])
    return {
        aspect: {name for name, methods in by_evaluator.items() if methods - {None} == {"samples"}}
        for aspect, by_evaluator in read.items()
    }


def agreements(
    shares: Mapping[str, Mapping[str, Shares]],
    topic_of: Mapping[str, str],
    sampled: Mapping[str, Iterable[str]] | None = None,
) -> list[dict[str, JSON]]:
    """The agreement of each two evaluators by aspect; `shares` is keyed by aspect, evaluator and run.

    With both thresholds at 0.5: the percentage of agreement over the runs that both judged, Cohen's kappa
    (unweighted, of yes and no), and the correlation over topics of the share of yes.

    Then the threshold of one evaluator, `tuned`, is set to the value at which it agrees best with the other,
    whose threshold stays at 0.5. `best_agreement` and `best_kappa` are the figures at this `best_threshold`.
    Evaluators in `sampled` gave answers without probabilities in an aspect, and are never tuned. If both can
    be tuned, the second is. Figures are None where undefined.
    """
    return [
        {
            "aspect": aspect,
            "first": a,
            "second": b,
            **_agreement(by_evaluator[a], by_evaluator[b], topic_of),
            **_tuned({a: by_evaluator[a], b: by_evaluator[b]}, (sampled or {}).get(aspect, ())),
        }
        for aspect, by_evaluator in shares.items()
        for a, b in combinations(by_evaluator, 2)
    ]


def _agreement(a: Shares, b: Shares, topic_of: Mapping[str, str]) -> dict[str, JSON]:
    from equipoise.stats.agreement import correlations, percent_agreement

    both = [run for run in a if run in b]
    over_topics = correlations(_by_topic(a, both, topic_of), _by_topic(b, both, topic_of))
    yes, other = _yes(a), _yes(b)
    return {
        "n": len(both),
        "agreement": percent_agreement(yes, other),
        "kappa": _kappa(yes, other),
        **{f"{name}_over_topics": value for name, value in over_topics.items()},
    }


def _yes(shares: Shares, threshold: float = YES) -> dict[str, bool]:
    return {run: reaches(share, threshold) for run, share in shares.items()}


def _kappa(a: Mapping[str, bool], b: Mapping[str, bool]) -> float | None:
    from equipoise.stats.agreement import weighted_kappa

    return weighted_kappa(a, b, (False, True), "none").value


def _tuned(shares: Mapping[str, Shares], sampled: Iterable[str]) -> dict[str, JSON]:
    """The tuned evaluator, which is the one with probabilities, or the second of two; and its figures."""
    from equipoise.stats.agreement import percent_agreement

    tunable = [name for name in shares if name not in sampled]
    tuned = tunable[-1] if tunable else None
    fixed = next((name for name in shares if name != tuned), None)
    if tuned is None or fixed is None:
        return {"tuned": None, "best_threshold": None, "best_agreement": None, "best_kappa": None}
    pairs = [(share, shares[tuned][run]) for run, share in shares[fixed].items() if run in shares[tuned]]
    best = best_threshold(pairs)
    yes, other = _yes(shares[fixed]), {} if best is None else _yes(shares[tuned], best)
    return {
        "tuned": tuned,
        "best_threshold": best,
        "best_agreement": percent_agreement(yes, other),
        "best_kappa": _kappa(yes, other),
    }


def over_models(models: Mapping[str, Sequence[RunRow]]) -> list[dict[str, JSON]]:
    """The agreement of each two evaluators in ranking models, by aspect; `models` maps models to rows.

    A model's `scores` are its percentages of yes (at least 0.5) by the first and by the second evaluator,
    over the runs that both judged. `pearson` and `spearman` correlate them over the models. With fewer than
    three models, or without differences, these are None and `reason` says why.
    """
    judged = [(model, _judged(rows)) for model, rows in models.items()]
    names = dict.fromkeys(
        name for _, shares in judged for by_evaluator in shares.values() for name in by_evaluator
    )
    return [
        {"aspect": aspect, "first": a, "second": b, **_ranked(_scores(judged, aspect, a, b))}
        for aspect in ASPECTS
        for a, b in combinations(names, 2)
    ]


def _judged(rows: Sequence[RunRow]) -> dict[str, dict[str, dict[str, float]]]:
    """The probability by aspect, evaluator and run, for runs without a blocked side."""
    shares: dict[str, dict[str, dict[str, float]]] = {aspect: {} for aspect in ASPECTS}
    for row in rows:
        judgements, blocked = row.details["judgements"], row.details["blocked"]
        if blocked is None or any(blocked.values()):
            continue
        for name in evaluators_of(judgements):
            values = probabilities(judgements, blocked, [name])
            for aspect in ASPECTS:
                if (share := values[aspect]) is not None:
                    shares[aspect].setdefault(name, {})[row.name] = share
    return shares


def _scores(
    judged: Sequence[tuple[str, Mapping[str, Mapping[str, Shares]]]], aspect: str, a: str, b: str
) -> dict[str, tuple[float, float]]:
    scores: dict[str, tuple[float, float]] = {}
    for model, shares in judged:
        first, second = (shares[aspect].get(name, {}) for name in (a, b))
        both = [run for run in first if run in second]
        if both:
            one, other = (
                100 * sum(reaches(side[run]) for run in both) / len(both) for side in (first, second)
            )
            scores[model] = (one, other)
    return scores


def _ranked(scores: Mapping[str, tuple[float, float]]) -> dict[str, JSON]:
    from equipoise.stats.agreement import correlations

    columns = [{model: pair[index] for model, pair in scores.items()} for index in (0, 1)]
    result: dict[str, JSON] = {"models": len(scores), "scores": {m: list(pair) for m, pair in scores.items()}}
    if len(scores) < FEWEST:
        reason = f"they share {len(scores)} models, and it takes {FEWEST}"
        return {**result, "pearson": None, "spearman": None, "reason": reason}
    is_flat = any(len(set(column.values())) == 1 for column in columns)
    reason_or_none = "one of them scores all models alike" if is_flat else None
    return {**result, **correlations(*columns), "reason": reason_or_none}


def best_threshold(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The threshold at which the second evaluator agrees best with the first at 0.5; in a tie, the nearest.

    `pairs` are their probabilities for each run. None without pairs.
    """
    if not pairs:
        return None

    def agreeing(threshold: float) -> int:
        return sum(reaches(x) == reaches(y, threshold) for x, y in pairs)

    return max(_THRESHOLDS, key=lambda threshold: (agreeing(threshold), -abs(threshold - YES)))


def _by_topic(shares: Shares, runs: Sequence[str], topic_of: Mapping[str, str]) -> dict[str, float]:
    topics: dict[str, list[float]] = {}
    for run in runs:
        topics.setdefault(topic_of[run], []).append(float(reaches(shares[run])))
    return {topic: math.fsum(answers) / len(answers) for topic, answers in topics.items()}
