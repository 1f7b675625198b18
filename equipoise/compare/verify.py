"""Whether results are what their journal says: their figures are computed again from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.compare.baseline import DAMAGE, Side, load, scale_of
from equipoise.core.errors import UserError
from equipoise.core.records import Cell
from equipoise.results import build, journal, store
from equipoise.results.history import History
from equipoise.suites.resources import nearest


def load_verified(path: Path) -> Side:
    """The results in a file, with its `doubt`. Raises UserError."""
    found = load(path)
    return replace(found, doubt=_doubt(path, found))


def _doubt(path: Path, side: Side) -> str | None:
    beside = store.files(path.parent, path, "", "").journal
    if not beside.is_file():
        return "its journal is not beside it"
    try:
        if journal.other_format(beside) is not None:
            return "its journal is of another version"
        history = History(beside)
        history.refresh()
        if build.verdicts_digest(history.records()) != side.metadata.get("verdicts_sha256"):
            return "it was not made of the verdicts in its journal"
        is_same = _cells(history, side) == list(side.cells)
    except (OSError, UserError, *DAMAGE):
        return "its journal cannot be read"
    return None if is_same else "its figures are not those of its journal"


def _cells(history: History, side: Side) -> Sequence[Cell]:
    rubric = side.suite.rubric(nearest(f"rubric/{side.suite.NAME}.toml", Path.cwd()))
    results = side.suite.aggregate(history.records(), rubric).results
    return list(side.suite.cells(results, scale_of(side.metadata)))
