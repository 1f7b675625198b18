"""The CPU of a call through the SDK alone, and through our client without an engine.

    python benchmarks/sdk.py

Makes 1,500 calls through the SDK's low-level call, then through our client, 64 at once, against the loopback
endpoint of the other benchmarks, and prints the CPU of one call.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from types import TracebackType

import openai
from serving import serving

from equipoise.core import settings
from equipoise.core.types import Call, Message, Reply
from equipoise.models.client import Client
from equipoise.models.failures import Failure
from equipoise.models.redact import NO_SECRETS

CALLS, CONCURRENCY, LATENCY = 1500, 64, 0.05
HEADERS: openai.RequestOptions = {"headers": {"Content-Type": "application/json"}}
# As long as a subject's and an evaluator's requests are on average.
MESSAGE = Message(role="user", content="x" * 2500)
BODY = json.dumps({"model": "subject", "messages": [MESSAGE]}).encode()
CALL = Call(role="subject", model="subject", messages=(MESSAGE,), parameters={})


class FreeSlot:
    """A slot of no limiter. A call that fails is a fault of the benchmark."""

    async def __aenter__(self) -> None:
        """Nothing to wait for."""

    def succeed(self, reply: Reply) -> None:
        """Nothing to learn."""

    def fail(self, failure: Failure) -> None:
        """Raise AssertionError."""
        raise AssertionError(failure)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing to release."""


async def measure(ask: Callable[[], Awaitable[object]]) -> float:
    """CPU seconds of one call, with open connections."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def ask_in_slot() -> None:
        async with slots:
            await ask()

    await asyncio.gather(*(ask_in_slot() for _ in range(CONCURRENCY)))
    before = time.process_time()
    await asyncio.gather(*(ask_in_slot() for _ in range(CALLS)))
    return (time.process_time() - before) / CALLS


async def measure_sdk(url: str) -> float:
    """CPU seconds of the SDK's low-level call."""
    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http) as sdk:
        return await measure(
            lambda: sdk.post(f"{url}/chat/completions", cast_to=object, content=BODY, options=HEADERS)
        )


async def measure_client(url: str) -> float:
    """CPU seconds of a call of our client, which returns a Reply."""
    endpoint = settings.Endpoint(base_url=url, api_key="none")
    client = Client(lambda role, model: endpoint, max_retries=0, timeout=60, secrets=NO_SECRETS)
    try:
        return await measure(lambda: client.complete(CALL, FreeSlot()))
    finally:
        await client.close()


def main() -> None:
    """Print both figures."""
    for name, measure_calls in (("the SDK alone", measure_sdk), ("our client", measure_client)):
        with serving(str(LATENCY)) as endpoint:
            print(f"{name}: {asyncio.run(measure_calls(endpoint.url)) * 1000:.2f} ms of CPU a call")


if __name__ == "__main__":
    main()
