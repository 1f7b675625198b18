"""Batches of calls at an OpenAI-compatible endpoint: its files, its batches, and the lines of both.

The paths and fields are those that OpenAI documents (/files, /batches, /files/{id}/content) and other
providers share.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from equipoise.core import json_io
from equipoise.core.types import JSON, Role
from equipoise.models.failures import Failure, describe_body
from equipoise.models.retry import Health, Retries

if TYPE_CHECKING:
    import aiohttp

    from equipoise.models.client import Client
    from equipoise.models.connections import Response

WINDOW = "24h"
"""The only completion window that every endpoint has."""
LABEL = "equipoise"
"""The key in a batch's metadata that holds the id of its intent, the journal's line written before it."""
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
"""States of a batch that will not change any more."""
UNSUPPORTED = frozenset({404, 405, 501})
"""Statuses of endpoints without batches."""
_TOO_LARGE = ("too large", "too many", "exceed", "maximum", "limit")
MOST_PAGES = 100
"""How many pages of an endpoint's list are read, of 100 batches each."""


class BatchFailed(Exception):  # noqa: N818 - it names what the endpoint did
    """A request about files or batches failed for good."""

    def __init__(self, failure: Failure) -> None:
        status = "" if failure.status is None else f"HTTP {failure.status}: "
        super().__init__(f"{status}{failure.message}")
        self.failure = failure

    @property
    def is_in_doubt(self) -> bool:
        """Whether the endpoint may have carried out the request all the same."""
        status = self.failure.status
        is_refusal = status is not None and 300 <= status < 500 and status not in (408, 409)
        return not (is_refusal or self.failure.is_unsent or self.failure.is_of_proxy)

    @property
    def is_unsupported(self) -> bool:
        """Whether the endpoint has no batches."""
        return self.failure.status in UNSUPPORTED and not self.is_missing_file

    @property
    def is_missing_file(self) -> bool:
        """Whether the endpoint does not have the file any more."""
        return self.failure.status in (400, 404) and "no such file" in self.failure.message.lower()

    @property
    def is_too_large(self) -> bool:
        """Whether the endpoint refused the file for its size or its number of lines."""
        status, text = self.failure.status, self.failure.message.lower()
        return status == 413 or (status in (400, 422) and any(words in text for words in _TOO_LARGE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its endpoint describes it. Files are given by id, `expires` is Unix time.

    `done`, `failed` and `total` count its calls; `problem` and `code` say why it failed as a whole.
    """

    id: str
    status: str
    input_file: str
    label: str
    output_file: str | None
    error_file: str | None
    done: int
    failed: int
    total: int
    expires: float | None
    problem: str
    code: str

    @property
    def is_over(self) -> bool:
        """Whether its state will not change any more."""
        return self.status in OVER


def read_batch(data: JSON) -> Batch | None:
    """The batch that an endpoint describes; None if it is not one."""
    if not isinstance(data, dict) or not isinstance(data.get("id"), str):
        return None
    metadata, counts = _dict(data.get("metadata")), _dict(data.get("request_counts"))
    errors = _dict(data.get("errors")).get("data")
    first = _dict(errors[0]) if isinstance(errors, list) and errors else {}
    return Batch(
        id=data["id"],
        status=str(data.get("status", "")).lower().replace("canceled", "cancelled"),
        input_file=str(data.get("input_file_id", "")),
        label=str(metadata.get(LABEL, "")),
        output_file=_id(data.get("output_file_id")),
        error_file=_id(data.get("error_file_id")),
        done=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        total=_count(counts.get("total")),
        expires=_time(data.get("expires_at")),
        problem=describe_body(first) if first else "",
        code=str(first.get("code", "")),
    )


def _dict(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}


def _id(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _time(value: JSON) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


# Lines.


def request_line(name: str, path: str, body: Mapping[str, JSON]) -> bytes:
    """The line of a request; `name` is its custom_id."""
    return json_io.dumps({"custom_id": name, "method": "POST", "url": f"/v1/{path}", "body": body})


class ResultLine(NamedTuple):
    """A line of results: `name` is its custom_id, `status` and `body` are those of the response.

    If there was no response, as for a line that expired, the status is None and the body is the error.
    """

    name: str
    status: int | None
    body: JSON


def read_line(data: bytes) -> ResultLine | None:
    """A line of an output or error file; None if it is not one."""
    try:
        content = json_io.loads(data)
    except ValueError:
        return None
    if not isinstance(content, dict) or not isinstance(content.get("custom_id"), str):
        return None
    name, response = content["custom_id"], _dict(content.get("response"))
    status = response.get("status_code")
    if isinstance(status, int) and "body" in response:
        return ResultLine(name, status, response["body"])
    if "choices" in response:
        # Early versions of vLLM put the completion itself here.
        return ResultLine(name, 200, response)
    return ResultLine(name, None, content.get("error"))


# The endpoint.


class BatchEndpoint:
    """The files and batches at a model's endpoint. Failed requests are retried if that is safe.

    `max_wait` is the longest pause, in seconds, that the endpoint may request; a longer one is a failure.
    """

    def __init__(self, client: Client, role: Role, model: str, *, max_retries: int, max_wait: float) -> None:
        self._request = partial(client.request, role, model)
        self._download = partial(client.download, role, model)
        self._max_retries = max_retries
        self._max_wait = max_wait

    async def upload(self, path: Path, name: str) -> str:
        """Upload the file of a batch under this name; returns its id. Raises BatchFailed.

        A retry may leave a second file at the endpoint, which costs nothing.
        """
        form = partial(_form, path, name)
        data = await self._retried(lambda: self._request("POST", "files", form))
        file = _id(_dict(data).get("id"))
        if file is None:
            raise BatchFailed(Failure(message="the answer to the upload names no file", status=200))
        return file

    async def create(self, file: str, path: str, label: str) -> Batch:
        """Create a batch of the calls in a file. Raises BatchFailed; retried only if none was created."""
        content = json_io.dumps(
            {
                "input_file_id": file,
                "endpoint": f"/v1/{path}",
                "completion_window": WINDOW,
                "metadata": {LABEL: label},
            }
        )
        return _batch(
            await self._retried(lambda: self._request("POST", "batches", content), is_idempotent=False)
        )

    async def get(self, batch: str) -> Batch:
        """The state of a batch. Raises BatchFailed."""
        return _batch(await self._retried(lambda: self._request("GET", f"batches/{batch}")))

    async def cancel(self, batch: str) -> Batch:
        """Cancel a batch; its finished calls remain available. Raises BatchFailed."""
        return _batch(await self._retried(lambda: self._request("POST", f"batches/{batch}/cancel", b"{}")))

    async def find(self, file: str, label: str) -> Batch | None:
        """The listed batch with this input file or label; None if there is none. Raises BatchFailed."""
        after = ""
        for _ in range(MOST_PAGES):
            query = f"batches?limit=100{after}"
            data = await self._retried(lambda query=query: self._request("GET", query))  # type: ignore[misc]
            rows = data if isinstance(data, list) else _dict(data).get("data")
            if not isinstance(rows, list):
                raise BatchFailed(Failure(message="the list of batches cannot be read", status=200))
            batches = [batch for row in rows if (batch := read_batch(row)) is not None]
            if any(not batch.label and not batch.input_file for batch in batches):
                raise BatchFailed(Failure(message="the list of batches names no files", status=200))
            for batch in batches:
                if batch.label == label or batch.input_file == file:
                    return batch
            if not batches or not _dict(data).get("has_more"):
                return None
            after = f"&after={batches[-1].id}"
        return None

    async def lines(self, file: str) -> AsyncGenerator[bytes]:
        """The lines of a file, each once, however often the connection breaks. Raises BatchFailed."""
        retries, number = self._retries(), 0
        while True:
            failure: Failure | None = None
            # After a break, the lines that were already yielded are skipped.
            left = number
            async with aclosing(self._download(f"files/{file}/content")) as stream:
                async for line in stream:
                    if isinstance(line, Failure):
                        failure = line
                        break
                    if left:
                        left -= 1
                        continue
                    number += 1
                    yield line
            if failure is None:
                return
            await self._rest(retries, failure)

    async def _retried(
        self, send: Callable[[], Awaitable[Response | Failure]], *, is_idempotent: bool = True
    ) -> JSON:
        """The parsed body of the response, after retries. Raises BatchFailed."""
        retries = self._retries()
        while True:
            answer = await send()
            if not isinstance(answer, Failure):
                try:
                    return json_io.loads(answer.content)
                except ValueError:
                    answer = Failure(message="the answer cannot be read", status=200)
            if not is_idempotent and BatchFailed(answer).is_in_doubt:
                raise BatchFailed(answer)
            await self._rest(retries, answer)

    def _retries(self) -> Retries:
        return Retries(self._max_retries, Health(answered=1))

    async def _rest(self, retries: Retries, failure: Failure) -> None:
        """Wait until the next attempt. Raises BatchFailed if there is none."""
        delay = retries.delay_after(failure)
        retry_after = failure.retry_after or 0.0
        if delay is None or retry_after > self._max_wait:
            raise BatchFailed(failure)
        begun = time.monotonic()
        await retries.wait_until_due()
        await asyncio.sleep(max(0.0, retry_after - (time.monotonic() - begun)))


def _batch(data: JSON) -> Batch:
    if (batch := read_batch(data)) is None:
        raise BatchFailed(Failure(message="the answer describes no batch", status=200))
    return batch


def _form(path: Path, name: str) -> aiohttp.FormData:
    import aiohttp

    form = aiohttp.FormData()
    form.add_field("purpose", "batch")
    form.add_field("file", path.open("rb"), filename=name, content_type="application/jsonl")
    return form
