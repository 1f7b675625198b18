"""Every results file that a test writes, in this process or a session's, is held against the JSON Schema.

Keys that the schema does not name are refused, too: readers may ignore them, but they have to be documented.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jsonschema_rs

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.types import JSON
from equipoise.results import schema, store


def strict(part: JSON) -> JSON:
    """The schema without room for further keys, but in parts that others refer to and extend."""
    if isinstance(part, list):
        return [strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    found = {name: strict(value) for name, value in part.items()}
    is_extended = part.get("$comment") == "extended by suites" or "$id" in part or "type" not in part
    if isinstance(part.get("properties"), dict) and not is_extended:
        found["unevaluatedProperties"] = False
    return found


_VALIDATOR = jsonschema_rs.Draft202012Validator(strict(schema.whole()))
for known in (suites.names, suites._installed):
    # This may be a process from which sessions are forked, whose suites are not known yet.
    known.cache_clear()


def refuse_undescribed(data: JSON) -> None:
    """Raise AssertionError where results do not follow the schema to the letter."""
    found = [f"{error.instance_path}: {error.message[:200]}" for error in _VALIDATOR.iter_errors(data)]
    assert not found, f"not by equipoise/results/schema.json: {found[:5]}"


def checking(write: Callable[[Path, JSON], None]) -> Callable[[Path, JSON], None]:
    """Writes JSON as before, and then reads results again to check them."""

    def write_checked(path: Path, data: JSON) -> None:
        write(path, data)
        if isinstance(data, dict) and "schema_version" in data.get("metadata", {}):
            refuse_undescribed(json_io.loads(path.read_bytes()))

    return write_checked


unchecked = store.write_json
"""Writes results that need not follow the schema, as those of damaged journals."""
store.write_json = checking(store.write_json)
