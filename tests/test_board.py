"""Live counters of all processes in one file, and the word to stop."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from equipoise.board import Board, Totals

LONG = 512  # bytes of a reason that are kept


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the board of the test is."""
    return tmp_path / "board"


def totals(tokens: tuple[tuple[int, int], ...], **counts: int) -> Totals:
    """Totals that are zero but for these."""
    names = ("in_flight", "made", "replayed", "retries", "sent", "spent", "reserved", "estimated")
    return Totals(tokens=tokens, **{**dict.fromkeys(names, 0), **counts})


def in_another_process(path: Path, statement: str) -> str:
    """What a second process prints whose `board` is a view of the same file with row 1."""
    script = "import sys\nfrom pathlib import Path\nfrom equipoise.board import Board\n"
    script += f"board = Board(Path(sys.argv[1]), 1)\n{statement}\n"
    command = [sys.executable, "-X", "utf8", "-c", script, str(path)]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def test_a_new_board_is_all_zero(path: Path) -> None:
    """Nothing is counted, nobody has stopped, and every model has its pair of token counts."""
    board = Board.create(path, rows=2, models=3)
    assert board.totals() == totals(((0, 0),) * 3)
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
    second.count_reply(0, 100, 30, replayed=True, is_estimated=True)
    second.count_reply(1, 7, 5, replayed=True)
    expected = totals(((110, 33), (7, 5)), in_flight=2, made=1, replayed=2, retries=1, sent=3, estimated=1)
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
    assert boards[1].totals() == totals(((3, 3),), made=3, sent=3)


def test_what_was_sent_is_not_taken_back(path: Path) -> None:
    """A request that came home was sent all the same."""
    board = Board.create(path, rows=1, models=1)
    for _ in range(3):
        board.enter()
        board.leave()
    assert (board.totals().sent, board.totals().in_flight) == (3, 0)


def test_a_row_that_is_not_there_is_a_defect(path: Path) -> None:
    """A process that was given a row beyond the last must not count in somebody else's memory."""
    Board.create(path, rows=2, models=1)
    with pytest.raises(IndexError):
        Board(path, 2).enter()


# The word to stop.


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
    assert board.totals() == totals(((0, 0),))


def test_a_reason_that_is_no_valid_unicode_is_kept_as_well_as_can_be(path: Path) -> None:
    """A lone surrogate in an endpoint's message does not keep the session from stopping."""
    board = Board.create(path, rows=1, models=1)
    board.stop("refused \ud83d by the endpoint")
    assert board.is_stopped
    assert board.stop_reason.startswith("refused ")
    assert board.stop_reason.endswith(" by the endpoint")


# Pauses.


def test_nobody_has_to_pause_unless_an_endpoint_asks(path: Path) -> None:
    """At first every endpoint may be called."""
    board = Board.create(path, rows=1, models=3)
    assert [board.paused_until(endpoint) for endpoint in range(3)] == [0, 0, 0]


def test_a_pause_is_of_one_endpoint_and_for_everyone(path: Path) -> None:
    """All processes see it, to the microsecond, and the other endpoints go on."""
    first, second = Board.create(path, rows=2, models=3), Board(path, 1)
    second.pause(1, 12345.678901)
    for board in (first, second):
        assert board.paused_until(1) == pytest.approx(12345.678901, abs=1e-6)
        assert (board.paused_until(0), board.paused_until(2)) == (0, 0)


@pytest.mark.parametrize("order", [(10.0, 20.0), (20.0, 10.0)], ids=["longer_later", "shorter_later"])
def test_the_longest_pause_counts(path: Path, order: tuple[float, float]) -> None:
    """An endpoint that asks one process for less than another is left alone for as long as it asked any."""
    boards = [Board.create(path, rows=2, models=1), Board(path, 1)]
    for board, until in zip(boards, order, strict=True):
        board.pause(0, until)
    assert boards[0].paused_until(0) == 20


def test_a_pause_spills_over_nothing(path: Path) -> None:
    """Neither counters nor the reason to stop lie where the pauses are."""
    board = Board.create(path, rows=1, models=2)
    board.stop("x" * LONG)
    for endpoint in range(2):
        board.pause(endpoint, 9e8)
    assert board.totals() == totals(((0, 0),) * 2)
    assert board.stop_reason == "x" * LONG


# Money.


def test_what_is_set_aside_is_summed_until_it_is_settled(path: Path) -> None:
    """In nano-dollars over both processes: given back whole, counted as spent as far as it was."""
    first, second = Board.create(path, rows=2, models=1), Board(path, 1)
    first.reserve(100)
    second.reserve(30)
    second.reserve(7)
    assert first.totals() == totals(((0, 0),), reserved=137)
    second.settle(30, 12)
    assert first.totals() == totals(((0, 0),), reserved=107, spent=12)
    first.settle(100, 100)
    second.settle(7, 0)
    assert second.totals() == totals(((0, 0),), spent=112)


