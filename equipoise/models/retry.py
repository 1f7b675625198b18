"""Whether to retry a failed call, and when: exponential backoff, and Retry-After headers.

While an endpoint is down, one of the waiting calls probes it every few seconds, and all calls resume as soon
as one is answered.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from equipoise.models.failures import Failure

MOST_ALIKE = 3
"""After this many identical failures, the next one is expected to be the same."""
MOST_REMEMBERED = 1000
"""The limit on `Health.overcome`, for endpoints whose error messages are all different."""
# Quotas are renewed at least once a month: a longer wait is an error of the endpoint.
LONGEST_RETRY_AFTER = 31 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds to wait between the attempts of a call.

    Backoff doubles from `first` to at most `longest`. An endpoint that is unreachable and has never answered
    is tried for `first_contact` only. An endpoint that is down is probed every `probe`, and its waiting calls
    check every `check` whether it is back.
    """

    first: float = 0.5
    longest: float = 60.0
    first_contact: float = 4.0
    probe: float = 3.0
    check: float = 1.0


WAITS = Waits()
"""The waits of all calls; only `testing` changes them."""


@contextmanager
def testing(**seconds: float) -> Iterator[None]:
    """Test mode: in its block, retries come after a millisecond, and `seconds` replace single `Waits`.

    Not for sessions, where it would flood an endpoint that fails.

    >>> with testing(first_contact=0.01):
    ...     WAITS.first, WAITS.first_contact
    (0.001, 0.01)
    """
    global WAITS
    before, WAITS = WAITS, replace(Waits(first=0.001), **seconds)
    try:
        yield
    finally:
        WAITS = before


@dataclass(slots=True)
class Health:
    """The health of one endpoint: how many calls were answered, and how many attempts failed.

    `overcome` holds digests of failures that a retry resolved, which are therefore random. `in_row` counts
    the failures since the last answer; `tried` is the time of the last failed attempt or probe, by
    `time.monotonic`. `has_repeated` is set once a call has got the same body on two connections.
    """

    answered: int = 0
    failed: int = 0
    in_row: int = 0
    tried: float = 0.0
    overcome: set[str] = field(default_factory=set)
    has_repeated: bool = False

    def answer(self) -> None:
        """Count a call that the endpoint answered."""
        self.answered += 1
        self.in_row = 0

    def fail(self) -> None:
        """Count a failed attempt."""
        self.failed += 1
        self.in_row += 1
        self.tried = time.monotonic()

    @property
    def is_down(self) -> bool:
        """Whether the last MOST_ALIKE attempts all failed."""
        return self.in_row >= MOST_ALIKE


