"""A project's own files, and those that came with Equipoise."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.suites.resources import nearest, topic_folders


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What came with us: a folder with a dataset, and a file."""
    folder = tmp_path / "shipped"
    (folder / "topics" / "x").mkdir(parents=True)
    (folder / "rubric").mkdir()
    (folder / "rubric" / "x.toml").write_text("")
    monkeypatch.setattr("equipoise.suites.resources.SHIPPED", folder)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, which is empty."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def test_a_project_s_own_go_before(shipped: Path, root: Path) -> None:
    """A folder replaces a folder, a file a file; a path that neither has is the project's."""
    for path in ("topics", "topics/x", "rubric/x.toml"):
        assert nearest(path, root) == shipped / path
    assert nearest("rubric/none.toml", root) == root / "rubric" / "none.toml"
    (root / "topics" / "x").mkdir(parents=True)
    (root / "rubric").mkdir()
    (root / "rubric" / "x.toml").write_text("")
    (root / "rubric" / "own.toml").write_text("")
    for path in ("topics", "topics/x", "rubric/x.toml", "rubric/own.toml"):
        assert nearest(path, root) == root / path


def test_what_is_of_another_kind_hides_nothing(shipped: Path, root: Path) -> None:
    """A file does not replace a folder; a folder in a rubric's place is not read."""
    (root / "topics").write_text("")
    (root / "rubric" / "x.toml").mkdir(parents=True)
    assert nearest("topics", root) == shipped / "topics"
    assert nearest("topics/x", root) == shipped / "topics" / "x"
    assert nearest("rubric/x.toml", root) == root / "rubric" / "x.toml"


def test_fetched_data_hide_no_dataset(shipped: Path, root: Path) -> None:
    """A project with fetched data only still has our dataset; its own data replace ours."""
    (root / "topics" / "x" / "original").mkdir(parents=True)
    assert nearest("topics/x", root) == shipped / "topics" / "x"
    assert nearest("topics/x/original", root) == root / "topics" / "x" / "original"
    (root / "topics" / "x" / "original.toml").write_text("")
    assert nearest("topics/x", root) == shipped / "topics" / "x"
    (root / "topics" / "x" / "en.txt").write_text("")
    assert nearest("topics/x", root) == root / "topics" / "x"


def test_topics_are_looked_for_in_both(shipped: Path, root: Path) -> None:
    """The project's folder comes first, if it has one."""
    assert topic_folders(root) == [shipped / "topics"]
    (root / "topics").mkdir()
    assert topic_folders(root) == [root / "topics", shipped / "topics"]
