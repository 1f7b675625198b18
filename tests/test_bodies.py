"""What is made of the body of a chat completion, in whatever way an endpoint has put it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipoise.core.types import Reply, Usage
from equipoise.models.failures import Failure
from equipoise.models.response import read_body, read_continuation
from loopback import completion, echo


def read(data: Any) -> Reply:
    """The reply in a body that has one."""
    reply = read_body(data, latency=0.5, retries=2)
    assert isinstance(reply, Reply), reply
    return reply


def said(message: dict[str, Any]) -> tuple[str, str | None]:
    """Text and reasoning of a reply with this message."""
    reply = read({"choices": [{"message": message}]})
    return reply.text, reply.reasoning


# The whole of it.


def test_a_reply_holds_what_the_endpoint_said() -> None:
    """Text, finish reason, usage, model and fingerprint are the body's, latency and retries the caller's."""
    assert read(completion("Because.", finish_reason="length")) == Reply(
        text="Because.",
        finish_reason="length",
        usage=Usage(input=100, output=20),
        model="scripted-1",
        fingerprint="fp_scripted",
        latency=0.5,
        retries=2,
    )


def test_a_body_of_only_choices_is_a_reply() -> None:
    """An endpoint that says nothing of usage, model or end gives a reply without them."""
    assert read({"choices": [{"message": {"content": "Because."}}]}) == Reply(
        text="Because.", latency=0.5, retries=2
    )


def test_only_the_first_choice_is_read() -> None:
    """One was asked for; what else comes is not an answer to anything."""
    body = completion("first")
    body["choices"].append({"message": {"content": "second"}, "finish_reason": "length"})
    reply = read(body)
    assert (reply.text, reply.finish_reason) == ("first", "stop")


@pytest.mark.parametrize("value", [None, "", 5, ["stop"], {"a": 1}], ids=str)
def test_particulars_of_a_strange_kind_are_left_out(value: Any) -> None:
    """What should be a text and is none is as if it were not there."""
    body = completion("Because.", finish_reason=value)
    body["model"] = body["system_fingerprint"] = body["provider"] = value
    reply = read(body)
    found = (reply.finish_reason, reply.model, reply.fingerprint, reply.provider, reply.blocked)
    assert found == (None, None, None, None, None)


def test_a_router_names_who_answered() -> None:
    """The upstream provider is kept: two of them may serve one model differently."""
    assert read({**completion("Because."), "provider": "DeepInfra"}).provider == "DeepInfra"


# Text and thoughts.

PARTS = [{"type": "text", "text": "Be"}, {"type": "text", "text": "cause."}]
THINKING = {
    "type": "thinking",
    "thinking": [{"type": "text", "text": "Hm, "}, {"type": "text", "text": "so."}],
}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        pytest.param({"content": "Because."}, "Because.", None, id="text"),
        pytest.param({"content": None}, "", None, id="null"),
        pytest.param({"content": ""}, "", None, id="empty"),
        pytest.param({}, "", None, id="nothing"),
        pytest.param({"content": PARTS}, "Because.", None, id="parts"),
        pytest.param({"content": [THINKING, *PARTS]}, "Because.", "Hm, so.", id="thinking-parts"),
        pytest.param({"content": [{"type": "thinking", "thinking": "Hm."}]}, "", "Hm.", id="thinking-text"),
        pytest.param({"content": []}, "", None, id="no-parts"),
        pytest.param({"content": ["Be", "cause."]}, "Because.", None, id="texts"),
        pytest.param({"content": [{"type": "output_text", "text": "B"}]}, "B", None, id="output-text"),
        pytest.param({"content": [{"type": "refusal", "refusal": "No."}]}, "No.", None, id="refusal-part"),
        pytest.param(
            {"content": [{"type": "reasoning", "text": "Hm."}, "B"]}, "B", "Hm.", id="reasoning-text-part"
        ),
        pytest.param(
            {"content": [{"type": "reasoning", "summary": [{"text": "Hm, "}, {"text": "so."}]}, "B"]},
            "B",
            "Hm, so.",
            id="reasoning-summary-part",
        ),
        pytest.param({"content": [{"type": "redacted_thinking"}, "B"]}, "B", None, id="redacted-thinking"),
        pytest.param({"content": "B", "reasoning_content": "Hm."}, "B", "Hm.", id="reasoning_content"),
        pytest.param({"content": "B", "reasoning": "Hm."}, "B", "Hm.", id="reasoning"),
        pytest.param(
            {"content": "B", "reasoning_content": "Hm.", "reasoning": "Hm."}, "B", "Hm.", id="the-same-twice"
        ),
        pytest.param({"content": "B", "reasoning_content": "", "reasoning": None}, "B", None, id="neither"),
        pytest.param({"content": "<think>Hm.</think>\n\nB"}, "B", "Hm.", id="tags"),
        pytest.param({"content": "Hm.\n</think>\nB"}, "B", "Hm.", id="only-closing-tag"),
        pytest.param({"content": "<think>Hm. And then"}, "", "Hm. And then", id="unended-thoughts"),
        pytest.param(
            {"content": [{"type": "text", "text": "<think>Hm.</think>B"}]}, "B", "Hm.", id="tags-in-parts"
        ),
        pytest.param(
            {"content": "<think>two</think>B", "reasoning_content": "one"},
            "B",
            "one\n\ntwo",
            id="both-places",
        ),
        pytest.param({"content": None, "refusal": "I cannot."}, "I cannot.", None, id="refusal"),
        pytest.param({"content": "", "refusal": "I cannot."}, "I cannot.", None, id="refusal-and-empty"),
        pytest.param({"content": "B", "refusal": "I cannot."}, "B", None, id="refusal-and-text"),
        pytest.param({"content": "B", "refusal": None}, "B", None, id="no-refusal"),
        pytest.param(
            {"content": "<think>Hm.</think>", "refusal": "I cannot."},
            "I cannot.",
            "Hm.",
            id="refusal-thought",
        ),
    ],
)
def test_text_and_reasoning_are_told_apart(message: dict[str, Any], text: str, reasoning: str | None) -> None:
    """Whatever the provider calls them, the answer and the thoughts before it are kept separately."""
    assert said(message) == (text, reasoning)


def test_a_verdict_that_speaks_of_tags_is_left_alone() -> None:
    """A JSON object is never cut, whatever its strings hold."""
    verdict = '{"reasoning": "It ends its <think>thoughts</think> early.", "score": 4}'
    assert said({"content": verdict}) == (verdict, None)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param({"content": [{"type": "text"}]}, "", id="part-without-text"),
        pytest.param({"content": [{"type": "text", "text": None}]}, "", id="part-of-null"),
        pytest.param({"content": [{"type": "thinking"}]}, "", id="thinking-of-nothing"),
        pytest.param({"content": [{"type": "thinking", "thinking": 5}]}, "", id="thinking-of-number"),
        pytest.param({"content": "B", "reasoning_content": ["Hm."]}, "B", id="reasoning-list"),
        pytest.param({"content": "B", "refusal": {"text": "no"}}, "B", id="refusal-object"),
    ],
)
def test_a_message_of_a_strange_shape_is_no_crash(message: dict[str, Any], text: str) -> None:
    """Where nothing is said, or thoughts cannot be read, the answer is what there is."""
    assert said(message) == (text, None)


PART = "has a part of the type 'text' whose text is"
UNREADABLE: dict[str, Any] = {
    "is a number": 5,
    "is a boolean": False,
    "is an object": {"type": "text", "text": "B"},
    "has a part that is a number": ["B", 5],
    "has a part that is a list": [["B"]],
    "has a part that is null": [None],
    "has a part without a type": [{"text": "B"}],
    "has a part of the unknown type 'image_url'": [{"type": "image_url", "image_url": {"url": "x"}}],
    "has a part of the unknown type 'tool_use'": [*PARTS, {"type": "tool_use"}],
    r"has a part of the unknown type '\x1b[2J'": [{"type": "\x1b[2J"}],
    f"{PART} a number": [{"type": "text", "text": 5}],
    f"{PART} an object": [*PARTS, {"type": "text", "text": {"value": "B"}}],
    "has a part of the type 'refusal' whose text is a list": [{"type": "refusal", "refusal": ["No."]}],
}


def test_content_that_cannot_be_read_is_a_failure_that_may_pass(subtests: pytest.Subtests) -> None:
    """What may have been said is not taken for silence: it tells what was found, and how many tokens."""
    for what, content in UNREADABLE.items():
        with subtests.test(what):
            body = completion(None, message={"content": content, "reasoning": "Hm."})
            failure = read_body(body, latency=0.5, retries=0)
            assert failure == Failure(message=f"the content of the message {what}", status=200)
            assert isinstance(failure, Failure)
            assert failure.is_transient
            assert failure.usage == Usage(input=100, output=20)


def test_a_long_name_of_an_unknown_part_is_cut() -> None:
    """The message stays one short line, whatever stands there."""
    failure = read_body(completion(None, message={"content": [{"type": "\n" * 999}]}), latency=0, retries=0)
    assert isinstance(failure, Failure)
    assert len(failure.message) < 300
    assert failure.message.isprintable()


# JSON that was sent as something else.


def spelled(text: str) -> dict[str, str]:
    """The same JSON as endpoints send it."""
    body = json.dumps(completion(text), ensure_ascii=False)
    return {
        "plain": body,
        "escapes": json.dumps(completion(text)),
        "blanks": f" \r\n\t{body}\n",
        "mark": f"\ufeff{body}",
        "mark-and-blanks": f"\ufeff\n {body}",
    }


@pytest.mark.parametrize("text", ["Because.", "香港 é 😀", "Não, é só.", "cut \ufffd"])
def test_a_text_that_spells_a_completion_is_read(text: str, subtests: pytest.Subtests) -> None:
    """Whatever an endpoint says that it is sending, the answer is paid for."""
    for name, body in spelled(text).items():
        with subtests.test(name):
            assert read(body) == read(completion(text))


def test_a_text_that_spells_a_continuation_is_read() -> None:
    """Plain completions are sent as something else too."""
    reply = read_continuation(json.dumps(echo("Why? Because", -0.5)), latency=0.5, retries=0)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tokens and len(reply.tokens)) == ("Why? Because So", 3)


def test_a_text_that_spells_an_error_says_so() -> None:
    """The message and the filter's code are found in it."""
    body = json.dumps({"error": {"message": "the model is busy", "code": "content_filter"}})
    failure = read_body(body, latency=0.5, retries=0)
    assert isinstance(failure, Failure)
    assert failure.message == "the answer has no choices: the model is busy"
    assert failure.filter_code == "content_filter"


