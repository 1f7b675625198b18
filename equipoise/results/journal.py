"""The journal: one JSON line per finished call and per record, appended immediately.

One process at a time writes to it. Results are a function of this file alone. Each line ends with the
checksum of the line before it and its own, so that damaged, removed, duplicated and moved lines are noticed.
The content of lines is defined in `lines`.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple, TypeVar

from equipoise.core import json_io
from equipoise.core.errors import CannotKeep
from equipoise.core.files import OpenFile, open_regular, shown
from equipoise.core.records import Record
from equipoise.core.types import JSON, Call, Exchange, Reply
from equipoise.models.redact import NO_SECRETS, Secrets
from equipoise.results import lines
from equipoise.results.lines import AnyLine, CallLine

T = TypeVar("T")
FORMAT = 1
"""The version of the format, in the first line of each session."""
_CHECKSUMS = re.compile(rb',"previous":"([0-9a-f]{8}|)"(,"crc32":"([0-9a-f]{8})"\}\s*)\Z')
_TAIL_BYTES = 64
"""The number of bytes at the end of a line that are enough to contain its checksums."""
_COPY_BYTES = 2**20
"""The number of bytes that are copied or searched at a time."""
_FIRST_READ_BYTES = 16384
"""The number of bytes that are first read for one line; few lines are longer."""
_ENDPOINT_TEXTS = ("message", "reason")
"""Fields with texts of endpoints, which `append` masks in lines other than calls and records."""


class JournalLine(NamedTuple):
    """One valid line: its start offset in bytes, its bytes, and the decoded entry."""

    start: int
    data: bytes
    entry: AnyLine

    @property
    def end(self) -> int:
        """The offset of the next line."""
        return self.start + len(self.data)


class ScannedLine(NamedTuple):
    """A line with its start and end offsets in bytes; `entry` is None if the line is damaged.

    `follows` is false if the line was not written directly after the line before it.
    """

    start: int
    end: int
    data: bytes
    entry: AnyLine | None
    follows: bool

    @property
    def is_incomplete(self) -> bool:
        """Whether this is a last line that may still be being written."""
        return self.start == self.end


def encode(entry: Mapping[str, JSON], previous: str) -> bytes:
    """The line of an entry. `previous` is the checksum of the line before, empty if it has none."""
    body = json_io.dumps({**entry, "previous": previous}).removesuffix(b"}\n")
    return b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def relink(line: bytes, previous: str) -> bytes:
    """A copy of a valid line, to follow a line whose checksum is `previous`, empty if it has none."""
    content = line[:-_TAIL_BYTES] + _CHECKSUMS.sub(b"", line[-_TAIL_BYTES:])
    body = b'%b,"previous":"%b"' % (content, previous.encode())
    return b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def checksum(line: bytes) -> str:
    """The checksum at the end of a line, or of bytes that end with one; empty if it has none."""
    match = _CHECKSUMS.search(line[-_TAIL_BYTES:])
    return match[3].decode() if match else ""


class Link(NamedTuple):
    """The checksums at the end of a line: of the line before, empty if that has none, and of the line."""

    previous: str
    own: str


def link(line: bytes) -> Link | None:
    """The checksums of a line; None if it has none, or was changed since it was written."""
    match = _CHECKSUMS.search(line[-_TAIL_BYTES:])
    if match is None or not _fits(line, match):
        return None
    return Link(match[1].decode(), match[3].decode())


def request_hash(call: Call) -> str:
    """The identity of a request: SHA-256 of model, messages and parameters, hexadecimal.

    Computed from the masked call, since replies that are replayed into later prompts are masked.
    """
    content = json_io.dumps([call.model, call.messages, sorted(call.parameters.items())])
    return hashlib.sha256(content).hexdigest()


def one_time_code(nonce: str, *parts: str) -> str:
    """A one-time code of 16 hexadecimal digits that cannot be guessed without the nonce."""
    return hmac.new(nonce.encode(), "\0".join(parts).encode(), hashlib.sha256).hexdigest()[:16]


class Moved(NamedTuple):
    """The new path of a journal that was moved, removed or cut while it was written.

    The new file is complete unless `is_cut`.
    """

    path: Path
    is_cut: bool


def _ignore(*event: object) -> None:
    """Do nothing: the default of `on_line` and `on_move`."""


class Journal:
    """Appends lines to one file.

    `session` is the id of the session that writes. `secrets` are masked in texts of models and endpoints, but
    not in field names, ids and hashes. `on_line` is called with the offset and the bytes of every line after
    it is written, and for a call with the line itself; `on_move` if the journal moves to another file.
    """

    def __init__(
        self,
        path: Path,
        session: str,
        secrets: Secrets = NO_SECRETS,
        on_line: Callable[[int, bytes, CallLine | None], None] = _ignore,
        on_move: Callable[[Moved], None] = _ignore,
    ) -> None:
        self.path = path
        self.session = session
        self.secrets = secrets
        self._on_line = on_line
        self._on_move = on_move
        self._call_count = 0
        self._move_message = ""
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        self._set_end(os.fstat(self._file).st_size)
        self._first_line = _read_first_line(self._file)

    def _set_end(self, size: int) -> None:
        """Set the offset of the next line and the checksum of the last one, in a file of this size.

        After a crash the last line may lack its line break, which the next line must then add.
        """
        tail = _read_tail(self._file, size)
        self._end, self._last_checksum = size, checksum(tail)
        self._lacks_line_break = bool(tail) and not tail.endswith(b"\n")

    def append(self, kind: str, **content: JSON) -> None:
        """Write one line immediately. Raises CannotKeep if it cannot be written.

        If the file has vanished or was cut since the last line, this line and all later ones are written to
        another file, together with everything that can be saved. CannotKeep is then raised once.
        """
        for name in content.keys() & _ENDPOINT_TEXTS:
            content[name] = self.secrets.mask(content[name])
        self.append_entry({"kind": kind, "session": self.session, **content})

    def append_entry(self, entry: dict[str, JSON], call: CallLine | None = None) -> None:
        """Write the content of a line unchanged: unmasked, without a session id. Raises as `append` does.

        For a call, `call` is the line itself.
        """
        before = self.path
        with self._writing():
            self._move_if_vanished()
            line = encode(entry, self._last_checksum)
            self._write(line)
            self._last_checksum = checksum(line)
        self._on_line(self._end - len(line), line, call)
        if self.path != before:
            raise CannotKeep(self._move_message)

    def check(self) -> None:
        """Raise CannotKeep if the file has vanished or was cut, since the last line or earlier."""
        with self._writing():
            self._move_if_vanished()
        if self._move_message:
            raise CannotKeep(self._move_message)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CannotKeep(f"{self.path.name}: cannot be written to ({error.strerror})") from None

    def _write(self, line: bytes) -> None:
        data = b"\n" + line if self._lacks_line_break else line
        while data:
            written = os.write(self._file, data)
            data = data[written:]
            self._end += written
            self._lacks_line_break = bool(data)

    def _move_if_vanished(self) -> None:
        """Continue in another file if this one was moved or removed, or is shorter than before."""
        status = os.fstat(self._file)
        size = status.st_size
        is_cut = size < self._end
        if size != self._end or self._lacks_line_break:
            # Another journal of this process may have appended to it, or the disk was full.
            self._set_end(size)
        if not is_cut and self._is_in_place(status):
            return
        old_path, old_file = self.path, self._file
        self.path = _free_path(old_path.with_name(f"{old_path.stem}.rescued.jsonl"))
        # A journal without its first line cannot be resumed, and a cut may have removed it.
        lost_line = b"" if self._starts_as_before() else self._first_line
        self._file = _copy_bytes(old_file, size, self.path, lost_line)
        os.close(old_file)
        self._set_end(os.fstat(self._file).st_size)
        self._move_message = (
            f"{shown(old_path)}: the journal was moved, removed or cut while it was written; "
            f"what could be saved is in {shown(self.path)}: rename it to resume from there"
        )
        self._on_move(Moved(self.path, is_cut))

    def _starts_as_before(self) -> bool:
        """Whether the file still has its first line. After a cut, other lines may have been appended."""
        return os.pread(self._file, len(self._first_line), 0) == self._first_line

    def _is_in_place(self, status: os.stat_result) -> bool:
        """Whether the path still leads to the open file, whose status this is."""
        try:
            return os.path.samestat(status, os.stat(self.path))
        except OSError:
            return False

    def append_call(
        self,
        run: str,
        call: Call,
        digest: str,
        reply: Reply,
        batch: str | None = None,
        *,
        is_given: bool = False,
    ) -> Exchange:
        """Append a call, which has to be masked, with its reply. Returns the exchange as it was written.

        `digest` is the call's `request_hash`; `batch` is its custom id if it was part of a batch. `is_given`
        is set if the reply is from the file of --replies.
        """
        self._call_count += 1
        line = CallLine(
            session=self.session,
            run=run,
            id=f"{self.session}-{self._call_count}",
            role=call.role,
            model=call.model,
            request=digest,
            parameters=call.parameters,
            messages=call.messages,
            reply=self.secrets.masked_reply(reply),
            batch=batch,
            given=is_given,
        )
        # Passed on undecoded, unlike other lines: decoding takes a third of the time of writing.
        self.append_entry(line.to_json(), line)
        return Exchange(id=line.id, call=call, reply=line.reply, is_batched=batch is not None)

    def append_record(self, record: Record, calls: Sequence[str]) -> Record:
        """Append a run's record, and return it as it was written; `calls` are the ids of the run's calls."""
        masked = self.secrets.masked_record(record)
        self.append("record", run=record.id, calls=calls, record=masked.to_json())
        return masked

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        os.close(self._file)


def _read_first_line(file: int) -> bytes:
    """The first line of a file, with its line break; empty if the file is empty."""
    line = b""
    while b"\n" not in line and (piece := os.pread(file, _FIRST_READ_BYTES, len(line))):
        line += piece
    return b"".join(line.partition(b"\n")[:2])


def _free_path(path: Path) -> Path:
    """The path, or the first numbered variant of it that does not exist."""
    numbered = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return next(item for item in chain([path], numbered) if not os.path.lexists(item))


def _copy_bytes(file: int, size: int, path: Path, first: bytes) -> int:
    """Create a file of `first` and the first `size` bytes of another file; returns it open for appending."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(target, first)
    copied = 0
    while copied < size and (piece := os.pread(file, min(_COPY_BYTES, size - copied), copied)):
        copied += os.write(target, piece)
    return target


