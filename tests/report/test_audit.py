"""The table of an audit's checks."""

from __future__ import annotations

from typing import Any

from equipoise.report.audit import check_rows


def check(**fields: Any) -> dict[str, Any]:
    """The figures of a check that finds no fault."""
    interval = {"value": 50.0, "low": 48.0, "high": 52.0, "reason": None}
    ruling = {"is_fault": False, "is_by_chance": False}
    return {"name": "x", **interval, "unit": "points", "sound": 50.0, "tolerance": 5.0, **ruling, **fields}


def test_a_sound_value_is_shown_with_its_tolerance() -> None:
    """On the sides that are worse, around the sound value."""
    audit: Any = {
        "checks": [check(worse=worse) for worse in ("lower", "higher", "either")],
        "lean_by_language": {},
    }
    _, *rows = check_rows(audit)
    assert [row[3] for row in rows] == ["at least 45", "at most 55", "45 to 55"]
