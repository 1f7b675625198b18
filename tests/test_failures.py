"""What a failed call means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipoise.core.errors import printable
from equipoise.models.failures import (
    Change,
    Failure,
    complains_of_parameter,
    describe_body,
    passed_on_headers,
    rejected_parameter,
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
FILTERS = [
    pytest.param(OPENAI_FILTER, "content_policy_violation", id="openai"),
    pytest.param(AZURE_FILTER, "content_filter", id="azure"),
    pytest.param(AZURE_INNER_ONLY, "content_filter", id="azure-innererror"),
    pytest.param(DEEPSEEK_FILTER, "content_exists_risk", id="deepseek"),
    pytest.param(DASHSCOPE_FILTER, "data_inspection_failed", id="dashscope"),
    pytest.param(DASHSCOPE_NATIVE, "datainspectionfailed", id="dashscope-native"),
    pytest.param(MOONSHOT_FILTER, "content_filter", id="moonshot"),
    pytest.param(XAI_FILTER, "usage_guidelines", id="xai"),
    pytest.param(ZHIPU_FILTER, "1301", id="zhipu"),
    pytest.param({"code": 1301, "message": "x"}, "1301", id="zhipu-number"),
    pytest.param(VOLCANO_FILTER, "sensitivecontentdetected", id="volcano"),
    pytest.param(VOLCANO_RISK, "riskdetection", id="volcano-risk"),
    pytest.param(LITELLM_FILTER, "contentpolicyviolationerror", id="litellm"),
    pytest.param({"error": AZURE_FILTER}, "content_filter", id="wrapped"),
    pytest.param("<html>Content Exists Risk</html>", "content_exists_risk", id="text"),
]


def failure(body: Any, status: int | None = 400) -> Failure:
    """A failure as the client makes it."""
    return Failure(message=describe_body(body), status=status, body=body)


def openai_error(message: str, param: str | None = None, code: str | None = None) -> Failure:
    """A rejected request in OpenAI's words."""
    return failure({"message": message, "type": "invalid_request_error", "param": param, "code": code})


# Statuses.


@pytest.mark.parametrize("status", [None, 200, 408, 409, 429, 500, 502, 503, 504, 520, 529])
def test_a_transient_failure_may_succeed_later(status: int | None) -> None:
    """No connection, no usable body, too many requests and the server's own faults are worth a retry."""
    found = failure("busy", status)
    assert (found.is_transient, found.is_fatal) == (True, False)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_fatal_failure_hits_every_call(status: int) -> None:
    """A refused key, an empty account and an unknown model end the session without a retry."""
    found = failure("no", status)
    assert (found.is_transient, found.is_fatal) == (False, True)


@pytest.mark.parametrize("status", [400, 405, 413, 415, 422, 451])
def test_a_permanent_failure_concerns_one_request(status: int) -> None:
    """A request that the endpoint will not take is neither retried nor a reason to stop."""
    found = failure("no", status)
    assert (found.is_transient, found.is_fatal) == (False, False)


@pytest.mark.parametrize("status", [429, 503, 529])
def test_too_many_calls_at_once_are_an_overload(status: int) -> None:
    """Fewer calls may help where the endpoint says that it is asked too much."""
    assert failure("busy", status).is_overload


@pytest.mark.parametrize("status", [None, 200, 400, 403, 408, 409, 500, 502, 504])
def test_other_failures_are_no_overload(status: int | None) -> None:
    """A fault of the endpoint says nothing of how many calls it takes."""
    assert not failure("busy", status).is_overload


@pytest.mark.parametrize("status", [200, 500, 501, 520])
def test_an_answer_about_the_request_tells_something(status: int) -> None:
    """A reply that cannot be used and an internal error may be what this request always gets."""
    assert failure("it broke", status).is_telling


@pytest.mark.parametrize("status", [None, 400, 401, 408, 409, 429, 502, 503, 504, 529])
def test_an_outage_tells_nothing_of_the_request(status: int | None) -> None:
    """Nor does a failure that is not tried again anyway."""
    assert not failure("busy", status).is_telling


