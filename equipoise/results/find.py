"""Finds results files in folders: one rule for pages, exports, comparisons and the Python API."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import open_regular, read_bytes, shown
from equipoise.results.audits import FOLDER as AUDITS
from equipoise.results.store import ARCHIVE, SHARDS

MOST_NAMED = 3
"""Maximum number of skipped files that are named."""
_HEAD = 400
"""The number of bytes that are read first, which is enough to recognise most results."""


def find_results(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The results files at these paths, and lines on the other JSON files in folders. Raises UserError.

    A path to a file is returned unchanged. A folder stands for all results of sessions in it and in its
    subfolders, except subfolders of archived results, shards and audits.
    """
    files: dict[Path, Path] = {}
    skipped: set[Path] = set()
    for path in paths:
        if not path.is_dir():
            files.setdefault(path.resolve(), path)
            continue
        json_files = [
            file
            for file in sorted(path.rglob("*.json"))
            if not {ARCHIVE, AUDITS, SHARDS} & {*file.relative_to(path).parts}
        ]
        results = [file for file in json_files if is_results(file)]
        if not results:
            raise UserError(f"{path}: no results files; run a suite first")
        files |= {file.resolve(): files.get(file.resolve(), file) for file in results}
        skipped |= {*json_files} - {*results}
    return list(files.values()), _describe_skipped(sorted(map(shown, skipped)))


def find_one(path: Path, suite: str) -> Path | None:
    """The results file of a suite: `path` itself, or in a folder, the file named after the suite.

    None if a folder has no such file. Raises UserError if it has several.
    """
    if not path.is_dir():
        return path
    exact = path / f"{suite}.json"
    files = [exact] if exact.is_file() else sorted(path.glob(f"*.{suite}.json"))
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise UserError(f"{path}: has several results of {suite} ({names}); name one of them {exact.name}")
    return files[0] if files else None


def is_results(path: Path) -> bool:
    """Whether a file has results of a session, not those of a published benchmark."""
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD)
        if b'"metadata"' in head and b'"schema_version"' in head:
            return True
        # Another tool may have written the keys in another order.
        return "schema_version" in json_io.loads(read_bytes(path))["metadata"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _describe_skipped(names: Sequence[str]) -> list[str]:
    if len(names) < 2:
        return [f"skipped: {name} is not an Equipoise results file" for name in names]
    more = ", ..." if len(names) > MOST_NAMED else ""
    first_names = ", ".join(names[:MOST_NAMED])
    return [f"skipped: {len(names)} JSON files that are not Equipoise results: {first_names}{more}"]
