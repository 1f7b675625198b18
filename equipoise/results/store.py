"""The files of a session: their names, lock and archive."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.files import link_target, replacing, shown
from equipoise.core.types import JSON, Shard

ARCHIVE = "archive"
"""The folder of earlier results, in the folder of the current ones."""
SHARDS = "shards"
"""The folder of shards, in the folder of the results."""
JOURNAL_START = b'{"kind":"session"'
"""The first bytes of every journal."""
_START_BYTES = 200
"""The number of bytes at the start of a file that are searched for the first key of results."""
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_CHARACTERS = 100
_RESERVED_NAME = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\.|$)", re.IGNORECASE)
"""Device names on Windows, which are reserved with any extension."""
_WITH_DIGEST = re.compile(r"-[0-9a-f]{8}$")
"""The ending of a name with a digest. A model with such a name gets a digest, too: no two names collide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The paths of the results of one model on one suite, and of the journal they are made from."""

    results: Path
    journal: Path

    @property
    def batches(self) -> Path:
        """The path of the log of batches, which records the intent to send each batch before it is sent."""
        return batches_of(self.journal)

    def check(self) -> None:
        """Raise UserError if the results cannot be written, or would replace a file of another kind."""
        try:
            self._check()
        except OSError as error:
            raise UserError(f"{shown(self.results)}: cannot be written to ({error.strerror})") from None

    def _check(self) -> None:
        for path in (self.results, self.journal):
            # Raises OSError for circular links: they do not `exist`, but nothing can be written there.
            with suppress(FileNotFoundError, NotADirectoryError):
                path.stat()
        if self.journal.exists() and not _is_journal(self.journal):
            raise UserError(
                f"{shown(self.journal)}: not an Equipoise journal; name another with --output=FILE"
            )
        is_taken = self.results.exists() and not _is_results(self.results)
        if is_taken or self.results.resolve() == self.journal.resolve():
            raise UserError(f"{shown(self.results)}: not a results file; name another with --output=FILE")
        folder = self.results.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise UserError(f"{shown(folder)}: cannot be written to ({error.strerror})") from None

    def archive(self, stamp: str) -> Path:
        """Move the files to archive/, with the stamp in their names.

        Returns the new path of the results; without results, that of the journal.
        """
        folder = self.results.parent / ARCHIVE
        folder.mkdir(parents=True, exist_ok=True)
        target = _free_archive_path(folder, f"{self.results.stem}.{stamp}")
        new_path = target
        for path, suffix in ((self.batches, ".batches"), (self.journal, ".jsonl"), (self.results, ".json")):
            if path.exists():
                new_path = path.rename(target.with_name(target.name + suffix))
        return new_path


def refuse_replacing(option: str, path: Path) -> None:
    """Raise UserError if an output of another kind, named by `option`, would replace results or a journal."""
    with suppress(OSError):
        is_empty = not path.stat().st_size
        if not is_empty and (_is_results(path) or _is_journal(path)):
            raise UserError(f"{option}: {shown(path)}: has a session's results or journal; name another file")


def _is_journal(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(JOURNAL_START)) in (b"", JOURNAL_START)


def _is_results(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"metadata"' in file.read(_START_BYTES)


class Lock:
    """An exclusive lock on a session's files until `release`, or until this process ends.

    Raises UserError naming the process that holds it, OSError if locking is not possible.
    """

    def __init__(self, files: Files) -> None:
        import fcntl  # not on Windows, where sessions are refused

        path = files.journal.with_name(f".{files.journal.name}.lock")
        self._lock_descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._journal_descriptor: int | None = None
        try:
            fcntl.flock(self._lock_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if files.journal.is_file():
                # A hard link to the journal has another name, and so another lock file.
                self._journal_descriptor = os.open(files.journal, os.O_RDWR)
                fcntl.flock(self._journal_descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(self._lock_descriptor, 20).decode(errors="replace").strip()
            self.release()
            # A process that uses another name of the journal is not named in this lock file.
            who = "another process" if self._journal_descriptor else f"process {owner}"
            where = shown(files.results)
            raise UserError(f"{where}: {who} is using it; wait, or use another --output") from None
        except OSError:
            self.release()
            raise
        os.ftruncate(self._lock_descriptor, 0)
        os.write(self._lock_descriptor, f"{os.getpid()}\n".encode())

    def release(self) -> None:
        """Release the lock."""
        for file in (self._lock_descriptor, self._journal_descriptor):
            if file is not None:
                os.close(file)


def lock(files: Files) -> Lock:
    """Lock these files; the folder is created if it is missing. Raises UserError."""
    try:
        files.journal.parent.mkdir(parents=True, exist_ok=True)
        return Lock(files)
    except OSError as error:
        raise UserError(f"{shown(files.results)}: cannot be written to ({error.strerror})") from None


def _free_archive_path(folder: Path, name: str) -> Path:
    """A path in the folder, without suffix, that no archived file uses."""
    candidate, number = folder / name, 1
    while list(folder.glob(f"{glob.escape(candidate.name)}.json*")):
        number += 1
        candidate = folder / f"{name}-{number}"
    return candidate


def files(folder: Path, output: Path | None, model: str, suite: str, shard: Shard | None = None) -> Files:
    """The files for a model and suite: at `output` if given, otherwise in the folder by name.

    A shard has its files in the subfolder SHARDS, so that reports and exports of the folder do not read them.
    Symbolic links are followed, so that sessions on the same files have the same lock and journal.
    """
    name = f"{file_name(model)}.{suite}"
    stem = f"{SHARDS}/{name}.{shard.number}-of-{shard.of}" if shard else name
    return _files_at(output or folder / f"{stem}.json")


def _files_at(path: Path) -> Files:
    results = link_target(path)
    return Files(results=results, journal=link_target(_journal_beside(results)))


def _journal_beside(results: Path) -> Path:
    return results.with_name(f"{results.name.removesuffix('.json')}.jsonl")


def batches_of(journal: Path) -> Path:
    """The path of the log of batches of a journal, beside it."""
    return journal.with_name(f"{journal.name.removesuffix('.jsonl')}.batches")


def journal_of(results: Path) -> Path:
    """The path of the journal of existing results: beside the file, or beside a symbolic link to it."""
    beside_link, beside_file = _journal_beside(results), _files_at(results).journal
    return beside_link if beside_link.exists() and not beside_file.exists() else beside_file


def file_name(model: str) -> str:
    """A model's name as a unique file name that is safe on every platform."""
    name = _UNSAFE_CHARACTERS.sub("_", model).lstrip(".")
    is_plain = name == model and len(name) <= _MOST_CHARACTERS
    if is_plain and not _WITH_DIGEST.search(name) and not _RESERVED_NAME.match(name):
        return name
    digest = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()
    with_digest = f"{name[:_MOST_CHARACTERS]}-{digest[:8]}"
    return f"_{with_digest}" if _RESERVED_NAME.match(with_digest) else with_digest


def write_json(path: Path, data: JSON) -> str:
    """Write JSON atomically, indented and in the given order, and return the file's SHA-256."""
    digest = hashlib.sha256()
    with replacing(path) as file:
        for piece in chain(json_io.iter_encoded(data), (b"\n",)):
            file.write(piece)
            digest.update(piece)
    return digest.hexdigest()
