"""What a failed call means, and how rejected parameters are changed."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from equipoise.core.errors import printable
from equipoise.models.failures import Failure, describe_body, provider_headers
from equipoise.models.parameter_changes import (
    FEWER_LOGPROBS,
    PREFILL,
    ParameterChange,
    change_for_rejection,
    rejects_parameter,
)

SCHEMA = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}
OBJECT = {"type": "json_object"}
SENT: dict[str, Any] = {
    "temperature": 0.0,
    "top_p": 0.9,
    "top_k": 40,
    "max_tokens": 100,
    "response_format": SCHEMA,
}

# Bodies as providers send them; the openai library hands on what is inside "error" where there is one.
OPENAI_FILTER = {
    "message": "Your request was rejected as a result of our safety system.",
    "type": "invalid_request_error",
    "param": None,
    "code": "content_policy_violation",
}
AZURE_FILTER = {
    "message": "The response was filtered: the prompt triggered Azure OpenAI's content management policy.",
    "type": None,
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
    "innererror": {
        "code": "ResponsibleAIPolicyViolation",
        "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
    },
}
AZURE_INNER_ONLY = {
    "message": "The prompt was filtered.",
    "code": "BadRequest",
    "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
}
DEEPSEEK_FILTER = {
    "message": "Content Exists Risk",
    "type": "invalid_request_error",
    "param": None,
    "code": "invalid_request_error",
}
DASHSCOPE_FILTER = {
    "code": "data_inspection_failed",
    "param": None,
    "message": "Input data may contain inappropriate content.",
    "type": "data_inspection_failed",
}
DASHSCOPE_NATIVE = {
    "code": "DataInspectionFailed",
    "message": "Input data may contain inappropriate content.",
    "request_id": "8f2a",
}
MOONSHOT_FILTER = {
    "message": "The request was rejected because it was considered high risk",
    "type": "content_filter",
}
XAI_FILTER = {
    "code": "The caller does not have permission to execute the specified operation",
    "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
}
ZHIPU_FILTER = {"contentFilter": [{"level": 1, "role": "user"}], "code": "1301", "message": "系统检测到输入"}
VOLCANO_FILTER = {
    "code": "InputTextSensitiveContentDetected",
    "message": "The request failed because the input text may contain sensitive information.",
    "param": "",
    "type": "BadRequest",
}
VOLCANO_RISK = {
    "code": "InputTextRiskDetection",
    "message": "The request failed because the input text may be against the rules.",
    "type": "BadRequest",
}
LITELLM_FILTER = {
    "message": "litellm.ContentPolicyViolationError: The prompt was rejected.",
    "type": None,
    "param": None,
    "code": "400",
}

# Other rejections, in the words of OpenAI, vLLM, Anthropic, Mistral, DashScope, Google, and others.
TOO_LONG = [
    {
        "message": "This model's maximum context length is 8192 tokens. Your messages have 9000.",
        "code": "context_length_exceeded",
        "param": "messages",
    },
    {"message": "Requested token count exceeds the model's maximum context length of 131072 tokens."},
    {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
    {
        "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        "code": "3051",
    },
    {"message": "Range of input length should be [1, 30720]", "code": "invalid_parameter_error"},
    {"message": "too many input tokens"},
]
NO_BALANCE = [
    {
        "message": "You exceeded your current quota.",
        "type": "insufficient_quota",
        "code": "insufficient_quota",
    },
    {"message": "Insufficient Balance", "type": "unknown_error", "code": "invalid_request_error"},
    {"message": "Your credit balance is too low to access the API.", "type": "invalid_request_error"},
    {"message": "Your account is suspended", "type": "exceeded_current_quota_error"},
    {"message": "Access denied, please make sure your account is in good standing.", "code": "Arrearage"},
    {"message": "The free tier of the model has been exhausted.", "code": "AllocationQuota.FreeTierOnly"},
    {"message": "Billing hard limit has been reached", "code": "billing_hard_limit_reached"},
    {"message": "Insufficient credits. Add more using https://openrouter.ai/settings/credits", "code": 402},
]
NO_MODEL = [
    {
        "message": "The model `gpt-9` does not exist or you do not have access to it.",
        "code": "model_not_found",
    },
    {"message": "The model `mistral-huge` does not exist."},
    {"message": "Invalid model: mistral-huge", "type": "invalid_model", "code": "1500"},
    {"message": "Model Not Exist", "type": "invalid_request_error"},
    {"message": "model 'llama9:8b' not found", "type": "api_error"},
    {"message": "no such model: x"},
    {"message": "Unknown Model, please check the model code.", "code": "1211"},
]
NO_KEY = [
    {"message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "code": 400},
    {"message": "No.", "code": "invalid_api_key"},
    {"message": "Invalid API-key provided.", "code": "InvalidApiKey"},
]
FILTERS: dict[str, tuple[Any, str]] = {
    "openai": (OPENAI_FILTER, "content_policy_violation"),
    "azure": (AZURE_FILTER, "content_filter"),
    "azure-innererror": (AZURE_INNER_ONLY, "content_filter"),
    "deepseek": (DEEPSEEK_FILTER, "content_exists_risk"),
    "dashscope": (DASHSCOPE_FILTER, "data_inspection_failed"),
    "dashscope-native": (DASHSCOPE_NATIVE, "datainspectionfailed"),
    "moonshot": (MOONSHOT_FILTER, "content_filter"),
    "xai": (XAI_FILTER, "usage_guidelines"),
    "zhipu": (ZHIPU_FILTER, "1301"),
    "zhipu-number": ({"code": 1301, "message": "x"}, "1301"),
    "volcano": (VOLCANO_FILTER, "sensitivecontentdetected"),
    "volcano-risk": (VOLCANO_RISK, "riskdetection"),
    "litellm": (LITELLM_FILTER, "contentpolicyviolationerror"),
    "wrapped": ({"error": AZURE_FILTER}, "content_filter"),
    "text": ("<html>Content Exists Risk</html>", "content_exists_risk"),
}


def failure(body: Any, status: int | None = 400) -> Failure:
    """A failure as the client makes it."""
    return Failure(message=describe_body(body), status=status, body=body)


def openai_error(message: str, param: str | None = None, code: str | None = None) -> Failure:
    """A rejected request in OpenAI's words."""
    return failure({"message": message, "type": "invalid_request_error", "param": param, "code": code})


