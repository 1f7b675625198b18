"""How far a ranking of models depends on choices in their scoring, such as weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.stats import mean
from equipoise.stats.agreement import correlations

FEWEST = 3
"""The minimum number of models for a rank correlation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far other ways of scoring models agree with the first one on their ranking.

    `same` is the percentage of the other ways, 0 to 100, that give exactly the same ranking. `mean` and
    `lowest` are of their Spearman correlations with the first, and `furthest` is the index of the way with
    the lowest.
    """

    same: float
    mean: float
    lowest: float
    furthest: int


def stability(scores: Mapping[str, float], others: Sequence[Mapping[str, float]]) -> Stability | None:
    """The ranking by `scores` against those by each of `others`, over the same models.

    Equal scores share their mean rank. None with fewer than FEWEST models, or if one way of scoring gives all
    of them the same score.
    """
    rhos = [correlations(scores, other)["spearman"] for other in others] if len(scores) >= FEWEST else []
    known = [value for value in rhos if value is not None]
    centre = mean(known)
    if centre is None or len(known) < len(others):
        return None
    lowest = min(known)
    same = 100 * sum(value > 1 - 1e-9 for value in known) / len(known)
    return Stability(same=same, mean=centre, lowest=lowest, furthest=known.index(lowest))
