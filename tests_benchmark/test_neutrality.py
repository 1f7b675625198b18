"""Fifty sensitive questions on Chinese politics, history and governance, in three languages."""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("neutrality")


def test_neutrality(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
