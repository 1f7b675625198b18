"""What is made of the body of a chat completion, in whatever way an endpoint has put it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from equipoise.core.types import Reply, Role, Token, Usage
from equipoise.models.failures import Failure
from equipoise.models.response import duplicate_field, read_body, read_continuation
from loopback import completion, echo


def read(data: Any) -> Reply:
    """The reply in a body that has one."""
    reply = read_body(data, latency=0.5, retries=2)
    assert isinstance(reply, Reply), reply
    return reply


def failed(data: Any) -> Failure:
    """The failure in a body that has no reply."""
    failure = read_body(data, latency=0.5, retries=0)
    assert isinstance(failure, Failure), failure
    return failure


def said(message: dict[str, Any]) -> tuple[str, str | None]:
    """Text and reasoning of a reply with this message."""
    reply = read({"choices": [{"message": message}]})
    return reply.text, reply.reasoning


# The whole of it.


def test_a_body_of_only_choices_is_a_reply() -> None:
    """Without usage, model or end; of two choices the first is read, and a router's provider is kept."""
    body = {"choices": [{"message": {"content": "Because."}}]}
    assert read(body) == Reply(text="Because.", latency=0.5, retries=2)
    body["choices"].append({"message": {"content": "second"}})
    assert read({**body, "provider": "DeepInfra"}) == Reply(
        text="Because.", provider="DeepInfra", latency=0.5, retries=2
    )


def test_particulars_of_a_strange_kind_are_left_out(subtests: pytest.Subtests) -> None:
    """What should be a text and is none is as if it were not there."""
    for value in (None, "", 5, ["stop"], {"a": 1}):
        with subtests.test(value=value):
            body = completion("Because.", finish_reason=value)
            body["model"] = body["system_fingerprint"] = body["provider"] = value
            reply = read(body)
            particulars = (reply.finish_reason, reply.model, reply.fingerprint, reply.provider, reply.blocked)
            assert particulars == (None, None, None, None, None)


# Text and thoughts.

PARTS = [{"type": "text", "text": "Be"}, {"type": "text", "text": "cause."}]
HM = [{"type": "text", "text": "Hm, "}, {"type": "text", "text": "so."}]
SUMMARY = {"type": "reasoning", "summary": [{"text": "Hm, "}, {"text": "so."}]}


