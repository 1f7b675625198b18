"""One call against a scripted endpoint: what is sent, what is made of the answer, what is tried again."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any

import pytest

from equipoise import client as client_module
from equipoise.client import Client
from equipoise.errors import CallFailed
from equipoise.failures import Change
from equipoise.settings import Endpoint
from equipoise.types import Call, Message, Reply, Usage
from loopback import Answer, Loopback, completion, error

SCHEMA = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": {}}}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries come at once."""
    monkeypatch.setattr(client_module, "FIRST_WAIT", 0.001)


class Slot:
    """A slot that counts who holds it."""

    def __init__(self) -> None:
        self.held = 0
        self.taken = 0

    async def __aenter__(self) -> None:
        self.held += 1
        self.taken += 1

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.held -= 1


class Desk:
    """Asks through clients made for the occasion, and notes what they report."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.key = "the-key"
        self.slot = Slot()
        self.learned: list[tuple[str, Change]] = []
        self.retries: list[int] = []

    def ask(self, *calls: Call, together: bool = False, **options: Any) -> list[Reply | CallFailed]:
        """What one client makes of these calls, one after the other or all at the same time."""

        async def session() -> list[Reply | CallFailed]:
            client = self._client(**options)
            try:
                if together:
                    return await asyncio.gather(*(self._answer(client, call) for call in calls))
                return [await self._answer(client, call) for call in calls]
            finally:
                await client.close()

        return asyncio.run(session())

    def reply(self, call: Call, **options: Any) -> Reply:
        """The reply to a call that succeeds."""
        (answer,) = self.ask(call, **options)
        assert isinstance(answer, Reply), answer
        return answer

    def failure(self, call: Call, **options: Any) -> CallFailed:
        """The error of a call that fails."""
        (answer,) = self.ask(call, **options)
        assert isinstance(answer, CallFailed), answer
        return answer

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Parameter and action of everything learned."""
        return [(change.parameter, change.action) for _, change in self.learned]

    def _client(self, *, max_retries: int = 3, timeout: float = 10) -> Client:
        return Client(
            lambda role, model: Endpoint(base_url=self.base_url, api_key=self.key),
            max_retries=max_retries,
            timeout=timeout,
            on_learned=lambda model, change: self.learned.append((model, change)),
            on_retry=lambda: self.retries.append(self.slot.held),
        )

    async def _answer(self, client: Client, call: Call) -> Reply | CallFailed:
        try:
            return await client.complete(call, self.slot)
        except CallFailed as failed:
            return failed


@pytest.fixture
def desk(loopback: Loopback) -> Desk:
    """A desk whose endpoint is the scripted server."""
    return Desk(loopback.url)


def call(text: str = "Why?", model: str = "m", **parameters: Any) -> Call:
    """A subject's call."""
    return Call(
        role="subject", model=model, messages=(Message(role="user", content=text),), parameters=parameters
    )


def one_by_one(*steps: Answer | str) -> Callable[[dict[str, Any], int], Answer | str]:
    """A script that says these in turn, and the last one from then on."""
    return lambda body, number: steps[min(number, len(steps) - 1)]


def rejecting(*rules: tuple[Callable[[dict[str, Any]], bool], Answer]) -> Callable[..., Answer | str]:
    """A script that answers with the first rule whose condition the body meets, else with a reply."""

    def script(body: dict[str, Any], number: int) -> Answer | str:
        return next((answer for condition, answer in rules if condition(body)), "fine")

    return script


NO_TEMPERATURE = error(
    400,
    "Unsupported value: 'temperature' does not support 1 with this model.",
    param="temperature",
    code="unsupported_value",
)


# What is sent.


def test_the_body_holds_model_messages_and_given_parameters_only(loopback: Loopback, desk: Desk) -> None:
    """Nothing that the caller did not give is sent along."""
    desk.reply(call("香港 é 😀", temperature=0.0, top_k=40))
    (body,) = loopback.requests
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "香港 é 😀"}],
        "temperature": 0.0,
        "top_k": 40,
    }


