"""One session's work on one suite: begin it, pick up what was interrupted, or archive what is complete.

Decides from the journal alone. A session is complete when every planned run has a score.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from equipoise import journal, storage
from equipoise.errors import UserError
from equipoise.journal import Journal
from equipoise.storage import Files
from equipoise.types import JSON


@dataclass(slots=True)
class Past:
    """What a journal holds: the settings it was begun with, the runs planned and those that are done."""

    settings: dict[str, JSON] = field(default_factory=dict)
    nonce: str = ""
    started: str = ""
    planned: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    calls: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no session has begun."""
        return not self.nonce

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return not self.is_empty and self.planned <= self.done


def look_back(path: Path) -> Past:
    """What the journal at this path holds; an empty past where there is no file. Raises UserError."""
    past = Past()
    if path.is_file():
        for entry in journal.read(path):
            _add(past, entry)
    return past


def _add(past: Past, entry: Mapping[str, JSON]) -> None:
    match entry["kind"]:
        case "session":
            if entry["format"] != journal.FORMAT:
                raise UserError(
                    f"the journal has format {entry['format']}, not {journal.FORMAT}: use --fresh"
                )
            past.settings, past.nonce = entry["settings"], entry["nonce"]
            past.started = past.started or entry["started"]
            past.planned.update(entry["plan"])
        case "call":
            past.calls += 1
        case "record":
            ended = past.failed if entry["record"]["score"] is None else past.done
            ended.add(entry["run"])
            past.failed -= past.done


def refuse_changes(past: Past, settings: Mapping[str, JSON], files: Files) -> None:
    """Raise UserError where an interrupted session was begun with other settings."""
    if past.is_empty or past.is_complete:
        return
    for name in settings:
        before, now = _shown(past.settings.get(name)), _shown(settings[name])
        if before != now:
            raise UserError(
                f"{storage.shown(files.journal)}: an interrupted session is here whose {name} was {before}, "
                f"now {now}; give the same to resume it, or use --fresh or another --output"
            )


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
    past = look_back(files.journal)
    decision = ""
    if past.is_complete or (fresh and not past.is_empty):
        kept = files.archive(_stamp(past.started))
        decision = f"the earlier results are kept as {storage.shown(kept)}"
        past = Past()
    elif not past.is_empty:
        refuse_changes(past, settings, files)
        decision = _resuming(past, plan)
    elif files.results.exists():
        kept = files.archive(_stamp(datetime.now(UTC).isoformat()))
        decision = f"results without a journal were here; they are kept as {storage.shown(kept)}"
    _write_first_line(files.journal, plan, past.nonce, {"settings": dict(settings), **about})
    return decision


def _resuming(past: Past, plan: Collection[str]) -> str:
    done = len(past.done & set(plan))
    failed = f", {len(past.failed)} that ended without a score are asked again" if past.failed else ""
    return f"resuming: {done} of {len(plan)} runs are done{failed}, {past.calls} calls are kept"


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


def _stamp(moment: str) -> str:
    return datetime.fromisoformat(moment).strftime("%Y%m%dT%H%M%SZ")
