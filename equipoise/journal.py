"""The journal: one JSON line for every finished call and every record, appended the moment it is known.

Five kinds of line: `session` (who asked, with which settings, for which runs), `call`, `failed` (a call
without a reply), `learned` (an endpoint rejected a parameter) and `record`. All processes of a session
append to one file; a line is one write, so lines never mix. Results are a function of this file alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from equipoise import jsonbytes
from equipoise.types import JSON, Call, Record, Reply, Role

FORMAT = 1


def request_hash(call: Call) -> str:
    """Identifies what is asked: SHA-256 of model, messages and parameters, hexadecimal."""
    content = jsonbytes.dumps([call.model, call.messages, sorted(call.parameters.items())])
    return hashlib.sha256(content).hexdigest()


def code(nonce: str, *parts: str) -> str:
    """A one-time code of 16 hexadecimal digits that nobody can tell without the nonce."""
    return hmac.new(nonce.encode(), "\0".join(parts).encode(), hashlib.sha256).hexdigest()[:16]


class Journal:
    """Appends lines to one file. `session` is the id of the pytest invocation that writes."""

    def __init__(self, path: Path, session: str) -> None:
        self.path = path
        self.session = session
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def append(self, kind: str, **content: JSON) -> None:
        """Write one line, whole, at once."""
        line = {"kind": kind, "session": self.session, **content}
        data = jsonbytes.dumps(line)
        while data:
            data = data[os.write(self._file, data) :]

    def append_call(self, run: str, call: Call, digest: str, reply: Reply) -> None:
        """Keep a paid reply."""
        self.append("call", run=run, role=call.role, model=call.model, request=digest, reply=reply.to_json())

    def append_record(self, record: Record) -> None:
        """Keep how a run ended."""
        self.append("record", run=record.id, record=record.to_json())

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        os.close(self._file)


def end_last_line(path: Path) -> None:
    """End a line that a crash has cut, so that the next one stands alone."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        is_cut = file.read(1) != b"\n"
    if is_cut:
        # Appended, never written in place: nothing that stands in a journal is touched.
        with path.open("ab") as file:
            file.write(b"\n")


def read(path: Path) -> Iterator[dict[str, JSON]]:
    """The whole lines of a journal in order; a line that a crash has cut is passed over."""
    return (entry for entry, _ in read_from(path, 0))


def read_from(path: Path, position: int) -> Iterator[tuple[dict[str, JSON], int]]:
    """The whole lines from a position in bytes on, each with the position behind it.

    A last line that is still being written, or was cut, is left alone.
    """
    with path.open("rb") as file:
        file.seek(position)
        for line in file:
            position += len(line)
            if (entry := _decode(line)) is not None:
                yield entry, position


def _decode(line: bytes) -> dict[str, JSON] | None:
    try:
        entry = jsonbytes.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and "kind" in entry else None


class Replay:
    """What a journal already knows of some runs, so that nothing is paid twice.

    The nth call of a run with the same request gets the nth reply that was kept for it. A record is
    final if it has a score; where it has none, its evaluators' replies led nowhere and are not replayed.
    """

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.nonce = ""
        self.session = ""
        self._replies: dict[tuple[str, Role], dict[str, deque[Mapping[str, JSON]]]] = {}

    @classmethod
    def of(cls, path: Path, runs: Collection[str]) -> Replay:
        """Read a journal, keeping what concerns these runs."""
        replay = cls()
        for entry in read(path):
            replay._add(entry, runs)
        return replay

    def _add(self, entry: Mapping[str, JSON], runs: Collection[str]) -> None:
        kind = entry["kind"]
        if kind == "session":
            self.nonce, self.session = entry["nonce"], entry["session"]
        elif entry.get("run") not in runs:
            return
        elif kind == "call":
            kept = self._replies.setdefault((entry["run"], entry["role"]), {})
            kept.setdefault(entry["request"], deque()).append(entry["reply"])
        elif kind == "record" and entry["record"]["score"] is not None:
            self.records[entry["run"]] = Record.from_json(entry["record"])
        elif kind == "record":
            self._replies.pop((entry["run"], "evaluator"), None)

    def take(self, run: str, role: Role, digest: str) -> Reply | None:
        """The next kept reply to this request of this run, if there is one."""
        kept = self._replies.get((run, role), {}).get(digest)
        return Reply.from_json(kept.popleft()) if kept else None
