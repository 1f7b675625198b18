"""One call against a scripted endpoint: what is sent, what is made of the answer, what is tried again."""

from __future__ import annotations

import asyncio
import json
import math
import time
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import openai
import pytest
from fakes import FakeSlot, complete, rude_server
from journals import ask

from equipoise.core.errors import CallFailed
from equipoise.core.settings import NO_KEY, Endpoint
from equipoise.core.types import Call, Reply, Role, Token, Usage
from equipoise.models import retry
from equipoise.models.client import Client
from equipoise.models.failures import Failure
from equipoise.models.parameter_changes import PREFILL, ParameterChange
from equipoise.models.redact import MASK, Secrets
from loopback import Answer, Loopback, completion, echo, error

pytestmark = pytest.mark.usefixtures("quick_retries")


class Caller:
    """Asks through clients made for the occasion, and notes what they report."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.key = "the-key"
        self.slot = FakeSlot()
        self.learned: list[tuple[Call, ParameterChange]] = []
        self.retries: list[int] = []

    def ask(self, *calls: Call, together: bool = False, **options: Any) -> list[Reply | CallFailed]:
        """What one client makes of these calls, one after the other or all at the same time."""
        at_once = len(calls) if together else 1
        options = {**self._options(), **options}
        return complete(self._endpoint, *calls, slot=self.slot, at_once=at_once, **options)

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

    def download(self) -> list[bytes | Failure]:
        """The lines of a file at the endpoint."""

        async def session() -> list[bytes | Failure]:
            client = Client(self._endpoint, **self._options())
            try:
                return [line async for line in client.download("subject", "m", "files/1/content")]
            finally:
                await client.close()

        return asyncio.run(session())

    @property
    def changes(self) -> list[tuple[str, str]]:
        """Parameter and action of everything learned."""
        return [(change.parameter, change.action) for _, change in self.learned]

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        return Endpoint(base_url=self.base_url, api_key=self.key)

    def _options(self) -> dict[str, Any]:
        return {
            **{"max_retries": 3, "timeout": 10, "secrets": Secrets([self.key])},
            "on_learned": lambda call, change: self.learned.append((call, change)),
            "on_retry": lambda why: self.retries.append(self.slot.held),
        }


@pytest.fixture
def caller(loopback: Loopback) -> Caller:
    """A caller whose endpoint is the scripted server."""
    return Caller(loopback.url)


def call(text: str = "Why?", **options: Any) -> Call:
    """A subject's call."""
    return ask(text, **options)


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


def test_the_body_holds_model_messages_and_given_parameters_only(loopback: Loopback, caller: Caller) -> None:
    """Nothing that the caller did not give goes along; a text that was cut inside a character goes out."""
    caller.reply(call("香港 é 😀", temperature=0.0, top_k=40))
    messages = [{"role": "user", "content": "香港 é 😀"}]
    assert loopback.requests == [{"model": "m", "messages": messages, "temperature": 0.0, "top_k": 40}]
    assert [caller.reply(call(text), max_retries=0).text != "" for text in ("cut \ud83d here", "\udc80")]
    assert len(loopback.requests) == 3


# What is made of the answer.


def test_a_reply_holds_what_the_endpoint_said(loopback: Loopback, caller: Caller) -> None:
    """Text, finish reason, usage, model, fingerprint and latency are read from the body."""
    loopback.script = one_by_one(Answer(completion("Because.", finish_reason="length"), delay=0.02))
    reply = caller.reply(call())
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


CHARSETS = ("utf-7", "utf-16", "zlib", "punycode", "klingon", "\t")
TYPES = (
    *("text/plain", "text/plain; charset=utf-8", "text/html", "text/html; charset=iso-8859-1"),
    *("application/octet-stream", "application/json ; charset=utf-8", "application/jsonl", "x", ""),
    *(f"text/plain; charset={name}" for name in CHARSETS),
)


