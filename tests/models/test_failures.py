"""What a failed call means, and how rejected parameters are changed."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from equipoise.core.errors import printable
from equipoise.models.failures import Failure, describe_body
from equipoise.models.parameter_changes import PREFILL, change_for_rejection, rejects_parameter

SCHEMA = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}
OBJECT = {"type": "json_object"}
SENT: dict[str, Any] = {
    **{"temperature": 0.0, "top_p": 0.9, "top_k": 40, "max_tokens": 100, "response_format": SCHEMA}
}


def said(message: str, code: Any = None, **fields: Any) -> dict[str, Any]:
    """An error in a provider's words: what is inside "error" where there is one."""
    return {"message": message, "code": code, **fields}


# In the words of OpenAI, vLLM, Anthropic, Mistral, DashScope, Google, and others.
TOO_LONG = [
    said("This model's maximum context length is 8192 tokens.", "context_length_exceeded", param="messages"),
    said("Requested token count exceeds the model's maximum context length of 131072 tokens."),
    said("prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error"),
    said("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", "3051"),
    said("Range of input length should be [1, 30720]", "invalid_parameter_error"),
    said("too many input tokens"),
]
NO_BALANCE = [
    said("You exceeded your current quota.", "insufficient_quota", type="insufficient_quota"),
    said("Insufficient Balance", "invalid_request_error", type="unknown_error"),
    said("Your credit balance is too low to access the API.", type="invalid_request_error"),
    said("Your account is suspended", type="exceeded_current_quota_error"),
    said("Access denied, please make sure your account is in good standing.", "Arrearage"),
    said("The free tier of the model has been exhausted.", "AllocationQuota.FreeTierOnly"),
    said("Billing hard limit has been reached", "billing_hard_limit_reached"),
    said("Insufficient credits. Add more using https://openrouter.ai/settings/credits", 402),
]
NO_MODEL_OR_KEY = [
    said("The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"),
    said("The model `mistral-huge` does not exist."),
    said("Invalid model: mistral-huge", "1500", type="invalid_model"),
    said("Model Not Exist", type="invalid_request_error"),
    said("model 'llama9:8b' not found", type="api_error"),
    said("no such model: x"),
    said("Unknown Model, please check the model code.", "1211"),
    said("API key not valid. Please pass a valid API key.", 400, status="INVALID_ARGUMENT"),
    said("No.", "invalid_api_key"),
    said("Invalid API-key provided.", "InvalidApiKey"),
]
AZURE = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}}
AZURE_FILTER = said("The response was filtered.", "content_filter", param="prompt", innererror=AZURE)
FILTERS: dict[str, tuple[str, Any]] = {
    "openai": ("content_policy_violation", said("Rejected.", "content_policy_violation", param=None)),
    "azure": ("content_filter", AZURE_FILTER),
    "azure-innererror": ("content_filter", said("Filtered.", "BadRequest", innererror=AZURE)),
    "deepseek": ("content_exists_risk", said("Content Exists Risk", "invalid_request_error")),
    "dashscope": ("data_inspection_failed", said("No.", "data_inspection_failed")),
    "dashscope-older": ("data_inspection_failed", said("Input data may contain inappropriate content.")),
    "dashscope-native": ("datainspectionfailed", said("Input data may.", "DataInspectionFailed")),
    "moonshot": ("content_filter", said("The request was considered high risk", type="content_filter")),
    "xai": ("usage_guidelines", {"code": "No.", "error": "Content violates usage guidelines. Failed check"}),
    "zhipu": ("1301", said("系统检测到输入", "1301", contentFilter=[{"level": 1, "role": "user"}])),
    "zhipu-number": ("1301", said("x", 1301)),
    "minimax": ("1026", {"base_resp": {"status_code": 1026, "status_msg": "x"}}),
    "openrouter": ("moderation", said("It requires moderation and your input was flagged", 403)),
    "flagged": ("content_filter", said("Your prompt was flagged by our content policy")),
    "volcano": ("sensitivecontentdetected", said("x", "InputTextSensitiveContentDetected", param="")),
    "volcano-risk": ("riskdetection", said("It may be against the rules.", "InputTextRiskDetection")),
    "litellm": ("contentpolicyviolationerror", said("litellm.ContentPolicyViolationError: No.", "400")),
    "wrapped": ("content_filter", {"error": AZURE_FILTER}),
    "text": ("content_exists_risk", "<html>Content Exists Risk</html>"),
}


