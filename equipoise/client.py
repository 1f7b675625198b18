"""Asks one endpoint one thing: a Call goes in, a Reply comes out or CallFailed is raised.

The only file that imports openai. It sends, retries, remembers what an endpoint rejects, and reads the
body; it knows nothing of suites, journals or pytest.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import aiohttp
import openai

from equipoise import jsonbytes
from equipoise.errors import CallFailed
from equipoise.failures import (
    Change,
    Failure,
    complains_of_parameter,
    describe_body,
    rejected_parameter,
)
from equipoise.settings import NO_KEY, Endpoint
from equipoise.types import JSON, Call, Reply, Role, Usage

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0

_JSON_CONTENT: openai.RequestOptions = {"headers": {"Content-Type": "application/json"}}

OnLearned = Callable[[Call, Change], None]


class Client:
    """Reaches the models of a session. Belongs to the event loop it was made on.

    `endpoint` says where a model in a role is reached. A call occupies a slot only while it is in
    flight, not while it waits to be tried again. `on_learned` is told once for each model and
    parameter; `on_retry` before every repetition.
    """

    def __init__(
        self,
        endpoint: Callable[[Role, str], Endpoint],
        *,
        max_retries: int,
        timeout: float,
        on_learned: OnLearned = lambda call, change: None,
        on_retry: Callable[[], None] = lambda: None,
    ) -> None:
        self._endpoint = endpoint
        self._max_retries = max_retries
        self._timeout = timeout
        self._on_learned = on_learned
        self._on_retry = on_retry
        self._http = openai.DefaultAioHttpClient(timeout=timeout)
        self._connections: dict[tuple[Role, str], tuple[openai.AsyncOpenAI, str, str]] = {}
        self._learned: dict[tuple[Role, str], list[Change]] = {}

    async def complete(self, call: Call, slot: AbstractAsyncContextManager[None]) -> Reply:
        """One reply; `slot` is entered anew for each attempt. Raises CallFailed once nothing can help."""
        retries = 0
        while True:
            async with slot:
                sent = self._parameters(call)
                answer = await self._attempt(call, sent, retries)
                if isinstance(answer, Reply):
                    return answer
                is_learned = self._learn(call, answer, sent)
                # Raised inside the slot, so that nobody is let in before the failure is known.
                if not is_learned and (not answer.is_transient or retries >= self._max_retries):
                    raise _failed(call, answer, sent, retries)
            if is_learned:
                continue
            retries += 1
            self._on_retry()
            await asyncio.sleep(_wait(retries, answer.retry_after))

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _attempt(self, call: Call, sent: Mapping[str, JSON], retries: int) -> Reply | Failure:
        connection, url, key = self._connection(call)
        started = time.perf_counter()
        # Given as bytes, because the SDK would copy and encode the body the slow way.
        body = jsonbytes.dumps({"model": call.model, "messages": call.messages, **sent})
        try:
            # The SDK's own limit is on every read: an endpoint that trickles would never reach it.
            async with asyncio.timeout(self._timeout):
                data = await connection.post(url, cast_to=object, content=body, options=_JSON_CONTENT)
        except openai.APIStatusError as error:
            answer = _status_failure(error, key)
        except TimeoutError:
            return Failure(message=f"no answer within {self._timeout:g} s")
        except (openai.APIConnectionError, aiohttp.ClientError) as error:
            return Failure(message=self._why_no_answer(error))
        except (openai.APIError, ValueError) as error:
            return Failure(message=f"the body of the answer cannot be read: {error}")
        else:
            return read_body(data, latency=time.perf_counter() - started, retries=retries)
        code = answer.filter_code
        if code is None:
            return answer
        latency = time.perf_counter() - started
        return Reply(text="", finish_reason="content_filter", blocked=code, latency=latency, retries=retries)

    def _why_no_answer(self, error: Exception) -> str:
        # The transport calls a refused connection a timeout too; the cause behind it knows better.
        causes = [error]
        while isinstance(causes[-1].__cause__, Exception):
            causes.append(causes[-1].__cause__)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return f"no answer within {self._timeout:g} s"
        return f"connection failed: {str(causes[-1]) or type(causes[-1]).__name__}"

    def _connection(self, call: Call) -> tuple[openai.AsyncOpenAI, str, str]:
        """The SDK's client of an endpoint, the whole URL, which it takes faster than a path, and the key."""
        key = (call.role, call.model)
        if key not in self._connections:
            endpoint = self._endpoint(call.role, call.model)
            connection = openai.AsyncOpenAI(
                base_url=endpoint.base_url,
                api_key=endpoint.api_key,
                max_retries=0,
                timeout=self._timeout,
                http_client=self._http,
            )
            url = f"{endpoint.base_url}/chat/completions"
            self._connections[key] = (connection, url, endpoint.api_key)
        return self._connections[key]

    def _parameters(self, call: Call) -> Mapping[str, JSON]:
        parameters = call.parameters
        for change in self._learned.get((call.role, call.model), ()):
            parameters = change.apply(parameters)
        return parameters

    def _learn(self, call: Call, failure: Failure, sent: Mapping[str, JSON]) -> bool:
        """Remember a rejected parameter. True where asking again is worth it for that reason."""
        change = rejected_parameter(failure, sent)
        if change is None:
            return False
        known = self._learned.setdefault((call.role, call.model), [])
        if change not in known:
            known.append(change)
            self._on_learned(call, change)
        return True


