"""Arbitrary data and bytes, as JSON."""

from __future__ import annotations

import json
from functools import cache

from fuzzing import any_json, any_text, modest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.core import json_io
from equipoise.core.types import JSON


@cache
def as_text(text: str) -> str:
    """The text as JSON can hold it: a high and a low surrogate side by side are one character."""
    return str(json.loads(json.dumps(text)))


exact_json: st.SearchStrategy[JSON] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text.map(as_text),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text.map(as_text), inner, max_size=4),
    max_leaves=20,
)


@modest
@given(exact_json)
def test_what_is_written_as_json_is_read_again(data: JSON) -> None:
    """In one line, indented, or bit by bit: the same data, in UTF-8."""
    line, indented = json_io.dumps(data), json_io.dumps(data, indent=True)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json_io.loads(line) == json_io.loads(indented) == data
    assert json.loads(line.decode("utf-8")) == data
    assert json_io.loads(b"".join(json_io.iter_encoded(data))) == data


@modest
@given(any_json)
def test_anything_is_written_as_strict_json(data: JSON) -> None:
    """A float that is no number becomes null, whatever else stands in the data."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    json.loads(json_io.dumps(data), parse_constant=refuse)
    json.loads(json_io.dumps({"a": data, "b": "\ud800"}), parse_constant=refuse)
