"""Classifies failed calls by status, error code and message. Pure; knows no HTTP library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from equipoise.core.errors import printable
from equipoise.core.types import JSON, Usage

TRANSIENT_STATUS = frozenset({408, 409, 429})
OVERLOAD_STATUS = frozenset({429, 503, 529})
"""The endpoint is overloaded or limits the rate: fewer calls may help."""
UNSUPPORTED_STATUS = frozenset({501, 505})
"""The endpoint does not support the request at all."""
OUTAGE_STATUS = frozenset({408, 409, 429, 502, 503, 504, 529})
"""Statuses of an outage, which say nothing about the request itself, however often they repeat."""
FATAL_STATUS = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 407})
"""Every other request would fail in the same way. The redirects are those that were not followed."""

# How providers report that their filter rejected a prompt. In order: OpenAI, Azure and Moonshot (two codes);
# Azure; DashScope (two); Volcano Engine (two); LiteLLM in front of any of them.
_FILTER_CODES = (
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "data_inspection_failed",
    "datainspectionfailed",
    "sensitivecontentdetected",
    "riskdetection",
    "contentpolicyviolationerror",
)
_FILTER_TEXTS = {
    "content exists risk": "content_exists_risk",  # DeepSeek
    "considered high risk": "content_filter",  # Moonshot
    "content violates usage guidelines": "usage_guidelines",  # xAI
    "flagged by our content": "content_filter",
    "requires moderation and your input was flagged": "moderation",  # OpenRouter
    "inappropriate content": "data_inspection_failed",  # DashScope's older models
}
FILTER_REASONS = frozenset({"content_filter", "sensitive", "safety", "prohibited_content", "blocklist"})
"""Finish reasons, in lower case, of replies cut by a filter: OpenAI, Zhipu, Google."""
BROKEN_REASONS = frozenset({"insufficient_system_resource", "error", "network_error"})
"""Finish reasons of replies that the endpoint could not finish: DeepSeek, OpenRouter, Zhipu."""
_FILTER_NUMBERS = frozenset({"1301", "1026", "1027"})
"""Numeric filter codes of Zhipu and MiniMax."""

_TOO_LONG = re.compile(
    r"context_length_exceeded|(maximum|max) context (length|window)|context window|exceeds? the context"
    r"|(prompt|input|request|messages?) (is |are )?too long|too many (input )?tokens|range of input length"
    r"|available context size|model token limit|input token count.{0,20} exceeds",
    re.IGNORECASE,
)
_NO_BALANCE = re.compile(
    r"insufficient_quota|exceeded_current_quota|billing_hard_limit|billing_not_active|arrearage"
    r"|insufficient[ _](balance|credits|funds)|credit balance is too low|freetieronly",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|(invalid|unknown|no such) model(?! param)|model not (exist|found)"
    r"|model\W{1,4}\S{1,80}\W{1,4}(does not|doesn't) exist|model\W{1,4}\S{1,80}\W{1,4}(was )?not found",
    re.IGNORECASE,
)
MOST_READ = 1000
"""The number of characters of an error message that are searched: messages begin with their subject."""
_DESCRIBING = ("code", "type", "message", "status_msg", "innererror")
"""Fields of an error in which an endpoint describes the problem."""
_NO_KEY = re.compile(
    r"invalid_api_key|invalidapikey|(api key|api_key) (is )?(not valid|invalid)", re.IGNORECASE
)

_REJECTS = re.compile(
    r"greater than|less than|at most|too (large|high)|not (enabled|available|a valid)|must be (set|between)"
    r"|unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|invalid|extra"
    r"|deprecated|unavailable|incompatible|not (be )?compatible|mutually exclusive|(may|can) only\b"
    r"|only (be )?(accepted|allowed|available|permitted|supported|valid)"
    r"|(can ?not|can't|must not|may not|should not) (both |all )?be\b",
    re.IGNORECASE,
)
"""What messages say that reject a parameter or its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt. `status` is None if the connection itself failed.

    `usage` holds the tokens that the endpoint reported nevertheless. `is_unreachable`: there was no
    connection, or it broke. `is_unsent`: no connection could be made, so nothing was sent. `is_insecure`: TLS
    failed. `is_of_proxy`: the proxy failed. `is_copy`: the answer may be the copy of another call's, since it
    repeats one of the same connection.
    """

    message: str
    status: int | None = None
    body: JSON = None
    retry_after: float | None = None
    usage: Usage | None = field(default=None, compare=False)
    is_unreachable: bool = False
    is_unsent: bool = False
    is_insecure: bool = False
    is_of_proxy: bool = False
    is_copy: bool = False

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed a little later."""
        # The status is 200 if the answer was unusable.
        may_pass = self.status in (None, 200) or self.status in TRANSIENT_STATUS or self._is_server_error
        return may_pass and not self.is_out_of_balance

    @property
    def _is_server_error(self) -> bool:
        return self.status is not None and self.status >= 500

    @property
    def is_overload(self) -> bool:
        """Whether the endpoint rejected the call because it is overloaded or limits the rate."""
        return self.status in OVERLOAD_STATUS and self.is_transient

    @property
    def may_be_overload(self) -> bool:
        """Whether the failure is a server error for which overload is only one of the possible causes."""
        return self._is_server_error and not self.is_overload and self.status not in UNSUPPORTED_STATUS

    @property
    def is_telling(self) -> bool:
        """Whether the failure may be about this request: if it repeats three times, retries will not help."""
        return self.is_transient and self.status is not None and self.status not in OUTAGE_STATUS

    @property
    def is_out_of_balance(self) -> bool:
        """Whether the account has no balance left, whatever the status is."""
        return self.status in (400, 402, 403, 429) and bool(_NO_BALANCE.search(_error_text(self.body)))

    @property
    def is_too_long(self) -> bool:
        """Whether the request does not fit into the model's context."""
        return self.status in (400, 413, 422) and bool(_TOO_LONG.search(_error_text(self.body)))

    @property
    def is_fatal(self) -> bool:
        """Whether every other request would fail in the same way: invalid key, no balance, unknown model."""
        if self.status in FATAL_STATUS or self.is_out_of_balance:
            return True
        text = f"{_error_field(self.body, 'code')}"[:MOST_READ] + f" {self.message}"
        return self.status in (400, 422) and bool(_NO_KEY.search(text) or _NO_MODEL.search(text))

    @property
    def filter_code(self) -> str | None:
        """The provider's code, or ours where it gives none, if its filter rejected the prompt; else None."""
        if self.status not in (200, 400, 403, 422, 451):
            return None
        if self.status == 200 and not isinstance(self.body, dict):
            # A partial answer or a web page may quote such a code without reporting it.
            return None
        text = _error_text(self.body).lower()
        for code in _FILTER_CODES:
            if code in text:
                return code
        number = str(_error_field(self.body, "code") or _error_field(self.body, "status_code"))
        return next(
            (code for words, code in _FILTER_TEXTS.items() if words in text),
            number if number in _FILTER_NUMBERS else None,
        )