# Filters.


@pytest.mark.parametrize(
    "reason",
    [
        "content_filter",
        "sensitive",
        "SAFETY",
        "PROHIBITED_CONTENT",
        "blocklist",
    ],
)
def test_a_reply_that_the_filter_cut_is_blocked(reason: str) -> None:
    """Each provider's word for it, in small letters or not, is a finding; what was said before it is kept."""
    reply = read(completion("Beca", finish_reason=reason))
    assert (reply.text, reply.finish_reason, reply.blocked) == ("Beca", reason, reason)


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "eos", "unsafe", "content_filter_off"])
def test_any_other_end_is_not_blocked(reason: str) -> None:
    """Only what is known to be a filter counts as one."""
    assert read(completion("Because.", finish_reason=reason)).blocked is None


@pytest.mark.parametrize("reason", ["insufficient_system_resource", "error", "network_error"])
def test_a_reply_that_the_endpoint_broke_off_is_a_failure_that_may_pass(reason: str) -> None:
    """Half an answer is no answer, however much of it there is: the call may be tried again."""
    failure = read_body(completion("Beca", finish_reason=reason), latency=0.5, retries=0)
    assert failure == Failure(message=f"the endpoint broke off: {reason}", status=200, body=reason)
    assert failure.is_transient


# Usage.


