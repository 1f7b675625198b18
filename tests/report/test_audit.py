"""The table of an audit's checks."""

from __future__ import annotations

import builders

from equipoise.report.audit import check_rows, describe_audit


def test_a_sound_value_is_shown_with_its_tolerance() -> None:
    """On the sides that are worse, around the sound value."""
    directions = ("lower", "higher", "either")
    checks = [builders.check("x", sound=50.0, tolerance=5.0, worse=worse) for worse in directions]
    _, *rows = check_rows(builders.audit(*checks))
    assert [row[3] for row in rows] == ["at least 45", "at most 55", "45 to 55"]


def test_the_level_is_in_the_finding_and_in_the_table() -> None:
    """How far scores lie from the middle of the bounds, of which no check makes a fault."""
    by_kind = {"all texts": 12.5, "short": -3.0}
    levels = {
        kind: builders.check(f"level, {kind}", value=value, tolerance=12.5) for kind, value in by_kind.items()
    }
    audit = builders.audit(builders.check("length"), levels=levels)
    assert describe_audit(audit).startswith(
        "no fault found; scores lie 12.5 points above the middle of the bounds ("
    )
    assert check_rows(audit)[2:] == [
        ("level, all texts", "+12.5", "-2.0 to 4.0", "-12.5 to 12.5", ""),
        ("level, short", "-3.0", "-2.0 to 4.0", "-12.5 to 12.5", ""),
    ]
    assert "scores lie" not in describe_audit(builders.audit(builders.check("length")))
