"""Calls that wait for an endpoint that is down: one of them looks, and all go on once it is back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from equipoise.models import retry
from equipoise.models.failures import Failure
from equipoise.models.retry import Health, Retries

DOWN = Failure(message="connection failed: refused")


class Endpoint:
    """Answers once it is up; keeps how many attempts came while it was down."""

    def __init__(self) -> None:
        self.health = Health()
        for _ in range(3):
            self.health.fail()
        self.is_up = False
        self.attempts = 0
        self.is_probed = asyncio.Event()

    async def call(self) -> Retries:
        """One call, until it is answered."""
        retries = Retries(12, self.health)
        while not self.is_up:
            self.attempts += 1
            if self.attempts >= 30:
                self.is_probed.set()
            assert retries.delay_after(DOWN) is not None
            await retries.wait_until_due()
        retries.report_answer()
        return retries


@pytest.fixture(autouse=True)
def _hours_in_a_moment() -> Iterator[None]:
    """Backoff is hours, probes come after milliseconds."""
    with retry.testing(first=3600.0, longest=3600.0, probe=0.02, check=0.01):
        yield


async def test_calls_go_on_when_an_endpoint_is_back() -> None:
    """However long their backoff is; the probes meanwhile use up no call's retries."""
    endpoint = Endpoint()
    calls = [asyncio.create_task(endpoint.call()) for _ in range(8)]
    await asyncio.wait_for(endpoint.is_probed.wait(), 120)
    endpoint.is_up = True
    finished = await asyncio.wait_for(asyncio.gather(*calls), 120)
    assert [retries.count for retries in finished] == [1] * 8


def failed_together(health: Health) -> list[Retries]:
    """Three calls that wait for an endpoint that is down: no fewer show that."""
    waiting = [Retries(12, health) for _ in range(3)]
    for retries in waiting:
        retries.delay_after(DOWN)
    return waiting


async def test_a_wait_that_was_asked_for_is_kept() -> None:
    """An endpoint that says when is not probed before."""
    health = Health()
    others, waiter = failed_together(health), Retries(12, health)
    waiter.delay_after(Failure(message="broken", status=500, retry_after=3000.0))
    rest = asyncio.create_task(waiter.wait_until_due())
    await asyncio.wait_for(others[0].wait_until_due(), 120)
    health.answer()
    await asyncio.sleep(0.1)
    assert not rest.done()
    rest.cancel()
    # A probe that is refused for good is no retry.
    assert others[0].delay_after(Failure(message="no", status=400)) is None


async def test_once_an_endpoint_is_back_nobody_waits_for_a_probe() -> None:
    """All calls go on at once, however long their backoff is and however seldom there are probes."""
    health = Health()
    with retry.testing(first=3600.0, longest=3600.0, probe=3600.0, check=0.01):
        waiting = failed_together(health)
        health.tried_at = time.monotonic()
        rests = [asyncio.create_task(retries.wait_until_due()) for retries in waiting]
        await asyncio.sleep(0)
        health.answer()
        await asyncio.wait_for(asyncio.gather(*rests), 60)
