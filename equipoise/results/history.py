"""The index of a journal: read once, then updated with every line that is written.

Resuming, replaying, aggregating, recovering and estimating all read the journal through it. Only sums and
offsets are held in memory; calls and records are read on demand. Knows neither suites nor endpoints.
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
from sys import intern
from typing import Literal, NamedTuple, TypeVar, overload

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import OUTCOMES, Record
from equipoise.core.types import JSON, Call, Exchange, Reply, Role, Token, Transcript, Usage, conversations
from equipoise.models.budget import usage_of
from equipoise.results import journal
from equipoise.results.journal import Line, Moved

T = TypeVar("T")
Answering = tuple[str, str, str | None, str | None, str | None]
"""A role, a model, and the model, fingerprint and provider that its endpoint reported."""
Status = Literal["running", "interrupted", "complete_with_unscored", "complete"]
WITH_UNSCORED: Status = "complete_with_unscored"
MOST_NUMBERS = 5
"""How many line numbers a message has at most."""
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The exceptions that reading an invalid journal line raises."""


# Plans.


def needed(planned: Mapping[str, T], looks: Mapping[int, Mapping[str, JSON]]) -> Mapping[str, T]:
    """The planned runs up to the round after which `--until` was satisfied; all if it never was."""
    enough = [number for number, look in looks.items() if look["is_enough"]]
    if not enough:
        return planned
    return {run: found for run, found in planned.items() if _round(run) <= min(enough)}


def drop_stale(looks: dict[int, Mapping[str, JSON]], run: str) -> bool:
    """Drop the looks that a run's new record makes stale. Returns whether there were any."""
    stale = [number for number in looks if number >= _round(run)] if looks else []
    for number in stale:
        del looks[number]
    return bool(stale)


def _round(run: str) -> int:
    return int(run.rpartition("-run")[2])


def _either(expressions: Sequence[str | None]) -> str | None:
    """A pytest expression that selects the union of these; None if one of them selects everything."""
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
        """Read from another file with the same content from now on."""
        self._reader = journal.Reader(path)

    def put(self, role: str, name: str, start: int) -> None:
        """Add the offset of a call."""
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
        """The line at an offset."""
        return self._reader.read(start)

    def exchange(self, start: int) -> Exchange:
        """The call at an offset."""
        return exchange(self.read(start))

    def exchanges(self, names: Sequence[str]) -> list[Exchange]:
        """The known ones of these calls, the subject's first."""
        return [self.exchange(start) for known in self.starts(names).values() for start in known.values()]

    def record(self, entry: Mapping[str, JSON]) -> Record:
        """The record in a journal line; its transcripts are read at each use."""
        known = self.starts(entry["calls"])
        subject, evaluators = (LazyTranscripts(self, tuple(found.values())) for found in known.values())
        return Record.from_json(entry["record"], subject, evaluators)


def transcript(entry: Mapping[str, JSON]) -> Transcript:
    """The call in a journal line with its reply, as a conversation."""
    messages = (*entry["messages"], Reply.message_from_json(entry["reply"]))
    return Transcript(model=entry["model"], parameters=entry["parameters"], messages=messages)


def exchange(entry: Mapping[str, JSON]) -> Exchange:
    """The call in a journal line."""
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
        return conversations(map(transcript, map(self._calls.read, self._starts)))

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
    """The replies to replay in runs without a score: the nth call with the same request gets the nth reply.

    Evaluators' replies are not replayed if the run ended without a score.
    """

    def __init__(self) -> None:
        self._by_run: dict[tuple[str, str], list[tuple[str, int]]] = {}

    def put(self, run: str, role: str, digest: str, start: int) -> None:
        """Add the reply to a request with this hash, by the offset of its call."""
        self._by_run.setdefault((run, role), []).append((digest, start))

    def take(self, run: str, role: str, digest: str) -> int | None:
        """Remove and return the offset of the run's next call with this request, if there is one."""
        found = self._by_run.get((run, role), ())
        index = next((index for index, (known, _) in enumerate(found) if known == digest), None)
        return None if index is None else self._by_run[run, role].pop(index)[1]

    def drop(self, run: str, *, has_score: bool) -> None:
        """Drop the replies of a run that has ended; the subject's only if it has a score."""
        self._by_run.pop((run, "evaluator"), None)
        if has_score:
            self._by_run.pop((run, "subject"), None)


@dataclass(slots=True)
class Seen:
    """How many calls were answered by one model, and which run and which call of all the first was."""

    calls: int
    first_run: str
    first_call: int
    last_call: int


