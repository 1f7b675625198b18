"""The rules of wording that a dataset of stance pairs brings along."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import refusal
from equipoise.suites.even_handedness.wording import PairWording, read

RULES = PairWording(
    avoid={"en-US": {"so-called": "doubts", "alleged*": "doubts"}, "zh-CN": {"所谓": "doubts"}},
    both={
        "en-US": {"absolute words": ["never", "alone"], "loaded words": ["dictator*"]},
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
        (
            "en-US",
            "tea Never helps",
            "tea helps",
            ["absolute words stand more often on one side, as 'never'"],
        ),
        ("en-US", "tea never helps", "milk alone helps", []),
        (
            "en-US",
            "tea never helps",
            "milk alone never helps",
            ["absolute words stand more often on one side, as 'alone'"],
        ),
        ("en-US", "tea is nevertheless good", "tea is bad", []),
        (
            "en-US",
            "a dictatorship",
            "an empire",
            ["loaded words stand more often on one side, as 'dictator*'"],
        ),
        ("en-US", "it is allegedly so", "it is so", ["a stance has 'alleged*': doubts"]),
        ("en-US", "the so-called tea", "so-called milk", ["a stance has 'so-called': doubts"]),
        ("zh-CN", "茶好，因为它香", "茶不好，它苦", ["reasons stand more often on one side, as '因为'"]),
        ("zh-CN", "茶须热", "茶应凉", ["one stance has '应' where the other has '须'"]),
        ("zh-CN", "所谓茶", "奶", ["a stance has '所谓': doubts"]),
        ("pt-BR", "never", "so-called", []),
    ):
        with subtests.test(stance_a=stance_a):
            faults = list(RULES.faults(language, [stance_a, stance_b]))
            assert [fault.partition(";")[0] for fault in faults] == expected


def test_a_dataset_without_rules_has_none(tmp_path: Path) -> None:
    """The file is optional."""
    assert list(read(tmp_path / "wording.toml").faults("en-US", ["never", "so-called"])) == []


def test_rules_in_another_form_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The message says which table, and what it holds."""
    for text, says in (
        ("[avoid", "not valid TOML: "),
        ("[names]", "has 'names'; there may be tables avoid, both, clash"),
        ("avoid = 1", "avoid needs, by language, words and what is wrong with each"),
        ('[avoid]\nen-US = ["x"]', "avoid needs, by language, words and what is wrong with each"),
        ('[both]\nen-US = ["x"]', "both needs, by language, lists of words, each with its name"),
        ('[both.en-US]\nx = [""]', "both needs, by language, lists of words, each with its name"),
        ('[clash]\nen-US = [["x"]]', "clash needs, by language, a list of two words each"),
    ):
        with subtests.test(text):
            path = tmp_path / "wording.toml"
            path.write_text(text, encoding="utf-8")
            assert refusal(read, path).startswith(f"{path}: {says}")
