"""The intents of batches, a write-ahead log: what is about to be sent to an endpoint is on disk before.

The log is a file of JSON lines beside the journal. It records which calls are in which batch at which
endpoint, or in which file; replies are in the journal alone. Its lines have checksums as those of the
journal: with a line that was edited or lost, calls would be sent, and paid for, twice.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from equipoise.core.errors import CannotKeep, UserError
from equipoise.core.files import open_regular, shown
from equipoise.core.types import JSON, Role
from equipoise.results import journal

PBKDF2_ROUNDS = 100_000
"""So many make guessing a key from its digest slow, because a key may be short."""
BatchState = Literal["intended", "uploaded", "creating", "created", "over"]


class _BatchLine(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Fields of every line: the id of the intent, and the time in ISO 8601."""

    intent: str
    at: str


class IntentLine(_BatchLine, frozen=True, kw_only=True, tag="intent"):
    """The custom ids of calls that are about to be uploaded, all of one model.

    `endpoint` is its base URL, `path` that of the requests below it. `credential` is a salted digest of the
    key that submits them. `reserved` is their maximum cost in nano-dollars, 0 without a limit.
    """

    role: Role
    model: str
    endpoint: str
    path: str
    salt: str
    credential: str
    reserved: int
    calls: tuple[str, ...]


class UploadedLine(_BatchLine, frozen=True, kw_only=True, tag="uploaded"):
    """The id of the uploaded file."""

    file: str


class CreatingLine(_BatchLine, frozen=True, kw_only=True, tag="creating"):
    """Announces that the batch is about to be created."""


class CreatedLine(_BatchLine, frozen=True, kw_only=True, tag="created"):
    """The id of the batch, and its expiry in Unix time."""

    batch: str
    expires: float | None = None


class OverLine(_BatchLine, frozen=True, kw_only=True, tag="over"):
    """The end of a batch: its last status, or why there is no batch.

    The counts are of the lines of its output; lines with an unknown or duplicate id were ignored.
    """

    status: str
    answered: int = 0
    failed: int = 0
    lost: int = 0
    unknown: int = 0
    doubled: int = 0


class RequestsLine(_BatchLine, frozen=True, kw_only=True, tag="written"):
    """The file to which the requests of these calls, all of one model, were written."""

    file: str
    role: Role
    model: str
    calls: tuple[str, ...]


BatchLine = IntentLine | UploadedLine | CreatingLine | CreatedLine | OverLine | RequestsLine
_DECODER = msgspec.json.Decoder(BatchLine)
_KINDS = frozenset({"intent", "uploaded", "creating", "created", "over", "written"})


@dataclass(slots=True)
class Intent:
    """The state of one batch; `began` is the time when its creation began, in ISO 8601."""

    line: IntentLine
    state: BatchState = "intended"
    file: str = ""
    batch: str = ""
    began: str = ""
    expires: float | None = None
    over: OverLine | None = None

    @property
    def id(self) -> str:
        """The id, which is also in the metadata of the batch."""
        return self.line.intent

    @property
    def may_exist(self) -> bool:
        """Whether the endpoint may have a batch that is not over."""
        return self.state in ("creating", "created")

    def add(self, line: BatchLine) -> None:
        """Update the state by a later line."""
        match line:
            case UploadedLine():
                self.state, self.file = "uploaded", line.file
            case CreatingLine():
                self.state, self.began = "creating", line.at
            case CreatedLine():
                self.state, self.batch, self.expires = "created", line.batch, line.expires
            case OverLine():
                self.state, self.over = "over", line