def _error_field(body: JSON, name: str) -> JSON:
    error = _error_part(body)
    return error.get(name) if isinstance(error, dict) else None


def _error_part(body: JSON) -> JSON:
    """The part of a body that describes the error; MiniMax has it in base_resp."""
    return body.get("error", body.get("base_resp", body)) if isinstance(body, dict) else body


def _error_text(body: JSON) -> str:
    """The endpoint's own words in an error body. Other fields are ignored, as they may quote the request."""
    error = _error_part(body)
    if not isinstance(error, dict):
        return _flat(error)[:MOST_READ]
    return " ".join(_flat(error[name])[:MOST_READ] for name in _DESCRIBING if error.get(name) is not None)


def passed_on_headers(body: JSON) -> dict[str, str]:
    """The headers of the provider behind a gateway, if errors include them, as OpenRouter's do."""
    metadata = _error_field(body, "metadata")
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    return {str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterChange:
    """A change to a rejected parameter: a new name, a new value, or, if both are None, dropped."""

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
        """A copy of the parameters with the change; without it if the parameter is not among them."""
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
    r"|(less|greater) than|must be (between|in)|[<>]=|out of range|in the range|exceed|negative"
    r"|between\W+[\d.]+\W+and\b|\bbe (above|below|over|under)\b|\bfrom\W+[\d.]+\W+to\b",
    re.IGNORECASE,
)
"""What messages say that reject only the value of a parameter."""