# Statuses.

PASSES, ALL_FAIL, ONE_FAILS = "passes", "all fail", "one fails"
CLASSES: dict[int | None, str] = {
    **dict.fromkeys((None, 200, 408, 409, 429, 500, 501, 502, 503, 504, 520, 529), PASSES),
    **dict.fromkeys((401, 402, 403, 404), ALL_FAIL),
    **dict.fromkeys((400, 405, 410, 413, 415, 422, 451), ONE_FAILS),
}


def test_the_status_says_what_a_failure_means() -> None:
    """Whether it may pass, hits every call or concerns one request; whether fewer calls may help; whether it
    may be what this request always gets.
    """
    found = {status: failure("no", status) for status in CLASSES}
    meant = {(True, False): PASSES, (False, True): ALL_FAIL, (False, False): ONE_FAILS}
    assert {status: meant[item.is_transient, item.is_fatal] for status, item in found.items()} == CLASSES
    assert {status for status, item in found.items() if item.is_overload} == {429, 503, 529}
    others = {500, 502, 504, 520}
    assert {status for status, item in found.items() if item.may_be_overload} == others
    assert {status for status, item in found.items() if item.may_be_about_request} == {200, 500, 501, 520}


# What an error says.


def test_an_empty_account_ends_the_session() -> None:
    """Where nothing is left to spend no wait helps, whatever the status: it is no overload either.

    But only an endpoint that refuses the call itself says so; a quota that fills up again is waited for.
    """
    for status, body in product((400, 402, 403, 429), NO_BALANCE):
        found = failure(body, status)
        said = (found.is_out_of_balance, found.is_transient, found.is_fatal, found.is_overload)
        assert said == (True, False, True, False), (status, body)
    for status, body in product((None, 200, 500, 503), NO_BALANCE):
        assert (failure(body, status).is_out_of_balance, failure(body, status).is_transient) == (False, True)
    for message in (
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000",
        "You exceeded your current quota, please check your plan and billing details.",
        "Your account reached max request concurrency, please try again after 1 seconds",
    ):
        found = failure({"message": message, "code": 429, "status": "RESOURCE_EXHAUSTED"}, 429)
        said = (found.is_out_of_balance, found.is_transient, found.is_overload)
        assert said == (False, True, True), message


