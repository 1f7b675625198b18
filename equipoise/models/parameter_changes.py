"""Changes to parameters that an endpoint rejects, so that the call can be sent again. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.core.types import JSON
from equipoise.models.failures import Failure, error_field

PREFILL = "prefill"
"""Our own parameter: the beginning of the answer, sent as a final assistant message."""
FEWER_LOGPROBS = 5
"""The number of top_logprobs that every endpoint with log probabilities supports."""

_REJECTION = re.compile(
    r"greater than|less than|at most|too (large|high)|not (enabled|available|a valid)|must be (set|between)"
    r"|unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|invalid|extra"
    r"|deprecated|unavailable|incompatible|not (be )?compatible|mutually exclusive|(may|can) only\b"
    r"|only (be )?(accepted|allowed|available|permitted|supported|valid)"
    r"|(can ?not|can't|must not|may not|should not) (both |all )?be\b",
    re.IGNORECASE,
)
"""Phrases of messages that reject a parameter or its value."""
_VALUE_REJECTION = re.compile(
    r"(above|below)_m(ax|in)|(above|below) m(ax|in)imum|too (large|high|small|low)|at (most|least)"
    r"|(less|greater) than|must be (between|in)|[<>]=|out of range|in the range|exceed|negative"
    r"|between\W+[\d.]+\W+and\b|\bbe (above|below|over|under)\b|\bfrom\W+[\d.]+\W+to\b",
    re.IGNORECASE,
)
"""Phrases of messages that reject only the value of a parameter."""
_UNKNOWN_PARAMETER = re.compile(
    r"un(supported|known|recogni[sz]ed|expected)(?! value)|(does not|doesn't) (support|accept|allow)"
    r"|not (be )?(supported|recogni[sz]ed|permitted|allowed)|cannot find|extra",
    re.IGNORECASE,
)
"""Phrases of messages about a parameter that the endpoint does not know."""
_TOO_MANY_LOGPROBS = re.compile(r"sample logprobs|less than or equal to 5\b", re.IGNORECASE)
"""Phrases of vLLM and pydantic that reject the number of top_logprobs without naming the parameter."""
_PREFILL_REJECTION = re.compile(
    r"prefill|(last|final) message|(end|ends|ending) with|must be (a |from the )?.?user|assistant message"
    r"|role.{0,30}assistant|continue_final_message|alternat",
    re.IGNORECASE,
)
"""Phrases that reject a final assistant message, which is how endpoints see a prefill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChange:
    """A change to a rejected parameter: a new name, a new value, or, if both are None, its removal.

    `reason` is the endpoint's message.
    """

    parameter: str
    reason: str = field(compare=False)
    rename: str | None = None
    value: JSON = None

    @property
    def action(self) -> str:
        """The change in words, for messages and results."""
        if self.rename:
            return f"renamed to {self.rename}"
        if self.value is None:
            return "dropped"
        return f"replaced by {self.value['type'] if isinstance(self.value, dict) else self.value}"

    def apply(self, parameters: Mapping[str, JSON]) -> dict[str, JSON]:
        """A copy of the parameters, changed if they include the rejected one."""
        changed = dict(parameters)
        if self.parameter in changed:
            value = changed.pop(self.parameter)
            if self.rename:
                changed[self.rename] = value
            elif self.value is not None:
                changed[self.parameter] = self.value
        return changed


def rejects_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> bool:
    """Whether the endpoint rejects one of the parameters, so that every call with them would fail."""
    is_about_request = failure.status in (400, 422) and not failure.is_too_long
    return is_about_request and _named_parameter(failure, parameters) is not None


def change_for_rejection(failure: Failure, parameters: Mapping[str, JSON]) -> ParameterChange | None:
    """The change with which a rejected call may succeed; None if no change can help.

    A parameter that the endpoint does not support is dropped, even if the user has set it, with these
    exceptions. A token limit is renamed or left. `top_logprobs`, which no user sets, is first lowered. A
    `response_format` with a JSON schema first becomes `json_object`. If the endpoint supports a parameter
    and rejects only its value, there is no change, as that is for the user to correct.
    """
    if failure.status not in (400, 422) or failure.filter_code or failure.is_too_long:
        return None
    name = _named_parameter(failure, parameters)
    if "top_logprobs" in parameters and _TOO_MANY_LOGPROBS.search(failure.message):
        name = "top_logprobs"
    if name is None and PREFILL in parameters and _PREFILL_REJECTION.search(failure.message):
        name = PREFILL
    return None if name is None else _change(name, failure.message, parameters)


def _named_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> str | None:
    """The parameter in the error's field `param`, or else in a message that rejects something."""
    param = error_field(failure.body, "param")
    if isinstance(param, str) and param:
        # It may be a path, such as response_format.json_schema.
        name = param.split(".")[0]
        return name if name in parameters else None
    text = failure.message
    if not _REJECTION.search(text):
        return None
    # The longest comes first: temperature, which is sent by default, before top_p, which only a user sets.
    names = sorted(parameters, key=len, reverse=True)
    return next((name for name in names if re.search(rf"(?<![a-z_]){name}(?![a-z_])", text)), None)


def _change(name: str, message: str, parameters: Mapping[str, JSON]) -> ParameterChange | None:
    if name == "max_tokens" and _may_be_renamed(message):
        return ParameterChange(parameter=name, rename="max_completion_tokens", reason=message)
    if name == "top_logprobs" and parameters[name] > FEWER_LOGPROBS:
        return ParameterChange(parameter=name, value=FEWER_LOGPROBS, reason=message)
    if name in ("max_tokens", "max_completion_tokens") or _VALUE_REJECTION.search(message):
        return None
    if name == "response_format" and parameters[name].get("type") == "json_schema":
        return ParameterChange(parameter=name, value={"type": "json_object"}, reason=message)
    return ParameterChange(parameter=name, reason=message)


def _may_be_renamed(message: str) -> bool:
    """Whether the endpoint suggests max_completion_tokens, or does not know max_tokens."""
    is_unknown = _UNKNOWN_PARAMETER.search(message) and not _VALUE_REJECTION.search(message)
    return "max_completion_tokens" in message or bool(is_unknown)
