"""The live line at the bottom of a terminal, a pseudo-terminal's, and what is printed where there is none."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
import threading
from codecs import getincrementaldecoder
from collections.abc import Iterator

import pytest

from equipoise.models.counters import Counters
from equipoise.report import status_line
from equipoise.report.status_line import LogLine, Output, StatusLine, open_line, supports_live_line


class Terminal:
    """A terminal of so many rows and 100 columns; `shown` is all that was written to it."""

    def __init__(self, rows: int) -> None:
        self._ours, self.descriptor = pty.openpty()
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
        self.output = Output(write=lambda text: None, descriptor=self.descriptor)
        self.shown = ""
        # A read may end within a character.
        self._decoder = getincrementaldecoder("utf-8")()

    def read_until(self, text: str) -> None:
        """Wait until this has been shown."""
        while text not in self.shown:
            assert select.select([self._ours], [], [], 60)[0], f"{text!r} is not in {self.shown!r}"
            self.shown += self._decoder.decode(os.read(self._ours, 65536))

    def close(self) -> None:
        """Give both ends back."""
        os.close(self._ours)
        os.close(self.descriptor)


@pytest.fixture
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal on which lines are drawn without pauses."""
    monkeypatch.setattr(status_line, "INTERVAL_SECONDS", 0.001)
    emulator = Terminal(rows=getattr(request, "param", 40))
    yield emulator
    emulator.close()


def test_the_line_is_redrawn_at_the_bottom_until_it_is_closed(terminal: Terminal) -> None:
    """Room is made once; what it says changes; then the whole terminal scrolls again, without the line."""
    texts = iter([*(f"{number}/3 done" for number in range(3)), *["all done"] * 1_000_000])
    line = StatusLine(lambda width: next(texts), list, terminal.output)
    terminal.read_until("all done\x1b8")
    line.close()
    os.write(terminal.descriptor, b"behind")
    terminal.read_until("behind")
    shown = terminal.shown
    assert shown.startswith("\x1bD\x1b[A\x1b7\x1b[1;39r\x1b8\x1b7\x1b[40;1H\x1b[2K0/3 done\x1b8")
    assert [shown.count(f"\x1b[40;1H\x1b[2K{number}/3 done\x1b8") for number in range(3)] == [1, 1, 1]
    assert shown.count("\x1b[1;39r") == 1
    assert shown.endswith("\x1b7\x1b[r\x1b[40;1H\x1b[2K\x1b8behind")


def test_a_line_is_no_longer_than_the_terminal_is_wide(terminal: Terminal) -> None:
    """Else it would wrap, and scroll what is above."""
    line = StatusLine(lambda width: "é" * 150, list, terminal.output)
    terminal.read_until("é\x1b8")
    line.close()
    assert "\x1b[2K" + "é" * 99 + "\x1b8" in terminal.shown


@pytest.mark.parametrize("terminal", [3], indirect=True)
def test_a_terminal_of_three_rows_has_no_room_for_a_line(terminal: Terminal) -> None:
    """Nothing is written to it, neither while the line is there nor when it goes."""
    line = StatusLine(lambda width: "too much", list, terminal.output)
    line._tick()
    line.close()
    os.write(terminal.descriptor, b"behind")
    terminal.read_until("behind")
    assert terminal.shown == "behind"


def test_a_line_is_shown_only_where_it_is_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal that can move its cursor, and not in a CI log."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert (supports_live_line(True), supports_live_line(False)) == (True, False)
    monkeypatch.setenv("CI", "true")
    assert not supports_live_line(True)
    monkeypatch.delenv("CI")
    for name in ("dumb", None):
        monkeypatch.delenv("TERM") if name is None else monkeypatch.setenv("TERM", name)
        assert not supports_live_line(True)


def test_notices_are_printed_at_once_and_progress_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole lines."""
    monkeypatch.setattr(status_line, "INTERVAL_SECONDS", 0.001)
    monkeypatch.setattr(status_line, "LOG_TICKS", 2)
    shown: list[str] = []
    has_progress = threading.Event()

    def write(text: str) -> None:
        shown.append(text)
        if text == "3/8 done":
            has_progress.set()

    counters = Counters(1)
    counters.notify("the endpoint asks to wait 2 min 00 s")
    line = open_line(lambda width: "3/8 done", counters.take_notices, Output(write=write))
    assert has_progress.wait(60)
    counters.notify("the last word")
    line.close()
    assert isinstance(line, LogLine)
    assert shown[0] == "the endpoint asks to wait 2 min 00 s"
    assert set(shown[1:-1]) == {"3/8 done"}
    assert shown[-1] == "the last word"
    assert counters.take_notices() == []