@dataclass(slots=True)
class Intents:
    """The intents in one file: by id, in order, and `by_call`, the last intent of each call's custom id.

    `attempts` counts the intents of each call, `written` has the last file of each call that was written to
    one. The last line of the file may lack its line break.
    """

    path: Path
    by_id: dict[str, Intent] = field(default_factory=dict)
    by_call: dict[str, Intent] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    written: dict[str, RequestsLine] = field(default_factory=dict)
    _lacks_line_break: bool = False
    _last_checksum: str = ""

    @property
    def waiting(self) -> list[Intent]:
        """Intents whose batch may exist and is not over."""
        return [intent for intent in self.by_id.values() if intent.may_exist]

    def add(self, line: BatchLine) -> None:
        """Add a line that was read or written. If several intents have a call, the last one counts."""
        if isinstance(line, IntentLine):
            intent = self.by_id[line.intent] = Intent(line)
            for call in line.calls:
                self.by_call[call] = intent
                self.attempts[call] = self.attempts.get(call, 0) + 1
        elif isinstance(line, RequestsLine):
            self.written |= dict.fromkeys(line.calls, line)
        elif line.intent in self.by_id:
            self.by_id[line.intent].add(line)

    def record_intent(
        self,
        calls: Sequence[str],
        *,
        role: Role,
        model: str,
        endpoint: str,
        path: str,
        key: str,
        reserved: int,
    ) -> Intent:
        """Write a new intent for the calls with these custom ids. Raises CannotKeep."""
        # One salt for all, so that equal keys have equal digests.
        salt = next((intent.line.salt for intent in self.by_id.values()), "") or secrets.token_hex(16)
        intent_id = secrets.token_hex(16)
        self._write(
            IntentLine(
                intent=intent_id,
                at=_now(),
                role=role,
                model=model,
                endpoint=endpoint,
                path=path,
                salt=salt,
                credential=_credential_digest(salt, key),
                reserved=reserved,
                calls=tuple(calls),
            )
        )
        return self.by_id[intent_id]

    def record_upload(self, intent: Intent, file: str) -> None:
        """Write the id of the uploaded file. Raises CannotKeep."""
        self._write(UploadedLine(intent=intent.id, at=_now(), file=file))

    def record_creation(self, intent: Intent) -> None:
        """Write that the batch is about to be created. Raises CannotKeep."""
        self._write(CreatingLine(intent=intent.id, at=_now()))

    def record_batch(self, intent: Intent, batch: str, expires: float | None) -> None:
        """Write the id of the batch. Raises CannotKeep."""
        self._write(CreatedLine(intent=intent.id, at=_now(), batch=batch, expires=expires))

    def record_end(self, intent: Intent, status: str, **counts: int) -> None:
        """Write the end of the batch. Raises CannotKeep."""
        self._write(OverLine(intent=intent.id, at=_now(), status=status, **counts))

    def record_written(self, calls: Sequence[str], *, role: Role, model: str, file: str) -> None:
        """Write that the requests of these calls are in a file. Raises CannotKeep."""
        self._write(
            RequestsLine(
                intent=secrets.token_hex(16), at=_now(), file=file, role=role, model=model, calls=tuple(calls)
            )
        )

    def _write(self, line: BatchLine) -> None:
        """Append a line and wait until it is on the disk."""
        encoded = journal.encode(msgspec.to_builtins(line), self._last_checksum)
        data = (b"\n" if self._lacks_line_break else b"") + encoded
        try:
            is_new = not self.path.exists()
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                self._lacks_line_break = True
                while data:
                    data = data[os.write(file, data) :]
                self._lacks_line_break = False
                os.fsync(file)
            finally:
                os.close(file)
            if is_new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise CannotKeep(f"{self.path.name}: cannot be written to ({error.strerror})") from None
        self._last_checksum = journal.checksum(encoded)
        self.add(line)


def load(path: Path) -> Intents:
    """Read the intents at a path; empty if there is no file. Raises UserError if it is damaged."""
    intents = Intents(path)
    try:
        for line, checksum in _read(path):
            if line is not None:
                intents.add(line)
            intents._last_checksum = checksum
        intents._lacks_line_break = _lacks_line_break(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None
    return intents


def _read(path: Path) -> Iterator[tuple[BatchLine | None, str]]:
    """The whole lines of a file, None for those of a later version, each with its checksum.

    A line cut by a crash can be ignored: what it announces was not done. Raises UserError for any other line
    that was changed, and where one was removed, doubled or moved.
    """
    previous, cut_line = "", 0
    with open_regular(path) as file:
        for number, data in enumerate(file, start=1):
            link = journal.link(data)
            if link is None:
                is_cut = not data.rstrip().endswith(b"}")
                cut_line = number if data.strip() and data.endswith(b"\n") else cut_line
                if data.strip() and not is_cut:
                    raise _damaged(path, number, "it was changed")
            elif link.previous != previous:
                raise _damaged(path, cut_line or number, "a line was changed, removed, doubled or moved")
            else:
                cut_line, previous = 0, link.own
                yield _decode(path, number, data), previous
    if cut_line:
        raise _damaged(path, cut_line, "it was changed")


def _decode(path: Path, number: int, data: bytes) -> BatchLine | None:
    """A line; None if it is of a kind that a later version writes. Raises UserError."""
    try:
        line: BatchLine = _DECODER.decode(data)
    except (ValueError, RecursionError):
        if _is_of_later_version(data):
            return None
        raise _damaged(path, number, "it is not as it was written") from None
    return line


def _is_of_later_version(data: bytes) -> bool:
    try:
        content = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return False
    kind = content.get("kind") if isinstance(content, dict) else None
    return isinstance(kind, str) and kind not in _KINDS


def _damaged(path: Path, number: int, why: str) -> UserError:
    return UserError(
        f"{shown(path)}:{number}: is damaged ({why}), and says what is at an endpoint: restore the file "
        "from a copy; or look at the provider's list of batches, then use --fresh"
    )


def _lacks_line_break(path: Path) -> bool:
    """Whether the last line lacks its line break, as after a crash."""
    with open_regular(path) as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _credential_digest(salt: str, key: str) -> str:
    """A salted digest of a key, which identifies the key without revealing it."""
    return hashlib.pbkdf2_hmac("sha256", key.encode("utf-8", "replace"), salt.encode(), PBKDF2_ROUNDS).hex()


def was_submitted_by(intent: Intent, key: str) -> bool:
    """Whether the batch was submitted with this key."""
    return hmac.compare_digest(intent.line.credential, _credential_digest(intent.line.salt, key))


def call_id(nonce: str, run: str, role: str, request: str, number: int) -> str:
    """The custom_id of a call, 40 hexadecimal digits.

    `number` counts, from 0, the calls of a run with equal requests, so that each has its own id.
    """
    parts: Sequence[JSON] = (nonce, run, role, request, str(number))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
