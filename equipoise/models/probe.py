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
"""The number of calls to one model, without retries."""
TOKENS_IN, TOKENS_OUT = 200, 400
"""Approximate tokens of these calls together, for a model that does not think at length."""
MOST_LIMITS = 12
"""The limit on the number of recorded rate-limit headers."""
_RATE_LIMIT = re.compile(r"(?:x-|anthropic-)?rate-?limit(?:bysize)?[a-z0-9-]*|retry-after(?:-ms)?")
_LONGEST_VALUE = 60

SupportState = Literal["yes", "no", "unknown"]
Thoughts = Literal["none", "apart", "hidden"]
Send = Callable[[tuple[Message, ...], Mapping[str, JSON]], Awaitable[Reply]]
"""Sends messages with parameters. Raises CallFailed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """Whether a feature is supported; `seen` is the observation in words."""

    state: SupportState
    seen: str


NOT_ASKED = Feature(state="unknown", seen="not asked")


@dataclass(slots=True, kw_only=True)
class EndpointReport:
    """The changed parameters and rate-limit headers that the client reports during one model's probe."""

    changes: list[ParameterChange] = field(default_factory=list)
    rate_limits: dict[str, str] = field(default_factory=dict)

    def headers(self, headers: Mapping[str, str]) -> None:
        """Record the rate-limit headers of a response."""
        for name, value in headers.items():
            is_new = name in self.rate_limits or len(self.rate_limits) < MOST_LIMITS
            if is_new and _RATE_LIMIT.fullmatch(name):
                self.rate_limits[name] = printable(value)[:_LONGEST_VALUE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The features that a model's endpoint supports.

    `error` says why the model does not answer; then nothing else is known. `latency` is that of the first
    reply, in seconds. `answered_as` is the model's name in the reply, `calls` and `usage` are the number and
    tokens of all replies. `thoughts` is "apart" if thoughts are returned beside the answer or can be split
    from it, and "hidden" if only their tokens are counted.
    """

    error: str | None = None
    latency: float | None = None
    answered_as: str | None = None
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    is_metered: bool = False
    thoughts: Thoughts = "none"
    schema: Feature = NOT_ASKED
    probabilities: Feature = NOT_ASKED
    system_prompt: Feature = NOT_ASKED
    token_limit: Feature = NOT_ASKED
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
        messages = (*system, Message(role="user", content=_probes()[name]["prompt"]))
        reply = await self._ask(messages, {**self._sampling, **parameters})
        self.replies.append(reply)
        return reply

    async def feature(
        self, name: str, judge: Callable[[Reply], Feature], instruction: str = "", **parameters: JSON
    ) -> Feature:
        """The feature that `judge` finds in the reply to the named question.

        It is not supported if the call fails, or if one of its own `parameters` was rejected.
        """
        known = len(self._report.changes)
        try:
            reply = await self.reply(name, instruction, **parameters)
        except CallFailed as failure:
            return Feature(state="no", seen=f"rejected: {failure}")
        dropped = [item for item in self._report.changes[known:] if item.rename is None]
        if rejected := next((item for item in dropped if item.parameter in parameters), None):
            reason = f"{rejected.parameter} was {rejected.action}: {rejected.reason}"
            return Feature(state="no", seen=reason)
        return judge(reply)


async def probe(ask: Send, sampling: Sampling, report: EndpointReport) -> Support:
    """Probe a model; if it does not answer at all, the result has an `error`. The client fills `report`."""
    asking = _ProbeCalls(ask, sampling, report)
    try:
        first = await asking.reply("answer")
    except CallFailed as failure:
        return Support(error=str(failure), rate_limits=report.rate_limits)
    probes = _probes()
    response_format = _response_format(probes["schema"]["labels"])
    schema = await asking.feature("schema", _schema, response_format=response_format)
    options = probes["probabilities"]["options"]
    probabilities = await asking.feature(
        "probabilities", _probabilities, **label_parameters(sampling.max_tokens, options)
    )
    instruction = probes["system_prompt"]["instruction"]
    system_prompt = await asking.feature("system_prompt", _system_prompt, instruction)
    most = probes["token_limit"]["max_tokens"]
    token_limit = await asking.feature("token_limit", _token_limit, max_tokens=most)
    return Support(
        latency=first.latency,
        answered_as=first.model,
        calls=len(asking.replies),
        usage=_sum(asking.replies),
        is_metered=all(item.usage is not None for item in asking.replies),
        thoughts=_thoughts(asking.replies),
        schema=schema,
        probabilities=probabilities,
        system_prompt=system_prompt,
        token_limit=token_limit,
        changes=tuple(report.changes),
        rate_limits=report.rate_limits,
    )


@cache
def _probes() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("probes.toml").read_text(encoding="utf-8"))


def _response_format(labels: Sequence[str]) -> dict[str, JSON]:
    return json_schema("weather", {"weather": {"type": "string", "enum": list(labels)}})


def _schema(reply: Reply) -> Feature:
    try:
        answer = json.loads(reply.text)
    except (ValueError, RecursionError):
        return Feature(state="no", seen="accepted, but not kept to")
    labels = _probes()["schema"]["labels"]
    is_kept = isinstance(answer, dict) and [*answer] == ["weather"] and answer["weather"] in labels
    return Feature(state="yes", seen="kept to") if is_kept else Feature(state="no", seen="not kept to")


def _probabilities(reply: Reply) -> Feature:
    if reply.tokens is None:
        return Feature(state="no", seen="none returned")
    try:
        probabilities = label_probabilities(reply.tokens, _probes()["probabilities"]["options"])
    except ImpossibleProbabilities as error:
        return Feature(state="no", seen=str(error))
    if probabilities is None:
        return Feature(state="unknown", seen="returned, but the answer began with no label")
    return Feature(state="yes", seen=f"{100 * sum(probabilities.values()):.0f} % on the labels")


def _system_prompt(reply: Reply) -> Feature:
    is_followed = _probes()["system_prompt"]["expected"] in reply.text.casefold()
    if is_followed:
        return Feature(state="yes", seen="followed")
    return Feature(state="unknown", seen="accepted, but not followed")


def _token_limit(reply: Reply) -> Feature:
    most = _probes()["token_limit"]["max_tokens"]
    if reply.is_truncated:
        return Feature(state="yes", seen="kept, and a cut is reported")
    if reply.usage is not None and reply.usage.output > most:
        return Feature(state="no", seen=f"not kept: {reply.usage.output} tokens instead of {most}")
    return Feature(state="unknown", seen=f"no cut was reported, as finish reason {reply.finish_reason!r}")


def _thoughts(replies: Sequence[Reply]) -> Thoughts:
    if any(item.reasoning for item in replies):
        return "apart"
    return "hidden" if any(item.usage and item.usage.reasoning for item in replies) else "none"


def _sum(replies: Sequence[Reply]) -> Usage:
    used = [item.usage for item in replies if item.usage is not None]
    return Usage(input=sum(item.input for item in used), output=sum(item.output for item in used))
