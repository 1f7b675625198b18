"""Journals with damaged lines: what is resumed, what is asked again, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from journals import STARTED, ask, record

from equipoise.core.errors import UserError
from equipoise.core.types import Reply
from equipoise.results import history
from equipoise.results.journal import FORMAT, Journal


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Two runs with a call each."""
    path = tmp_path / "m.jsonl"
    log = Journal(path, "s")
    plan = {"a-run1": "aa", "b-run1": "aa"}
    log.append("session", format=FORMAT, started=STARTED, nonce="n", plan=plan, settings={}, suite="x")
    for case in ("a", "b"):
        exchange = log.append_call(f"{case}-run1", ask("Why?"), "digest", Reply(text="Because."))
        log.append_record(record(case), [exchange.id])
    log.close()
    return path


def damage(path: Path, number: int, old: bytes, new: bytes) -> None:
    """Change one line."""
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    path.write_bytes(b"".join(lines))


def test_a_journal_without_its_first_line_is_not_resumed(journal: Path) -> None:
    """Nobody knows any longer with which settings its replies came about."""
    damage(journal, 0, b'"nonce"', b'"nonce')
    with pytest.raises(UserError, match=r"m\.jsonl: the first line, .* cannot be read: `equipoise recover`"):
        history.load(journal)


def test_nothing_is_lost_where_nothing_follows_a_damaged_first_line(tmp_path: Path) -> None:
    """A crash in the first moment: the session begins anew in the same file."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"kind":"session","form')
    found = history.load(path)
    assert (found.is_empty, found.damaged) == (True, 1)


@pytest.mark.parametrize("kind", ["call", "record"])
def test_a_run_with_a_damaged_line_is_asked_again(journal: Path, kind: str) -> None:
    """The damage is counted, and the other run stays as it is."""
    damage(journal, {"call": 1, "record": 2}[kind], b'{"kind"', b'{"kind')
    found = history.load(journal)
    assert (found.damaged, found.missing(), found.has_score("b-run1")) == (1, ["a-run1"], True)
    # What is left of it is replayed.
    assert (found.take("a-run1", "subject", "digest") is None) == (kind == "call")


def test_line_ends_of_another_system_are_read(journal: Path) -> None:
    """An editor or a transfer may have put carriage returns before them."""
    journal.write_bytes(journal.read_bytes().replace(b"\n", b"\r\n"))
    found = history.load(journal)
    assert (found.damaged, found.missing()) == (0, [])
    assert [item.subject[0].messages[-1]["content"] for item in found.records()] == ["Because."] * 2
