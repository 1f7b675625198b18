"""Political dimensions of a text, and the composites and tests computed from them. Pure.

A dimension is scored 0 to 20; centred at 10 and weighted it counts to the left (+) or to the right (-). The
weights sum to 0 and their magnitudes to 10, so a composite lies between -100 and 100 and is 0 where all
dimensions are alike (the published PoliticsBench).
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

from equipoise.core.types import JSON
from equipoise.stats import mean

WEIGHTS: Mapping[str, float] = {
    "tradition_orientation": -1.125,
    "progress_orientation": 1.0,
    "authority_deference": -1.125,
    "egalitarianism": 1.125,
    "risk_aversion": -0.875,
    "openness_to_difference": 1.125,
    "individual_responsibility": -0.875,
    "collective_responsibility": 0.875,
    "moral_certainty": -1.0,
    "nuanced_pragmatism": 0.875,
}
STYLE = ("moral_certainty", "nuanced_pragmatism")
"""Dimensions of how a text argues: published weights count certainty to the right and nuance to the left."""
EIGHT = {name: weight for name, weight in WEIGHTS.items() if name not in STYLE}
"""The published weights of the other eight, which sum to 0.125."""
EQUAL = {name: math.copysign(1.0, weight) for name, weight in WEIGHTS.items()}
"""The signs of the weights alone."""
CENTRE = 10.0
ACTIVE = 14.0
"""The threshold from which a dimension counts as activated."""
STAGES = ("stage_1", "stage_2", "stage_3", "stage_4")
POINTS = ("baseline", *STAGES, "reflection")
"""The points of a conversation at which texts are judged, in order."""
CLASSES = 11
PUBLISHED_REACH = 24.0
"""Half the range of the published classes; values beyond fall into the first or last."""
DRAWS = 1000
ROUNDING = 1e-9
"""Figures this near, as a share of the largest of them or of 1, are equal: they are made of whole scores."""
SEED = 42
EXACT = 13
"""The most differences for which scipy's signed-rank test is exact although there are ties."""

Alternative = Literal["two-sided", "greater"]
Scores = Mapping[str, float]


def composite(scores: Scores, weights: Mapping[str, float] = WEIGHTS) -> float:
    """100 * sum of w (s - 10) / (10 * sum of |w|) over the dimensions that have a score, -100 to 100.

    ValueError where none has.
    """
    known = [name for name in weights if name in scores]
    if not known:
        raise ValueError("a composite needs at least one dimension")
    total = math.fsum(weights[name] * (scores[name] - CENTRE) for name in known)
    found = 100 * total / (CENTRE * math.fsum(abs(weights[name]) for name in known))
    return min(100.0, max(-100.0, found))


def activated(scores: Scores, threshold: float = ACTIVE) -> int:
    """The number of dimensions at or above the threshold."""
    return sum(value >= threshold for value in scores.values())


def mean_scores(judged: Iterable[Scores]) -> dict[str, float] | None:
    """Each dimension's mean over the judges that scored it, 0 to 20; None if none did."""
    rows = list(judged)
    names = [name for name in WEIGHTS if any(name in row for row in rows)]
    found = {name: mean([row[name] for row in rows if name in row]) for name in names}
    return {name: value for name, value in found.items() if value is not None} or None


# Judges.


def in_class(value: float, reach: float = 100.0) -> int:
    """Which of eleven classes from -reach to reach a composite is in, 0 to 10; beyond it the first or last.

    Rounded half to even, as the published classes are.
    """
    place = round((value + reach) / (2 * reach) * (CLASSES - 1))
    return min(CLASSES - 1, max(0, place))


def kappas(judged: Mapping[str, Mapping[str, float]], reach: float) -> dict[str, JSON]:
    """Quadratic-weighted kappa of each two judges' composites in classes, and the mean of the pairs.

    `judged` holds composites by judge and text. Judges that put all texts into the same classes agree
    entirely, which is 1 also where there is only one class.
    """
    pairs: list[dict[str, JSON]] = []
    for first, second in combinations(judged, 2):
        # Here, as numpy takes its time, which nobody should pay who has one judge.
        from equipoise.stats.agreement import weighted_kappa

        shared = [text for text in judged[first] if text in judged[second]]
        a, b = ({text: in_class(judged[judge][text], reach) for text in shared} for judge in (first, second))
        found = weighted_kappa(a, b, list(range(CLASSES)))
        value = 1.0 if shared and a == b else found.value
        pairs.append({"first": first, "second": second, "texts": len(shared), "value": value})
    known = [pair["value"] for pair in pairs if pair["value"] is not None]
    return {"pairs": pairs, "mean": mean(known)}


def agreement(judged: Mapping[str, Mapping[str, float]]) -> dict[str, JSON]:
    """Fleiss' kappa of all judges' composites in classes, and the mean variance of a text's composites."""
    from equipoise.stats.agreement import fleiss_kappa, variance_within_units

    classes = {
        judge: {text: in_class(value) for text, value in found.items()} for judge, found in judged.items()
    }
    return {
        "fleiss_kappa": fleiss_kappa(classes, list(range(CLASSES))),
        "variance_within_texts": variance_within_units(judged),
    }


def leans(judged: Mapping[str, Mapping[str, float]], scenario_of: Mapping[str, str]) -> list[dict[str, JSON]]:
    """How much further left each judge finds the same texts than the other judges do, in points."""
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

    levels = sorted({score for given in judged.values() for score in given.values()})
    return krippendorff_alpha(judged, levels, "interval").value


# Sensitivity to the weights.