def failure(body: Any, status: int | None = 400) -> Failure:
    """A failure as the client makes it."""
    return Failure(message=describe_body(body), status=status, body=body)


# Statuses.

PASSES, ALL_FAIL, ONE_FAILS = "passes", "all fail", "one fails"
CLASSES: dict[int | None, str] = {
    **dict.fromkeys((None, 200, 408, 409, 429, 500, 501, 502, 503, 504, 520, 529), PASSES),
    **dict.fromkeys((401, 402, 403, 404), ALL_FAIL),
    **dict.fromkeys((400, 405, 410, 413, 415, 422, 451), ONE_FAILS),
}


def test_the_status_says_what_a_failure_means() -> None:
    """Whether it may pass, hits every call, is about one request, and whether fewer calls may help."""
    failures = {status: failure("no", status) for status in CLASSES}
    meant = {(True, False): PASSES, (False, True): ALL_FAIL, (False, False): ONE_FAILS}
    assert {status: meant[item.is_transient, item.is_fatal] for status, item in failures.items()} == CLASSES
    assert {status for status, item in failures.items() if item.is_overload} == {429, 503, 529}
    others = {500, 502, 504, 520}
    assert {status for status, item in failures.items() if item.may_be_overload} == others
    assert {status for status, item in failures.items() if item.may_be_about_request} == {200, 500, 501, 520}


# What an error says.


def test_an_empty_account_ends_the_session() -> None:
    """No wait helps, whatever the status; a quota that fills up again is waited for."""
    for status, body in product((400, 402, 403, 429), NO_BALANCE):
        error = failure(body, status)
        meaning = (error.is_out_of_balance, error.is_transient, error.is_fatal, error.is_overload)
        assert meaning == (True, False, True, False), (status, body)
    for status, body in product((None, 200, 500, 503), NO_BALANCE):
        assert (failure(body, status).is_out_of_balance, failure(body, status).is_transient) == (False, True)
    for message in (
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000",
        "You exceeded your current quota, please check your plan and billing details.",
        "Your account reached max request concurrency, please try again after 1 seconds",
    ):
        busy = failure({"message": message, "code": 429, "status": "RESOURCE_EXHAUSTED"}, 429)
        assert (busy.is_out_of_balance, busy.is_transient, busy.is_overload) == (False, True, True), message


def test_an_unknown_model_or_key_ends_the_session_whatever_the_status() -> None:
    """Many say with 400 what others say with 401 or 404; an outage that names either ends nothing."""
    for body in NO_MODEL_OR_KEY:
        for status in (400, 422):
            assert failure(body, status).is_fatal, body
            assert failure({"error": body}, status).is_fatal, body
            assert not failure(body, status).is_transient, body
        assert (failure(body, 503).is_fatal, failure(body, 503).is_transient) == (False, True), body
    for message in (
        "Invalid value for 'temperature' of model gpt-4.",
        "This model does not support response_format.",
        "The model produced invalid content.",
        "messages: field required",
    ):
        assert not failure(said(message)).is_fatal, message


def test_a_request_that_does_not_fit_is_known() -> None:
    """Providers say in many ways that a context is too small; it concerns one request, not the settings."""
    sent = {**SENT, "messages": []}
    for status, body in product((400, 413, 422), TOO_LONG):
        error = failure(body, status)
        assert (error.is_too_long, error.is_fatal) == (True, False), body
        assert not rejects_parameter(error, sent), body
        assert change_for_rejection(error, sent) is None, body
    for status, body in product((None, 200, 404, 429, 500), TOO_LONG):
        assert not failure(body, status).is_too_long, (status, body)
    for body in (
        {"message": "max_tokens is too large: 100000.", "param": "max_tokens"},
        {"message": "Unsupported parameter: 'max_tokens'."},
        "Bad Request",
        None,
    ):
        assert not failure(body).is_too_long, body


# Content filters.

PASSED = '{"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]'