@dataclass(slots=True)
class Totals:
    """The totals of a journal's calls.

    `calls` are counted by session, `tokens` by role and model; `estimated` counts calls without reported
    tokens by role; `repeats` are the retries because an answer might have been a copy; `seen` has the models,
    fingerprints and providers that endpoints reported, `number` the number of calls in all.
    """

    calls: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    retries: int = 0
    repeats: int = 0
    tokens: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    estimated: Counter[str] = field(default_factory=Counter)
    seen: dict[Answering, Seen] = field(default_factory=dict)
    number: int = 0

    def add(self, entry: Mapping[str, JSON]) -> None:
        """Add a call."""
        reply, role, model = entry["reply"], entry["role"], entry["model"]
        used, is_estimated = tokens(entry)
        self.calls[entry["session"]] += 1
        self.retries += reply.get("retries", 0)
        self.repeats += reply.get("repeats", 0)
        counted = self.tokens[role, model]
        for kind, amount in used.items():
            counted[kind] += amount
        self.estimated[role] += is_estimated
        self.number += 1
        key = (role, model, reply.get("model"), reply.get("fingerprint"), reply.get("provider"))
        if (seen := self.seen.get(key)) is None:
            self.seen[key] = Seen(1, entry["run"], self.number, self.number)
        else:
            seen.calls += 1
            seen.last_call = self.number

    def fail(self, retries: int) -> None:
        """Add a call without a reply."""
        self.failed += 1
        self.retries += retries

    def copy(self) -> Totals:
        """An independent copy."""
        counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        counted.update({key: Counter(found) for key, found in self.tokens.items()})
        return Totals(
            calls=Counter(self.calls),
            failed=self.failed,
            retries=self.retries,
            repeats=self.repeats,
            tokens=counted,
            estimated=Counter(self.estimated),
            seen={key: copy(seen) for key, seen in self.seen.items()},
            number=self.number,
        )


def tokens(entry: Mapping[str, JSON]) -> tuple[Mapping[str, int], bool]:
    """The tokens of the call in a journal line, and whether they are estimated."""
    counted = entry["reply"].get("usage")
    if counted and counted.get("input") and counted.get("output"):
        # True for nearly all calls, and faster than building the call.
        return counted, False
    found = exchange(entry)
    return usage_of(found.call, found.reply).to_json(), not found.reply.is_metered


# The index.


