"""JSON as bytes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from equipoise.core import json_io
from equipoise.core.json_io import dumps, is_encodable, iter_encoded, loads
from equipoise.core.types import Message

VALUES: dict[str, Any] = {
    "empty": {},
    "flat": {"a": 1, "b": [1, {"c": "d"}], "e": {}},
    "deep": {"a": {"b": {"c": {"d": [{}, []]}}, "x": {}}, "y": {"z": None}},
    "list": [{"a": 1}, [], [2, [3, {"b": []}]], "x"],
    "lists-in-lists": [[[[[1, 2], 3], 4], 5], 6],
    "numbers": [0, -1, 1.5, 2**63, 1e300],
    "text": "香港 \u2028 é",
    "surrogate": {"a": {"b": "cut \ud83d here, 香港"}},
    "surrogate-in-key": {"\udc80": ["a", {"b": {}}]},
    "quotes": {'a"b': {"\n": "\t"}},
}
DEPTHS = (0, 1, 2, 4, 9)


def test_pieces_are_the_whole() -> None:
    """Taken apart at any depth and joined, the text is the same; functions, also in functions, are called."""
    for (name, value), depth in itertools.product(VALUES.items(), DEPTHS):
        assert b"".join(iter_encoded(value, depth)) + b"\n" == dumps(value, indent=True), (name, depth)
        lazy = {"here": lambda value=value: value, "below": lambda value=value: {"deep": [lambda: value, 1]}}
        there = {"here": value, "below": {"deep": [value, 1]}}
        assert b"".join(iter_encoded(lazy, depth)) + b"\n" == dumps(there, indent=True), (name, depth)
        assert dumps(lazy) == dumps(there), name


@pytest.mark.parametrize("indent", [False, True])
def test_a_surrogate_changes_only_itself(indent: bool) -> None:
    """What goes the slower way looks as everything else does, but for the escape; keys keep their order."""
    plain = dumps({"d": ["x", {"c": "香港", "b": []}], "a": 1.5}, indent=indent)
    odd = dumps({"d": ["\ud83d", {"c": "香港", "b": []}], "a": 1.5}, indent=indent)
    assert odd == plain.replace(b'"x"', b'"\\ud83d"')
    assert (list(loads(odd)), list(loads(odd)["d"][1])) == (["d", "a"], ["c", "b"])


def test_only_half_characters_make_data_less_than_whole() -> None:
    """Wherever they are, in texts or in keys."""
    assert {name for name, value in VALUES.items() if not is_encodable(value)} == {
        "surrogate",
        "surrogate-in-key",
    }


def test_transcripts_go_the_quick_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of results that are made when they are written."""
    monkeypatch.delattr(json_io, "_dumps_with_stdlib")
    messages: list[Message] = [{"role": "user", "content": "x"}]
    run = {"subject_transcript": lambda: messages, "evaluator_transcripts": lambda: []}
    assert loads(dumps(run)) == {"subject_transcript": messages, "evaluator_transcripts": []}


NO_NUMBERS = [float("nan"), float("inf"), float("-inf")]


@pytest.mark.parametrize("companion", ["plain", "\ud83d"], ids=["fast_way", "slow_way"])
def test_a_float_that_is_no_number_is_null(companion: str) -> None:
    """NaN and the infinities are no JSON, whichever way the data goes; the numbers beside them stay."""
    data = {"text": companion, "numbers": [*NO_NUMBERS, 1.5, {"deep": NO_NUMBERS[0]}]}
    written = dumps(data)
    assert loads(written) == {"text": companion, "numbers": [None, None, None, 1.5, {"deep": None}]}
    assert b"NaN" not in written
    assert b"".join(iter_encoded(data)) + b"\n" == dumps(data, indent=True)


# Functions in the data.


def test_functions_are_called_one_after_the_other_as_pieces_are_taken() -> None:
    """No more of the data is in memory than what is being written."""
    called: list[int] = []

    def part(number: int) -> Callable[[], int]:
        def make() -> int:
            called.append(number)
            return number

        return make

    taken = iter_encoded({"parts": [part(1), part(2), part(3)]})
    assert called == []
    pieces = [(piece, len(called)) for piece in taken]
    assert [count for piece, count in pieces if piece in (b"1", b"2", b"3")] == [1, 2, 3]
    assert called == [1, 2, 3]


def test_what_is_no_json_is_an_error() -> None:
    """By the name of its type, also where a function returns it; a function's own error is raised."""
    for error in (KeyError("x"), TypeError("of its own"), OSError(2, "gone")):

        def fail(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)) as caught:
            dumps({"a": fail})
        assert caught.value is error
    for value in ({1, 2}, object(), b"bytes"):
        for data in (value, lambda value=value: value):
            with pytest.raises(TypeError, match=f"{type(value).__name__} is not JSON"):
                dumps({"a": data})


# Reading.


def test_what_is_no_json_is_not_read() -> None:
    """It raises ValueError, whatever is wrong with it; NaN and infinities, as Python sends them, are read."""
    for data in (b"", b"{", b'{"a":1}{"b":2}', b"\xff", b'"\x00', b"[" * 200_000, b"9" * 5000):
        with pytest.raises(ValueError):  # noqa: PT011 - what it says is the parser's business
            loads(data)
    nan, *infinities = loads(b"[NaN,Infinity,-Infinity]")
    assert nan != nan
    assert infinities == [float("inf"), float("-inf")]
