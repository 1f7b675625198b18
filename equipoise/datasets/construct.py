"""Builds questions of fact out of documents: stages over JSON Lines, each resumable, each open to inspection.

Every stage writes what it keeps and what it drops, with the reason. Replies are in one journal, so that the
same command goes on where it was interrupted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import objects, read_text, shown, write_objects
from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels
from equipoise.models.redact import Secrets
from equipoise.results import store
from equipoise.runner.jobs import Job, JobSession
from equipoise.suites.stages import Outcome, Row, Stage

JOURNAL = "construct.journal.jsonl"
FUNNEL = "funnel.json"
QUESTIONS = "questions.jsonl"
_ID = re.compile(r"[a-z0-9_]+")

Bar = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows how far a stage is, by its label and how many rows it has; what it gives is called for each row."""


def run(
    stages: Sequence[Stage],
    rows: Sequence[Row],
    folder: Path,
    session: JobSession,
    tell: Callable[[str], None],
    bar: Bar = lambda label, length: nullcontext(lambda: None),
) -> list[Row]:
    """Put the rows through all stages, and return what is left. Raises UserError.

    What an earlier run has left of these stages is removed first, so that nothing stands there unlooked at.
    """
    _clear(stages, folder)
    hidden = Secrets(session.settings.secrets)
    funnel: list[dict[str, JSON]] = []
    for number, stage in enumerate(stages, start=1):
        label = f"{stage.name}: {len(rows)} rows" + (f" ({stage.skipped})" if stage.skipped else "")
        if stage.skipped or stage.each is None:
            tell(label)
            found = [Outcome(row=row) for row in rows] if stage.skipped else (stage.every or _all)(rows)
        else:
            with bar(label, len(rows)) as advance:
                found = _ask(stage, rows, session, advance)
        rows = [item.row for item in found if item.reason is None]
        shown = [_masked(item, hidden) for item in found]
        funnel.append(_counted(stage, shown))
        _write(folder, f"{number}_{stage.name}", shown, funnel)
    return list(rows)


def _masked(found: Outcome, hidden: Secrets) -> Outcome:
    """As it is written; the next stage gets the row itself."""
    reason = None if found.reason is None else hidden.mask(found.reason)
    return Outcome(row=hidden.mask_values(found.row), reason=reason)


def _all(rows: Sequence[Row]) -> list[Outcome]:
    return [Outcome(row=row) for row in rows]


def _clear(stages: Sequence[Stage], folder: Path) -> None:
    """Remove what these stages wrote, whatever their numbers were. Raises UserError."""
    names = "|".join(re.escape(stage.name) for stage in stages)
    ours = re.compile(rf"\d+_({names})(\.dropped)?\.jsonl|{re.escape(FUNNEL)}|{re.escape(QUESTIONS)}")
    try:
        for path in folder.iterdir():
            if ours.fullmatch(path.name):
                path.unlink()
    except OSError as error:
        raise UserError(f"{shown(folder)}: cannot be written to ({error.strerror})") from None


def _write(folder: Path, name: str, found: Sequence[Outcome], funnel: list[dict[str, JSON]]) -> None:
    """Write what a stage keeps and drops, and the funnel so far. Raises UserError."""
    write_objects(folder / f"{name}.jsonl", [item.row for item in found if item.reason is None])
    dropped = [{**item.row, "dropped": item.reason} for item in found if item.reason is not None]
    write_objects(folder / f"{name}.dropped.jsonl", dropped)
    try:
        store.write_json(folder / FUNNEL, funnel)
    except OSError as error:
        where = shown(folder / FUNNEL)
        raise UserError(f"{where}: cannot be written to ({error.strerror})") from None


def _ask(
    stage: Stage, rows: Sequence[Row], session: JobSession, advance: Callable[[], None]
) -> list[Outcome]:
    """What a stage makes of the rows."""
    found = session.run([_job(stage, row) for row in rows], advance)
    return [
        Outcome(row=row, reason=f"call failed: {item}") if isinstance(item, CallFailed) else item
        for row, item in zip(rows, found, strict=True)
    ]


def _job(stage: Stage, row: Row) -> Job[Outcome]:
    each = stage.each
    assert each is not None

    async def do(models: JobModels) -> Outcome:
        return await each(row, models)

    return Job(name=f"{stage.name}-{row['id']}", do=do)


def _counted(stage: Stage, found: Sequence[Outcome]) -> dict[str, JSON]:
    dropped = [item for item in found if item.reason is not None]
    # Only what stands before a colon: the rest is about one row.
    reasons = Counter(str(item.reason).split(":")[0] for item in dropped)
    examples = {str(item.reason).split(":")[0]: item for item in reversed(dropped)}
    return {
        "stage": stage.name,
        "in": len(found),
        "kept": len(found) - len(dropped),
        "dropped": len(dropped),
        "skipped": stage.skipped,
        "reasons": dict(reasons),
        "examples": {
            reason: {"id": examples[reason].row["id"], "reason": examples[reason].reason}
            for reason in reasons
        },
    }


def funnel_rows(folder: Path) -> list[tuple[str, ...]]:
    """The funnel as a table, head first."""
    data = json.loads(read_text(folder / FUNNEL))
    head = ("stage", "in", "dropped", "kept", "why, with an example")
    return [head, *(_funnel_row(item) for item in data)]


def _funnel_row(item: Mapping[str, JSON]) -> tuple[str, ...]:
    found = item["examples"]
    whys = [f"{reason} {count} ({_example(found[reason])})" for reason, count in item["reasons"].items()]
    why = item["skipped"] or ", ".join(whys)
    return (item["stage"], str(item["in"]), str(item["dropped"]), str(item["kept"]), why)


def _example(item: Mapping[str, JSON]) -> str:
    """Which row, and what was said of it behind the reason."""
    said = " ".join(item["reason"].partition(":")[2].split())
    return f"{item['id']}: {said[:60]}" if said else str(item["id"])


# Files.


def read(path: Path, keys: Sequence[str]) -> Iterator[dict[str, JSON]]:
    """The objects of a file of JSON Lines, which have an id and texts under these keys. Raises UserError."""
    seen: set[str] = set()
    for where, data in objects(path):
        if not all(isinstance(data.get(key), str) for key in keys):
            raise UserError(f"{where}: needs the texts {', '.join(keys)}")
        if not _ID.fullmatch(data["id"]):
            # The suite would refuse the questions that were made of it.
            raise UserError(f"{where}: id is {data['id']!r}; use a-z, 0-9 and _ only")
        if data["id"] in seen:
            raise UserError(f"{where}: the id {data['id']!r} is taken by an earlier line")
        seen.add(data["id"])
        yield data