# What an error says.


@pytest.mark.parametrize("body", NO_BALANCE, ids=lambda body: str(body["message"])[:30])
@pytest.mark.parametrize("status", [400, 402, 403, 429])
def test_an_empty_account_ends_the_session(body: Any, status: int) -> None:
    """Where nothing is left to spend no wait helps, whatever the status: it is no overload either."""
    found = failure(body, status)
    assert found.is_out_of_balance
    assert (found.is_transient, found.is_fatal, found.is_overload) == (False, True, False)


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000",
        "You exceeded your current quota, please check your plan and billing details.",
        "Your account reached max request concurrency, please try again after 1 seconds",
    ],
)
def test_a_rate_limit_is_no_empty_account(message: str) -> None:
    """A quota that fills up again, as Gemini's for each minute does, is waited for."""
    found = failure({"message": message, "code": 429, "status": "RESOURCE_EXHAUSTED"}, 429)
    assert (found.is_out_of_balance, found.is_transient, found.is_overload) == (False, True, True)


@pytest.mark.parametrize("body", NO_BALANCE, ids=lambda body: str(body["message"])[:30])
@pytest.mark.parametrize("status", [None, 200, 500, 503])
def test_an_outage_that_speaks_of_money_is_an_outage(body: Any, status: int | None) -> None:
    """Only an endpoint that refuses the call itself says that the account is empty."""
    assert not failure(body, status).is_out_of_balance
    assert failure(body, status).is_transient


@pytest.mark.parametrize("body", [*NO_MODEL, *NO_KEY], ids=lambda body: str(body["message"])[:30])
@pytest.mark.parametrize("status", [400, 422])
def test_an_unknown_model_or_key_ends_the_session_whatever_the_status(body: Any, status: int) -> None:
    """Many endpoints say with 400 what others say with 401 or 404."""
    assert failure(body, status).is_fatal
    assert failure({"error": body}, status).is_fatal
    assert not failure(body, status).is_transient


@pytest.mark.parametrize("body", [*NO_MODEL, *NO_KEY], ids=lambda body: str(body["message"])[:30])
def test_an_outage_that_names_model_or_key_ends_nothing(body: Any) -> None:
    """A gateway that has lost its model for a moment is tried again."""
    assert not failure(body, 503).is_fatal
    assert failure(body, 503).is_transient


@pytest.mark.parametrize(
    "message",
    [
        "Invalid value for 'temperature' of model gpt-4.",
        "This model does not support response_format.",
        "The model produced invalid content.",
        "messages: field required",
    ],
)
def test_a_fault_of_the_request_does_not_end_the_session(message: str) -> None:
    """The word model alone does not make an error one about the model's name."""
    assert not openai_error(message).is_fatal


@pytest.mark.parametrize("body", TOO_LONG, ids=lambda body: str(body["message"])[:30])
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_does_not_fit_is_known(body: Any, status: int) -> None:
    """Providers say in many ways that a context is too small; it concerns one request, not the settings."""
    found = failure(body, status)
    assert found.is_too_long
    assert not found.is_fatal
    assert not complains_of_parameter(found, {**SENT, "messages": []})
    assert rejected_parameter(found, {**SENT, "messages": []}) is None


@pytest.mark.parametrize("body", TOO_LONG, ids=lambda body: str(body["message"])[:30])
@pytest.mark.parametrize("status", [None, 200, 404, 429, 500])
def test_only_a_rejected_request_is_too_long(body: Any, status: int | None) -> None:
    """Under another status the same words do not excuse the request."""
    assert not failure(body, status).is_too_long