def test_without_parameters_none_are_sent(loopback: Loopback, desk: Desk) -> None:
    """A call without parameters has a body of two keys."""
    desk.reply(call())
    assert loopback.requests[0].keys() == {"model", "messages"}


def test_the_key_goes_into_the_authorization_header(loopback: Loopback, desk: Desk) -> None:
    """The endpoint's key is sent as a bearer token."""
    desk.reply(call())
    assert loopback.headers[0]["Authorization"] == "Bearer the-key"


def test_subject_and_evaluator_each_use_their_own_endpoint(loopback: Loopback) -> None:
    """Where a model is reached, and with which key, depends on its role and name."""
    asked: list[tuple[str, str]] = []

    def endpoint(role: str, model: str) -> Endpoint:
        asked.append((role, model))
        return Endpoint(base_url=loopback.url, api_key=f"{role}-{model}-key")

    async def session() -> None:
        client = Client(endpoint, max_retries=0, timeout=10)
        await client.complete(call(), Slot())
        await client.complete(replace(call(model="e"), role="evaluator"), Slot())
        await client.close()

    asyncio.run(session())
    assert asked == [("subject", "m"), ("evaluator", "e")]
    keys = [headers["Authorization"] for headers in loopback.headers]
    assert keys == ["Bearer subject-m-key", "Bearer evaluator-e-key"]


@pytest.mark.parametrize("text", ["cut \ud83d here", "\udc80"])
def test_a_message_with_a_lone_surrogate_can_be_asked(loopback: Loopback, desk: Desk, text: str) -> None:
    """A reply that was cut inside a character reaches the evaluator and does not end the session."""
    desk.reply(call(text), max_retries=1)
    assert len(loopback.requests) == 1


# What is made of the answer.


def test_a_reply_holds_what_the_endpoint_said(loopback: Loopback, desk: Desk) -> None:
    """Text, finish reason, usage, model, fingerprint and latency are read from the body."""
    loopback.script = one_by_one(Answer(completion("Because.", finish_reason="length"), delay=0.02))
    reply = desk.reply(call())
    assert 0.02 <= reply.latency < 5
    assert reply == Reply(
        text="Because.",
        finish_reason="length",
        usage=Usage(input=100, output=20),
        model="scripted-1",
        fingerprint="fp_scripted",
        latency=reply.latency,
    )
    assert reply.is_truncated


def test_cached_and_reasoning_tokens_are_read(loopback: Loopback, desk: Desk) -> None:
    """The details of the usage are kept, null details are zero."""
    details = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5, "audio_tokens": 0},
    }
    empty: dict[str, Any] = {
        "prompt_tokens": 1,
        "prompt_tokens_details": None,
        "completion_tokens_details": {},
    }
    loopback.script = one_by_one(Answer(completion("a", usage=details)), Answer(completion("b", usage=empty)))
    replies = desk.ask(call(), call())
    assert [reply.usage for reply in replies if isinstance(reply, Reply)] == [
        Usage(input=10, output=7, cached=4, reasoning=5),
        Usage(input=1, output=0),
    ]


