"""Probes of an endpoint: the features it supports, learnt from a handful of short calls.

The questions are in `probes.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from equipoise.core.errors import CallFailed, printable
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Message, Reply, Usage, json_schema
from equipoise.models.logprobs import ImpossibleProbabilities, label_parameters, label_probabilities
from equipoise.models.parameter_changes import ParameterChange

CALLS = 5
"""The number of calls to one model, not counting retries."""
TOKENS_IN, TOKENS_OUT = 200, 400
"""Approximate tokens of these calls together, for a model that does not think at length."""
MOST_HEADERS = 12
"""The largest number of rate-limit headers that are recorded."""
_RATE_LIMIT = re.compile(r"(?:x-|anthropic-)?rate-?limit(?:bysize)?[a-z0-9-]*|retry-after(?:-ms)?")
_MOST_VALUE_CHARACTERS = 60

SupportState = Literal["yes", "no", "unknown"]
Thoughts = Literal["none", "apart", "hidden"]
Send = Callable[[tuple[Message, ...], Mapping[str, JSON]], Awaitable[Reply]]
"""Sends messages with parameters. Raises CallFailed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Whether a feature is supported; `seen` says in words how the endpoint behaved."""

    state: SupportState
    seen: str


NOT_PROBED = Feature(state="unknown", seen="not asked")


@dataclass(slots=True, kw_only=True)
class EndpointReport:
    """The changed parameters and rate-limit headers that the client reports during one model's probe."""

    changes: list[ParameterChange] = field(default_factory=list)
    rate_limits: dict[str, str] = field(default_factory=dict)

    def record_headers(self, headers: Mapping[str, str]) -> None:
        """Record the rate-limit headers of a response."""
        for name, value in headers.items():
            has_room = name in self.rate_limits or len(self.rate_limits) < MOST_HEADERS
            if has_room and _RATE_LIMIT.fullmatch(name):
                self.rate_limits[name] = printable(value)[:_MOST_VALUE_CHARACTERS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The features that a model's endpoint supports.

    `error` says why the model does not answer. Then only `is_mistake` is known besides: whether waiting does
    not help. `latency` is that of the first reply, in seconds. `answered_as` is the model's name in the
    reply. `calls` and `usage` are the number and the tokens of all replies; `is_metered` says that all
    replies report their tokens. `thoughts` is "apart" if thoughts are returned beside the answer or can be
    split from it, and "hidden" if only their tokens are counted.
    """

    error: str | None = None
    is_mistake: bool = False
    latency: float | None = None
    answered_as: str | None = None
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    is_metered: bool = False
    thoughts: Thoughts = "none"
    schema: Feature = NOT_PROBED
    probabilities: Feature = NOT_PROBED
    system_prompt: Feature = NOT_PROBED
    token_limit: Feature = NOT_PROBED
    changes: Sequence[ParameterChange] = ()
    rate_limits: Mapping[str, str] = field(default_factory=dict)


class _ProbeCalls:
    """Sends the probes of one model, with the sampling parameters of the session."""

    def __init__(self, ask: Send, sampling: Sampling, report: EndpointReport) -> None:
        self._ask = ask
        self._sampling = sampling.parameters()
        self._report = report
        self.replies: list[Reply] = []

    async def reply(self, name: str, instruction: str = "", **parameters: JSON) -> Reply:
        """The reply to the named question. Raises CallFailed."""
        system = [Message(role="system", content=instruction)] if instruction else []
        messages = (*system, Message(role="user", content=question(name)))
        reply = await self._ask(messages, {**self._sampling, **parameters})
        self.replies.append(reply)
        return reply

    async def feature(
        self, name: str, assess: Callable[[Reply], Feature], instruction: str = "", **parameters: JSON
    ) -> Feature:
        """The feature that `assess` finds in the reply to the named question.

        A feature is not supported if the call fails, or if one of its `parameters` was rejected.
        """
        earlier_changes = len(self._report.changes)
        try:
            reply = await self.reply(name, instruction, **parameters)
        except CallFailed as failure:
            return Feature(state="no", seen=f"rejected: {failure}")
        changes = [item for item in self._report.changes[earlier_changes:] if item.rename is None]
        if rejected := next((item for item in changes if item.parameter in parameters), None):
            reason = f"{rejected.parameter} was {rejected.action}: {rejected.reason}"
            return Feature(state="no", seen=reason)
        return assess(reply)


async def probe(ask: Send, sampling: Sampling, report: EndpointReport) -> Support:
    """Probe a model; if it does not answer at all, the result has an `error`. The client fills `report`."""
    calls = _ProbeCalls(ask, sampling, report)
    try:
        first = await calls.reply("answer")
    except CallFailed as failure:
        return Support(error=str(failure), is_mistake=failure.is_mistake, rate_limits=report.rate_limits)
    probes = _questions()
    answer = {"type": "string", "enum": probes["schema"]["labels"]}
    response_format = json_schema("weather", {"weather": answer})
    schema = await calls.feature("schema", _assess_schema, response_format=response_format)
    options = probes["probabilities"]["options"]
    probabilities = await calls.feature(
        "probabilities", _assess_probabilities, **label_parameters(sampling.max_tokens, options)
    )
    instruction = probes["system_prompt"]["instruction"]
    system_prompt = await calls.feature("system_prompt", _assess_system_prompt, instruction)
    limit = probes["token_limit"]["max_tokens"]
    token_limit = await calls.feature("token_limit", _assess_token_limit, max_tokens=limit)
    return Support(
        latency=first.latency,
        answered_as=first.model,
        calls=len(calls.replies),
        usage=_total_usage(calls.replies),
        is_metered=all(item.usage is not None for item in calls.replies),
        thoughts=_assess_thoughts(calls.replies),
        schema=schema,
        probabilities=probabilities,
        system_prompt=system_prompt,
        token_limit=token_limit,
        changes=tuple(report.changes),
        rate_limits=report.rate_limits,
    )


def question(name: str) -> str:
    """The prompt of the named question."""
    return str(_questions()[name]["prompt"])


@cache
def _questions() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("probes.toml").read_text(encoding="utf-8"))


def _assess_schema(reply: Reply) -> Feature:
    try:
        answer = json.loads(reply.text)
    except (ValueError, RecursionError):
        return Feature(state="no", seen="accepted, but not followed")
    labels = _questions()["schema"]["labels"]
    is_kept = isinstance(answer, dict) and [*answer] == ["weather"] and answer["weather"] in labels
    return Feature(state="yes", seen="followed") if is_kept else Feature(state="no", seen="not followed")


def _assess_probabilities(reply: Reply) -> Feature:
    if reply.tokens is None:
        return Feature(state="no", seen="none returned")
    try:
        probabilities = label_probabilities(reply.tokens, _questions()["probabilities"]["options"])
    except ImpossibleProbabilities as error:
        return Feature(state="no", seen=str(error))
    if probabilities is None:
        return Feature(state="unknown", seen="returned, but the answer began with no label")
    percent = 100 * sum(probabilities.values())
    return Feature(state="yes", seen=f"{percent:.0f} % of the probability on the allowed labels")


def _assess_system_prompt(reply: Reply) -> Feature:
    is_followed = _questions()["system_prompt"]["expected"] in reply.text.casefold()
    if is_followed:
        return Feature(state="yes", seen="followed")
    return Feature(state="unknown", seen="accepted, but not followed")


def _assess_token_limit(reply: Reply) -> Feature:
    limit = _questions()["token_limit"]["max_tokens"]
    if reply.is_truncated:
        return Feature(state="yes", seen="kept, and a cut is reported")
    if reply.usage is not None and reply.usage.output > limit:
        return Feature(state="no", seen=f"not kept: {reply.usage.output} tokens instead of {limit}")
    return Feature(state="unknown", seen=f"no cut was reported, as finish reason {reply.finish_reason!r}")


def _assess_thoughts(replies: Sequence[Reply]) -> Thoughts:
    if any(item.reasoning for item in replies):
        return "apart"
    return "hidden" if any(item.usage and item.usage.reasoning for item in replies) else "none"


def _total_usage(replies: Sequence[Reply]) -> Usage:
    used = [item.usage for item in replies if item.usage is not None]
    return Usage(input=sum(item.input for item in used), output=sum(item.output for item in used))
