"""Starts or resumes a suite's journal. With --fresh it is archived, and a new one is started.

A suite is complete once every planned run has a score in the journal.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from equipoise.core.errors import CannotKeep, UserError
from equipoise.core.files import shown
from equipoise.core.types import JSON
from equipoise.results import journal, store
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.lines import SessionLine
from equipoise.results.store import Files
from equipoise.runner.differences import differences

ALREADY_COMPLETE = "already complete; no calls were made; --fresh runs everything again"
_LOCAL_PORT = re.compile(r"^(https?://(?:127\.0\.0\.1|localhost|\[::1\])):\d+")
_EXTENT_SETTINGS = {"runs", "limit", "languages_asked", "asker"}
"""Settings that determine how much of a suite is run: a later session may add to an earlier one."""
_JUDGING_SETTINGS = {
    "evaluator_models",
    "evaluator_sampling",
    "evaluator_system_prompt",
    "rubric_version",
    "rubric_hash",
    "about",
    "facts_hash",
}
"""Settings that determine how replies are judged: they may change as long as there is no verdict."""


def require_resumable(
    past: History, settings: Mapping[str, JSON], files: Files, data_files: Mapping[str, str]
) -> None:
    """Raise UserError if a session cannot resume from the existing files.

    It cannot if earlier runs had other settings, or if the journal of existing results is missing.
    `data_files` are the digests of the files that the questions are read from, by file name.
    """
    if past.is_empty and files.results.exists():
        raise UserError(
            f"{shown(files.results)}: the journal {files.journal.name} of these results is missing, so "
            "all calls would be paid for again; restore it, or use --fresh, which archives the results, or "
            "another --output"
        )
    if not past.sessions:
        return
    last = past.sessions[-1]
    before = _with_present_ports(last.settings, settings)
    # Unread batches fix the models as verdicts do: the requests were sent to these models.
    is_judged = past.has_verdicts or bool(describe_unread(files))
    free = _EXTENT_SETTINGS if is_judged else _EXTENT_SETTINGS | _JUDGING_SETTINGS
    fixed = {name: value for name, value in settings.items() if not _may_change(name, settings, free)}
    if not is_judged:
        before, fixed = _without_evaluators(before), _without_evaluators(fixed)
    mismatches = differences(before, fixed, (last.data_files, data_files))
    mismatches += _cue_mismatches(past.settings.get("asker"), settings.get("asker"))
    if mismatches:
        raise UserError(
            f"{shown(files.journal)}: cannot be resumed with other options: {'; '.join(mismatches)}. "
            "Give the same options as before; or --fresh, which archives the journal and asks everything "
            "again; or another --output"
        )


def describe_unread(files: Files) -> str:
    """A phrase on the requests of earlier sessions in batches, whose answers need the present journal."""
    if not files.batches.exists():
        return ""
    from equipoise.runner.batches import checks

    return checks.describe_unread(files)


def _cue_mismatches(before: JSON, now: JSON) -> list[str]:
    """A message if both sessions have cues, and these differ; plain runs do not depend on cues."""
    differ = before and now and any(before[name] != now[name] for name in ("cues_hash", "seed"))
    return ["--asker: the sentences about who asks have changed"] if differ else []


def _with_present_ports(before: Mapping[str, JSON], now: Mapping[str, JSON]) -> dict[str, JSON]:
    """The earlier settings with the present ports of endpoints on this machine, as servers may restart.

    An endpoint that differs in more than its port keeps its earlier URL.
    """
    if "endpoints" not in before:
        return dict(before)
    present = now.get("endpoints") or {}
    endpoints = {
        role: present[role] if role in present and _portless(present[role]) == _portless(url) else url
        for role, url in before["endpoints"].items()
    }
    return {**before, "endpoints": endpoints}


def _portless(url: str) -> str:
    return _LOCAL_PORT.sub(r"\1", url)


def _without_evaluators(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """The settings without the endpoint of the evaluators."""
    endpoints = settings.get("endpoints") or {}
    return {**settings, "endpoints": {role: url for role, url in endpoints.items() if role != "evaluator"}}


def _may_change(name: str, settings: Mapping[str, JSON], free: Collection[str]) -> bool:
    """Whether a resumed session may change a setting. --until needs a fixed number of runs."""
    return name in free and not (name == "runs" and settings.get("until"))


def begin(
    files: Files,
    past: History,
    plan: Mapping[str, str],
    settings: Mapping[str, JSON],
    provenance: Mapping[str, JSON],
    *,
    fresh: bool,
) -> str:
    """Write this session's first line to the journal. Returns a message about earlier sessions, or "".

    With `fresh`, earlier files are archived first. `past` is the history of the journal, empty with `fresh`;
    the line is added to it. `plan` maps run ids to their languages. `settings` decide whether a journal can
    be resumed, `provenance` is only recorded. Raises UserError.
    """
    message = ""
    if fresh and (files.journal.exists() or files.results.exists()):
        message = f"the earlier results are archived as {shown(archive(files))}"
    require_resumable(past, settings, files, provenance.get("data_files", {}))
    if not past.is_empty:
        message = _resume_message(past, plan, settings, files)
    elif past.damaged:
        message = f"nothing to resume; {past.damage}"
    try:
        write_first_line(past, plan=dict(plan), settings=dict(settings), **provenance)
    except (OSError, CannotKeep) as error:
        raise UserError(f"{shown(files.journal)}: the journal cannot be started: {error}") from None
    return message


def archive(files: Files) -> Path:
    """Archive the earlier files and return their new path. Raises UserError if that fails."""
    try:
        return files.archive(_start_time(files).strftime("%Y%m%dT%H%M%SZ"))
    except OSError as error:
        folder = shown(files.results.parent / store.ARCHIVE)
        raise UserError(
            f"{folder}: the earlier results cannot be archived there ({error.strerror}); "
            "make it a writable folder, or use another --output"
        ) from None


def _start_time(files: Files) -> datetime:
    """The start time of the earlier session, from its journal; the current time if that is unknown."""
    time = datetime.now(UTC)
    # A journal of another version may record it differently.
    with suppress(FileNotFoundError, StopIteration):
        lines = (line.entry for line in journal.read(files.journal))
        first = next(line for line in lines if isinstance(line, SessionLine))
        time = datetime.fromisoformat(first.started)
    return time


def _resume_message(
    past: History, plan: Mapping[str, str], settings: Mapping[str, JSON], files: Files
) -> str:
    damage = f"; {past.damage}" if past.damage else ""
    if not past.pending(plan):
        return ALREADY_COMPLETE + damage
    done, calls = sum(map(past.has_score, plan)), past.totals.calls.total()
    repeated = show = ""
    if unscored := past.unscored & plan.keys():
        # Recorded replies are replayed, verdicts are not.
        repeated = (
            f", {len(unscored)} that ended without a score are repeated (any evaluators are asked again, the "
            "model only where the journal has no reply)"
        )
        show = f"; `equipoise show {shown(files.results)}` only shows the results"
    moved = "".join(f"; {text}" for text in _moved_endpoints(past.sessions[-1].settings, settings))
    return (
        f"resuming: {done} of {len(plan)} runs are done{repeated}, {calls} calls are in the journal"
        f"{show}{moved}{damage}"
    )


def _moved_endpoints(before: Mapping[str, JSON], now: Mapping[str, JSON]) -> list[str]:
    """A text for each endpoint on this machine whose port has changed: another server may answer there."""
    return differences({"endpoints": before.get("endpoints")}, {"endpoints": now.get("endpoints")})


def write_first_line(past: History, **content: JSON) -> None:
    """Write the first line of a session to its journal. Raises CannotKeep or OSError.

    The nonce of earlier sessions in the journal is used again; without one, a new nonce is made.
    """
    past.path.parent.mkdir(parents=True, exist_ok=True)
    with closing(Journal(past.path, secrets.token_hex(4))) as log:
        log.append(
            "session",
            format=journal.FORMAT,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            nonce=past.nonce or secrets.token_hex(16),
            **content,
        )
    past.refresh()


def append(history: History, kind: str, **content: JSON) -> None:
    """Append a line of this kind to the journal of the current session. Raises CannotKeep."""
    with closing(Journal(history.path, history.session, on_line=history.add, on_move=history.move)) as log:
        log.append(kind, **content)
