"""The intents of batches, a write-ahead log: what is about to be sent to an endpoint is on disk before.

A file of JSON lines beside the journal, appended to and synced. It records which calls are in which batch at
which endpoint; replies are in the journal alone.
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
from equipoise.core.files import opened, shown
from equipoise.core.types import JSON, Role

ROUNDS = 100_000
"""Rounds of PBKDF2: slow to guess, because a key may be short."""
BatchState = Literal["intended", "uploaded", "creating", "created", "over"]


class _BatchLine(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Fields of every line: the id of the intent, and the time in ISO 8601."""

    intent: str
    at: str


class IntentLine(_BatchLine, frozen=True, kw_only=True, tag="intent"):
    """The custom ids of calls that are about to be uploaded, all of one model.

    `credential` is a salted digest of the key that submits them. `reserved` is their maximum cost in
    nano-dollars, 0 without a limit.
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

    The counts are of the lines of its output. Those with an unknown or duplicate id were ignored.
    """

    status: str
    answered: int = 0
    failed: int = 0
    lost: int = 0
    unknown: int = 0
    doubled: int = 0


BatchLine = IntentLine | UploadedLine | CreatingLine | CreatedLine | OverLine
_DECODER = msgspec.json.Decoder(BatchLine)
_ENCODER = msgspec.json.Encoder()


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
    """The intents in one file by id, in order. By call, the last intent, and the number of `attempts`."""

    path: Path
    by_id: dict[str, Intent] = field(default_factory=dict)
    by_call: dict[str, Intent] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    _is_cut: bool = False

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
        elif line.intent in self.by_id:
            self.by_id[line.intent].add(line)

    def begin(
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
        salt = next((intent.line.salt for intent in self.by_id.values()), "") or secrets.token_hex(16)
        name = secrets.token_hex(16)
        self._write(
            IntentLine(
                intent=name,
                at=_now(),
                role=role,
                model=model,
                endpoint=endpoint,
                path=path,
                salt=salt,
                credential=digest(salt, key),
                reserved=reserved,
                calls=tuple(calls),
            )
        )
        return self.by_id[name]

    def uploaded(self, intent: Intent, file: str) -> None:
        """Write that the file is at the endpoint. Raises CannotKeep."""
        self._write(UploadedLine(intent=intent.id, at=_now(), file=file))

    def creating(self, intent: Intent) -> None:
        """Write that the batch is about to be created. Raises CannotKeep."""
        self._write(CreatingLine(intent=intent.id, at=_now()))

    def created(self, intent: Intent, batch: str, expires: float | None) -> None:
        """Write the id of the batch. Raises CannotKeep."""
        self._write(CreatedLine(intent=intent.id, at=_now(), batch=batch, expires=expires))

    def end(self, intent: Intent, status: str, **counts: int) -> None:
        """Write the end of the batch. Raises CannotKeep."""
        self._write(OverLine(intent=intent.id, at=_now(), status=status, **counts))

    def _write(self, line: BatchLine) -> None:
        """Append a line and wait until it is on the disk."""
        data = (b"\n" if self._is_cut else b"") + _ENCODER.encode(line) + b"\n"
        try:
            is_new = not self.path.exists()
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                self._is_cut = True
                while data:
                    data = data[os.write(file, data) :]
                self._is_cut = False
                os.fsync(file)
            finally:
                os.close(file)
            if is_new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise CannotKeep(f"{self.path.name}: cannot be written to ({error.strerror})") from None
        self.add(line)


def load(path: Path) -> Intents:
    """Read the intents at a path; empty if there is no file. Raises UserError if it is damaged."""
    intents = Intents(path)
    try:
        for line in _read(path):
            intents.add(line)
        intents._is_cut = _is_cut(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None
    return intents


def _read(path: Path) -> Iterator[BatchLine]:
    """The valid lines of a file. A line cut by a crash can be ignored: what it announces was not done."""
    with opened(path) as file:
        for number, data in enumerate(file, start=1):
            if not data.strip():
                continue
            try:
                line: BatchLine = _DECODER.decode(data)
            except (ValueError, RecursionError):
                # A line cut by a crash, or one of a later version.
                if not data.rstrip().endswith(b"}") or _is_object(data):
                    continue
                raise UserError(
                    f"{shown(path)}:{number}: is damaged, and says what is at an endpoint: restore the file "
                    "from a copy; or look at the provider's list of batches, then use --fresh"
                ) from None
            yield line


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(data), dict)
    except (ValueError, RecursionError):
        return False


def _is_cut(path: Path) -> bool:
    with opened(path) as file:
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


def digest(salt: str, key: str) -> str:
    """Salted digest of a credential, which identifies it and does not reveal it."""
    return hashlib.pbkdf2_hmac("sha256", key.encode("utf-8", "replace"), salt.encode(), ROUNDS).hex()


def is_by(intent: Intent, key: str) -> bool:
    """Whether this credential submitted the batch."""
    return hmac.compare_digest(intent.line.credential, digest(intent.line.salt, key))


def call_id(nonce: str, run: str, role: str, request: str, number: int) -> str:
    """The custom_id of a call, 40 hexadecimal digits.

    `number` counts, from 0, the calls of a run with equal requests, so that each has its own id.
    """
    parts: Sequence[JSON] = (nonce, run, role, request, str(number))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
