"""Lines of the result file of a batch: what each says of its request."""

from __future__ import annotations

from equipoise.runner.batches.endpoint import read_result_line


def test_a_status_that_is_true_is_no_status() -> None:
    """True is an integer in Python: a line with it does not say how the call ended."""
    line = read_result_line(b'{"custom_id": "a", "response": {"status_code": true, "body": {}}}')
    assert line is None
    valid = read_result_line(b'{"custom_id": "a", "response": {"status_code": 200, "body": {}}}')
    assert valid is not None
    assert valid.status == 200
