"""What is drawn on a real terminal while a session runs."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from conftest import Bench

Workers = tuple[str, str]
SHORT = ("--runs", "3", "--concurrency", "4")
"""Long enough for the line to be drawn several times, with all four places taken."""


def on_terminal(bench: Bench, *arguments: str, **environment: str) -> str:
    """Everything that a session writes to a terminal of 40 lines and 100 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    outer = {name: value for name, value in os.environ.items() if name not in ("CI", "LINES", "COLUMNS")}
    process = subprocess.Popen(
        bench.command(*arguments),
        cwd=bench.folder,
        env={**outer, "TERM": "xterm", **environment},
        stdout=theirs,
        stderr=theirs,
        stdin=theirs,
    )
    os.close(theirs)
    chunks = []
    try:
        while chunk := os.read(ours, 65536):
            chunks.append(chunk)
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert process.wait(timeout=30) == 0
    return b"".join(chunks).decode()


def test_a_live_line_tells_how_far_it_is(bench: Bench, workers: Workers) -> None:
    """Done, calls in flight, retries, tokens, cost and time left, on the last line of the terminal."""
    bench.server.delay = 0.4
    shown = on_terminal(bench, *workers, *SHORT)
    assert "\x1b[40;1H\x1b[2K" in shown
    assert "/12 done | 4 calls in flight | 0 retries | " in shown
    assert " tokens | cost unknown" in shown
    assert " left" in shown


def test_the_live_line_counts_money_where_the_price_is_known(bench: Bench) -> None:
    """With the user's own price the line shows dollars, and the summary what it came to."""
    bench.server.delay = 0.4
    price = ("--price-input", "1", "--price-output", "10")
    shown = on_terminal(bench, *price, "--runs", "2", "--concurrency", "4")
    # Each call has 100 tokens in and 20 out, that is 0.0003 USD; a run has two calls.
    assert re.search(r"/8 done \| \d calls in flight \| 0 retries \| [\d,]+ tokens \| 0\.00\d\d USD", shown)
    assert "cost unknown" not in shown
    assert "subject:   800 tokens in, 160 out, 0.0024 USD" in shown


def test_the_terminal_gets_its_line_back(bench: Bench, workers: Workers) -> None:
    """The scroll region is reset before the summary is printed."""
    bench.server.delay = 0.4
    shown = on_terminal(bench, *workers, *SHORT)
    assert "\x1b[1;39r" in shown
    reset = shown.rindex("\x1b[r")
    assert reset > shown.rindex("\x1b[1;39r")
    assert reset < shown.rindex("questions  mean  percent")


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"CI": "true"}], ids=["dumb", "ci"])
def test_no_live_line_where_it_would_be_noise(bench: Bench, environment: dict[str, str]) -> None:
    """A terminal that cannot move its cursor, and a CI log, see plain output."""
    bench.server.delay = 0.4
    assert "calls in flight" not in on_terminal(bench, *SHORT, **environment)


def test_scores_are_coloured(bench: Bench) -> None:
    """Green from 75 %, red below 50 %."""
    shown = on_terminal(bench, "--runs", "1", "--color=yes")
    assert "\x1b[32m" in shown or "\x1b[31m" in shown or "\x1b[33m" in shown
