"""Arbitrary answers of endpoints: a reply, a failure, a wait, nothing else."""

from __future__ import annotations

import json

from fuzzing import any_json, any_text, made_of, modest, mutated
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import convert

from equipoise.core import json_io
from equipoise.core.types import JSON, Reply
from equipoise.models import reasoning
from equipoise.models.counters import Counters
from equipoise.models.failures import Failure, describe_body, provider_headers
from equipoise.models.parameter_changes import ParameterChange, change_for_rejection, rejects_parameter
from equipoise.models.response import read_body
from equipoise.models.retry import LONGEST_RETRY_AFTER, retry_after
from loopback import completion

TAGS = ("<think>", "</think>", "<thinking>", "[THINK]", "[/THINK]", "◁think▷", "◁/think▷", "<reasoning>")
MARKERS = ("<|channel|>", "<|message|>", "<|end|>", "<|start|>")
CHANNELS = ("analysis", "final", "assistantfinal", "thought")
content_text = made_of(
    *TAGS, *MARKERS, *CHANNELS, "`", "```", "\n", '{"a":1}', "{", "}", " ", "It opened in 1931."
)


@modest
@given(st.dictionaries(any_text, any_json, max_size=3), content_text)
def test_an_object_is_never_cut(data: dict[str, JSON], text: str) -> None:
    """A JSON object that is the whole content is the answer, whatever its strings hold."""
    content = json.dumps({**data, "text": text})
    assert reasoning.split(content) == reasoning.split_verdict(content) == (content, "", None)


HEADER_NAMES = (
    *("retry-after", "Retry-After-Ms", "date"),
    *("x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"),
)
header_value = made_of(*"109.-:shdeZ", "ms", "Sun, 12 Oct 2025 08:00:00 GMT")
date_value = st.datetimes().map(lambda date: date.isoformat()) | st.integers(0, 10**15).map(str)


@modest
@given(
    st.dictionaries(st.sampled_from(HEADER_NAMES) | any_text, header_value | date_value | any_text),
    st.floats(0, 4e9),
)
@example({"retry-after": "0001-01-01t00:00:00+23:59"}, 0.0)
@example({"retry-after": "9999-12-31t23:59:59-23:59"}, 0.0)
@example({"retry-after": "1e99", "date": "thu, 01 jan 0000 00:00:00 gmt"}, 0.0)
def test_any_headers_ask_for_a_wait_or_for_none(headers: dict[str, str], now: float) -> None:
    """From nothing to the longest that is believed."""
    wait = retry_after(headers, now)
    assert wait is None or 0 <= wait <= LONGEST_RETRY_AFTER


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


@modest
@given(data=any_json | mutated(COMPLETION) | mutated(PARTS))
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
