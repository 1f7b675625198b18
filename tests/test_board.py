"""What a session counts while it runs."""

from __future__ import annotations

from equipoise.models.counters import Board, Totals


def test_a_new_board_is_all_zero() -> None:
    """Nothing sent, nothing spent, nobody stopped or paused, no round open."""
    board = Board(2)
    nothing = dict.fromkeys(("in_flight", "made", "replayed", "retries", "sent", "spent", "reserved"), 0)
    assert board.totals() == Totals(**nothing, estimated=0, tokens=((0, 0), (0, 0)))
    assert (board.is_stopped, board.stop_reason, board.round, board.is_enough) == (False, "", 0, False)
    assert [board.paused_until(number) for number in range(2)] == [0, 0]
    assert board.largest_output(1) == 0


def test_calls_and_replies_are_counted() -> None:
    """What was sent is not taken back; tokens go by model, the longest reply is known."""
    board = Board(2)
    for _ in range(3):
        board.enter()
    board.leave()
    board.count_retry()
    board.count_reply(0, 10, 5, replayed=False)
    board.count_reply(1, 1, 7, replayed=True, is_estimated=True)
    board.count_reply(1, 1, 2, replayed=False)
    now = board.totals()
    assert (now.sent, now.in_flight, now.retries) == (3, 2, 1)
    assert (now.made, now.replayed, now.estimated) == (2, 1, 1)
    assert now.tokens == ((10, 5), (2, 9))
    assert board.largest_output(1) == 7


def test_what_is_set_aside_is_summed_until_it_is_settled() -> None:
    """A cost beyond what was set aside counts in full."""
    board = Board(1)
    board.reserve(10)
    board.reserve(5)
    board.settle(10, 12)
    assert (board.totals().reserved, board.totals().spent) == (5, 12)


def test_the_first_reason_to_stop_stands() -> None:
    """Whatever else happens while the session ends."""
    board = Board(1)
    board.stop("first \ud800")
    board.stop("second")
    assert (board.is_stopped, board.stop_reason) == (True, "first ?")


def test_the_longest_pause_of_an_endpoint_counts() -> None:
    """Of that endpoint alone."""
    board = Board(2)
    for until in (5.0, 9.0, 7.0):
        board.pause(1, until)
    assert (board.paused_until(0), board.paused_until(1)) == (0, 9.0)


def test_rounds_open_one_after_another() -> None:
    """Until no further one is needed."""
    board = Board(1)
    board.open_round(2)
    assert (board.round, board.is_enough) == (2, False)
    board.close_rounds()
    assert board.is_enough
