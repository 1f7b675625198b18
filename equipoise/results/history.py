"""The history of a journal: the state of its sessions, read once, then updated with every line that is added.

Used to resume, replay, aggregate, recover and estimate sessions. It writes no lines.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING

from msgspec.structs import replace

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.quantities import first_few
from equipoise.core.records import Record
from equipoise.core.types import JSON, Exchange, Role
from equipoise.results import journal, lines
from equipoise.results.index import Calls
from equipoise.results.journal import Moved
from equipoise.results.lines import (
    AnchorLine,
    AnyLine,
    AuditLine,
    CallLine,
    FailedLine,
    KeptAuditLine,
    LearnedLine,
    LimitLine,
    LookLine,
    RecordLine,
    SectionLine,
    SessionLine,
)
from equipoise.results.plans import Plans
from equipoise.results.replay import ReplayOffsets
from equipoise.results.totals import Totals

if TYPE_CHECKING:
    from equipoise.results.document import Audit, Status

WITH_UNSCORED: Status = "complete_with_unscored"
NO_SCORES: Status = "no_scores"
FIRST_CALL = "first-call"
"""Stands for a run in the lines of calls that a session makes before its first question."""
MOST_LINE_NUMBERS = 5
"""Maximum number of line numbers in a message."""


class History:
    """The state of the sessions of one journal.

    `refresh` adds lines that were appended to the file; their calls can be replayed. `add` adds a line that
    this process has just written. `sessions` are the session lines without their plans. `learned` has changes
    of parameters that endpoints rejected. `unscored` are runs that ended without a score, `batched` the
    custom ids of calls that came in batches. `audit` is the plan of the last audit, `anchors` has its
    verdicts by name, and `kept_audits` has earlier audits by evaluator. `is_headless` is set if calls or
    records come before the first session line, so that their settings are lost; `is_cut` if the file has lost
    lines that were already read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        self.sessions: list[SessionLine] = []
        self.plans = Plans()
        self.totals = Totals()
        self.learned: dict[tuple[str, str, str, str], LearnedLine] = {}
        self.limits: list[LimitLine] = []
        self.sections: dict[str, SectionLine] = {}
        self.audit: AuditLine | None = None
        self.anchors: dict[str, AnchorLine] = {}
        self.kept_audits: dict[str, Audit] = {}
        self.unscored: set[str] = set()
        self.batched: set[str] = set()
        self.calls = Calls(path)
        self._record_starts: dict[str, int] = {}
        self._replies = ReplayOffsets()
        self._session_start = 0
        self._selectable_count = 0
        self._damaged_starts: list[int] = []
        self._incomplete_starts: list[int] = []
        self._misplaced_starts: list[int] = []
        self.is_headless = self.is_cut = False
        self._lock = threading.Lock()

    # Adding lines.

    def refresh(self) -> None:
        """Add the lines that were appended to the file since the last refresh."""
        self._incomplete_starts = []
        for line in journal.scan(self.path, self.position):
            self.position = line.end
            if line.is_incomplete:
                self._incomplete_starts = [line.start]
                break
            if line.entry is None:
                self._damaged_starts.append(line.start)
            else:
                self._add_from_file(line.start, line.entry)
            if not line.follows:
                self._misplaced_starts.append(line.start)

    def _add_from_file(self, start: int, line: AnyLine) -> None:
        """Add a line of the file, unless it is a duplicate or lacks one of its calls."""
        self.is_headless |= not self.sessions and isinstance(line, CallLine | RecordLine)
        if isinstance(line, CallLine):
            if line.id in self.calls:
                # A duplicated line must not count twice.
                return
            if line.run != FIRST_CALL:
                self._replies.put(line.run, line.role, line.request, start)
        # A record or verdict is ignored if one of its calls is lost; the run is then repeated.
        names = line.calls if isinstance(line, RecordLine | AnchorLine) else ()
        if all(name in self.calls for name in names):
            self._apply(start, line)

    def add(self, start: int, data: bytes, call: CallLine | None = None) -> None:
        """Add a line that this process has just appended. Thread-safe.

        A line of a call is passed as `call`, so that it is not decoded again. Raises ValueError if another
        line is not valid.
        """
        line = call or lines.decode(data)
        if line is None:
            raise ValueError(f"{self.path}: not a valid journal line: {data[:200]!r}")
        with self._lock:
            self._apply(start, line)
            self.position = max(self.position, start + len(data))

    def _apply(self, start: int, line: AnyLine) -> None:
        """Update the state with a line that starts at an offset."""
        match line:
            case CallLine():
                self.calls.put(line.role, line.id, start)
                self.totals.add(line)
                if line.batch is not None:
                    self.batched.add(line.batch)
            case RecordLine():
                self._add_record(start, line)
            case SessionLine():
                self._add_session(start, line)
            case FailedLine():
                self.totals.add_failed(line)
            case LearnedLine():
                self.learned.setdefault((line.role, line.model, line.parameter, line.action), line)
            case LimitLine():
                self.limits.append(line)
            case SectionLine():
                self.sections[line.name] = line
            case LookLine():
                self.plans.add_look(line)
            case AuditLine():
                self._add_audit(line)
            case AnchorLine():
                # Like a score, a verdict on an anchor is final.
                self._replies.drop(line.run, has_score=True)
                self.anchors[line.run] = line
            case KeptAuditLine():
                # Checked when the line was decoded.
                self.kept_audits[line.evaluator] = line.audit

    def _add_session(self, start: int, line: SessionLine) -> None:
        self.plans.add(line)
        self.sessions.append(replace(line, plan={}, ranks=()))
        self._selectable_count = max(self._selectable_count, len(line.plan) + line.selection["deselected"])
        self._session_start = start

    def _add_audit(self, line: AuditLine) -> None:
        """Set the plan of the audit, and drop verdicts on anchors with other texts."""
        if self.audit is not None and self.audit.anchors_hash != line.anchors_hash:
            self.anchors.clear()
        self.audit = line

    def _add_record(self, start: int, line: RecordLine) -> None:
        run, has_score = intern(line.run), line.record.score is not None
        self._replies.drop(run, has_score=has_score)
        if self.has_score(run):
            # The first score is final.
            return
        self._record_starts[run] = start
        if has_score:
            self.unscored.discard(run)
        else:
            self.unscored.add(run)
        self.plans.drop_stale(run)

    def move(self, moved: Moved) -> None:
        """Continue with the file to which the journal was moved."""
        with self._lock:
            self.path = moved.path
            self.calls.move(moved.path)
            self.is_cut |= moved.is_cut

    # State.

    @property
    def planned(self) -> Mapping[str, str]:
        """The languages of the needed runs of all plans, by run."""
        return self.plans.planned

    @property
    def is_empty(self) -> bool:
        """Whether no session has begun."""
        return not self.sessions

    @property
    def has_answers(self) -> bool:
        """Whether any call was answered or any run has a score. Damaged lines count as answered calls."""
        return bool(self.totals.calls or self.damaged) or len(self._record_starts) > len(self.unscored)

    @property
    def has_verdicts(self) -> bool:
        """Whether any run has a score, or any verdict of an evaluator can be used again."""
        return bool(
            len(self._record_starts) > len(self.unscored)
            or self.anchors
            or self._replies.has_role("evaluator")
        )

    @property
    def nonce(self) -> str:
        """The secret from which the one-time codes of all sessions are made; empty if none has begun."""
        return self.sessions[-1].nonce if self.sessions else ""

    @property
    def session(self) -> str:
        """The id of the last session; empty if none has begun."""
        return self.sessions[-1].session if self.sessions else ""

    @property
    def damaged(self) -> int:
        """The number of damaged lines."""
        return len(self._damaged_starts) + len(self._incomplete_starts)

    @property
    def is_rearranged(self) -> bool:
        """Whether lines were removed, duplicated or moved since they were written."""
        return bool(self._misplaced_starts)

    @property
    def damage(self) -> str:
        """A phrase on damaged and misplaced lines of the file; empty if there are none."""
        damaged = [*self._damaged_starts, *self._incomplete_starts]
        phrases = []
        if damaged:
            phrases.append(f"damaged lines skipped: {len(damaged)} ({self._line_numbers(damaged)})")
        if self._misplaced_starts:
            numbers = self._line_numbers(self._misplaced_starts)
            phrases.append(f"lines were removed, doubled or moved before {numbers}")
        return "; ".join(phrases)

    def _line_numbers(self, starts: Sequence[int]) -> str:
        """The numbers of the lines at these offsets, at most MOST_LINE_NUMBERS of them."""
        numbers = journal.line_numbers(self.path, starts)
        return f"line{'s' * (len(numbers) > 1)} {first_few(numbers, MOST_LINE_NUMBERS)}"

    @property
    def settings(self) -> dict[str, JSON]:
        """The settings of the last session, except that some are combined over all sessions.

        `asker`, `runs`, `limit` and `languages_asked` are combined, as they set what is asked. Different URLs
        of endpoints, such as a local server's that was restarted on another port, are joined by commas.
        """
        by_session = [session.settings for session in self.sessions]
        endpoints = [settings["endpoints"] for settings in by_session if "endpoints" in settings]
        limits: list[JSON] = [settings.get("limit") for settings in by_session]
        languages: list[JSON] = [settings.get("languages_asked") for settings in by_session]
        return {
            **by_session[-1],
            **_combine_askers([settings["asker"] for settings in by_session if "asker" in settings]),
            **_combined_endpoints(endpoints),
            "runs": max(settings["runs"] for settings in by_session),
            "limit": None if None in limits else max(limits),
            "languages_asked": list(dict.fromkeys(chain(*languages))) if all(languages) else None,
        }

    @property
    def file_roles(self) -> set[Role]:
        """The roles whose calls were answered from files in any session."""
        return {role for session in self.sessions for role in session.file_roles}

    @property
    def has_asker_plan(self) -> bool:
        """Whether any session has planned runs with a cue about who asks."""
        return any("asker" in session.settings for session in self.sessions)

    @property
    def selection(self) -> dict[str, JSON]:
        """The combined selection of all sessions, as one expression if each session had one."""
        selections = [session.selection for session in self.sessions]
        expressions = {
            name: _union_of_expressions([selection[name] for selection in selections])
            for name in ("keyword", "mark")
        }
        return {**expressions, "deselected": self._selectable_count - self.plans.total}

    def has_score(self, run: str) -> bool:
        """Whether a run has a score, which is final."""
        return run in self._record_starts and run not in self.unscored

    def has_ended(self, run: str) -> bool:
        """Whether a run has a score, or ended without one in the last session. Others are run again."""
        return run in self._record_starts and (
            run not in self.unscored or self._record_starts[run] > self._session_start
        )

    def pending(self, plan: Mapping[str, str]) -> list[str]:
        """The runs of a plan that are needed and have no score."""
        return [run for run in self.plans.needed(plan) if not self.has_score(run)]

    def missing(self) -> list[str]:
        """The planned runs without a record."""
        return [run for run in self.planned if run not in self._record_starts]

    def status(self, *, is_running: bool) -> Status:
        """`complete` if every planned run has a score, `complete_with_unscored` if all have a record.

        `no_scores` if no run has a score once the session has ended, even if it was interrupted.
        """
        if all(map(self.has_score, self.planned)):
            return "complete"
        if is_running:
            return "running"
        if not any(map(self.has_score, self.planned)):
            return NO_SCORES
        return "interrupted" if self.missing() else WITH_UNSCORED

    # Reading from the file.

    def has_reply(self, run: str, role: Role) -> bool:
        """Whether any recorded reply to a call of this run in this role is left to replay."""
        return self._replies.has(run, role)

    def take(self, run: str, role: Role, digest: str) -> Exchange | None:
        """Take the next recorded call of this run with this request; None if there is none left to replay."""
        start = self._replies.take(run, role, digest)
        return None if start is None else self.calls.exchange(start)

    def record_bytes(self, run: str) -> bytes:
        """The bytes of the line of a run's record, without its line break."""
        return self.calls.line(self._record_starts[run])

    def record_line(self, run: str) -> RecordLine:
        """The line of a run's record."""
        return self.calls.record_line(self._record_starts[run])

    def record(self, run: str) -> Record | None:
        """The record of a run that `has_ended`, otherwise None."""
        return self.calls.record(self.record_line(run)) if self.has_ended(run) else None

    def records(self) -> list[Record]:
        """The records of planned runs in the order of the plan, with one copy of each case."""
        cases: dict[str, Mapping[str, JSON]] = {}
        records = []
        for line in self.record_lines():
            case = cases.setdefault(line.record.case["id"], line.record.case)
            records.append(self.calls.record(line, case))
        return records

    def record_lines(self) -> Iterator[RecordLine]:
        """The lines of the records of planned runs, in the order of the plan."""
        return (self.record_line(run) for run in self.planned if run in self._record_starts)

    def snapshot(self, runs: Collection[str] | None = None) -> History:
        """A copy of the current state, restricted to some planned runs if `runs` is given.

        What results are built from is copied; calls, replies to replay and session lines are shared.
        """
        with self._lock:
            snapshot = copy(self)
            snapshot.totals, snapshot.plans = self.totals.copy(), self.plans.snapshot(runs)
            snapshot.learned, snapshot.limits = dict(self.learned), list(self.limits)
            snapshot.sections = dict(self.sections)
            snapshot._record_starts, snapshot.unscored = dict(self._record_starts), set(self.unscored)
            snapshot.anchors, snapshot.kept_audits = dict(self.anchors), dict(self.kept_audits)
        return snapshot