class History:
    """The index of one journal.

    `refresh` adds lines that were appended to the file, whose calls can be replayed; `add` adds a line that
    was just written. `sessions` are the session lines without their plans; `ranks` are the places of a
    shard's runs among those of all shards; `unscored` are runs that ended without a score; `damaged` counts
    damaged lines. `audit` is the plan of the last audit, `anchors` has its verdicts by name, and
    `kept_audits` earlier audits by evaluator. `is_headless` says that calls or records precede the first
    session line with their settings, `is_cut` that the file has lost lines that the index has.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        self.sessions: list[dict[str, JSON]] = []
        self.planned: Mapping[str, str] = {}
        self.ranks: dict[str, int] = {}
        self.looks: dict[int, Mapping[str, JSON]] = {}
        self.totals = Totals()
        self.learned: dict[tuple[str, str, str, str], Mapping[str, JSON]] = {}
        self.limits: list[Mapping[str, JSON]] = []
        self.sections: dict[str, Mapping[str, JSON]] = {}
        self.audit: Mapping[str, JSON] | None = None
        self.anchors: dict[str, Mapping[str, JSON]] = {}
        self.kept_audits: dict[str, Mapping[str, JSON]] = {}
        self.unscored: set[str] = set()
        self.calls = Calls(path)
        self._every: dict[str, str] = {}
        self._records: dict[str, int] = {}
        self._replies = Replies()
        self._begun = 0
        self._damaged: list[int] = []
        self._damaged_end: list[int] = []
        self._misplaced: list[int] = []
        self._is_checked = False
        self.is_headless = self.is_cut = False
        self._lock = threading.Lock()

    # Adding lines.

    def refresh(self) -> None:
        """Add the lines that were appended to the file since the last refresh."""
        self._damaged_end = []
        for line in journal.scan(self.path, self.position, is_checked=self._is_checked):
            self.position = line.end
            if line.start == line.end:
                self._damaged_end = [line.start]
                break
            self._is_checked |= line.has_checksum
            if line.entry is None or not self._read(Line(line.start, line.end, line.entry)):
                self._damaged.append(line.start)
            if not line.follows:
                self._misplaced.append(line.start)

    def _read(self, line: Line) -> bool:
        """Add a line of the file. Returns whether it is a valid journal line."""
        try:
            _check(line.entry)
        except DAMAGE:
            return False
        entry = line.entry
        self.is_headless |= not self.sessions and entry["kind"] in ("call", "record")
        if entry["kind"] == "call":
            if entry["id"] in self.calls:
                # A line that was doubled must not count twice.
                return True
            self._replies.put(entry["run"], entry["role"], entry["request"], line.start)
        if all(name in self.calls for name in entry.get("calls", ())):
            # A record or verdict with a lost call is dropped, so it is repeated.
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
            case "section":
                self.sections[entry["name"]] = entry
            case "look":
                self.looks[entry["round"]] = entry
                self._narrow_plan()
            case "audit":
                self._add_audit(entry)
            case "anchor":
                self._replies.drop(entry["run"], has_score=True)
                self.anchors[entry["run"]] = entry
            case "kept_audit":
                self.kept_audits[entry["audit"]["evaluator"]] = entry["audit"]
            case "record":
                self._add_record(line)

    def _add_session(self, line: Line) -> None:
        """Merge the session's plan into the others, in the order of the largest plan."""
        # The texts are the same in every plan, record and test.
        plan = {intern(run): intern(language) for run, language in line.entry.get("plan", {}).items()}
        self.ranks.update(zip(plan, line.entry.get("ranks", ()), strict=False))
        self.sessions.append({**line.entry, "plan": None, "ranks": None, "planned": len(plan)})
        self._begun = line.start
        first, then = (plan, self._every) if len(plan) > len(self._every) else (self._every, plan)
        self._every = {**first, **then}
        self._narrow_plan()

    def _narrow_plan(self) -> None:
        """Restrict the plan to the rounds that were needed."""
        self.planned = needed(self._every, self.looks)

    def _add_audit(self, entry: Mapping[str, JSON]) -> None:
        """Plan an audit; verdicts on other texts than those of this plan no longer count."""
        if self.audit is not None and self.audit["anchors_hash"] != entry["anchors_hash"]:
            self.anchors.clear()
        self.audit = entry

    def _add_record(self, line: Line) -> None:
        run, has_score = intern(line.entry["run"]), line.entry["record"]["score"] is not None
        self._replies.drop(run, has_score=has_score)
        if run in self._records and run not in self.unscored:
            # A score is final.
            return
        self._records[run] = line.start
        (self.unscored.discard if has_score else self.unscored.add)(run)
        if drop_stale(self.looks, run):
            self._narrow_plan()

    def move(self, moved: Moved) -> None:
        """Continue with another file."""
        with self._lock:
            self.path = moved.path
            self.calls.move(moved.path)
            self.is_cut |= moved.is_cut

    # State.

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
        """The secret behind the marker codes of all sessions; empty if none has begun."""
        return str(self.sessions[-1]["nonce"]) if self.sessions else ""

    @property
    def session(self) -> str:
        """The id of the last session; empty if none has begun."""
        return str(self.sessions[-1]["session"]) if self.sessions else ""

    @property
    def damaged(self) -> int:
        """The number of damaged lines."""
        return len(self._damaged) + len(self._damaged_end)

    @property
    def is_rearranged(self) -> bool:
        """Whether lines were removed, doubled or moved since they were written."""
        return bool(self._misplaced)

    @property
    def damage(self) -> str:
        """What is wrong with the lines of the file, in a few words; empty if nothing is."""
        damaged = [*self._damaged, *self._damaged_end]
        parts = [
            f"damaged lines skipped: {len(damaged)} ({self._numbers(damaged)})" if damaged else "",
            f"lines were removed, doubled or moved before {self._numbers(self._misplaced)}"
            if self._misplaced
            else "",
        ]
        return "; ".join(filter(None, parts))

    def _numbers(self, starts: Sequence[int]) -> str:
        """The numbers of the lines at these offsets, the first ones of many."""
        numbers = journal.line_numbers(self.path, starts)
        more = f" and {len(numbers) - MOST_NUMBERS} more" if len(numbers) > MOST_NUMBERS else ""
        return f"line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers[:MOST_NUMBERS]))}{more}"

    @property
    def settings(self) -> dict[str, JSON]:
        """The settings of the last session, with the combined extent of all sessions."""
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
        """The combined selection of all sessions, as one expression if each session had one."""
        every = [session["selection"] for session in self.sessions]
        most = max(session["planned"] + session["selection"]["deselected"] for session in self.sessions)
        selected = {name: _either([item[name] for item in every]) for name in ("keyword", "mark")}
        return {**selected, "deselected": most - len(self._every)}

    def has_score(self, run: str) -> bool:
        """Whether a run has a score, which is final."""
        return run in self._records and run not in self.unscored

    def has_ended(self, run: str) -> bool:
        """Whether a run has a score, or ended without one in the last session."""
        return run in self._records and (run not in self.unscored or self._records[run] > self._begun)

    def pending(self, plan: Mapping[str, str]) -> list[str]:
        """The runs of a plan that are needed and have no score."""
        return [run for run in needed(plan, self.looks) if not self.has_score(run)]

    @property
    def left_out(self) -> int:
        """The number of runs that `--until` made unnecessary."""
        return len(self._every) - len(needed(self._every, self.looks))

    def missing(self) -> list[str]:
        """The planned runs without a record."""
        return [run for run in self.planned if run not in self._records]

    def status(self, *, is_running: bool) -> Status:
        """`complete` if every planned run has a score, `complete_with_unscored` if all have ended."""
        if all(map(self.has_score, self.planned)):
            return "complete"
        if is_running:
            return "running"
        # Results without any score are not complete.
        is_whole = not self.missing() and any(map(self.has_score, self.planned))
        return WITH_UNSCORED if is_whole else "interrupted"

    # Reading from the file.

    def take(self, run: str, role: Role, digest: str) -> Exchange | None:
        """The next call of this run with this request, if there is one to replay."""
        start = self._replies.take(run, role, digest)
        return None if start is None else self.calls.exchange(start)

    def entry(self, run: str) -> dict[str, JSON]:
        """The line of a run's record."""
        return self.calls.read(self._records[run])

    def record(self, run: str) -> Record | None:
        """The record of a run that `has_ended`, otherwise None."""
        return self.calls.record(self.entry(run)) if self.has_ended(run) else None

    def records(self) -> list[Record]:
        """The records of planned runs in the order of the plan, with one copy of each case."""
        cases: dict[str, Mapping[str, JSON]] = {}
        found = []
        for _, entry in self.entries():
            record = entry["record"]
            record["case"] = cases.setdefault(record["case"]["id"], record["case"])
            found.append(self.calls.record(entry))
        return found

    def entries(self) -> Iterator[tuple[str, dict[str, JSON]]]:
        """The planned runs that have a record, each with the line of it, in the order of the plan."""
        for run in self.planned:
            if run in self._records:
                yield run, self.entry(run)

    def snapshot(self, runs: Collection[str] | None = None) -> History:
        """A copy of the current state, restricted to some planned runs if `runs` is given."""
        with self._lock:
            part = copy(self)
            part.totals = self.totals.copy()
            part.learned, part.limits, part.looks = dict(self.learned), list(self.limits), dict(self.looks)
            part.sections = dict(self.sections)
            part._records, part.unscored = dict(self._records), set(self.unscored)
            part.anchors, part.kept_audits = dict(self.anchors), dict(self.kept_audits)
        if runs is not None:
            part.planned = {run: language for run, language in self.planned.items() if run in runs}
        return part


