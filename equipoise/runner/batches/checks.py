"""Checks of a session with batches before its first call.

An intent is the record of one batch in the log beside the journal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.settings import Settings
from equipoise.core.types import Role
from equipoise.results.history import History
from equipoise.results.store import Files
from equipoise.runner.batches import intents
from equipoise.runner.batches.files import Answers
from equipoise.runner.batches.intents import Intent
from equipoise.runner.batches.submissions import credential


def refuse_files(settings: Settings) -> None:
    """Raise UserError if the files of --batch-write or --batch-read cannot be used."""
    if not settings.batch and (settings.batch_write or settings.batch_read):
        raise UserError("--batch-write and --batch-read: are for calls in batches; add --batch")
    # Reads the files, and raises UserError for invalid ones.
    Answers(settings.batch_read)
    if settings.batch_write and not settings.batch_write.parent.is_dir():
        raise UserError(f"--batch-write: {shown(settings.batch_write.parent)}: there is no such folder")


def describe_unread(files: Files) -> str:
    """A phrase on how to read the batches and files of earlier sessions, empty if there are none.

    Raises UserError if the log is damaged.
    """
    log = intents.load(files.batches)
    where = [f"batches at {intent.line.endpoint}" for intent in log.waiting]
    where += [line.file for line in log.written.values()]
    names = " and ".join(dict.fromkeys(where))
    if not names:
        return ""
    return f"the answers to the requests in {names} can be read only with the same options as before"


def unread(files: Files) -> list[Intent]:
    """The intents of the batches that may hold unread replies. Raises UserError if the log is damaged."""
    return intents.load(files.batches).waiting


def require_readable(
    intents_unread: Sequence[Intent], settings: Settings, history: History, files: Files
) -> None:
    """Raise UserError if this session cannot read one of these batches."""
    if intents_unread and (settings.batch_write or settings.batch_read):
        raise UserError(
            f"{shown(files.results)}: batches wait at {intents_unread[0].line.endpoint}: fetch or cancel "
            "them first, without --batch-write and --batch-read"
        )
    by_credential: defaultdict[tuple[Role, str], list[Intent]] = defaultdict(list)
    for intent in intents_unread:
        by_credential[intent.line.role, intent.line.credential].append(intent)
    for (role, _), submitted in by_credential.items():
        # One PBKDF2 digest for all batches of a key, as it takes long.
        if not submitted[0].was_submitted_by(credential(settings, role)):
            calls = sum(
                custom_id not in history.batched for intent in submitted for custom_id in intent.line.calls
            )
            raise UserError(
                f"{shown(files.results)}: {calls:,} calls wait in batches at {submitted[0].line.endpoint} "
                f"that were submitted with another key than that of the {role} "
                f"({settings.endpoint(role).key_source or 'none'}); give the same key"
            )