def _combined_endpoints(all_endpoints: Sequence[Mapping[str, str]]) -> dict[str, JSON]:
    """The setting `endpoints` over all sessions; empty for sessions of commands, which have none."""
    return {"endpoints": combine_endpoints(all_endpoints)} if all_endpoints else {}


def combine_endpoints(all_endpoints: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The URLs by role; different URLs are joined by commas, in their order."""
    roles = dict.fromkeys(role for endpoints in all_endpoints for role in endpoints)
    return {
        role: ", ".join(dict.fromkeys(urls[role] for urls in all_endpoints if role in urls)) for role in roles
    }


def _combine_askers(askers: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """The setting `asker` of several sessions: the union of their forms, and the largest share."""
    if not askers:
        return {}
    forms = dict.fromkeys(form for asker in askers for form in asker["forms"])
    return {"asker": {**askers[-1], "forms": [*forms], "share": max(asker["share"] for asker in askers)}}


def load(path: Path) -> History:
    """Read the journal at a path; the history is empty if there is no file. Raises UserError."""
    history = History(path)
    try:
        is_file = path.is_file()
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be read ({error.strerror})") from None
    if is_file:
        if (other := journal.other_format(path)) is not None:
            raise UserError(f"the journal has format {other}, not {journal.FORMAT}: use --fresh")
        history.refresh()
        if history.is_headless:
            raise UserError(
                f"{shown(path)}:1: the first line, which has the settings and the planned runs, is damaged: "
                "restore the file from a copy, or use --fresh, which archives it and asks everything again"
            )
    return history


def _union_of_expressions(expressions: Sequence[str | None]) -> str | None:
    """A pytest expression that selects what any of these selects. None selects everything."""
    unique = list(dict.fromkeys(expressions))
    if None in unique:
        return None
    if len(unique) == 1:
        return unique[0]
    return " or ".join(f"({expression})" for expression in unique)
