"""Which values does a model show in a role-play whose pressure rises?"""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("politicsbench")


def test_politicsbench(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
