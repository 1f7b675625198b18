"""Requests about files and batches to an OpenAI-compatible endpoint, and the lines of a batch's files.

OpenAI documents the paths (/files, /batches, /files/{id}/content) and fields; other providers share them.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote

from equipoise.core import json_io
from equipoise.core.errors import printable
from equipoise.core.types import JSON, Role
from equipoise.models.failures import Failure, describe_body
from equipoise.models.response import duplicate_field
from equipoise.models.retry import Health, Retries

if TYPE_CHECKING:
    import aiohttp

    from equipoise.models.client import Client
    from equipoise.models.connections import Content, Response

T = TypeVar("T")
WINDOW = "24h"
"""The only completion window that every endpoint offers."""
LABEL_KEY = "equipoise"
"""The key in a batch's metadata for its label: the id of its intent, which is on disk before the batch."""
FINAL_STATES = frozenset({"completed", "failed", "expired", "cancelled"})
"""States of a batch that will not change any more."""
UNSUPPORTED_STATUSES = frozenset({404, 405, 501})
"""HTTP statuses of endpoints without batches."""
_TOO_LARGE_WORDS = ("too large", "too many", "exceed", "maximum", "limit")
MOST_PAGES = 100
"""The most pages of an endpoint's list that are read, each of PAGE_SIZE batches."""
PAGE_SIZE = 100
LONGEST_ID = 256
"""The largest number of characters in an id of a file or a batch."""
_MOST_SHOWN = 60
"""The limit on the characters of an id or a status in messages."""
LATEST_TIME = 1e11
"""The largest Unix time that is accepted, in seconds: in the year 5138."""


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
        # After a timeout (408) or a conflict (409), the request may have been carried out.
        is_refusal = status is not None and 300 <= status < 500 and status not in (408, 409)
        return not (is_refusal or self.failure.is_unsent or self.failure.is_of_proxy)

    @property
    def is_unsupported(self) -> bool:
        """Whether the endpoint has no batches."""
        return self.failure.status in UNSUPPORTED_STATUSES and not self.is_missing_file

    @property
    def is_missing_file(self) -> bool:
        """Whether the endpoint does not have the file any more."""
        return self.failure.status in (400, 404) and "no such file" in self.failure.message.lower()

    @property
    def is_too_large(self) -> bool:
        """Whether the endpoint refused the file for its size or its number of lines."""
        status, text = self.failure.status, self.failure.message.lower()
        return status == 413 or (status in (400, 422) and any(words in text for words in _TOO_LARGE_WORDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch as its endpoint describes it. Files are given by id, `expires` is Unix time.

    `done`, `failed` and `total` count the batch's calls. If the batch failed as a whole, `problem` says why
    in words, and `code` is the endpoint's code for the reason.
    """

    id: str
    status: str
    input_file: str
    label: str
    output_file: str
    error_file: str
    done: int
    failed: int
    total: int
    expires: float | None
    problem: str
    code: str

    @property
    def is_over(self) -> bool:
        """Whether the state of the batch will not change any more."""
        return self.status in FINAL_STATES

    @property
    def has_failed(self) -> bool:
        """Whether it failed as a whole, before any of its calls was made."""
        return self.status == "failed" and not self.output_file and not self.done

    @property
    def files(self) -> list[str]:
        """The files of its results, each once."""
        return list(dict.fromkeys(filter(None, (self.output_file, self.error_file))))

    def has_no_more(self, read: int) -> bool:
        """Whether the lines of `read` calls are all result lines, by the endpoint's own counts.

        A batch that was cut short may have no lines at all; a completed batch has some.
        """
        ended = self.done + self.failed
        return read >= ended and (ended > 0 or self.status != "completed")

    def is_of(self, label: str, file: str) -> bool:
        """Whether the batch has this label, or this input file if it has no label; True if it has neither."""
        if self.label:
            return self.label == label
        return not self.input_file or self.input_file == file


def is_id(value: JSON) -> bool:
    """Whether a value may be the id of a file or a batch. Ids are shown to the user, and are part of URLs."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= LONGEST_ID
        and all("!" <= character <= "~" for character in value)
    )


_FILE_KEYS = ("input_file_id", "output_file_id", "error_file_id")


def read_batch(data: JSON) -> Batch | None:
    """The batch that an endpoint describes; None if the data has no id, or an id that `is_id` rejects."""
    name, *files = (_field(data, key, str) for key in ("id", *_FILE_KEYS))
    if not all(map(is_id, filter(None, (name, *files)))) or not name:
        return None
    metadata, counts = _field(data, "metadata", dict), _field(data, "request_counts", dict)
    errors = _field(_field(data, "errors", dict), "data", list)
    first = errors[0] if errors and isinstance(errors[0], dict) else {}
    return Batch(
        id=name,
        status=_status(data.get("status")),
        input_file=files[0],
        output_file=files[1],
        error_file=files[2],
        label=_field(metadata, LABEL_KEY, str),
        done=max(0, _field(counts, "completed", int)),
        failed=max(0, _field(counts, "failed", int)),
        total=max(0, _field(counts, "total", int)),
        expires=_time(data.get("expires_at")),
        problem=describe_body(first) if first else "",
        code=_field(first, "code", str),
    )


def _field(data: JSON, name: str, kind: type[T]) -> T:
    """The value of a field; empty, or 0, if it is missing or of another kind."""
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, kind) and not isinstance(value, bool) else kind()