def test_text_and_reasoning_are_told_apart(subtests: pytest.Subtests) -> None:
    """Whatever the provider calls them; where thoughts cannot be read the answer is what there is."""
    contents: dict[str, tuple[Any, str, str | None]] = {
        "text": ("Because.", "Because.", None),
        **{"null": (None, "", None), "empty": ("", "", None), "no parts": ([], "", None)},
        "parts": (PARTS, "Because.", None),
        "thinking parts": ([{"type": "thinking", "thinking": HM}, *PARTS], "Because.", "Hm, so."),
        "thinking text": ([{"type": "thinking", "thinking": "Hm."}], "", "Hm."),
        "texts": (["Be", "cause."], "Because.", None),
        "output text": ([{"type": "output_text", "text": "B"}], "B", None),
        "refusal part": ([{"type": "refusal", "refusal": "No."}], "No.", None),
        "reasoning text part": ([{"type": "reasoning", "text": "Hm."}, "B"], "B", "Hm."),
        "reasoning summary part": ([SUMMARY, "B"], "B", "Hm, so."),
        "redacted thinking": ([{"type": "redacted_thinking"}, "B"], "B", None),
        "tags": ("<think>Hm.</think>\n\nB", "B", "Hm."),
        "only closing tag": ("Hm.\n</think>\nB", "B", "Hm."),
        "unended thoughts": ("<think>Hm. And then", "<think>Hm. And then", None),
        "tags in parts": ([{"type": "text", "text": "<think>Hm.</think>B"}], "B", "Hm."),
        "part without text": ([{"type": "text"}], "", None),
        "part of null": ([{"type": "text", "text": None}], "", None),
        "thinking of nothing": ([{"type": "thinking"}], "", None),
        "thinking of number": ([{"type": "thinking", "thinking": 5}], "", None),
    }
    messages: dict[str, tuple[dict[str, Any], str, str | None]] = {
        "nothing": ({}, "", None),
        "reasoning_content": ({"content": "B", "reasoning_content": "Hm."}, "B", "Hm."),
        "reasoning": ({"content": "B", "reasoning": "Hm."}, "B", "Hm."),
        "the same twice": ({"content": "B", "reasoning_content": "Hm.", "reasoning": "Hm."}, "B", "Hm."),
        "neither": ({"content": "B", "reasoning_content": "", "reasoning": None}, "B", None),
        "both places": ({"content": "<think>two</think>B", "reasoning_content": "one"}, "B", "one\n\ntwo"),
        "refusal": ({"content": None, "refusal": "I cannot."}, "I cannot.", None),
        "refusal and empty": ({"content": "", "refusal": "I cannot."}, "I cannot.", None),
        "refusal and text": ({"content": "B", "refusal": "I cannot."}, "B\n\nI cannot.", None),
        "refusal in text": ({"content": "B. I cannot.", "refusal": "I cannot."}, "B. I cannot.", None),
        "no refusal": ({"content": "B", "refusal": None}, "B", None),
        "refusal thought": ({"content": "<think>Hm.</think>", "refusal": "I cannot."}, "I cannot.", "Hm."),
        "reasoning of a list": ({"content": "B", "reasoning_content": ["Hm."]}, "B", None),
        "refusal of an object": ({"content": "B", "refusal": {"text": "no"}}, "B", None),
    }
    every = {
        name: ({"content": content}, text, thoughts) for name, (content, text, thoughts) in contents.items()
    }
    for what, (message, text, reasoning) in {**every, **messages}.items():
        with subtests.test(what):
            assert said(message) == (text, reasoning)


def test_tags_are_read_as_the_role_and_the_end_of_the_reply_say(subtests: pytest.Subtests) -> None:
    """One that mentions a tag is whole; thoughts that a limit cut are no answer; a verdict follows them."""
    verdict = '{"score": 5}'
    mention = f"Hm, <think>.</think>{verdict}"
    cases: tuple[tuple[str, str, Role, tuple[str, str | None, str | None]], ...] = (
        ("The tag <think> opens.", "stop", "subject", ("The tag <think> opens.", None, "whole")),
        ("Praise.</think>Balance.", "stop", "subject", ("Praise.</think>Balance.", None, "whole")),
        ("<think>Hm. And then", "length", "subject", ("", "Hm. And then", None)),
        ("<think>Hm. And then", "content_filter", "subject", ("", "Hm. And then", None)),
        ("Hm.\n</think>\nB", "stop", "subject", ("B", "Hm.", "unopened")),
        (mention, "stop", "evaluator", (verdict, "Hm,\n\n.", None)),
        (mention, "stop", "subject", (mention, None, "whole")),
    )
    for content, finish_reason, role, expected in cases:
        with subtests.test(content, role=role):
            body = completion(content, finish_reason=finish_reason)
            reply = read_body(body, latency=0.5, retries=0, role=role)
            assert isinstance(reply, Reply)
            assert (reply.text, reply.reasoning, reply.thought_tags) == expected


def test_thoughts_within_thoughts_are_read() -> None:
    """Parts that nest as deep as they like make a reply."""
    content: list[dict[str, Any]] = [{"type": "text", "text": "It opened in 1931."}]
    for _ in range(300):
        content = [{"type": "text", "text": ""}, {"type": "thinking", "thinking": content}]
    content.append({"type": "text", "text": "In 1931."})
    assert said({"content": content}) == ("In 1931.", "It opened in 1931.")


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
            failure = failed(body)
            assert failure == Failure(message=f"the content of the message {what}", status=200)
            assert failure.is_transient
            assert failure.usage == Usage(input=100, output=20)
    message = failed(completion(None, message={"content": [{"type": "\n" * 999}]})).message
    assert (len(message) < 300, message.isprintable()) == (True, True)


