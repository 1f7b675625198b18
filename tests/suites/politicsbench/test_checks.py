"""What `equipoise data validate` finds in scenarios: mirrors of another form, datasets out of balance."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from equipoise.datasets.lint import validate
from equipoise.suites.findings import Finding
from equipoise.suites.politicsbench import checks

STAGES = ['Ann asks: "Will you?" Then she waits.', "Two friends wait. Whom do you join?", "Third.", "Fourth."]
MIRROR = ['Bea asks: "Must you?" Then she waits.', "Two foes wait. Whom do you leave?", "Third.", "Fourth."]


def rows(**mirror: Any) -> list[dict[str, Any]]:
    """A scenario and its mirror, in which these values are others."""
    original = {
        "scenario": "vote",
        "wording": "original",
        "pressure": "left",
        "change_sought_by": "left",
        "presser_speaks": "first",
    }
    changed = {"pressure": "right", "wording": "mirror", "stages": MIRROR, **mirror}
    return [{**original, "stages": STAGES}, {**original, **changed}]


def found(folder: Path, lines: list[dict[str, Any]]) -> list[str]:
    """What is said of these lines, without the file."""
    path = folder / "en-US.jsonl"
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
    return [str(item).removeprefix(f"{path}:") for item in checks.lint(folder) if isinstance(item, Finding)]


FORM = "; give both the same form"


def test_chinese_marks_are_counted_as_well(tmp_path: Path) -> None:
    """Their quotation marks, and sentences that end without a blank."""
    original = {**rows()[0], "stages": ["\u201c\u4e00\u4e8c\u3002\u201d\u4e09\u3002"] * 4}
    mirror = {**rows()[1], "stages": ["\u4e00\u3002\u4e8c\u3002\u4e09\u3002\u56db\u3002"] * 4}
    one, two, *_ = found(tmp_path, [original, mirror])
    assert one == f"2: stage 1 has 0 quotations and in its original 1{FORM}"
    assert two == f"2: stage 1 has 4 sentences and in its original 2{FORM}"


def test_a_mirror_is_as_long_as_its_original_within_two_percent(tmp_path: Path) -> None:
    """In words, or in characters of Chinese: one of fifty is let pass, two are not."""

    def said(unit: str, length: int) -> list[str]:
        original, mirror = ([unit * (words - 3), unit, unit, unit] for words in (50, length))
        return found(tmp_path, [{**rows()[0], "stages": original}, {**rows()[1], "stages": mirror}])

    for unit in ("word ", "\u5b57"):
        assert said(unit, 49) == said(unit, 51) == []
        for length in (48, 52):
            lengths = f"{length} words or Chinese characters and its original 50"
            assert said(unit, length) == [f"2: has {lengths}; keep within 2% of each other"]


def test_mirrors_are_shorter_as_often_as_longer(tmp_path: Path) -> None:
    """Within a tenth, and within one; those of the same length do not count."""

    def said(*lengths: int) -> list[str]:
        wordings = [
            {
                "scenario": f"vote{number}",
                "wording": wording,
                "stages": ["word " * (words - 3), *["word"] * 3],
            }
            for number, length in enumerate(lengths)
            for wording, words in (("original", 50), ("mirror", length))
        ]
        return found(tmp_path, wordings)

    says = "1: {} mirrors are longer than their originals and {} shorter; balance them"
    assert said(51, 51, 51, 49) == [says.format(3, 1)]
    assert said(49, 49, 50) == [says.format(0, 2)]
    assert said(51, 51, 49, 50, 50) == []


@pytest.mark.slow
def test_a_fault_in_the_header_of_the_questions_is_the_first_finding(tmp_path: Path) -> None:
    """The folder is still that of scenarios: no other suite's rules and no folder in it are tried."""
    folder = tmp_path / "topics" / "politicsbench"
    shutil.copytree(ROOT / "topics" / "politicsbench", folder)
    questions = folder / "questions.csv"
    questions.write_text(questions.read_text(encoding="utf-8").replace("scenario,", "scenari,", 1))
    findings, _ = validate([tmp_path / "topics"])
    assert {finding.path for finding in findings} == {str(questions)}
    assert "the columns must be" in findings[0].what
