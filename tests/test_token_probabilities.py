"""Probabilities of tokens: how they are asked for, read from a body, kept, and done without."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from types import TracebackType
from typing import Any

import pytest

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Message, Reply, Token
from equipoise.models import client, retry
from equipoise.models.client import Client
from equipoise.models.failures import FEWER_LOGPROBS, PREFILL, Change, Failure, rejected_parameter
from equipoise.models.redact import Secrets
from equipoise.models.response import MOST_PLACES, read_body
from loopback import Answer, Loopback, completion, error

PARAMETERS: dict[str, Any] = {"logprobs": True, "top_logprobs": 20, PREFILL: "(", "max_tokens": 16}
CALL = Call(
    role="evaluator",
    model="m",
    messages=(Message(role="system", content="Judge."), Message(role="user", content="Why?")),
    parameters=PARAMETERS,
)

# Bodies.


def tokens_of(logprobs: Any) -> tuple[Token, ...] | None:
    """The tokens of a reply whose choice has these logprobs."""
    reply = read_body(completion("C", logprobs=logprobs), latency=0.0, retries=0)
    assert isinstance(reply, Reply)
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


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        [],
        "C",
        5,
        {"content": None},
        {"content": []},
        {"content": {}},
        {"content": "C"},
        {"content": ["C", None, 5]},
        {"tokens": ["C"], "token_logprobs": [-0.1]},
    ],
    ids=repr,
)
def test_without_probabilities_a_reply_has_no_tokens(logprobs: Any) -> None:
    """Nothing, or something in another shape, is None and no failure."""
    assert tokens_of(logprobs) is None


@pytest.mark.parametrize("rows", [None, [], {}, "C", 5, [None, 5, "C", ["C", -0.1]], [{}]], ids=repr)
def test_a_place_without_rivals_is_a_token_alone(rows: Any) -> None:
    """Rows of a strange shape are left out; the place is still there."""
    assert top_of(rows) == {}


def test_a_place_of_a_strange_shape_is_left_out() -> None:
    """A place that is no object is none; a token that is no text is an empty one."""
    places = ["C", {"token": 5, "top_logprobs": []}, {"token": "C"}, {}]
    assert [token.text for token in tokens_of({"content": places}) or ()] == ["", "C", ""]


@pytest.mark.parametrize(
    "logprob",
    [None, "-0.1", [], -math.inf, math.nan, math.inf, -9999.0, -1000, 0.5, 1],
    ids=repr,
)
def test_what_is_no_logarithm_of_a_probability_is_left_out(logprob: Any) -> None:
    """Null, infinity, very low numbers and more than certainty say nothing of a token."""
    rows = [{"token": "A", "logprob": logprob}, {"token": "B", "logprob": -1}, {"token": 7, "logprob": -1}]
    assert top_of([*rows, {"logprob": -1}, {"token": "C"}]) == {"B": -1.0}


@pytest.mark.parametrize("logprob", [0, -0.0, 1e-7, -999.5])
def test_the_ends_of_what_is_a_logarithm(logprob: float) -> None:
    """Certainty counts, and so does what rounding made a little more of it."""
    assert top_of([{"token": "A", "logprob": logprob}]) == {"A": logprob}


def test_of_a_token_that_stands_there_twice_the_likelier_counts() -> None:
    """Different bytes may read alike; they are not added up, as nobody knows whether they are the same."""
    rows = [{"token": "A", "logprob": value} for value in (-2.0, -1.0, -3.0)]
    assert top_of(rows) == {"A": -1.0}


def test_no_more_places_are_kept_than_a_label_needs() -> None:
    """A label stands at the beginning: eight places, however long the reply is."""
    places = [{"token": str(n), "top_logprobs": [{"token": str(n), "logprob": -n}]} for n in range(100)]
    found = tokens_of({"content": places}) or ()
    assert [token.text for token in found] == list("01234567")
    assert len(found) == MOST_PLACES


# What is kept.


@pytest.mark.parametrize(
    "tokens",
    [
        None,
        (Token(text="", top={}),),
        (Token(text="(", top={"(": 0.0}), Token(text="C", top={"C": -0.25, " 香": -7.125})),
    ],
    ids=["none", "bare", "two"],
)
def test_a_reply_with_tokens_is_read_back_as_it_was(tokens: tuple[Token, ...] | None) -> None:
    """Through the JSON of a journal, figures unrounded."""
    reply = Reply(text="C", latency=0.5, tokens=tokens)
    data = json.loads(json.dumps(reply.to_json()))
    assert Reply.from_json(data) == reply
    assert ("tokens" in data) == (tokens is not None)


# What is sent.


def test_a_prefill_is_a_last_message_of_the_assistant() -> None:
    """It is no parameter of the endpoint's; everything else is."""
    assert client._body(CALL, PARAMETERS) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": "Why?"},
            {"role": "assistant", "content": "("},
        ],
        "logprobs": True,
        "top_logprobs": 20,
        "max_tokens": 16,
    }
    assert len(CALL.messages) == 2


