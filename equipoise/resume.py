"""One session's work on one suite: begin it, or go on from what is there; only --fresh puts that away.

Decides from the journal alone. Nothing is left to do once every planned run has a score.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from equipoise import journal
from equipoise.errors import CannotKeep, UserError
from equipoise.journal import Journal
from equipoise.ledger import forget, needed
from equipoise.storage import Files
from equipoise.textfiles import shown
from equipoise.types import JSON

COMPLETE_ALREADY = "complete already; nothing was asked; --fresh asks again"
_EXTENT = {"runs", "limit", "languages_asked"}
"""How much of a suite is asked: what one session leaves out, another one may add."""


@dataclass(slots=True)
class Past:
    """What a journal holds: the settings it was begun with, the runs planned and those that are done."""

    settings: dict[str, JSON] = field(default_factory=dict)
    nonce: str = ""
    started: str = ""
    planned: dict[str, str] = field(default_factory=dict)
    looks: dict[int, Mapping[str, JSON]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    calls: int = 0
    cut: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no session has begun."""
        return not self.nonce

    def missing(self, plan: Mapping[str, str]) -> list[str]:
        """The runs of a plan that are needed and have no score."""
        return [run for run in needed(plan, self.looks) if run not in self.done]


def look_back(path: Path) -> Past:
    """What the journal at this path holds; an empty past where there is no file. Raises UserError."""
    past = Past()
    if path.is_file():
        if (found := journal.other_format(path)) is not None:
            raise UserError(f"the journal has format {found}, not {journal.FORMAT}: use --fresh")
        for line in journal.read(path, kinds=("session", "record", "look")):
            _add(past, line.entry)
        kinds = journal.tally(path)
        past.calls, past.cut = kinds["call"], kinds[""]
    return past


def _add(past: Past, entry: Mapping[str, JSON]) -> None:
    match entry["kind"]:
        case "session":
            past.settings, past.nonce = entry["settings"], entry["nonce"]
            past.started = past.started or entry["started"]
            past.planned.update(entry["plan"])
        case "look":
            past.looks[entry["round"]] = entry
        case "record":
            ended = past.failed if entry["record"]["score"] is None else past.done
            ended.add(entry["run"])
            past.failed -= past.done
            forget(past.looks, entry["run"])


def refuse(past: Past, settings: Mapping[str, JSON], files: Files) -> None:
    """Raise UserError where a session cannot go on from what is there.

    That is where earlier runs had other settings, or where their journal is gone and only results are left.
    """
    if past.is_empty and files.results.exists():
        raise UserError(
            f"{shown(files.results)}: these results have lost their journal {files.journal.name}, so "
            "all would be paid again; bring it back, or use --fresh, which archives them, or another --output"
        )
    for name in settings if not past.is_empty else ():
        before, now = _shown(past.settings.get(name)), _shown(settings[name])
        if before != now and not _may_grow(name, settings):
            raise UserError(
                f"{shown(files.journal)}: an earlier session is here whose {name} was {before}, now "
                f"{now}; give the same to go on, or use --fresh, which archives it, or another --output"
            )


def _may_grow(name: str, settings: Mapping[str, JSON]) -> bool:
    """Whether sessions that go on from each other may differ in this; --until allows for so many looks."""
    return name in _EXTENT and not (name == "runs" and settings.get("until"))


def _shown(value: JSON) -> str:
    """The value in at most 80 characters; different values never look alike."""
    text = "not set" if value is None else f"{value}"
    if len(text) <= 60:
        return text
    return f"{text[:57]}... ({hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]})"


def begin(
    files: Files,
    plan: Mapping[str, str],
    settings: Mapping[str, JSON],
    about: Mapping[str, JSON],
    *,
    fresh: bool,
) -> str:
    """Write this session's first line to the journal and say, for the user, what became of an earlier one.

    `plan` maps run ids to their languages. `settings` decide whether a journal can be resumed, `about` is
    only kept. Raises UserError.
    """
    past = Past() if fresh else look_back(files.journal)
    decision = ""
    if fresh and (files.journal.exists() or files.results.exists()):
        decision = f"the earlier results are kept as {_archive(files)}"
    refuse(past, settings, files)
    if not past.is_empty:
        decision = _resuming(past, plan)
    elif past.cut:
        decision = f"nothing is kept; lines cut short and passed over: {past.cut}"
    try:
        _write_first_line(files.journal, plan, past.nonce, {"settings": dict(settings), **about})
    except (OSError, CannotKeep) as error:
        raise UserError(f"{shown(files.journal)}: cannot be begun: {error}") from None
    return decision


def _archive(files: Files) -> str:
    """Put the earlier files away; how the user finds them. Raises UserError where that cannot be done."""
    try:
        return shown(files.archive(_begun(files).strftime("%Y%m%dT%H%M%SZ")))
    except OSError as error:
        folder = shown(files.results.parent / "archive")
        raise UserError(
            f"{folder}: the earlier results cannot be kept there ({error.strerror}); "
            "make it a folder that can be written to, or use another --output"
        ) from None


def _begun(files: Files) -> datetime:
    """When the earlier files were begun, where their journal tells it; else now."""
    moment = datetime.now(UTC)
    if files.journal.exists():
        first = next((line.entry for line in journal.read(files.journal, kinds=("session",))), None)
        moment = datetime.fromisoformat(first["started"]) if first else moment
    return moment


def _resuming(past: Past, plan: Mapping[str, str]) -> str:
    if not past.missing(plan):
        return COMPLETE_ALREADY
    done = len(past.done & set(plan))
    again = past.failed & set(plan)
    failed = f", {len(again)} that ended without a score are asked again" if again else ""
    cut = f"; lines cut short and passed over: {past.cut}" if past.cut else ""
    return f"resuming: {done} of {len(plan)} runs are done{failed}, {past.calls} calls are kept{cut}"


def _write_first_line(path: Path, plan: Mapping[str, str], nonce: str, content: Mapping[str, JSON]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    journal.end_last_line(path)
    log = Journal(path, secrets.token_hex(4))
    log.append(
        "session",
        format=journal.FORMAT,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        nonce=nonce or secrets.token_hex(16),
        plan=dict(plan),
        **content,
    )
    log.close()
