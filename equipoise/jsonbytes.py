"""JSON as UTF-8 bytes, fast, and without ever refusing a text that a model has written.

orjson does the work. What it does not take, lone surrogates in a text, goes the slower way of the
standard library and is written as escapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import orjson

from equipoise.types import JSON


def dumps(data: JSON, *, indent: bool = False) -> bytes:
    """The data as text that ends in a newline: one line of it, or many, indented.

    The order is kept. A float that is no number becomes null.
    """
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(data, option=option)
    except TypeError:
        text = json.dumps(data, ensure_ascii=False, indent=2 if indent else None)
        # A surrogate becomes its escape, which is what JSON has for it; all else stays as it is.
        return f"{text}\n".encode("utf-8", "backslashreplace")


def pieces(data: JSON, depth: int = 2, margin: bytes = b"") -> Iterator[bytes]:
    """The indented text bit by bit, so that it never stands in memory as a whole.

    Objects down to this depth are taken apart. Joined, the pieces are what `dumps` returns, but for the
    newline at the end.
    """
    if depth == 0 or not isinstance(data, dict) or not data:
        yield dumps(data, indent=True).rstrip(b"\n").replace(b"\n", b"\n" + margin)
        return
    inner = margin + b"  "
    for number, (key, value) in enumerate(data.items()):
        yield (b",\n" if number else b"{\n") + inner + dumps(key).rstrip(b"\n") + b": "
        yield from pieces(value, depth - 1, inner)
    yield b"\n" + margin + b"}"


def loads(data: bytes) -> JSON:
    """The data in these bytes. Raises ValueError where they are no JSON."""
    try:
        return orjson.loads(data)
    except ValueError:
        # Escaped lone surrogates are valid JSON, which only the standard library reads.
        return json.loads(data)
