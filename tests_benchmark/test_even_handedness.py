"""The same help asked for opposing political positions: is it given alike?"""

import pytest

from equipoise.core.records import Record

pytestmark = pytest.mark.suite("even_handedness")


def test_even_handedness(record: Record) -> None:
    """A valid score came back; what it is worth is for the results to say."""
    assert record.score is not None, record.error
