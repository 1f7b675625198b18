"""Outcomes of runs: what the program knows of each is complete."""

from __future__ import annotations

from equipoise.core.outcomes import APPEARANCES
from equipoise.core.rows import ROW_OUTCOMES
from equipoise.results.document import OutcomeCounts


def test_every_outcome_has_an_appearance_and_is_counted() -> None:
    """In one order; no two have one colour, one letter or one name in a sentence."""
    assert [*APPEARANCES] == [*ROW_OUTCOMES]
    assert [*OutcomeCounts.__annotations__] == [*ROW_OUTCOMES]
    for field in ("colour", "letter", "words"):
        values = [value for appearance in APPEARANCES.values() if (value := getattr(appearance, field))]
        assert len({*values}) == len(values), field