@pytest.mark.parametrize(
    "body",
    [
        {"message": "max_tokens is too large: 100000.", "param": "max_tokens"},
        {"message": "Unsupported parameter: 'max_tokens'."},
        "Bad Request",
        None,
    ],
    ids=str,
)
def test_a_limit_that_is_too_high_is_not_a_request_that_is_too_long(body: Any) -> None:
    """What the user has set is a matter of the settings."""
    assert not failure(body).is_too_long


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (
            {
                "message": "busy",
                "metadata": {"headers": {"X-RateLimit-Reset": 1741305600000, "Retry-After": "5"}},
            },
            {"X-RateLimit-Reset": "1741305600000", "Retry-After": "5"},
        ),
        ({"error": {"metadata": {"headers": {"a": None}}}}, {"a": "None"}),
        ({"message": "busy", "metadata": {"headers": ["a"]}}, {}),
        ({"message": "busy", "metadata": "headers"}, {}),
        ({"message": "busy"}, {}),
        ("headers", {}),
        (None, {}),
    ],
    ids=["openrouter", "wrapped", "list", "text", "none", "no-object", "no-body"],
)
def test_headers_that_a_gateway_passes_on_are_found(body: Any, headers: dict[str, str]) -> None:
    """A provider's own wish to be left alone stands in the gateway's error; anything else is no headers."""
    assert passed_on_headers(body) == headers


# Content filters.


@pytest.mark.parametrize(("body", "code"), FILTERS)
@pytest.mark.parametrize("status", [200, 400, 403, 422, 451])
def test_a_filter_is_known_by_its_code(body: Any, code: str, status: int) -> None:
    """Each provider's way of saying that its filter rejected the prompt is understood."""
    is_page = status == 200 and isinstance(body, str)
    assert failure(body, status).filter_code == (None if is_page else code)


PASSED = '{"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]'


@pytest.mark.parametrize(
    "body",
    [
        PASSED,
        PASSED[:60],
        "<html>content_filter</html>",
        json.loads(PASSED + "}"),
        {"choices": [], "note": "content_filter"},
        ["content_filter"],
        "content_filter",
    ],
    ids=["azure", "cut", "page", "no-choices", "other-field", "list", "text"],
)
def test_an_answer_that_cannot_be_used_is_no_filter_for_what_it_quotes(body: Any) -> None:
    """Azure tells with every answer what its filter found: a cut one is tried again, and is no finding."""
    found = failure(body, 200)
    assert (found.filter_code, found.is_transient) == (None, True)


@pytest.mark.parametrize(("body", "code"), FILTERS)
@pytest.mark.parametrize("status", [None, 401, 404, 429, 500])
def test_only_a_rejection_is_a_filter(body: Any, code: str, status: int | None) -> None:
    """The same words under another status are an outage or a refused key, and no finding."""
    assert failure(body, status).filter_code is None


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "Bad Request",
        {"message": "Invalid value for 'temperature'.", "param": "temperature", "code": None},
        {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"},
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_k"], "msg": "Extra inputs"}]},
        ["a", "list"],
    ],
    ids=str,
)
def test_other_rejections_are_no_filter(body: Any) -> None:
    """A fault of the request is not counted as the provider's refusal."""
    assert failure(body).filter_code is None


@pytest.mark.parametrize(("body", "code"), FILTERS)
def test_a_filter_is_never_taken_for_a_rejected_parameter(body: Any, code: str) -> None:
    """Nothing is dropped when the prompt is at fault, even where the text names a parameter."""
    told = {**body, "param": "temperature"} if isinstance(body, dict) else f"{body} invalid temperature"
    assert rejected_parameter(failure(body), SENT) is None
    assert rejected_parameter(failure(told), SENT) is None


# Rejected parameters.


def test_openai_renames_max_tokens() -> None:
    """Where the endpoint wants max_completion_tokens, the limit goes out under that name."""
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    change = rejected_parameter(openai_error(message, "max_tokens", "unsupported_parameter"), SENT)
    assert change == Change(parameter="max_tokens", rename="max_completion_tokens", reason=message)
    assert change.action == "renamed to max_completion_tokens"
    assert change.apply({"max_tokens": 7, "top_p": 1}) == {"max_completion_tokens": 7, "top_p": 1}


def test_an_unsupported_temperature_is_dropped() -> None:
    """A value that the model does not take is left to the model's default."""
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    change = rejected_parameter(openai_error(message, "temperature", "unsupported_value"), SENT)
    assert change == Change(parameter="temperature", reason=message)
    assert change.action == "dropped"
    assert change.apply({"temperature": 0, "top_p": 1}) == {"top_p": 1}


