"""Parses the body of a chat completion, or of a plain one, in all the variants that endpoints use. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeGuard

from equipoise.core import json_io
from equipoise.core.types import Reply, Role, Token, Usage, is_length_limit
from equipoise.models import reasoning
from equipoise.models.failures import BROKEN_REASONS, FILTER_REASONS, Failure, describe_body

MOST_TOKENS = 10**9
"""Maximum of a token count: a larger number is ignored."""
LEAST_LOGPROB = -1000.0
"""A log probability at or below this is ignored."""
MOST_TOKEN_POSITIONS = 8
"""The number of tokens whose probabilities are recorded. They are used for labels, which open an answer."""
_ANSWER_FIELDS = {"text": "text", "output_text": "text", "refusal": "refusal"}
"""Types of content parts that belong to the answer, and the field that holds the text of each."""
_THOUGHT_TYPES = ("thinking", "reasoning", "redacted_thinking")
_FIELDS_OF_ANSWER = ("choices", "message", "content", "text", "refusal")
_FIELD_OF_ANSWER = re.compile(rb'"(%s)"[ \t\r\n]{0,9}:' % "|".join(_FIELDS_OF_ANSWER).encode())
_LOGPROBS = re.compile(rb'"logprobs"[ \t\r\n]{0,9}:[ \t\r\n]{0,9}\{')
_KINDS_OF_JSON = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a text"}
_KINDS_OF_JSON |= {dict: "an object", list: "a list"}


def duplicate_field(data: bytes) -> str | None:
    """A field on the way to an answer's content, such as `choices`, that occurs twice; None if there is none.

    Parsers silently take one of the two, so it is unknown which is the answer.
    """
    # Nearly every answer ends here: quotes in texts are escaped, and only log probabilities have a second
    # field named `content`.
    fields = _FIELD_OF_ANSWER.findall(data)
    if len(fields) == len({*fields}):
        return None
    counts = Counter(fields)
    counts[b"content"] -= len(_LOGPROBS.findall(data))
    if max(counts.values()) < 2:
        return None
    duplicates: set[str] = set()

    def note(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        duplicates.update(name for name in _FIELDS_OF_ANSWER if names.count(name) > 1)

    with suppress(ValueError, RecursionError):
        json.loads(data, object_pairs_hook=note)
    return min(duplicates, default=None)


def as_json(body: object) -> object:
    """Parse a JSON object that an endpoint sent as text; anything else is returned unchanged."""
    if not isinstance(body, str):
        return body
    try:
        value = json_io.loads(body.removeprefix("\ufeff").encode("utf-8", "replace"))
    except ValueError:
        return body
    return value if isinstance(value, dict) else body


def read_body(data: object, *, latency: float, retries: int, role: Role = "subject") -> Reply | Failure:
    """The reply in the body of a chat completion, or a failure that says what is wrong with the body."""
    data = as_json(data)
    if not isinstance(data, dict):
        return Failure(message="the answer is not a JSON object", status=200, body=str(data)[:500])
    choice, usage = _first_choice(data), _usage(data.get("usage"))
    if choice is None:
        why = f"the answer has no choices: {describe_body(data)}"
        return Failure(message=why, status=200, body=data, usage=usage)
    if failure := _reported_error(data, choice) or _unusable_choice(choice):
        return replace(failure, usage=usage)
    finish_reason = _text_or_none(choice, "finish_reason")
    is_cut_by_filter = finish_reason is not None and finish_reason.lower() in FILTER_REASONS
    content, *thoughts = _content_and_thoughts(choice["message"])
    # Whatever cut the reply, thoughts may have no end.
    is_cut = is_cut_by_filter or is_length_limit(finish_reason)
    split = reasoning.split_verdict if role == "evaluator" else reasoning.split
    parts = split(content, is_cut=is_cut)
    thoughts.append(parts.thoughts)
    reply = Reply(
        text=_with_refusal(parts.answer, choice["message"]),
        reasoning="\n\n".join(filter(None, thoughts)) or None,
        finish_reason=finish_reason,
        usage=usage,
        model=_text_or_none(data, "model"),
        fingerprint=_text_or_none(data, "system_fingerprint"),
        provider=_text_or_none(data, "provider"),
        latency=latency,
        retries=retries,
        blocked=finish_reason if is_cut_by_filter else None,
        tokens=_first_tokens(choice.get("logprobs")),
        thought_tags=parts.tags,
    )
    # Some endpoints report zeros: without usage, the tokens are estimated from the texts.
    return reply if reply.is_metered else replace(reply, usage=None)


def _reported_error(data: Mapping[str, Any], choice: Mapping[str, Any]) -> Failure | None:
    """The error that an endpoint reports beside a choice or inside it, even if the choice has a reply."""
    reported = (part.get("error") for part in (data, choice, choice["message"]))
    body = next(({"error": error} for error in reported if _is_reported(error)), None)
    if body is None:
        return None
    return Failure(message=f"the answer reports an error: {describe_body(body)}", status=200, body=body)


def _is_reported(error: Any) -> bool:
    """Whether an `error` field reports one: many endpoints send an empty one with every reply."""
    return any(error.values()) if isinstance(error, dict) else bool(error)


def _unusable_choice(choice: Mapping[str, Any]) -> Failure | None:
    """The failure of a choice without a complete, readable reply; None for any other choice."""
    if why := _content_problem(choice["message"].get("content")):
        return Failure(message=f"the content of the message {why}", status=200)
    finish_reason = _text_or_none(choice, "finish_reason") or ""
    if finish_reason.lower() in BROKEN_REASONS:
        return Failure(message=f"the endpoint broke off: {finish_reason}", status=200, body=finish_reason)
    return None


def read_continuation(
    data: object, *, latency: float, retries: int, role: Role = "subject"
) -> Reply | Failure:
    """The reply in the body of a plain completion, or a failure, as from `read_body`.

    If the request had `echo`, the tokens include those of the prompt.
    """
    data = as_json(data)
    choices = data.get("choices") if isinstance(data, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(data, dict) or not isinstance(first, dict) or not isinstance(first.get("text"), str):
        return read_body(data, latency=latency, retries=retries, role=role)
    as_chat = {**first, "message": {"content": first["text"]}, "logprobs": None}
    reply = read_body({**data, "choices": [as_chat]}, latency=latency, retries=retries, role=role)
    return replace(reply, tokens=_echoed_tokens(first.get("logprobs"))) if isinstance(reply, Reply) else reply


def _echoed_tokens(logprobs: object) -> tuple[Token, ...] | None:
    """All tokens, each with its own log probability; None if they are missing or do not match."""
    if not isinstance(logprobs, dict):
        return None
    texts, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list) or not len(texts) == len(values) > 0:
        return None
    return tuple(
        Token(text=str(text), top={str(text): float(value)} if _is_logprob(value) else {})
        for text, value in zip(texts, values, strict=True)
    )


def _first_tokens(logprobs: object) -> tuple[Token, ...] | None:
    """The first tokens with their likeliest alternatives; None if no log probabilities were returned."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    positions = [item for item in content[:MOST_TOKEN_POSITIONS] if isinstance(item, dict)]
    tokens = [Token(text=_text_or_none(item, "token") or "", top=_top_logprobs(item)) for item in positions]
    return tuple(tokens) or None