def test_a_reply_is_read_whatever_it_is_sent_as(subtests: pytest.Subtests) -> None:
    """What was paid for is not thrown away for a header, or for want of one; nor does its text suffer."""
    body = json.dumps(completion("香港, Não."), ensure_ascii=False).encode()
    headers = [f"Content-Type: {kind}\r\n".encode() for kind in TYPES]
    for number, header in enumerate((b"", *headers)):
        for content in (b"\xef\xbb\xbf" + body, b"\n " + body, body)[number % 3 :][:1]:
            size = b"Content-Length: %d\r\n" % len(content)
            with (
                subtests.test(header=header, begins=content[:3]),
                rude_server(b"HTTP/1.1 200 OK\r\n" + header + size + b"\r\n" + content) as url,
            ):
                reply = Caller(url).reply(call(), max_retries=0)
                assert (reply.text, reply.usage) == ("香港, Não.", Usage(input=100, output=20))


def test_no_endpoint_gets_the_cookies_of_another(loopback: Loopback, caller: Caller) -> None:
    """Nor its own: one on the same host, which may be anybody's, could not be told from it."""
    cookies = {"Set-Cookie": "session=planted; Path=/"}
    loopback.script = lambda body, number: Answer(completion("Because."), 200, cookies)
    for host in ("127.0.0.1", "localhost"):
        caller.base_url = loopback.url.replace("127.0.0.1", host)
        caller.ask(call(), call())
    assert len(loopback.headers) == 4
    assert not any("Cookie" in headers for headers in loopback.headers)


def test_a_redirect_to_no_address_is_a_failed_call(subtests: pytest.Subtests) -> None:
    """Whatever stands in its Location header."""
    for location in ("http://[::1", "http://127.0.0.1:port/", "http://a\x01b/", "http://xn--\xe9--/"):
        head = f"HTTP/1.1 307 No\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        with subtests.test(location), rude_server(head.encode("latin-1")) as url:
            message = str(Caller(url).failure(call(), max_retries=0))
            assert message.startswith(
                "subject 'm': connection failed: the endpoint redirects to an address that"
            )
            assert message.isprintable()
        with subtests.test(f"of a file: {location}"), rude_server(head.encode("latin-1")) as url:
            (failure,) = Caller(url).download()
            assert isinstance(failure, Failure)
            assert failure.message.startswith("connection failed: the endpoint redirects to an address that")


def test_an_error_page_may_be_in_another_charset(subtests: pytest.Subtests) -> None:
    """What its header names is taken from a short list: others take minutes, or unpack what they read."""
    slow = b"\xff-" + b"b" * 300_000
    for charset, content, message in (
        ("gbk", "服务器繁忙".encode("gbk"), "服务器繁忙"),
        ("iso-8859-1", "Não.".encode("latin-1"), "Não."),
        ("klingon", b"\xff No.", "\ufffd No."),
        ("zlib", zlib.compress(bytes(10**6)), "x\ufffd"),
        ("punycode", slow, "\ufffd-bbb"),
    ):
        head = f"HTTP/1.1 400 No\r\nContent-Type: text/plain; charset={charset}\r\n"
        length = f"Content-Length: {len(content)}\r\n\r\n"
        started = time.monotonic()
        with subtests.test(charset), rude_server((head + length).encode() + content) as url:
            assert str(Caller(url).failure(call())).startswith(f"subject 'm': HTTP 400: {message}")
        assert time.monotonic() - started < 10


def test_an_error_is_read_whatever_it_is_sent_as(loopback: Loopback, caller: Caller) -> None:
    """Its message is told, and a filter's refusal is a finding."""
    for mark, kind in (("", "text/plain"), ("\n", "text/html"), ("\ufeff", "application/json")):
        errors = (error(400, "Too odd."), error(400, "No.", code="content_filter"))
        texts = [Answer(mark + json.dumps(answer.body), 400, {"Content-Type": kind}) for answer in errors]
        loopback.script = by_text({"odd": texts[:1], "filtered": texts[1:]})
        odd, filtered = caller.ask(call("odd"), call("filtered"))
        assert str(odd) == "subject 'm': HTTP 400: Too odd.", (mark, kind)
        assert isinstance(filtered, Reply)
        assert filtered.blocked == "content_filter", (mark, kind)


# Blocked.