def test_a_rejected_schema_becomes_a_plain_object_and_then_nothing() -> None:
    """response_format goes from json_schema to json_object, and is dropped where that is rejected too."""
    refusal = openai_error("This response_format type is unavailable now")
    first = rejected_parameter(refusal, SENT)
    assert first is not None
    assert (first.parameter, first.value, first.action) == (
        "response_format",
        OBJECT,
        "replaced by json_object",
    )
    sent = first.apply(SENT)
    assert sent == {**SENT, "response_format": OBJECT}
    second = rejected_parameter(refusal, sent)
    assert second is not None
    assert (second.action, "response_format" in second.apply(sent)) == ("dropped", False)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
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
    ],
    ids=str,
)
@pytest.mark.parametrize("status", [400, 422])
def test_the_parameter_is_found_where_the_error_names_it(body: Any, parameter: str, status: int) -> None:
    """Field, detail list and plain text are all read."""
    change = rejected_parameter(failure(body, status), SENT)
    assert change is not None
    assert change.parameter == parameter


@pytest.mark.parametrize(
    "body",
    [
        {"message": "Invalid value for 'messages'.", "param": "messages"},
        {"message": "Unsupported parameter: 'logprobs'.", "param": "logprobs"},
        {"message": "Your account is not allowed to do that."},
        "invalid request",
        "",
        None,
    ],
    ids=str,
)
def test_an_error_that_names_no_sent_parameter_changes_nothing(body: Any) -> None:
    """Nothing is dropped on a guess."""
    assert rejected_parameter(failure(body), SENT) is None


def test_only_a_parameter_that_was_sent_can_be_rejected() -> None:
    """An error that names a parameter the call did not have asks for no change."""
    error = openai_error("Unsupported value: 'temperature'", "temperature")
    assert rejected_parameter(error, {"top_p": 1}) is None


@pytest.mark.parametrize(
    "message",
    [
        "Please reduce max_tokens or the length of the messages.",
        "The messages cannot contain that; the temperature was 0.",
        "Only one request at a time may have this temperature.",
    ],
)
def test_an_error_that_names_a_parameter_in_passing_is_no_rejection(message: str) -> None:
    """Without a word of rejection and without the param field a name alone asks for no change."""
    assert rejected_parameter(failure({"message": message}), SENT) is None


@pytest.mark.parametrize(
    "message",
    [
        "`temperature` and `top_p` cannot both be specified for this model.",
        "temperature and top_p are mutually exclusive",
        "top_p and temperature must not be used together",
    ],
)
def test_of_two_that_exclude_each_other_the_temperature_goes(message: str) -> None:
    """It is the benchmark's own where the user has not said it; top_p is never sent unasked."""
    change = rejected_parameter(failure({"message": message}), {"temperature": 0.0, "top_p": 0.9})
    assert change is not None
    assert change.apply({"temperature": 0.0, "top_p": 0.9}) == {"top_p": 0.9}


def test_what_cannot_go_with_json_is_dropped_where_it_is_named() -> None:
    """The probabilities are not to be had then; the verdict in JSON is."""
    sent = {"logprobs": True, "top_logprobs": 20, "response_format": OBJECT}
    change = rejected_parameter(failure({"message": "json mode cannot be combined with logprobs"}), sent)
    assert change is not None
    assert (change.parameter, change.action) == ("logprobs", "dropped")


@pytest.mark.parametrize("param", ["messages", None])
def test_a_prompt_that_is_too_long_costs_no_parameter(param: str | None) -> None:
    """OpenAI's error type, invalid_request_error, is on every error and says nothing of a parameter."""
    message = "This model's maximum context length is 8192 tokens. Please reduce the messages or max_tokens."
    assert rejected_parameter(openai_error(message, param, "context_length_exceeded"), SENT) is None


