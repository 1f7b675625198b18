"""Everything in a journal, added up line by line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

from equipoise import journal, kept
from equipoise.journal import Line
from equipoise.kept import Calls
from equipoise.records import Record
from equipoise.types import JSON

T = TypeVar("T")
Status = Literal["running", "interrupted", "complete"]


def needed(planned: Mapping[str, T], looks: Mapping[int, Mapping[str, JSON]]) -> dict[str, T]:
    """The planned runs of the rounds up to the one after which a look found that it was enough."""
    enough = [number for number, look in looks.items() if look["is_enough"]]
    return {run: found for run, found in planned.items() if not enough or _round(run) <= min(enough)}


def forget(looks: dict[int, Mapping[str, JSON]], run: str) -> bool:
    """Drop the looks that a run's new record makes out of date. Whether there were any."""
    stale = [number for number in looks if number >= _round(run)]
    for number in stale:
        del looks[number]
    return bool(stale)


def _round(run: str) -> int:
    return int(run.rpartition("-run")[2])


def _either(expressions: Sequence[str | None]) -> str | None:
    """What selects what any of them does, in pytest's own language; None where one of them selects all."""
    known = list(dict.fromkeys(expressions))
    if None in known or len(known) == 1:
        return None if None in known else known[0]
    return " or ".join(f"({expression})" for expression in known)


@dataclass(slots=True)
class Ledger:
    """The sums of one journal. `estimated` are the calls by role whose tokens no endpoint has counted.

    `position` is how far it was read, in bytes; `planned` maps run ids to languages. Records have the
    transcripts in the file, not in memory.
    """

    path: Path
    position: int = 0
    sessions: list[Mapping[str, JSON]] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    planned: dict[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seen: dict[tuple[str, str, str | None, str | None, str | None], int] = field(default_factory=Counter)
    learned: dict[tuple[str, str, str, str], Mapping[str, JSON]] = field(default_factory=dict)
    limits: list[Mapping[str, JSON]] = field(default_factory=list)
    looks: dict[int, Mapping[str, JSON]] = field(default_factory=dict)
    _every: dict[str, str] = field(default_factory=dict)
    estimated: Counter[str] = field(default_factory=Counter)
    _kept: Calls = field(init=False)
    _cases: dict[str, Mapping[str, JSON]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kept = Calls(self.path)

    def read_on(self) -> None:
        """Add what was appended to the journal since the last time."""
        for line in journal.read(self.path, self.position):
            self._add(line)
            self.position = line.end

    def _add(self, line: Line) -> None:
        entry = line.entry
        match entry["kind"]:
            case "session":
                self.sessions.append(entry)
                self._plan(entry["plan"])
                self._cut_plan()
            case "call":
                self._add_call(line)
            case "failed":
                self.failed += 1
                self.retries += entry["retries"]
            case "learned":
                step = (entry["role"], entry["model"], entry["parameter"], entry["action"])
                self.learned.setdefault(step, entry)
            case "limit":
                self.limits.append(entry)
            case "look":
                self._add_look(entry)
            case "record":
                self._add_record(entry)

    def _plan(self, plan: Mapping[str, str]) -> None:
        """Add what a session planned. The order is that of the largest plan, whichever came first."""
        first, then = (plan, self._every) if len(plan) > len(self._every) else (self._every, plan)
        self._every = {**first, **then}

    def _add_look(self, entry: Mapping[str, JSON]) -> None:
        self.looks[entry["round"]] = entry
        self._cut_plan()

    def _cut_plan(self) -> None:
        """What is planned: all runs, or those of the rounds that were enough."""
        self.planned = needed(self._every, self.looks)

    def _add_record(self, entry: Mapping[str, JSON]) -> None:
        record = entry["record"]
        # One copy for all runs of a case.
        record["case"] = self._cases.setdefault(record["case"]["id"], record["case"])
        self.records[entry["run"]] = self._kept.record(entry)
        if forget(self.looks, entry["run"]):
            self._cut_plan()

    def _add_call(self, line: Line) -> None:
        self._kept.add(line)
        entry = line.entry
        reply, role, model = entry["reply"], entry["role"], entry["model"]
        self.calls[entry["session"]] += 1
        self.retries += reply.get("retries", 0)
        tokens, is_estimated = kept.tokens(entry)
        self.tokens[role, model].update(tokens)
        self.estimated[role] += is_estimated
        says = (reply.get("model"), reply.get("fingerprint"), reply.get("provider"))
        self.seen[role, model, *says] += 1

    @property
    def settings(self) -> dict[str, JSON]:
        """The settings of all sessions, which differ in extent alone: as far as they reach together."""
        every = [session["settings"] for session in self.sessions]
        limits = [settings.get("limit") for settings in every]
        languages = [settings.get("languages_asked") for settings in every]
        return {
            **every[-1],
            "runs": max(settings["runs"] for settings in every),
            "limit": None if None in limits else max(limits),
            "languages_asked": list(dict.fromkeys(chain(*languages))) if all(languages) else None,
        }

    @property
    def selection(self) -> dict[str, JSON]:
        """What all sessions together have selected: an expression where each had one."""
        every = [session["selection"] for session in self.sessions]
        most = max(len(session["plan"]) + session["selection"]["deselected"] for session in self.sessions)
        selected = {name: _either([item[name] for item in every]) for name in ("keyword", "mark")}
        return {**selected, "deselected": most - len(self._every)}

    def only(self, runs: Collection[str]) -> Ledger:
        """The same for some of the planned runs."""
        part = copy(self)
        part.planned = {run: language for run, language in self.planned.items() if run in runs}
        return part

    def in_order(self) -> list[Record]:
        """The records of planned runs in the order of the plan."""
        return [self.records[run] for run in self.planned if run in self.records]

    def missing(self) -> list[str]:
        """The planned runs without a record."""
        return [run for run in self.planned if run not in self.records]

    def status(self, *, is_running: bool) -> Status:
        """Complete when every planned run has a score."""
        records = self.in_order()
        if len(records) == len(self.planned) and all(record.score is not None for record in records):
            return "complete"
        return "running" if is_running else "interrupted"
