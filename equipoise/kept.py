"""Reads calls of a journal again when they are needed, so that nobody has to hold them all in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from equipoise import journal
from equipoise.budget import usage_of
from equipoise.journal import Line
from equipoise.records import Record
from equipoise.types import JSON, Call, Exchange, Reply, Role, Transcript, transcripts


class Calls:
    """Where the calls of a journal stand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._starts: dict[str, int] = {}

    def add(self, line: Line) -> None:
        """Remember where this call stands."""
        self.put(line.entry["id"], line.start)

    def put(self, name: str, start: int) -> None:
        """Remember that the call of that id starts there."""
        self._starts[name] = start

    def starts(self, names: Iterable[str]) -> dict[str, int]:
        """Where the calls of these ids start, as far as they are known."""
        return {name: self._starts[name] for name in names if name in self._starts}

    def exchange(self, name: str) -> Exchange:
        """The call of that id, read from the file."""
        return exchange(journal.read_one(self.path, self._starts[name]))

    def record(self, entry: Mapping[str, JSON]) -> Record:
        """The record of a line of that kind; its transcripts are read whenever they are looked at."""
        known = [name for name in entry["calls"] if name in self._starts]
        subject = KeptTranscripts(self, known, "subject")
        evaluators = KeptTranscripts(self, known, "evaluator")
        return Record.from_json(entry["record"], subject, evaluators)


def exchange(entry: Mapping[str, JSON]) -> Exchange:
    """The call of a line of that kind."""
    call = Call(
        role=entry["role"],
        model=entry["model"],
        messages=tuple(entry["messages"]),
        parameters=entry["parameters"],
    )
    return Exchange(id=entry["id"], call=call, reply=Reply.from_json(entry["reply"]))


def tokens(entry: Mapping[str, JSON]) -> tuple[Mapping[str, int], bool]:
    """The tokens of the call of a line of that kind, and whether they are estimated."""
    counted = entry["reply"].get("usage")
    if counted and counted["input"] and counted["output"]:
        # So are nearly all, and it takes time to build a call.
        return counted, False
    found = exchange(entry)
    return usage_of(found.call, found.reply).to_json(), not found.reply.is_metered


class KeptTranscripts(Sequence[Transcript]):
    """The transcripts of one run in one role, read from the journal at every use."""

    __slots__ = ("_calls", "_names", "_role")

    def __init__(self, calls: Calls, names: Iterable[str], role: Role) -> None:
        self._calls = calls
        self._names = tuple(names)
        self._role = role

    def _read(self) -> tuple[Transcript, ...]:
        found = map(self._calls.exchange, self._names)
        return transcripts(item for item in found if item.call.role == self._role)

    @overload
    def __getitem__(self, index: int) -> Transcript: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Transcript]: ...
    def __getitem__(self, index: int | slice) -> Transcript | Sequence[Transcript]:
        return self._read()[index]

    def __iter__(self) -> Iterator[Transcript]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())