def _wait(retries: int, retry_after: float | None) -> float:
    """Seconds before the next attempt: what the endpoint asked for, else exponential with jitter."""
    if retry_after is not None:
        return min(retry_after, LONGEST_WAIT) + random.uniform(0, FIRST_WAIT)  # noqa: S311 - not a secret
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(retries - 1, 16))
    return random.uniform(0.5, 1) * longest  # noqa: S311 - as above


def _failed(call: Call, failure: Failure, sent: Mapping[str, JSON], retries: int) -> CallFailed:
    status = "" if failure.status is None else f"HTTP {failure.status}: "
    tried = f" (after {retries} retries)" if retries else ""
    message = f"{call.role} {call.model!r}: {status}{failure.message}{tried}"
    stops = failure.is_transient or failure.is_fatal or complains_of_parameter(failure, sent)
    return CallFailed(message, status=failure.status, stops_session=stops)


def _status_failure(error: openai.APIStatusError, key: str) -> Failure:
    body = error.body if error.body is not None else error.response.text
    return Failure(
        # Some endpoints repeat the key that they refuse.
        message=describe_body(body).replace(key, "****") if key != NO_KEY else describe_body(body),
        status=error.status_code,
        body=body,
        retry_after=_seconds(error.response.headers.get("retry-after")),
    )


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None


def read_body(data: object, *, latency: float, retries: int) -> Reply | Failure:
    """The reply in the body of a chat completion, or what is wrong with the body."""
    if not isinstance(data, dict):
        return Failure(message="the answer is no JSON object", status=200, body=str(data)[:500])
    choice = _first_choice(data)
    if choice is None:
        return Failure(message=f"the answer has no choices: {describe_body(data)}", status=200, body=data)
    message = choice["message"]
    text, thoughts = _content(message.get("content"))
    # What OpenAI's models say instead of a structured output that they decline to give.
    text = text or _text(message, "refusal") or ""
    finish_reason = _text(choice, "finish_reason")
    return Reply(
        text=text,
        reasoning=thoughts or _text(message, "reasoning_content") or _text(message, "reasoning"),
        finish_reason=finish_reason,
        usage=_usage(data.get("usage")),
        model=_text(data, "model"),
        fingerprint=_text(data, "system_fingerprint"),
        latency=latency,
        retries=retries,
        blocked="content_filter" if finish_reason == "content_filter" else None,
    )


def _first_choice(data: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) and isinstance(choice.get("message"), dict) else None


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def _content(content: Any) -> tuple[str, str]:
    """Text and thoughts of a message's content, which is a text, a list of parts, or missing."""
    if isinstance(content, str):
        return content, ""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    text = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    thoughts = "".join(_thoughts(part) for part in parts if part.get("type") == "thinking")
    return text, thoughts


def _thoughts(part: Mapping[str, Any]) -> str:
    inner = part.get("thinking")
    return inner if isinstance(inner, str) else _content(inner)[0]


def _usage(data: Any) -> Usage | None:
    if not isinstance(data, dict):
        return None
    return Usage(
        input=_count(data, "prompt_tokens"),
        output=_count(data, "completion_tokens"),
        cached=_count(data.get("prompt_tokens_details"), "cached_tokens"),
        reasoning=_count(data.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(data: Any, name: str) -> int:
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, int) else 0
