"""Consistency across languages: gaps by question, differences by pair, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy

from equipoise.stats.consistency import Consistency, consistency, largest_gaps

Runs = dict[str, dict[str, Sequence[float]]]

GIVEN: Runs = {
    "q": {"en": [1, 3], "zh": [4, 4], "fa": [3]},
    "r": {"en": [5, 5], "zh": [1, 2]},
    "s": {"en": [2], "zh": [3], "fa": [2]},
    "t": {"en": [4], "zh": [4], "fa": []},
}


def simulated(seed: int, questions: int, moves: Sequence[float], runs: int = 5) -> Runs:
    """Questions in three languages: their own level, so much more in each, and the chance of runs."""
    chance = np.random.default_rng(seed)
    level = chance.normal(3, 1, (questions, 1, 1)) + np.array(moves)[None, :, None]
    scores = (level + chance.normal(0, 0.8, (questions, 3, runs))).tolist()
    return {
        f"q{number}": dict(zip(("en", "zh", "fa"), by_language, strict=True))
        for number, by_language in enumerate(scores)
    }


def names(comparison: Consistency, n: int) -> list[str]:
    """The questions of the largest gaps."""
    return [gap.question for gap in largest_gaps(comparison, n)]


def test_gaps_by_hand() -> None:
    """Means 2, 4, 3 spread over 2; runs 1 and 3, 4 and 4 have squared errors of 1 and 0, single ones none."""
    gap, _, single, _ = consistency(GIVEN).gaps
    assert (gap.question, gap.means, gap.spread) == ("q", {"en": 2, "zh": 4, "fa": 3}, 2)
    assert gap.sd == pytest.approx(math.sqrt(2 / 3), rel=1e-9)
    assert gap.noise == pytest.approx(math.sqrt(2 / 3 * (1 + 0) / 2), rel=1e-9)
    assert (single.spread, single.noise) == (1, None)


def test_question_missing_in_a_language_has_the_gap_of_the_others() -> None:
    """An empty language is as good as none, and stays out of the mean spread."""
    comparison = consistency(GIVEN)
    assert [gap.spread for gap in comparison.gaps] == [2, 3.5, 1, 0]
    assert [*comparison.gaps[3].means] == ["en", "zh"]
    assert comparison.spread.value == pytest.approx((2 + 1) / 2, rel=1e-9)
    assert comparison.spread.n == 2


def test_largest_gaps_come_first() -> None:
    """No more than asked for and no more than there are; equals in the given order."""
    comparison = consistency(GIVEN)
    assert [names(comparison, n) for n in (2, 9, 0)] == [["r", "q"], ["r", "q", "s", "t"], []]
    runs: Runs = {name: {"en": [1], "zh": [2]} for name in "cab"}
    assert names(consistency(runs), 3) == ["c", "a", "b"]


def test_pairs_have_the_paired_t_test_of_question_means() -> None:
    """As scipy does it: difference, limits and p of the first language less the second."""
    runs = simulated(2, 25, moves=(0, 0.3, 0.6))
    means = {
        language: [np.mean(by_language[language]) for by_language in runs.values()]
        for language in ("en", "zh", "fa")
    }
    for pair in consistency(runs).pairs:
        expected = scipy.stats.ttest_rel(means[pair.first], means[pair.second])
        limits = expected.confidence_interval()
        assert pair.value == pytest.approx(np.mean(means[pair.first]) - np.mean(means[pair.second]), rel=1e-9)
        assert pair.low == pytest.approx(limits.low, rel=1e-9)
        assert pair.high == pytest.approx(limits.high, rel=1e-9)
        assert pair.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_pairs_are_compared_on_the_questions_that_both_have() -> None:
    """Every two languages once, the one met earlier first; English and Farsi share two, -1 and 0 apart."""
    pairs = consistency(GIVEN).pairs
    assert [(pair.first, pair.second) for pair in pairs] == [("en", "zh"), ("en", "fa"), ("zh", "fa")]
    assert (pairs[1].value, pairs[1].n, pairs[1].unpaired) == (-0.5, 2, 2)


def test_one_language_has_neither_gaps_nor_pairs() -> None:
    """There is nothing to be consistent with, which is not consistency."""
    comparison = consistency({"q": {"en": [1, 2]}, "r": {"en": [4]}})
    assert [(gap.means, gap.spread, gap.sd, gap.noise) for gap in comparison.gaps] == [
        ({"en": 1.5}, None, None, None),
        ({"en": 4}, None, None, None),
    ]
    assert (comparison.pairs, largest_gaps(comparison, 3)) == ((), [])
    assert (comparison.spread.value, comparison.spread.reason) == (None, "fewer than 2 languages")
    nothing = consistency({})
    assert (nothing.gaps, nothing.pairs, nothing.spread.value) == ((), (), None)


def test_pair_without_p_is_not_counted_by_holm() -> None:
    """Of three pairs one has no interval, and says why, so the smallest p is doubled, not tripled."""
    runs = simulated(4, 12, moves=(0, 0.5, 0))
    for by_language in runs.values():
        by_language["fa"] = by_language["en"]
    pairs = consistency(runs).pairs
    assert (pairs[1].value, pairs[1].low, pairs[1].p, pairs[1].p_adjusted) == (0, None, None, None)
    assert pairs[1].reason == "no variation between questions"
    assert pairs[0].p is not None
    assert pairs[0].p_adjusted == pytest.approx(min(1, 2 * pairs[0].p), rel=1e-9)


def test_score_that_is_not_finite_is_refused() -> None:
    """The question is named."""
    with pytest.raises(ValueError, match="a score of 'q' is not a finite number"):
        consistency({"q": {"en": [math.nan], "zh": [1]}})