def test_a_field_that_stands_twice_is_noticed(subtests: pytest.Subtests) -> None:
    """From the choices to the content, in any spelling of the space around; not what a text only mentions."""
    body = json.dumps(completion('It says "content": "x", "content": "y".', logprobs={"content": []}))
    for text, field in (
        (body, None),
        (json.dumps(completion(None, message={"content": [{"type": "text", "text": "a"}] * 2})), None),
        (body.replace('"content":', '"content" : "B",\n"content"\t:', 1), "content"),
        (body.replace('"choices":', '"choices": [], "choices":', 1), "choices"),
        (body.replace('"message":', '"message": {}, "message":', 1), "message"),
        (body[:-3], None),
    ):
        with subtests.test(text[:80]):
            assert duplicate_field(text.encode()) == field


# JSON that was sent as something else.


def test_a_text_that_spells_json_is_read() -> None:
    """Completions of both kinds are sent so, and errors, whose message and filter's code are found."""
    for text in ("Because.", "香港 é 😀", "cut \ufffd"):
        body = json.dumps(completion(text), ensure_ascii=False)
        for spelled in (body, json.dumps(completion(text)), f" \r\n\t{body}\n", f"\ufeff\n {body}"):
            assert read(spelled) == read(completion(text)), spelled
    reply = read_continuation(json.dumps(echo("Why? Because", -0.5)), latency=0.5, retries=0)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tokens and len(reply.tokens)) == ("Why? Because So", 3)
    body = json.dumps({"error": {"message": "the model is busy", "code": "content_filter"}})
    failure = failed(body)
    assert failure.message == "the answer has no choices: the model is busy"
    assert failure.filter_code == "content_filter"


# Ends.


def test_the_finish_reason_says_how_a_reply_ended(subtests: pytest.Subtests) -> None:
    """Cut by a filter, which is a finding, broken off by the endpoint, which may pass, or neither."""
    for reason in ("content_filter", "sensitive", "SAFETY", "PROHIBITED_CONTENT", "blocklist"):
        with subtests.test(reason=reason):
            reply = read(completion("Beca", finish_reason=reason))
            assert (reply.text, reply.finish_reason, reply.blocked) == ("Beca", reason, reason)
    for reason in ("stop", "length", "tool_calls", "eos", "unsafe", "content_filter_off"):
        with subtests.test(reason=reason):
            assert read(completion("Because.", finish_reason=reason)).blocked is None
    for reason in ("insufficient_system_resource", "error", "network_error"):
        with subtests.test(reason=reason):
            failure = failed(completion("Beca", finish_reason=reason))
            assert failure == Failure(message=f"the endpoint broke off: {reason}", status=200, body=reason)
            assert (failure.is_transient, failure.usage) == (True, Usage(input=100, output=20))


# Usage.


ODD_COUNTS = (
    *(None, "12", "", [12], {"count": 12}, True, False, -1, 0.5, 1e300, 10**9 + 1, 10**30),
    *(float("nan"), float("inf"), -float("inf")),
)
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


def test_what_cannot_be_read_as_a_usage_is_none() -> None:
    """An endpoint that does not say, of prompt and reply, how many tokens were used did not use none."""
    readable = [usage for usage in ODD_USAGES if read(completion("B", usage=usage)).usage is not None]
    assert readable == []


def test_whole_numbers_are_counts_of_tokens(subtests: pytest.Subtests) -> None:
    """However they are written, up to a thousand million."""
    for read_as, count in ((100, 100.0), (10**9, 1e9), (1, 1)):
        with subtests.test(read_as=read_as):
            usage = read(completion("B", usage={"prompt_tokens": count, "completion_tokens": count})).usage
            assert usage == Usage(input=read_as, output=read_as)
            assert type(usage.input) is int


