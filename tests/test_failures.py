"""What a failed call means."""

from __future__ import annotations

from typing import Any

import pytest

from equipoise.failures import Change, Failure, complains_of_parameter, describe_body, rejected_parameter

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
FILTERS = [
    pytest.param(OPENAI_FILTER, "content_policy_violation", id="openai"),
    pytest.param(AZURE_FILTER, "content_filter", id="azure"),
    pytest.param(AZURE_INNER_ONLY, "content_filter", id="azure-innererror"),
    pytest.param(DEEPSEEK_FILTER, "content_exists_risk", id="deepseek"),
    pytest.param(DASHSCOPE_FILTER, "data_inspection_failed", id="dashscope"),
    pytest.param(DASHSCOPE_NATIVE, "datainspectionfailed", id="dashscope-native"),
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


@pytest.mark.parametrize("status", [None, 200, 408, 409, 429, 500, 502, 503, 504, 529])
def test_a_transient_failure_may_succeed_later(status: int | None) -> None:
    """No connection, no usable body, too many requests and the server's own faults are worth a retry."""
    found = failure("busy", status)
    assert (found.is_transient, found.is_fatal) == (True, False)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_fatal_failure_hits_every_call(status: int) -> None:
    """A refused key and an unknown model end the session without a retry."""
    found = failure("no", status)
    assert (found.is_transient, found.is_fatal) == (False, True)


@pytest.mark.parametrize("status", [400, 405, 413, 415, 422])
def test_a_permanent_failure_concerns_one_request(status: int) -> None:
    """A request that the endpoint will not take is neither retried nor a reason to stop."""
    found = failure("no", status)
    assert (found.is_transient, found.is_fatal) == (False, False)


# Content filters.


@pytest.mark.parametrize(("body", "code"), FILTERS)
@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_filter_is_known_by_its_code(body: Any, code: str, status: int) -> None:
    """Each provider's way of saying that its filter rejected the prompt is understood."""
    assert failure(body, status).filter_code == code


@pytest.mark.parametrize(("body", "code"), FILTERS)
@pytest.mark.parametrize("status", [None, 200, 401, 404, 429, 500])
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


def test_an_error_that_names_a_parameter_in_passing_is_no_rejection() -> None:
    """Without a word of rejection and without the param field a name alone asks for no change."""
    body = {"message": "Please reduce max_tokens or the length of the messages."}
    assert rejected_parameter(failure(body), SENT) is None


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
    ],
)
def test_a_users_value_is_never_dropped(name: str, message: str) -> None:
    """A limit is not lifted and a value out of range is not replaced: that is for the user to mend."""
    complaint = openai_error(message, name, "invalid_value")
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


def test_a_long_body_is_cut() -> None:
    """A page of HTML does not flood the terminal."""
    assert describe_body("x" * 10_000) == "x" * 500
