"""A scripted OpenAI-compatible server on loopback that remembers what it was sent."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from equipoise.models import probe

JUDGE = "judge"
SUBJECT = "subject"
FIRST_QUESTION = probe.question("first")
NO_ID = "chatcmpl"
"""The id of a completion until the server sends it with one of its own, as endpoints do."""


@dataclass
class Answer:
    """What to send back: a body (or raw text), a status, headers, after a delay in seconds.

    `drop` closes the connection without an answer; `reason` is the phrase behind the status.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    reason: str | None = None


Script = Callable[[dict[str, Any], int], "Answer | str"]


def completion(text: str | None, **changes: Any) -> dict[str, Any]:
    """A chat completion; `changes` go into the choice, or into the body where they name a part of it."""
    body = {
        "id": NO_ID,
        "object": "chat.completion",
        "model": changes.pop("model", "scripted-1"),
        "system_fingerprint": "fp_scripted",
        "usage": changes.pop("usage", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}),
    }
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop", **changes}]
    return body


def error(status: int, message: str, **more: Any) -> Answer:
    """An error in the form that OpenAI gives it."""
    return Answer(
        {"error": {"message": message, "type": "error", "param": None, "code": None, **more}}, status
    )


def verdict(score: Any, **more: Any) -> str:
    """An evaluator's text."""
    return json.dumps({"reasoning": "Because.", "refused": False, "lean": "none", "score": score, **more})


def with_facts(text: Any, parameters: Mapping[str, Any]) -> Any:
    """A verdict of a script that knows nothing of facts, with all left out, where a call asks for facts."""
    if not isinstance(text, str) or '"score"' not in text or "response_format" not in parameters:
        return text
    kind = parameters["response_format"]["json_schema"]["schema"]["properties"].get("facts")
    fields = json.loads(text) if kind and text.startswith("{") and text.endswith("}") else {}
    if not fields or "facts" in fields:
        return text
    return json.dumps({**fields, "facts": dict.fromkeys(kind["required"], "left_out")})


def question_of(body: dict[str, Any]) -> str:
    """The question that a request is about, for the subject's and for the evaluator's."""
    texts = [message["content"] for message in body["messages"]]
    # Not only in the last message: an evaluator whose verdict was none is told why behind it.
    quoted = re.search(r"\[question (\w+)\]\n(.*?)\n\[end of question \1\]", "\n".join(texts), re.DOTALL)
    return str(quoted[2] if quoted else texts[-1])


def is_first_call(body: dict[str, Any]) -> bool:
    """Whether a request is one that a session makes before its first question."""
    return bool(body["messages"][-1]["content"] == FIRST_QUESTION)


def ready(body: dict[str, Any], number: int) -> str:
    """The answer that shows a model to be there."""
    return "Ready."


def unpaid(body: dict[str, Any], number: int) -> Answer:
    """A failure that says nothing of the model, so that the session goes on and counts no call."""
    return error(402, "Not this one.")


def is_judge(body: dict[str, Any]) -> bool:
    """Whether a request is an evaluator's."""
    return str(body["model"]).startswith(JUDGE)


def score_of(question: str) -> int:
    """A score from 1 to 5 that depends on the question alone."""
    return hashlib.sha256(question.encode()).digest()[0] % 5 + 1


def plain_script(body: dict[str, Any], number: int) -> str:
    """Every question gets an answer, every answer the score that its question fixes."""
    question = question_of(body)
    return verdict(score_of(question)) if is_judge(body) else f"An answer to: {question}"


def echo(text: str, *shares: float, added: str = " So") -> dict[str, Any]:
    """A plain completion that gives the text back: its last tokens, then one that was added.

    The last words have these logarithms, whatever stands before them that of 0.1.
    """
    words = re.findall(r"\s*\S+", text)
    logs: list[float | None] = [None, *[-2.3] * (len(words) - len(shares) - 1), *shares, -0.5]
    body = completion(None, usage={"prompt_tokens": len(words), "completion_tokens": 1})
    logprobs = {"tokens": [*words, added], "token_logprobs": logs}
    body["choices"] = [
        {"index": 0, "text": text + added, "finish_reason": "length", "logprobs": logprobs},
    ]
    return body


class Threaded(ABC):
    """A server on a loop of its own, in a thread, from the beginning of a context to its end."""

    port: int

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        await self._start()
        self._ready.set()
        await self._end.wait()
        await self._stop()

    @abstractmethod
    async def _start(self) -> None:
        """Listen, and set `port`."""

    @abstractmethod
    async def _stop(self) -> None:
        """Listen no more."""


