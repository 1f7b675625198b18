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
from equipoise.suites import registry

EXTENDED = ("Metadata", "Summary", "VerdictRow")
"""The parts of the schema to which suites add: options, sums, the fields of their rubric."""


def strict(whole: JSON) -> JSON:
    """The schema without room for further keys, but in the parts to which suites add."""
    parts = {
        name: part if name in EXTENDED else {**part, "unevaluatedProperties": False}
        for name, part in whole["$defs"].items()
    }
    return {**whole, "$defs": parts}


_VALIDATOR = jsonschema_rs.Draft202012Validator(strict(schema.results_schema()))
for known in (suites.names, registry._installed):
    # This may be a process from which sessions are forked, whose suites are not known yet.
    known.cache_clear()


def refuse_undescribed(data: JSON) -> None:
    """Raise AssertionError where results do not follow the schema to the letter."""
    errors = [f"{error.instance_path}: {error.message[:200]}" for error in _VALIDATOR.iter_errors(data)]
    assert not errors, f"not by equipoise/results/document.py: {errors[:5]}"


def checking(write: Callable[[Path, JSON], str]) -> Callable[[Path, JSON], str]:
    """Writes JSON as before, and then reads results again to check them."""

    def write_checked(path: Path, data: JSON) -> str:
        digest = write(path, data)
        written = json_io.loads(path.read_bytes())
        if isinstance(written, dict) and "schema_version" in written.get("metadata", {}):
            refuse_undescribed(written)
        return digest

    return write_checked


unchecked = store.write_json
"""Writes results that need not follow the schema, as those of damaged journals."""
store.write_json = checking(store.write_json)  # type: ignore[assignment]
