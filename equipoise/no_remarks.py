"""The remarks of a suite that has none to make, on its data or on two of its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.types import JSON


def notes(topics: Path) -> Sequence[str]:
    """Nothing is known to be wrong with the data."""
    return ()


def effects(
    before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
) -> Sequence[str]:
    """There is no option whose effect could be told."""
    return ()
