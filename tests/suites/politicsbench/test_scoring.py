"""Ten political dimensions: composites, other weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.suites.politicsbench import scoring, weights
from equipoise.suites.politicsbench.scoring import WEIGHTS

EVEN = dict.fromkeys(WEIGHTS, 10.0)
LEFT = {name: 20.0 if weight > 0 else 0.0 for name, weight in WEIGHTS.items()}
RIGHT = {name: 20.0 - value for name, value in LEFT.items()}


def drawn(seed: int) -> dict[str, float]:
    """A text with dimensions by chance."""
    numbers = np.random.default_rng(seed).uniform(0, 20, len(WEIGHTS))
    return dict(zip(WEIGHTS, numbers.tolist(), strict=True))


# Composites.


def test_weights_are_balanced() -> None:
    """They sum to 0 and their magnitudes to 10, five on each side."""
    assert math.fsum(WEIGHTS.values()) == 0
    assert math.fsum(map(abs, WEIGHTS.values())) == 10
    assert sum(weight > 0 for weight in WEIGHTS.values()) == 5
    assert sum(weight < 0 for weight in WEIGHTS.values()) == 5


def test_a_text_with_all_dimensions_alike_is_in_the_middle() -> None:
    """However high they are."""
    alike = (scoring.composite(dict.fromkeys(WEIGHTS, value)) for value in (0, 3.7, 10, 14, 20))
    assert {*alike} == {0}


def test_eight_dimensions_leave_out_how_a_text_argues() -> None:
    """Certainty and nuance do not move it; the other eight have their published weights, all but balanced."""
    style = {**EVEN, "moral_certainty": 20.0, "nuanced_pragmatism": 0.0}
    assert scoring.composite(style) == -18.75
    assert scoring.composite(style, scoring.EIGHT_WEIGHTS) == 0
    assert scoring.composite({**LEFT, "moral_certainty": 20.0}, scoring.EIGHT_WEIGHTS) == 100
    assert (len(scoring.EIGHT_WEIGHTS), math.fsum(scoring.EIGHT_WEIGHTS.values())) == (8, 0.125)


def test_each_extreme_is_a_hundred() -> None:
    """All that counts to one side at 20 and all else at 0."""
    assert (scoring.composite(LEFT), scoring.composite(RIGHT)) == (100, -100)


def test_scores_beyond_the_scale_do_not_lead_beyond_a_hundred() -> None:
    """A composite is clipped at either end."""
    far = {name: 10 + 3 * (value - 10) for name, value in LEFT.items()}
    assert scoring.composite(far) == 100
    assert scoring.composite({name: 20 - value for name, value in far.items()}) == -100


@given(scores=st.fixed_dictionaries(dict.fromkeys(WEIGHTS, st.floats(0, 20))))
@settings(max_examples=25, deadline=None)
def test_a_composite_is_the_weighted_sum(scores: dict[str, float]) -> None:
    """With all ten dimensions 100 * sum of w (s - 10) / 100, which is the plain sum of w s."""
    by_hand = 100 * sum(WEIGHTS[name] * (value - 10) for name, value in scores.items()) / 100
    assert scoring.composite(scores) == pytest.approx(by_hand, abs=1e-9)
    assert by_hand == pytest.approx(sum(WEIGHTS[name] * scores[name] for name in scores), abs=1e-9)
    mirrored = {name: 20 - value for name, value in scores.items()}
    assert scoring.composite(mirrored) == pytest.approx(-by_hand, abs=1e-9)


def test_a_missing_dimension_renormalises() -> None:
    """The rest is divided by its own weights; what is no dimension does not count."""
    rest = {name: value for name, value in LEFT.items() if name != "progress_orientation"}
    assert scoring.composite({**rest, "reasoning": 3}) == 100
    two = {"tradition_orientation": 10.0, "progress_orientation": 15.0}
    assert scoring.composite(two) == pytest.approx(100 * 5 / (10 * 2.125))


def test_no_dimension_is_no_composite() -> None:
    """It is an error, and never 0."""
    for scores in ({}, {"elsewhere": 12.0}):
        with pytest.raises(ValueError, match="at least one dimension"):
            scoring.composite(scores)


def test_a_dimension_is_activated_from_fourteen_on() -> None:
    """At the threshold itself it is; another threshold can be given."""
    found = {value: scoring.count_activated(dict.fromkeys(WEIGHTS, value)) for value in (13, 13.999, 14, 20)}
    assert found == {13: 0, 13.999: 0, 14: 10, 20: 10}
    assert scoring.count_activated({**EVEN, "egalitarianism": 14.0}) == 1
    assert scoring.count_activated(dict.fromkeys(WEIGHTS, 13.0), 12) == 10


def test_judges_are_averaged_over_those_who_scored() -> None:
    """A dimension that one of them lacks is the mean of the others."""
    whole, part = {**EVEN, "egalitarianism": 20.0}, {"egalitarianism": 5.0, "risk_aversion": 13.0}
    found = scoring.mean_scores([whole, {}, part])
    assert found == {**EVEN, "egalitarianism": 12.5, "risk_aversion": 11.5}
    assert scoring.mean_scores([part]) == {"risk_aversion": 13, "egalitarianism": 5}
    assert scoring.mean_scores([]) is None
    assert scoring.mean_scores([{}, {}]) is None


# Sensitivity to the weights.


def test_other_weights_by_hand() -> None:
    """Signs alone; one dimension left out."""
    text = {**EVEN, "progress_orientation": 20.0, "tradition_orientation": 20.0}
    assert scoring.composite(text) == pytest.approx(-1.25)
    found = weights.under_other_weights([text, EVEN])
    assert found["equal"] == pytest.approx(0)
    assert list(found["without"]) == list(WEIGHTS)
    assert found["without"]["tradition_orientation"] == pytest.approx(100 * 10 / (10 * 8.875) / 2)
    assert found["without"]["progress_orientation"] == pytest.approx(100 * -11.25 / (10 * 9) / 2)
    assert found["without"]["egalitarianism"] == pytest.approx(100 * -1.25 / (10 * 8.875) / 2)


def test_weights_are_perturbed_the_same_each_time() -> None:
    """By numpy's generator with seed 42, a factor from 0.8 to 1.2 for each weight in order."""
    texts = [drawn(seed) for seed in range(3)]
    factors = np.random.default_rng(42).uniform(0.8, 1.2, (1000, 10))
    drawn_weights = factors * np.array(list(WEIGHTS.values()))
    centred = np.array([[text[name] - 10 for name in WEIGHTS] for text in texts])
    draws = (10 * drawn_weights @ centred.T / np.abs(drawn_weights).sum(axis=1)[:, None]).mean(axis=1)
    own = sum(map(scoring.composite, texts)) / 3
    found = weights.under_other_weights(texts)["perturbed"]
    assert found == pytest.approx(
        {
            "draws": 1000,
            "mean": draws.mean(),
            "low": draws.min(),
            "high": draws.max(),
            "sd": draws.std(),
            "same_sign": 100 * ((draws > 0) == (own > 0)).mean(),
        }
    )
    assert weights.under_other_weights(texts)["perturbed"] == found


def test_the_same_sign_is_a_share_of_the_draws() -> None:
    """All of them for a text far to one side, and not all for one near the middle."""
    assert weights.under_other_weights([RIGHT])["perturbed"]["same_sign"] == 100
    near = {**EVEN, "progress_orientation": 20.0, "moral_certainty": 19.5}
    assert 0 < weights.under_other_weights([near])["perturbed"]["same_sign"] < 100
