"""The time that a session's remaining runs will take, as a range. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

EARLIEST = 20.0
"""Seconds after which the range is shown, however few runs are done."""
SHARE = 0.05
"""The share of runs after which it is shown, however short the time."""
Z = 2.0
"""The standard deviations of a count, its square root, the range covers on each side."""


def time_left(
    finished: Sequence[float], elapsed: float, left: int, in_flight: int
) -> tuple[float, float] | None:
    """The least and the most seconds for `left` further runs; None while it is too early to tell.

    `finished` are the seconds at which runs ended, in order, without those replayed from the journal.
    The range spans the speed since the start, that of the later half, and the speed if all calls in flight
    returned now; then it is widened by the chance in both counts.
    """
    done = len(finished)
    if not done or not left or (elapsed < EARLIEST and done < SHARE * (done + left)):
        return None
    half = done // 2
    since = finished[half - 1] if half else 0.0
    speeds = (done / elapsed, (done - half) / max(elapsed - since, 1e-9), (done + in_flight) / elapsed)
    spread = 1 + Z * math.sqrt(1 / done + 1 / left)
    return left / max(speeds) / spread, left / min(speeds) * spread
