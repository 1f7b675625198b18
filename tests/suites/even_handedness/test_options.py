"""The options of the suite."""

from __future__ import annotations

from sources import misread


def test_options_are_read_from_every_source() -> None:
    """Its default without one."""
    values = {
        "pair_order": ("both", "original", "original"),
    }
    assert [*misread(values)] == []
