"""An event loop whose clock stands still while the process does: stopped (SIGSTOP), or on a sleeping laptop.

Time limits of calls and runs are measured on this clock. After the process continues, answers that wait in
sockets are therefore read before a time limit can expire, so no call is sent, and paid for, twice.
"""

from __future__ import annotations

import asyncio

BEAT_SECONDS = 0.25
"""The interval, in seconds, at which the loop reads the clock even if it has nothing else to do."""
LONGEST_GAP = 1.0
"""The longest time, in seconds, between two readings of the clock while the process runs."""


class AwakeLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time` leaves out gaps of more than LONGEST_GAP seconds between two readings."""

    def __init__(self) -> None:
        super().__init__()
        self._left_out = 0.0
        self._last_reading: float | None = None

    def time(self) -> float:
        """The seconds of the monotonic clock, without those in which the process did not run."""
        now = super().time()
        gap = 0.0 if self._last_reading is None else now - self._last_reading
        if gap > LONGEST_GAP:
            self._left_out += gap
        self._last_reading = now
        return now - self._left_out

    def run_forever(self) -> None:
        """Run until `stop` is called. The time between two calls of this method is not left out."""
        self._last_reading = None
        beat = self.call_soon(self._beat)
        try:
            super().run_forever()
        finally:
            # Cancels the first beat if it has not run; later ones end because the loop has stopped.
            beat.cancel()

    def _beat(self) -> None:
        if self.is_running():
            self.call_later(BEAT_SECONDS, self._beat)
