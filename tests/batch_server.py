"""The scripted server with files and batches that behave, and fail, as those of real endpoints do."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from equipoise.runner.batches import intents
from loopback import Answer, Loopback, completion, error

ROUNDS, intents.PBKDF2_ROUNDS = intents.PBKDF2_ROUNDS, 1
"""What the digest of a key takes; in the process of the tests it is one round."""

EXPIRED = {"code": "batch_expired", "message": "This request could not be executed before the batch expired."}
CANCELLED = {"code": "batch_cancelled", "message": "This request was cancelled."}
NO_FUNDS = error(429, "You exceeded your current quota.", code="insufficient_quota")

Damage = Callable[[bytes], tuple[int, bytes]]
"""What becomes of a file of results: the status and the body of its download."""
UNREADABLE: dict[str, Damage] = {
    "a page": lambda data: (200, b"<!doctype html>\n<title>Sign in</title>\n<p>Please sign in.\n"),
    "gzip": lambda data: (200, gzip.compress(data)),
    "UTF-16": lambda data: (200, data.decode().encode("utf-16")),
    "a JSON array": lambda data: (200, b"[" + b",".join(data.splitlines()) + b"]"),
    "an object in many lines": lambda data: (
        200,
        json.dumps([*map(json.loads, data.splitlines())], indent=1).encode(),
    ),
    "nothing": lambda data: (200, b""),
    "line breaks": lambda data: (200, b"\n\n\n"),
    "an error with 200": lambda data: (200, b'{"error": {"message": "Try again."}}'),
    "202": lambda data: (202, b""),
    "204": lambda data: (204, b""),
    "half in 206": lambda data: (206, data[: data.index(b"\n", len(data) // 2) + 1]),
    "half in 200": lambda data: (200, data[: data.index(b"\n", len(data) // 2) + 1]),
    "half a line": lambda data: (200, data[: len(data) // 2]),
    "another batch": lambda data: (200, data.replace(b'"custom_id": "', b'"custom_id": "x')),
    "ids alone": lambda data: (
        200,
        b"".join(b'{"custom_id": "%s"}\n' % row.split(b'"')[7] for row in data.splitlines()),
    ),
}


@dataclass
class Faults:
    """What goes wrong: for requests, a queue of answers by `METHOD path`; for lines, shares or a choice.

    An answer of None is the usual one; `after` are answers that are sent although the request was carried
    out. `fails` returns the error of a line, `whole` the code of an error for which a batch fails as a whole.
    `done` is the share of a batch that is done when it expires. `download` is what becomes of the files of
    results, `look` changes a batch as it is described.
    """

    before: dict[str, list[Answer | None]] = field(default_factory=dict)
    after: dict[str, list[Answer | None]] = field(default_factory=dict)
    lost: float = 0.0
    doubled: float = 0.0
    unknown: int = 0
    done: float | None = None
    fails: Callable[[dict[str, Any], int], Answer | None] = lambda body, times: None
    whole: list[str] = field(default_factory=list)
    most_lines: int = 50_000
    lists: bool = True
    lists_files: bool = True
    expires_at: float | None = None
    unsupported: bool = False
    broken_downloads: int = 0
    download: Damage | None = None
    look: Callable[[dict[str, Any]], dict[str, Any]] = lambda batch: batch


class BatchServer(Loopback):
    """A loopback server with batches. They are done when they are looked at `looks` times, or at `finish`.

    `sent` counts how often each line was part of a batch that was accepted, `answered` how often it was
    answered. `pause` is how many seconds a request about files and batches takes, `log` has these requests
    and `keys` their credentials.
    """

    def __init__(self, *, looks: int = 1, seed: int = 1) -> None:
        super().__init__()
        self.looks = looks
        self.faults = Faults()
        self.pause = 0.0
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.sent: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.log: list[str] = []
        self.keys: list[str] = []
        self._dice = random.Random(seed)  # noqa: S311 - not a secret
        self._looked: Counter[str] = Counter()

    def finish(self) -> None:
        """Have all batches done at the next look."""
        self.looks = 1

    def conclude(self) -> None:
        """Have all batches done now, also those that were never looked at."""
        for batch in self.batches.values():
            if batch["status"] in ("validating", "in_progress"):
                self._conclude(batch, "completed")

    def lines(self) -> list[dict[str, Any]]:
        """All lines of accepted batches."""
        return [
            json.loads(line)
            for batch in self.batches.values()
            for line in self.files[batch["input_file_id"]].splitlines()
        ]

    def _routes(self, app: web.Application) -> None:
        super()._routes(app)
        app.router.add_post("/v1/files", self._file(self._upload))
        app.router.add_get("/v1/files/{name}/content", self._file(self._content))
        app.router.add_post("/v1/batches", self._file(self._create))
        app.router.add_get("/v1/batches", self._file(self._list_batches))
        app.router.add_get("/v1/batches/{name}", self._file(self._get))
        app.router.add_post("/v1/batches/{name}/cancel", self._file(self._cancel))

    def _file(self, handle: Callable[[web.Request], Any]) -> Callable[[web.Request], Any]:
        """A handler with the faults of its kind of request."""

        async def answer(request: web.Request) -> web.StreamResponse:
            kind = f"{request.method} {_kind(request.path)}"
            self.log.append(kind)
            self.keys.append(request.headers.get("authorization", ""))
            if self.faults.unsupported:
                return await self._respond(request, error(404, "Not Found"))
            if (fault := _next(self.faults.before, kind)) is not None:
                return await self._respond(request, fault)
            # Before and after it is carried out, so that a kill may come at either time.
            await asyncio.sleep(self.pause / 2)
            response = await handle(request)
            await asyncio.sleep(self.pause / 2)
            if (fault := _next(self.faults.after, kind)) is not None:
                return await self._respond(request, fault)
            return (
                response
                if isinstance(response, web.StreamResponse)
                else await self._respond(request, response)
            )

        return answer

    async def _upload(self, request: web.Request) -> Answer:
        form = await request.post()
        assert form["purpose"] == "batch"
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        content = upload.file.read()
        if len(content.splitlines()) > self.faults.most_lines:
            return error(400, f"The file has too many lines; the maximum is {self.faults.most_lines}.")
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        about = {"id": name, "object": "file", "purpose": "batch", "filename": upload.filename}
        return Answer({**about, "bytes": len(content), "created_at": int(time.time())})

    async def _content(self, request: web.Request) -> Answer | web.StreamResponse:
        content = self.files.get(request.match_info["name"])
        if content is None:
            return error(404, f"No such File object: {request.match_info['name']}")
        if self.faults.download is not None:
            status, body = self.faults.download(content)
            return web.Response(status=status, body=body)
        response = web.StreamResponse()
        await response.prepare(request)
        if self.faults.broken_downloads:
            self.faults.broken_downloads -= 1
            await response.write(content[: len(content) // 2])
            await asyncio.sleep(0.02)
            assert request.transport is not None
            request.transport.abort()
            return response
        await response.write(content)
        return response

    async def _create(self, request: web.Request) -> Answer:
        body = await request.json()
        assert body["completion_window"] == "24h"
        content = self.files.get(body["input_file_id"])
        if content is None:
            return error(404, f"No such File object: {body['input_file_id']}")
        name, lines = f"batch_{len(self.batches) + 1}", [json.loads(line) for line in content.splitlines()]
        assert len({line["body"]["model"] for line in lines}) == 1
        assert all(line["url"] == body["endpoint"] and line["method"] == "POST" for line in lines)
        assert len({line["custom_id"] for line in lines}) == len(lines)
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "created_at": int(time.time()),
            "expires_at": self.faults.expires_at or int(time.time()) + 86_400,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "metadata": body.get("metadata"),
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
        }
        if self.faults.whole:
            problem = {"code": self.faults.whole.pop(0), "message": "The batch was refused.", "line": None}
            self.batches[name] |= {"status": "failed", "errors": {"object": "list", "data": [problem]}}
        else:
            self.sent.update(line["custom_id"] for line in lines)
        return Answer(self.batches[name])

    async def _list_batches(self, request: web.Request) -> Answer:
        if not self.faults.lists:
            return error(405, "Method Not Allowed")
        names = [*reversed(self.batches)]
        after = request.query.get("after")
        start = names.index(after) + 1 if after else 0
        page = names[start : start + int(request.query.get("limit", 20))]
        more = start + len(page) < len(names)
        hidden = {} if self.faults.lists_files else {"input_file_id": None, "metadata": None}
        rows = [{**self.batches[name], **hidden} for name in page]
        return Answer({"object": "list", "data": rows, "has_more": more})

    async def _get(self, request: web.Request) -> Answer:
        batch = self.batches.get(request.match_info["name"])
        if batch is None:
            return error(404, f"No batch found with id '{request.match_info['name']}'.")
        self._looked[batch["id"]] += 1
        if batch["status"] in ("validating", "in_progress", "finalizing"):
            if self._looked[batch["id"]] >= self.looks:
                self._conclude(batch, "completed" if self.faults.done is None else "expired")
            else:
                batch["status"] = "in_progress"
        elif batch["status"] == "cancelling":
            self._conclude(batch, "cancelled")
        return Answer(self.faults.look(batch))

    async def _cancel(self, request: web.Request) -> Answer:
        batch = self.batches[request.match_info["name"]]
        if batch["status"] in ("validating", "in_progress"):
            batch["status"] = "cancelling"
        return Answer(batch)

    def _conclude(self, batch: dict[str, Any], status: str) -> None:
        """Answer the lines of a batch, in any order, and write its files."""
        faults, answers, errors = self.faults, list[str](), list[str]()
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        self._dice.shuffle(lines)
        share = {"completed": 1.0, "cancelled": 0.5}.get(status, faults.done or 0.0)
        for number, line in enumerate(lines):
            if number >= share * len(lines):
                why = EXPIRED if status == "expired" else CANCELLED
                errors.append(_line(line["custom_id"], None, why))
                continue
            fault = faults.fails(line["body"], self.sent[line["custom_id"]])
            if fault is not None:
                response = {"status_code": fault.status, "request_id": "r", "body": fault.body}
                errors.append(_line(line["custom_id"], response, None))
                continue
            self.answered[line["custom_id"]] += 1
            if self._dice.random() < faults.lost:
                continue
            text = self.script(line["body"], number)
            body = completion(text) if isinstance(text, str) else text.body
            answer = _line(line["custom_id"], {"status_code": 200, "request_id": "r", "body": body}, None)
            answers += [answer] * (2 if self._dice.random() < faults.doubled else 1)
        strange = {"status_code": 200, "request_id": "r", "body": completion("?")}
        answers += [_line(f"unknown-{number}", strange, None) for number in range(faults.unknown)]
        counts = {"total": len(lines), "completed": len(answers), "failed": len(errors)}
        batch |= {"status": status, "request_counts": counts}
        for name, content in (("output_file_id", answers), ("error_file_id", errors)):
            if content:
                batch[name] = f"file-{len(self.files) + 1}"
                self.files[batch[name]] = "".join(content).encode()


def _kind(path: str) -> str:
    parts = path.removeprefix("/v1/").split("/")
    return "/".join(part if part in ("files", "batches", "content", "cancel") else "ID" for part in parts)


def _next(queues: dict[str, list[Answer | None]], kind: str) -> Answer | None:
    queue = queues.get(kind)
    return queue.pop(0) if queue else None


def _line(name: str, response: Any, error: Any) -> str:
    return json.dumps({"id": "batch_req", "custom_id": name, "response": response, "error": error}) + "\n"
