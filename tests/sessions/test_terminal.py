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

pytestmark = pytest.mark.slow
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
    assert process.wait(timeout=300) == 0
    return b"".join(chunks).decode()


def test_a_live_line_tells_how_far_it_is_and_what_it_costs(bench: Bench) -> None:
    """Done, calls in flight, retries, tokens and dollars at the user's own price; then it is gone."""
    bench.server.delay = 0.4
    price = ("--price-input", "1", "--price-output", "10")
    shown = on_terminal(bench, *price, *SHORT, "--color=yes")
    assert "\x1b[40;1H\x1b[2K" in shown
    # Each call has 100 tokens in and 20 out, that is 0.0003 USD; a run has two calls.
    pattern = r"/12 done \| 0 failed \| 4 calls in flight \| 0 retries \| [\d,]+ tokens \| 0\.00\d\d USD"
    assert re.search(pattern, shown)
    assert " left" in shown
    assert re.search(r"\btokens: +2,400 in, 480 out; 0.0072 USD", shown)
    reset = shown.rindex("\x1b[r")
    assert shown.rindex("\x1b[1;39r") < reset < shown.rindex("figure  95 % interval  questions")
    assert re.search(r"\x1b\[3[123]mSCORE|\x1b\[3[123]m\d", shown)


def test_a_live_line_is_drawn_where_workers_ask(bench: Bench) -> None:
    """By the process that the user started; without a price the cost is unknown."""
    bench.server.delay = 0.4
    shown = on_terminal(bench, "-n", "2", *SHORT)
    assert "/12 done | 0 failed | 4 calls in flight | 0 retries | " in shown
    assert " tokens | cost unknown" in shown
    assert shown.rindex("\x1b[1;39r") < shown.rindex("\x1b[r")


def test_no_live_line_where_it_would_be_noise(bench: Bench) -> None:
    """A CI log sees plain output."""
    assert "calls in flight" not in on_terminal(bench, "--runs", "1", CI="true")
