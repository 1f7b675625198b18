"""An endpoint that has never answered: given up within seconds, with what to look at."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Any

import pytest
from fakes import complete
from journals import ask

from conftest import ROOT
from equipoise.core.errors import CallFailed
from equipoise.core.session_options import DEFAULT_BASE_URL
from equipoise.core.settings import Endpoint
from equipoise.core.types import Role
from equipoise.models import retry
from equipoise.models.failures import Failure
from equipoise.models.retry import Health, Retries
from loopback import Loopback

NOBODY = Failure(message="connection failed: refused", is_unreachable=True)
CERTIFICATE = ROOT / "tests" / "data" / "self_signed.pem"
"""With its key: nobody trusts it, and it is used for nothing else."""


@pytest.fixture(autouse=True)
def _seconds_in_a_moment() -> Iterator[None]:
    """What takes seconds takes milliseconds."""
    with retry.testing(first_contact=0.01):
        yield


def failure(url: str, role: Role = "subject", key: str = "k") -> CallFailed:
    """How a call to this address ends."""
    endpoint = Endpoint(base_url=url, api_key=key)
    options: dict[str, Any] = {"max_retries": 10_000, "timeout": 60.0}
    (outcome,) = complete(lambda role, model: endpoint, ask("Hello?", role=role), **options)
    assert isinstance(outcome, CallFailed)
    return outcome


@pytest.fixture
def closed() -> Iterator[str]:
    """An address that is taken, so that nobody else listens there, and at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def test_an_address_at_which_nothing_listens_is_named_with_what_to_do(
    closed: str, subtests: pytest.Subtests
) -> None:
    """It ends the session, however many retries are left; the default address is said to be it."""
    for role, flag in (("subject", "--api-base-url"), ("evaluator", "--evaluator-api-base-url")):
        with subtests.test(role):
            error = failure(closed, role)  # type: ignore[arg-type]
            assert error.stops_session
            assert f"nothing answers at {closed}: start it, or name another with {flag}" in str(error)
    with subtests.test("no such host"):
        assert "nothing answers at http://no-such-host.invalid/v1" in str(
            failure("http://no-such-host.invalid/v1")
        )
    with subtests.test("default"):
        message = str(failure(f"{DEFAULT_BASE_URL}/nowhere"))
        assert "it is the default, as no endpoint was given; start it" in message


def test_where_tls_fails_one_attempt_is_enough(loopback: Loopback, subtests: pytest.Subtests) -> None:
    """A certificate that is not trusted, or a port without TLS, will be the same in a moment."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with subtests.test("certificate"), Loopback(tls=context) as server:
        error = failure(server.url.replace("http:", "https:"))
        assert error.stops_session
        assert str(error).endswith(
            "; trust its certificate with SSL_CERT_FILE=FILE, or name another endpoint with --api-base-url"
        )
        assert error.retries == 0
    with subtests.test("no TLS"):
        error = failure(loopback.url.replace("http:", "https:"), "evaluator")
        assert (
            "; use http:// if the server does not use TLS, or name another endpoint with --evaluator-"
            in str(error)
        )
        assert (error.stops_session, error.retries) == (True, 0)


def test_an_endpoint_that_once_answered_is_waited_for() -> None:
    """Its outage ends, as a rule; so is one that only wants fewer calls."""
    health = Health()
    with retry.testing(first_contact=0.0):
        assert Retries(3, health).delay_after(NOBODY) is None
        assert Retries(3, health).delay_after(Failure(message="slow down", status=429)) is not None
        health.answer()
        assert Retries(3, health).delay_after(NOBODY) is not None


def test_a_first_contact_takes_no_longer_than_it_may() -> None:
    """The last wait is cut to what is left, and a probe is no further chance."""
    with retry.testing(first=60.0, first_contact=5.0):
        waits = Retries(9, Health()).delay_after(NOBODY)
    assert waits is not None
    assert waits <= 5.0
