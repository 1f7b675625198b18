"""Estimates the time that a session's remaining runs will take, as a range. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

EARLIEST_SECONDS, EARLIEST_SHARE = 20.0, 0.05
"""The range is shown after this many seconds, or earlier once this share of the runs is done."""
Z = 2.0
"""How many standard deviations (SD) the range covers on each side. The SD of a count is its square root."""


def time_left(
    finished: Sequence[float], elapsed: float, left: int, in_flight: int
) -> tuple[float, float] | None:
    """The lower and upper end of the seconds that `left` further runs take; None while it is too early.

    `finished` are the seconds after the start at which runs ended, in order, without those replayed from the
    journal; `elapsed` is the current second. The range covers three speeds: since the start, of the later
    half of runs, and if all calls in flight returned now. It is widened for the randomness of both counts.
    """
    done = len(finished)
    if not done or not left or (elapsed < EARLIEST_SECONDS and done < EARLIEST_SHARE * (done + left)):
        return None
    half = done // 2
    half_time = finished[half - 1] if half else 0.0
    speeds = (done / elapsed, (done - half) / max(elapsed - half_time, 1e-9), (done + in_flight) / elapsed)
    spread = 1 + Z * math.sqrt(1 / done + 1 / left)
    return left / max(speeds) / spread, left / min(speeds) * spread