def _read_tail(file: int, end: int) -> bytes:
    """The last bytes before an offset, enough to contain the checksums of a line that ends there."""
    return os.pread(file, min(_TAIL_BYTES, end), max(0, end - _TAIL_BYTES))


def read(path: Path, position: int = 0) -> Iterator[JournalLine]:
    """The valid lines from a position on, in order.

    Damaged lines are skipped; so is a last line that is still being written.
    """
    for line in scan(path, position):
        if line.entry is not None:
            yield JournalLine(line.start, line.data, line.entry)


def scan(path: Path, position: int = 0) -> Iterator[ScannedLine]:
    """Every non-blank line from a position on.

    A line is damaged if it is not valid, or lacks its checksum. An incomplete last line has `end` equal to
    `start`.
    """
    with open_regular(path) as file:
        previous = checksum(_read_tail(file.fileno(), position)).encode()
        file.seek(position)
        for data in file:
            start, position = position, position + len(data)
            if not data.strip():
                continue
            match = _CHECKSUMS.search(data[-_TAIL_BYTES:])
            entry = _decode(data, match)
            end = position if entry is not None or data.endswith(b"\n") else start
            follows = match is None or match[1] == previous
            yield ScannedLine(start, end, data, entry, follows)
            previous = match[3] if match else b""


