"""Rankings of models under other ways of scoring."""

from __future__ import annotations

import pytest

from equipoise.stats.ranking import Stability, stability

OWN = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}


def test_rankings_are_compared_with_the_first() -> None:
    """The share that is the same, Spearman's correlations, and which one is furthest off.

    A tie where there was an order is not the same ranking.
    """
    same = {name: value**3 for name, value in OWN.items()}
    swapped = {**OWN, "c": 4.0, "d": 3.0}
    turned = {name: -value for name, value in OWN.items()}
    assert stability(OWN, [same, swapped]) == Stability(
        same=50, mean=pytest.approx(0.9), lowest=pytest.approx(0.8), furthest=1
    )
    found = stability(OWN, [same, turned, swapped])
    assert found is not None
    assert (found.lowest, found.furthest) == (pytest.approx(-1), 1)
    found = stability(OWN, [{**OWN, "c": 4.0}])
    assert found is not None
    assert (found.same, found.lowest) == (0, pytest.approx(0.948683))


def test_without_a_ranking_nothing_is_compared() -> None:
    """Fewer than three models, no other way of scoring, or one that finds all of them equal."""
    assert stability({"a": 1.0, "b": 2.0}, [{"a": 1.0, "b": 2.0}]) is None
    assert stability(OWN, []) is None
    assert stability(OWN, [OWN, dict.fromkeys(OWN, 1.0)]) is None
    assert stability(dict.fromkeys(OWN, 1.0), [OWN]) is None
