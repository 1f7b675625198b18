"""What an endpoint does to get at a key, or to have it repeated: the client alone, in process."""

from __future__ import annotations

import re
from pathlib import Path

import journals
import pytest
from fakes import complete, rude_server

from equipoise.core.settings import Endpoint
from equipoise.core.types import Reply, Role
from equipoise.models.redact import MASK, Secrets
from loopback import Answer, Loopback, Script, completion, error, plain_script

KEY = "sk-planted-subject-Zq81"
OTHERS_KEY = "sk-planted/judge+Xw52"


def ask(url: str, *roles: Role, others_url: str | None = None, hidden: tuple[str, ...] = ()) -> list[str]:
    """What one client that does not retry makes of a call in each role: the reply's text, or the error."""
    endpoints: dict[Role, Endpoint] = {
        "subject": Endpoint(base_url=url, api_key=KEY),
        "evaluator": Endpoint(base_url=others_url or url, api_key=OTHERS_KEY, takes_environment=False),
    }
    calls = [journals.ask("What is one?", role=role) for role in roles or ("subject",)]
    secrets = Secrets([KEY, OTHERS_KEY, *hidden])
    outcomes = complete(lambda role, model: endpoints[role], *calls, secrets=secrets)
    return [item.text if isinstance(item, Reply) else str(item) for item in outcomes]


def test_no_call_follows_a_redirect_to_another_host(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither key nor headers get there, and the error names both hosts and nothing of the address."""
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Key: planted-gateway")
    kinds = (301, 302, 303, 307, 308)
    roles: list[Role] = ["subject"] * len(kinds)
    with Loopback() as stranger:
        there = f"{stranger.url}/chat/completions?token=planted-in-the-address"
        hosts = [f"127.0.0.1:{server.port}" for server in (loopback, stranger)]
        loopback.script = lambda body, number: Answer({}, kinds[number], {"Location": there})
        errors = ask(loopback.url, *roles)
        assert stranger.requests == []
    reason = f"the endpoint at {hosts[0]} redirects to {hosts[1]}, which was not followed"
    assert [text.partition(": keys and headers")[0] for text in errors] == [
        f"subject 'm': HTTP {status}: {reason}" for status in kinds
    ]
    assert "planted" not in f"{errors}"


def moved_at_first(moved: Answer) -> Script:
    """A script that sends every other request elsewhere with this."""
    return lambda body, number: moved if number % 2 == 0 else plain_script(body, number)


def test_a_redirect_on_the_same_host_is_followed(loopback: Loopback) -> None:
    """An endpoint may move a path; the call is made there as it is, but not in a circle."""
    there = {"Location": f"{loopback.url}/chat/completions?moved"}
    for status in (301, 302, 303, 307, 308):
        moved = Answer({}, status, there)
        loopback.script = moved_at_first(moved)
        assert ask(loopback.url) == ["An answer to: What is one?"]
    loopback.script = lambda body, number: moved
    assert ask(loopback.url) == ["subject 'm': connection failed: the endpoint redirects more than 20 times"]


def test_what_the_client_takes_from_the_environment_goes_to_no_other_endpoint(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables of OpenAI's client are not for the evaluators, and passwords for curl are for nobody."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password planted-netrc\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "planted-admin")
    monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", "planted-webhook")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway-Key: planted-gateway")
    monkeypatch.setenv("OPENAI_ORG_ID", "planted-organization")
    with Loopback() as others:
        assert len(ask(loopback.url, "subject", "evaluator", others_url=others.url)) == 2
        sent = [f"{server.headers}" for server in (loopback, others)]
    assert [KEY in sent[0], OTHERS_KEY in sent[0], KEY in sent[1], OTHERS_KEY in sent[1]] == [
        *(True, False),
        *(False, True),
    ]
    assert {*re.findall(r"(?<!sk-)planted-\w+", sent[0])} == {"planted-gateway", "planted-organization"}
    assert re.findall(r"(?<!sk-)planted-\w+", sent[1]) == []


def test_what_an_endpoint_repeats_of_a_request_is_masked(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key and the values of configured headers, in an error, a proxy's page of HTML, or under 200."""
    hidden = ("planted-gateway-Vq73", "planted-org-Rt52", "planted-project-Mk94")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway-Key: Bearer {hidden[0]}\nX-Trace: on")
    monkeypatch.setenv("OPENAI_ORG_ID", hidden[1])
    monkeypatch.setenv("OPENAI_PROJECT_ID", hidden[2])
    kinds = ("400", "401", "500", "200 error", "502 page", "200 page")

    def script(body: object, number: int) -> Answer:
        values, status = " ".join(loopback.headers[number].values()), int(kinds[number][:3])
        if kinds[number].endswith("page"):
            return Answer(f"<html><pre>{values}</pre></html>", status)
        answer = error(status, f"Wrong: {values}", type=values, code=values, metadata={values: [values]})
        answer.headers = {"X-Key": KEY, "X-Request-Id": KEY, "WWW-Authenticate": f"Bearer {KEY}"}
        return answer

    loopback.script = script
    roles: list[Role] = ["subject"] * len(kinds)
    errors = ask(loopback.url, *roles, hidden=hidden)
    sent = [[value in f"{headers}" for value in (KEY, *hidden)] for headers in loopback.headers]
    assert sent == [[True] * 4] * len(kinds)
    assert [text for text in errors if any(value in text for value in (KEY, *hidden))] == []
    # Of a page under 200 nothing is shown at all.
    assert [MASK in text for text in errors] == [True] * 5 + [False]


def test_an_answer_that_is_no_http_and_repeats_a_key_is_masked(subtests: pytest.Subtests) -> None:
    """What the transport says of an answer that it cannot read may quote it."""
    for template in (
        b"Bearer KEY is not known here\r\n\r\n",
        b"HTTP/1.1 KEY OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBearer KEY\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX KEY: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: KEY\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nKEY\r\n",
    ):
        with subtests.test(repr(template)), rude_server(template.replace(b"KEY", KEY.encode())) as url:
            (message,) = ask(url)
            assert message.startswith("subject 'm': ")
            assert KEY not in message


def test_logs_at_debug_hold_no_key_that_an_endpoint_repeats(
    loopback: Loopback, caplog: pytest.LogCaptureFixture
) -> None:
    """Not where libraries log the reason phrase, the address of a redirect, or headers."""
    caplog.set_level("DEBUG")
    answers = [
        Answer({}, 307, {"Location": f"{loopback.url}/chat/completions?key={KEY}"}, reason=f"See {KEY}"),
        Answer(completion("Yes."), 200, {"X-Key": KEY}, reason=f"OK {KEY}"),
        Answer({}, 400, {"X-Key": KEY}, reason=f"Wrong {KEY}"),
    ]
    loopback.script = lambda body, number: answers[number]
    assert ask(loopback.url) == ["Yes."]
    assert ask(loopback.url)[0].startswith("subject 'm': HTTP 400")
    assert KEY not in caplog.text
