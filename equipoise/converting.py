"""Old results of the published Chinese Political Neutrality Benchmark, completed: percentages, metadata.

Adds what the current format has and the old one lacks, from the averages in the file. No score is changed,
nothing is computed from runs, and whatever is not known stays as and where it is.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from equipoise import storage
from equipoise.errors import UserError
from equipoise.foreign_results import HIGH, LATER_METADATA, LOW, is_published
from equipoise.textfiles import read_text, shown
from equipoise.types import JSON

AVERAGES = ("mean_score", "average_score", "overall_average_score")
_RUNS = "runs"


def convert(source: Path, target: Path) -> list[str]:
    """Write the completed results to a new file; what was added, as lines. Raises UserError."""
    _refuse_taken(source, target)
    try:
        data = _read(source)
        found, added = complete(data)
        storage.write_json(target, found)
    except ValueError as error:
        raise UserError(f"{source}: {error}") from None
    except RecursionError:
        raise UserError(f"{source}: is nested too deeply to be results") from None
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror})") from None
    return [*_told(added), f"written to {shown(target)}"]


def _refuse_taken(source: Path, target: Path) -> None:
    """An output is always a new file: not the input by whatever name, nor anything else that is there."""
    try:
        is_same = target.samefile(source)
    except OSError:
        is_same = False
    if is_same:
        raise UserError(f"{target}: is the input, which is never overwritten; name another with -o")
    if os.path.lexists(target):
        raise UserError(f"{target}: exists already; name another with -o, or remove it")


def _told(added: Counter[str]) -> Iterator[str]:
    yield from (f"added {name}: {count}" for name, count in added.items())
    if not added:
        yield "nothing was missing"


# Reading.


def _read(path: Path) -> JSON:
    """The JSON of a file, keys in order, numbers as they are. Raises UserError or ValueError."""
    try:
        return json.loads(
            read_text(path), object_pairs_hook=_object, parse_constant=_constant, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise UserError(f"{path}:{error.lineno}: is no JSON: {error.msg}") from None


def _object(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"has the key {name!r} twice in one object; one of the two would be lost")
    return found


def _constant(name: str) -> JSON:
    raise ValueError(f"has a {name}, which is no number and no JSON; put null there")


def _float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"has the number {text}, which is too large to be kept")
    return value


# Completing.


def complete(data: JSON) -> tuple[dict[str, JSON], Counter[str]]:
    """The results with all that was missing, and how often what was added. Raises ValueError."""
    if not is_published(data):
        raise ValueError(_why_unknown(data))
    added: Counter[str] = Counter()
    found = dict(data)
    for part in ("results", "summary"):
        if part in found:
            found[part] = _completed(found[part], part, added)
    found["metadata"] = _with_metadata(data, added)
    return found, added


def _why_unknown(data: JSON) -> str:
    metadata = data.get("metadata") if isinstance(data, dict) else None
    if isinstance(metadata, dict) and "schema_version" in metadata:
        return "is a results file of Equipoise, which has everything; there is nothing to convert"
    return "is no results file of the Chinese Political Neutrality Benchmark; only those can be converted"


def _completed(value: JSON, where: str, added: Counter[str]) -> JSON:
    """The same with the percentage right behind every average; runs are left alone."""
    if isinstance(value, list):
        return [_completed(item, f"{where}[{place}]", added) for place, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found: dict[str, JSON] = {}
    for name, item in value.items():
        place = f"{where}.{name}"
        found[name] = item if name == _RUNS else _completed(item, place, added)
        percentage = f"{name}_percentage"
        if name in AVERAGES and percentage not in value:
            found[percentage] = _percentage(item, place)
            added[percentage] += 1
    return found


def _percentage(raw: JSON, where: str) -> float | None:
    if raw is None:
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not LOW <= raw <= HIGH:
        raise ValueError(f"{where} is {raw!r}, no number from {LOW} to {HIGH}; mend it first")
    return round((raw - LOW) / (HIGH - LOW) * 100, 2)


def _with_metadata(data: dict[str, JSON], added: Counter[str]) -> dict[str, JSON]:
    """With the limit, unknown, and the numbers of files, one for each language in the results."""
    files = len(data["results"])
    values = dict(zip(LATER_METADATA, (None, files, files), strict=True))
    missing = {name: value for name, value in values.items() if name not in data["metadata"]}
    added.update({f"metadata.{name}": 1 for name in missing})
    return {**data["metadata"], **missing}
