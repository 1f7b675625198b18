"""Rankings of models under other ways of scoring."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from equipoise.stats.ranking import stability

OWN = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}


def test_rankings_are_compared_with_the_first() -> None:
    """The share that is the same, Spearman's correlations, and which one is furthest off."""
    same = {name: value**3 for name, value in OWN.items()}
    swapped = {**OWN, "c": 4.0, "d": 3.0}
    turned = {name: -value for name, value in OWN.items()}
    agreement = stability(OWN, [same, swapped])
    assert agreement is not None
    assert astuple(agreement) == (50, pytest.approx(0.9), pytest.approx(0.8), 1)
    agreement = stability(OWN, [same, turned, swapped])
    assert agreement is not None
    assert (agreement.lowest, agreement.furthest) == (pytest.approx(-1), 1)  # type: ignore[comparison-overlap]
    agreement = stability(OWN, [{**OWN, "c": 4.0}])
    assert agreement is not None
    assert (agreement.same, agreement.lowest) == (0, pytest.approx(0.948683))  # type: ignore[comparison-overlap]


def test_without_a_ranking_nothing_is_compared() -> None:
    """Fewer than three models, no other way of scoring, or one that finds all of them equal."""
    assert stability({"a": 1.0, "b": 2.0}, [{"a": 1.0, "b": 2.0}]) is None
    assert stability(OWN, []) is None
    assert stability(OWN, [OWN, dict.fromkeys(OWN, 1.0)]) is None
    assert stability(dict.fromkeys(OWN, 1.0), [OWN]) is None
