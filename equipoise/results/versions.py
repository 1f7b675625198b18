"""Results of earlier schema versions, converted to the keys of the current one."""

from __future__ import annotations

from equipoise.core.types import JSON

CURRENT = 3
READABLE = (1, 2, CURRENT)
_RENAMED = {"deck": "dataset", "decks": "datasets", "deviation": "sd", "run_deviation": "run_sd"}
"""Keys of versions 1 and 2, and their present names."""


def upgraded(data: JSON) -> JSON:
    """The same results with the keys of the current version; `schema_version` is kept."""
    return _renamed(data) if data["metadata"]["schema_version"] in READABLE[:-1] else data


def _renamed(data: JSON) -> JSON:
    if isinstance(data, dict):
        return {_RENAMED.get(name, name): _renamed(value) for name, value in data.items()}
    return [_renamed(item) for item in data] if isinstance(data, list) else data
