"""What a session counts while it runs."""

from __future__ import annotations

from equipoise.models.counters import Counters


def test_calls_and_replies_are_counted() -> None:
    """What was sent is not taken back; tokens go by model, the longest reply is known."""
    counters = Counters(2)
    for _ in range(3):
        counters.enter()
    counters.leave()
    counters.count_retry("HTTP 503: Overloaded.")
    counters.count_reply(0, 10, 5, replayed=False, repeats=1)
    counters.count_reply(1, 1, 7, replayed=True, is_estimated=True, repeats=1)
    counters.count_reply(1, 1, 2, replayed=False)
    now = counters.totals()
    assert (now.sent, now.in_flight, now.retries) == (3, 2, 1)
    assert (now.made, now.replayed, now.estimated, now.repeated) == (2, 1, 1, 1)
    assert now.tokens == ((10, 5), (2, 9))
    assert counters.largest_output(1) == 7


def test_the_first_reason_to_stop_stands() -> None:
    """Whatever else happens while the session ends."""
    counters = Counters(1)
    counters.stop("first \ud800")
    counters.stop("second")
    assert (counters.is_stopped, counters.stop_reason) == (True, r"first \ud800")


def test_an_endpoint_cannot_write_on_the_terminal() -> None:
    """A reason, a notice and the last error are lines without a command to a terminal or a CI job."""
    counters = Counters(1)
    text, shown = "::error::x\x1b[2J\n", r"\x3a:error::x\x1b[2J\n"
    counters.stop(text)
    counters.notify(text)
    counters.count_retry(text)
    assert (counters.stop_reason, counters.take_notices(), counters.last_error) == (shown, [shown], shown)


def test_the_longest_pause_of_an_endpoint_counts() -> None:
    """Of that endpoint alone."""
    counters = Counters(2)
    for until in (5.0, 9.0, 7.0):
        counters.pause(1, until)
    assert (counters.paused_until(0), counters.paused_until(1)) == (0, 9.0)