def load(path: Path) -> History:
    """Read the journal at a path; the history is empty if there is no file. Raises UserError."""
    history = History(path)
    if path.is_file():
        if (found := journal.other_format(path)) is not None:
            raise UserError(f"the journal has format {found}, not {journal.FORMAT}: use --fresh")
        history.refresh()
        if history.is_headless:
            raise UserError(
                f"{shown(path)}:1: the first line, which has the settings and the planned runs, is damaged: "
                "restore the file from a copy, or use --fresh, which archives it and asks everything again"
            )
    return history


class Used(NamedTuple):
    """What one call used; `seconds` is the latency of the attempt that succeeded."""

    role: Role
    model: str
    run: str
    tokens: Mapping[str, int]
    seconds: float


def used(path: Path, suite: str, ended_by: str = "record") -> Iterator[Used]:
    """What each call used in a suite's runs that a line of this kind has ended."""
    found: list[Used] = []
    ended: set[str] = set()
    is_ours = False
    for entry in valid_entries(path):
        if entry["kind"] == "session":
            is_ours = entry.get("suite") == suite and entry.get("format") in journal.READABLE
        elif entry["kind"] == ended_by:
            ended.add(entry["run"])
        elif entry["kind"] == "call" and is_ours:
            seconds = entry["reply"].get("latency", 0.0)
            found.append(Used(entry["role"], entry["model"], entry["run"], tokens(entry)[0], seconds))
    return (use for use in found if use.run in ended)


def valid_entries(path: Path) -> Iterator[dict[str, JSON]]:
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
    "section": ("name", "verdicts_sha256"),
    "audit": ("extent", "anchors_hash"),
    "anchor": ("run", "evaluator", "at"),
}
_NUMBERS: Mapping[str, Sequence[str]] = {"failed": ("retries",), "look": ("round",)}
_OF_LIMITS: Mapping[str, Sequence[str]] = {
    "end": ("endpoint", "lowest", "highest", "last", "refused"),
    "cut": ("endpoint", "before", "after"),
}