def test_without_a_prefill_the_messages_are_those_of_the_call() -> None:
    """Nothing is added."""
    body = client._body(CALL, {"logprobs": True})
    assert body == {"model": "m", "messages": CALL.messages, "logprobs": True}


# What endpoints reject.

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
PREFILL_DROPPED = ("prefill", "dropped")
FEWER = ("top_logprobs", "replaced by 5")


def failure(message: str, status: int = 400, **body: Any) -> Failure:
    """An endpoint's complaint."""
    return Failure(message=message, status=status, body={"message": message, **body})


def change(message: str, parameters: dict[str, Any] = PARAMETERS, **more: Any) -> tuple[str, str] | None:
    """Which parameter a complaint makes us change, and how."""
    found = rejected_parameter(failure(message, **more), parameters)
    return None if found is None else (found.parameter, found.action)


@pytest.mark.parametrize("message", PREFILL_REJECTIONS.values(), ids=PREFILL_REJECTIONS)
@pytest.mark.parametrize("param", [None, "messages", "messages.2.role"])
def test_a_rejected_prefill_is_dropped(message: str, param: str | None) -> None:
    """However the endpoint says so, and though it knows the prefill as a message only."""
    assert change(message, param=param) == PREFILL_DROPPED
    assert change(message, status=422, param=param) == PREFILL_DROPPED


@pytest.mark.parametrize("message", PREFILL_REJECTIONS.values(), ids=PREFILL_REJECTIONS)
def test_without_a_prefill_such_a_complaint_is_about_something_else(message: str) -> None:
    """Nothing is dropped that was not sent, nor where the endpoint did not understand us at all."""
    assert change(message, {"logprobs": True}) is None
    assert change(message, status=500) is None


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Invalid value for 'top_logprobs': must be less than or equal to 5.", "top_logprobs"),
        ("top_logprobs is invalid: at most 8", None),
        ("Invalid top_logprobs: must be between 0 and 5", None),
        ("Unsupported parameter: 'top_logprobs'", None),
    ],
)
def test_too_many_likeliest_tokens_become_five(message: str, param: str | None) -> None:
    """Every endpoint that gives any gives five."""
    assert FEWER_LOGPROBS == 5
    assert change(message, param=param) == FEWER


@pytest.mark.parametrize("given", [5, 1])
def test_five_likeliest_tokens_are_not_made_fewer(given: int) -> None:
    """Where even those are not taken they are dropped; a complaint about their value is left alone."""
    parameters = {**PARAMETERS, "top_logprobs": given}
    assert change("Unsupported parameter: 'top_logprobs'", parameters) == ("top_logprobs", "dropped")
    assert change("Invalid top_logprobs: must be between 0 and 0", parameters) is None


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("logprobs are not supported with this model.", None),
        ("You are not allowed to request logprobs from this model", None),
        ("This is not to be had.", "logprobs"),
        ("Unrecognized request argument supplied: logprobs", None),
    ],
)
def test_probabilities_that_are_not_given_are_not_asked_for(message: str, param: str | None) -> None:
    """The parameter is dropped."""
    assert change(message, param=param) == ("logprobs", "dropped")


def test_a_limit_on_length_is_not_taken_for_a_prefill() -> None:
    """A complaint that names another parameter is about that one."""
    message = "Unsupported parameter: 'max_tokens' with an assistant message"
    assert change(message) is None


# A session with an endpoint.


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries come at once."""
    monkeypatch.setattr(retry, "FIRST_BACKOFF", 0.001)


class FakePlace:
    """Leave for any number of attempts."""

    async def __aenter__(self) -> None:
        """Come in."""

    def succeed(self, reply: Reply) -> None:
        """Take note."""

    def fail(self, failure: Failure) -> None:
        """Take note."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Go out."""


