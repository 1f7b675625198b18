"""A line of a batch's output as the values of a row, if its custom_id names a case or one of its runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from equipoise.core.types import JSON, Reply, is_length_limit
from equipoise.models.failures import Failure
from equipoise.models.response import read_body

_KEYS = {"custom_id", "response"}
_OURS = re.compile("[0-9a-f]{40}")
"""The custom_ids of Equipoise, hashes with the secret of a journal."""
_RUN = re.compile(r"(.+)-run(\d+)")
"""The id of a run."""


def is_answer(data: Mapping[str, JSON]) -> bool:
    """Whether the keys of a line are those of an answer to a batch."""
    return data.keys() >= _KEYS and "reply" not in data


def is_ours(data: Mapping[str, JSON]) -> bool:
    """Whether Equipoise wrote the request: then only the session that wrote it knows the case."""
    return _OURS.fullmatch(str(data["custom_id"])) is not None


def values(data: Mapping[str, JSON]) -> dict[str, JSON]:
    """The values of an answer by column; a call that failed has the outcome error."""
    name = data["custom_id"]
    match = _RUN.fullmatch(name) if isinstance(name, str) else None
    case = {"id": match[1], "run": match[2]} if match else {"id": name}
    return {**case, **_of_response(data["response"])}


def _of_response(response: JSON) -> dict[str, JSON]:
    if not isinstance(response, dict):
        return {"reply": "", "outcome": "error"}
    body, status = response.get("body"), response.get("status_code")
    if status in (None, 200):
        answer = read_body(body, latency=0.0, retries=0)
    else:
        answer = Failure(message="", status=status if isinstance(status, int) else None, body=body)
    if isinstance(answer, Reply):
        return _of_reply(answer)
    return {"reply": "", "outcome": "error" if answer.filter_code is None else "blocked"}


def _of_reply(reply: Reply) -> dict[str, JSON]:
    return {
        "reply": reply.text,
        "outcome": _outcome(reply),
        "usage": reply.usage and reply.usage.to_json(),
        "model": reply.model,
    }


def _outcome(reply: Reply) -> str | None:
    if reply.blocked is not None:
        return "blocked"
    if is_length_limit(reply.finish_reason):
        return "truncated"
    return None if reply.text.strip() else "empty"
