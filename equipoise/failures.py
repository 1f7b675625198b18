"""What a failed call means, read from status, error code and text. Pure; knows no HTTP library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.types import JSON

TRANSIENT_STATUS = frozenset({408, 409, 429})
FATAL_STATUS = frozenset({401, 402, 403, 404})

# How providers say that their filter rejected a prompt: OpenAI and Azure, DashScope, DeepSeek.
_FILTER_CODES = (
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
    "datainspectionfailed",
)
_FILTER_TEXTS = {"content exists risk": "content_exists_risk"}

_REJECTS = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|invalid|extra"
    r"|deprecated|unavailable",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One attempt that brought no reply. `status` is None where the connection itself failed."""

    message: str
    status: int | None = None
    body: JSON = None
    retry_after: float | None = None

    @property
    def is_transient(self) -> bool:
        """Whether the same request may well succeed a little later."""
        return (
            self.status is None or self.status in TRANSIENT_STATUS or self.status >= 500 or self.status == 200
        )

    @property
    def is_fatal(self) -> bool:
        """Whether every other request would fail alike: key refused, balance spent, model unknown."""
        return self.status in FATAL_STATUS

    @property
    def filter_code(self) -> str | None:
        """The provider's code where its filter rejected the prompt."""
        if self.status not in (400, 403, 422):
            return None
        text = _flat(self.body).lower()
        for code in _FILTER_CODES:
            if code in text:
                return code
        return next((code for words, code in _FILTER_TEXTS.items() if words in text), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A parameter that a model's endpoint does not take: renamed, replaced, or dropped (both None)."""

    parameter: str
    reason: str = field(compare=False)
    rename: str | None = None
    value: JSON = None

    @property
    def action(self) -> str:
        """In words."""
        if self.rename:
            return f"renamed to {self.rename}"
        return "dropped" if self.value is None else f"replaced by {self.value.get('type', self.value)}"

    def apply(self, parameters: Mapping[str, JSON]) -> dict[str, JSON]:
        """The parameters after the change; unchanged where the parameter is not among them."""
        changed = dict(parameters)
        if self.parameter in changed:
            old = changed.pop(self.parameter)
            if self.rename:
                changed[self.rename] = old
            elif self.value is not None:
                changed[self.parameter] = self.value
        return changed


_REJECTS_VALUE = re.compile(
    r"(above|below)_m(ax|in)|(above|below) m(ax|in)imum|too (large|high|small|low)|at (most|least)"
    r"|(less|greater) than|must be (between|in)|[<>]=|out of range",
    re.IGNORECASE,
)


def complains_of_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> bool:
    """Whether every call with these parameters would fail alike."""
    return failure.status in (400, 422) and _named_parameter(failure, parameters) is not None


def rejected_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> Change | None:
    """The change that an endpoint's complaint about one of the parameters asks for, if it is one.

    None where the complaint is about the value: a limit is never lifted, a value never replaced in silence.
    """
    if failure.status not in (400, 422) or failure.filter_code:
        return None
    named = _named_parameter(failure, parameters)
    return None if named is None else _change(named, failure.message, parameters)


def _named_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> str | None:
    error = failure.body.get("error", failure.body) if isinstance(failure.body, dict) else None
    param = error.get("param") if isinstance(error, dict) else None
    if isinstance(param, str) and param:
        name = param.split(".")[0]
        return name if name in parameters else None
    text = failure.message
    if not _REJECTS.search(text):
        return None
    # Longest first: max_tokens must not be found inside another parameter's name.
    names = sorted(parameters, key=len, reverse=True)
    return next((name for name in names if re.search(rf"(?<![a-z_]){name}(?![a-z_])", text)), None)


def _change(name: str, message: str, parameters: Mapping[str, JSON]) -> Change | None:
    if name == "max_tokens" and "max_completion_tokens" in message:
        return Change(parameter=name, rename="max_completion_tokens", reason=message)
    if name in ("max_tokens", "max_completion_tokens") or _REJECTS_VALUE.search(message):
        return None
    if name == "response_format" and parameters[name].get("type") == "json_schema":
        return Change(parameter=name, value={"type": "json_object"}, reason=message)
    return Change(parameter=name, reason=message)


def describe_body(body: JSON) -> str:
    """The message in an error body, as short as it can be had."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return _flat(error)[:500]


def _flat(body: JSON) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
