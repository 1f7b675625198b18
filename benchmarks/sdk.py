"""What the SDK alone costs, beside which the engine is measured.

    python benchmarks/sdk.py

asks 1,500 times through the SDK's low-level call, 64 at once, against the loopback endpoint of the other
benchmark, and prints the CPU of one call.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import openai

CALLS, CONCURRENCY, LATENCY = 1500, 64, 0.05
HEADERS: openai.RequestOptions = {"headers": {"Content-Type": "application/json"}}
# As long as a subject's and an evaluator's requests are on average.
BODY = json.dumps({"model": "subject", "messages": [{"role": "user", "content": "x" * 2500}]}).encode()


async def measure(port: str) -> float:
    """CPU seconds of one call, connections already open."""
    url = f"http://127.0.0.1:{port}/v1"
    client = openai.AsyncOpenAI(
        base_url=url, api_key="none", max_retries=0, http_client=openai.DefaultAioHttpClient()
    )
    places = asyncio.Semaphore(CONCURRENCY)

    async def ask() -> None:
        async with places:
            await client.post(f"{url}/chat/completions", cast_to=object, content=BODY, options=HEADERS)

    await asyncio.gather(*(ask() for _ in range(CONCURRENCY)))
    before = time.process_time()
    await asyncio.gather(*(ask() for _ in range(CALLS)))
    spent = time.process_time() - before
    await client.close()
    return spent / CALLS


def main() -> None:
    """Print the figure."""
    server = [sys.executable, str(Path(__file__).with_name("server.py")), str(LATENCY)]
    with subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found = asyncio.run(measure(process.stdout.readline().strip()))
        process.stdin.close()
    print(f"the SDK alone: {found * 1000:.2f} ms of CPU a call")


if __name__ == "__main__":
    main()