def test_cached_and_reasoning_tokens_are_read() -> None:
    """The details of the usage are kept."""
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5, "audio_tokens": 0},
    }
    assert read(completion("B", usage=usage)).usage == Usage(input=10, output=7, cached=4, reasoning=5)


ODD_COUNTS = (None, "12", "", [12], {"count": 12}, True, False, -1, 0.5, 1e300, 10**9 + 1, 10**30)
ODD_COUNTS += (float("nan"), float("inf"), -float("inf"))
ODD_USAGES: tuple[Any, ...] = (
    *(None, 7, True, "many", [1, 2], {}, {"total_tokens": 120}, {"prompt_tokens_details": [1]}),
    {"prompt_tokens": 100},
    {"completion_tokens": 20},
    {"prompt_tokens": 0, "completion_tokens": 0},
    {"prompt_tokens": 0, "completion_tokens": 20},
    {"prompt_tokens": 100, "completion_tokens": 0},
    *({"prompt_tokens": odd, "completion_tokens": odd} for odd in ODD_COUNTS),
    *({"prompt_tokens": 100, "completion_tokens": odd} for odd in ODD_COUNTS),
    *({"prompt_tokens": odd, "completion_tokens": 20} for odd in ODD_COUNTS),
)


def test_what_cannot_be_read_as_a_usage_is_none(subtests: pytest.Subtests) -> None:
    """An endpoint that does not say, of prompt and reply, how many tokens were used did not use none."""
    for usage in ODD_USAGES:
        with subtests.test(usage=usage):
            assert read(completion("B", usage=usage)).usage is None


