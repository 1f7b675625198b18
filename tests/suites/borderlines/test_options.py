"""The options of the suite."""

from __future__ import annotations

from sources import misread


def test_options_are_read_from_every_source() -> None:
    """Their defaults without one."""
    values = {
        "strategy": ("vanilla", "all", "all"),
        "method": ("generate", "rank", "rank"),
        "parse": ("own", "original", "original"),
        "option_order": ("seeded", "fixed", "fixed"),
    }
    assert [*misread(values)] == []