def test_only_a_reply_that_says_nothing_has_no_tokens(subtests: pytest.Subtests) -> None:
    """A count of zero is right where a model has neither thought nor said anything."""
    for what, (body, is_believed) in {
        "empty": (completion(""), True),
        "null": (completion(None, message={"tool_calls": []}), True),
        "blocked": (completion("", finish_reason="content_filter"), True),
        "cut": (completion("B", finish_reason="content_filter"), False),
        "thoughts": (completion("", message={"reasoning": "Hm."}), False),
        "refusal": (completion(None, message={"refusal": "No."}), False),
    }.items():
        with subtests.test(what):
            usage = read({**body, "usage": {"prompt_tokens": 9, "completion_tokens": 0}}).usage
            assert usage == (Usage(input=9) if is_believed else None)


def test_an_odd_detail_is_no_reason_to_doubt_the_sums(subtests: pytest.Subtests) -> None:
    """It is left out, or cut to what there was at all."""
    for what, (cached, reasoning, expected) in {
        "as-counted": ({"cached_tokens": 4}, {"reasoning_tokens": 5, "audio_tokens": 0}, (4, 5)),
        "more-than-all": ({"cached_tokens": 50}, {"reasoning_tokens": 50}, (10, 7)),
        "negative": ({"cached_tokens": -1}, {"reasoning_tokens": -1}, (0, 0)),
        "no-numbers": ({"cached_tokens": "4"}, {"reasoning_tokens": None}, (0, 0)),
        "one-of-two": ({"cached_tokens": 4}, {"reasoning_tokens": True}, (4, 0)),
        "no-objects": (None, [5], (0, 0)),
    }.items():
        with subtests.test(what):
            details = {"prompt_tokens_details": cached, "completion_tokens_details": reasoning}
            body = completion("B", usage={"prompt_tokens": 10, "completion_tokens": 7, **details})
            usage = read(body).usage
            assert usage == Usage(input=10, output=7, cached=expected[0], reasoning=expected[1])


# No reply.


def test_a_body_without_a_message_is_a_failure_that_may_pass(subtests: pytest.Subtests) -> None:
    """It is what an endpoint sends that is busy or broken: the whole body is kept to tell it from others."""
    choices = ([None], ["B"], [{"index": 0}], [{"message": None}], [{"message": "B"}], [{"text": "B"}])
    values: tuple[Any, ...] = (None, [], {}, "B", *choices)
    for data in ({}, *({"choices": value} for value in values)):
        with subtests.test(repr(data)[:40]):
            failure = failed(data)
            assert failure.message.startswith("the answer has no choices: ")
            assert (failure.status, failure.body, failure.is_transient) == (200, data, True)
    assert failed({**completion("B"), "choices": []}).usage == Usage(input=100, output=20)


def test_an_error_beside_a_reply_is_a_failure_that_may_pass(subtests: pytest.Subtests) -> None:
    """Wherever the error is; that of a filter has its code."""
    error = {"message": "upstream timed out", "code": "content_filter"}
    choice = completion("Beca")["choices"][0]
    for where, body in {
        "beside the choices": {**completion("Beca"), "error": error},
        "in the choice": completion("Beca", error=error),
        "in the message": completion("Beca", message={"error": error}),
        "in a continuation": {"choices": [{"text": "Beca", "error": error}]},
        "as text": {**completion("Beca"), "error": "upstream timed out"},
        "spelled as text": json.dumps({"choices": [choice], "error": error}),
    }.items():
        with subtests.test(where):
            read_any = read_continuation if where == "in a continuation" else read_body
            failure = read_any(body, latency=0.5, retries=0)
            assert isinstance(failure, Failure)
            assert failure.message == "the answer reports an error: upstream timed out"
            assert (failure.status, failure.is_transient) == (200, True)
            if where == "beside the choices":
                assert failure.filter_code == "content_filter"


def test_an_error_that_says_nothing_is_none(subtests: pytest.Subtests) -> None:
    """Many endpoints send an empty one with every reply."""
    errors: tuple[Any, ...] = (None, {}, "", [], False, 0, {"code": None, "message": ""}, {"code": 0})
    for error in errors:
        with subtests.test(error=error):
            assert read({**completion("B"), "error": error}).text == "B"
            assert read(completion("B", error=error)).text == "B"