class Retries:
    """The retries of one call: at most `most` after failures, and one after an answer that may be a copy.

    `repeats` counts the latter.
    """

    def __init__(self, most: int, health: Health) -> None:
        self.repeats = 0
        self._failures = 0
        self._most = most
        self._health = health
        self._alike = 0
        self._last: Failure | None = None
        self._own_failures = 0
        self._answered_before = 0
        self._failed_before = health.failed
        self._due = 0.0
        self._begun = time.monotonic()
        self._is_asked_for = self._is_probe = False
        self._doubted: int | None = None

    @property
    def count(self) -> int:
        """The number of retries so far, without the first attempt."""
        return self._failures + self.repeats

    @property
    def is_in_doubt(self) -> bool:
        """Whether an answer may have been a copy: from then on the call is sent on new connections."""
        return self._doubted is not None

    def doubts(self, digest: int, repeats: int) -> bool:
        """Whether an answer may be a late copy of another call's answer, so that the call is sent once more.

        `digest` is that of the body. `repeats` is how many answers ago the same body came on its connection,
        0 if it is new. True at most once a call. If an endpoint is known to give equal answers to a call,
        only a repetition of the connection's last body is doubted.
        """
        if self._doubted is not None:
            self._health.has_repeated |= digest == self._doubted
            return False
        if not repeats or (repeats > 1 and self._health.has_repeated):
            return False
        self._doubted = digest
        return True

    def answered(self) -> None:
        """Report that the last attempt was answered."""
        self._health.answer()
        if self._last is not None and len(self._health.overcome) < MOST_REMEMBERED:
            self._health.overcome.add(_digest(self._last))

    def wait(self, failure: Failure) -> float | None:
        """Seconds until the next attempt; None if the call must not be retried.

        Does not include a pause that an overloaded endpoint requests, which applies to all its calls. An
        attempt that only probed the endpoint is not counted.
        """
        if failure.may_be_copy:
            self.repeats += 1
            return 0.0
        if self._last is None:
            self._answered_before = self._health.answered
        self._health.fail()
        if failure.is_unreachable and not self._health.answered and (failure.is_insecure or self._is_late):
            return None
        was_probe, self._is_probe = self._is_probe, False
        if was_probe and failure.is_transient:
            return max(0.0, self._due - time.monotonic())
        self._own_failures += 1
        is_same = self._last is not None and _digest(self._last) == _digest(failure)
        self._alike = self._alike + 1 if is_same else 1
        self._last = failure
        is_random = _digest(failure) in self._health.overcome
        is_hopeless = self.is_about_request and not is_random
        if not failure.is_transient or self._failures >= self._most or is_hopeless:
            return None
        self._failures += 1
        self._is_asked_for = _own_wait(failure) > 0
        wait = max(self._backoff(), _own_wait(failure))
        if failure.is_unreachable and not self._health.answered:
            wait = min(wait, self._left)
        self._due = time.monotonic() + wait
        return wait

    async def rest(self) -> None:
        """Wait until the next attempt is due; less if the endpoint is back, or is down and can be probed."""
        answered = self._health.answered
        while (left := self._due - time.monotonic()) > 0:
            if self._is_asked_for or not (self._health.is_down or self._health.answered > answered):
                await asyncio.sleep(left)
                return
            if self._health.answered > answered:
                return
            if time.monotonic() - self._health.tried >= WAITS.probe:
                # No other call probes until this attempt has failed as well.
                self._health.tried, self._is_probe = time.monotonic(), True
                return
            await asyncio.sleep(min(left, random.uniform(0.5, 1) * WAITS.check))  # noqa: S311

    @property
    def _is_late(self) -> bool:
        return self._left <= 0

    @property
    def _left(self) -> float:
        """Seconds left to try an endpoint that has never answered."""
        return self._begun + WAITS.first_contact - time.monotonic()

    def _backoff(self) -> float:
        longest = min(WAITS.longest, WAITS.first * 2.0 ** min(self._failures - 1, 16))
        return random.uniform(0.5, 1) * longest  # noqa: S311 - not a secret

    @property
    def concerns_all(self) -> bool:
        """Whether other calls would fail too: it is not about this request, or none was ever answered."""
        return not self.is_about_request or not self._health.answered

    @property
    def is_about_request(self) -> bool:
        """Whether the endpoint keeps failing this call in the same way while it is not down.

        It counts as down if other calls have failed since the first failure and none was answered.
        """
        if self._last is None or not self._last.may_be_about_request or self._alike < MOST_ALIKE:
            return False
        others_answered = self._health.answered > self._answered_before
        others_failed = self._health.failed - self._failed_before > self._own_failures
        return others_answered or not others_failed


def _own_wait(failure: Failure) -> float:
    """The wait requested for this call alone: that of an overloaded endpoint pauses its whole queue."""
    return 0.0 if failure.is_overload else min(failure.retry_after or 0.0, WAITS.longest)


def _digest(failure: Failure) -> str:
    """A short digest that identifies a failure."""
    return hashlib.sha256(
        f"{failure.status} {failure.message} {failure.body!r}".encode("utf-8", "replace")
    ).hexdigest()


# The wait that an endpoint requests in its response headers.

