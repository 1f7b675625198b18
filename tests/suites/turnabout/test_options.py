"""The options of the suite."""

from __future__ import annotations

from sources import misread


def test_options_are_read_from_every_source() -> None:
    """Its default without one."""
    values = {
        "pairs": ((), "us_parties", ("us_parties",)),
    }
    assert [*misread(values)] == []
