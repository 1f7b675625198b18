"""Checks of questions, and what of distractors gives an answer away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equipoise.suites.chinese_simpleqa.checks import (
    date_faults,
    distractor_faults,
    letter_imbalance,
    lint,
    rank_imbalance,
)
from equipoise.suites.findings import Finding


def test_options_that_are_alike_pass(subtests: pytest.Subtests) -> None:
    """Names, titles, numbers in either kind of figures, dates that share the year of the question."""
    for question, accepted, wrong, kind in (
        ("茶圣是谁？", ["陆羽", "陸羽"], ["皎然", "卢仝", "蔡襄"], "person"),
        ("哪部书？", ["《茶经》"], ["《茶录》", "《大观茶论》", "《煎茶水记》"], "work"),
        ("多少米？", ["1,410米", "1410"], ["998米", "1280.5米", "1991米"], "number"),
        ("第几卷？", ["卷十六"], ["卷三", "卷十一", "卷一百零二"], "number"),
        (
            "1992年的条约何日生效？",
            ["1992年5月5日"],
            ["1992年6月1日", "1993年1月1日", "1994年3月2日"],
            "date",
        ),
        ("编号是什么？", ["B"], ["A", "C", "D"], "term"),
    ):
        with subtests.test(accepted=accepted):
            assert list(distractor_faults(question, accepted, wrong, kind)) == []


def test_answers_stand_in_every_place() -> None:
    """Up to two in five in one place, of twenty questions or more."""
    assert list(letter_imbalance([0, 1, 2, 3] * 5)) == []
    assert list(letter_imbalance([1] * 19)) == []
    assert list(letter_imbalance([1] * 8 + [0, 2, 3] * 4)) == []
    (found,) = letter_imbalance([1] * 9 + [0, 2, 3] * 4)
    assert found == "the answer is option B in 43 % of the questions; change their distractors"


def test_the_right_number_is_of_no_one_rank() -> None:
    """Options without digits do not count, and few questions tell nothing."""
    smallest, third = ("1.5", "2", "3", "1,000"), ("5月3日", "5月1日", "5月2日", "12月1日")
    assert list(rank_imbalance([smallest] * 19 + [("一", "2", "3", "4")])) == []
    assert list(rank_imbalance([smallest] * 8 + [third] * 8 + [("9", "2", "3", "4")] * 4)) == []
    (found,) = rank_imbalance([smallest] * 9 + [third] * 8 + [("9", "2", "3", "4")] * 4)
    assert found == "of 21 right numbers 9 have rank 1 of 4 by size; change the distractors"


def test_a_variant_of_a_date_is_the_same_day() -> None:
    """It may say more or less, in words or by another calendar."""
    same = ("1922-12-17", "17 December 1922", "民国11年12月17日", "１９２２年", "一九二二年十二月十七日")
    assert list(date_faults("1922年12月17日", same)) == []
    assert list(date_faults("5月21日", ["1902年5月21日"])) == []
    (found,) = date_faults("1922年12月17日", ["1922.12.18"])
    assert found == "the variant '1922.12.18' is another day than '1922年12月17日'; correct one"


def test_both_are_told_of_a_file(tmp_path: Path) -> None:
    """A question's at its line, the balance at the first."""
    row = {"question": "多少？", "answer": "2", "kind": "number", "distractors": ["1", "3", "4"]}
    rows = [{**row, "id": f"q{number}", "question": f"第{number}问多少？"} for number in range(10, 31)]
    rows[4]["distractors"] = ["1", "3个", "4"]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(item, ensure_ascii=False) for item in rows), encoding="utf-8")
    found = [str(item) for item in lint(path) if isinstance(item, Finding)]
    assert found == [
        f"{path}:5: the distractor '3个' is not written like the answer '2'; write it alike",
        f"{path}:1: the answer is option B in 100 % of the questions; change their distractors",
        f"{path}:1: of 21 right numbers 21 have rank 2 of 4 by size; change the distractors",
    ]


def test_a_number_is_asked_for_without_doubt(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Articles of a law are those of one version, and a figure is not asked for roughly."""
    undated = "counts articles and names no version of the text; say which one"
    about = "asks for about how many, where one figure is right; ask for the figure"
    for question, says in (
        ("2002年发布的《条例》共有多少条？", [undated]),
        ("2002年发布的《条例》，经2018年修订后共有多少条？", []),
        ("2002年发布的《条例》，发布时的文本共几条？", []),
        ("章鱼有几条腕？", []),
        ("样品约有多少克？", [about]),
        ("北约有多少成员国签了名？", []),
    ):
        path = tmp_path / "questions.jsonl"
        path.write_text(json.dumps({"id": "q", "question": question, "answer": "8"}), encoding="utf-8")
        with subtests.test(question):
            found = [str(item) for item in lint(path) if isinstance(item, Finding)]
            assert found == [f"{path}:1: {text}" for text in says]
