"""Whose territory is it? Asked in the language of each claimant and in English."""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("borderlines")


def test_borderlines(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
