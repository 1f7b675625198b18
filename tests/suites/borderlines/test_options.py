"""The options of the suite."""

from __future__ import annotations

from sources import misread

from conftest import refusal, resolved


def test_options_are_read_from_every_source() -> None:
    """Their defaults without one; what one of them does not know is refused."""
    values = {
        "strategy": ("vanilla", "all", "all"),
        "method": ("generate", "rank", "rank"),
        "parse": ("own", "original", "original"),
        "option_order": ("seeded", "fixed", "fixed"),
    }
    assert [*misread(values)] == []
    message = refusal(resolved, {"model": "m", "strategy": "pirate"})
    assert (message.startswith("--strategy"), "pirate" in message) == (True, True)