def _status(value: JSON) -> str:
    """The status in one spelling; endpoints may use other statuses than OpenAI."""
    return printable(str(value or "")[:_MOST_SHOWN]).lower().replace("canceled", "cancelled")


def shown_id(name: str) -> str:
    """An id in a message: whole unless it is much longer than usual."""
    return name if len(name) <= _MOST_SHOWN else f"{name[: _MOST_SHOWN - 3]}..."


def _time(value: JSON) -> float | None:
    """The Unix time in seconds; None for an invalid one, such as a time in milliseconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < LATEST_TIME else None


# Lines.


def request_line(custom_id: str, path: str, body: Mapping[str, JSON]) -> bytes:
    """The line of a request in an input file."""
    return json_io.dumps({"custom_id": custom_id, "method": "POST", "url": f"/v1/{path}", "body": body})


class ResultLine(NamedTuple):
    """A line of results: the custom_id of a call, and the status and body of the response to it.

    If there was no response, as for a call that expired, the status is None and the body is the error.
    """

    custom_id: str
    status: int | None
    body: JSON


def read_result_line(data: bytes) -> ResultLine | None:
    """A line of an output or error file; None if it is malformed, or does not say how the call ended."""
    try:
        content = json_io.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("custom_id"), str):
        return None
    custom_id, response = content["custom_id"], _field(content, "response", dict)
    if name := duplicate_field(data):
        return ResultLine(custom_id, 200, {"error": f"the answer has the field {name!r} twice"})
    status = response.get("status_code")
    # True is an int, too.
    if isinstance(status, int) and not isinstance(status, bool) and "body" in response:
        return ResultLine(custom_id, status, response["body"])
    if "choices" in response:
        # Early versions of vLLM put the completion itself here.
        return ResultLine(custom_id, 200, response)
    error = content.get("error")
    return ResultLine(custom_id, None, error) if error else None


# The endpoint.


class BatchEndpoint:
    """The files and batches at a model's endpoint. Failed requests are retried if that is safe.

    `max_wait` is the longest pause, in seconds, that the endpoint may request; a longer one is a failure.
    `mask` removes API keys from a text: an endpoint's messages may quote one.
    """

    def __init__(
        self,
        client: Client,
        role: Role,
        model: str,
        *,
        max_retries: int,
        max_wait: float,
        mask: Callable[[str], str],
    ) -> None:
        self._request = partial(client.request, role, model)
        self._download = partial(client.download, role, model)
        self._max_retries = max_retries
        self._max_wait = max_wait
        self._mask = mask

    async def upload(self, content: bytes, name: str) -> str:
        """Upload the input file of a batch under this name, and return the file's id. Raises BatchFailed.

        A retry may leave a second file at the endpoint, which costs nothing.
        """
        file = _field(await self._send("POST", "files", partial(_form, content, name)), "id", str)
        if not is_id(file):
            raise _unreadable("the answer to the upload names no file")
        return file

    async def create(self, file: str, path: str, label: str) -> Batch:
        """Create a batch of the calls in a file. Raises BatchFailed; retried only if none was created."""
        content = json_io.dumps(
            {
                "input_file_id": file,
                "endpoint": f"/v1/{path}",
                "completion_window": WINDOW,
                "metadata": {LABEL_KEY: label},
            }
        )
        return self._batch(await self._send("POST", "batches", content, is_idempotent=False))

    async def get(self, batch: str) -> Batch:
        """The state of a batch. Raises BatchFailed."""
        return self._batch(await self._send("GET", f"batches/{_in_url(batch)}"))

    async def cancel(self, batch: str) -> Batch:
        """Cancel a batch; its finished calls remain available. Raises BatchFailed."""
        return self._batch(await self._send("POST", f"batches/{_in_url(batch)}/cancel", b"{}"))

    def _batch(self, data: JSON) -> Batch:
        if (batch := read_batch(data)) is None:
            raise _unreadable("the answer describes no batch with valid ids")
        return replace(batch, problem=self._mask(batch.problem))

    async def find(self, file: str, label: str) -> Batch | None:
        """The batch with this input file or label in the endpoint's list; None if there is none.

        Raises BatchFailed, also if the list has anything but batches, or a batch without label and file.
        """
        after = ""
        for _ in range(MOST_PAGES):
            data = await self._send("GET", f"batches?limit={PAGE_SIZE}{after}")
            rows = data.get("data") if isinstance(data, dict) else data
            batches = [*filter(None, map(read_batch, rows))] if isinstance(rows, list) else []
            if not isinstance(rows, list) or len(batches) < len(rows):
                raise _unreadable("the list of batches cannot be read")
            if any(not batch.label and not batch.input_file for batch in batches):
                raise _unreadable("the list of batches names no files")
            for batch in batches:
                if batch.label == label or batch.input_file == file:
                    return batch
            if not batches or not (isinstance(data, dict) and data.get("has_more")):
                return None
            after = f"&after={quote(batches[-1].id, safe='')}"
        return None

    async def lines(self, file: str) -> AsyncGenerator[bytes]:
        """The lines of a file, each once, however often the connection breaks. Raises BatchFailed."""
        retries, yielded = self.new_retries(), 0
        while True:
            failure: Failure | None = None
            # After a break, the file is read again from the beginning.
            to_skip = yielded
            async with aclosing(self._download(f"files/{_in_url(file)}/content")) as stream:
                async for line in stream:
                    if isinstance(line, Failure):
                        failure = line
                        break
                    if to_skip:
                        to_skip -= 1
                        continue
                    yielded += 1
                    yield line
            if failure is None:
                return
            await self.wait_to_retry(retries, failure)

    def _failed(self, failure: Failure) -> BatchFailed:
        return BatchFailed(replace(failure, message=self._mask(failure.message)))

    async def _send(
        self, method: str, path: str, content: Content = None, *, is_idempotent: bool = True
    ) -> JSON:
        """Send a request with retries, and return the parsed body of the response. Raises BatchFailed."""
        retries = self.new_retries()
        while True:
            answer: Response | Failure = await self._request(method, path, content)
            if not isinstance(answer, Failure):
                try:
                    return json_io.loads(answer.content)
                except ValueError:
                    answer = Failure(message="the answer cannot be read", status=200)
            if not is_idempotent and BatchFailed(answer).is_in_doubt:
                raise self._failed(answer)
            await self.wait_to_retry(retries, answer)

    def new_retries(self, most: int | None = None) -> Retries:
        """The retries of one request, or of another step that has its own maximum, `most`."""
        # An endpoint that has answered has no time limit for its first answer.
        return Retries(self._max_retries if most is None else most, Health(answered=1))

    async def wait_to_retry(self, retries: Retries, failure: Failure) -> None:
        """Wait until the next attempt. Raises BatchFailed if there is none."""
        delay = retries.delay_after(failure)
        retry_after = failure.retry_after or 0.0
        if delay is None or retry_after > self._max_wait:
            raise self._failed(failure)
        begun = time.monotonic()
        # This leaves out a pause that an overloaded endpoint requests.
        await retries.wait_until_due()
        await asyncio.sleep(max(0.0, retry_after - (time.monotonic() - begun)))


def _unreadable(why: str) -> BatchFailed:
    """The error for a successful answer with unexpected content."""
    return BatchFailed(Failure(message=why, status=200))


def _in_url(name: str) -> str:
    """An id as a part of a URL. The ids of some endpoints have slashes."""
    return quote(name, safe="/:@,;=+~")


def _form(content: bytes, name: str) -> aiohttp.FormData:
    import aiohttp

    form = aiohttp.FormData()
    form.add_field("purpose", "batch")
    form.add_field("file", io.BytesIO(content), filename=name, content_type="application/jsonl")
    return form
