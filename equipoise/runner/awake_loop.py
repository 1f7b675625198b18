"""An event loop whose clock stands still while the process does: stopped (SIGSTOP), or on a sleeping laptop.

Time limits of calls and runs count by it. After a stop, answers that wait in sockets are thus read before a
limit can count as over, and no call is asked, and paid for, again.
"""

from __future__ import annotations

import asyncio

BEAT_SECONDS = 0.25
"""The interval at which the loop looks at the clock, however little it has to do."""
LONGEST_GAP = 1.0
"""The longest time, in seconds, between two looks at the clock while the process runs."""


class AwakeLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time` leaves out gaps of more than LONGEST_GAP seconds between two looks."""

    def __init__(self) -> None:
        self._left_out = 0.0
        self._last_look: float | None = None
        super().__init__()

    def time(self) -> float:
        """The seconds of the monotonic clock, without those in which the process did not run."""
        now = super().time()
        gap = 0.0 if self._last_look is None else now - self._last_look
        if gap > LONGEST_GAP:
            self._left_out += gap
        self._last_look = now
        return now - self._left_out

    def run_forever(self) -> None:
        """Run until `stop` is called. Time between two calls counts."""
        self._last_look = None
        beat = self.call_soon(self._beat)
        try:
            super().run_forever()
        finally:
            beat.cancel()

    def _beat(self) -> None:
        if self.is_running():
            self.call_later(BEAT_SECONDS, self._beat)