def test_an_unknown_model_or_key_ends_the_session_whatever_the_status() -> None:
    """Many say with 400 what others say with 401 or 404; an outage that names either ends nothing."""
    for body in (*NO_MODEL, *NO_KEY):
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
        assert not openai_error(message).is_fatal, message


def test_a_request_that_does_not_fit_is_known() -> None:
    """Providers say in many ways that a context is too small; it concerns one request, not the settings."""
    sent = {**SENT, "messages": []}
    for status, body in product((400, 413, 422), TOO_LONG):
        found = failure(body, status)
        assert (found.is_too_long, found.is_fatal) == (True, False), body
        assert not rejects_parameter(found, sent), body
        assert change_for_rejection(found, sent) is None, body
    for status, body in product((None, 200, 404, 429, 500), TOO_LONG):
        assert not failure(body, status).is_too_long, (status, body)
    for body in (
        {"message": "max_tokens is too large: 100000.", "param": "max_tokens"},
        {"message": "Unsupported parameter: 'max_tokens'."},
        "Bad Request",
        None,
    ):
        assert not failure(body).is_too_long, body


def test_headers_that_a_gateway_passes_on_are_found(subtests: pytest.Subtests) -> None:
    """A provider's own wish to be left alone stands in the gateway's error; anything else is no headers."""
    headers = {"X-RateLimit-Reset": 1741305600000, "Retry-After": "5"}
    for what, (body, found) in {
        "openrouter": (
            {"message": "busy", "metadata": {"headers": headers}},
            {name: str(value) for name, value in headers.items()},
        ),
        "wrapped": ({"error": {"metadata": {"headers": {"a": None}}}}, {"a": "None"}),
        "list": ({"message": "busy", "metadata": {"headers": ["a"]}}, {}),
        "text": ({"message": "busy", "metadata": "headers"}, {}),
        "none": ({"message": "busy"}, {}),
        "no-object": ("headers", {}),
        "no-body": (None, {}),
    }.items():
        with subtests.test(what):
            assert provider_headers(body) == found


# Content filters.

PASSED = '{"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]'


def test_a_filter_is_known_by_its_code(subtests: pytest.Subtests) -> None:
    """Each provider's way of saying that its filter rejected the prompt is understood, and never taken for a
    rejected parameter; under another status the same words are an outage or a refused key.
    """
    for name, (body, code) in FILTERS.items():
        with subtests.test(name):
            # A page under status 200 is half an answer, or none: what it quotes is no word on this request.
            codes = {status: failure(body, status).filter_code for status in (200, 400, 403, 422, 451)}
            assert codes == dict.fromkeys(codes, code) | ({200: None} if isinstance(body, str) else {})
            assert {failure(body, status).filter_code for status in (None, 401, 404, 429, 500)} == {None}
            told = {**body, "param": "temperature"} if isinstance(body, dict) else f"{body} invalid top_p"
            assert [change_for_rejection(failure(item), SENT) for item in (body, told)] == [None, None]


