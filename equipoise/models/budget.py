"""The budget of a session: reserves requests and money before they are spent.

For every request in flight its highest possible cost is reserved. If that is unknown, because the model has
not answered yet and no maximum length is set, the request runs alone with the whole remaining budget. The
price of tokens comes from the caller, as a function `Cost`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from equipoise.core import json_io
from equipoise.core.errors import SessionStopped
from equipoise.core.types import CONTINUES, Call, Reply, Usage
from equipoise.models.counters import Counters

NANO = 10**9
"""Nano-dollars in a dollar: amounts are whole numbers, so that sums are exact."""
MARGIN, EARLY_MARGIN = 1.5, 4.0
"""A reply is assumed to be at most MARGIN + EARLY_MARGIN/n times as long as the longest of n so far."""
BYTES_PER_TOKEN = 3
"""A low estimate, so that the estimated number of tokens is high."""
FRAME_TOKENS = 50
"""The most tokens that an endpoint adds to a message, and to the conversation as a whole."""
RESUMES = "; the same command resumes from here"
"""Appended to the reason for stopping a session."""
RESUMES_MENDED = "; once that is mended, the same command resumes from here"
"""Appended to a reason that the user has to remove."""

Cost = Callable[[Usage], int]
"""The cost of tokens, in nano-dollars."""


class Budget:
    """The limits of a session on calls and cost, None for no limit. `stop` ends the session with a reason."""

    def __init__(
        self, counters: Counters, stop: Callable[[str], None], *, calls: int | None, dollars: float | None
    ) -> None:
        self._counters = counters
        self._stop = stop
        self._max_calls = calls
        self._max_cost = None if dollars is None else int(dollars * NANO)
        self._reservation_lock = asyncio.Lock()
        self._has_settled = asyncio.Event()

    @property
    def is_limited(self) -> bool:
        """Whether either limit is set."""
        return self._max_calls is not None or self._max_cost is not None

    async def reserve(self, call: Call, model: int, cost: Cost) -> int:
        """Wait until one more request fits. Returns the reserved nano-dollars. Raises SessionStopped.

        The request counts from here on, and must be followed by `settle`.
        """
        # One at a time: otherwise short requests would keep overtaking a long one that waits.
        async with self._reservation_lock:
            while (amount := self._try_to_reserve(call, model, cost)) is None:
                self._has_settled.clear()
                await self._has_settled.wait()
            return amount

    def _try_to_reserve(self, call: Call, model: int, cost: Cost) -> int | None:
        if self._counters.is_stopped:
            raise SessionStopped(self._counters.stop_reason)
        amount = self._reservation(call, model, cost)
        if amount is not None:
            self._counters.reserve(amount)
            self._counters.enter()
        return amount

    def settle(self, reserved: int, spent: int) -> None:
        """Replace the reservation of a finished request with its actual cost."""
        self._counters.settle(reserved, spent)
        self._has_settled.set()

    def commit(self, amount: int) -> None:
        """Count the nano-dollars that a batch may cost as spent. A negative amount takes some back."""
        self._counters.settle(0, amount)
        self._has_settled.set()

    def remaining(self) -> tuple[int | None, int | None]:
        """The calls and the nano-dollars that are left, each None without a limit."""
        now = self._counters.totals()
        calls = None if self._max_calls is None else max(0, self._max_calls - now.sent)
        return calls, None if self._max_cost is None else max(0, self._max_cost - now.spent - now.reserved)

    def stop_for_batch(self) -> None:
        """End the session because a batch does not fit into the remaining budget."""
        now = self._counters.totals()
        if self._max_calls is not None and now.sent >= self._max_calls:
            self._stop_session(f"--max-calls {self._max_calls} is used up: requests sent: {now.sent}")
        elif self._max_cost is not None:
            spent, cap = now.spent / NANO, self._max_cost / NANO
            spending = f"{spent:.4f} USD were spent or are reserved"
            self._stop_session(f"--max-cost {cap:g} USD is used up: {spending}")

    def _reservation(self, call: Call, model: int, cost: Cost) -> int | None:
        """The amount to reserve; None if the request may fit once others have finished.

        Raises SessionStopped if the request cannot fit.
        """
        now = self._counters.totals()
        if self._max_calls is not None and now.sent >= self._max_calls:
            raise self._stop_session(f"--max-calls {self._max_calls} is used up: requests sent: {now.sent}")
        if self._max_cost is None:
            return 0
        left = self._max_cost - now.spent
        most = least = self.most_cost(call, model, cost)
        if least is None:
            # The model has not answered yet: replies as long as the other models' must fit at least.
            least = cost(Usage(input=prompt_tokens(call), output=self._longest_reply()))
        if (now.reserved == 0 and least > left) or left <= 0:
            spent, cap = now.spent / NANO, self._max_cost / NANO
            raise self._stop_session(f"--max-cost {cap:g} USD is used up: {spent:.4f} USD were spent")
        if most is None:
            return left if now.reserved == 0 else None
        return most if now.reserved + most <= left else None

    def most_cost(self, call: Call, model: int, cost: Cost) -> int | None:
        """The highest possible cost of a request; None if the length of the reply has no known bound."""
        output = call.parameters.get("max_tokens")
        if not output and self._counters.largest_output(model):
            output = self._longest_reply()
        return cost(Usage(input=most_prompt_tokens(call), output=output)) if output else None

    def _longest_reply(self) -> int:
        """The tokens of the longest reply to expect, from all models' replies so far; 0 if there are none."""
        now = self._counters.totals()
        margin = MARGIN + EARLY_MARGIN / max(1, now.made + now.replayed)
        return int(margin * max(map(self._counters.largest_output, range(len(now.tokens)))))

    def _stop_session(self, reason: str) -> SessionStopped:
        """End the session, and return the error to raise."""
        self._stop(f"{reason}{RESUMES}")
        return SessionStopped(reason)


def usage_of(call: Call, reply: Reply) -> Usage:
    """The tokens of a reply as counted by the endpoint, or a high estimate from the length of the texts."""
    if reply.is_metered:
        return reply.usage or Usage()
    # An echoed prompt was not written by the model.
    prefix = call.messages[-1]["content"] if CONTINUES in call.parameters else ""
    text = reply.text.removeprefix(prefix) + (reply.reasoning or "")
    return Usage(input=prompt_tokens(call), output=-(-_byte_count(text) // BYTES_PER_TOKEN))


def prompt_tokens(call: Call) -> int:
    """A high estimate of the tokens in the messages of a call, from their length."""
    return _message_bytes(call) // BYTES_PER_TOKEN + FRAME_TOKENS


def most_prompt_tokens(call: Call) -> int:
    """The upper bound on a call's input tokens: one per byte, as with digits, including any schema.

    Endpoints write the schema of the answer into the prompt, and mark the start and end of each message.
    """
    size = _message_bytes(call) + len(json_io.dumps(dict(call.parameters)))
    return size + FRAME_TOKENS * (1 + len(call.messages))


def _message_bytes(call: Call) -> int:
    return sum(_byte_count(message["content"]) for message in call.messages)


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
