"""The index of a journal: read once, then updated with every line that is written.

The one reader behind resuming, replaying, aggregating, recovering and estimating. Only sums and offsets are
held in memory; calls and records are read on demand. Knows neither suites nor endpoints.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar, overload

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import OUTCOMES, Record
from equipoise.core.types import JSON, Call, Exchange, Reply, Role, Token, Transcript, Usage, transcripts
from equipoise.models.budget import usage_of
from equipoise.results import journal
from equipoise.results.journal import Line, Moved

T = TypeVar("T")
Status = Literal["running", "interrupted", "complete_with_unscored", "complete"]
WITH_UNSCORED: Status = "complete_with_unscored"
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a line raises that is JSON but not a valid journal line."""


# Plans.


def needed(planned: Mapping[str, T], looks: Mapping[int, Mapping[str, JSON]]) -> dict[str, T]:
    """The planned runs of the rounds up to the one after which a look found that it was enough."""
    enough = [number for number, look in looks.items() if look["is_enough"]]
    return {run: found for run, found in planned.items() if not enough or _round(run) <= min(enough)}


def drop_stale(looks: dict[int, Mapping[str, JSON]], run: str) -> bool:
    """Drop the looks that a run's new record makes stale. Whether there were any."""
    stale = [number for number in looks if number >= _round(run)] if looks else []
    for number in stale:
        del looks[number]
    return bool(stale)


def _round(run: str) -> int:
    return int(run.rpartition("-run")[2])


def _either(expressions: Sequence[str | None]) -> str | None:
    """A pytest expression that selects what any of these does; None where one of them selects everything."""
    known = list(dict.fromkeys(expressions))
    if None in known or len(known) == 1:
        return None if None in known else known[0]
    return " or ".join(f"({expression})" for expression in known)


# Calls.


