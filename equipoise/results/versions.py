"""Results of earlier versions, under the keys of this one."""

from __future__ import annotations

from equipoise.core.types import JSON

CURRENT = 3
READABLE = (1, 2, CURRENT)
_RENAMED = {"deck": "dataset", "decks": "datasets", "deviation": "sd", "run_deviation": "run_sd"}
"""What versions 1 and 2 called them."""


def upgraded(data: JSON) -> JSON:
    """The same results under the keys of this version; their `schema_version` stays."""
    return _renamed(data) if data["metadata"]["schema_version"] in READABLE[:-1] else data


def _renamed(data: JSON) -> JSON:
    if isinstance(data, dict):
        return {_RENAMED.get(name, name): _renamed(value) for name, value in data.items()}
    return [_renamed(item) for item in data] if isinstance(data, list) else data
