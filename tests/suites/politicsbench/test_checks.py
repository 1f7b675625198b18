"""What `equipoise data validate` finds in scenarios: mirrors of another form, datasets out of balance."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.datasets.lint import validate
from equipoise.suites.findings import Finding
from equipoise.suites.politicsbench import checks


def found(folder: Path, *scenarios: tuple[list[str], list[str]]) -> list[str]:
    """What is said of scenarios and their mirrors, by their stages, without the file."""
    path = folder / "en-US.jsonl"
    lines = [
        {"scenario": f"vote{number}", "wording": wording, "stages": stages}
        for number, scenario in enumerate(scenarios)
        for wording, stages in zip(("original", "mirror"), scenario, strict=True)
    ]
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
    return [str(item).removeprefix(f"{path}:") for item in checks.lint(folder) if isinstance(item, Finding)]


def stages(words: int, unit: str = "word ") -> list[str]:
    """Four stages of so many words in all."""
    return [unit * (words - 3), unit, unit, unit]


def test_chinese_marks_are_counted_as_well(tmp_path: Path) -> None:
    """Their quotation marks, and sentences that end without a blank."""
    original = ["\u201c\u4e00\u4e8c\u3002\u201d\u4e09\u3002"] * 4
    mirror = ["\u4e00\u3002\u4e8c\u3002\u4e09\u3002\u56db\u3002"] * 4
    one, two, *_ = found(tmp_path, (original, mirror))
    assert one == "2: stage 1 has 0 quotations, but 1 in the original; give both the same form"
    assert two == "2: stage 1 has 4 sentences, but 2 in the original; give both the same form"


@pytest.mark.parametrize("unit", ["word ", "\u5b57"])
def test_a_mirror_is_as_long_as_its_original_within_two_percent(tmp_path: Path, unit: str) -> None:
    """In words, or in characters of Chinese: one of fifty is let pass, two are not."""
    for length in (48, 49, 51, 52):
        says = (
            f"2: has {length} words or Chinese characters and its original 50; keep within 2% of each other"
        )
        complaints = found(tmp_path, (stages(50, unit), stages(length, unit)))
        assert complaints == ([says] if length in (48, 52) else [])


def test_mirrors_are_shorter_as_often_as_longer(tmp_path: Path) -> None:
    """Within a tenth, and within one; those of the same length do not count."""
    says = "1: {} mirrors are longer than their originals and {} shorter; balance them"
    for lengths, counts in (((51, 51, 51, 49), (3, 1)), ((49, 49, 50), (0, 2)), ((51, 51, 49, 50, 50), None)):
        complaints = found(tmp_path, *((stages(50), stages(length)) for length in lengths))
        assert complaints == ([says.format(*counts)] if counts else [])


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