def line_content(line: bytes) -> dict[str, JSON]:
    """The entry of a valid line as it was passed to `encode`, without checksums."""
    entry: dict[str, JSON] = json_io.loads(line)
    return {name: value for name, value in entry.items() if name not in ("previous", "crc32")}


def other_format(path: Path) -> str | None:
    """The format of a journal if it is not FORMAT, otherwise None."""
    with open_regular(path) as file:
        first = file.readline()
    with suppress(ValueError):
        match json_io.loads(first):
            case {"kind": "session", "format": version} if version != FORMAT:
                return str(version)
    return None


def is_journal(path: Path) -> bool:
    """Whether a file is a journal, by its first line. Raises OSError."""
    if path.suffix != ".jsonl":
        return False
    with open_regular(path) as file:
        first = file.readline()
    with suppress(ValueError):
        match json_io.loads(first):
            case {"kind": "session"}:
                return True
    return False


def line_numbers(path: Path, starts: Sequence[int]) -> list[int]:
    """The numbers, from 1, of the lines that begin at these offsets."""
    numbers, position = [], 0
    with open_regular(path) as file:
        number = 1
        for start in sorted(starts):
            while position < start and (piece := file.read(min(_COPY_BYTES, start - position))):
                number += piece.count(b"\n")
                position += len(piece)
            numbers.append(number)
    return numbers


class Reader(OpenFile):
    """Reads single lines by their offsets. The file stays open; thread-safe."""

    def read(self, start: int, kind: type[T]) -> T:
        """The line of this kind at an offset. Raises ValueError if no such line starts there."""
        line = self.line(start)
        entry = _decode(line, _CHECKSUMS.search(line[-_TAIL_BYTES:]))
        if not isinstance(entry, kind):
            raise ValueError(f"{self.path}: no line starts at byte {start}")
        return entry

    def line(self, start: int) -> bytes:
        """The bytes from an offset to the end of the line, without its line break."""
        data, size = b"", _FIRST_READ_BYTES
        while piece := self.part(start + len(data), size):
            end = piece.find(b"\n")
            if end >= 0:
                return data + piece[:end]
            data += piece
            size *= 2
        return data


def _decode(data: bytes, match: re.Match[bytes] | None) -> AnyLine | None:
    """The entry of a line; None if damaged. `match` is that of `_CHECKSUMS`, None without checksums."""
    return lines.decode(data) if match is not None and _fits(data, match) else None


def _fits(data: bytes, match: re.Match[bytes]) -> bool:
    """Whether the checksum at the end of a line, found as `match`, is that of the line."""
    return match[3] == b"%08x" % zlib.crc32(data[: -len(match[2])])