def test_a_body_of_only_choices_is_a_reply(loopback: Loopback, desk: Desk) -> None:
    """An endpoint that says nothing of usage, model or end gives a reply without them."""
    loopback.script = one_by_one(Answer({"choices": [{"message": {"content": "Because."}}]}))
    reply = desk.reply(call())
    assert reply == Reply(text="Because.", latency=reply.latency)


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
        pytest.param({"content": PARTS}, "Because.", None, id="parts"),
        pytest.param({"content": [THINKING, *PARTS]}, "Because.", "Hm, so.", id="thinking-parts"),
        pytest.param({"content": [{"type": "thinking", "thinking": "Hm."}]}, "", "Hm.", id="thinking-text"),
        pytest.param({"content": [{"type": "image_url"}, *PARTS]}, "Because.", None, id="other-parts"),
        pytest.param({"content": "B", "reasoning_content": "Hm."}, "B", "Hm.", id="reasoning_content"),
        pytest.param({"content": "B", "reasoning": "Hm."}, "B", "Hm.", id="reasoning"),
        pytest.param({"content": "B", "reasoning_content": "", "reasoning": None}, "B", None, id="neither"),
    ],
)
def test_text_and_reasoning_are_told_apart(
    loopback: Loopback, desk: Desk, message: dict[str, Any], text: str, reasoning: str | None
) -> None:
    """Whatever the provider calls them, the answer and the thoughts before it are kept separately."""
    loopback.script = one_by_one(Answer(completion(None, message=message)))
    reply = desk.reply(call())
    assert (reply.text, reply.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"message": {"content": 5}}, id="content-number"),
        pytest.param({"message": {"content": {"text": "B"}}}, id="content-object"),
        pytest.param({"message": {"content": ["B"]}}, id="content-list-of-texts"),
        pytest.param({"message": {"content": [{"type": "text"}]}}, id="part-without-text"),
        pytest.param({"usage": {"prompt_tokens_details": [1]}}, id="usage-details-list"),
        pytest.param({"usage": {"prompt_tokens": "12", "completion_tokens": "3"}}, id="usage-texts"),
        pytest.param({"usage": 7}, id="usage-number"),
    ],
)
def test_a_body_of_a_strange_shape_is_data_and_no_crash(
    loopback: Loopback, desk: Desk, changes: dict[str, Any]
) -> None:
    """Whatever an endpoint puts into its body, the call ends in a sound reply or in CallFailed."""
    loopback.script = one_by_one(Answer(completion("B", **changes)))
    (answer,) = desk.ask(call(), max_retries=0)
    if isinstance(answer, Reply):
        assert isinstance(answer.text, str)
        assert answer.usage is None or {type(n) for n in answer.usage.to_json().values()} == {int}


# Blocked.


def test_a_reply_that_the_filter_cut_is_blocked(loopback: Loopback, desk: Desk) -> None:
    """finish_reason content_filter is a finding; what was said before it is kept."""
    loopback.script = one_by_one(Answer(completion("Beca", finish_reason="content_filter")))
    reply = desk.reply(call())
    assert (reply.text, reply.finish_reason, reply.blocked) == ("Beca", "content_filter", "content_filter")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (error(400, "The prompt was filtered.", code="content_filter", param="prompt"), "content_filter"),
        (error(400, "Content Exists Risk", code="invalid_request_error"), "content_exists_risk"),
        (error(400, "Inappropriate content.", code="data_inspection_failed"), "data_inspection_failed"),
        (error(403, "Flagged.", code="content_policy_violation"), "content_policy_violation"),
    ],
    ids=["azure", "deepseek", "dashscope", "forbidden"],
)
def test_a_rejected_prompt_is_a_blocked_reply(
    loopback: Loopback, desk: Desk, answer: Answer, code: str
) -> None:
    """The provider's filter is a finding and no fault: nothing is retried, learned or raised."""
    loopback.script = one_by_one(answer)
    reply = desk.reply(call(temperature=1))
    assert reply == Reply(text="", finish_reason="content_filter", blocked=code, latency=reply.latency)
    assert (len(loopback.requests), desk.learned, desk.retries) == (1, [], [])


# Trying again.

PASSING = {
    "429": Answer({"error": {"message": "slow down"}}, 429),
    "500": Answer("oops", 500),
    "503-html": Answer("<html>Unavailable</html>", 503, {"Content-Type": "text/html"}),
    "408": Answer("", 408),
    "dropped": Answer(drop=True),
    "200-text": Answer("hello"),
    "200-cut-json": Answer('{"choices": [', headers={"Content-Type": "application/json"}),
    "200-list": Answer([1, 2]),
    "200-no-choices": Answer({"choices": []}),
    "200-null-choices": Answer({"choices": None}),
    "200-no-message": Answer({"choices": [{"index": 0}]}),
    "200-error": Answer({"error": {"message": "the model is busy"}}),
    "200-not-gzip": Answer("hello", headers={"Content-Encoding": "gzip"}),
    "204": Answer("", 204),
}
every_passing_failure = pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())


