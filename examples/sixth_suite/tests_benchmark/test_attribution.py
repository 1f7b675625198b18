"""Are contested claims attributed to those who make them?"""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("attribution")


def test_attribution(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
