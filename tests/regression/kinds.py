"""The kinds of figures: those that the list has, and those that results can have by their schema."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from equipoise.results.schema import results_schema

FILE = Path(__file__).resolve().parent / "kinds.toml"
# Regions are named as the published data name them, such as South America.
WORD, REST = r"[^\s]+(?: [A-Z][^\s]*)*", r".+"
Key = str | int
"""A key of an object or the index of an item in a list."""


@cache
def kinds() -> Mapping[str, Sequence[str]]:
    """All kinds with patterns of names: a figure is of the first kind that fits its name.

    In a pattern, `{word}` stands for a text without spaces and `{text...}` for any text.
    """
    return {name: table["figures"] for name, table in _tables()["kind"].items()}


def pattern_of(name: str) -> tuple[str, str] | None:
    """The kind of a figure with this name, and the pattern that fits it; None if there is none."""
    candidates = _by_first_word().get(name.partition(" ")[0], ())
    return next((key for key, expression in candidates if expression.fullmatch(name)), None)


@cache
def _by_first_word() -> Mapping[str, Sequence[tuple[tuple[str, str], re.Pattern[str]]]]:
    """Kinds and patterns with their expressions, by the first word of a pattern, which has no slot."""
    patterns: dict[str, list[tuple[tuple[str, str], re.Pattern[str]]]] = {}
    for kind, of_kind in kinds().items():
        for pattern in of_kind:
            compiled = (kind, pattern), re.compile(_expression(pattern))
            patterns.setdefault(pattern.partition(" ")[0], []).append(compiled)
    return patterns


def _expression(pattern: str) -> str:
    """A regular expression; `(a|b)` in a pattern is a choice."""
    parts = re.split(r"(\{[^}]+\})", pattern)
    return "".join((REST if "..." in part else WORD) if part.startswith("{") else part for part in parts)


@cache
def no_figures() -> Mapping[str, str]:
    """The members of results that are no figures, as `Type.key`, each with what it is instead."""
    return {member: what for what, members in _tables()["no_figures"].items() for member in members}


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


# Results by their schema.


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A value of results that is neither an object nor a list: its member `Type.key`, and where it stands."""

    member: str
    path: tuple[Key, ...]
    value: Any


@cache
def _parts() -> Mapping[str, Any]:
    schema = results_schema()
    return {"Document": schema["$defs"]["Document"], **schema["$defs"]}


def members() -> list[str]:
    """Every member of every type of the schema whose values may be leaves."""
    return [
        f"{part}.{key}"
        for part, schema in _parts().items()
        for key, value in schema.get("properties", {}).items()
        if not _types_in(value)
    ]


def _types_in(schema: Any) -> list[str]:
    """The types that a schema refers to."""
    if isinstance(schema, list):
        return [name for item in schema for name in _types_in(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
    return own + [name for value in schema.values() for name in _types_in(value)]


def leaves(data: Mapping[str, Any]) -> Iterator[Leaf]:
    """The leaves of results."""
    return _leaves(data, {"$ref": "#/$defs/Document"}, "", ())


def _leaves(value: Any, schema: Any, member: str, path: tuple[Key, ...]) -> Iterator[Leaf]:
    part = _type_of(schema)
    if isinstance(value, Mapping):
        properties = _parts()[part].get("properties", {}) if part else {}
        inner = _inner(schema, "additionalProperties")
        for key, item in value.items():
            name = f"{part}.{key}" if part else member
            yield from _leaves(item, properties.get(key, inner), name, (*path, key))
    elif isinstance(value, list):
        inner = _inner(schema, "items")
        for index, item in enumerate(value):
            yield from _leaves(item, inner, member, (*path, index))
    else:
        yield Leaf(member=member, path=path, value=value)


def _type_of(schema: Any) -> str | None:
    names = _options(schema, "$ref")
    return names[0].rpartition("/")[2] if names else None


def _inner(schema: Any, key: str) -> Any:
    """What a schema says of the items of a list, or of the values of a mapping."""
    return next((item for item in _options(schema, key) if isinstance(item, dict)), {})


def _options(schema: Any, key: str) -> list[Any]:
    """The value of this key in a schema, or in any of its alternatives."""
    if not isinstance(schema, dict):
        return []
    alternatives = [schema, *schema.get("anyOf", ()), *schema.get("allOf", ())]
    return [item[key] for item in alternatives if isinstance(item, dict) and key in item]


def with_value(data: Any, path: Sequence[Key], value: Any) -> Any:
    """A copy of data with another value at a path."""
    if not path:
        return value
    first, *rest = path
    if isinstance(data, list):
        assert isinstance(first, int)
        return [*data[:first], with_value(data[first], rest, value), *data[first + 1 :]]
    return {**data, first: with_value(data[first], rest, value)}


def another(value: Any) -> Any:
    """A value that differs from this one and is of its type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return f"{value}x"