def ask(server: Loopback, *calls: Call) -> tuple[list[Reply], list[tuple[str, str, str]]]:
    """The replies to these calls, and what was learned: model, parameter and action."""
    learned: list[tuple[str, str, str]] = []

    def note(call: Call, change: Change) -> None:
        learned.append((call.model, change.parameter, change.action))

    async def session() -> list[Reply]:
        reached = Client(
            lambda role, model: Endpoint(base_url=server.url, api_key="the-key"),
            max_retries=2,
            timeout=10,
            secrets=Secrets([]),
            on_learned=note,
        )
        try:
            return [await reached.complete(call, FakePlace()) for call in calls]
        finally:
            await reached.close()

    return asyncio.run(session()), learned


def refusing(*rules: tuple[Callable[[dict[str, Any]], bool], Answer]) -> Callable[..., Any]:
    """A script that answers with the first rule whose condition the body meets, else with probabilities."""
    rows = [{"token": name, "logprob": math.log(share)} for name, share in (("C", 0.5), ("A", 0.25))]
    logprobs = {"content": [{"token": "C", "top_logprobs": rows}]}
    fine = Answer(completion("C", logprobs=logprobs))
    return lambda body, number: next((answer for applies, answer in rules if applies(body)), fine)


def ends_with_assistant(body: dict[str, Any]) -> bool:
    """Whether a request has a prefill."""
    return bool(body["messages"][-1]["role"] == "assistant")


def test_a_prefill_and_its_probabilities_go_there_and_back(loopback: Loopback) -> None:
    """The prefill is sent as a message, and the probabilities come home with the reply."""
    loopback.script = refusing()
    (reply,), learned = ask(loopback, CALL)
    assert [message["role"] for message in loopback.requests[0]["messages"]] == [
        "system",
        "user",
        "assistant",
    ]
    assert PREFILL not in loopback.requests[0]
    assert reply.tokens == (Token(text="C", top={"C": math.log(0.5), "A": math.log(0.25)}),)
    assert learned == []


@pytest.mark.parametrize("message", PREFILL_REJECTIONS.values(), ids=PREFILL_REJECTIONS)
def test_a_rejected_prefill_is_learned_once(loopback: Loopback, message: str) -> None:
    """The same call is sent again without it, the next is sent without it at once, and it is recorded."""
    loopback.script = refusing((ends_with_assistant, error(400, message)))
    replies, learned = ask(loopback, CALL, CALL)
    assert all(reply.tokens for reply in replies)
    assert [ends_with_assistant(body) for body in loopback.requests] == [True, False, False]
    assert [body["top_logprobs"] for body in loopback.requests] == [20, 20, 20]
    assert learned == [("m", *PREFILL_DROPPED)]


def test_fewer_likeliest_tokens_are_learned_once(loopback: Loopback) -> None:
    """20, then 5, and 5 at once for the next call."""
    too_many = error(400, "Invalid value for 'top_logprobs': must be at most 5.", param="top_logprobs")
    loopback.script = refusing((lambda body: body["top_logprobs"] > 5, too_many))
    replies, learned = ask(loopback, CALL, CALL)
    assert all(reply.tokens for reply in replies)
    assert [body["top_logprobs"] for body in loopback.requests] == [20, 5, 5]
    assert learned == [("m", *FEWER)]


def test_an_endpoint_that_takes_none_of_it_is_asked_plainly(loopback: Loopback) -> None:
    """Prefill, probabilities and their number go one after the other, each recorded, and the text remains."""
    loopback.script = refusing(
        (ends_with_assistant, error(400, PREFILL_REJECTIONS["anthropic"])),
        (lambda body: "top_logprobs" in body, error(400, "Unknown parameter: 'top_logprobs'")),
        (lambda body: "logprobs" in body, error(400, "logprobs is not supported")),
    )
    (reply,), learned = ask(loopback, CALL)
    assert reply.text == "C"
    assert loopback.requests[-1].keys() == {"model", "messages", "max_tokens"}
    assert learned == [
        ("m", *PREFILL_DROPPED),
        ("m", *FEWER),
        ("m", "top_logprobs", "dropped"),
        ("m", "logprobs", "dropped"),
    ]


def test_a_complaint_that_we_cannot_meet_fails(loopback: Loopback) -> None:
    """Nothing is dropped in the dark."""
    loopback.script = refusing((lambda body: True, error(400, "That is not how it is done.")))
    with pytest.raises(CallFailed, match="That is not how it is done"):
        ask(loopback, CALL)
    assert len(loopback.requests) == 1
