"""Files of saved audits, one for each evaluator and suite; earlier audits are archived."""

from __future__ import annotations

from pathlib import Path

import msgspec

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes
from equipoise.results import store
from equipoise.results.audits import FOLDER
from equipoise.results.document import Audit, KeptAudit

VERSION = "1"
_KEYS = {"evaluator", "suite", "audit"}
_IDENTITY = ("extent", "rubric_hash", "anchors_hash", "response_models", "sampling", "system_prompt")
"""Keys of an audit for `is_alike`: if any differs, the earlier audit is archived rather than replaced."""


def write(folder: Path, evaluator: str, suite: str, audit: Audit) -> Path:
    """Write a complete audit below the folder of results, unless its file has a later audit. Raises OSError.

    An earlier audit of another extent, rubric, model or sampling is archived. Returns the path.
    """
    path = folder / FOLDER / f"{store.file_name(evaluator)}.{suite}.json"
    as_kept: Audit = {**audit, "source": "kept", "differs": []}
    content: KeptAudit = {"version": VERSION, "evaluator": evaluator, "suite": suite, "audit": as_kept}
    if (earlier := _complete(path)) is not None:
        if _date(earlier["audit"]) > _date(as_kept) or earlier == content:
            return path
        if not is_alike(earlier["audit"], as_kept):
            _archive(path, _date(earlier["audit"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    store.write_json(path, content)
    return path


def _date(audit: Audit) -> str:
    return audit["finished"] or ""


def _archive(path: Path, finished: str) -> None:
    stamp = "".join(character for character in finished[:19] if character.isalnum())
    folder = path.parent / store.ARCHIVE
    folder.mkdir(exist_ok=True)
    path.rename(folder / f"{path.stem}.{stamp}.json")


def is_alike(one: Audit, other: Audit) -> bool:
    """Whether two audits have the same extent, texts, models and sampling; dates and verdicts may differ."""
    return all(one.get(name) == other.get(name) for name in _IDENTITY)


def read(folder: Path, evaluator: str, suite: str) -> list[Audit]:
    """The saved audits of an evaluator in a suite, with those in the archive, the latest first."""
    name = f"{store.file_name(evaluator)}.{suite}"
    audits_folder = folder / FOLDER
    paths = (*audits_folder.glob("*.json"), *(audits_folder / store.ARCHIVE).glob("*.json"))
    # The name of an archived file has a date at its end.
    own_paths = (path for path in paths if path.stem == name or path.stem.rpartition(".")[0] == name)
    saved = [content for path in own_paths if (content := _complete(path)) is not None]
    # The name of another evaluator's file may begin in the same way.
    audits = [item["audit"] for item in saved if (item["evaluator"], item["suite"]) == (evaluator, suite)]
    return sorted(audits, key=_date, reverse=True)


def _complete(path: Path) -> KeptAudit | None:
    """The audit in a file; None if the file cannot be read, or has an incomplete audit."""
    try:
        content = load(path)
    except (OSError, UserError):
        return None
    audit = content["audit"]
    return content if audit["state"] == "complete" and audit["finished"] is not None else None


def load(path: Path) -> KeptAudit:
    """The audit in a file. Raises OSError, or UserError for another file, version, or a damaged one."""
    try:
        content = json_io.loads(read_bytes(path))
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(content, dict) or not content.keys() >= _KEYS:
        raise UserError(f"{path}: neither results nor an audit")
    if content.get("version") != VERSION:
        raise UserError(f"{path}: an audit of version {content.get('version')}; this version reads {VERSION}")
    try:
        return msgspec.convert(content, KeptAudit)
    except ValueError as error:
        raise UserError(f"{path}: is damaged: {error}") from None
