"""The journal: one JSON line for every finished call and every record, appended the moment it is known.

Eight kinds of line: `session` (who asked, with which settings, for which runs), `call` (what was asked and
what came back), `failed` (a call without a reply), `learned` (an endpoint rejected a parameter), `limit`
(an endpoint refused calls, fewer are in flight), `look` (how narrow an interval was after a round), `record`
(how a run ended, by which calls) and `written` (the files that a command made). All processes of a session
append to one file; a line is one write, so lines never mix, and ends with its check sum. Results are a
function of this file alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple
from zlib import crc32

from equipoise import jsonbytes
from equipoise.errors import CannotKeep
from equipoise.records import Record
from equipoise.secret import NOTHING, Secrets
from equipoise.types import JSON, Call, Exchange, Reply

FORMAT = 3
_START = b'{"kind":"'
_SEAL = b',"sum":"'
_SAID = ("message", "reason")
"""What endpoints said, in lines that are neither calls nor records."""


class Line(NamedTuple):
    """One line: where it starts and where it ends in its file, in bytes, and what it says."""

    start: int
    end: int
    entry: dict[str, JSON]


def request_hash(call: Call) -> str:
    """Identifies what is asked: SHA-256 of model, messages and parameters, hexadecimal.

    To be made of the call as it is kept: what is replayed into a later prompt is masked already.
    """
    content = jsonbytes.dumps([call.model, call.messages, sorted(call.parameters.items())])
    return hashlib.sha256(content).hexdigest()


def code(nonce: str, *parts: str) -> str:
    """A one-time code of 16 hexadecimal digits that nobody can tell without the nonce."""
    return hmac.new(nonce.encode(), "\0".join(parts).encode(), hashlib.sha256).hexdigest()[:16]


class Journal:
    """Appends lines to one file.

    `session` is the id of the pytest invocation that writes, `writer` that of this process's part in it;
    `last` is where the last line starts, in bytes.
    `secrets` is masked in what models and endpoints said; names of fields, ids and hashes stay.
    """

    def __init__(self, path: Path, session: str, secrets: Secrets = NOTHING) -> None:
        self.path = path
        self.session = session
        self.secrets = secrets
        self.writer = token_hex(4)
        self.last = 0
        self._calls = 0
        self._is_cut = False
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def append(self, kind: str, **content: JSON) -> None:
        """Write one line, whole, at once. Raises CannotKeep where it cannot be written."""
        for name in content.keys() & _SAID:
            content[name] = self.secrets.mask(content[name])
        line = seal(jsonbytes.dumps({"kind": kind, "session": self.session, **content}))
        data = b"\n" + line if self._is_cut else line
        try:
            while data:
                data = data[os.write(self._file, data) :]
                self._is_cut = bool(data)
            self.last = os.lseek(self._file, 0, os.SEEK_CUR) - len(line)
        except OSError as error:
            raise CannotKeep(f"{self.path.name}: cannot be written to ({error.strerror})") from None

    def append_call(self, run: str, call: Call, digest: str, reply: Reply) -> Exchange:
        """Keep a paid reply to a call that is masked; the exchange as it is kept."""
        self._calls += 1
        kept = self.secrets.masked_reply(reply)
        exchange = Exchange(id=f"{self.writer}-{self._calls}", call=call, reply=kept)
        self.append(
            "call",
            run=run,
            id=exchange.id,
            role=call.role,
            model=call.model,
            request=digest,
            parameters=call.parameters,
            messages=call.messages,
            reply=kept.to_json(),
        )
        return exchange

    def append_record(self, record: Record, calls: Sequence[str]) -> Record:
        """Keep how a run ended, and return it as it is kept; `calls` are those that led there, by id."""
        kept = self.secrets.masked_record(record)
        self.append("record", run=record.id, calls=calls, record=kept.to_json())
        return kept

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        os.close(self._file)


def end_last_line(path: Path) -> bool:
    """End a line that a crash has cut, so that the next one stands alone. Whether there was one."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        is_cut = file.read(1) != b"\n"
    if is_cut:
        # Appended, never written in place: nothing that stands in a journal is touched.
        with path.open("ab") as file:
            file.write(b"\n")
    return is_cut


def read(path: Path, position: int = 0, kinds: Collection[str] = ()) -> Iterator[Line]:
    """The whole lines from a position on, in order, of these kinds only where any are given.

    A line that was cut or changed is passed over; so is a last line that is still being written.
    """
    with path.open("rb") as file:
        file.seek(position)
        for data in file:
            start, position = position, position + len(data)
            if kinds and _kind(data) not in (None, *kinds):
                continue
            skipped, entry = _decode(data)
            if entry is not None and (not kinds or entry["kind"] in kinds):
                yield Line(start + skipped, position, entry)


def tally(path: Path) -> Counter[str]:
    """How many lines of each kind there are; those that are damaged under the empty name."""
    found: Counter[str] = Counter()
    with path.open("rb") as file:
        for data in file:
            if data.strip():
                found[_name(data) if _sealed(data) else (_decode(data)[1] or {"kind": ""})["kind"]] += 1
    return found


def other_format(path: Path) -> str | None:
    """The format that a journal says it has, where that is not ours; else None."""
    with path.open("rb") as file:
        first = file.readline()
    with suppress(ValueError):
        match jsonbytes.loads(first):
            case {"kind": "session", "format": said} if said != FORMAT:
                return str(said)
    return None


def read_one(path: Path, start: int) -> dict[str, JSON]:
    """The line that starts there. Raises ValueError where none does."""
    with path.open("rb") as file:
        file.seek(start)
        entry = _decode(file.readline())[1]
    if entry is None:
        raise ValueError(f"{path}: no line starts at byte {start}")
    return entry


def _kind(data: bytes) -> str | None:
    """What kind a line is, told from its first bytes; None where only reading all of it will tell."""
    is_one = data.startswith(_START) and data.endswith(b"}\n") and data.find(_START, 1) < 0
    return _name(data) if is_one else None


def _name(data: bytes) -> str:
    return data[len(_START) :].partition(b'"')[0].decode("ascii", "replace")


def _decode(data: bytes) -> tuple[int, dict[str, JSON] | None]:
    """How many bytes of a cut line stand before the whole one, and what that says."""
    entry, start = _object(data), 0
    while entry is None and (start := data.find(_START, start + 1)) > 0:
        entry = _object(data[start:])
    return max(0, start), entry


def _object(data: bytes) -> dict[str, JSON] | None:
    said = _sealed(data)
    if said is None:
        return None
    try:
        entry = jsonbytes.loads(said)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def seal(data: bytes) -> bytes:
    """A line, which is an object and a newline, with the check sum of its bytes as a last field."""
    return b'%b%b%08x"}\n' % (data.removesuffix(b"}\n"), _SEAL, crc32(data))


def _sealed(data: bytes) -> bytes | None:
    """What a line of ours says without its check sum; None where any of it is not as it was written."""
    said, _, digits = data.rpartition(_SEAL)
    said += b"}\n"
    is_whole = said.startswith(_START) and digits.rstrip(b"\n") == b'%08x"}' % crc32(said)
    return said if is_whole else None
