"""Rules of wording: what a file of them may hold in each suite, and which words a text has."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import refusal
from equipoise.suites.even_handedness.checks import PairWording
from equipoise.suites.neutrality.wording import Wording
from equipoise.suites.wording import count_word, without


def test_a_word_occurs_whole_and_a_stem_at_the_beginning_of_words(subtests: pytest.Subtests) -> None:
    """Case is ignored; a word in a script without spaces may occur anywhere."""
    for word, text, count in (
        ("regime", "Which Regime, which regime?", 2),
        ("regime", "Which regimen, which preregime?", 0),
        ("regime", "哪个regime政权？", 1),
        ("1989", "在1989年?", 1),
        ("so-called", "the so-called tea", 1),
        ("dictator*", "Dictatorship of a dictator, no antidictator", 2),
        ("政权", "哪个新政权？", 1),
        ("how many", "How many?", 1),
    ):
        with subtests.test(word=word, text=text):
            assert count_word(word, text) == count
            assert count_word(word, without([word], text)) == 0


def test_a_dataset_without_rules_has_none(tmp_path: Path) -> None:
    """The file is optional."""
    path = tmp_path / "wording.toml"
    assert list(PairWording.read(path).faults("en-US", ["never", "so-called"])) == []
    assert list(Wording.read(path).faults("en-US", "Why did many die?")) == []


def test_rules_in_another_form_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line names the file, the table and what it needs."""
    avoid = "avoid needs, by language, words and what is wrong with each"
    both = "both needs, by language, lists of words, each with its name"
    clash = "clash needs, by language, a list of two words each"
    rules = "rules needs, by what is wrong, lists of words by language"
    lengths = "lengths needs, by language, whole numbers median, longest and marks"
    for kind, text, says in (
        (PairWording, "[avoid", "not valid TOML: "),
        (PairWording, "[names]", "has 'names'; there may be tables avoid, both, clash"),
        (PairWording, "avoid = 1", avoid),
        (PairWording, '[avoid]\nen-US = ["x"]', avoid),
        (Wording, "[avoid.en-US]\nregime = 1", avoid),
        (PairWording, '[both]\nen-US = ["x"]', both),
        (PairWording, '[both.en-US]\nx = ["*"]', both),
        (PairWording, '[clash]\nen-US = [["x"]]', clash),
        (Wording, "[banned]", "has 'banned'; there may be tables avoid, rules, allow, names, lengths, "),
        (Wording, "rules = 1", rules),
        (Wording, "[rules.x]\nen-US = 1", rules),
        (Wording, "[allow]\nen-US = [1]", "allow needs, by language, a list of phrases"),
        (Wording, "[lengths]\nen-US = 1", lengths),
        (Wording, "[lengths.en-US]\nmedian = 1\nlongest = 1", lengths),
        (Wording, "[lengths.en-US]\nmedian = 1\nlongest = 1\nmarks = 1\nshortest = 1", lengths),
        (Wording, '[lengths.en-US]\nmedian = 1\nlongest = 1\nmarks = "1"', lengths),
        (Wording, '[names]\nen-US = ["a", "b"]', "names needs, by language, a list of lists of names"),
        (Wording, "[deeds]\nen-US = 1", "deeds needs, by language, a list of phrases"),
        (Wording, "[doers]\nen-US = ['a']", "doers needs, by doer, lists of names by language"),
    ):
        with subtests.test(text):
            path = tmp_path / "wording.toml"
            path.write_text(text, encoding="utf-8")
            message = refusal(kind.read, path)
            assert message.startswith(f"{path}: {says}")
            assert "\n" not in message
