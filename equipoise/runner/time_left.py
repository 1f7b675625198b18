"""Estimates the time that a session's remaining runs will take, as a range. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

EARLIEST = 20.0
"""The range is shown after this many seconds, even if few runs are done."""
SHARE = 0.05
"""Or it is shown after this share of the runs, even if little time has passed."""
Z = 2.0
"""How many standard deviations the range covers on each side. That of a count is its square root."""


def time_left(
    finished: Sequence[float], elapsed: float, left: int, in_flight: int
) -> tuple[float, float] | None:
    """The lower and upper end of the seconds that `left` further runs take; None while it is too early.

    `finished` are the seconds after the start at which runs ended, in order, without those replayed from the
    journal; `elapsed` is the current second. The range covers three speeds: since the start, of the later
    half of runs, and if all calls in flight returned now. It is widened for the randomness of both counts.
    """
    done = len(finished)
    if not done or not left or (elapsed < EARLIEST and done < SHARE * (done + left)):
        return None
    half = done // 2
    since = finished[half - 1] if half else 0.0
    speeds = (done / elapsed, (done - half) / max(elapsed - since, 1e-9), (done + in_flight) / elapsed)
    spread = 1 + Z * math.sqrt(1 / done + 1 / left)
    return left / max(speeds) / spread, left / min(speeds) * spread
