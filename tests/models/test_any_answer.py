"""Arbitrary answers of endpoints: a reply, a failure, a wait, nothing else."""

from __future__ import annotations

from fuzzing import any_json, made_of, modest, mutated
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import convert

from equipoise.core import json_io
from equipoise.core.types import JSON, Reply
from equipoise.models.counters import Counters
from equipoise.models.failures import Failure, describe_body, provider_headers
from equipoise.models.parameter_changes import ParameterChange, change_for_rejection, rejects_parameter
from equipoise.models.response import read_body
from loopback import completion

FILTERED = {
    "error": {"code": "content_filter", "message": "No.", "metadata": {"headers": {"retry-after": "1"}}}
}
COUNTS = {
    **{"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
    **{"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}},
}
THOUGHT = {"reasoning_content": "Thoughts.", "refusal": None}
COMPLETION = completion("Text.", message=THOUGHT, usage=COUNTS)
PARTS = completion(
    None, message={"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]}
)


TOP = [{"token": "C", "logprob": -0.25}, {"token": " 香", "logprob": -7.125}]
LIKELY = completion("C", logprobs={"content": [{"token": "C", "top_logprobs": TOP}]})


@modest
@given(data=any_json | mutated(COMPLETION) | mutated(PARTS) | mutated(LIKELY))
@example(data=LIKELY)
@example(data=completion("", usage={"prompt_tokens": 10**30, "completion_tokens": -1}))
def test_any_body_is_a_reply_or_a_failure(data: JSON) -> None:
    """A reply that can be kept, read again and counted, or what is wrong in a short printable line."""
    reply = read_body(data, latency=0.1, retries=0)
    if isinstance(reply, Failure):
        assert reply.message.isprintable()
        assert len(reply.message) < 700
        return
    assert convert(json_io.loads(json_io.dumps(reply.to_json())), Reply) == reply
    if reply.usage is not None:
        assert all(0 <= count < 2**53 for count in reply.usage.to_json().values())
        counters = Counters(1)
        counters.count_reply(0, reply.usage.input, reply.usage.output, replayed=False)


ERROR_TEXTS = (
    *("model", "Model ", "not found", "does not exist", "temperature", "max_tokens", "max_completion_tokens"),
    *("unsupported", "invalid", "api key", "context length", "insufficient_quota", "content_filter"),
    *("!", " "),
    *("response_format", "above maximum", "Content Exists Risk", "x: y", "is not valid"),
)
error_text = made_of(*ERROR_TEXTS)
error_fields = {
    "message": error_text,
    "code": any_json | error_text,
    "param": any_json | st.sampled_from(ERROR_TEXTS),
}
told = st.fixed_dictionaries({}, optional=error_fields)
error_body = st.one_of(any_json, mutated(FILTERED), st.fixed_dictionaries({"error": told}))
PARAMETERS = {"temperature": 1.0, "max_tokens": 7, "response_format": {"type": "json_schema"}, "top_p": 0.5}


@modest
@given(
    body=error_body,
    status=st.none() | st.sampled_from((200, 400, 401, 403, 404, 422, 429, 451, 500, 503)) | st.integers(),
)
@example(body={"error": {"code": "model " * 1000, "message": "invalid" * 1000}}, status=400)
@example(body="context " * 20_000, status=400)
@example(body={"error": {"message": "\x1b[2J\r\n\ud800" * 1000}}, status=500)
def test_any_error_body_is_a_failure_of_some_class(body: JSON, status: int | None) -> None:
    """Each question about it has an answer of its kind, the message is short and printable."""
    message = describe_body(body)
    assert message.isprintable()
    assert len(message) <= 500
    failure = Failure(message=message, status=status, body=body)
    names = ("transient", "overload", "out_of_balance", "too_long", "fatal")
    for name in (*(f"is_{name}" for name in names), "may_be_about_request"):
        assert getattr(failure, name) in (True, False)
    assert not (failure.is_transient and failure.is_out_of_balance)
    assert failure.filter_code is None or isinstance(failure.filter_code, str)
    assert all(isinstance(item, str) for pair in provider_headers(body).items() for item in pair)
    assert rejects_parameter(failure, PARAMETERS) in (True, False)
    change = change_for_rejection(failure, PARAMETERS)
    if change is not None:
        assert isinstance(change, ParameterChange)
        assert change.action
        assert change.apply(PARAMETERS) != PARAMETERS
