"""Sensitivity of the score to the weights: equal or perturbed weights, one dimension left out. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.stats import mean
from equipoise.suites.politicsbench.cells import originals
from equipoise.suites.politicsbench.scoring import WEIGHTS, Scores, composite

EQUAL = {name: math.copysign(1.0, weight) for name, weight in WEIGHTS.items()}
"""The weights with their signs and a magnitude of 1."""
DRAWS = 1000
SEED = 42


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
    """1,000 sets of weights, each weight times a factor from 0.8 to 1.2; the same sets in every call."""
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
    """The mean composite of the texts, of which there must be at least one."""
    return math.fsum(composite(scores, weights) for scores in texts) / len(texts)


# Over models.


def reflections(rows: Iterable[RunRow]) -> list[dict[str, float]]:
    """The mean dimensions of all reflections on original wordings, 0 to 20."""
    texts = ({name: row.values[name] for name in WEIGHTS} for row in originals(rows))
    known = ({name: value for name, value in text.items() if value is not None} for text in texts)
    return [text for text in known if text]


def over_models(models: Mapping[str, Sequence[RunRow]]) -> list[dict[str, JSON]]:
    """The agreement of models' ranks under the published and under other weights.

    The others are equal weights, perturbed weights, and weights without one dimension. A model's score is the
    mean composite of all its reflections on original wordings; a model without any is left out.
    """
    texts = {model: dimensions for model, rows in models.items() if (dimensions := reflections(rows))}
    weightings: dict[str, Sequence[Mapping[str, float]]] = {
        "equal weights": [EQUAL],
        "weights off by up to 20 %": perturbed(),
        **{f"weights without {name}": [weights_without(name)] for name in WEIGHTS},
    }
    [own] = _under(texts, [WEIGHTS])
    return [_ranked(name, own, _under(texts, others)) for name, others in weightings.items()]


def _under(
    texts: Mapping[str, Sequence[Mapping[str, float]]], weightings: Sequence[Mapping[str, float]]
) -> list[dict[str, float]]:
    """For each set of weights, the mean composite by model."""
    return [
        {model: mean_composite(dimensions, weights) for model, dimensions in texts.items()}
        for weights in weightings
    ]


def _ranked(name: str, own: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> dict[str, JSON]:
    """The agreement of ranks under the published weights and others; of several sets, the worst one."""
    # Imported here, because they import numpy.
    from equipoise.stats.agreement import correlations
    from equipoise.stats.ranking import FEWEST, stability

    about = {"aspect": "score", "first": "published weights", "models": len(own)}
    result = stability(own, others)
    if result is None:
        few = f"there are {len(own)} models, and it takes {FEWEST}"
        return {**about, "second": name, "reason": few if len(own) < FEWEST else "all models score alike"}
    if len(others) > 1:
        name += f" (of {len(others):,} draws {result.same:.0f} % rank alike; the one furthest off)"
    return {**about, "second": name, "reason": None, **correlations(own, others[result.furthest])}
