"""The pipeline that builds a suite's questions from documents, in stages that the suite defines.

Every stage writes the rows that it keeps, and the rows that it drops with the reasons, as JSON Lines. All
replies are in one journal, so that the same command resumes an interrupted run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.files import objects, read_text, shown, write_objects
from equipoise.core.types import JSON
from equipoise.judge.judge import JobModels
from equipoise.models.redact import Secrets
from equipoise.results import store
from equipoise.runner.jobs import Job, JobSession
from equipoise.suites.construct_contract import Draft, Stage, StageResult

JOURNAL = "construct.journal.jsonl"
FUNNEL = "funnel.json"
QUESTIONS = "questions.jsonl"
_ID = re.compile(r"[a-z0-9_]+")

ProgressBar = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Opens a progress bar with a label and a number of rows. The callback is to be called after each row."""


def run_stages(
    stages: Sequence[Stage],
    rows: Sequence[Draft],
    folder: Path,
    session: JobSession,
    tell: Callable[[str], None],
    progress_bar: ProgressBar,
) -> list[Draft]:
    """Run all stages on these rows, write their files, and return the rows that no stage dropped.

    Files of an earlier run are removed first: it may have had other stages. Raises UserError.
    """
    _remove_old_files(stages, folder)
    secrets = Secrets(session.settings.secrets)
    funnel: list[dict[str, JSON]] = []
    for number, stage in enumerate(stages, start=1):
        label = f"{stage.name}: {len(rows)} rows" + (f" ({stage.skipped})" if stage.skipped else "")
        if stage.skipped or stage.by_row is None:
            tell(label)
            results = _keep_all(rows) if stage.skipped else (stage.all_rows or _keep_all)(rows)
        else:
            with progress_bar(label, len(rows)) as advance:
                results = _run_by_row(stage, rows, session, advance)
        rows = [item.row for item in results if item.reason is None]
        masked = [_masked(item, secrets) for item in results]
        funnel.append(_funnel_entry(stage, masked))
        _write_stage(folder, f"{number}_{stage.name}", masked, funnel)
    return list(rows)


def _masked(result: StageResult, secrets: Secrets) -> StageResult:
    """The result with secrets masked, for files. The next stage gets the row unmasked."""
    reason = None if result.reason is None else secrets.mask(result.reason)
    return StageResult(row=secrets.mask_values(result.row), reason=reason)


def _keep_all(rows: Sequence[Draft]) -> list[StageResult]:
    return [StageResult(row=row) for row in rows]


def _remove_old_files(stages: Sequence[Stage], folder: Path) -> None:
    """Remove the files of these stages, with any stage number. Raises UserError."""
    names = "|".join(re.escape(stage.name) for stage in stages)
    file_name = re.compile(rf"\d+_({names})(\.dropped)?\.jsonl|{re.escape(FUNNEL)}|{re.escape(QUESTIONS)}")
    try:
        for path in folder.iterdir():
            if file_name.fullmatch(path.name):
                path.unlink()
    except OSError as error:
        raise UserError(f"{shown(folder)}: cannot be written to ({error.strerror})") from None


def _write_stage(
    folder: Path, name: str, results: Sequence[StageResult], funnel: list[dict[str, JSON]]
) -> None:
    """Write the rows that a stage keeps and drops, and the funnel of all stages so far. Raises UserError."""
    write_objects(folder / f"{name}.jsonl", [item.row for item in results if item.reason is None])
    dropped = [{**item.row, "dropped": item.reason} for item in results if item.reason is not None]
    write_objects(folder / f"{name}.dropped.jsonl", dropped)
    try:
        store.write_json(folder / FUNNEL, funnel)
    except OSError as error:
        where = shown(folder / FUNNEL)
        raise UserError(f"{where}: cannot be written to ({error.strerror})") from None


def _run_by_row(
    stage: Stage, rows: Sequence[Draft], session: JobSession, advance: Callable[[], None]
) -> list[StageResult]:
    """The result of each row in a stage that calls models. A failed call drops its row."""
    results = session.run([_job(stage, row) for row in rows], advance)
    return [
        StageResult(row=row, reason=f"call failed: {item}") if isinstance(item, CallFailed) else item
        for row, item in zip(rows, results, strict=True)
    ]


def _job(stage: Stage, row: Draft) -> Job[StageResult]:
    by_row = stage.by_row
    assert by_row is not None

    async def run_row(models: JobModels) -> StageResult:
        return await by_row(row, models)

    return Job(name=f"{stage.name}-{row['id']}", do=run_row)


def _funnel_entry(stage: Stage, results: Sequence[StageResult]) -> dict[str, JSON]:
    """The entry of a stage in the funnel: numbers of rows, and an example for each reason."""
    dropped = [item for item in results if item.reason is not None]
    # Reasons are counted by the text before the colon; the text after it is about one row.
    reasons = Counter(str(item.reason).split(":")[0] for item in dropped)
    examples = {str(item.reason).split(":")[0]: item for item in reversed(dropped)}
    return {
        "stage": stage.name,
        "in": len(results),
        "kept": len(results) - len(dropped),
        "dropped": len(dropped),
        "skipped": stage.skipped,
        "reasons": dict(reasons),
        "examples": {
            reason: {"id": examples[reason].row["id"], "reason": examples[reason].reason}
            for reason in reasons
        },
    }


def funnel_rows(folder: Path) -> list[tuple[str, ...]]:
    """The funnel in a folder as the rows of a table, header first."""
    data = json.loads(read_text(folder / FUNNEL))
    header = ("stage", "in", "dropped", "kept", "why, with an example")
    return [header, *(_funnel_row(item) for item in data)]


def _funnel_row(item: Mapping[str, JSON]) -> tuple[str, ...]:
    examples = item["examples"]
    reasons = [
        f"{reason} {count} ({_example(examples[reason])})" for reason, count in item["reasons"].items()
    ]
    why = item["skipped"] or ", ".join(reasons)
    return (item["stage"], str(item["in"]), str(item["dropped"]), str(item["kept"]), why)


def _example(item: Mapping[str, JSON]) -> str:
    """An example of a reason: the row's id, and the text after the colon."""
    details = " ".join(item["reason"].partition(":")[2].split())
    return f"{item['id']}: {details[:60]}" if details else str(item["id"])


# Files.


def read_documents(path: Path, keys: Sequence[str]) -> Iterator[dict[str, JSON]]:
    """The objects of a JSON Lines file, each with texts under these keys, which include a unique `id`.

    Raises UserError naming file and line.
    """
    ids: set[str] = set()
    for where, data in objects(path):
        if not all(isinstance(data.get(key), str) for key in keys):
            raise UserError(f"{where}: needs the texts {', '.join(keys)}")
        if not _ID.fullmatch(data["id"]):
            # The suite would refuse the questions built from it.
            raise UserError(f"{where}: id is {data['id']!r}; use a-z, 0-9 and _ only")
        if data["id"] in ids:
            raise UserError(f"{where}: the id {data['id']!r} is taken by an earlier line")
        ids.add(data["id"])
        yield data
