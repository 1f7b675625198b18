"""How far a ranking of models depends on choices in their scoring, such as weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.stats import mean
from equipoise.stats.agreement import correlations

FEWEST = 3
"""The least number of models for a rank correlation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far other ways of scoring rank the same models as the first one does.

    `same` is the share of them, 0 to 100, that rank exactly alike. `mean` and `lowest` are Spearman's
    correlations with the first, and `furthest` is the index of the one with the lowest.
    """

    same: float
    mean: float
    lowest: float
    furthest: int


def stability(scores: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> Stability | None:
    """The ranking by `scores` against those by each of `others`, over the same models.

    Equal scores share their mean rank. None with fewer than three models, or where one way of scoring finds
    all of them equal.
    """
    rhos = [correlations(scores, other)["spearman"] for other in others] if len(scores) >= FEWEST else []
    known = [value for value in rhos if value is not None]
    centre = mean(known)
    if centre is None or len(known) < len(others):
        return None
    lowest = min(known)
    same = 100 * sum(value > 1 - 1e-9 for value in known) / len(known)
    return Stability(same=same, mean=centre, lowest=lowest, furthest=known.index(lowest))