class Calls:
    """The offsets of the calls in a journal, by role and id."""

    def __init__(self, path: Path) -> None:
        self._reader = journal.Reader(path)
        self._starts: dict[str, dict[str, int]] = {"subject": {}, "evaluator": {}}

    def move(self, path: Path) -> None:
        """Read from this file from now on, which holds the same."""
        self._reader = journal.Reader(path)

    def put(self, role: str, name: str, start: int) -> None:
        """Remember the offset of a call."""
        self._starts[role][name] = start

    def starts(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """The known offsets of these calls, by role."""
        return {
            role: {name: known[name] for name in names if name in known}
            for role, known in self._starts.items()
        }

    def __contains__(self, name: str) -> bool:
        return any(name in known for known in self._starts.values())

    def read(self, start: int) -> dict[str, JSON]:
        """The line that starts there."""
        return self._reader.read(start)

    def exchange(self, start: int) -> Exchange:
        """The call that starts there."""
        return exchange(self.read(start))

    def record(self, entry: Mapping[str, JSON]) -> Record:
        """The record of a line of that kind; its transcripts are read at every use."""
        known = self.starts(entry["calls"])
        subject, evaluators = (LazyTranscripts(self, tuple(found.values())) for found in known.values())
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


class LazyTranscripts(Sequence[Transcript]):
    """The transcripts of one run in one role, read from the journal at each use."""

    __slots__ = ("_calls", "_starts")

    def __init__(self, calls: Calls, starts: tuple[int, ...]) -> None:
        self._calls = calls
        self._starts = starts

    def _read(self) -> tuple[Transcript, ...]:
        return transcripts(map(self._calls.exchange, self._starts))

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


class Replies:
    """The replies of runs without a score: the nth call with the same request gets the nth reply.

    Where a run ended without a score, its evaluators' replies are not replayed.
    """

    def __init__(self) -> None:
        self._by_run: dict[tuple[str, str], list[tuple[str, int]]] = {}

    def put(self, run: str, role: str, digest: str, start: int) -> None:
        """One more reply, to the request of that hash, whose call starts there."""
        self._by_run.setdefault((run, role), []).append((digest, start))

    def take(self, run: str, role: str, digest: str) -> int | None:
        """Where the next call of this run with this request starts, if there is one."""
        found = self._by_run.get((run, role), ())
        index = next((index for index, (known, _) in enumerate(found) if known == digest), None)
        return None if index is None else self._by_run[run, role].pop(index)[1]

    def drop(self, run: str, *, has_score: bool) -> None:
        """The run has ended."""
        self._by_run.pop((run, "evaluator"), None)
        if has_score:
            self._by_run.pop((run, "subject"), None)


@dataclass(slots=True)
class Totals:
    """What the calls of a journal add up to.

    `calls` are counted by session, `tokens` by role and model; `estimated` are the calls by role whose tokens
    no endpoint has counted; `seen` counts what endpoints said had answered.
    """

    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    estimated: Counter[str] = field(default_factory=Counter)
    seen: dict[tuple[str, str, str | None, str | None, str | None], int] = field(default_factory=Counter)

    def add(self, entry: Mapping[str, JSON]) -> None:
        """One more call."""
        reply, role, model = entry["reply"], entry["role"], entry["model"]
        used, is_estimated = tokens(entry)
        self.calls[entry["session"]] += 1
        self.retries += reply.get("retries", 0)
        counted = self.tokens[role, model]
        for kind, amount in used.items():
            counted[kind] += amount
        self.estimated[role] += is_estimated
        self.seen[role, model, reply.get("model"), reply.get("fingerprint"), reply.get("provider")] += 1

    def fail(self, retries: int) -> None:
        """One more call without a reply."""
        self.failed += 1
        self.retries += retries

    def copied(self) -> Totals:
        """The same, which stays as it is now."""
        counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        counted.update({key: Counter(found) for key, found in self.tokens.items()})
        return Totals(
            calls=Counter(self.calls),
            failed=self.failed,
            retries=self.retries,
            tokens=counted,
            estimated=Counter(self.estimated),
            seen=dict(self.seen),
        )


def tokens(entry: Mapping[str, JSON]) -> tuple[Mapping[str, int], bool]:
    """The tokens of the call of a line of that kind, and whether they are estimated."""
    counted = entry["reply"].get("usage")
    if counted and counted.get("input") and counted.get("output"):
        # So are nearly all, and it takes time to build a call.
        return counted, False
    found = exchange(entry)
    return usage_of(found.call, found.reply).to_json(), not found.reply.is_metered


# All of it.


class History:
    """The index of one journal.

    `refresh` adds what was appended to the file, which can be replayed; `add` adds a line that was just
    written. `sessions` are their first lines without the plans; `unscored` are runs that ended without a
    score; `damaged` counts lines that cannot be read. With `is_headless` there are calls or records
    before the first line that says with which settings they were made; with `is_cut` the file has lost what
    the index still knows.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        self.sessions: list[dict[str, JSON]] = []
        self.planned: dict[str, str] = {}
        self.looks: dict[int, Mapping[str, JSON]] = {}
        self.totals = Totals()
        self.learned: dict[tuple[str, str, str, str], Mapping[str, JSON]] = {}
        self.limits: list[Mapping[str, JSON]] = []
        self.unscored: set[str] = set()
        self.calls = Calls(path)
        self._every: dict[str, str] = {}
        self._records: dict[str, int] = {}
        self._replies = Replies()
        self._begun = 0
        self._damaged = 0
        self._has_damaged_end = False
        self.is_headless = self.is_cut = False
        self._lock = threading.Lock()

    # Adding lines.

    def refresh(self) -> None:
        """Add what was appended to the file since the last time."""
        self._has_damaged_end = False
        for start, end, entry in journal.scan(self.path, self.position):
            self._has_damaged_end = start == end
            if entry is None or not self._read(Line(start, end, entry)):
                self._damaged += not self._has_damaged_end
            self.position = end

    def _read(self, line: Line) -> bool:
        """Add a line of the file. Whether it is a valid journal line."""
        try:
            _check(line.entry)
        except DAMAGE:
            return False
        entry = line.entry
        self.is_headless |= not self.sessions and entry["kind"] in ("call", "record")
        if entry["kind"] == "call":
            self._replies.put(entry["run"], entry["role"], entry["request"], line.start)
        if entry["kind"] != "record" or all(name in self.calls for name in entry["calls"]):
            # A record of which a call is lost is none: its run is asked again.
            self._add(line)
        return True

    def add(self, line: Line) -> None:
        """Add a line that was just appended; called by any thread."""
        with self._lock:
            self._add(line)
            self.position = max(self.position, line.end)

    def _add(self, line: Line) -> None:
        entry = line.entry
        match entry["kind"]:
            case "session":
                self._add_session(line)
            case "call":
                self.calls.put(entry["role"], entry["id"], line.start)
                self.totals.add(entry)
            case "failed":
                self.totals.fail(entry["retries"])
            case "learned":
                step = (entry["role"], entry["model"], entry["parameter"], entry["action"])
                self.learned.setdefault(step, entry)
            case "limit":
                self.limits.append(entry)
            case "look":
                self.looks[entry["round"]] = entry
                self._narrow_plan()
            case "record":
                self._add_record(line)

    def _add_session(self, line: Line) -> None:
        """Its plan is joined to the others. The order is that of the largest plan."""
        plan = line.entry.get("plan", {})
        self.sessions.append({**line.entry, "plan": None, "planned": len(plan)})
        self._begun = line.start
        first, then = (plan, self._every) if len(plan) > len(self._every) else (self._every, plan)
        self._every = {**first, **then}
        self._narrow_plan()

    def _narrow_plan(self) -> None:
        """What is planned: all runs, or those of the rounds that were enough."""
        self.planned = needed(self._every, self.looks)

    def _add_record(self, line: Line) -> None:
        run, has_score = line.entry["run"], line.entry["record"]["score"] is not None
        self._replies.drop(run, has_score=has_score)
        if run in self._records and run not in self.unscored:
            # A score is final.
            return
        self._records[run] = line.start
        (self.unscored.discard if has_score else self.unscored.add)(run)
        if drop_stale(self.looks, run):
            self._narrow_plan()

    def move(self, moved: Moved) -> None:
        """The journal goes on in another file."""
        with self._lock:
            self.path = moved.path
            self.calls.move(moved.path)
            self.is_cut |= moved.is_cut

    # What the index holds.

    @property
    def is_empty(self) -> bool:
        """Whether no session has begun."""
        return not self.sessions

    @property
    def has_answers(self) -> bool:
        """Whether any call was answered or any run has a score, as far as lines can be read."""
        return bool(self.totals.calls or self.damaged) or len(self._records) > len(self.unscored)

    @property
    def nonce(self) -> str:
        """The secret of the marker codes of all its sessions; empty where none has begun."""
        return str(self.sessions[-1]["nonce"]) if self.sessions else ""

    @property
    def session(self) -> str:
        """The id of the last session; empty where none has begun."""
        return str(self.sessions[-1]["session"]) if self.sessions else ""

    @property
    def damaged(self) -> int:
        """How many lines are damaged."""
        return self._damaged + self._has_damaged_end

    @property
    def settings(self) -> dict[str, JSON]:
        """The settings of all sessions, with the extent that they cover together."""
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
        """What all sessions together have selected, as one expression where each had one."""
        every = [session["selection"] for session in self.sessions]
        most = max(session["planned"] + session["selection"]["deselected"] for session in self.sessions)
        selected = {name: _either([item[name] for item in every]) for name in ("keyword", "mark")}
        return {**selected, "deselected": most - len(self._every)}

    def has_score(self, run: str) -> bool:
        """Whether a run has a score, which is final."""
        return run in self._records and run not in self.unscored

    def has_ended(self, run: str) -> bool:
        """Whether a run has a score, or has ended without one in the last session."""
        return run in self._records and (run not in self.unscored or self._records[run] > self._begun)

    def to_ask(self, plan: Mapping[str, str]) -> list[str]:
        """The runs of a plan that are needed and have no score."""
        return [run for run in needed(plan, self.looks) if not self.has_score(run)]

    def missing(self) -> list[str]:
        """The planned runs without a record."""
        return [run for run in self.planned if run not in self._records]

    def status(self, *, is_running: bool) -> Status:
        """Complete when every planned run has a score, or with unscored ones when all have ended."""
        if all(map(self.has_score, self.planned)):
            return "complete"
        if is_running:
            return "running"
        # Where none has a score there is nothing to be complete.
        is_whole = not self.missing() and any(map(self.has_score, self.planned))
        return WITH_UNSCORED if is_whole else "interrupted"

    # What is read from the file.

    def take(self, run: str, role: Role, digest: str) -> Exchange | None:
        """The next call of this run with this request, if there is one to replay."""
        start = self._replies.take(run, role, digest)
        return None if start is None else self.calls.exchange(start)

    def entry(self, run: str) -> dict[str, JSON]:
        """The line of a run's record."""
        return self.calls.read(self._records[run])

    def record(self, run: str) -> Record | None:
        """How a run has ended, in the last session or with a score before; None where it has not."""
        return self.calls.record(self.entry(run)) if self.has_ended(run) else None

    def records(self) -> list[Record]:
        """The records of planned runs in the order of the plan, with one copy of each case."""
        cases: dict[str, Mapping[str, JSON]] = {}
        found = []
        for run in self.planned:
            if run in self._records:
                entry = self.entry(run)
                record = entry["record"]
                record["case"] = cases.setdefault(record["case"]["id"], record["case"])
                found.append(self.calls.record(entry))
        return found

    def snapshot(self, runs: Collection[str] | None = None) -> History:
        """A snapshot; of these planned runs only, where any are given."""
        with self._lock:
            part = copy(self)
            part.totals = self.totals.copied()
            part.learned, part.limits, part.looks = dict(self.learned), list(self.limits), dict(self.looks)
            part._records, part.unscored = dict(self._records), set(self.unscored)
        if runs is not None:
            part.planned = {run: language for run, language in self.planned.items() if run in runs}
        return part


def load(path: Path) -> History:
    """What the journal at this path holds; nothing where there is no file. Raises UserError."""
    history = History(path)
    if path.is_file():
        if (found := journal.other_format(path)) is not None:
            raise UserError(f"the journal has format {found}, not {journal.FORMAT}: use --fresh")
        history.refresh()
        if history.is_headless:
            raise UserError(
                f"{shown(path)}: the first line, which says with which settings it was made, cannot be read: "
                "`equipoise recover` makes results of what is left; --fresh asks everything again"
            )
    return history


def used(path: Path, suite: str) -> Iterator[tuple[Role, str, str, Mapping[str, int]]]:
    """Role, model, run and tokens of every call of a suite's runs that ended."""
    found: list[tuple[Role, str, str, Mapping[str, int]]] = []
    ended: set[str] = set()
    is_ours = False
    for entry in sound(path):
        if entry["kind"] == "session":
            is_ours = (entry.get("suite"), entry.get("format")) == (suite, journal.FORMAT)
        elif entry["kind"] == "record":
            ended.add(entry["run"])
        elif entry["kind"] == "call" and is_ours:
            found.append((entry["role"], entry["model"], entry["run"], tokens(entry)[0]))
    return (use for use in found if use[2] in ended)


def sound(path: Path) -> Iterator[dict[str, JSON]]:
    """The entries of the valid lines."""
    for line in journal.read(path):
        try:
            _check(line.entry)
        except DAMAGE:
            continue
        yield line.entry


# Validation.

_TEXTS: Mapping[str, Sequence[str]] = {
    "session": ("session", "nonce", "started"),
    "call": ("session", "run", "id", "request", "model", "role"),
    "learned": ("role", "model", "parameter", "action", "reason"),
    "limit": ("session", "event"),
    "record": ("run",),
}
_NUMBERS: Mapping[str, Sequence[str]] = {"failed": ("retries",), "look": ("round",)}
_OF_LIMITS: Mapping[str, Sequence[str]] = {
    "end": ("endpoint", "lowest", "highest", "last", "refused"),
    "cut": ("endpoint", "before", "after"),
}


def _check(entry: Mapping[str, JSON]) -> None:
    """Raise one of DAMAGE where a line is invalid, as far as the format is the same for all suites."""
    kind = entry["kind"]
    for name in _TEXTS.get(kind, ()):
        _need(isinstance(entry[name], str))
    for name in _NUMBERS.get(kind, ()):
        _need(isinstance(entry[name], int))
    match kind:
        case "session":
            _check_session(entry)
        case "call":
            _check_call(entry)
        case "record":
            _check_record(entry)
        case "limit":
            _need(all(isinstance(entry[name], int) for name in _OF_LIMITS[entry["event"]]))
        case "look":
            _need(isinstance(entry["is_enough"], bool))


def _need(is_so: bool) -> None:
    if not is_so:
        raise ValueError


def _check_session(entry: Mapping[str, JSON]) -> None:
    datetime.fromisoformat(entry["started"])
    _need(isinstance(entry.get("settings", {}), dict))
    _need(all(isinstance(language, str) for language in entry.get("plan", {}).values()))
    for run in entry.get("plan", {}):
        _round(run)


def _check_call(entry: Mapping[str, JSON]) -> None:
    reply = entry["reply"]
    usage = reply.get("usage")
    _need(entry["role"] in ("subject", "evaluator"))
    _need(isinstance(reply["text"], str) and reply.keys() <= _REPLY)
    _need(usage is None or (usage.keys() <= _USAGE and all(isinstance(n, int) for n in usage.values())))
    _need(isinstance(entry["parameters"], dict) and isinstance(reply.get("retries", 0), int))
    for name in ("model", "fingerprint", "provider", "reasoning", "finish_reason", "blocked"):
        _need(isinstance(reply.get(name), str | None))
    for message in entry["messages"]:
        _need(isinstance(message["role"], str) and isinstance(message["content"], str))
    for token in reply.get("tokens") or ():
        Token(**token)


_REPLY = frozenset(Reply(text="").__dataclass_fields__)
_USAGE = frozenset(Usage().to_json())


def _check_record(entry: Mapping[str, JSON]) -> None:
    _round(entry["run"])
    _need(all(isinstance(name, str) for name in entry["calls"]))
    record = Record.from_json(entry["record"])
    _need(all(isinstance(record.case[name], str) for name in ("id", "language", "area")))
    _need(isinstance(record.run, int) and record.outcome in OUTCOMES and isinstance(record.details, dict))
    _need(isinstance(record.score, float | int | None) and isinstance(record.percent, float | int | None))
    for verdict in record.verdicts:
        _need(isinstance(verdict.evaluator, str) and isinstance(verdict.attempts, int))
        _need(isinstance(verdict.fields, dict | None))
