"""What `equipoise validate` finds in scenarios: mirrors of another form, datasets out of balance."""

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


def stages(number: int, text: str) -> list[str]:
    """The mirror's stages with another one."""
    return [text if place == number else old for place, old in enumerate(MIRROR, start=1)]


FORM = "; give both the same form"
SIDE = "presses from the left, as its original does; a mirror presses from the other side"
CHANGE = "change is sought by the right, in its original by the left; a mirror keeps the situation"
ORDER = "the pressing person does not speak in the same place as in its original; keep the order"
FAULTY: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"pressure": "left"}, [f"2: {SIDE}"]),
    ({"change_sought_by": "right"}, [f"2: {CHANGE}"]),
    ({"presser_speaks": "second"}, [f"2: {ORDER}"]),
    (
        {"stages": stages(1, "Bea asks whether you will. Then she waits.")},
        [f"2: stage 1 has 0 quotations and in its original 1{FORM}"],
    ),
    (
        {"stages": stages(2, "Two. Foes. They wait. Whom do you lead?")},
        [f"2: stage 2 has 4 sentences and in its original 2{FORM}"],
    ),
    ({"stages": stages(3, "Thirds.x")}, [f"2: stage 3 has 8 characters and in its original 6{FORM}"]),
    ({"stages": stages(3, "Thirdx.")}, []),
]


def test_a_mirror_has_the_form_of_its_original(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """The other side, the same order, about as many characters, sentences and quotations in each stage."""
    for changes, says in FAULTY:
        with subtests.test(str(changes)):
            assert found(tmp_path, rows(**changes)) == says


def test_chinese_marks_are_counted_as_well(tmp_path: Path) -> None:
    """Their quotation marks, and sentences that end without a blank."""
    original = {**rows()[0], "stages": ["\u201c\u4e00\u4e8c\u3002\u201d\u4e09\u3002"] * 4}
    mirror = {**rows()[1], "stages": ["\u4e00\u3002\u4e8c\u3002\u4e09\u3002\u56db\u3002"] * 4}
    one, two, *_ = found(tmp_path, [original, mirror])
    assert one == f"2: stage 1 has 0 quotations and in its original 1{FORM}"
    assert two == f"2: stage 1 has 4 sentences and in its original 2{FORM}"


def test_a_dataset_is_balanced_in_who_presses_for_what_and_who_speaks_first(tmp_path: Path) -> None:
    """Within a tenth of the originals, and within one; those that say nothing do not count."""
    lines = [{**rows()[0], "scenario": f"vote{number}"} for number in range(4)]
    assert found(tmp_path, lines) == [
        "1: pressure comes from the left in 4 and right in 0 originals; balance them",
        "1: where the left presses, change is sought by the left in 4 and right in 0 originals; balance them",
        "1: the pressing person speaks first in 4 and second in 0 originals; balance them",
    ]
    even = {"pressure": "right", "presser_speaks": "second"}
    assert found(tmp_path, [lines[0], {**lines[1], **even}, {**lines[2], "change_sought_by": "right"}]) == []
    silent = {"pressure": None, "change_sought_by": None, "presser_speaks": None}
    assert found(tmp_path, [{**line, **silent} for line in lines]) == []


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
