"""The two parts of a gap between languages, by hand and by scipy; stratified samples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy

from equipoise.stats.language_gap import ScoresByLanguage, split_gaps
from equipoise.stats.sampling import stratified

BOTH = ("aa", "bb")


def question(aa: float, ab: float, bb: float, ba: float) -> ScoresByLanguage:
    """The reply in aa judged in aa and in bb, then that in bb."""
    return {("aa", "aa"): aa, ("aa", "bb"): ab, ("bb", "bb"): bb, ("bb", "aa"): ba}


def test_parts_by_hand() -> None:
    """Each part is the mean of two differences; a question without one of its scores is left out."""
    questions = [question(100, 80, 40, 70), question(90, 80, 50, 60), {("aa", "aa"): 0.0, ("bb", "bb"): 99.0}]
    [split] = split_gaps(questions, BOTH, BOTH)
    assert (split.gap.value, split.gap.n) == (50, 2)
    expected_said = [(100 - 70 + 80 - 40) / 2, (90 - 60 + 80 - 50) / 2]
    expected_judged = [(100 - 80 + 70 - 40) / 2, (90 - 80 + 60 - 50) / 2]
    for part, differences in ((split.said, expected_said), (split.judged, expected_judged)):
        limits = scipy.stats.ttest_1samp(differences, 0).confidence_interval(0.95)
        assert (part.value, part.low, part.high) == pytest.approx((np.mean(differences), *limits))
    [split] = split_gaps([question(100, 80, 40, 70), question(90, 90, 50, 60)], BOTH, ["bb"])
    assert (split.said.value, split.judged.value, split.gap.value) == (40, 10, 50)
    assert split_gaps([question(1, 1, 1, 1)], BOTH, []) == []


def test_strata_are_in_proportion() -> None:
    """Within one of each stratum's share, whatever the seed, which gives the same sample again."""
    items = [(area, str(n)) for area, many in (("a", 60), ("b", 30), ("c", 10)) for n in range(many)]
    for seed in range(20):
        sample = stratified(items, lambda item: item[:1], 20, seed)
        counts = Counter(area for area, _ in sample)
        assert (counts["a"], counts["b"], counts["c"]) == (12, 6, 2)
        assert sample == stratified(items, lambda item: item[:1], 20, seed)
        assert len(set(sample)) == 20
    assert sorted(stratified(items, lambda item: item[:1], 1000, 0)) == sorted(items)
