"""The table of an audit's checks."""

from __future__ import annotations

import builders

from equipoise.report.audit import check_rows


def test_a_sound_value_is_shown_with_its_tolerance() -> None:
    """On the sides that are worse, around the sound value."""
    directions = ("lower", "higher", "either")
    checks = [builders.check("x", sound=50.0, tolerance=5.0, worse=worse) for worse in directions]
    _, *rows = check_rows(builders.audit(*checks))
    assert [row[3] for row in rows] == ["at least 45", "at most 55", "45 to 55"]