def test_a_cost_beyond_what_was_set_aside_is_counted_in_full(path: Path) -> None:
    """What was spent was spent."""
    board = Board.create(path, rows=1, models=1)
    board.reserve(10)
    board.settle(10, 25)
    assert board.totals() == totals(((0, 0),), spent=25)


def test_a_million_dollars_fit(path: Path) -> None:
    """Nobody will spend more than the counters hold."""
    board = Board.create(path, rows=1, models=1)
    board.reserve(10**15)
    board.settle(10**15, 10**15)
    assert board.totals().spent == 10**15


def test_a_dead_process_has_nothing_in_flight_and_has_spent_what_it_set_aside(path: Path) -> None:
    """Whoever buries it changes that row only: what it made, sent and used up stays."""
    first, second = Board.create(path, rows=3, models=1), Board(path, 1)
    third = Board(path, 2)
    for board in (first, second, third):
        board.enter()
        board.reserve(100)
        board.count_reply(0, 10, 5, replayed=False)
    second.settle(40, 7)
    first.bury(1)
    expected = totals(((30, 15),), in_flight=2, made=3, sent=3, reserved=200, spent=67)
    assert third.totals() == expected
    first.bury(1)
    assert third.totals() == expected


def test_burying_a_process_that_came_to_its_end_changes_nothing(path: Path) -> None:
    """A process that settled everything before it ended leaves nothing to be done."""
    first, second = Board.create(path, rows=2, models=1), Board(path, 1)
    second.enter()
    second.reserve(5)
    second.settle(5, 3)
    second.leave()
    before = first.totals()
    first.bury(1)
    assert first.totals() == before


# The longest reply.


def test_the_longest_reply_of_a_model_in_any_process(path: Path) -> None:
    """Not the last, not that of another model, and not the prompt; 0 where there was none."""
    first, second = Board.create(path, rows=2, models=3), Board(path, 1)
    for board, model, output in ((first, 0, 7), (second, 0, 11), (second, 0, 2), (first, 1, 90)):
        board.count_reply(model, 1000, output, replayed=output == 11)
    for board in (first, second):
        assert [board.largest_output(model) for model in range(3)] == [11, 90, 0]


# One at a time.


def is_free(path: Path) -> bool:
    """Whether a further process could be let in at once."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_only_one_process_is_let_in_at_a_time(path: Path) -> None:
    """While one decides, another waits; then it is free, also after an error and for the same again."""
    board = Board.create(path, rows=1, models=1)
    assert is_free(path)
    with board.alone():
        assert not is_free(path)
    assert is_free(path)
    with pytest.raises(ZeroDivisionError), board.alone():
        raise ZeroDivisionError
    assert is_free(path)
    with board.alone():
        assert not is_free(path)


COUNT_TOGETHER = """
import os
for _ in range(200):
    with board.alone():
        seen = board.totals().reserved
        os.sched_yield()
        board.reserve(1 if seen % 2 == 0 else 3)
"""


def test_decisions_of_several_processes_do_not_cross(path: Path) -> None:
    """What each of four processes does depends on the sum that it saw, and nobody changes it meanwhile."""
    board = Board.create(path, rows=5, models=1)
    script = "import sys\nfrom pathlib import Path\nfrom equipoise.board import Board\n"
    script += f"board = Board(Path(sys.argv[1]), int(sys.argv[2]))\n{COUNT_TOGETHER}"
    options: Mapping[str, Any] = {"stdout": subprocess.DEVNULL}
    others = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(n)], **options) for n in range(1, 5)
    ]
    assert [process.wait(timeout=60) for process in others] == [0] * 4
    # Taken one after the other, every even sum is followed by 1 and every odd one by 3.
    total = 0
    for _ in range(800):
        total += 1 if total % 2 == 0 else 3
    assert board.totals().reserved == total


# Several processes.


def test_counts_of_another_process_are_seen_at_once(path: Path) -> None:
    """What a second process counted stands in the totals of the first."""
    board = Board.create(path, rows=2, models=2)
    board.count_reply(1, 1, 2, replayed=False)
    in_another_process(
        path, "board.enter(); board.count_retry(); board.count_reply(1, 10, 20, replayed=True)"
    )
    assert board.totals() == totals(((0, 0), (11, 22)), in_flight=1, made=1, replayed=1, retries=1, sent=1)


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