_DECIMAL = r"(?=\.?\d)\d{0,20}(?:\.\d{0,20})?"
_NUMBER = re.compile(rf"[+-]?{_DECIMAL}(?:e[+-]?\d\d?)?", re.ASCII)
_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
}
_STEP = rf"({_DECIMAL})({'|'.join(_UNITS)})"
_DURATION = re.compile(rf"-?(?:{_STEP}){{1,9}}", re.ASCII)
# Python accepts far more as ISO 8601 than endpoints send.
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[t ][\d:.+z-]{5,30})?", re.ASCII)
# OpenAI and most others (x-ratelimit-reset-tokens), the IETF's drafts, Anthropic, Mistral's gateway.
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit(?:bysize)?-(?:.+-)?reset(?:-.+)?")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that an endpoint asks to wait, from 0 to LONGEST_RETRY_AFTER; None if it does not say.

    `now` is the wall clock in Unix time. It is used only if the response has no Date header, since clocks
    differ. Invalid values are ignored.
    """
    # Azure and xAI also write x-rate-limit.
    fields = {
        name.lower().replace("rate-limit", "ratelimit"): value.strip().lower()
        for name, value in headers.items()
    }
    sent = _http_date(fields.get("date", ""))
    now = now if sent is None else sent
    milliseconds = _number(fields.get("retry-after-ms", ""))
    wait = None if milliseconds is None else _sane(milliseconds / 1000)
    if wait is None:
        wait = _wait(fields.get("retry-after", ""), now)
    return _until_reset(fields, now) if wait is None else wait


def _until_reset(fields: Mapping[str, str], now: float) -> float | None:
    """The longest wait among exhausted quotas; if none is exhausted, the shortest wait for any."""
    spent: list[float] = []
    left: list[float] = []
    for name, value in fields.items():
        wait = _wait(value, now) if _RESET.fullmatch(name) else None
        if wait is not None and not _is_unlimited(fields, name):
            remaining = _number(fields.get(name.replace("reset", "remaining"), ""))
            (spent if remaining is None or remaining <= 0 else left).append(wait)
    return max(spent) if spent else min(left, default=None)


def _is_unlimited(fields: Mapping[str, str], reset: str) -> bool:
    # Azure sends a limit of -1 and a reset of 0 for anything it does not limit.
    limit = _number(fields.get(reset.replace("reset", "limit"), ""))
    return limit is not None and limit < 0


def _wait(text: str, now: float) -> float | None:
    """The wait in a header value: seconds, a duration, a Unix timestamp or a date."""
    number = _number(text)
    if number is not None and number < 1e9:
        return _sane(number)
    wait = _duration(text)
    if wait is not None:
        return _sane(wait)
    at = _date(text) if number is None else _timestamp(number)
    return None if at is None else _sane(at - now)


def _sane(wait: float) -> float | None:
    """The wait, not below 0; None if it is too long to be meant."""
    return max(0.0, wait) if wait <= LONGEST_RETRY_AFTER else None


def _timestamp(number: float) -> float | None:
    """Unix time in seconds from a timestamp in seconds or milliseconds; not before September 2001."""
    if 1e9 <= number < 1e11:
        return number
    return number / 1000 if 1e12 <= number < 1e14 else None


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _duration(text: str) -> float | None:
    """Seconds in a duration as Go prints it, used by OpenAI and Groq: 20ms, 6m0s, 1h2m3.5s; also 1d2h."""
    if not _DURATION.fullmatch(text):
        return None
    length = sum(float(amount) * _UNITS[unit] for amount, unit in re.findall(_STEP, text, re.ASCII))
    return -length if text.startswith("-") else length


def _date(text: str) -> float | None:
    """Unix time of an HTTP or ISO 8601 date; UTC if it names no time zone."""
    if not _ISO_DATE.fullmatch(text):
        return _http_date(text)
    try:
        return _unix_time(datetime.fromisoformat(text.upper()))
    except ValueError:
        return None


def _http_date(text: str) -> float | None:
    """Unix time of a date in one of the three formats of RFC 9110, section 5.6.7."""
    try:
        # A leap second is read as the last second of its minute.
        return _unix_time(parsedate_to_datetime(text.replace(":60 ", ":59 ")))
    except (ValueError, OverflowError):
        return None


def _unix_time(date: datetime) -> float:
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
