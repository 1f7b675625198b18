"""One live line at the bottom of a terminal, under whatever else is printed.

The terminal's scroll region is made one line shorter and the freed line is redrawn by a thread. Each
drawing is one write that saves and restores the cursor, so it never mixes with other output.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

INTERVAL_SECONDS = 0.5
_SAVE, _RESTORE, _CLEAR = "\x1b7", "\x1b8", "\x1b[2K"


class StatusLine:
    """Shows what `text` returns, twice a second, on a terminal (a file descriptor), until it is closed."""

    def __init__(self, text: Callable[[], str], terminal: int) -> None:
        self._text = text
        self._terminal = terminal
        self._size = (0, 0)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._redraw, name="status line", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give the line back to the terminal."""
        self._ended.set()
        self._thread.join()
        rows = self._size[1]
        if rows:
            self._write(f"{_SAVE}\x1b[r\x1b[{rows};1H{_CLEAR}{_RESTORE}")

    def _write(self, text: str) -> None:
        os.write(self._terminal, text.encode("utf-8", "replace"))

    def _redraw(self) -> None:
        while not self._ended.wait(INTERVAL_SECONDS):
            self._draw()

    def _draw(self) -> None:
        # Not shutil's, which asks standard output: that is captured while a test runs.
        columns, rows = os.get_terminal_size(self._terminal)
        if rows < 4:
            return
        start = "" if (columns, rows) == self._size else self._reserve(rows)
        self._size = (columns, rows)
        text = self._text()[: columns - 1]
        self._write(f"{start}{_SAVE}\x1b[{rows};1H{_CLEAR}{text}{_RESTORE}")

    def _reserve(self, rows: int) -> str:
        """Make room below the cursor first: setting the region must not leave it outside."""
        # Not a newline, which a terminal takes for a return as well.
        return f"\x1bD\x1b[A{_SAVE}\x1b[1;{rows - 1}r{_RESTORE}"


def supports(is_terminal: bool) -> bool:
    """Whether a live line can be shown."""
    return is_terminal and os.environ.get("TERM", "dumb") != "dumb" and "CI" not in os.environ
