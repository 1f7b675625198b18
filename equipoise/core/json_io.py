"""Fast JSON as UTF-8 bytes, for any text that a model may write.

Data that orjson refuses, such as lone surrogates, goes through the standard library.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from equipoise.core.lazy import LazySequence
from equipoise.core.types import JSON


def dumps(data: JSON, *, indent: bool = False) -> bytes:
    """Encode data as compact or indented JSON that ends in a newline; the order of keys is kept.

    NaN and infinity become null. A msgspec Struct is encoded as an object, a lazy sequence as an array. A
    callable in the data is called, and its return value encoded.
    """
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(data, _as_json, option)
    except TypeError:
        # Lone surrogates become escapes; other characters stay as they are. `is_encodable` lists the causes.
        return f"{_dumps_with_stdlib(data, indent=indent)}\n".encode("utf-8", "backslashreplace")


def is_encodable(data: JSON) -> bool:
    """Whether orjson encodes the data.

    It refuses lone surrogates, integers above 64 bits, and keys that are not strings.
    """
    try:
        orjson.dumps(data)
    except TypeError:
        return False
    return True


def _dumps_with_stdlib(data: JSON, *, indent: bool) -> str:
    # NaN and infinity become null, as orjson writes them.
    finite = json.loads(json.dumps(data, default=_as_json), parse_constant=lambda name: None)
    separators = None if indent else (",", ":")
    return json.dumps(finite, ensure_ascii=False, indent=2 if indent else None, separators=separators)


def _as_json(data: JSON) -> JSON:
    if isinstance(data, msgspec.Struct):
        return msgspec.to_builtins(data)
    if isinstance(data, LazySequence):
        return data.read()
    if callable(data):
        return data()
    raise TypeError(f"{type(data).__name__} is not JSON")


def iter_encoded(data: JSON, depth: int = 4, margin: bytes = b"") -> Iterator[bytes]:
    """Encode data as indented JSON piece by piece, so that the whole text is never in memory.

    Objects and arrays are split down to `depth`. By default, the largest piece of results is one question.
    `margin` is the indentation of all lines but the first. The pieces, joined, are the output of `dumps`
    without its final newline. Values that `split` returned are copied as they were.
    """
    if isinstance(data, msgspec.Raw):
        yield bytes(data)
        return
    if depth == 0 or not isinstance(data, dict | list) or not data:
        yield dumps(data, indent=True).rstrip(b"\n").replace(b"\n", b"\n" + margin)
        return
    inner = margin + b"  "
    opening, closing = (b"{", b"}") if isinstance(data, dict) else (b"[", b"]")
    for number, (label, value) in enumerate(_encoded_items(data)):
        yield (b",\n" if number else opening + b"\n") + inner + label
        yield from iter_encoded(value, depth - 1, inner)
    yield b"\n" + margin + closing


def _encoded_items(data: dict[str, JSON] | list[JSON]) -> Iterator[tuple[bytes, JSON]]:
    """Each value of an object or array, after its encoded key (empty in an array)."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield dumps(key).rstrip(b"\n") + b": ", value
    else:
        for value in data:
            yield b"", value


def loads(data: bytes) -> JSON:
    """Decode JSON. Raises ValueError if it is invalid or nested too deeply.

    NaN, Infinity and -Infinity are accepted, as some endpoints send them; readers check their numbers.
    """
    try:
        return orjson.loads(data)
    except ValueError:
        # Escaped lone surrogates are valid JSON, which only the standard library reads.
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def as_type(data: JSON, expected: Any) -> Any:
    """Plain data, or a value that `split` returned, as this type. Raises ValueError."""
    if isinstance(data, msgspec.Raw):
        return msgspec.json.decode(data, type=expected)
    return msgspec.convert(data, expected)


def split(data: bytes) -> dict[str, msgspec.Raw]:
    """The values of an object by key, not decoded. Raises ValueError if it is invalid."""
    return msgspec.json.decode(data, type=dict[str, msgspec.Raw])
