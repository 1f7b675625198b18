"""Journals as sessions leave them, for the tests that read them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from equipoise.core import json_io
from equipoise.core.records import Outcome, Record, Verdict
from equipoise.core.types import JSON, Call, Conversation, Exchange, Message, Reply, Role, Usage
from equipoise.results.history import History
from equipoise.results.journal import FORMAT, Journal, checksum, encode, line_content, read, request_hash

TEXTS = {
    "plain": "Because.",
    "scripts": "香港 é 😀 ع",
    "lone-surrogate": "cut \ud83d here",
    "line-separators": "a\u2028b\u2029c\x85d\x0be",
    "control": 'a\r\n\tb\0c"d\\e',
    "escape-like": "\\ud83d \\n {}",
    "like-a-line": '{"kind":"call","run":"a-run1"}\n{"kind":"record"}\n',
    "empty": "",
}
STARTED = "2026-01-02T03:04:05+00:00"
_UNSET: dict[str, JSON] = {"sampling": {}, "system_prompt": None}
SETTINGS: dict[str, JSON] = {
    "subject_model": "m",
    "evaluator_models": ["e"],
    **{f"{role}_{what}": empty for role in ("subject", "evaluator") for what, empty in _UNSET.items()},
    "runs": 1,
    **dict.fromkeys(("limit", "languages_asked")),
    **dict.fromkeys(("data_hash", "rubric_version", "rubric_hash"), "0"),
    "endpoints": {"subject": "http://localhost:4000", "evaluator": "http://localhost:4000"},
}
VERSIONS: dict[str, JSON] = {
    **dict.fromkeys(("equipoise_version", "python_version"), "0"),
    "package_versions": {},
    **dict.fromkeys(("git_commit", "git_dirty")),
}
SESSION_SETTINGS: dict[str, JSON] = {
    "concurrency": 32,
    **dict.fromkeys(("max_retries", "evaluator_attempts", "request_timeout", "case_timeout"), 1),
    "keep_going": False,
    **dict.fromkeys(("max_cost", "max_calls", "price_per_million")),
}
CHECKSUMS = ("previous", "crc32")
USAGE = Usage(input=100, output=20, cached=3, reasoning=4)


def ask(*texts: str, role: Role = "subject", model: str = "m", **parameters: JSON) -> Call:
    """A call that ends with the last of these messages, which the two sides wrote in turn."""
    sides = ("user", "assistant")
    messages = tuple(Message(role=sides[number % 2], content=text) for number, text in enumerate(texts))
    return Call(role=role, model=model, messages=messages, parameters=parameters)


def record(
    case: str, outcome: Outcome = "scored", text: str = "Because.", *, language: str = "aa", run: int = 1
) -> Record:
    """How a run of a case ended, without what was said; all but two ends have a score."""
    is_scored = outcome not in ("error", "unscored")
    fields = {"reasoning": "", "refused": False, "score": 4} if is_scored else None
    return Record(
        case={
            "id": case,
            "language": language,
            "area": "x",
            "item": case,
            "index": 1,
            "question": f"Why {case}?",
        },
        run=run,
        outcome=outcome,
        score=4.0 if is_scored else None,
        percent=75.0 if is_scored else None,
        error=None if is_scored else text,
        verdicts=(Verdict(evaluator="e", fields=fields, attempts=3, error="no", raw=(text, "{}")),),
        details={"note": text},
    )


Plan = Sequence[str] | Mapping[str, str]
"""Run ids, with their languages where that is not aa."""


def begin(path: Path, plan: Plan = (), *, session: str = "s1", **changes: JSON) -> Journal:
    """The journal of a session that has just begun, open; `changes` go into its first line."""
    log = Journal(path, session)
    first_line: dict[str, JSON] = {
        "format": FORMAT,
        "started": STARTED,
        "nonce": "n0",
        "plan": dict(plan) if isinstance(plan, Mapping) else dict.fromkeys(plan, "aa"),
        "settings": SETTINGS,
        "selection": {"keyword": None, "mark": None, "deselected": 0},
        "versions": VERSIONS,
        "data_notes": [],
        "session_settings": SESSION_SETTINGS,
    }
    log.append("session", **{**first_line, **changes})
    return log


def keep(log: Journal, call: Call, reply: Reply | str = "Because.", *, run: str = "a-run1") -> Exchange:
    """Append a call of a run with its reply, of which usually only the text matters."""
    as_reply = Reply(text=reply) if isinstance(reply, str) else reply
    return log.append_call(run, call, request_hash(call), as_reply)


def write(path: Path, *records: Record, plan: Plan = (), **changes: JSON) -> None:
    """One session: its first line and these records, none of which remembers a call."""
    log = begin(path, plan, **changes)
    for item in records:
        log.append_record(item, [])
    log.close()


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    """Change what lines of a journal say, as if they had been written so."""
    path.write_bytes(sealed(path.read_bytes().replace(old, new).splitlines(keepends=True)))


def sealed(lines: Iterable[bytes]) -> bytes:
    """These lines with the checksums that they would have been written with; other bytes as they are."""
    written, previous = [], ""
    for line in lines:
        with suppress(ValueError, AttributeError):
            entry = json_io.loads(line)
            line = encode({name: value for name, value in entry.items() if name not in CHECKSUMS}, previous)
        written.append(line)
        previous = checksum(line)
    return b"".join(written)


def entries(path: Path, *kinds: str) -> list[dict[str, JSON]]:
    """What the valid lines of a journal say, only those of these kinds if any are given, as plain data."""
    contents = [line_content(line.data) for line in read(path)]
    return [entry for entry in contents if not kinds or entry["kind"] in kinds]


def history_of(path: Path) -> History:
    """What the journal holds by now."""
    history = History(path)
    history.refresh()
    return history


def said(transcripts: Sequence[Conversation]) -> list[list[Any]]:
    """Only the texts of conversations."""
    return [[message["content"] for message in item.messages] for item in transcripts]
