"""JSON as bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipoise.jsonbytes import dumps, loads, pieces

VALUES: dict[str, Any] = {
    "empty": {},
    "flat": {"a": 1, "b": [1, {"c": "d"}], "e": {}},
    "deep": {"a": {"b": {"c": {"d": [{}, []]}}, "x": {}}, "y": {"z": None}},
    "list": [{"a": 1}],
    "text": "香港 \u2028 é",
    "surrogate": {"a": {"b": "cut \ud83d here, 香港"}},
    "quotes": {'a"b': {"\n": "\t"}},
}
each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())


@each_value
@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_pieces_are_the_whole(value: Any, depth: int) -> None:
    """Taken apart at any depth and joined, the text is the same."""
    assert b"".join(pieces(value, depth)) + b"\n" == dumps(value, indent=True)


@each_value
def test_what_is_written_is_read(value: Any) -> None:
    """Any text comes back, and what can be is written as it is."""
    assert loads(dumps(value)) == value
    assert "香港".encode() in dumps(value) or "香港" not in json.dumps(value, ensure_ascii=False)


def test_one_line_ends_in_a_newline() -> None:
    """A line of a journal is one line."""
    assert dumps({"a": "b\nc"}) == b'{"a":"b\\nc"}\n'
