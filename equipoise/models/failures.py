"""Failed attempts of calls, classified by status, error code and message. Pure; knows no HTTP library."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from equipoise.core.errors import printable
from equipoise.core.types import JSON, Usage

TRANSIENT_STATUS = frozenset({408, 409, 429})
"""Statuses below 500 with which the same request may succeed a little later."""
OVERLOAD_STATUS = frozenset({429, 503, 529})
"""Statuses of an endpoint that is overloaded or limits the rate: fewer calls may help."""
UNSUPPORTED_STATUS = frozenset({501, 505})
"""Server errors that are due neither to chance nor to load: the endpoint does not support the request."""
OUTAGE_STATUS = frozenset({408, 409, 429, 502, 503, 504, 529})
"""Statuses of an outage, which say nothing about the request itself, however often they repeat."""
FATAL_STATUS = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 407})
"""Statuses with which every other request would fail, too. Redirects are here if they were not followed."""

MISTAKE_STATUS = frozenset({401, 403, 404, 405})
"""Statuses of a wrong key, model or URL."""

# How providers report that their filter rejected a prompt. In order: OpenAI, Azure and Moonshot (two codes);
# Azure; DashScope (two); Volcano Engine (two); LiteLLM as a proxy for other providers.
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
MOST_SEARCHED = 1000
"""The number of characters that are searched in each text of an error: its subject is at the beginning."""
_DESCRIPTION_FIELDS = ("code", "type", "message", "status_msg", "innererror")
"""Fields of an error in which an endpoint describes the problem; others may quote the request."""
_NO_KEY = re.compile(
    r"invalid_api_key|invalidapikey|(api key|api_key) (is )?(not valid|invalid)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed attempt. `status` is None if no response could be read, 200 if it holds no usable reply.

    `retry_after` is in seconds. `usage` holds the tokens that the endpoint reported nevertheless.
    `is_unreachable`: there was no connection, or it broke. `is_unsent`: no connection could be made, so
    nothing was sent. `is_insecure`: TLS failed. `is_of_proxy`: the proxy failed. `may_be_copy`: the endpoint
    may have sent a copy of another call's answer, as the same one came before on the connection.
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
    may_be_copy: bool = False

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed a little later."""
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
    def may_be_about_request(self) -> bool:
        """Whether the failure is transient, but may also be caused by this request."""
        return self.is_transient and self.status is not None and self.status not in OUTAGE_STATUS

    @property
    def is_out_of_balance(self) -> bool:
        """Whether the endpoint rejected the call because the account has no balance left."""
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
        text = f"{error_field(self.body, 'code')}"[:MOST_SEARCHED] + f" {self.message}"
        return self.status in (400, 422) and bool(_NO_KEY.search(text) or _NO_MODEL.search(text))

    @property
    def is_mistake(self) -> bool:
        """Whether waiting does not help, only another URL, key or model name."""
        if self.is_out_of_balance:
            return False
        return (
            self.is_insecure or self.status in MISTAKE_STATUS or (self.is_fatal and self.status in (400, 422))
        )

    @property
    def names_nothing(self) -> bool:
        """Whether the endpoint has no such path, or no such model."""
        return self.is_mistake and self.status not in (None, 401, 403)

    @property
    def filter_code(self) -> str | None:
        """The code of a rejection by the provider's filter; None for other failures.

        Where the provider sends no code, but a known text, the code is ours.
        """
        if self.status not in (200, 400, 403, 422, 451):
            return None
        if self.status == 200 and not isinstance(self.body, dict):
            # Text under status 200 is a partial answer or a web page, which may only quote such a code.
            return None
        text = _error_text(self.body).lower()
        for code in _FILTER_CODES:
            if code in text:
                return code
        number = str(error_field(self.body, "code") or error_field(self.body, "status_code"))
        return next(
            (code for words, code in _FILTER_TEXTS.items() if words in text),
            number if number in _FILTER_NUMBERS else None,
        )


def error_field(body: JSON, name: str) -> JSON:
    """A field of the error in a body; None if it is missing."""
    error = _error_in(body)
    return error.get(name) if isinstance(error, dict) else None


def _error_in(body: JSON) -> JSON:
    """The value in a body that describes the error, or the body itself. MiniMax's field is base_resp."""
    return body.get("error", body.get("base_resp", body)) if isinstance(body, dict) else body


def _error_text(body: JSON) -> str:
    """The endpoint's own description of an error: its description fields, or all of it if it is a text."""
    error = _error_in(body)
    if not isinstance(error, dict):
        return _as_text(error)[:MOST_SEARCHED]
    return " ".join(
        _as_text(error[name])[:MOST_SEARCHED] for name in _DESCRIPTION_FIELDS if error.get(name) is not None
    )


def provider_headers(body: JSON) -> dict[str, str]:
    """The response headers of the provider behind a gateway, if the error has them, as with OpenRouter."""
    metadata = error_field(body, "metadata")
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    return {str(name): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}


def retry_delay(body: JSON) -> str | None:
    """The wait that an error asks for in its body, such as "34.5s": a google.rpc.RetryInfo, as Gemini's."""
    # Gemini's endpoint for OpenAI's clients wraps the error in a list.
    details = error_field(body[0] if isinstance(body, list) and body else body, "details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and str(detail.get("@type")).endswith("google.rpc.RetryInfo"):
            delay = detail.get("retryDelay")
            return delay if isinstance(delay, str) else None
    return None


def describe_body(body: JSON) -> str:
    """The message in an error body, cut to 500 characters."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return printable(error["message"][:500])[:500]
    return printable(_as_text(error)[:500])[:500]


def _as_text(body: JSON) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
