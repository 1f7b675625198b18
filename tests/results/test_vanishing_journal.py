"""A journal that is taken away, replaced or cut while it is written: noticed, and little is lost."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from journals import entries

from equipoise.core.errors import CannotKeep
from equipoise.results.history import History
from equipoise.results.journal import Journal

LINES = 3


def replaced_by_a_link(path: Path) -> None:
    """To an empty file."""
    path.unlink()
    (path.parent.parent / "elsewhere").touch()
    path.symlink_to(path.parent.parent / "elsewhere")


def replaced(path: Path) -> None:
    """By a copy, as editors do."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


WAYS: Mapping[str, Callable[[Path], object]] = {
    "removed": Path.unlink,
    "folder_removed": lambda path: shutil.rmtree(path.parent),
    "renamed": lambda path: path.rename(path.with_name("other.jsonl")),
    "replaced_by_a_link": replaced_by_a_link,
    "replaced": replaced,
}


def numbers(path: Path) -> list[int]:
    """What the lines of a journal say."""
    return [json.loads(line)["number"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where a journal is, in a folder of its own."""
    (tmp_path / "results").mkdir()
    return tmp_path / "results" / "m.jsonl"


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_saved_and_later_lines_with_it(journal: Path, way: str) -> None:
    """The line in hand is kept, the session is told once, and calls that are still in flight are kept too."""
    history = History(journal)
    log = Journal(journal, "s", on_line=history.add, on_move=history.move)
    for number in range(LINES):
        log.append("note", number=number)
    WAYS[way](journal)
    with pytest.raises(
        CannotKeep, match=r"m\.jsonl: the journal was moved, removed or cut .*m\.rescued\.jsonl"
    ):
        log.append("note", number=LINES)
    log.append("note", number=LINES + 1)
    log.close()
    rescued = journal.with_name("m.rescued.jsonl")
    assert numbers(rescued) == list(range(LINES + 2))
    assert (history.path, history.is_cut, history.position) == (rescued, False, rescued.stat().st_size)


def test_a_journal_that_was_cut_is_said_to_be(journal: Path) -> None:
    """What was in it is gone; the index must not be used to read it."""
    history = History(journal)
    log = Journal(journal, "s", on_line=history.add, on_move=history.move)
    for number in range(LINES):
        log.append("note", number=number)
    os.truncate(journal, 0)
    with pytest.raises(CannotKeep):
        log.append("note", number=LINES)
    log.close()
    assert numbers(journal.with_name("m.rescued.jsonl")) == [LINES]
    assert history.is_cut


@pytest.mark.parametrize("left", [0, 10, -10])
def test_what_is_left_of_a_journal_that_was_cut_can_be_resumed(journal: Path, left: int) -> None:
    """The first line says how it was made: it is written again; the line that was cut damages no other."""
    with closing(Journal(journal, "s")) as log:
        for number in range(LINES):
            log.append("note", number=number)
    with closing(Journal(journal, "t")) as log:
        os.truncate(journal, left if left >= 0 else journal.stat().st_size + left)
        with pytest.raises(CannotKeep):
            log.append("note", number=LINES)
        log.append("note", number=LINES + 1)
    rescued = [entry["number"] for entry in entries(journal.with_name("m.rescued.jsonl"))]
    assert rescued == [*range(LINES - 1 if left < 0 else 1), LINES, LINES + 1]


def test_a_line_that_is_written_before_the_cut_is_noticed_is_kept(journal: Path) -> None:
    """It then stands alone in the file, without the first line, and may be longer than that one."""
    with closing(Journal(journal, "s")) as log:
        log.append("note", number=0)
    with closing(Journal(journal, "s")) as log:
        log.append("note", number=1, text="long")
        line = journal.read_bytes().splitlines(keepends=True)[1]
        journal.write_bytes(line)
        with pytest.raises(CannotKeep):
            log.append("note", number=2)
    assert numbers(journal.with_name("m.rescued.jsonl")) == [0, 1, 2]


def test_a_journal_that_has_vanished_is_noticed_without_a_line_to_write(journal: Path) -> None:
    """Whenever it is checked, and what it held is saved; a second writer of the process is no loss."""
    with closing(Journal(journal, "s")) as log:
        log.append("note", number=0)
        log.check()
        journal.unlink()
        for _ in range(2):
            with pytest.raises(CannotKeep, match=r"m\.rescued\.jsonl: rename it"):
                log.check()
    assert numbers(journal.with_name("m.rescued.jsonl")) == [0]
    first, second = Journal(journal, "s"), Journal(journal, "s")
    for number in range(4):
        (first if number % 2 else second).append("note", number=number)
    assert numbers(journal) == [0, 1, 2, 3]
    first.close()
    second.close()


def test_an_earlier_rescue_is_not_overwritten(journal: Path) -> None:
    """Another one gets a number."""
    for _ in range(2):
        log = Journal(journal, "s")
        log.append("note", number=0)
        journal.unlink()
        with pytest.raises(CannotKeep):
            log.append("note", number=1)
        log.close()
    assert sorted(path.name for path in journal.parent.iterdir()) == ["m.rescued-2.jsonl", "m.rescued.jsonl"]