def test_a_filter_is_known_by_its_code(subtests: pytest.Subtests) -> None:
    """And never taken for a rejected parameter; under another status it is an outage or a refused key."""
    for name, (code, body) in FILTERS.items():
        with subtests.test(name):
            # A page under status 200 is half an answer, or none: what it quotes is no word on this request.
            codes = {status: failure(body, status).filter_code for status in (200, 400, 403, 422, 451)}
            assert codes == dict.fromkeys(codes, code) | ({200: None} if isinstance(body, str) else {})
            assert {failure(body, status).filter_code for status in (None, 401, 404, 429, 500)} == {None}
            named = {**body, "param": "temperature"} if isinstance(body, dict) else f"{body} invalid top_p"
            assert [change_for_rejection(failure(item), SENT) for item in (body, named)] == [None, None]


def test_other_answers_are_no_filter() -> None:
    """Nor is one that cannot be used, for what it quotes, nor a fault of the request."""
    unusable = (PASSED, PASSED[:60], "<html>content_filter</html>", json.loads(PASSED + "}"))
    for body in (*unusable, {"choices": [], "note": "content_filter"}, ["content_filter"], "content_filter"):
        error = failure(body, 200)
        assert (error.filter_code, error.is_transient) == (None, True), body
    for body in (
        *(None, "", "Bad Request", ["a", "list"]),
        said("Invalid value for 'temperature'.", param="temperature"),
        TOO_LONG[0],
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs"}]},
    ):
        assert failure(body).filter_code is None, body


# Rejected parameters.

