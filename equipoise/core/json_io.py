"""JSON as UTF-8 bytes, fast, and without ever refusing a text that a model has written.

orjson does the work. What it does not take, lone surrogates in a text, goes the slower way of the
standard library and is written as escapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import orjson

from equipoise.core.types import JSON


def dumps(data: JSON, *, indent: bool = False) -> bytes:
    """The data as text that ends in a newline: one line of it, or many, indented.

    The order is kept. A float that is no number becomes null. A function in the data is called, and what
    it returns is written.
    """
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(data, _call, option)
    except TypeError:
        # A surrogate becomes its escape, which is what JSON has for it; all else stays as it is.
        return f"{_plain(data, indent=indent)}\n".encode("utf-8", "backslashreplace")


def _plain(data: JSON, *, indent: bool) -> str:
    finite = json.loads(json.dumps(data, default=_call), parse_constant=lambda name: None)
    separators = None if indent else (",", ":")
    return json.dumps(finite, ensure_ascii=False, indent=2 if indent else None, separators=separators)


def _call(data: JSON) -> JSON:
    if callable(data):
        return data()
    raise TypeError(f"{type(data).__name__} is not JSON")


def pieces(data: JSON, depth: int = 4, margin: bytes = b"") -> Iterator[bytes]:
    """The indented text bit by bit, so that it never stands in memory as a whole.

    Objects and arrays down to this depth are taken apart. Joined, the pieces are what `dumps` returns, but
    for the newline at the end.
    """
    if depth == 0 or not isinstance(data, dict | list) or not data:
        yield dumps(data, indent=True).rstrip(b"\n").replace(b"\n", b"\n" + margin)
        return
    inner = margin + b"  "
    opening, closing = (b"{", b"}") if isinstance(data, dict) else (b"[", b"]")
    for number, (label, value) in enumerate(_parts(data)):
        yield (b",\n" if number else opening + b"\n") + inner + label
        yield from pieces(value, depth - 1, inner)
    yield b"\n" + margin + closing


def _parts(data: dict[str, JSON] | list[JSON]) -> Iterator[tuple[bytes, JSON]]:
    """Every value with what stands before it."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield dumps(key).rstrip(b"\n") + b": ", value
    else:
        for value in data:
            yield b"", value


def loads(data: bytes) -> JSON:
    """The data in these bytes. Raises ValueError where they are no JSON, or too deep to be read."""
    try:
        return orjson.loads(data)
    except ValueError:
        # Escaped lone surrogates are valid JSON, which only the standard library reads.
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("too deep") from None
