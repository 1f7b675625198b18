"""Faults planted in copies of our own data: `equipoise validate` finds each, at its file, for every suite."""

from __future__ import annotations

import shutil
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


@pytest.mark.slow
@pytest.mark.parametrize("dataset", dict.fromkeys(fault[0] for fault in FAULTS))
def test_planted_faults_are_found(dataset: str, tmp_path: Path) -> None:
    """All at once, as none may hide another."""
    folder = shutil.copytree(ROOT / "topics" / dataset, tmp_path / dataset)
    faults = [fault[1:] for fault in FAULTS if fault[0] == dataset]
    for name, text, planted, _ in faults:
        content = (folder / name).read_text(encoding="utf-8")
        assert text in content, text
        content = content.replace(text, planted, 1) if text else f"{content}{planted}\n"
        (folder / name).write_text(content, encoding="utf-8")
    findings = [str(item) for item in validate([folder])[0]]
    for name, *_, says in faults:
        assert [text for text in findings if says in text and (name in text or f"{dataset}:" in text)], says