@pytest.mark.parametrize("text", ["unsupported max_completion_tokens", "invalid 'my_max_tokens'"])
def test_a_name_inside_a_longer_name_is_not_that_parameter(text: str) -> None:
    """max_tokens is not found in max_completion_tokens or any other longer name."""
    assert rejected_parameter(failure(text), {"max_tokens": 100, "tokens": 1}) is None


def test_the_renamed_parameter_is_told_from_its_old_name() -> None:
    """A complaint about top_p_min is none about top_p."""
    sent = {"top_p": 1, "top_p_min": 100}
    change = rejected_parameter(failure("Unsupported parameter: 'top_p_min'"), sent)
    assert change is not None
    assert (change.parameter, change.action) == ("top_p_min", "dropped")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max_tokens", "max_tokens is too large: 100000. This model supports at most 16384."),
        ("max_tokens", 'Unknown name "max_tokens": Cannot find field.'),
        ("max_completion_tokens", "Unsupported parameter: 'max_completion_tokens'."),
        ("temperature", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2."),
        ("top_p", "top_p must be between 0 and 1"),
        ("top_p", "top_p may only be set to a value between 0 and 1."),
        ("top_p", "top_p can only be from 0 to 1"),
        ("temperature", "temperature cannot be set to a value that exceeds 2"),
        ("temperature", "temperature cannot be above 2"),
        ("temperature", "temperature must not be negative"),
        ("temperature", "temperature may only be in the range [0, 2]"),
        ("max_tokens", "max_tokens cannot be larger for this model"),
    ],
)
@pytest.mark.parametrize("has_field", [True, False], ids=["field", "text"])
def test_a_users_value_is_never_dropped(name: str, message: str, has_field: bool) -> None:
    """A limit is not lifted and a value out of range is not replaced: that is for the user to mend."""
    complaint = openai_error(message, name if has_field else None, "invalid_value")
    assert rejected_parameter(complaint, {name: 1}) is None
    assert complains_of_parameter(complaint, {name: 1})


@pytest.mark.parametrize("status", [None, 200, 401, 403, 404, 429, 500])
def test_only_a_rejected_request_can_reject_a_parameter(status: int | None) -> None:
    """An outage or a refused key that mentions a parameter does not change what is sent."""
    body = {"message": "Unsupported parameter: temperature", "param": "temperature"}
    assert rejected_parameter(failure(body, status), SENT) is None


def test_a_change_leaves_other_calls_parameters_alone() -> None:
    """Applying a change makes a new mapping, and is nothing where the parameter is not there."""
    parameters = {"top_p": 1}
    assert Change(parameter="temperature", reason="").apply(parameters) == {"top_p": 1}
    assert Change(parameter="top_p", reason="").apply(parameters) == {}
    assert parameters == {"top_p": 1}


# Messages.


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"message": "No."}, "No."),
        ({"error": {"message": "No."}}, "No."),
        ({"error": "No."}, "No."),
        ("No.", "No."),
        ({"detail": "非"}, '{"detail": "非"}'),
        ({"message": 5}, '{"message": 5}'),
        (None, "null"),
    ],
)
def test_an_error_body_is_put_in_few_words(body: Any, text: str) -> None:
    """The message where there is one, else the body."""
    assert describe_body(body) == text


@pytest.mark.parametrize("body", ["x" * 10_000, {"message": "x" * 10_000}], ids=["text", "message"])
def test_a_long_body_is_cut(body: Any) -> None:
    """A page of HTML does not flood the terminal."""
    assert describe_body(body) == "x" * 500


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("two\r\nlines", r"two\r\nlines"),
        ("\u202eabc", r"\u202eabc"),
        ("cut \ud83d here", r"cut \ud83d here"),
        ("香港 é 😀", "香港 é 😀"),
    ],
    ids=["colour", "lines", "bidi", "surrogate", "scripts"],
)
def test_an_error_cannot_command_the_terminal(text: str, shown: str) -> None:
    """What a terminal might obey is shown as an escape, and other scripts as they are."""
    assert printable(text) == shown
    assert describe_body({"message": text}) == describe_body(text) == shown
