"""An endpoint that has never answered: given up within seconds, with what to look at."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest
from fakes import FreeSlot

from equipoise.core.errors import CallFailed
from equipoise.core.options import DEFAULT_BASE_URL
from equipoise.core.settings import Endpoint
from equipoise.core.types import Call, Message, Role
from equipoise.models import retry
from equipoise.models.client import Client
from equipoise.models.failures import Failure
from equipoise.models.redact import Secrets
from equipoise.models.retry import Health, Retries

NOBODY = Failure(message="connection failed: refused", is_unreachable=True)


@pytest.fixture(autouse=True)
def _seconds_in_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds takes milliseconds."""
    monkeypatch.setattr(retry, "FIRST_BACKOFF", 0.001)
    monkeypatch.setattr(retry, "FIRST_CONTACT_SECONDS", 0.01)


def failure(url: str, role: Role = "subject") -> CallFailed:
    """How a call to this address ends."""
    call = Call(role=role, model="m", messages=(Message(role="user", content="Hello?"),), parameters={})

    async def ask() -> None:
        endpoint = Endpoint(base_url=url, api_key="k")
        client = Client(lambda role, model: endpoint, max_retries=10_000, timeout=60.0, secrets=Secrets(()))
        try:
            await client.complete(call, FreeSlot())
        finally:
            await client.close()

    with pytest.raises(CallFailed) as caught:
        asyncio.run(ask())
    return caught.value


@pytest.fixture
def closed() -> Iterator[str]:
    """An address that is taken, so that nobody else listens there, and at which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{found.getsockname()[1]}/v1"


def test_an_address_at_which_nothing_listens_is_named_with_what_to_do(
    closed: str, subtests: pytest.Subtests
) -> None:
    """It ends the session, however many retries are left."""
    for role, flag in (("subject", "--api-base-url"), ("evaluator", "--evaluator-api-base-url")):
        with subtests.test(role):
            found = failure(closed, role)  # type: ignore[arg-type]
            assert found.stops_session
            assert f"nothing answers at {closed}: start it, or name another with {flag} (after" in str(found)
    with subtests.test("no such host"):
        assert "nothing answers at http://no-such-host.invalid/v1" in str(
            failure("http://no-such-host.invalid/v1")
        )


def test_the_default_is_explained() -> None:
    """Whoever named no endpoint learns which was asked."""
    assert "it is the default, as none was named; start it" in str(failure(f"{DEFAULT_BASE_URL}/nowhere"))


def test_an_endpoint_that_once_answered_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its outage ends, as a rule."""
    monkeypatch.setattr(retry, "FIRST_CONTACT_SECONDS", 0.0)
    health = Health()
    assert Retries(3, health).wait(NOBODY) is None
    health.answer()
    assert Retries(3, health).wait(NOBODY) is not None