class Loopback(Threaded):
    """The server, in a thread. `script` gets the body and the number of the request, from 0.

    `first_script` answers what a session asks before its first question, which is not among the `requests`.
    `models` are those that it lists, None if it lists none. `continuation` answers plain completions, which
    there are none of without it; `tls` makes it an HTTPS one.
    """

    def __init__(
        self, script: Script = plain_script, *, delay: float = 0.0, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__()
        self.tls = tls
        self.script = script
        self.delay = delay
        self.continuation: Callable[[dict[str, Any]], Answer | str] | None = None
        self.texts: list[dict[str, Any]] = []
        self.models: list[str] | None = None
        self.first_script: Script = unpaid
        self.first_calls: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.queries: list[str] = []
        self.in_flight = 0
        self.peak = 0
        self._answered = 0

    def count(self, *, judge: bool) -> int:
        """How many requests came for the evaluators, or for the subject."""
        return sum(is_judge(body) == judge for body in self.requests)

    def hold(self) -> None:
        """Let no answer leave from now on."""
        self._loop.call_soon_threadsafe(self._released.clear)

    def release(self) -> None:
        """Let answers leave again."""
        self._loop.call_soon_threadsafe(self._released.set)

    async def _start(self) -> None:
        self._released = asyncio.Event()
        self._released.set()
        app = web.Application(client_max_size=2**26)
        self._routes(app)
        # Whoever still waits for an answer when a test ends has been killed, or is not meant to get one.
        self._runner = web.AppRunner(app, shutdown_timeout=0.05)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self.tls)
        await site.start()
        self.port = self._runner.addresses[0][1]

    def _routes(self, app: web.Application) -> None:
        app.router.add_post("/v1/chat/completions", self._answer)
        app.router.add_post("/v1/completions", self._continue)
        app.router.add_get("/v1/models", self._list)

    async def _stop(self) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if is_first_call(body):
            self.first_calls.append(body)
            answer = self.first_script(body, len(self.first_calls) - 1)
            return await self._respond(request, answer, is_held=False)
        number = len(self.requests)
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.queries.append(request.query_string)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            return await self._respond(request, with_facts(self.script(body, number), body))
        finally:
            self.in_flight -= 1

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if self.models is None:
            return await self._respond(request, error(404, "Not Found"))
        return await self._respond(request, Answer({"data": [{"id": name} for name in self.models]}))

    async def _continue(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.texts.append(body)
        if self.continuation is None:
            return await self._respond(request, error(404, "Not Found"))
        answer = self.continuation(body)
        if isinstance(answer, str):
            choice = {"index": 0, "text": answer, "finish_reason": "stop", "logprobs": None}
            answer = Answer({**completion(None), "choices": [choice]})
        return await self._respond(request, answer)

    async def _respond(
        self, request: web.Request, answer: Answer | str, *, is_held: bool = True
    ) -> web.StreamResponse:
        if isinstance(answer, str):
            answer = Answer(completion(answer))
        await asyncio.sleep(answer.delay or (self.delay if is_held else 0))
        if is_held:
            await self._released.wait()
        if answer.drop:
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        content = answer.body
        if isinstance(content, dict) and content.get("id") == NO_ID:
            self._answered += 1
            content = {**content, "id": f"chatcmpl-{self._answered}"}
        is_text = isinstance(content, str)
        text, kind = (content, "text/plain") if is_text else (json.dumps(content), "application/json")
        # As bytes, so that a header may name a charset that there is not.
        headers = {"Content-Type": f"{kind}; charset=utf-8", **answer.headers}
        body = text.encode()
        return web.Response(body=body, status=answer.status, headers=headers, reason=answer.reason)


def read_answer(question: str) -> str:
    """An answer that is read and not judged, where a question says in any language what it wants; or none."""
    if re.search(r"(?<!\d)(?:0\D+100|100\D+0)(?!\d)", question):
        return "50"
    return "C" if "\nE) " in question else ""


def any_verdict(body: dict[str, Any], number: int) -> str:
    """A reply of the subject, or what an evaluator is asked for: a verdict by its schema, or a label."""
    if body["model"] == SUBJECT:
        return read_answer(str(body["messages"][-1]["content"])) or "An answer."
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    properties = schema.get("properties", {})
    if "reasoning" not in properties:
        return "A"
    return json.dumps({name: _value(schema) for name, schema in properties.items()})


def _value(schema: dict[str, Any]) -> Any:
    """A value by this schema: the first word or the middle number of those that it lists."""
    if schema["type"] == "object":
        return {name: _value(part) for name, part in schema["properties"].items()}
    if "enum" in schema:
        return schema["enum"][0 if schema["type"] == "string" else len(schema["enum"]) // 2]
    return {"string": "So.", "boolean": False}[schema["type"]]
