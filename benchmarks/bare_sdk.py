"""The yardstick: a bare script on the SDK that asks and judges, and keeps nothing. Its figures are compared
over time, so it stays as it is.

    python benchmarks/bare_sdk.py URL CASES IN_FLIGHT
"""

from __future__ import annotations

import asyncio
import json
import sys

from bare_aiohttp import QUESTION, RUBRIC
from openai import AsyncOpenAI, DefaultAioHttpClient


async def case(client: AsyncOpenAI, slots: asyncio.Semaphore, number: int) -> int:
    """The score of one case: a reply of the subject, then the verdict of the evaluator."""
    question = f"{number}: {QUESTION}"
    async with slots:
        asked = await client.chat.completions.create(
            model="subject", messages=[{"role": "user", "content": question}], temperature=1.0
        )
    reply = asked.choices[0].message.content
    async with slots:
        judged = await client.chat.completions.create(
            model="judge",
            messages=[
                {"role": "system", "content": RUBRIC},
                {"role": "user", "content": f"{question}\n{reply}"},
            ],
            temperature=0.0,
        )
    return int(json.loads(judged.choices[0].message.content or "")["score"])


async def main(url: str, cases: int, in_flight: int) -> None:
    """Ask all cases and print the mean score."""
    slots = asyncio.Semaphore(in_flight)
    async with AsyncOpenAI(base_url=url, api_key="none", http_client=DefaultAioHttpClient()) as client:
        scores = await asyncio.gather(*(case(client, slots, number) for number in range(cases)))
    print(sum(scores) / len(scores))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
