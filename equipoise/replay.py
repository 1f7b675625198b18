"""What a journal knows of some runs, from earlier sessions and of this one, so that nothing is paid twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from pathlib import Path

from equipoise import journal
from equipoise.journal import Line
from equipoise.kept import Calls
from equipoise.records import Record
from equipoise.types import JSON, Exchange, Role


class Replay:
    """The calls and records that a journal has of these runs.

    The nth call of a run with the same request gets the nth reply that was kept for it. A record is
    final if it has a score; where it has none, its evaluators' replies led nowhere and are not replayed.
    Only places in the file are held; what stands there is read when it is wanted.
    """

    def __init__(self, path: Path, runs: Collection[str]) -> None:
        self.path = path
        self.nonce = ""
        self.session = ""
        self._calls = Calls(path)
        self._records: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._replies: dict[tuple[str, Role], dict[str, deque[str]]] = {}
        for line in journal.read(path, kinds=("session", "call", "record")):
            self._add(line, runs)

    def _add(self, line: Line, runs: Collection[str]) -> None:
        entry = line.entry
        kind = entry["kind"]
        if kind == "session":
            self.nonce, self.session = entry["nonce"], entry["session"]
        elif entry["run"] not in runs:
            return
        elif kind == "call":
            self._calls.add(line)
            kept = self._replies.setdefault((entry["run"], entry["role"]), {})
            kept.setdefault(entry["request"], deque()).append(entry["id"])
        elif entry["record"]["score"] is not None:
            self._records[entry["run"]] = line.start
            self._replies.pop((entry["run"], "subject"), None)
            self._replies.pop((entry["run"], "evaluator"), None)
        else:
            self._replies.pop((entry["run"], "evaluator"), None)

    def has_record(self, run: str) -> bool:
        """Whether a run has a final record, or has ended in this session."""
        return run in self._ended or run in self._records

    def put(self, call: str, start: int) -> None:
        """This session has made a call, whose line starts there."""
        self._calls.put(call, start)

    def end(self, run: str, start: int) -> None:
        """A run has ended in this session, with or without a score; its record starts there."""
        self._ended[run] = start

    def record(self, run: str) -> Record | None:
        """How a run has ended, in this session or with a score before; None where it has not."""
        entry = self.entry(run)
        return None if entry is None else self._calls.record(entry)

    def entry(self, run: str) -> dict[str, JSON] | None:
        """The line of that record."""
        start = self._ended.get(run, self._records.get(run))
        return None if start is None else journal.read_one(self.path, start)

    def starts(self, calls: Iterable[str]) -> dict[str, int]:
        """Where the lines of these calls start."""
        return self._calls.starts(calls)

    def take(self, run: str, role: Role, digest: str) -> Exchange | None:
        """The next kept call of this run with this request, if there is one."""
        kept = self._replies.get((run, role), {}).get(digest)
        return self._calls.exchange(kept.popleft()) if kept else None
