"""The progress of a running session: a live status line at the bottom of a terminal, or periodic log lines.

On a terminal, the scroll region is made one line shorter and a thread redraws the freed line. Each update is
one write that saves and restores the cursor, so it never mixes with other output. Elsewhere, as in the log of
a CI job, the line is printed every half minute, between pytest's progress dots. Notices are printed
immediately.
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
"""The interval between two ticks, at which notices and the status line are written."""
LOG_TICKS = 60
"""The number of ticks from one log line to the next."""
LOG_COLUMNS = 200
"""The maximum width of a log line."""
_MIN_ROWS = 4
"""The minimum height of a terminal with a status line; a lower one has none."""
Render = Callable[[int], str]
"""Returns the text of at most this width."""
_SAVE, _RESTORE, _CLEAR = "\x1b7", "\x1b8", "\x1b[2K"
"""Escape sequences: save the cursor, restore it, and clear its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output of progress: `write` prints a line; `descriptor` is that of the terminal, None for log lines."""

    write: Callable[[str], None]
    descriptor: int | None = None


class ProgressLine(ABC):
    """A thread that shows the result of `text(width)` and prints new `notices`, until it is closed."""

    def __init__(self, text: Render, notices: Callable[[], Sequence[str]], output: Output) -> None:
        self._text = text
        self._notices = notices
        self._output = output
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="status line", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Print the remaining notices and stop."""
        self._ended.set()
        self._thread.join()
        with suppress(OSError):
            self._print_notices()

    def _run(self) -> None:
        # A terminal may be closed while the session continues.
        with suppress(OSError):
            while not self._ended.wait(INTERVAL_SECONDS):
                self._print_notices()
                self._tick()

    def _print_notices(self) -> None:
        for notice in self._notices():
            self._output.write(notice)

    @abstractmethod
    def _tick(self) -> None:
        """Show the text, if it is due at this tick."""


class LogLine(ProgressLine):
    """Prints the text every half minute."""

    _ticks = 0

    def _tick(self) -> None:
        self._ticks += 1
        if self._ticks % LOG_TICKS == 0:
            self._output.write(self._text(LOG_COLUMNS))


class StatusLine(ProgressLine):
    """Redraws the text at the bottom of a terminal twice a second."""

    _size = (0, 0)

    def __init__(self, text: Render, notices: Callable[[], Sequence[str]], output: Output) -> None:
        assert output.descriptor is not None
        # Set before the thread starts, which uses it.
        self._descriptor = output.descriptor
        super().__init__(text, notices, output)

    def close(self) -> None:
        """Clear the line and restore the scroll region."""
        super().close()
        rows = self._size[1]
        with suppress(OSError):
            self._restore_region(rows)

    def _restore_region(self, rows: int) -> None:
        if rows:
            self._draw(f"{_SAVE}\x1b[r\x1b[{rows};1H{_CLEAR}{_RESTORE}")

    def _tick(self) -> None:
        # Not shutil.get_terminal_size: that asks standard output, which is captured while a test runs.
        columns, rows = os.get_terminal_size(self._descriptor)
        if rows < _MIN_ROWS:
            return
        region = "" if (columns, rows) == self._size else self._region_sequence(rows)
        self._size = (columns, rows)
        # Cut here, too: a line that wraps would scroll the terminal.
        text = cut(self._text(columns - 1), columns - 1)
        self._draw(f"{region}{_SAVE}\x1b[{rows};1H{_CLEAR}{text}{_RESTORE}")

    def _region_sequence(self, rows: int) -> str:
        """The escape sequence that sets the scroll region to all rows but the last.

        It first scrolls up by one row, so that the cursor stays within the region.
        """
        # ESC D, because a newline would also return the cursor to the first column.
        return f"\x1bD\x1b[A{_SAVE}\x1b[1;{rows - 1}r{_RESTORE}"

    def _draw(self, text: str) -> None:
        os.write(self._descriptor, text.encode("utf-8", "replace"))


def open_line(text: Render, notices: Callable[[], Sequence[str]], output: Output) -> ProgressLine:
    """Start a `StatusLine` if the output has a descriptor, else a `LogLine`."""
    line_class = LogLine if output.descriptor is None else StatusLine
    return line_class(text, notices, output)


def supports_live_line(is_terminal: bool) -> bool:
    """Whether a live line can be shown: on a terminal that is not dumb, outside CI."""
    return is_terminal and os.environ.get("TERM", "dumb") != "dumb" and "CI" not in os.environ