def test_other_answers_are_no_filter() -> None:
    """Nor is an answer that cannot be used, for what it quotes: Azure tells with every answer what its filter
    found; nor a fault of the request.
    """
    unusable = (PASSED, PASSED[:60], "<html>content_filter</html>", json.loads(PASSED + "}"))
    for body in (*unusable, {"choices": [], "note": "content_filter"}, ["content_filter"], "content_filter"):
        found = failure(body, 200)
        assert (found.filter_code, found.is_transient) == (None, True), body
    for body in (
        *(None, "", "Bad Request", ["a", "list"]),
        {"message": "Invalid value for 'temperature'.", "param": "temperature", "code": None},
        {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"},
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs"}]},
    ):
        assert failure(body).filter_code is None, body


# Rejected parameters.


def test_openai_renames_max_tokens() -> None:
    """Where the endpoint wants max_completion_tokens, the limit goes out under that name."""
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    change = change_for_rejection(openai_error(message, "max_tokens", "unsupported_parameter"), SENT)
    assert change == ParameterChange(parameter="max_tokens", rename="max_completion_tokens", reason=message)
    assert change.action == "renamed to max_completion_tokens"
    assert change.apply({"max_tokens": 7, "top_p": 1}) == {"max_completion_tokens": 7, "top_p": 1}


def test_max_tokens_has_another_name_where_none_is_told(subtests: pytest.Subtests) -> None:
    """An endpoint that does not know it may know max_completion_tokens; that one has no further name."""
    for message in (
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        'Unknown name "max_tokens": Cannot find field.',
        "max_tokens: Extra inputs are not permitted",
        "Unrecognized request argument supplied: max_tokens",
        "This model does not support max_tokens.",
    ):
        with subtests.test(message):
            change = change_for_rejection(openai_error(message, "max_tokens", None), {"max_tokens": 7})
            assert change == ParameterChange(
                parameter="max_tokens", rename="max_completion_tokens", reason=message
            )
            other = openai_error(message.replace("max_tokens", "max_completion_tokens"), None, None)
            assert change_for_rejection(other, {"max_completion_tokens": 7}) is None


def test_an_unsupported_temperature_is_dropped() -> None:
    """A value that the model does not take is left to the model's default."""
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    change = change_for_rejection(openai_error(message, "temperature", "unsupported_value"), SENT)
    assert change == ParameterChange(parameter="temperature", reason=message)
    assert change.action == "dropped"
    assert change.apply({"temperature": 0, "top_p": 1}) == {"top_p": 1}


def test_a_rejected_schema_becomes_a_plain_object_and_then_nothing() -> None:
    """response_format goes from json_schema to json_object, and is dropped where that is rejected too."""
    refusal = openai_error("This response_format type is unavailable now")
    first = change_for_rejection(refusal, SENT)
    assert first is not None
    assert (first.parameter, first.value, first.action) == (
        "response_format",
        OBJECT,
        "replaced by json_object",
    )
    sent = first.apply(SENT)
    assert sent == {**SENT, "response_format": OBJECT}
    second = change_for_rejection(refusal, sent)
    assert second is not None
    assert (second.action, "response_format" in second.apply(sent)) == ("dropped", False)


def test_the_parameter_is_found_where_the_error_names_it(subtests: pytest.Subtests) -> None:
    """Field, detail list and plain text are all read."""
    for status in (400, 422):
        for body, parameter in (
            ({"message": "Bad value", "param": "response_format.json_schema.schema"}, "response_format"),
            ({"message": "Unrecognized request argument supplied: top_k", "param": None}, "top_k"),
            ({"message": "top_p: Extra inputs are not permitted"}, "top_p"),
            ({"message": "`temperature` may only be set to 1 when thinking is enabled."}, "temperature"),
            ({"message": "top_k can only be used with sampling."}, "top_k"),
            ({"message": "response_format is not compatible with this model"}, "response_format"),
            ({"message": "response_format is incompatible with reasoning"}, "response_format"),
            (
                {"message": "response_format: json_schema is only supported by newer models"},
                "response_format",
            ),
            ({"message": "top_k can't be set when streaming is off"}, "top_k"),
            ({"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra"}]}, "top_k"),
            ({"error": {"message": "`temperature` is deprecated for this model."}}, "temperature"),
            ("model does not support parameters: ['top_p']", "top_p"),
        ):
            with subtests.test(status=status, body=body):
                change = change_for_rejection(failure(body, status), SENT)
                assert change is not None
                assert change.parameter == parameter


def test_nothing_is_dropped_on_a_guess() -> None:
    """Where the endpoint names nothing that was sent, names it in passing only, or speaks of the length of
    the prompt; nor under a status that rejects no request.
    """
    long = "This model's maximum context length is 8192 tokens. Please reduce the messages or max_tokens."
    for body in (
        {"message": "Invalid value for 'messages'.", "param": "messages"},
        {"message": "Unsupported parameter: 'logprobs'.", "param": "logprobs"},
        {"message": "Your account is not allowed to do that."},
        *("invalid request", "", None),
        {"message": "Please reduce max_tokens or the length of the messages."},
        {"message": "The messages cannot contain that; the temperature was 0."},
        {"message": "Only one request at a time may have this temperature."},
        {"message": long, "param": "messages", "code": "context_length_exceeded"},
        {"message": long, "code": "context_length_exceeded"},
    ):
        assert change_for_rejection(failure(body), SENT) is None, body
    unsupported = {"message": "Unsupported parameter: temperature", "param": "temperature"}
    for status in (None, 200, 401, 403, 404, 429, 500):
        assert change_for_rejection(failure(unsupported, status), SENT) is None, status
    assert change_for_rejection(failure(unsupported), {"top_p": 1}) is None