def _top_logprobs(position: Mapping[str, Any]) -> dict[str, float]:
    """The log probability of each alternative to a token, the highest if one is listed twice."""
    rows = position.get("top_logprobs")
    logprobs: dict[str, float] = {}
    for row in rows if isinstance(rows, list) else ():
        token, logprob = (row.get("token"), row.get("logprob")) if isinstance(row, dict) else (None, None)
        if isinstance(token, str) and _is_logprob(logprob):
            logprobs[token] = max(float(logprob), logprobs.get(token, LEAST_LOGPROB))
    return logprobs


def _is_logprob(value: object) -> TypeGuard[float]:
    """Whether this is a usable log probability: some endpoints write -inf as null or as a very low number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    # Rounding may leave the log probability of a certain token just above 0.
    return LEAST_LOGPROB < value <= 1e-6


def _content_and_thoughts(message: Mapping[str, Any]) -> tuple[str, str, str]:
    """The content, then the thoughts from a field of their own and from content parts."""
    content, thoughts_in_parts = _content(message.get("content"))
    thoughts = _text_or_none(message, "reasoning_content") or _text_or_none(message, "reasoning") or ""
    return content, thoughts, thoughts_in_parts


def _with_refusal(answer: str, message: Mapping[str, Any]) -> str:
    """The answer with the field in which OpenAI's models decline, beside the content or instead of it."""
    refusal = _text_or_none(message, "refusal") or ""
    return answer if not refusal or refusal in answer else "\n\n".join(filter(None, (answer, refusal)))


