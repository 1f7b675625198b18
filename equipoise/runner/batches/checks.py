"""Checks of a session with batches before its first call."""

from __future__ import annotations

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.settings import Settings
from equipoise.results.history import History
from equipoise.results.store import Files
from equipoise.runner.batches import intents
from equipoise.runner.batches.files import Answers
from equipoise.runner.batches.submissions import credential


def refuse_files(settings: Settings) -> None:
    """Raise UserError if the files of --batch-write or --batch-read cannot be used."""
    if not settings.batch and (settings.batch_write or settings.batch_read):
        raise UserError("--batch-write and --batch-read: are for calls in batches; add --batch")
    # Reads the files, and raises UserError for invalid ones.
    Answers(settings.batch_read)
    if settings.batch_write and not settings.batch_write.parent.is_dir():
        raise UserError(f"--batch-write: {shown(settings.batch_write.parent)}: there is no such folder")


def unanswered(files: Files) -> str:
    """A phrase on the batches and files of earlier sessions, empty if there are none. Raises UserError."""
    log = intents.load(files.batches)
    where = [f"batches at {intent.line.endpoint}" for intent in log.waiting]
    where += [line.file for line in log.written.values()]
    names = " and ".join(dict.fromkeys(where))
    return (
        f"the answers to the requests in {names} can be read only with the options as before" if names else ""
    )


def refuse_others(settings: Settings, history: History, files: Files) -> bool:
    """Raise UserError for unread batches that this session cannot read. Returns whether there are any."""
    waiting = intents.load(files.batches).waiting
    if waiting and (settings.batch_write or settings.batch_read):
        raise UserError(
            f"{shown(files.results)}: batches wait at {waiting[0].line.endpoint}: fetch or cancel them "
            "first, without files of batches"
        )
    by_credential = {(intent.line.role, intent.line.credential): intent for intent in waiting}
    for (role, _), intent in by_credential.items():
        if not intent.was_submitted_by(credential(settings, role)):
            calls = sum(call not in history.batched for item in waiting for call in item.line.calls)
            raise UserError(
                f"{shown(files.results)}: {calls:,} calls wait in batches at {intent.line.endpoint} that "
                f"were submitted with another key than that of the {role} "
                f"({settings.endpoint(role).key_source or 'none'}); give the same key"
            )
    return bool(waiting)