def test_of_two_that_exclude_each_other_the_temperature_goes(subtests: pytest.Subtests) -> None:
    """It is the benchmark's own where the user has not said it; top_p is never sent unasked."""
    for message in (
        "`temperature` and `top_p` cannot both be specified for this model.",
        "temperature and top_p are mutually exclusive",
        "top_p and temperature must not be used together",
    ):
        with subtests.test(message=message):
            change = change_for_rejection(failure({"message": message}), {"temperature": 0.0, "top_p": 0.9})
            assert change is not None
            assert change.apply({"temperature": 0.0, "top_p": 0.9}) == {"top_p": 0.9}


def test_what_cannot_go_with_json_is_dropped_where_it_is_named() -> None:
    """The probabilities are not to be had then; the verdict in JSON is."""
    sent = {"logprobs": True, "top_logprobs": 20, "response_format": OBJECT}
    change = change_for_rejection(failure({"message": "json mode cannot be combined with logprobs"}), sent)
    assert change is not None
    assert (change.parameter, change.action) == ("logprobs", "dropped")


def test_a_name_inside_a_longer_name_is_not_that_parameter(subtests: pytest.Subtests) -> None:
    """max_tokens is not found in max_completion_tokens or any other longer name."""
    for text in ("unsupported max_completion_tokens", "invalid 'my_max_tokens'"):
        with subtests.test(text=text):
            assert change_for_rejection(failure(text), {"max_tokens": 100, "tokens": 1}) is None
    change = change_for_rejection(
        failure("Unsupported parameter: 'top_p_min'"), {"top_p": 1, "top_p_min": 100}
    )
    assert change == ParameterChange(parameter="top_p_min", reason="Unsupported parameter: 'top_p_min'")


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
                complaint = openai_error(message, name if has_field else None, "invalid_value")
                assert change_for_rejection(complaint, {name: 1}) is None
                assert rejects_parameter(complaint, {name: 1})


def test_a_change_leaves_other_calls_parameters_alone() -> None:
    """Applying a change makes a new mapping, and is nothing where the parameter is not there."""
    parameters = {"top_p": 1}
    assert ParameterChange(parameter="temperature", reason="").apply(parameters) == {"top_p": 1}
    assert ParameterChange(parameter="top_p", reason="").apply(parameters) == {}
    assert parameters == {"top_p": 1}


# Prefill and probabilities.

PREFILL_REJECTIONS = {
    "anthropic": "This model does not support assistant message prefill. The conversation must end with a "
    "user message.",
    "mistral": "Expected last role User or Tool (or Assistant with prefix True) for serving "
    "but got assistant",
    "vllm": "Cannot set `add_generation_prompt` to True when the last message is from the assistant. "
    "Consider using `continue_final_message` instead.",
    "vllm_template": "Conversation roles must alternate user/assistant/user/assistant/...",
    "openai": "Invalid value: 'assistant'. The last message must be from the user.",
}
LABEL: dict[str, Any] = {"logprobs": True, "top_logprobs": 20, PREFILL: "(", "max_tokens": 16}


def change_of(message: str, sent: dict[str, Any], param: str | None = None, status: int = 400) -> str | None:
    """Which parameter a complaint makes us change, and how, in words."""
    change = change_for_rejection(failure({"message": message, "param": param}, status), sent)
    return None if change is None else f"{change.parameter} {change.action}"


def test_a_rejected_prefill_is_dropped(subtests: pytest.Subtests) -> None:
    """However the endpoint says so, and though it knows the prefill as a message only; without a prefill such
    a complaint is about something else.
    """
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
    assert FEWER_LOGPROBS == 5
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
