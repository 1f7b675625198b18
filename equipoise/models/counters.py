"""The counters of a running session: calls, tokens, money, pauses, rounds and the reason to stop.

Written by the engine's thread, read by any thread, for the display and the budget. The journal is the
permanent record.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from equipoise.core.errors import printable

MAX_REASON_LENGTH = 500
MAX_ERROR_LENGTH = 80
"""The limit on the characters of `last_error`, for the status line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterSnapshot:
    """A snapshot of the counts.

    `made` counts replies from endpoints, `replayed` replies from the journal, and `sent` attempts. `tokens`
    holds (input, output) for each model, in order; `batched` is the part of them from calls in batches.
    `spent` and `reserved` are in nano-dollars, and 0 without a budget. `estimated` counts the replies whose
    tokens the endpoint did not report, `repeated` the retries because an answer might have been a copy.
    """

    in_flight: int
    made: int
    replayed: int
    retries: int
    repeated: int
    sent: int
    spent: int
    reserved: int
    estimated: int
    tokens: tuple[tuple[int, int], ...]
    batched: tuple[tuple[int, int], ...]


class Counters:
    """The counters of a session with this number of `models`, and at most as many endpoints.

    Methods take models and endpoints by index. `stop_reason` is the first reason given to `stop`, and
    `is_mistake` says that waiting does not help, only another URL, key, model or parameter. `round` is
    the last round whose runs may begin, 0 before the first; `is_enough` is true once no later round will be
    opened. `last_error` is the reason for the last retry, and is cleared when a call is answered.
    `in_batches` counts the calls waiting in batches.
    """

    def __init__(self, models: int) -> None:
        self.stop_reason = self.last_error = ""
        self.is_stopped = self.is_mistake = False
        self.round = 0
        self.is_enough = False
        self._in_flight = self._made = self._replayed = self._retries = self._repeated = self._sent = 0
        self._spent = self._reserved = self._estimated = 0
        self._tokens = [[0, 0] for _ in range(models)]
        self._batched = [[0, 0] for _ in range(models)]
        self._largest = [0] * models
        self._pauses = [0.0] * models
        self._notices: deque[str] = deque()
        self.in_batches = 0

    def stop(self, reason: str, *, is_mistake: bool = False) -> None:
        """Prevent further calls. The first reason is kept, cut to MAX_REASON_LENGTH characters."""
        if not self.is_stopped:
            self.is_mistake = is_mistake
            # A reason may quote an endpoint, and is shown on terminals.
            self.stop_reason = printable(reason)[:MAX_REASON_LENGTH]
            self.is_stopped = True

    # Rounds of runs.

    def open_round(self, number: int) -> None:
        """Allow the runs of this round to begin."""
        self.round = number

    def close_rounds(self) -> None:
        """Declare that no later round will be opened."""
        self.is_enough = True

    # Pauses that an endpoint requests.

    def pause(self, endpoint: int, until: float) -> None:
        """Pause all calls to an endpoint until a time in seconds of `time.monotonic`."""
        self._pauses[endpoint] = max(self._pauses[endpoint], until)

    def paused_until(self, endpoint: int) -> float:
        """The end of an endpoint's pause in seconds of `time.monotonic`; 0 if there is none."""
        return self._pauses[endpoint]

    # Notices to show immediately.

    def notify(self, notice: str) -> None:
        """Queue a line to be shown, cut to MAX_REASON_LENGTH characters: it may quote an endpoint."""
        self._notices.append(printable(notice)[:MAX_REASON_LENGTH])

    def take_notices(self) -> list[str]:
        """Remove and return the queued lines."""
        return [self._notices.popleft() for _ in range(len(self._notices))]

    # Counting.

    def enter(self) -> None:
        """Count a call in flight."""
        self._in_flight += 1
        self._sent += 1

    def send_batch(self, calls: int) -> None:
        """Count the calls of a batch as sent."""
        self._sent += calls

    def leave(self) -> None:
        """Count a call as no longer in flight."""
        self._in_flight -= 1

    def count_retry(self, why: str) -> None:
        """Count a retry and remember its reason."""
        self._retries += 1
        self.last_error = printable(why)[:MAX_ERROR_LENGTH]

    def count_reply(
        self,
        model: int,
        input_tokens: int,
        output_tokens: int,
        *,
        replayed: bool,
        is_estimated: bool = False,
        repeats: int = 0,
        is_batched: bool = False,
    ) -> None:
        """Count a reply of the model with this index. `repeats` is as in Reply.

        A `replayed` reply comes from the journal, so its retries are not counted.
        """
        if is_batched:
            self._batched[model][0] += input_tokens
            self._batched[model][1] += output_tokens
        if not replayed:
            self.last_error = ""
            self._repeated += repeats
        self._made += not replayed
        self._replayed += replayed
        self._estimated += is_estimated
        self._tokens[model][0] += input_tokens
        self._tokens[model][1] += output_tokens
        self._largest[model] = max(self._largest[model], output_tokens)

    def largest_output(self, model: int) -> int:
        """The most output tokens in a reply of this model so far; 0 before its first reply."""
        return self._largest[model]

    def reserve(self, amount: int) -> None:
        """Reserve nano-dollars for a call."""
        self._reserved += amount

    def settle(self, reserved: int, spent: int) -> None:
        """Release the reservation of a call and count its actual cost."""
        self._reserved -= reserved
        self._spent += spent

    def totals(self) -> CounterSnapshot:
        """A snapshot of the counts."""
        return CounterSnapshot(
            in_flight=self._in_flight,
            made=self._made,
            replayed=self._replayed,
            retries=self._retries,
            repeated=self._repeated,
            sent=self._sent,
            spent=self._spent,
            reserved=self._reserved,
            estimated=self._estimated,
            tokens=tuple((read, written) for read, written in self._tokens),
            batched=tuple((read, written) for read, written in self._batched),
        )
