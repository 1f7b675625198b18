"""Offsets of a journal's calls in its file, and the conversations, read from there when needed.

Only offsets are held in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.core.lazy import LazySequence
from equipoise.core.records import Record
from equipoise.core.types import JSON, Conversation, Exchange, transcripts
from equipoise.results.journal import Reader
from equipoise.results.lines import CallLine, RecordLine

_NO_DETAILS: Mapping[str, JSON] = {}


class Calls:
    """The offsets of the calls in a journal, by role and id."""

    def __init__(self, path: Path) -> None:
        self._reader = Reader(path)
        self._starts: dict[str, dict[str, int]] = {"subject": {}, "evaluator": {}}

    def move(self, path: Path) -> None:
        """Read from another file with the same content from now on."""
        self._reader = Reader(path)

    def put(self, role: str, name: str, start: int) -> None:
        """Add the offset of a call."""
        self._starts[role][name] = start

    def starts(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """The known offsets of these calls, by role."""
        return {
            role: {name: starts[name] for name in names if name in starts}
            for role, starts in self._starts.items()
        }

    def __contains__(self, name: str) -> bool:
        return any(name in starts for starts in self._starts.values())

    def exchange(self, start: int) -> Exchange:
        """The call at an offset."""
        return self._reader.read(start, CallLine).exchange

    def exchanges(self, names: Sequence[str]) -> list[Exchange]:
        """The known calls of these ids, the subject's first."""
        return [self.exchange(start) for starts in self.starts(names).values() for start in starts.values()]

    def line(self, start: int) -> bytes:
        """The bytes of the line at an offset."""
        return self._reader.line(start)

    def record_line(self, start: int) -> RecordLine:
        """The record line at an offset."""
        return self._reader.read(start, RecordLine)

    def record(self, line: RecordLine, case: Mapping[str, JSON] | None = None) -> Record:
        """The record in a journal line, with `case` as its case if given. Transcripts are read on use."""
        starts = self.starts(line.calls)
        subject, evaluators = (LazyTranscripts(self, tuple(offsets.values())) for offsets in starts.values())
        record = line.record
        return replace(
            record,
            case=record.case if case is None else case,
            # Many suites have none: one empty mapping for all of them.
            details=record.details or _NO_DETAILS,
            subject=subject,
            evaluators=evaluators,
        )


class LazyTranscripts(LazySequence[Conversation]):
    """The transcripts of one run in one role, read from the journal at each use."""

    __slots__ = ("_calls", "_starts")

    def __init__(self, calls: Calls, starts: tuple[int, ...]) -> None:
        self._calls = calls
        self._starts = starts

    def read(self) -> tuple[Conversation, ...]:
        """The conversations of the calls."""
        return transcripts(map(self._calls.exchange, self._starts))
