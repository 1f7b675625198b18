"""Live counters of all processes in one file, and the word to stop."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from equipoise.board import Board, Totals

LONG = 512  # bytes of a reason that are kept


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the board of the test is."""
    return tmp_path / "board"


def in_another_process(path: Path, statement: str) -> str:
    """What a second process prints whose `board` is a view of the same file with row 1."""
    script = "import sys\nfrom pathlib import Path\nfrom equipoise.board import Board\n"
    script += f"board = Board(Path(sys.argv[1]), 1)\n{statement}\n"
    command = [sys.executable, "-X", "utf8", "-c", script, str(path)]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def test_a_new_board_is_all_zero(path: Path) -> None:
    """Nothing is counted, nobody has stopped, and every model has its pair of token counts."""
    board = Board.create(path, rows=2, models=3)
    assert board.totals() == Totals(in_flight=0, made=0, replayed=0, retries=0, tokens=((0, 0),) * 3)
    assert (board.is_stopped, board.stop_reason) == (False, "")


def test_totals_add_up_over_all_rows(path: Path) -> None:
    """Both processes see the sums of what either of them counted, kind by kind and model by model."""
    first, second = Board.create(path, rows=2, models=2), Board(path, 1)
    first.enter()
    second.enter()
    second.enter()
    second.leave()
    second.count_retry()
    first.count_reply(0, 10, 3, replayed=False)
    second.count_reply(0, 100, 30, replayed=True)
    second.count_reply(1, 7, 5, replayed=True)
    expected = Totals(in_flight=2, made=1, replayed=2, retries=1, tokens=((110, 33), (7, 5)))
    assert (first.totals(), second.totals()) == (expected, expected)


def test_rows_do_not_touch_each_other(path: Path) -> None:
    """A process that leaves as often as it entered brings its own row back to zero and no other."""
    boards = [Board.create(path, rows=3, models=1), Board(path, 1), Board(path, 2)]
    for board in boards:
        board.enter()
        board.count_reply(0, 1, 1, replayed=False)
    boards[1].leave()
    assert boards[0].totals().in_flight == 2
    boards[0].leave()
    boards[2].leave()
    assert boards[1].totals() == Totals(in_flight=0, made=3, replayed=0, retries=0, tokens=((3, 3),))


def test_the_word_to_stop_reaches_everyone_with_its_reason(path: Path) -> None:
    """What one process says when it stops, the others can read."""
    first, second = Board.create(path, rows=2, models=1), Board(path, 1)
    second.stop("the key is refused: 香港 é")
    assert first.is_stopped
    assert first.stop_reason == "the key is refused: 香港 é"


def test_the_first_reason_stands(path: Path) -> None:
    """Whoever stops later changes nothing, be the reason longer or shorter."""
    first, second = Board.create(path, rows=2, models=1), Board(path, 1)
    first.stop("the first reason")
    second.stop("no")
    second.stop("a second reason, a good deal longer than the first")
    assert second.stop_reason == "the first reason"


@pytest.mark.parametrize("character", ["x", "é", "香", "😀"])
@pytest.mark.parametrize("prefix", ["", "a", "ab", "abc"])
def test_an_over_long_reason_is_cut_between_characters(path: Path, prefix: str, character: str) -> None:
    """A reason of more bytes than fit is cut to the whole characters that fit, and spills over nothing."""
    board = Board.create(path, rows=1, models=1)
    board.stop(prefix + 600 * character)
    kept = board.stop_reason
    assert kept == (prefix + 600 * character)[: len(kept)]
    assert LONG - len(character.encode()) < len(kept.encode()) <= LONG
    assert board.totals() == Totals(in_flight=0, made=0, replayed=0, retries=0, tokens=((0, 0),))


def test_a_reason_that_is_no_valid_unicode_is_kept_as_well_as_can_be(path: Path) -> None:
    """A lone surrogate in an endpoint's message does not keep the session from stopping."""
    board = Board.create(path, rows=1, models=1)
    board.stop("refused \ud83d by the endpoint")
    assert board.is_stopped
    assert board.stop_reason.startswith("refused ")
    assert board.stop_reason.endswith(" by the endpoint")


def test_counts_of_another_process_are_seen_at_once(path: Path) -> None:
    """What a second process counted stands in the totals of the first."""
    board = Board.create(path, rows=2, models=2)
    board.count_reply(1, 1, 2, replayed=False)
    in_another_process(
        path, "board.enter(); board.count_retry(); board.count_reply(1, 10, 20, replayed=True)"
    )
    assert board.totals() == Totals(in_flight=1, made=1, replayed=1, retries=1, tokens=((0, 0), (11, 22)))


def test_another_process_can_stop_this_one(path: Path) -> None:
    """The word to stop and its reason travel between processes."""
    board = Board.create(path, rows=2, models=1)
    in_another_process(path, "board.stop('no more: 香港')")
    assert (board.is_stopped, board.stop_reason) == (True, "no more: 香港")


def test_another_process_sees_the_stop_of_this_one(path: Path) -> None:
    """A process that opens the board late still learns why the session ends."""
    board = Board.create(path, rows=2, models=1)
    board.stop("enough: 香港")
    assert in_another_process(path, "print(board.is_stopped, board.stop_reason)") == "True enough: 香港\n"


def test_closing_one_view_leaves_the_others_alone(path: Path) -> None:
    """A process that is done does not take the board away from the rest."""
    first, second = Board.create(path, rows=2, models=1), Board(path, 1)
    second.enter()
    second.totals()
    second.close()
    first.enter()
    assert first.totals().in_flight == 2


def test_creating_a_board_where_one_was_starts_from_zero(path: Path) -> None:
    """Nothing of an earlier session's counts and reason is left."""
    earlier = Board.create(path, rows=1, models=1)
    earlier.enter()
    earlier.stop("the end")
    earlier.close()
    board = Board.create(path, rows=1, models=1)
    assert (board.totals().in_flight, board.is_stopped, board.stop_reason) == (0, False, "")
