"""Results files of published benchmarks: adapted to our format, or completed in their own.

Each format is defined by the suite of its benchmark, in the module `published` of its package.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from equipoise import suites
from equipoise.core.errors import UserError
from equipoise.core.files import read_text, shown
from equipoise.core.types import JSON
from equipoise.results import store
from equipoise.results.document import SCHEMA_VERSION


class ResultsFormat(Protocol):
    """A module that reads the results files of a published benchmark."""

    BENCHMARK: str
    """The name of the published benchmark."""

    def is_published(self, data: JSON) -> bool:
        """Whether data are results of the published benchmark, in its old or its current format."""

    def is_old(self, data: Mapping[str, JSON]) -> bool:
        """Whether published results are in the old format, which `complete` converts to the current one."""

    def complete(self, data: Mapping[str, JSON]) -> tuple[dict[str, JSON], Counter[str]]:
        """Results in the benchmark's current format, and how often each field was added.

        Raises ValueError.
        """

    def adapt(self, data: Mapping[str, JSON]) -> dict[str, JSON]:
        """The results in our format, without its version. Raises ValueError naming the field."""


def adapt_results(path: Path, data: JSON) -> JSON:
    """Results in our format, converted if a published benchmark wrote them.

    Other data are returned unchanged. Raises UserError.
    """
    if (published := _format_of(data)) is None:
        return data
    if published.is_old(data):
        raise UserError(
            f"{path}: is of the old format of the published benchmark; complete it first: "
            f"equipoise export {path} --to published -o NEW.json"
        )
    try:
        adapted = published.adapt(data)
    except ValueError as error:
        raise UserError(f"{path}: is damaged: {error}") from None
    return {**adapted, "metadata": {"schema_version": SCHEMA_VERSION, **adapted["metadata"]}}


def _format_of(data: JSON) -> ResultsFormat | None:
    # Suites are slow to import, and most results are our own.
    return None if is_ours(data) else next((item for item in _formats() if item.is_published(data)), None)


def is_ours(data: JSON) -> bool:
    """Whether Equipoise wrote these results."""
    metadata = data.get("metadata") if isinstance(data, dict) else None
    return isinstance(metadata, dict) and "schema_version" in metadata


def _formats() -> Iterator[ResultsFormat]:
    return iter(suites.modules("published").values())


# Converting.


def convert(source: Path, target: Path) -> list[str]:
    """Complete published results and write them to a new file. Returns messages. Raises UserError."""
    _refuse_existing(source, target)
    try:
        data = _read(source)
        if (published := _format_of(data)) is None:
            raise ValueError(_why_unknown(data))
        completed, added = published.complete(data)
        store.write_json(target, completed)
    except ValueError as error:
        raise UserError(f"{source}: {error}") from None
    except RecursionError:
        raise UserError(f"{source}: is nested too deeply to be results") from None
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror})") from None
    return [*_describe_added(added), f"written to {shown(target)}"]


def _refuse_existing(source: Path, target: Path) -> None:
    """Raise UserError if the output exists, or is the input under another name."""
    try:
        is_same = target.samefile(source)
    except OSError:
        is_same = False
    if is_same:
        raise UserError(f"{target}: is the input, which is never overwritten; name another with -o")
    if os.path.lexists(target):
        raise UserError(f"{target}: exists already; name another with -o, or remove it")


def _describe_added(added: Counter[str]) -> Iterator[str]:
    yield from (f"added {name}: {count}" for name, count in added.items())
    if not added:
        yield "nothing was missing"


def _why_unknown(data: JSON) -> str:
    if is_ours(data):
        return "is a results file of Equipoise, which has everything; there is nothing to convert"
    known = " or ".join(item.BENCHMARK for item in _formats())
    return f"not a results file of the {known}; only those can be converted"


# Reading.


def _read(path: Path) -> JSON:
    """Read JSON, rejecting duplicate keys and numbers that are not finite. Raises UserError or ValueError."""
    try:
        return json.loads(
            read_text(path),
            object_pairs_hook=_build_object,
            parse_constant=_refuse_constant,
            parse_float=_read_float,
        )
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None


def _build_object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    """The dict of a JSON object. Raises ValueError for a duplicate key."""
    content = dict(pairs)
    if len(content) < len(pairs):
        name, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"has the key {name!r} twice in one object; one of the two would be lost")
    return content


def _refuse_constant(name: str) -> JSON:
    raise ValueError(f"has a {name}, which is neither a number nor JSON; put null there")


def _read_float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"has the number {text}, which is too large to represent")
    return value
