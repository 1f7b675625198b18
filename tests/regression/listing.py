"""Names of figures, and the commands that print and write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from click.testing import CliRunner

from equipoise.cli import main

Figures = Iterator[tuple[str, Any]]
"""Figures by name."""
IDENTITY = (
    "aspect",
    "name",
    "id",
    "question",
    "evaluator",
    "first",
    "second",
    "point",
    "territory",
    "language",
)
"""What identifies an object in a list, by which its figures are named."""


def printed(*words: str, statuses: Sequence[int] = (0,)) -> str:
    """What a command prints that ends with one of these exit statuses."""
    done = CliRunner().invoke(main, words)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in statuses, done.output
    return done.output


def flat(name: str, value: Any) -> Figures:
    """The leaves of a value with their names: keys of objects, and what identifies an object in a list."""
    if isinstance(value, msgspec.Struct):
        yield from flat(name, msgspec.to_builtins(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from flat(f"{name} {key}", item)
    elif isinstance(value, list | tuple):
        items = [msgspec.to_builtins(item) if isinstance(item, msgspec.Struct) else item for item in value]
        for label, item in zip(_labels(items), items, strict=True):
            yield from flat(f"{name} {label}", item)
    else:
        yield name, value


def _labels(items: Sequence[Any]) -> Sequence[str]:
    """What identifies each item of a list; its number, from 1, where that is not enough."""
    labels = [
        " ".join(str(item[key]) for key in IDENTITY if item.get(key) is not None)
        if isinstance(item, Mapping)
        else ""
        for item in items
    ]
    is_enough = all(labels) and len({*labels}) == len(labels)
    return labels if is_enough else [str(number) for number, _ in enumerate(items, 1)]


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The mapping without these keys."""
    return {name: value for name, value in values.items() if name not in names}


def numbered(name: str, text: str) -> Figures:
    """The lines of a text, with their numbers."""
    return ((f"{name} {number}", line.strip()) for number, line in enumerate(text.splitlines(), 1))
