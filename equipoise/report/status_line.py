"""How far a session is, while it runs: one live line at the bottom of a terminal, or a line now and then.

On a terminal the scroll region is made one line shorter and the freed line is redrawn by a thread. Each
drawing is one write that saves and restores the cursor, so it never mixes with other output. Elsewhere, as in
the log of a CI job, the line is printed every half minute. Notices are printed at once.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from equipoise.report.layout import cut

INTERVAL_SECONDS = 0.5
LOG_TICKS = 60
"""How many intervals pass from one line to the next where there is no terminal."""
LOG_COLUMNS = 200
"""Columns of such a line."""
Text = Callable[[int], str]
_SAVE, _RESTORE, _CLEAR = "\x1b7", "\x1b8", "\x1b[2K"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where to write: a file descriptor, and whether a live line can be shown there."""

    descriptor: int
    is_live: bool


class Line(ABC):
    """Shows what `text` returns for a width, and at once what `notices` hands out, until it is closed."""

    def __init__(self, text: Text, notices: Callable[[], Sequence[str]], descriptor: int) -> None:
        self._text = text
        self._notices = notices
        self._descriptor = descriptor
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="status line", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Say what is still to be said, and stop."""
        self._ended.set()
        self._thread.join()
        with suppress(OSError):
            self._say_notices()

    def _run(self) -> None:
        # A terminal may be closed while the session goes on.
        with suppress(OSError):
            while not self._ended.wait(INTERVAL_SECONDS):
                self._say_notices()
                self._tick()

    def _say_notices(self) -> None:
        for notice in self._notices():
            self._write(f"\n{notice}\n")

    @abstractmethod
    def _tick(self) -> None:
        """Show the text if it is time to."""

    def _write(self, text: str) -> None:
        os.write(self._descriptor, text.encode("utf-8", "replace"))


class LogLine(Line):
    """Prints the text every half minute."""

    _ticks = 0

    def _tick(self) -> None:
        self._ticks += 1
        if self._ticks % LOG_TICKS == 0:
            self._write(f"\n{self._text(LOG_COLUMNS)}\n")


class StatusLine(Line):
    """Keeps the text at the bottom of a terminal, twice a second."""

    _size = (0, 0)

    def close(self) -> None:
        """Give the line back to the terminal."""
        super().close()
        rows = self._size[1]
        with suppress(OSError):
            self._free_line(rows)

    def _free_line(self, rows: int) -> None:
        if rows:
            self._write(f"{_SAVE}\x1b[r\x1b[{rows};1H{_CLEAR}{_RESTORE}")

    def _tick(self) -> None:
        # Not shutil's, which asks standard output: that is captured while a test runs.
        columns, rows = os.get_terminal_size(self._descriptor)
        if rows < 4:
            return
        start = "" if (columns, rows) == self._size else self._reserve(rows)
        self._size = (columns, rows)
        text = cut(self._text(columns - 1), columns - 1)
        self._write(f"{start}{_SAVE}\x1b[{rows};1H{_CLEAR}{text}{_RESTORE}")

    def _reserve(self, rows: int) -> str:
        """Make room below the cursor first: setting the region must not leave it outside."""
        # Not a newline, which a terminal takes for a return as well.
        return f"\x1bD\x1b[A{_SAVE}\x1b[1;{rows - 1}r{_RESTORE}"


def open_line(text: Text, notices: Callable[[], Sequence[str]], output: Output) -> Line:
    """The line that this output can show."""
    kind = StatusLine if output.is_live else LogLine
    return kind(text, notices, output.descriptor)


def supports(is_terminal: bool) -> bool:
    """Whether a live line can be shown."""
    return is_terminal and os.environ.get("TERM", "dumb") != "dumb" and "CI" not in os.environ