EXTRA = {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra"}]}
CHANGES: dict[str, tuple[Any, ...]] = {
    "max_tokens renamed to max_completion_tokens": (
        said("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", param="max_tokens"),
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        'Unknown name "max_tokens": Cannot find field.',
        "max_tokens: Extra inputs are not permitted",
        "Unrecognized request argument supplied: max_tokens",
        "This model does not support max_tokens.",
    ),
    "temperature dropped": (
        said("Unsupported value: it does not support 0 with this model.", param="temperature"),
        "`temperature` may only be set to 1 when thinking is enabled.",
        {"error": said("`temperature` is deprecated for this model.")},
        # Of two that exclude each other: it is the benchmark's own where the user has not set it.
        "`temperature` and `top_p` cannot both be specified for this model.",
        "temperature and top_p are mutually exclusive",
        "top_p and temperature must not be used together",
    ),
    "response_format replaced by json_object": (
        said("Bad value", param="response_format.json_schema.schema"),
        "This response_format type is unavailable now",
        "response_format is not compatible with this model",
        "response_format is incompatible with reasoning",
        "response_format: json_schema is only supported by newer models",
    ),
    "top_k dropped": (
        *(said("Unrecognized request argument supplied: top_k", param=None), EXTRA),
        *("top_k can only be used with sampling.", "top_k can't be set when streaming is off"),
    ),
    "top_p dropped": (
        *("top_p: Extra inputs are not permitted", "model does not support parameters: ['top_p']"),
    ),
}


def change_of(
    body: Any, sent: dict[str, Any] = SENT, param: str | None = None, status: int = 400
) -> str | None:
    """Which parameter a complaint makes us change, and how, in words."""
    complaint = said(body, param=param) if isinstance(body, str) and param else body
    change = change_for_rejection(failure(complaint, status), sent)
    return None if change is None else f"{change.parameter} {change.action}"


def test_a_rejected_parameter_is_changed(subtests: pytest.Subtests) -> None:
    """Wherever the error names it: renamed, replaced or dropped; a limit is never dropped."""
    for status, (action, bodies) in product((400, 422), CHANGES.items()):
        for body in bodies:
            with subtests.test(action, body=body, status=status):
                assert change_of(body, status=status) == action
    for text in CHANGES["max_tokens renamed to max_completion_tokens"][1:]:
        other = text.replace("max_tokens", "max_completion_tokens")
        assert change_of(other, {"max_completion_tokens": 7}) is None, other
    plain = {"logprobs": True, "top_logprobs": 20, "response_format": OBJECT}
    assert change_of("This response_format type is unavailable now", plain) == "response_format dropped"
    # The probabilities are not to be had then; the verdict in JSON is.
    assert change_of("json mode cannot be combined with logprobs", plain) == "logprobs dropped"


def test_a_change_is_made_in_a_copy() -> None:
    """It is nothing where the parameter is not there; its reason is what the endpoint said."""
    sent = {"max_tokens": 7, "top_p": 1, "response_format": SCHEMA}
    changed: dict[str, dict[str, Any]] = {
        "Unknown parameter: max_tokens": {"max_completion_tokens": 7, "top_p": 1, "response_format": SCHEMA},
        "Unknown parameter: top_p": {"max_tokens": 7, "response_format": SCHEMA},
        "Unknown parameter: response_format": {"max_tokens": 7, "top_p": 1, "response_format": OBJECT},
    }
    for message, expected in changed.items():
        change = change_for_rejection(failure(message), sent)
        assert change is not None
        assert (change.apply(sent), change.apply({"top_k": 1}), change.reason) == (
            *(expected, {"top_k": 1}),
            message,
        )
    assert sent == {"max_tokens": 7, "top_p": 1, "response_format": SCHEMA}


def test_nothing_is_dropped_on_a_guess() -> None:
    """Where it is not named as rejected, nor under a status that rejects no request."""
    long = "This model's maximum context length is 8192 tokens. Please reduce the messages or max_tokens."
    for body in (
        said("Invalid value for 'messages'.", param="messages"),
        said("Unsupported parameter: 'logprobs'.", param="logprobs"),
        *("Your account is not allowed to do that.", "invalid request", "", None),
        "Please reduce max_tokens or the length of the messages.",
        "The messages cannot contain that; the temperature was 0.",
        "Only one request at a time may have this temperature.",
        *("unsupported max_completion_tokens", "invalid 'my_max_tokens'"),
        said(long, "context_length_exceeded", param="messages"),
        said(long, "context_length_exceeded"),
    ):
        assert change_of(body) is None, body
    assert (
        change_of("Unsupported parameter: 'top_p_min'", {"top_p": 1, "top_p_min": 9}) == "top_p_min dropped"
    )
    for status in (None, 200, 401, 403, 404, 429, 500):
        error = failure(said("Unsupported parameter: temperature", param="temperature"), status)
        assert change_for_rejection(error, SENT) is None, status
    assert change_of("Unsupported parameter: temperature", {"top_p": 1}) is None


def test_a_users_value_is_never_dropped(subtests: pytest.Subtests) -> None:
    """A limit is not lifted and a value out of range is not replaced: that is for the user to mend."""
    for has_field in (True, False):
        for name, message in (
            ("max_tokens", "max_tokens is too large: 100000. This model supports at most 16384."),
            ("max_completion_tokens", "Unsupported parameter: 'max_completion_tokens'."),
            ("max_tokens", "Unsupported value: 'max_tokens' is too large, more than 16384."),
            ("temperature", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2."),
            ("top_p", "top_p must be between 0 and 1"),
            ("top_p", "top_p may only be set to a value between 0 and 1."),
            ("top_p", "top_p can only be from 0 to 1"),
            ("temperature", "temperature cannot be set to a value that exceeds 2"),
            ("temperature", "temperature cannot be above 2"),
            ("temperature", "temperature must not be negative"),
            ("temperature", "temperature may only be in the range [0, 2]"),
            ("max_tokens", "max_tokens cannot be larger for this model"),
        ):
            with subtests.test(message, has_field=has_field):
                complaint = failure(said(message, "invalid_value", param=name if has_field else None))
                assert change_for_rejection(complaint, {name: 1}) is None
                assert rejects_parameter(complaint, {name: 1})


# Prefill and probabilities.

PREFILL_REJECTIONS = {
    "anthropic": "This model does not support assistant message prefill. It must end with a user message.",
    "mistral": "Expected last role User or Tool (or Assistant with prefix True) but got assistant",
    "vllm": "Cannot set `add_generation_prompt` to True when the last message is from the assistant.",
    "vllm_template": "Conversation roles must alternate user/assistant/user/assistant/...",
    "openai": "Invalid value: 'assistant'. The last message must be from the user.",
}
LABEL: dict[str, Any] = {"logprobs": True, "top_logprobs": 20, PREFILL: "(", "max_tokens": 16}


def test_a_rejected_prefill_is_dropped(subtests: pytest.Subtests) -> None:
    """However the endpoint says so; without a prefill the complaint is about something else."""
    for name, message in PREFILL_REJECTIONS.items():
        with subtests.test(name):
            for param, status in product((None, "messages", "messages.2.role"), (400, 422)):
                assert change_of(message, LABEL, param, status) == "prefill dropped"
            assert change_of(message, {"logprobs": True}) is None
            assert change_of(message, LABEL, status=500) is None
    renamed = "max_tokens renamed to max_completion_tokens"
    assert change_of("Unsupported parameter: 'max_tokens' with an assistant message", LABEL) == renamed


def test_probabilities_that_are_not_given_are_asked_for_in_steps(subtests: pytest.Subtests) -> None:
    """Twenty of the likeliest tokens become five, which all give that give any; five are dropped."""
    fewer, dropped = "top_logprobs replaced by 5", "logprobs dropped"
    for message, param, change in (
        ("Invalid value for 'top_logprobs': must be less than or equal to 5.", "top_logprobs", fewer),
        ("top_logprobs is invalid: at most 8", None, fewer),
        ("Invalid top_logprobs: must be between 0 and 5", None, fewer),
        ("Unsupported parameter: 'top_logprobs'", None, fewer),
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", None, fewer),
        ("Requested top_logprobs of 20, which is greater than max allowed: 5", None, fewer),
        ("top_logprobs: Input should be less than or equal to 5", None, fewer),
        ("logprobs are not supported with this model.", None, dropped),
        ("You are not allowed to request logprobs from this model", None, dropped),
        ("This is not to be had.", "logprobs", dropped),
        ("Unrecognized request argument supplied: logprobs", None, dropped),
    ):
        with subtests.test(message):
            assert change_of(message, LABEL, param) == change
    alone = {name: value for name, value in LABEL.items() if name != "logprobs"}
    assert change_of("when using `top_logprobs`, `logprobs` must be set to true.", alone) is not None
    for few in (5, 1):
        sent = {**LABEL, "top_logprobs": few}
        assert change_of("Unsupported parameter: 'top_logprobs'", sent) == "top_logprobs dropped"
        assert change_of("Invalid top_logprobs: must be between 0 and 0", sent) is None


# Messages.


def test_an_error_body_is_put_in_few_words(subtests: pytest.Subtests) -> None:
    """The message where there is one, else the body; of a page only the beginning."""
    for body, text in (
        ({"message": "No."}, "No."),
        ({"error": {"message": "No."}}, "No."),
        ({"error": "No."}, "No."),
        ("No.", "No."),
        ({"detail": "非"}, '{"detail": "非"}'),
        ({"message": 5}, '{"message": 5}'),
        (None, "null"),
        ("x" * 10_000, "x" * 500),
        ({"message": "x" * 10_000}, "x" * 500),
    ):
        with subtests.test(text=text[:40]):
            assert describe_body(body) == text


def test_an_error_cannot_command_the_terminal(subtests: pytest.Subtests) -> None:
    """What a terminal might obey is shown as an escape, and other scripts as they are."""
    for what, (text, shown) in {
        "colour": ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        "lines": ("two\r\nlines", r"two\r\nlines"),
        "bidi": ("\u202eabc", r"\u202eabc"),
        "surrogate": ("cut \ud83d here", r"cut \ud83d here"),
        "C1": ("\x9b2J", r"\x9b2J"),
        "commands to CI": ("::error::x", r"\x3a:error::x"),
        "behind spaces": ("  ::error::x", r"  \x3a:error::x"),
        "behind a tab": ("\t::error::x", r"\t::error::x"),
        "older commands": ("a ##[error]x", r"a #\x23[error]x"),
        "commands to Azure": ("##vso[task.complete]x", r"#\x23vso[task.complete]x"),
        "scripts": ("香港 é 😀", "香港 é 😀"),
        "no commands": ("a::b, #1 ## [x]", "a::b, #1 ## [x]"),
    }.items():
        with subtests.test(what):
            assert printable(text) == printable(shown) == shown
            assert describe_body({"message": text}) == describe_body(text) == shown
