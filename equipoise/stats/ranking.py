"""How far a ranking of models depends on choices in their scoring, such as weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.stats import mean
from equipoise.stats.agreement import correlations

FEWEST_MODELS = 3
"""The minimum number of models for a rank correlation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far other ways of scoring models agree with the first way on the ranking of models.

    `same` is the percentage of the other ways, 0 to 100, that give exactly the same ranking. `mean` and
    `lowest` are the mean and the minimum of their Spearman correlations with the first way, -1 to 1.
    `furthest` is the index of the way with the lowest correlation.
    """

    same: float
    mean: float
    lowest: float
    furthest: int


def stability(scores: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> Stability | None:
    """The ranking by `scores` compared with the rankings by each of `others`, over the same models.

    Equal scores share their mean rank. None for fewer models than FEWEST_MODELS, without `others`, or if one
    way of scoring gives all models the same score.
    """
    rhos = (
        [correlations(scores, other)["spearman"] for other in others] if len(scores) >= FEWEST_MODELS else []
    )
    defined = [rho for rho in rhos if rho is not None]
    average = mean(defined)
    if average is None or len(defined) < len(others):
        return None
    lowest = min(defined)
    same = 100 * sum(rho > 1 - 1e-9 for rho in defined) / len(defined)  # 1 apart from rounding errors
    return Stability(same=same, mean=average, lowest=lowest, furthest=defined.index(lowest))