def _first_choice(data: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) and isinstance(choice.get("message"), dict) else None


def _text_or_none(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) and value else None


def _content_problem(content: Any) -> str | None:
    """What is wrong with the content of a message; None for a text, a list of known parts, or no content."""
    if isinstance(content, list):
        return next(filter(None, map(_part_problem, content)), None)
    return None if content is None or isinstance(content, str) else f"is {_kind(content)}"


def _part_problem(part: Any) -> str | None:
    if isinstance(part, str):
        return None
    if not isinstance(part, dict):
        return f"has a part that is {_kind(part)}"
    kind = part.get("type")
    if kind in _THOUGHT_TYPES:
        return None
    if not isinstance(kind, str):
        return "has a part without a type"
    if kind not in _ANSWER_FIELDS:
        return f"has a part of the unknown type {kind[:100]!r}"[:200]
    text = part.get(_ANSWER_FIELDS[kind])
    is_text = text is None or isinstance(text, str)
    return None if is_text else f"has a part of the type {kind!r} whose text is {_kind(text)}"


def _kind(value: Any) -> str:
    return _KINDS_OF_JSON.get(type(value), "of an unknown kind")


def _content(content: Any) -> tuple[str, str]:
    """The text and thoughts of a message's content, which is a text, a list of parts, or missing."""
    if isinstance(content, str):
        return content, ""
    text = "".join(map(_text_of_part, content or ()))
    thoughts = [_thought(part) for part in _parts(content) if part.get("type") in _THOUGHT_TYPES]
    return text, "".join(_flatten_thoughts(thoughts))


def _text_of_part(part: str | dict[str, Any]) -> str:
    if isinstance(part, str):
        return part
    return part.get(_ANSWER_FIELDS.get(part["type"], "")) or ""


def _thought(part: dict[str, Any]) -> Any:
    return part.get("thinking") or part.get("reasoning") or part.get("text") or part.get("summary")


def _parts(content: Any) -> list[dict[str, Any]]:
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _flatten_thoughts(thoughts: Sequence[Any]) -> Iterator[str]:
    """The texts of thoughts, each a text or a list of parts, nested to any depth."""
    pending = [*reversed(thoughts)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        else:
            pending += map(_thought, reversed(_parts(item)))


def _usage(data: Any) -> Usage | None:
    """The token usage that an endpoint reports; None if a total is not a valid count, or the input is 0."""
    read, written = _count(data, "prompt_tokens"), _count(data, "completion_tokens")
    if not read or written is None:
        return None
    # Invalid details do not make the totals invalid.
    cached = _count(data.get("prompt_tokens_details"), "cached_tokens") or 0
    thought = _count(data.get("completion_tokens_details"), "reasoning_tokens") or 0
    return Usage(input=read, output=written, cached=min(cached, read), reasoning=min(thought, written))


def _count(data: Any, name: str) -> int | None:
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if float(value).is_integer() else None
