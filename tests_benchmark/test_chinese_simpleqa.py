"""Short questions of fact in Chinese: right, wrong or not attempted?"""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("chinese_simpleqa")


def test_chinese_simpleqa(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