@every_passing_failure
def test_a_passing_failure_is_retried(loopback: Loopback, desk: Desk, answer: Answer) -> None:
    """After two failures of this kind the third attempt counts, and the reply says how many there were."""
    loopback.script = one_by_one(answer, answer, "fine")
    reply = desk.reply(call())
    assert (reply.text, reply.retries) == ("fine", 2)
    assert len(desk.retries) == 2
    assert loopback.requests == [loopback.requests[0]] * 3


@every_passing_failure
def test_exhausted_retries_end_the_session(loopback: Loopback, desk: Desk, answer: Answer) -> None:
    """Once all retries are used up the call fails in a way that stops the session."""
    loopback.script = one_by_one(answer)
    failed = desk.failure(call(), max_retries=2)
    assert failed.stops_session
    assert "subject 'm'" in str(failed)
    assert str(failed).endswith("(after 2 retries)")
    assert (len(loopback.requests), len(desk.retries)) == (3, 2)


def test_without_retries_the_first_failure_counts(loopback: Loopback, desk: Desk) -> None:
    """--max-retries 0 asks once."""
    loopback.script = one_by_one(Answer({"error": {"message": "slow down"}}, 429))
    failed = desk.failure(call(), max_retries=0)
    assert str(failed) == "subject 'm': HTTP 429: slow down"
    assert (failed.status, failed.stops_session) == (429, True)
    assert len(loopback.requests) == 1


def test_a_slot_is_held_only_while_in_flight(loopback: Loopback, desk: Desk) -> None:
    """A call that waits to be tried again leaves its place to others, and takes one for each attempt."""
    loopback.script = one_by_one(Answer("", 500), Answer("", 500), "fine")
    desk.reply(call())
    assert (desk.slot.taken, desk.slot.held) == (3, 0)
    assert desk.retries == [0, 0]


def test_the_endpoint_says_how_long_to_wait(loopback: Loopback, desk: Desk) -> None:
    """Retry-After in seconds is obeyed."""
    loopback.script = one_by_one(Answer("", 429, {"Retry-After": "0.1"}), "fine")
    started = time.perf_counter()
    desk.reply(call())
    assert time.perf_counter() - started >= 0.1


@pytest.mark.parametrize("header", ["soon", "Wed, 21 Oct 2015 07:28:00 GMT", "-5", "nan", ""])
def test_a_retry_after_that_is_no_number_is_no_obstacle(loopback: Loopback, desk: Desk, header: str) -> None:
    """An unreadable Retry-After leaves the usual wait."""
    loopback.script = one_by_one(Answer("", 429, {"Retry-After": header}), "fine")
    assert desk.reply(call()).retries == 1


@pytest.mark.parametrize("retries", [1, 2, 20, 1000, 5000])
def test_waits_grow_up_to_a_ceiling(monkeypatch: pytest.MonkeyPatch, retries: int) -> None:
    """The wait before a retry doubles each time, is never longer than the longest and never fails."""
    monkeypatch.setattr(client_module, "FIRST_WAIT", 0.5)
    longest = 60 if retries > 10 else min(0.5 * 2 ** (retries - 1), 60)
    assert longest / 2 <= client_module._wait(retries, None) <= longest


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_unknown_model_stops_at_once(loopback: Loopback, desk: Desk, status: int) -> None:
    """What would hit every further call is not retried and ends the session."""
    loopback.script = one_by_one(error(status, "No such thing."))
    failed = desk.failure(call())
    assert (failed.status, failed.stops_session) == (status, True)
    assert str(failed) == f"subject 'm': HTTP {status}: No such thing."
    assert (len(loopback.requests), desk.retries) == (1, [])


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_rejected_request_concerns_that_call_only(loopback: Loopback, desk: Desk, status: int) -> None:
    """Any other rejection fails this call, is not retried, and lets the session go on."""
    loopback.script = one_by_one(error(status, "Too long."))
    failed = desk.failure(call(temperature=1))
    assert (failed.status, failed.stops_session) == (status, False)
    assert (len(loopback.requests), desk.retries, desk.learned) == (1, [], [])


