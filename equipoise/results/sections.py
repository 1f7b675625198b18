"""Sections that commands add to finished results: written to the file, and to its journal if it exists.

So results that are rebuilt from the journal have them, too, as long as the verdicts are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import CannotKeep, UserError
from equipoise.core.files import read_bytes, shown
from equipoise.core.types import JSON
from equipoise.results import store
from equipoise.results.journal import Journal

SECTION_NAMES = ("backtranslation", "people")
"""The keys of these sections in results."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the results while a section is made and written. Raises UserError if a session uses them."""
    lock = store.lock(store.files(path.parent, path, "", ""))
    try:
        yield
    finally:
        lock.release()


def require_extensible(path: Path, metadata: Mapping[str, JSON]) -> None:
    """Raise UserError for results that cannot be extended: those of another tool or of a running session."""
    if "recomputed_from" in metadata:
        raise UserError(f"{path}: another tool wrote it, so nothing can be added to it")
    if metadata["status"] == "running":
        raise UserError(f"{path}: its session has not ended; run the same command again to finish it")


def add(path: Path, name: str, content: Mapping[str, JSON]) -> None:
    """Write a section into the results at `path`, replacing an earlier one. Raises UserError."""
    try:
        parts: dict[str, JSON] = {**json_io.split(read_bytes(path))}
        verdicts_sha256 = json_io.loads(bytes(parts["metadata"]))["verdicts_sha256"]
        store.write_json(path, {**parts, name: content})
        _append_to_journal(path, name, content, verdicts_sha256)
    except ValueError as error:
        raise UserError(f"{shown(path)}: is damaged: {error}") from None
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be written ({error.strerror})") from None
    except CannotKeep as error:
        raise UserError(str(error)) from None


def _append_to_journal(path: Path, name: str, content: Mapping[str, JSON], verdicts_sha256: str) -> None:
    journal = store.files(path.parent, path, "", "").journal
    if not journal.is_file():
        return
    with closing(Journal(journal, "")) as log:
        log.append_entry(
            {"kind": "section", "name": name, "verdicts_sha256": verdicts_sha256, "content": dict(content)}
        )
