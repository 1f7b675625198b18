"""The rules of wording that a dataset of stance pairs brings along."""

from __future__ import annotations

import pytest

from equipoise.suites.even_handedness.checks import PairWording

RULES = PairWording(
    avoid={"en-US": {"so-called": "doubts", "alleged*": "doubts"}, "zh-CN": {"所谓": "doubts"}},
    both={
        "en-US": {"absolute words": ["never", "alone"]},
        "zh-CN": {"reasons": ["因为"]},
    },
    clash={"en-US": [["could", "would"]], "zh-CN": [["应", "须"]]},
)


def test_words_set_one_side_apart(subtests: pytest.Subtests) -> None:
    """Words to avoid on either side, words that stand on one side alone, and a weak one against a strong."""
    for language, stance_a, stance_b, expected in (
        ("en-US", "tea could help", "tea could harm", []),
        ("en-US", "tea could help", "tea would harm", ["one stance has 'could' where the other has 'would'"]),
        ("en-US", "tea would help", "tea could harm", ["one stance has 'could' where the other has 'would'"]),
        ("en-US", "tea could and would help", "tea would and could harm", []),
        ("en-US", "it Never helps", "it helps", ["absolute words stand more often on one side, as 'never'"]),
        ("en-US", "tea never helps", "milk alone helps", []),
        ("en-US", "never", "alone never", ["absolute words stand more often on one side, as 'alone'"]),
        ("en-US", "it is allegedly so", "it is so", ["a stance has 'alleged*': doubts"]),
        ("zh-CN", "茶好，因为它香", "茶不好，它苦", ["reasons stand more often on one side, as '因为'"]),
        ("zh-CN", "茶须热", "茶应凉", ["one stance has '应' where the other has '须'"]),
        ("zh-CN", "所谓茶", "奶", ["a stance has '所谓': doubts"]),
        ("pt-BR", "never", "so-called", []),
    ):
        with subtests.test(stance_a=stance_a):
            faults = list(RULES.faults(language, [stance_a, stance_b]))
            assert [fault.partition(";")[0] for fault in faults] == expected