# Connections.


def test_an_answer_that_does_not_come_in_time_is_a_failure(loopback: Loopback, desk: Desk) -> None:
    """The call is given up after the timeout, which the error names."""
    loopback.script = one_by_one(Answer(completion("late"), delay=0.2))
    failed = desk.failure(call(), max_retries=0, timeout=0.05)
    assert str(failed) == "subject 'm': no answer within 0.05 s"
    assert (failed.status, failed.stops_session) == (None, True)


def test_a_timeout_is_retried(loopback: Loopback, desk: Desk) -> None:
    """An answer that is late once and in time the second time is a reply."""
    loopback.script = one_by_one(Answer(completion("late"), delay=0.2), "fine")
    reply = desk.reply(call(), timeout=0.1)
    assert (reply.text, reply.retries) == ("fine", 1)


@pytest.mark.parametrize("timeout", [0.5, 5.0, 30.0, 600.0])
def test_the_timeout_is_the_one_that_was_asked_for(loopback: Loopback, desk: Desk, timeout: float) -> None:
    """Whatever the library's own defaults are, the library is told this session's timeout."""
    desk.reply(call(), timeout=timeout)
    assert float(loopback.headers[0]["x-stainless-read-timeout"]) == timeout


def test_a_dropped_connection_is_not_called_a_timeout(loopback: Loopback, desk: Desk) -> None:
    """The error says that the connection failed, not that an answer was late."""
    loopback.script = one_by_one(Answer(drop=True))
    assert "connection failed" in str(desk.failure(call(), max_retries=0))


def test_an_endpoint_that_is_not_there_is_not_called_a_timeout() -> None:
    """A refused connection is reported as such: the user may have forgotten to start the server."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        desk = Desk(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
        failed = desk.failure(call(), max_retries=0)
    assert "connection failed" in str(failed)
    assert failed.stops_session


@contextmanager
def cutting_server(answer: bytes) -> Iterator[str]:
    """The base URL of a server that says exactly these bytes to its first caller and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(5)


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"choi',
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"c',
        b"HTTP/1.1 2",
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ],
    ids=["length", "chunk", "head", "no-http"],
)
def test_an_answer_that_is_cut_off_is_a_failed_call(answer: bytes) -> None:
    """A body or head that breaks off in the middle is an error of the transport and no crash."""
    with cutting_server(answer) as url:
        failed = Desk(url).failure(call(), max_retries=0)
    assert (failed.status, failed.stops_session) == (None, True)


# Learned parameters.


def test_a_rejected_parameter_is_sent_never_again(loopback: Loopback, desk: Desk) -> None:
    """The call is repeated without it, and later calls of the model leave it out from the start."""
    loopback.script = rejecting((lambda body: "temperature" in body, NO_TEMPERATURE))
    answers = desk.ask(call(temperature=1, top_p=0.5), call(temperature=1, top_p=0.5))
    assert [answer.retries for answer in answers if isinstance(answer, Reply)] == [0, 0]
    sent = [sorted(body.keys() - {"model", "messages"}) for body in loopback.requests]
    assert sent == [["temperature", "top_p"], ["top_p"], ["top_p"]]
    assert [(item.model, change.parameter) for item, change in desk.learned] == [("m", "temperature")]


def test_learning_costs_no_retry(loopback: Loopback, desk: Desk) -> None:
    """A call whose parameter is rejected is repeated even where no retries are allowed."""
    loopback.script = rejecting((lambda body: "temperature" in body, NO_TEMPERATURE))
    assert desk.reply(call(temperature=1), max_retries=0).text == "fine"
    assert desk.retries == []