def _check(entry: Mapping[str, JSON]) -> None:
    """Raise one of DAMAGE if a line is invalid in a part that does not depend on the suite."""
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
        case "section":
            _need(isinstance(entry["content"], dict))
        case "audit":
            _need(all(isinstance(kind, str) for pair in entry["order"] for kind in pair))
            _need(all(len(pair) == 2 for pair in entry["order"]))
            times = list(entry["anchors"].values())
            _need(bool(times) and all(isinstance(number, int) and number > 0 for number in times))
        case "anchor":
            _check_anchor(entry)
        case "kept_audit":
            _check_kept(entry["audit"])


def _need(is_so: bool) -> None:
    if not is_so:
        raise ValueError


def _check_session(entry: Mapping[str, JSON]) -> None:
    datetime.fromisoformat(entry["started"])
    _need(isinstance(entry.get("settings", {}), dict))
    _need(all(isinstance(language, str) for language in entry.get("plan", {}).values()))
    for run in entry.get("plan", {}):
        _round(run)
    _need(all(isinstance(rank, int) for rank in entry.get("ranks", ())))
    _need(all(isinstance(session, str) for session in entry.get("shards", ())))
    _need(all(isinstance(nonce, str) for nonce in entry.get("nonces", {}).values()))


def _check_call(entry: Mapping[str, JSON]) -> None:
    reply = entry["reply"]
    usage = reply.get("usage")
    _need(entry["role"] in ("subject", "evaluator"))
    _need(isinstance(reply["text"], str) and reply.keys() <= _REPLY)
    _need(usage is None or (usage.keys() <= _USAGE and all(isinstance(n, int) for n in usage.values())))
    _need(isinstance(entry["parameters"], dict))
    _need(all(isinstance(reply.get(name, 0), int) for name in ("retries", "repeats")))
    _need(isinstance(reply.get("latency", 0.0), float | int))
    for name in ("model", "fingerprint", "provider", "reasoning", "finish_reason", "blocked"):
        _need(isinstance(reply.get(name), str | None))
    for message in entry["messages"]:
        _need(isinstance(message["role"], str) and isinstance(message["content"], str))
    for token in reply.get("tokens") or ():
        Token(**token)


_REPLY = frozenset(Reply(text="").__dataclass_fields__)
_USAGE = frozenset(Usage().to_json())


def _check_anchor(entry: Mapping[str, JSON]) -> None:
    datetime.fromisoformat(entry["at"])
    _need(all(isinstance(name, str) for name in entry["calls"]))
    _check_judged(entry["judged"])
    _need(all(len(row) == 3 and all(isinstance(said, str | None) for said in row) for row in entry["seen"]))


def _check_judged(judged: Sequence[Mapping[str, JSON]]) -> None:
    for row in judged:
        _need(all(isinstance(row[name], str) for name in ("topic", "language", "kind")))
        _need(all(isinstance(row[name], float | int) for name in ("low", "high", "repeat")))
        _need(isinstance(row["score"], float | int | None) and isinstance(row["host"], str | None))
        _need(row.keys() <= _JUDGED)


_JUDGED = frozenset(("topic", "language", "kind", "repeat", "score", "low", "high", "host", "aspect"))


_KEPT = ("evaluator", "finished", "extent", "rubric_version", "rubric_hash", "anchors_hash")


def _check_kept(audit: Mapping[str, JSON]) -> None:
    _need(all(isinstance(audit[name], str) for name in _KEPT))
    _need(all(isinstance(audit[name], int) for name in ("verdicts", "planned")))
    _need(isinstance(audit["system_prompt"], str | None))
    _need(all(isinstance(audit[name], dict) for name in ("sampling", "lean_by_language")))
    for row in audit["response_models"]:
        _need(all(isinstance(row[name], str | None) for name in ("response_model", "system_fingerprint")))
    for check in (*audit["checks"], *audit["lean_by_language"].values()):
        _need(all(isinstance(check[name], str) for name in ("name", "unit", "worse")) and bool(check["name"]))
        _need(all(isinstance(check[name], float | int | None) for name in ("value", "low", "high")))
        _need(all(isinstance(check[name], float | int) for name in ("n", "sound", "tolerance")))
        _need(all(isinstance(check[name], bool) for name in ("is_fault", "is_by_chance")))
        _need(isinstance(check["reason"], str | None))
    _check_judged(audit["judged"])


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
