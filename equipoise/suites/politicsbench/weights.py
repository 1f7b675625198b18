"""Sensitivity of scores and ranks to the weights: equal, perturbed, one dimension left out. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from equipoise.core.rows import RunRow
from equipoise.core.types import JSON
from equipoise.stats import mean
from equipoise.suites.politicsbench.cells import originals
from equipoise.suites.politicsbench.scoring import WEIGHTS, Scores, composite

EQUAL_WEIGHTS = {name: math.copysign(1.0, weight) for name, weight in WEIGHTS.items()}
"""The signs of the weights, all of magnitude 1."""
DRAWS = 1000
"""The number of sets of perturbed weights."""
SEED = 42
"""The seed of the perturbed weights."""

DimensionWeights = Mapping[str, float]
"""Weights by dimension."""


def under_other_weights(texts: Sequence[Scores]) -> dict[str, JSON]:
    """The mean composite of these texts under other weights.

    `equal` has EQUAL_WEIGHTS, and `without` the weights without one dimension. `perturbed` describes the
    means under `perturbed_weights`; `same_sign` is the percentage of these with the sign of the actual mean.
    """
    import numpy as np

    drawn = [mean_composite(texts, weights) for weights in perturbed_weights()]
    actual = mean_composite(texts)
    return {
        "equal": mean_composite(texts, EQUAL_WEIGHTS),
        "perturbed": {
            "draws": DRAWS,
            "mean": mean(drawn),
            "low": min(drawn),
            "high": max(drawn),
            "sd": float(np.std(drawn)),
            "same_sign": 100.0 * sum((value > 0) == (actual > 0) for value in drawn) / DRAWS,
        },
        "without": {name: mean_composite(texts, weights_without(name)) for name in WEIGHTS},
    }


def perturbed_weights() -> list[DimensionWeights]:
    """DRAWS sets of weights, each weight times a uniform random factor of 0.8 to 1.2; always the same."""
    import numpy as np

    factors = np.random.default_rng(SEED).uniform(0.8, 1.2, (DRAWS, len(WEIGHTS))).tolist()
    return [
        {name: weight * factor for (name, weight), factor in zip(WEIGHTS.items(), row, strict=True)}
        for row in factors
    ]


def weights_without(dimension: str) -> DimensionWeights:
    """The published weights of all other dimensions."""
    return {name: weight for name, weight in WEIGHTS.items() if name != dimension}


def mean_composite(texts: Sequence[Scores], weights: DimensionWeights = WEIGHTS) -> float:
    """The mean composite of the texts. Raises ZeroDivisionError if there are none."""
    return math.fsum(composite(scores, weights) for scores in texts) / len(texts)


def reflections(rows: Iterable[RunRow]) -> list[Scores]:
    """The dimensions, as means over judges, of each scored reflection on an original wording."""
    all_values = ([(name, row.values[name]) for name in WEIGHTS] for row in originals(rows))
    texts = ({name: value for name, value in values if value is not None} for values in all_values)
    return [text for text in texts if text]


# Over models.


def over_models(models: Mapping[str, Sequence[RunRow]]) -> list[dict[str, JSON]]:
    """The agreement of models' ranks under the published weights with those under each alternative.

    The alternatives are equal weights, perturbed weights, and weights without one dimension. A model's score
    is the mean composite of its `reflections`; a model without any is left out.
    """
    texts = {model: scores for model, rows in models.items() if (scores := reflections(rows))}
    alternatives: dict[str, Sequence[DimensionWeights]] = {
        "equal weights": [EQUAL_WEIGHTS],
        "weights off by up to 20 %": perturbed_weights(),
        **{f"weights without {name}": [weights_without(name)] for name in WEIGHTS},
    }
    published = _model_scores(texts, WEIGHTS)
    return [
        _rank_agreement(name, published, [_model_scores(texts, weights) for weights in sets])
        for name, sets in alternatives.items()
    ]


def _model_scores(texts: Mapping[str, Sequence[Scores]], weights: DimensionWeights) -> dict[str, float]:
    """The mean composite by model, of its texts under these weights."""
    return {model: mean_composite(scores, weights) for model, scores in texts.items()}


def _rank_agreement(
    name: str, published: Mapping[str, float], alternatives: Sequence[Mapping[str, float]]
) -> dict[str, JSON]:
    """The agreement of two rankings by scores; of several alternatives, the one that agrees least."""
    # Imported here, because they import numpy.
    from equipoise.stats.agreement import correlations
    from equipoise.stats.ranking import FEWEST_MODELS, stability

    count = len(published)
    about = {"aspect": "score", "first": "published weights", "models": count}
    result = stability(published, alternatives)
    if result is None:
        few = f"there are {count} models, and it takes {FEWEST_MODELS}"
        return {**about, "second": name, "reason": few if count < FEWEST_MODELS else "all models score alike"}
    if len(alternatives) > 1:
        draws = f"{len(alternatives):,}"
        name += f" ({result.same:.0f} % of {draws} draws rank alike; figures: the furthest draw)"
    agreement = correlations(published, alternatives[result.furthest])
    return {**about, "second": name, "reason": None, **agreement}
