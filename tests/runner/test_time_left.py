"""The time that is left of a session."""

from __future__ import annotations

import random

import pytest

from equipoise.runner.time_left import time_left


@pytest.mark.parametrize(
    ("finished", "elapsed", "left", "is_shown"),
    [
        ([], 600.0, 100, False),
        ([6.0], 6.5, 749, False),
        ([6.0], 20.0, 749, True),
        ([0.1], 0.1, 19, True),
        ([1.0], 30.0, 0, False),
    ],
)
def test_it_is_too_early_to_tell_at_first(
    finished: list[float], elapsed: float, left: int, is_shown: bool
) -> None:
    """Before 20 seconds and a twentieth of the runs, and where none is left, there is no range."""
    assert (time_left(finished, elapsed, left, 0) is not None) == is_shown


def test_a_first_run_does_not_tell_of_an_hour() -> None:
    """With 100 calls in flight, the range after the first of 750 runs has the actual time in it."""
    least, most = time_left([19.0], 20.0, 749, 100) or (0.0, 0.0)
    assert least < 749 / 100 * 20 < most


def test_the_range_has_the_actual_time() -> None:
    """In nineteen of twenty sessions of random speed, at any time when it is shown."""
    chance = random.Random(1)  # noqa: S311 - no secret
    hits = shown = 0
    for _ in range(200):
        speed, moments, now = chance.uniform(0.1, 50), [], 0.0
        for _ in range(400):
            now += chance.expovariate(speed)
            moments.append(now)
        done = chance.randint(20, 399)
        seconds = time_left(moments[:done], moments[done - 1], 400 - done, 0)
        assert seconds is not None
        shown += 1
        hits += seconds[0] <= moments[-1] - moments[done - 1] <= seconds[1]
    assert hits / shown > 0.9