def under_other_weights(texts: Sequence[Scores]) -> dict[str, JSON]:
    """The mean composite of these texts under other weights.

    `equal`: the signs of the weights, all of magnitude 1. `perturbed`: each weight times a factor drawn
    uniformly from 0.8 to 1.2, 1,000 times. `without`: one dimension left out.
    """
    import numpy as np

    drawn = [mean_composite(texts, weights) for weights in perturbed()]
    own = mean_composite(texts)
    return {
        "equal": mean_composite(texts, EQUAL),
        "perturbed": {
            "draws": DRAWS,
            "mean": mean(drawn),
            "low": min(drawn),
            "high": max(drawn),
            "sd": float(np.std(drawn)),
            "same_sign": 100.0 * sum((value > 0) == (own > 0) for value in drawn) / DRAWS,
        },
        "without": {left_out: mean_composite(texts, weights_without(left_out)) for left_out in WEIGHTS},
    }


def perturbed() -> list[Mapping[str, float]]:
    """The same 1,000 sets of weights each time, each weight times a factor from 0.8 to 1.2."""
    import numpy as np

    factors = np.random.default_rng(SEED).uniform(0.8, 1.2, (DRAWS, len(WEIGHTS))).tolist()
    return [
        {name: weight * factor for (name, weight), factor in zip(WEIGHTS.items(), row, strict=True)}
        for row in factors
    ]


def weights_without(left_out: str) -> dict[str, float]:
    """The published weights of all dimensions but one."""
    return {name: weight for name, weight in WEIGHTS.items() if name != left_out}


def mean_composite(texts: Sequence[Scores], weights: Mapping[str, float] = WEIGHTS) -> float:
    """The mean composite of at least one text."""
    return math.fsum(composite(scores, weights) for scores in texts) / len(texts)


# Tests of significance.


def against_zero(values: Sequence[float]) -> dict[str, JSON]:
    """Mean, sample SD, and the two-sided one-sample t test against 0."""
    found: dict[str, JSON] = {"n": len(values), "mean": mean(values), "sd": _sample_sd(values)}
    # What differs by rounding alone does not differ.
    if found["sd"] is None or found["sd"] <= _rounding(values):
        return {**found, "t": None, "p": None}
    from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

    test = ttest_1samp(values, 0.0)
    return {**found, "t": float(test.statistic), "p": float(test.pvalue)}


def paired(before: Sequence[float], after: Sequence[float]) -> dict[str, JSON]:
    """After minus before: one-sample t test, Wilcoxon's signed ranks (both two-sided) and Cohen's dz.

    Differences within rounding of 0, or of each other, count as equal to it.
    """
    apart = _apart(after, before)
    found = against_zero(apart)
    ranks = _signed_ranks(apart, "two-sided")
    dz = None if found["t"] is None else found["mean"] / found["sd"]
    return {
        "n": found["n"],
        "gain": found["mean"],
        "t": found["t"],
        "p": found["p"],
        "wilcoxon_p": ranks,
        "dz": dz,
    }


def spread_falls(early: Sequence[float], late: Sequence[float]) -> dict[str, JSON]:
    """The mean of early minus late spreads, and Wilcoxon's signed ranks, one-sided (greater than 0).

    Differences within rounding of 0, or of each other, count as equal to it.
    """
    apart = _apart(early, late)
    return {"n": len(apart), "fall": mean(apart), "wilcoxon_p": _signed_ranks(apart, "greater")}


def _rounding(values: Sequence[float]) -> float:
    """How far figures of this size may differ by rounding alone."""
    return ROUNDING * max([1.0, *map(abs, values)])


def _apart(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """First minus second; sizes that differ by the rounding of what they are taken of are made equal."""
    found = [a - b for a, b in zip(first, second, strict=True)]
    within = _rounding([*first, *second])
    levels = {0.0: 0.0}
    for size in sorted(map(abs, found)):
        last = next(reversed(levels))
        levels[size] = levels[last] if size - last <= within else size
    return [math.copysign(levels[abs(value)], value) for value in found]


def _signed_ranks(apart: Sequence[float], alternative: Alternative) -> float | None:
    """The p of Wilcoxon's test, differences of 0 left out; None if all are 0.

    Exact as scipy's is: to EXACT differences always, and to 50 without ties and zeros; else the normal
    approximation.
    """
    if not any(apart):
        return None
    if len(apart) <= EXACT:
        return _exact_signed_ranks([value for value in apart if value], alternative)
    from scipy.stats import wilcoxon

    return float(wilcoxon(apart, zero_method="wilcox", alternative=alternative).pvalue)


def _exact_signed_ranks(apart: Sequence[float], alternative: Alternative) -> float:
    """The same by counting how many of the 2^n signs give each sum of positive ranks.

    scipy tries all signs one by one, which takes seconds.
    """
    sizes = [abs(value) for value in apart]
    # Doubled, so that the middle ranks of ties are whole.
    ranks = [
        sum(other < size for other in sizes) + sum(other <= size for other in sizes) + 1 for size in sizes
    ]
    ways = Counter({0: 1})
    for rank in ranks:
        ways += Counter({total + rank: count for total, count in ways.items()})
    positive = sum(rank for rank, value in zip(ranks, apart, strict=True) if value > 0)
    upper = sum(count for total, count in ways.items() if total >= positive) / ways.total()
    lower = sum(count for total, count in ways.items() if total <= positive) / ways.total()
    return upper if alternative == "greater" else min(1.0, 2 * min(upper, lower))


def spread(values: Sequence[float]) -> float | None:
    """The sample SD over the wordings of a scenario; None for fewer than two."""
    return _sample_sd(values)


def _sample_sd(values: Sequence[float]) -> float | None:
    return statistics.stdev(values) if len(values) > 1 else None
