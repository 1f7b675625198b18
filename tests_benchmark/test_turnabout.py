"""Is the same case judged alike when its actors are swapped?"""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("turnabout")


def test_turnabout(record: Record) -> None:
    """A number or a letter came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
