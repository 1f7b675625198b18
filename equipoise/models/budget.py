"""The budget of a session: reserves requests and money before they are spent.

For every request in flight its highest possible cost is reserved. Where that is unknown, because the model
has not answered yet and no length is set, one request runs alone with all that is left. Knows no prices.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from equipoise.core import json_io
from equipoise.core.errors import SessionStopped
from equipoise.core.types import CONTINUES, Call, Reply, Usage
from equipoise.models.counters import Counters

NANO = 10**9
MARGIN, DOUBT = 1.5, 4.0
"""The next reply is taken to be at most MARGIN + DOUBT/n times as long as the longest of n so far."""
BYTES_PER_TOKEN = 3
FRAME = 50
"""Tokens that an endpoint puts around a message, and around them all, at most."""

Cost = Callable[[Usage], int]
"""What tokens cost, in nano-dollars."""


class Budget:
    """The two limits of a session, either of which may be None. `stop` ends the session."""

    def __init__(
        self, counters: Counters, stop: Callable[[str], None], *, calls: int | None, dollars: float | None
    ) -> None:
        self._counters = counters
        self._stop = stop
        self._most_calls = calls
        self._most = None if dollars is None else int(dollars * NANO)
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return self._most_calls is not None or self._most is not None

    async def reserve(self, call: Call, model: int, cost: Cost) -> int:
        """Wait until one more request fits; what is set aside for it, in nano-dollars. Raises SessionStopped.

        To be followed by `settle`; the request counts from here on.
        """
        # One at a time: otherwise short requests would keep overtaking a long one that waits.
        async with self._turn:
            while (amount := self._enter(call, model, cost)) is None:
                self._settled.clear()
                await self._settled.wait()
            return amount

    def _enter(self, call: Call, model: int, cost: Cost) -> int | None:
        if self._counters.is_stopped:
            raise SessionStopped(self._counters.stop_reason)
        amount = self._try(call, model, cost)
        if amount is not None:
            self._counters.reserve(amount)
            self._counters.enter()
        return amount

    def settle(self, reserved: int, spent: int) -> None:
        """The request has ended and has cost so much."""
        self._counters.settle(reserved, spent)
        self._settled.set()

    def _try(self, call: Call, model: int, cost: Cost) -> int | None:
        """What to set aside; None where it may fit once others have ended."""
        now = self._counters.totals()
        if self._most_calls is not None and now.sent >= self._most_calls:
            raise self._used_up(f"--max-calls {self._most_calls} is used up: requests sent: {now.sent}")
        if self._most is None:
            return 0
        left = self._most - now.spent
        wanted = self.most_of(call, model, cost)
        # Of a model that has not answered yet, at least what others would cost has to be left.
        least = wanted
        if least is None:
            least = cost(Usage(input=prompt_tokens(call), output=self._longest()))
        if (now.reserved == 0 and least > left) or left <= 0:
            spent, cap = now.spent / NANO, self._most / NANO
            raise self._used_up(f"--max-cost {cap:g} USD is used up: {spent:.4f} USD were spent")
        if wanted is None:
            return left if now.reserved == 0 else None
        return wanted if now.reserved + wanted <= left else None

    def most_of(self, call: Call, model: int, cost: Cost) -> int | None:
        """The most that a request may cost; None where the length of the reply has no known bound."""
        output = call.parameters.get("max_tokens")
        if not output and self._counters.largest_output(model):
            output = self._longest()
        return cost(Usage(input=most_prompt_tokens(call), output=output)) if output else None

    def _longest(self) -> int:
        """The longest reply to expect, by the replies of all models so far; 0 where there was none."""
        now = self._counters.totals()
        margin = MARGIN + DOUBT / max(1, now.made + now.replayed)
        return int(margin * max(map(self._counters.largest_output, range(len(now.tokens)))))

    def _used_up(self, reason: str) -> SessionStopped:
        self._stop(f"{reason}; the same command resumes from here")
        return SessionStopped(reason)


def usage_of(call: Call, reply: Reply) -> Usage:
    """The tokens of a reply as the endpoint has counted them, else generously by the length of the texts."""
    if reply.is_metered:
        return reply.usage or Usage()
    # An echoed prompt was not written by the model.
    given = call.messages[-1]["content"] if CONTINUES in call.parameters else ""
    said = reply.text.removeprefix(given) + (reply.reasoning or "")
    return Usage(input=prompt_tokens(call), output=-(-_bytes(said) // BYTES_PER_TOKEN))


def prompt_tokens(call: Call) -> int:
    """How many tokens the messages of a call are likely to have, generously, by their length."""
    return _size(call) // BYTES_PER_TOKEN + FRAME


def most_prompt_tokens(call: Call) -> int:
    """How many tokens a call can have that are read: each byte one, as digits are, and those of a schema.

    An endpoint writes the schema of an answer into the prompt, and marks where each message begins and ends.
    """
    return _size(call) + len(json_io.dumps(dict(call.parameters))) + FRAME * (1 + len(call.messages))


def _size(call: Call) -> int:
    """Bytes of all messages."""
    return sum(_bytes(message["content"]) for message in call.messages)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