def test_a_body_that_is_no_object_is_a_failure_that_may_pass(subtests: pytest.Subtests) -> None:
    """Of what else an endpoint may send only the beginning is kept."""
    for data in (
        *(None, 5, ["a"], "hello", "x" * 10_000, "", "5", '"hello"', "[1, 2]", "[" * 100_000),
        *('{"choices": [', '<html>{"choices": []}</html>', 'data: {"choices": []}', "{}{}", "é", "\ufeff"),
    ):
        with subtests.test(repr(data)[:40]):
            message = "the answer is not a JSON object"
            assert failed(data) == Failure(message=message, status=200, body=str(data)[:500])


# Probabilities of tokens.


def tokens_of(logprobs: Any) -> tuple[Token, ...] | None:
    """The tokens of a reply whose choice has these logprobs."""
    reply = read(completion("C", logprobs=logprobs))
    assert reply.text == "C"
    return reply.tokens


def top_of(rows: Any) -> dict[str, float]:
    """The likeliest tokens in a place with these rows."""
    tokens = tokens_of({"content": [{"token": "C", "logprob": -0.1, "top_logprobs": rows}]})
    assert tokens is not None
    return dict(tokens[0].top)


def test_the_likeliest_tokens_of_each_place_are_read() -> None:
    """As OpenAI gives them: token, logprob, bytes; the first place's and the second's."""
    rows = [
        {"token": "C", "logprob": -0.25, "bytes": [67]},
        {"token": " C", "logprob": -2.5, "bytes": [32, 67]},
    ]
    places = [
        {"token": "(", "logprob": 0, "bytes": [40], "top_logprobs": [{"token": "(", "logprob": 0}]},
        {"token": "C", "logprob": -0.25, "bytes": [67], "top_logprobs": rows},
    ]
    assert tokens_of({"content": places, "refusal": None}) == (
        Token(text="(", top={"(": 0.0}),
        Token(text="C", top={"C": -0.25, " C": -2.5}),
    )


def test_what_is_no_probability_of_a_token_is_left_out(subtests: pytest.Subtests) -> None:
    """Odd places, rows and logarithms; of a token that stands there twice the likelier counts."""
    contents: tuple[Any, ...] = (None, [], {}, "C", ["C", None, 5])
    nothing = [{"content": content} for content in contents]
    no_places: tuple[Any, ...] = (None, {}, [], "C", 5, {"tokens": ["C"], "token_logprobs": [-0.1]})
    for logprobs in (*no_places, *nothing):
        with subtests.test(logprobs=logprobs):
            assert tokens_of(logprobs) is None
    places = ["C", {"token": 5, "top_logprobs": []}, {"token": "C"}, {}]
    assert [token.text for token in tokens_of({"content": places}) or ()] == ["", "C", ""]
    no_rows: tuple[Any, ...] = (None, [], {}, "C", 5, [None, 5, "C", ["C", -0.1]], [{}])
    for rows in no_rows:
        with subtests.test(rows=rows):
            assert top_of(rows) == {}
    odd = [{"token": 7, "logprob": -1}, {"logprob": -1}, {"token": "C"}]
    no_logprobs: tuple[Any, ...] = (None, "-0.1", [])
    for logprob in (*no_logprobs, -math.inf, math.nan, math.inf, -9999.0, -1000, 0.5, 1):
        with subtests.test(logprob=logprob):
            rows = [{"token": "A", "logprob": logprob}, {"token": "B", "logprob": -1}, *odd]
            assert top_of(rows) == {"B": -1.0}
    for logprob in (0, -0.0, 1e-7, -999.5):
        with subtests.test(logprob=logprob):
            assert top_of([{"token": "A", "logprob": logprob}]) == {"A": logprob}
    assert top_of([{"token": "A", "logprob": value} for value in (-2.0, -1.0, -3.0)]) == {"A": -1.0}


def test_no_more_places_are_kept_than_a_label_needs() -> None:
    """A label stands at the beginning: eight places, however long the reply is."""
    places = [{"token": str(n), "top_logprobs": [{"token": str(n), "logprob": -n}]} for n in range(100)]
    assert [token.text for token in tokens_of({"content": places}) or ()] == list("01234567")