def complains_of_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> bool:
    """Whether the endpoint rejects one of the parameters, so that every call with them would fail."""
    is_about_request = failure.status in (400, 422) and not failure.is_too_long
    return is_about_request and _named_parameter(failure, parameters) is not None


_TOO_MANY_LOGPROBS = re.compile(r"sample logprobs|less than or equal to 5\b", re.IGNORECASE)
"""How endpoints reject the number of top_logprobs without naming the parameter: vLLM, pydantic."""
PREFILL = "prefill"
"""Our own parameter: the beginning of the answer, sent as a final assistant message."""
FEWER_LOGPROBS = 5
"""The number of top_logprobs that every endpoint with log probabilities supports."""
_NO_PREFILL = re.compile(
    r"prefill|(last|final) message|(end|ends|ending) with|must be (a |from the )?.?user|assistant message"
    r"|role.{0,30}assistant|continue_final_message|alternat",
    re.IGNORECASE,
)


def rejected_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> ParameterChange | None:
    """The change with which a rejected call may succeed; None if no parameter was rejected.

    Also None if the endpoint rejects only the value: no other value is tried, except that `top_logprobs`,
    which no user sets, is lowered. An unsupported parameter is dropped, even if the user has set it, but a
    limit on tokens is at most renamed, and a `response_format` with a JSON schema becomes `json_object`.
    """
    if failure.status not in (400, 422) or failure.filter_code or failure.is_too_long:
        return None
    named = _named_parameter(failure, parameters)
    if "top_logprobs" in parameters and _TOO_MANY_LOGPROBS.search(failure.message):
        named = "top_logprobs"
    if named is None and PREFILL in parameters and _NO_PREFILL.search(failure.message):
        named = PREFILL
    return None if named is None else _change(named, failure.message, parameters)


DECLINING_STATUS = frozenset({400, 404, 405, 422, 501})
"""Statuses with which endpoints decline a kind of request that they do not support."""


def _named_parameter(failure: Failure, parameters: Mapping[str, JSON]) -> str | None:
    param = _error_field(failure.body, "param")
    if isinstance(param, str) and param:
        name = param.split(".")[0]
        return name if name in parameters else None
    text = failure.message
    if not _REJECTS.search(text):
        return None
    # Longest first: max_tokens must not be found inside another parameter's name.
    names = sorted(parameters, key=len, reverse=True)
    return next((name for name in names if re.search(rf"(?<![a-z_]){name}(?![a-z_])", text)), None)


def _change(name: str, message: str, parameters: Mapping[str, JSON]) -> ParameterChange | None:
    if name == "max_tokens" and _may_be_renamed(message):
        return ParameterChange(parameter=name, rename="max_completion_tokens", reason=message)
    if name == "top_logprobs" and parameters[name] > FEWER_LOGPROBS:
        return ParameterChange(parameter=name, value=FEWER_LOGPROBS, reason=message)
    if name in ("max_tokens", "max_completion_tokens") or _REJECTS_VALUE.search(message):
        return None
    if name == "response_format" and parameters[name].get("type") == "json_schema":
        return ParameterChange(parameter=name, value={"type": "json_object"}, reason=message)
    return ParameterChange(parameter=name, reason=message)


_UNKNOWN = re.compile(
    r"un(supported|known|recogni[sz]ed|expected)(?! value)|(does not|doesn't) (support|accept|allow)"
    r"|not (be )?(supported|recogni[sz]ed|permitted|allowed)|cannot find|extra",
    re.IGNORECASE,
)
"""What messages say of a parameter that the endpoint does not know."""


def _may_be_renamed(message: str) -> bool:
    """Whether the endpoint may accept max_completion_tokens instead of max_tokens, named or not."""
    is_unknown = _UNKNOWN.search(message) and not _REJECTS_VALUE.search(message)
    return "max_completion_tokens" in message or bool(is_unknown)


def describe_body(body: JSON) -> str:
    """The message in an error body, cut to 500 characters."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return printable(error["message"][:500])[:500]
    return printable(_flat(error)[:500])[:500]


def _flat(body: JSON) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
