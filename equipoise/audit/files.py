"""Reads and writes files of audits, one for each evaluator and suite; earlier ones are archived."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core import json_io
from equipoise.core.files import read_bytes
from equipoise.results import store
from equipoise.results.audits import FOLDER

if TYPE_CHECKING:
    from equipoise.results.document import EvaluatorAudit, KeptAudit

VERSION = "2"
_IDENTITY = ("extent", "rubric_hash", "anchors_hash", "response_models", "sampling", "system_prompt")
"""Keys of an audit. If any differs, an earlier audit is archived rather than replaced."""


def write(folder: Path, evaluator: str, suite: str, audit: EvaluatorAudit) -> Path:
    """Write a complete audit below the folder of results, unless its file has a later one. Raises OSError.

    An earlier audit of another extent, rubric, model or sampling is archived. Returns the path.
    """
    path = folder / FOLDER / f"{store.file_name(evaluator)}.{suite}.json"
    content: KeptAudit = {"version": VERSION, "evaluator": evaluator, "suite": suite, **audit}
    before = _read(path)
    if before is not None:
        if _date(before) > _date(audit) or before == content:
            return path
        if not is_same(before, audit):
            _archive(path, _date(before))
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_json(path, content)
    return path


def _date(audit: EvaluatorAudit) -> str:
    return audit["finished"] or ""


def _archive(path: Path, finished: str) -> None:
    stamp = "".join(character for character in finished[:19] if character.isalnum())
    folder = path.parent / store.ARCHIVE
    folder.mkdir(exist_ok=True)
    path.rename(folder / f"{path.stem}.{stamp}.json")


def is_same(one: EvaluatorAudit, other: EvaluatorAudit) -> bool:
    """Whether two audits are of the same extent, texts, model and sampling."""
    return all(one.get(name) == other.get(name) for name in _IDENTITY)


def read(folder: Path, evaluator: str, suite: str) -> list[KeptAudit]:
    """The saved audits of an evaluator in a suite, also archived ones, the latest first."""
    name = f"{store.file_name(evaluator)}.{suite}"
    home = folder / FOLDER
    paths = (*home.glob("*.json"), *(home / store.ARCHIVE).glob("*.json"))
    own = (path for path in paths if path.stem == name or path.stem.rpartition(".")[0] == name)
    every = [audit for path in own if (audit := _read(path)) is not None]
    fitting = [audit for audit in every if (audit["evaluator"], audit["suite"]) == (evaluator, suite)]
    return sorted(fitting, key=_date, reverse=True)


def _read(path: Path) -> KeptAudit | None:
    """The audit in a file; None if it cannot be read, is incomplete or of another version."""
    try:
        audit: KeptAudit = json_io.loads(read_bytes(path))
        is_known = (
            audit["version"] == VERSION
            and audit["state"] == "complete"
            and isinstance(audit["finished"], str)
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return audit if is_known else None
