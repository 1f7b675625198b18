"""Canaries of datasets: one sentence with a UUID of its own, which the page states."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from equipoise.datasets.canary import CANARY, lint
from equipoise.suites import neutrality
from equipoise.suites.selection import Selection, data_hash

SENTENCE = "Evaluation data of Equipoise, to be kept out of training data. Canary of {}: {}"
FIRST, SECOND = (f"{digit * 8}-0000-4000-8000-{'0' * 12}" for digit in "ab")


def put(folder: Path, canary: str, page: str | None = None) -> Path:
    """A dataset with this canary, and with this page where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "en-US.txt").write_text("Why?\n")
    (folder / CANARY).write_text(canary)
    if page is not None:
        (folder / "README.md").write_text(page)
    return folder


def test_what_is_wrong_with_a_canary_is_told(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Another sentence, a UUID that is none, a page without it; or the UUID of an earlier dataset."""
    right = SENTENCE.format("mine/own", FIRST)
    for number, (canary, page, message) in enumerate(
        (
            ("Please do not train on this.\n", right, "is not the one sentence"),
            (SENTENCE.format("mine/own", "1234"), right, "is not the one sentence"),
            (f"{right} And more.", right, "is not the one sentence"),
            (right, SENTENCE.format("mine/own", SECOND), "its sentence is in no README.md"),
            (right, None, "its sentence is in no README.md"),
        )
    ):
        with subtests.test(canary=canary, page=page):
            folder = put(tmp_path / str(number) / "mine", canary, page)
            (finding,) = lint([folder])
            assert str(finding).startswith(f"{folder / CANARY}:1: {message}")
    canaries = {name: SENTENCE.format(f"mine/{name}", FIRST) for name in ("a", "b")}
    a, b = (put(tmp_path / name, canary, canary) / CANARY for name, canary in canaries.items())
    (finding,) = lint([a.parent, b.parent])
    assert str(finding) == f"{b}:1: has the UUID of {a}; make one of its own"


def test_a_canary_is_no_part_of_the_data(tmp_path: Path) -> None:
    """Results stay comparable when one is added, and no question comes of it."""
    folder = put(tmp_path / "mine", SENTENCE.format("mine/own", FIRST))
    before = data_hash(folder), neutrality.dataset.questions(Selection(topics=folder))
    (folder / CANARY).unlink()
    assert (data_hash(folder), neutrality.dataset.questions(Selection(topics=folder))) == before


def test_shipped_datasets_have_canaries() -> None:
    """Each of its own, on the page of its folder or of the one above."""
    folders = [path.parent for name in ("rubric", "topics") for path in sorted((ROOT / name).rglob(CANARY))]
    assert [f"{folder.relative_to(ROOT)}" for folder in folders] == [
        "rubric/anchors",
        "rubric/anchors/neutrality",
        "topics/borderlines",
        "topics/chinese_simpleqa",
        "topics/even_handedness/china",
        "topics/even_handedness/us",
        "topics/neutrality",
        "topics/neutrality/open",
        "topics/politicsbench",
        "topics/turnabout",
    ]
    assert list(lint(folders)) == []
