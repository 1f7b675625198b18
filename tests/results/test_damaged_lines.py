"""Journals with damaged lines: what is resumed, what is asked again, what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from journals import ask, begin, keep, record

from equipoise.core.errors import UserError
from equipoise.results import history
from equipoise.results.journal import request_hash

CALL = ask("Why?")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Two runs with a call each."""
    path = tmp_path / "m.jsonl"
    log = begin(path, ("a-run1", "b-run1"), suite="x")
    for case in ("a", "b"):
        log.append_record(record(case), [keep(log, CALL, run=f"{case}-run1").id])
    log.close()
    return path


def damage(path: Path, number: int, old: bytes, new: bytes) -> None:
    """Change one line."""
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    path.write_bytes(b"".join(lines))


def test_a_journal_without_its_first_line_is_not_resumed(journal: Path, tmp_path: Path) -> None:
    """Nobody knows with which settings its replies came about; one cut in the first moment is begun anew."""
    damage(journal, 0, b'"nonce"', b'"nonce')
    with pytest.raises(
        UserError, match=r"m\.jsonl:1: the first line, .* is damaged: restore .*, or use --fresh"
    ):
        history.load(journal)
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'{"kind":"session","form')
    loaded = history.load(path)
    assert (loaded.is_empty, loaded.damaged) == (True, 1)


@pytest.mark.parametrize("kind", ["call", "record"])
def test_a_run_with_a_damaged_line_is_asked_again(journal: Path, kind: str) -> None:
    """The damage is counted, and the other run stays as it is."""
    damage(journal, {"call": 1, "record": 2}[kind], b'{"kind"', b'{"kind')
    loaded = history.load(journal)
    assert (loaded.damaged, loaded.missing(), loaded.has_score("b-run1")) == (1, ["a-run1"], True)
    # What is left of it is replayed.
    assert (loaded.take("a-run1", "subject", request_hash(CALL)) is None) == (kind == "call")


def test_damage_is_said_by_the_numbers_of_lines(journal: Path) -> None:
    """The first five of them, and how many more there are; line ends of another system are no damage."""
    journal.write_bytes(journal.read_bytes().replace(b"\n", b"\r\n"))
    loaded = history.load(journal)
    assert (loaded.damaged, loaded.missing()) == (0, [])
    assert [item.subject[0].messages[-1]["content"] for item in loaded.records()] == ["Because."] * 2
    *lines, last = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, *[b"{}\n"] * 6, last]))
    assert history.load(journal).damage == (
        "damaged lines skipped: 6 (lines 5, 6, 7, 8, 9 and 1 more); "
        "lines were removed, doubled or moved before line 11"
    )


Edit = Callable[[list[bytes]], list[bytes]]
SCORE = b'"score":4.0'


def third(change: Callable[[bytes], bytes]) -> Edit:
    """Changes the record of the first run."""
    return lambda lines: [*lines[:2], change(lines[2]), *lines[3:]]


EDITS: Mapping[str, tuple[Edit, int, bool]] = {
    "a score": (third(lambda line: line.replace(SCORE, b'"score":1.0')), 1, False),
    "a space more": (third(lambda line: line.replace(SCORE, b'"score": 4.0')), 1, False),
    "no checksum": (third(lambda line: line.partition(b',"previous"')[0] + b"}\n"), 1, True),
    "a call less": (lambda lines: [lines[0], *lines[2:]], 0, True),
    "a record less": (lambda lines: [*lines[:2], *lines[3:]], 0, True),
    "a call twice": (lambda lines: [*lines[:2], *lines[1:]], 0, True),
    "a record twice": (lambda lines: [*lines, lines[2]], 0, True),
    "two swapped": (lambda lines: [lines[0], *lines[3:], *lines[1:3]], 0, True),
}
"""What is done to the lines, how many are damaged then, and whether some are not where they were written."""


def test_an_edited_line_is_noticed(journal: Path, subtests: pytest.Subtests) -> None:
    """Its run is done again, from the calls that are left; nothing counts twice."""
    lines = journal.read_bytes().splitlines(keepends=True)
    for name, (edit, damaged, is_rearranged) in EDITS.items():
        with subtests.test(name):
            journal.write_bytes(b"".join(edit([*lines])))
            loaded = history.load(journal)
            assert (loaded.damaged, loaded.is_rearranged) == (damaged, is_rearranged)
            assert {record.score for record in loaded.records()} == {4.0}
            assert loaded.totals.calls.total() == (1 if name == "a call less" else 2)


def test_a_byte_flipped_anywhere_is_noticed(journal: Path) -> None:
    """Also in the ids of runs in the first line, without which nothing is resumed."""
    content = journal.read_bytes()
    first = content.index(b"\n")
    for index in range(0, len(content), 7):
        journal.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        if index <= first:
            with pytest.raises(UserError, match=r"m\.jsonl:1: |the journal has format "):
                history.load(journal)
        else:
            assert history.load(journal).damage
