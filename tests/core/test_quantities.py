"""Durations and numbers of things as people read them."""

from __future__ import annotations

from equipoise.core.quantities import counted, duration, span


def test_quantities_are_as_people_read_them() -> None:
    """Durations in two units at most, ranges in whole numbers, counts with their noun."""
    spans = [
        (0, "0.0 s"),
        (0.04, "0.0 s"),
        (3.14, "3.1 s"),
        (10, "10 s"),
        (42.4, "42 s"),
        (59.4, "59 s"),
        (59.7, "1 min 00 s"),
        (60, "1 min 00 s"),
        (65, "1 min 05 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (3600, "1 h 00 min"),
        (7500, "2 h 05 min"),
        (90000, "25 h 00 min"),
    ]
    assert [(seconds, duration(seconds)) for seconds, _ in spans] == spans
    ranges = [
        ((0.2, 3.4), "0 to 3 s"),
        ((4.6, 5.4), "5 s"),
        ((40.0, 89.0), "40 to 89 s"),
        ((40.0, 180.0), "40 s to 3 min"),
        ((100.0, 5000.0), "2 to 83 min"),
        ((300.0, 7200.0), "5 min to 2 h"),
        ((7200.0, 180_000.0), "2 to 50 h"),
    ]
    assert [(ends, span(*ends)) for ends, _ in ranges] == ranges
    counts = (0, 1, 2, 12_345)
    assert [counted(number, "run") for number in counts] == ["0 runs", "1 run", "2 runs", "12,345 runs"]
