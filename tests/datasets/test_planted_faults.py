"""Faults planted in copies of our own data: `data validate` finds each, at its file, for every suite."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.datasets.lint import validate

FAULTS = [
    line.split("\t")
    for path in sorted(ROOT.glob("tests/suites/*/planted_faults.tsv"))
    for line in path.read_text(encoding="utf-8").splitlines()[1:]
]
"""The dataset, the file, a text in it or nothing for its end, what takes its place, and the finding."""
BLIND = [
    json.loads(line)
    for line in (ROOT / "tests/datasets/blind_faults.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Faults that were planted without a look at the checks, each in words, with its edits as in `FAULTS`.

One that would hide others, as a file that cannot be read does, has a `round` of its own.
"""


@pytest.mark.slow
@pytest.mark.parametrize("dataset", dict.fromkeys(fault[0] for fault in FAULTS))
def test_planted_faults_are_found(dataset: str, tmp_path: Path) -> None:
    """All at once, as none may hide another."""
    faults = [fault[1:] for fault in FAULTS if fault[0] == dataset]
    findings = _findings(dataset, tmp_path, [fault[:3] for fault in faults])
    for name, *_, says in faults:
        assert [text for text in findings if says in text and (name in text or f"{dataset}:" in text)], says


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "number"), dict.fromkeys((fault["dataset"], fault["round"]) for fault in BLIND)
)
def test_faults_planted_blind_are_found(dataset: str, number: int, tmp_path: Path) -> None:
    """Each by its own finding, at its file."""
    faults = [fault for fault in BLIND if (fault["dataset"], fault["round"]) == (dataset, number)]
    findings = _findings(dataset, tmp_path, [edit for fault in faults for edit in fault["edits"]])
    for fault in faults:
        start = f"{dataset}/{fault['file']}:"
        assert [text for text in findings if start in text and fault["says"] in text], fault["fault"]


def _findings(dataset: str, tmp_path: Path, edits: Iterable[Sequence[str]]) -> list[str]:
    """The findings on a copy of a dataset with these edits."""
    folder = shutil.copytree(ROOT / "topics" / dataset, tmp_path / dataset)
    for name, text, planted in edits:
        content = (folder / name).read_text(encoding="utf-8")
        assert text in content, text
        content = content.replace(text, planted, 1) if text else f"{content}{planted}\n"
        (folder / name).write_text(content, encoding="utf-8")
    return [str(item) for item in validate([folder])[0]]
