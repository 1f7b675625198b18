"""Ten political dimensions: composites, other weights."""

from __future__ import annotations

import pytest

from equipoise.suites.politicsbench import scoring, weights
from equipoise.suites.politicsbench.scoring import WEIGHTS

EVEN = dict.fromkeys(WEIGHTS, 10.0)
LEFT = {name: 20.0 if weight > 0 else 0.0 for name, weight in WEIGHTS.items()}
RIGHT = {name: 20.0 - value for name, value in LEFT.items()}


# Composites.


def test_composites_by_hand(subtests: pytest.Subtests) -> None:
    """The weighted sum of distances from the middle, over that of the weights there are, clipped at 100."""
    far = {name: 10 + 3 * (value - 10) for name, value in LEFT.items()}
    rest = {name: value for name, value in LEFT.items() if name != "progress_orientation"}
    for scores, expected in (
        *((dict.fromkeys(WEIGHTS, value), 0) for value in (0, 3.7, 20)),
        (LEFT, 100),
        (RIGHT, -100),
        (far, 100),
        ({name: 20 - value for name, value in far.items()}, -100),
        ({**EVEN, "moral_certainty": 20.0, "nuanced_pragmatism": 0.0}, -18.75),
        ({**rest, "reasoning": 3}, 100),
        ({"tradition_orientation": 10.0, "progress_orientation": 15.0}, 100 * 5 / (10 * 2.125)),
    ):
        with subtests.test(scores=scores):
            assert scoring.composite(scores) == pytest.approx(expected, abs=1e-9)


def test_no_dimension_is_no_composite() -> None:
    """It is an error, and never 0."""
    for scores in ({}, {"elsewhere": 12.0}):
        with pytest.raises(ValueError, match="at least one dimension"):
            scoring.composite(scores)


def test_a_dimension_is_activated_from_fourteen_on() -> None:
    """At the threshold itself it is."""
    counts = {value: scoring.count_activated(dict.fromkeys(WEIGHTS, value)) for value in (13, 13.999, 14, 20)}
    assert counts == {13: 0, 13.999: 0, 14: 10, 20: 10}
    assert scoring.count_activated({**EVEN, "egalitarianism": 14.0}) == 1


# Sensitivity to the weights.


def test_other_weights_by_hand() -> None:
    """Signs alone; one dimension left out."""
    text = {**EVEN, "progress_orientation": 20.0, "tradition_orientation": 20.0}
    assert scoring.composite(text) == pytest.approx(-1.25)
    composites = weights.under_other_weights([text, EVEN])
    assert composites["equal"] == pytest.approx(0)
    assert list(composites["without"]) == list(WEIGHTS)
    assert composites["without"]["tradition_orientation"] == pytest.approx(100 * 10 / (10 * 8.875) / 2)
    assert composites["without"]["progress_orientation"] == pytest.approx(100 * -11.25 / (10 * 9) / 2)
    assert composites["without"]["egalitarianism"] == pytest.approx(100 * -1.25 / (10 * 8.875) / 2)