@pytest.mark.parametrize(("read_as", "said"), [(100, 100.0), (10**9, 1e9), (1, 1)])
def test_whole_numbers_are_counts_of_tokens(read_as: int, said: float) -> None:
    """However they are written, up to a thousand million."""
    usage = read(completion("B", usage={"prompt_tokens": said, "completion_tokens": said})).usage
    assert usage == Usage(input=read_as, output=read_as)
    assert type(usage.input) is int


@pytest.mark.parametrize(
    ("body", "is_believed"),
    [
        pytest.param(completion(""), True, id="empty"),
        pytest.param(completion(None, message={"tool_calls": []}), True, id="null"),
        pytest.param(completion("", finish_reason="content_filter"), True, id="blocked"),
        pytest.param(completion("B", finish_reason="content_filter"), False, id="cut"),
        pytest.param(completion("", message={"reasoning": "Hm."}), False, id="thoughts"),
        pytest.param(completion(None, message={"refusal": "No."}), False, id="refusal"),
    ],
)
def test_only_a_reply_that_says_nothing_has_no_tokens(body: dict[str, Any], is_believed: bool) -> None:
    """A count of zero is right where a model has neither thought nor said anything."""
    usage = read({**body, "usage": {"prompt_tokens": 9, "completion_tokens": 0}}).usage
    assert usage == (Usage(input=9) if is_believed else None)


@pytest.mark.parametrize(
    ("cached", "reasoning", "expected"),
    [
        pytest.param({"cached_tokens": 50}, {"reasoning_tokens": 50}, (10, 7), id="more-than-all"),
        pytest.param({"cached_tokens": -1}, {"reasoning_tokens": -1}, (0, 0), id="negative"),
        pytest.param({"cached_tokens": "4"}, {"reasoning_tokens": None}, (0, 0), id="no-numbers"),
        pytest.param({"cached_tokens": 4}, {"reasoning_tokens": True}, (4, 0), id="one-of-two"),
        pytest.param(None, [5], (0, 0), id="no-objects"),
    ],
)
def test_an_odd_detail_is_no_reason_to_doubt_the_sums(
    cached: Any, reasoning: Any, expected: tuple[int, int]
) -> None:
    """It is left out, or cut to what there was at all."""
    details = {"prompt_tokens_details": cached, "completion_tokens_details": reasoning}
    usage = read(completion("B", usage={"prompt_tokens": 10, "completion_tokens": 7, **details})).usage
    assert usage == Usage(input=10, output=7, cached=expected[0], reasoning=expected[1])


def test_a_failure_that_was_counted_says_how_many_tokens() -> None:
    """What is of no use has been paid for all the same, where the endpoint says so."""
    for body in (completion("Beca", finish_reason="error"), {**completion("B"), "choices": []}):
        failure = read_body(body, latency=0.5, retries=0)
        assert isinstance(failure, Failure)
        assert failure.usage == Usage(input=100, output=20)


# No reply.


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": {}},
        {"choices": "B"},
        {"choices": [None]},
        {"choices": ["B"]},
        {"choices": [{"index": 0}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "B"}]},
        {"choices": [{"text": "B"}]},
    ],
    ids=str,
)
def test_a_body_without_a_message_is_a_failure_that_may_pass(data: dict[str, Any]) -> None:
    """It is what an endpoint sends that is busy or broken: the whole body is kept to tell it from others."""
    failure = read_body(data, latency=0.5, retries=0)
    assert isinstance(failure, Failure)
    assert failure.message.startswith("the answer has no choices: ")
    assert (failure.status, failure.body, failure.is_transient) == (200, data, True)


def test_a_body_that_is_an_error_says_so() -> None:
    """An error under status 200 is told in its own words."""
    failure = read_body({"error": {"message": "the model\nis busy"}}, latency=0.5, retries=0)
    assert isinstance(failure, Failure)
    assert failure.message == r"the answer has no choices: the model\nis busy"


@pytest.mark.parametrize(
    "data",
    [
        *(None, 5, ["a"], "hello", "x" * 10_000, "", "5", '"hello"', "[1, 2]", "[" * 100_000),
        *('{"choices": [', '<html>{"choices": []}</html>', 'data: {"choices": []}', "{}{}", "é", "\ufeff"),
    ],
    ids=lambda data: repr(data)[:20],
)
def test_a_body_that_is_no_object_is_a_failure_that_may_pass(data: Any) -> None:
    """Of what else an endpoint may send only the beginning is kept."""
    failure = read_body(data, latency=0.5, retries=0)
    assert failure == Failure(message="the answer is not a JSON object", status=200, body=str(data)[:500])
