"""The keys of JSON data as text, one path a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any


def key_paths(data: Any, left_out: tuple[str, ...] = ()) -> list[str]:
    """The path of each key, sorted; a `?` marks one that some of the objects there lack.

    The items of a list are alike (`[]`), and so are the values of an object of objects (`*`), such as metrics
    by their names. Paths that begin with one of `left_out` are left out.
    """
    objects = Counter[str]()
    present = Counter[tuple[str, str]]()
    for path, value in _objects(data, ""):
        objects[path] += 1
        present.update((path, key) for key in value)
    lines = (
        f"{path}.{key}".lstrip(".") + ("?" if count < objects[path] else "")
        for (path, key), count in present.items()
    )
    return sorted(line for line in lines if not line.startswith(left_out))


def _objects(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All objects with their paths, those inside others, too."""
    if isinstance(value, list):
        for item in value:
            yield from _objects(item, f"{path}[]")
    elif isinstance(value, dict):
        yield path, value
        is_map = _has_only_objects(value)
        for key, item in value.items():
            yield from _objects(item, f"{path}.{'*' if is_map else key}")


def _has_only_objects(value: Mapping[str, Any]) -> bool:
    present = [item for item in value.values() if item is not None]
    return bool(present) and all(isinstance(item, dict) for item in present)
