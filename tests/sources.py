"""Where the value of an option comes from: nothing, the command line, the environment and pytest.ini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conftest import ALL_OPTIONS, resolved

SHAPES = {option.name: option for option in ALL_OPTIONS}


def sources(name: str, text: str, more: Mapping[str, Any] | None = None) -> list[tuple[dict[str, Any], ...]]:
    """What `resolved` takes of each source that gives this text; `more` is on the command line as well."""
    value = [text] if SHAPES[name].many else True if SHAPES[name].switch else text
    return [
        ({**(more or {}), name: value},),
        (dict(more or {}), {f"EQUIPOISE_{name.upper()}": text}),
        (dict(more or {}), {}, {name: text}),
    ]


def misread(values: Mapping[str, tuple[Any, str, Any]]) -> Iterator[tuple[str, Any]]:
    """The options of a suite that have another value, with the source.

    `values` has each option's default, a text, and the value that this text is.
    """
    for name, (default, text, value) in values.items():
        for source, expected in [((), default), *((source, value) for source in sources(name, text))]:
            if resolved(*source).suite_options[name] != expected:
                yield name, source