def test_what_one_model_rejects_another_still_gets(loopback: Loopback, desk: Desk) -> None:
    """A rejection is remembered for its own model only."""
    loopback.script = rejecting((lambda b: b["model"] == "m" and "temperature" in b, NO_TEMPERATURE))
    desk.ask(call(temperature=1), call(model="n", temperature=1))
    assert [body.get("temperature") for body in loopback.requests] == [1, None, 1]


def test_a_renamed_parameter_keeps_its_value(loopback: Loopback, desk: Desk) -> None:
    """max_tokens goes out as max_completion_tokens once the endpoint has asked for that."""
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    loopback.script = rejecting((lambda body: "max_tokens" in body, error(400, message, param="max_tokens")))
    desk.ask(call(max_tokens=100), call(max_tokens=200))
    sent = [{name: body[name] for name in body if "tokens" in name} for body in loopback.requests]
    assert sent == [{"max_tokens": 100}, {"max_completion_tokens": 100}, {"max_completion_tokens": 200}]


def test_a_schema_is_given_up_step_by_step(loopback: Loopback, desk: Desk) -> None:
    """json_schema becomes json_object, then nothing; the next call starts where this one ended."""
    loopback.script = rejecting(
        (lambda body: "response_format" in body, error(400, "response_format is not supported"))
    )
    desk.ask(call(response_format=SCHEMA), call(response_format=SCHEMA))
    sent = [body.get("response_format") for body in loopback.requests]
    assert sent == [SCHEMA, {"type": "json_object"}, None, None]
    assert desk.changes == [("response_format", "replaced by json_object"), ("response_format", "dropped")]


def test_several_rejected_parameters_are_learned_one_after_the_other(loopback: Loopback, desk: Desk) -> None:
    """A call goes on as long as each error names another parameter."""
    loopback.script = rejecting(
        (lambda body: "temperature" in body, NO_TEMPERATURE),
        (lambda body: "top_k" in body, error(422, "top_k: Extra inputs are not permitted")),
    )
    assert desk.reply(call(temperature=1, top_k=5, top_p=0.5)).text == "fine"
    assert desk.changes == [("temperature", "dropped"), ("top_k", "dropped")]
    assert loopback.requests[-1].keys() == {"model", "messages", "top_p"}


def test_eight_calls_that_fail_at_once_learn_once(loopback: Loopback, desk: Desk) -> None:
    """Calls in flight together that are all rejected are all repeated, and the change is told once."""
    slow = Answer(NO_TEMPERATURE.body, 400, delay=0.1)
    loopback.script = rejecting((lambda body: "temperature" in body, slow))
    answers = desk.ask(*(call(f"{n}?", temperature=1) for n in range(8)), together=True)
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == ["fine"] * 8
    assert ["temperature" in body for body in loopback.requests] == [True] * 8 + [False] * 8
    assert desk.changes == [("temperature", "dropped")]


def test_a_request_id_in_the_message_does_not_make_it_news(loopback: Loopback, desk: Desk) -> None:
    """The same rejection in other words, as proxies that add a request id send it, is told once."""

    def script(body: dict[str, Any], number: int) -> Answer | str:
        message = f"Unsupported parameter: temperature (request id: {number})"
        return Answer({"error": {"message": message}}, 400, delay=0.1) if "temperature" in body else "fine"

    loopback.script = script
    desk.ask(*(call(f"{n}?", temperature=1) for n in range(8)), together=True)
    assert desk.changes == [("temperature", "dropped")]


def test_a_rejection_that_names_nothing_sent_is_not_repeated(loopback: Loopback, desk: Desk) -> None:
    """An endpoint that goes on complaining about what is not sent any more does not hold the call forever."""
    loopback.script = one_by_one(NO_TEMPERATURE)
    failed = desk.failure(call(temperature=1))
    assert (failed.status, failed.stops_session) == (400, False)
    assert len(loopback.requests) == 2
