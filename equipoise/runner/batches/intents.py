"""The write-ahead log of batches. An intent is the record of a batch, on disk before the batch is created.

The log is a file of JSON lines beside the journal. It records which calls are in which batch at which
endpoint, or in which file; replies are in the journal alone. Its lines have checksums like those of the
journal: if a line were edited or lost, calls would be sent, and paid for, twice.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
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
"""The number of hashing rounds. It makes guessing a key from its digest slow, as a key may be short."""
BatchState = Literal["intended", "uploaded", "creating", "created", "over"]


def new_id() -> str:
    """A new id of an intent."""
    return secrets.token_hex(16)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class _BatchLine(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Fields of every line: the id of the intent, and the time in ISO 8601."""

    intent: str
    at: str = msgspec.field(default_factory=_now)


class IntentLine(_BatchLine, frozen=True, kw_only=True, tag="intent"):
    """The custom ids of calls that are about to be uploaded, all of one model.

    `endpoint` is the model's base URL, and `path` the path of the requests below it. `credential` is a salted
    digest of the key that submits the calls. `reserved` is the most that all of them may cost, in
    nano-dollars; 0 if the session has no limit on cost.
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

    `counts` has numbers of calls and of output lines; lines with an unknown or duplicate id were ignored.
    """

    status: str
    counts: dict[str, int] = {}


class RequestsLine(_BatchLine, frozen=True, kw_only=True, tag="written"):
    """The file to which the requests of these calls, all of one model, were written.

    No batch is known, so `intent` is an id of this line alone.
    """

    intent: str = msgspec.field(default_factory=new_id)
    file: str
    role: Role
    model: str
    calls: tuple[str, ...]


BatchLine = IntentLine | UploadedLine | CreatingLine | CreatedLine | OverLine | RequestsLine
_DECODER = msgspec.json.Decoder(BatchLine)


@dataclass(slots=True)
class Intent:
    """The state of one batch; `began` is the time when its creation began, in ISO 8601."""

    line: IntentLine
    state: BatchState = "intended"
    file: str = ""
    batch: str = ""
    began: str = ""
    expires: float | None = None

    @property
    def id(self) -> str:
        """The id, which is also in the metadata of the batch."""
        return self.line.intent

    @property
    def may_have_batch(self) -> bool:
        """Whether the endpoint may have a batch that is not over."""
        return self.state in ("creating", "created")

    @property
    def reserved_per_call(self) -> int:
        """The reservation for each call of the batch, in nano-dollars."""
        return self.line.reserved // len(self.line.calls)

    def was_submitted_by(self, key: str) -> bool:
        """Whether the batch was submitted with this key."""
        return hmac.compare_digest(self.line.credential, _credential_digest(self.line.salt, key))

    def add(self, line: BatchLine) -> None:
        """Update the state with a later line of this intent."""
        match line:
            case UploadedLine():
                self.state, self.file = "uploaded", line.file
            case CreatingLine():
                self.state, self.began = "creating", line.at
            case CreatedLine():
                self.state, self.batch, self.expires = "created", line.batch, line.expires
            case OverLine():
                self.state = "over"


@dataclass(slots=True)
class Intents:
    """The intents in one log: by id, in order, and `by_call`, the last intent of each call's custom id.

    `attempts` counts the intents of each call. `written` has the line of the last file to which each call was
    written. The last line of the log may lack its line break.
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
        return [intent for intent in self.by_id.values() if intent.may_have_batch]

    def credential(self, key: str) -> dict[str, str]:
        """The salt and the salted digest of a key. A log has one salt, so equal keys have equal digests."""
        salt = next((intent.line.salt for intent in self.by_id.values()), "") or new_id()
        return {"salt": salt, "credential": _credential_digest(salt, key)}

    def append(self, line: BatchLine) -> None:
        """Append a line and wait until it is on the disk. Raises CannotKeep."""
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
        self._add(line)

    def read(self) -> None:
        """Read the lines of the file. Raises UserError if it is damaged, or OSError.

        A line cut by a crash can be ignored: what it announces was not done. Any other line that was changed
        is damage, and so is one that was removed, doubled or moved.
        """
        cut_line = 0
        with open_regular(self.path) as file:
            for number, data in enumerate(file, start=1):
                self._lacks_line_break = not data.endswith(b"\n")
                link = journal.link(data)
                if link is None:
                    is_cut = not data.rstrip().endswith(b"}")
                    if data.strip() and not is_cut:
                        raise _damaged(self.path, number, "it was changed")
                    # Harmless at the end of the log, or if the next whole line follows the last one.
                    if data.strip() and not self._lacks_line_break:
                        cut_line = number
                elif link.previous != self._last_checksum:
                    raise _damaged(
                        self.path, cut_line or number, "a line was changed, removed, doubled or moved"
                    )
                else:
                    cut_line, self._last_checksum = 0, link.own
                    self._add(_decode(self.path, number, data))
        if cut_line:
            raise _damaged(self.path, cut_line, "it was changed")

    def _add(self, line: BatchLine) -> None:
        """Add a line that was read or written. If several intents have the same call, the last one counts."""
        if isinstance(line, IntentLine):
            intent = self.by_id[line.intent] = Intent(line)
            for call in line.calls:
                self.by_call[call] = intent
                self.attempts[call] = self.attempts.get(call, 0) + 1
        elif isinstance(line, RequestsLine):
            self.written |= dict.fromkeys(line.calls, line)
        elif line.intent in self.by_id:
            self.by_id[line.intent].add(line)


def load(path: Path) -> Intents:
    """Read the intents at a path; empty if there is no file. Raises UserError if it is damaged."""
    log = Intents(path)
    try:
        log.read()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None
    return log


def _decode(path: Path, number: int, data: bytes) -> BatchLine:
    try:
        line: BatchLine = _DECODER.decode(data)
    except (ValueError, RecursionError):
        raise _damaged(path, number, "it is not as it was written") from None
    return line


def _damaged(path: Path, number: int, why: str) -> UserError:
    return UserError(
        f"{shown(path)}:{number}: is damaged ({why}), but records what is at an endpoint: restore the file "
        "from a copy; or look at the provider's list of batches, then use --fresh"
    )


def _sync_folder(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _credential_digest(salt: str, key: str) -> str:
    """A salted digest of a key, which identifies the key without revealing it."""
    return hashlib.pbkdf2_hmac("sha256", key.encode("utf-8", "replace"), salt.encode(), PBKDF2_ROUNDS).hex()


def call_id(nonce: str, run: str, role: str, request: str, number: int) -> str:
    """The custom_id of a call, 40 hexadecimal digits.

    `number` counts, from 0, the calls of a run with equal requests, so that each has its own id.
    """
    parts: Sequence[JSON] = (nonce, run, role, request, str(number))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