def test_a_rejected_prompt_is_a_blocked_reply(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """The provider's filter is a finding, whatever the status: nothing is retried, learned or raised."""
    for code, answer in {
        "content_filter": error(400, "The prompt was filtered.", code="content_filter", param="prompt"),
        "content_policy_violation": error(403, "Flagged.", code="content_policy_violation"),
        "1301": Answer({"choices": [], "error": {"code": "1301", "message": "x"}}),
    }.items():
        with subtests.test(code):
            loopback.requests.clear()
            caller = Caller(loopback.url)
            loopback.script = one_by_one(answer)
            reply = caller.reply(call(temperature=1))
            assert reply == Reply(
                text="", finish_reason="content_filter", blocked=code, latency=reply.latency
            )
            assert (len(loopback.requests), caller.learned, caller.retries) == (1, [], [])


# Trying again.

# What may pass, and tells nothing of the request.
OUTAGES = {
    "429": Answer({"error": {"message": "slow down"}}, 429),
    "503-html": Answer("<html>Unavailable</html>", 503, {"Content-Type": "text/html"}),
    "dropped": Answer(drop=True),
    "200-cut-json": Answer('{"choices": [', headers={"Content-Type": "application/json"}),
    "200-too-deep": Answer("[" * 100_000, headers={"Content-Type": "application/json"}),
    "200-not-gzip": Answer("hello", headers={"Content-Encoding": "gzip"}),
}
# What may pass as well, but may be what this request will always get.
TELLING = {
    "500": Answer("oops", 500),
    "200-text": Answer("hello"),
    "200-page": Answer('<html>{"choices": []}</html>', headers={"Content-Type": "text/html"}),
    "200-content": Answer(completion(None, message={"content": 5})),
    "200-error": Answer({"error": {"message": "the model is busy"}}),
    "204": Answer("", 204),
}
PASSING = {**OUTAGES, **TELLING}


def by_text(steps: Mapping[str, Sequence[Answer | str]]) -> Callable[[dict[str, Any], int], Answer | str]:
    """A script that says these in turn to each text, and the last one from then on."""
    left = {text: deque(answers) for text, answers in steps.items()}

    def script(body: dict[str, Any], number: int) -> Answer | str:
        answers = left[body["messages"][-1]["content"]]
        return answers.popleft() if len(answers) > 1 else answers[0]

    return script


def test_a_passing_failure_is_retried(loopback: Loopback, caller: Caller) -> None:
    """After two failures of this kind the third attempt counts, and the reply says how many there were."""
    loopback.script = by_text({name: (answer, answer, "fine") for name, answer in PASSING.items()})
    answers = caller.ask(*map(call, PASSING))
    by_name = zip(PASSING, answers, strict=True)
    ends = {name: (getattr(answer, "text", answer), answer.retries) for name, answer in by_name}
    assert ends == dict.fromkeys(PASSING, ("fine", 2))
    assert caller.retries == [0] * 2 * len(PASSING)
    questions = [body["messages"][0]["content"] for body in loopback.requests]
    assert questions == [name for name in PASSING for _ in range(3)]


def test_an_outage_that_does_not_pass_ends_the_session(loopback: Loopback, caller: Caller) -> None:
    """Once all retries are used up the call fails in a way that stops the session."""
    loopback.script = by_text({name: (answer,) for name, answer in OUTAGES.items()})
    for name, failed in zip(OUTAGES, caller.ask(*map(call, OUTAGES), max_retries=4), strict=True):
        assert isinstance(failed, CallFailed), name
        assert (failed.stops_session, failed.retries) == (True, 4), name
        assert str(failed).startswith("subject 'm': "), name
        assert str(failed).endswith("(after 4 retries)"), name
    assert (len(loopback.requests), len(caller.retries)) == (5 * len(OUTAGES), 4 * len(OUTAGES))


def test_what_the_endpoint_always_says_of_one_request_fails_that_call_only(
    loopback: Loopback, caller: Caller
) -> None:
    """Three answers alike, while others are answered, and the call is given up but not the session."""
    loopback.script = by_text({"Why?": ("fine",), **{name: (answer,) for name, answer in TELLING.items()}})
    _, *others = caller.ask(call(), *map(call, TELLING), max_retries=12)
    for name, failed in zip(TELLING, others, strict=True):
        assert isinstance(failed, CallFailed), name
        assert (failed.stops_session, failed.retries) == (False, 2), name
        assert str(failed).endswith("(after 2 retries)"), name
    assert (len(loopback.requests), len(caller.retries)) == (1 + 3 * len(TELLING), 2 * len(TELLING))


def test_models_of_one_endpoint_share_its_health(loopback: Loopback, caller: Caller) -> None:
    """Another model that fails at the same address shows that the endpoint is down."""
    loopback.script = lambda body, number: Answer(f"oops, {body['model']}", 500, delay=0.01)
    answers = caller.ask(call(model="m"), call(model="n"), together=True, max_retries=5)
    assert [answer.stops_session for answer in answers if isinstance(answer, CallFailed)] == [True, True]


def test_a_call_waits_before_it_is_tried_again(loopback: Loopback, caller: Caller) -> None:
    """For at least half of the wait that is due, without a slot."""
    loopback.script = one_by_one(Answer("", 503), "fine")
    started = time.perf_counter()
    with retry.testing(first=0.2):
        assert caller.reply(call()).retries == 1
    assert time.perf_counter() - started >= 0.1


def test_a_slot_is_held_only_while_in_flight_and_told_how_every_attempt_ended(
    loopback: Loopback, caller: Caller
) -> None:
    """A call that waits leaves its slot to others; each attempt, rejected parameters too, takes one anew."""
    loopback.script = one_by_one(Answer("oops", 500), NO_TEMPERATURE, Answer(drop=True), "fine")
    reply = caller.reply(call(temperature=1))
    assert (caller.slot.taken, caller.slot.held) == (4, 0)
    assert caller.retries == [0, 0]
    assert [failure.status for failure in caller.slot.failures] == [500, 400, None]
    assert caller.slot.failures[0] == Failure(message="oops", status=500, body="oops")
    assert caller.slot.replies == [reply]
    assert caller.slot.errors == [None] * 4
    # A filter has answered, whatever it said; nobody is let in before a failure that may end the session.
    loopback.script = one_by_one(error(400, "x", code="content_filter"))
    assert caller.reply(call()) == caller.slot.replies[-1]
    loopback.script = one_by_one(error(401, "No."))
    assert caller.failure(call()) == caller.slot.errors[-1]


RETRY_INFO: list[dict[str, Any]] = [
    {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
]


def test_how_long_the_endpoint_wants_to_wait_is_told(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """What its headers say, or those that a gateway passes on, is for whoever gives out places to obey."""
    for what, (answer, seconds) in {
        "seconds": (Answer("", 429, {"Retry-After": "30"}), 30),
        "passed-on": (Answer({"error": {"metadata": {"headers": {"Retry-After": 7}}}}, 429), 7),
        "own-before-passed-on": (
            Answer({"metadata": {"headers": {"Retry-After": "7"}}}, 429, {"Retry-After": "5"}),
            5,
        ),
        "in-its-body": (Answer({"error": {"code": 429, "details": RETRY_INFO}}, 429), 34.5),
        "in-its-body-listed": (Answer([{"error": {"code": 429, "details": RETRY_INFO}}], 429), 34.5),
        "own-before-its-body": (Answer({"error": {"details": RETRY_INFO}}, 429, {"Retry-After": "5"}), 5),
        "unreadable-in-its-body": (
            Answer({"error": {"details": [{**RETRY_INFO[1], "retryDelay": 3}]}}, 429),
            None,
        ),
        "nothing": (Answer("", 429), None),
    }.items():
        with subtests.test(what):
            loopback.requests.clear()
            caller = Caller(loopback.url)
            loopback.script = one_by_one(answer, "fine")
            started = time.perf_counter()
            assert caller.reply(call()).retries == 1
            assert time.perf_counter() - started < 5
            assert [failure.retry_after for failure in caller.slot.failures] == [seconds]


def test_a_refused_key_or_unknown_model_stops_at_once(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """As does an empty account: nothing is retried, and it is told what to set."""
    other = "the key is from nowhere: set another there"
    money = "top up the account, then run the same command again"
    model = "check the model's name and --api-base-url"
    for status, key, words, advice in (
        *((401, "k", "No.", other), (402, "k", "No.", money), (403, "k", "No.", other)),
        *((404, "k", "No.", model), (429, "k", "No.", money), (404, "k", "", model)),
        (401, NO_KEY, "No.", "no key was given: set it in OPENAI_API_KEY"),
    ):
        with subtests.test(status=status, key=key, words=words):
            loopback.requests.clear()
            caller = Caller(loopback.url)
            caller.key = key
            code = "insufficient_quota" if status == 429 else None
            loopback.script = one_by_one(error(status, words, code=code) if words else Answer("", status))
            failed = caller.failure(call())
            assert (failed.status, failed.stops_session) == (status, True)
            assert str(failed) == f"subject 'm': HTTP {status}: {words or 'Not Found'}; {advice}"
            assert (len(loopback.requests), caller.retries) == (1, [])


def test_a_rejected_request_concerns_that_call_only(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """It is not retried, and the session goes on, unless it is about a value that the user has set."""
    too_large = error(400, "max_tokens is too large: 200. At most 100 are possible.", param="max_tokens")
    for request, answer, stops in (
        *((call(temperature=1), error(status, "Too long."), False) for status in (400, 413, 422)),
        (call(max_tokens=200), too_large, True),
        # More than the user has set.
        (replace(call(max_tokens=200), is_stretched=True), too_large, False),
    ):
        with subtests.test(status=answer.status, stops=stops):
            loopback.requests.clear()
            caller = Caller(loopback.url)
            loopback.script = one_by_one(answer)
            failed = caller.failure(request)
            assert (failed.status, failed.stops_session) == (answer.status, stops)
            assert (len(loopback.requests), caller.retries, caller.learned) == (1, [], [])


# Keys.


def test_a_key_in_a_reply_is_left_to_whoever_writes_it(loopback: Loopback, caller: Caller) -> None:
    """What is judged is what was said."""
    loopback.script = one_by_one(Answer(completion(f"You sent {caller.key}.")))
    assert caller.reply(call()).text == f"You sent {caller.key}."


def test_an_error_is_understood_before_it_is_masked(loopback: Loopback, caller: Caller) -> None:
    """A key that happens to be the name of a parameter does not hide what an endpoint complains of."""
    caller.key = "temperature"
    loopback.script = one_by_one(error(400, "'temperature' is not supported."), "Because.")
    assert caller.reply(call(temperature=0.5)).text == "Because."
    assert caller.changes == [("temperature", "dropped")]


def test_each_role_has_its_key_and_is_not_sent_that_of_the_other(loopback: Loopback) -> None:
    """Whoever said it; the endpoint's own, and what may be a word, is sent as it was said."""
    keys: dict[Role, str] = {"subject": "sk-the-subject-has", "evaluator": "sk-the-evaluator-has"}
    question = f"{keys['subject']} {keys['evaluator']} secret"
    models: list[tuple[Role, str]] = []

    def endpoint(role: Role, model: str) -> Endpoint:
        models.append((role, model))
        return Endpoint(base_url=loopback.url, api_key=keys[role])

    evaluator = replace(call(question, model="e"), role="evaluator")
    secrets = Secrets([*keys.values(), "secret"])
    complete(endpoint, call(question), evaluator, call("?"), secrets=secrets)
    assert [(role, model) for role, model in models if model] == [("subject", "m"), ("evaluator", "e")]
    sent = [body["messages"][0]["content"] for body in loopback.requests]
    assert sent == [f"{keys['subject']} {MASK} secret", f"{MASK} {keys['evaluator']} secret", "?"]
    used = [headers["Authorization"].removeprefix("Bearer ") for headers in loopback.headers]
    assert used == [keys["subject"], keys["evaluator"], keys["subject"]]


# Connections.


def test_an_answer_that_does_not_come_in_time_is_a_failure(loopback: Loopback, caller: Caller) -> None:
    """The call is given up after the timeout, which the error names, or tried again."""
    loopback.script = one_by_one(Answer(completion("late"), delay=60), "fine")
    failed = caller.failure(call(), max_retries=0, timeout=0.05)
    assert str(failed) == "subject 'm': no answer within 0.05 s"
    assert (failed.status, failed.stops_session) == (None, True)
    loopback.script = lambda body, number: Answer(completion("late"), delay=60) if number == 1 else "fine"
    reply = caller.reply(call(), timeout=0.4)
    assert reply.text == "fine"
    assert reply.retries >= 1  # more where a busy machine takes longer


def test_an_answer_that_trickles_is_given_up_as_well() -> None:
    """The time limit is on the whole answer: one that goes on coming byte by byte does not escape it."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    with rude_server(head, *[b" "] * 100) as url:
        failed = Caller(url).failure(call(), max_retries=0, timeout=0.2)
    assert str(failed) == "subject 'm': no answer within 0.2 s"


def test_headers_are_those_that_the_sdk_sends(
    loopback: Loopback, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An endpoint sees the requests of the SDK: key, organisation, project, headers of the user's own."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-own: 1\nuser-agent: mine")
    caller.reply(call(), timeout=5.0)

    async def ask_by_sdk() -> None:
        http = openai.DefaultAioHttpClient()
        async with openai.AsyncOpenAI(
            base_url=caller.base_url, api_key=caller.key, http_client=http, timeout=5.0
        ) as sdk:
            await sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])

    asyncio.run(ask_by_sdk())
    ours, theirs = ({**headers, "Content-Length": ""} for headers in loopback.headers)
    assert ours["x-own"] == "1"
    assert ours == theirs


JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
NO_ANSWERS = {
    "cut in its length": JSON_HEAD + b'Content-Length: 500\r\n\r\n{"choi',
    "cut in a chunk": JSON_HEAD + b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"c',
    "cut in the head": b"HTTP/1.1 2",
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n",
    "nothing": b"",
    "escapes in the status": b"HTTP/1.1 2\x1b[2J00 \x1b]0;x\x07OK\r\n\r\n",
    "escapes in a header": b"HTTP/1.1 200 OK\r\nX: " + b"\x1b" * 30_000 + b"\r\n\r\n",
    "escapes in a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\x1b[2Jzz\r\n\r\n",
    "escapes and no HTTP": b"\x1b[2J\x1b[31m\r\n\r\n\xff",
}


def test_an_answer_that_is_no_whole_http_is_a_failed_call(subtests: pytest.Subtests) -> None:
    """It is an error of the transport and no crash, told in one short line that commands no terminal."""
    for what, answer in NO_ANSWERS.items():
        with subtests.test(what), rude_server(answer) as url:
            failed = Caller(url).failure(call(), max_retries=0)
            assert (failed.status, failed.stops_session) == (None, True)
            assert str(failed).startswith("subject 'm': connection failed: ")
            assert str(failed).isprintable()
            assert len(str(failed)) < 600


def test_a_body_that_nests_too_deep_is_a_failure_of_the_call(loopback: Loopback, caller: Caller) -> None:
    """It is an answer that cannot be read like any other, whatever its status."""
    for status, depth in ((200, 100_000), (400, 600), (500, 600), (500, 100_000)):
        text = '{"choices":' + "[" * depth + "]" * depth + "}"
        loopback.script = one_by_one(Answer(text, status, {"Content-Type": "application/json"}))
        message = str(caller.failure(call(), max_retries=0))
        assert message.startswith("subject 'm': ")
        if status == 200:
            assert message.endswith("the body of the answer cannot be read: it is nested too deeply")


# Learned parameters.


def test_a_rejected_parameter_is_sent_never_again(loopback: Loopback, caller: Caller) -> None:
    """The call is repeated without it, which is no retry; later ones of this model alone leave it out."""
    loopback.script = rejecting((lambda b: b["model"] == "m" and "temperature" in b, NO_TEMPERATURE))
    calls = (call(temperature=1, top_p=0.5), call(temperature=1, top_p=0.5), call(model="n", temperature=1))
    answers = caller.ask(*calls, max_retries=0)
    assert [answer.retries for answer in answers if isinstance(answer, Reply)] == [0, 0, 0]
    sent = [sorted(body.keys() - {"model", "messages"}) for body in loopback.requests]
    assert sent == [["temperature", "top_p"], ["top_p"], ["top_p"], ["temperature"]]
    assert [(item.model, change.parameter) for item, change in caller.learned] == [("m", "temperature")]
    assert caller.retries == []


def test_the_newer_name_of_max_tokens_is_tried_once(loopback: Loopback, caller: Caller) -> None:
    """Where the endpoint names none; if it rejects that as well, the call fails: a limit is never lifted."""
    older = error(400, "Unsupported parameter: 'max_tokens'.", param="max_tokens")
    loopback.script = rejecting((lambda body: "max_tokens" in body, older))
    assert caller.reply(call(max_tokens=100)).text == "fine"
    assert [body.get("max_completion_tokens") for body in loopback.requests] == [None, 100]
    newer = error(400, "Unsupported parameter: 'max_completion_tokens'.", param="max_completion_tokens")
    loopback.script = rejecting(
        (lambda body: "max_tokens" in body, older), (lambda body: "max_completion_tokens" in body, newer)
    )
    [failed] = caller.ask(call(model="n", max_tokens=100))
    assert isinstance(failed, CallFailed)
    assert "'max_completion_tokens'" in str(failed)
    sent = [[name for name in body if "tokens" in name] for body in loopback.requests[2:]]
    assert sent == [["max_tokens"], ["max_completion_tokens"]]


def test_a_request_id_in_the_message_does_not_make_it_news(loopback: Loopback, caller: Caller) -> None:
    """The same rejection in other words, as proxies that add a request id send it, is told once."""

    def script(body: dict[str, Any], number: int) -> Answer | str:
        message = f"Unsupported parameter: temperature (request id: {number})"
        return Answer({"error": {"message": message}}, 400, delay=0.1) if "temperature" in body else "fine"

    loopback.script = script
    answers = caller.ask(*(call(f"{n}?", temperature=1) for n in range(8)), together=True)
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == ["fine"] * 8
    assert ["temperature" in body for body in loopback.requests] == [True] * 8 + [False] * 8
    assert caller.changes == [("temperature", "dropped")]


def test_a_rejection_that_names_nothing_sent_is_not_repeated(loopback: Loopback, caller: Caller) -> None:
    """An endpoint that goes on complaining about what is not sent any more does not hold the call forever."""
    loopback.script = one_by_one(NO_TEMPERATURE)
    failed = caller.failure(call(temperature=1))
    assert (failed.status, failed.stops_session) == (400, False)
    assert len(loopback.requests) == 2


# Prefill and probabilities.

LABEL: dict[str, Any] = {"logprobs": True, "top_logprobs": 20, PREFILL: "(", "max_tokens": 16}
ROWS = [{"token": name, "logprob": math.log(share)} for name, share in (("C", 0.5), ("A", 0.25))]
LIKELY = Answer(completion("C", logprobs={"content": [{"token": "C", "top_logprobs": ROWS}]}))


def ends_with_assistant(body: dict[str, Any]) -> bool:
    """Whether a request has a prefill."""
    return bool(body["messages"][-1]["role"] == "assistant")


def test_a_prefill_is_a_last_message_and_probabilities_come_back(loopback: Loopback, caller: Caller) -> None:
    """It is no parameter of the endpoint's; everything else is."""
    loopback.script = one_by_one(LIKELY)
    reply = caller.reply(call(**LABEL))
    assert loopback.requests == [
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "("}],
            **{name: value for name, value in LABEL.items() if name != PREFILL},
        }
    ]
    assert reply.tokens == (Token(text="C", top={"C": math.log(0.5), "A": math.log(0.25)}),)
    assert caller.learned == []


def test_an_endpoint_that_takes_none_of_it_is_asked_plainly(loopback: Loopback, caller: Caller) -> None:
    """Prefill, probabilities and their number go one after the other, each told once; the text remains."""
    loopback.script = rejecting(
        (ends_with_assistant, error(400, "This model does not support assistant message prefill.")),
        (lambda body: "top_logprobs" in body, error(400, "Unknown parameter: 'top_logprobs'")),
        (lambda body: "logprobs" in body, error(400, "logprobs is not supported")),
    )
    answers = caller.ask(call(**LABEL), call(**LABEL))
    assert [answer.text for answer in answers if isinstance(answer, Reply)] == ["fine"] * 2
    assert [ends_with_assistant(body) for body in loopback.requests] == [True, *[False] * 5]
    tops = [body.get("top_logprobs") for body in loopback.requests]
    assert tops == [20, 20, 5, None, None, None]
    assert loopback.requests[-1].keys() == {"model", "messages", "max_tokens"}
    assert caller.changes == [
        ("prefill", "dropped"),
        ("top_logprobs", "replaced by 5"),
        ("top_logprobs", "dropped"),
        ("logprobs", "dropped"),
    ]


# Plain completions.

ECHO: dict[str, Any] = {"continues": True, "echo": True, "logprobs": 1, "max_tokens": 1}


def test_a_text_is_continued_by_the_endpoint_for_that(loopback: Loopback, caller: Caller) -> None:
    """The text is the prompt; the parameter of ours is not sent."""
    loopback.continuation = lambda body: " there was a model."
    reply = caller.reply(call("Once upon a time", continues=True, stop=["Q"]))
    assert reply.text == " there was a model."
    assert loopback.texts == [{"model": "m", "prompt": "Once upon a time", "stop": ["Q"]}]
    assert loopback.requests == []


def test_a_text_comes_back_with_its_probabilities(loopback: Loopback, caller: Caller) -> None:
    """All tokens, also those that the model was given."""
    loopback.continuation = lambda body: Answer(echo(body["prompt"], -0.25, -4.0))
    reply = caller.reply(call("Whose? Answer: South Sudan", **ECHO))
    assert reply.tokens is not None
    assert [(token.text, dict(token.top)) for token in reply.tokens] == [
        ("Whose?", {}),
        (" Answer:", {" Answer:": -2.3}),
        (" South", {" South": -0.25}),
        (" Sudan", {" Sudan": -4.0}),
        (" So", {" So": -0.5}),
    ]


def test_an_endpoint_that_gives_no_text_back_is_asked_once(
    loopback: Loopback, subtests: pytest.Subtests
) -> None:
    """The call is declined, which is no failure to report; further ones are not sent."""
    for what, answer in {
        "none": None,
        "refused": lambda body: error(400, "echo is not supported"),
        "method": lambda body: error(405, "Method Not Allowed"),
        "no echo": lambda body: " South Sudan.",
        "another text": lambda body: Answer(echo("Another text")),
        "no probabilities": lambda body: Answer(
            {**echo(body["prompt"]), "choices": [{"index": 0, "text": body["prompt"]}]}
        ),
    }.items():
        with subtests.test(what):
            loopback.texts.clear()
            caller = Caller(loopback.url)
            loopback.continuation = answer
            outcomes = caller.ask(call("Answer: A", **ECHO), call("Answer: B", **ECHO))
            assert [isinstance(item, CallFailed) and item.is_declined for item in outcomes] == [True, True]
            assert not any(isinstance(item, CallFailed) and item.stops_session for item in outcomes)
            assert len(loopback.texts) == 1


def test_a_refused_key_is_no_declining(loopback: Loopback, caller: Caller) -> None:
    """It ends the session, as anywhere."""
    loopback.continuation = lambda body: error(401, "Incorrect API key")
    failure = caller.failure(call("Answer: A", **ECHO))
    assert (failure.is_declined, failure.stops_session) == (False, True)


def test_a_proxy_that_refuses_in_the_middle_of_a_session_ends_it(loopback: Loopback, caller: Caller) -> None:
    """Its password has changed, or run out: every other call would be refused, too."""
    script = loopback.script
    loopback.script = lambda body, number: error(407, "Who?") if number else script(body, number)
    _, failure = caller.ask(call("One?"), call("Two?"))
    assert isinstance(failure, CallFailed)
    assert failure.stops_session
    assert "check the proxy" in str(failure)
    assert len(loopback.requests) == 2


def test_the_proxy_of_the_environment_is_used(
    loopback: Loopback, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its password, and not for the hosts that are exempt."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{loopback.port}")
    assert Caller("http://model.invalid/v1").reply(call("Who?")).text == "An answer to: Who?"
    assert loopback.headers[-1]["Host"] == "model.invalid"
    assert loopback.headers[-1]["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"
    refusal = b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n"
    with rude_server(refusal) as url:
        monkeypatch.setenv("https_proxy", url.removesuffix("/v1").replace("//", "//me:secret@"))
        failure = Caller("https://model.invalid/v1").failure(call())
        advice = "check the proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, and its password"
        assert str(failure) == f"subject 'm': HTTP 407: the proxy refuses: Who are you?; {advice}"
        assert failure.stops_session
    # It listens no more.
    message = str(Caller("https://model.invalid/v1").failure(call(), max_retries=0))
    assert message.startswith("subject 'm': connection to the proxy failed: ")
    assert message.endswith(f"; {advice}")
    monkeypatch.setenv("no_proxy", "model.invalid")
    assert "connection failed" in str(Caller("http://model.invalid/v1").failure(call(), max_retries=0))
    assert len(loopback.requests) == 1
