"""Checks of questions, and what of distractors gives an answer away, beyond the planted faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from equipoise.suites.chinese_simpleqa.checks import letter_imbalance, lint, rank_imbalance
from equipoise.suites.findings import Finding


def findings(folder: Path, *rows: dict[str, Any]) -> list[str]:
    """The findings on a file of these questions, without its name."""
    path = folder / "questions.jsonl"
    numbered = [{"id": f"q{number}", **row} for number, row in enumerate(rows, start=1)]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in numbered), encoding="utf-8")
    return [str(item).removeprefix(f"{path}:") for item in lint(path) if isinstance(item, Finding)]


UNDATED = "counts articles and names no version of the text; say which one"
ABOUT = "asks for about how many, where one figure is right; ask for the figure"
ANOTHER_DAY = "the variant '1922.12.18' is another day than '1922年12月17日'; correct one"
OF_1992 = ["1992年6月1日", "1993年1月1日", "1994年3月2日"]
DAYS = ["17 December 1922", "民国11年12月17日", "１９２２年", "一九二二年十二月十七日", "1922-12-17"]
ROWS: list[tuple[str, list[str], list[str], str, str | None]] = [
    # Options that are alike: names, titles, numbers in either kind of figures, dates that share the year.
    ("茶圣是谁？", ["陆羽", "陸羽"], ["皎然", "卢仝", "蔡襄"], "person", None),
    ("哪部书？", ["《茶经》"], ["《茶录》", "《大观茶论》", "《煎茶水记》"], "work", None),
    ("多少米？", ["1,410米", "1410"], ["998米", "1280.5米", "1991米"], "number", None),
    ("第几卷？", ["卷十六"], ["卷三", "卷十一", "卷一百零二"], "number", None),
    ("1992年的条约何日生效？", ["1992年5月5日"], OF_1992, "date", None),
    ("编号是什么？", ["B"], ["A", "C", "D"], "term", None),
    # Variants of a date are the same day, and may say more or less of it.
    ("何日？", ["1922年12月17日", *DAYS], [], "date", None),
    ("何日？", ["5月21日", "1902年5月21日"], [], "date", None),
    ("何日？", ["1922年12月17日", "1922.12.18"], [], "date", ANOTHER_DAY),
    # Articles of a law are those of one version, and a figure is not asked for roughly.
    ("2002年发布的《条例》共有多少条？", ["8"], [], "number", UNDATED),
    ("2002年发布的《条例》，经2018年修订后共有多少条？", ["8"], [], "number", None),
    ("2002年发布的《条例》，发布时的文本共几条？", ["8"], [], "number", None),
    ("章鱼有几条腕？", ["8"], [], "number", None),
    ("样品约有多少克？", ["8"], [], "number", ABOUT),
    ("北约有多少成员国签了名？", ["8"], [], "number", None),
]


def test_what_is_found_of_a_question(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """At its line."""
    for question, (answer, *variants), distractors, kind, says in ROWS:
        row = {"question": question, "answer": answer, "variants": variants, "kind": kind}
        with subtests.test(question, answer=answer):
            complaints = findings(tmp_path, {**row, "distractors": distractors})
            assert complaints == ([] if says is None else [f"1: {says}"])


def test_what_is_found_of_all_questions(tmp_path: Path) -> None:
    """A question's at its line, the balance of all at the first."""
    row = {"answer": "2", "kind": "number", "distractors": ["1", "3", "4"]}
    rows: list[dict[str, Any]] = [{**row, "question": f"第{number}问多少？"} for number in range(10, 31)]
    rows[4]["distractors"] = ["1", "3个", "4"]
    assert findings(tmp_path, *rows) == [
        "5: the distractor '3个' is not written like the answer '2'; write it alike",
        "1: the answer is option B in 100 % of the questions; change their distractors",
        "1: of 21 right numbers 21 have rank 2 of 4 by size; change the distractors",
    ]


def test_answers_stand_in_every_place_and_have_every_rank() -> None:
    """Up to two in five in one place, of twenty or more; options without digits have no rank."""
    letters = ([0, 1, 2, 3] * 5, [1] * 19, [1] * 8 + [0, 2, 3] * 4)
    assert [[*letter_imbalance(indices)] for indices in letters] == [[], [], []]
    (complaint,) = letter_imbalance([1] * 9 + [0, 2, 3] * 3 + [0, 2])
    assert complaint == "the answer is option B in 45 % of the questions; change their distractors"
    smallest, third = ("1.5", "2", "3", "1,000"), ("5月3日", "5月1日", "5月2日", "12月1日")
    rest = [third] * 8 + [("9", "2", "3", "4")] * 4
    assert list(rank_imbalance([smallest] * 19 + [("一", "2", "3", "4")])) == []
    assert list(rank_imbalance([smallest] * 8 + rest)) == []
    (complaint,) = rank_imbalance([smallest] * 9 + rest[1:])
    assert complaint == "of 20 right numbers 9 have rank 1 of 4 by size; change the distractors"
