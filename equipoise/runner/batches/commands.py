"""The functions behind `equipoise batch`: list, cancel and settle the batches of earlier sessions.

They send requests about batches, but no calls to models.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Literal

from equipoise.core.errors import CannotKeep, UserError, printable
from equipoise.core.files import shown
from equipoise.core.resolution import resolve
from equipoise.core.settings import Endpoint, Settings
from equipoise.models.redact import Secrets
from equipoise.results import history, store
from equipoise.results.store import Files
from equipoise.runner.batches import intents
from equipoise.runner.batches.endpoint import Batch, BatchEndpoint, BatchFailed, is_id, shown_id
from equipoise.runner.batches.intents import CreatedLine, Intent, Intents, OverLine

SUFFIX = ".batches"
"""The suffix of a file of intents, the log of a session's batches."""
MAX_RETRIES, MAX_WAIT, TIMEOUT = 3, 30.0, 60.0
"""The limits on requests; wait and timeout in seconds. They are short, as the user waits for the command."""
MOST_REASON = 200
"""The limit on the characters that are shown of an endpoint's reason."""
Action = Literal["get", "cancel"]
"""What is requested for each batch: its state, or that it is cancelled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """The status of an unread batch. `log` is the file of intents that has its `intent`.

    `state` is the batch as the endpoint describes it, or the reason why it is unknown.
    """

    log: Intents
    intent: Intent
    state: Batch | str

    @property
    def is_over(self) -> bool:
        """Whether the batch has ended, so that its results can be read."""
        return isinstance(self.state, Batch) and self.state.is_over


def load_intents(paths: Sequence[Path]) -> list[Intents]:
    """Load the files of intents in these folders, or next to these results or journals. Raises UserError."""
    files: list[Path] = []
    for path in paths:
        files += sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [_intents_path(path)]
    return [intents.load(file) for file in files]


def _intents_path(path: Path) -> Path:
    """The path of the file of intents, from its own path or its results' or journal's. Raises UserError."""
    intents_path = path.with_suffix(SUFFIX)
    if not intents_path.is_file() and not path.exists():
        raise UserError(f"{shown(path)}: there is no such file; name results, their journal, or a folder")
    return intents_path


def request(logs: Iterable[Intents], action: Action) -> list[BatchStatus]:
    """Get or cancel every unread batch, and return their statuses. Raises UserError if a key is missing."""
    settings = resolve({}, os.environ, {})
    waiting = [(log, intent) for log in logs for intent in log.waiting]
    credentials = [_credential(log, intent, settings) for log, intent in waiting]
    return asyncio.run(_request_all(waiting, credentials, action))


def _credential(log: Intents, intent: Intent, settings: Settings) -> tuple[str, bool]:
    """The API key that submitted a batch, and whether headers from the environment were sent with it."""
    keys = dict.fromkeys((settings.subject_endpoint.api_key, settings.evaluator_endpoint.api_key))
    for key, has_headers in product(keys, (True, False)):
        headers = settings.header_values if has_headers else ()
        if intent.was_submitted_by("\0".join((key, *headers))):
            return key, has_headers
    raise UserError(
        f"{shown(log.path)}: batch {intent.batch or intent.id} at {intent.line.endpoint} was submitted "
        "with another key; set it in OPENAI_API_KEY, or in EQUIPOISE_EVALUATOR_API_KEY"
    )


async def _request_all(
    waiting: Sequence[tuple[Intents, Intent]], credentials: Sequence[tuple[str, bool]], action: Action
) -> list[BatchStatus]:
    return [
        BatchStatus(log=log, intent=intent, state=await _request(intent, key, has_headers, action))
        for (log, intent), (key, has_headers) in zip(waiting, credentials, strict=True)
    ]


async def _request(intent: Intent, key: str, has_headers: bool, action: Action) -> Batch | str:
    """The batch of an intent after the action; a text if it was not created, or the endpoint fails."""
    from equipoise.models.client import Client

    line = intent.line
    address = Endpoint(base_url=line.endpoint, api_key=key, takes_environment=has_headers)
    secrets = Secrets([key])
    client = Client(lambda role, model: address, max_retries=MAX_RETRIES, timeout=TIMEOUT, secrets=secrets)
    endpoint = BatchEndpoint(
        client, line.role, line.model, max_retries=MAX_RETRIES, max_wait=MAX_WAIT, mask=secrets.mask
    )
    try:
        batch_id = intent.batch
        if not batch_id:
            created = await endpoint.find(intent.file, intent.id)
            if created is None:
                return "was not created"
            batch_id = created.id
        batch = await endpoint.get(batch_id)
        return batch if action == "get" or batch.is_over else await endpoint.cancel(batch_id)
    except BatchFailed as error:
        return str(error)
    finally:
        await client.close()


def settle(path: Path, name: str, batch: str | None) -> Intent:
    """Record whether the batch of an intent was created, if that is unknown, and return the intent.

    `path` is the file of intents, or the results or journal next to it; `name` is the intent's id. `batch` is
    the id of the batch, which is checked at its endpoint; None if there is no batch. Raises UserError.
    """
    if path.is_dir():
        raise UserError(f"{shown(path)}: is a folder; name the results that the batch is for")
    intents_path = _intents_path(path)
    journal = intents_path.with_suffix(".jsonl")
    with ExitStack() as steps:
        steps.callback(store.lock(Files(results=journal.with_suffix(".json"), journal=journal)).release)
        log = intents.load(intents_path)
        intent = log.by_id.get(name)
        if intent is None or not intent.may_have_batch:
            names = ", ".join(item.id for item in log.waiting) or "none"
            raise UserError(f"{shown(log.path)}: there is no waiting intent {name!r}; waiting: {names}")
        try:
            if batch is None:
                log.append(OverLine(intent=intent.id, status="given up"))
            else:
                expires = _own_batch(log, intent, batch).expires
                log.append(CreatedLine(intent=intent.id, batch=batch, expires=expires))
        except CannotKeep as error:
            raise UserError(str(error)) from None
    return intent


def _own_batch(log: Intents, intent: Intent, name: str) -> Batch:
    """The batch with this id at the endpoint. Raises UserError if there is none, or not of this intent."""
    if not is_id(name):
        raise UserError(f"--batch {name[:80]!r}: not the id of a batch, which is printable ASCII")
    where = f"--batch {shown_id(name)}: {intent.line.endpoint}"
    settings = resolve({}, os.environ, {})
    key, has_headers = _credential(log, intent, settings)
    batch = asyncio.run(_request(replace(intent, batch=name), key, has_headers, "get"))
    if isinstance(batch, str):
        raise UserError(f"{where}: the batch cannot be read: {batch[:MOST_REASON]}")
    if not batch.is_of(intent.id, intent.file):
        raise UserError(
            f"{where}: it is another batch, that of the file {batch.input_file}, not {intent.file}"
        )
    return batch


def written_lines(logs: Iterable[Intents]) -> Iterator[str]:
    """A line of text for each file of requests that has calls without an answer in the journal."""
    for log in logs:
        past = history.load(log.path.with_suffix(".jsonl"))
        written = log.written if past.pending(past.planned) else {}
        open_calls = Counter(
            (line.role, line.model, line.file) for call, line in written.items() if call not in past.batched
        )
        for (role, model, name), calls in open_calls.items():
            yield printable(
                f"{shown(log.path)}: {role} {model}: no answer was read to {calls:,} calls in {name}; "
                "`equipoise batch read` reads the answers"
            )


def lines(statuses: Iterable[BatchStatus]) -> Iterator[str]:
    """A line of text for each batch."""
    for status in statuses:
        sent, batch = status.intent.line, status.state
        if isinstance(batch, Batch):
            counts = f"{batch.done + batch.failed:,} of {batch.total or len(sent.calls):,} done"
            text = f"{shown_id(batch.id)}: {batch.status}, {counts}"
        else:
            text = f"{shown_id(status.intent.batch or status.intent.id)}: {batch[:MOST_REASON]}"
        yield f"{shown(status.log.path)}: {sent.role} {sent.model} at {sent.endpoint}: {text}"
