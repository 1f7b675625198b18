"""Whether to retry a failed call, and when: exponential backoff, and Retry-After headers.

While an endpoint is down, one of the waiting calls probes it every few seconds, and all calls resume as soon
as one is answered.

A late answer to an earlier call may reach the next call on the same connection. Therefore, if a connection
returns a body that it has returned before, the answer is doubted, and the call is sent once more.
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

MOST_IDENTICAL = 3
"""After this many identical failures of a call in a row, more are expected."""
DOWN_AFTER = 3
"""After this many failures in a row, an endpoint counts as down."""
MOST_REMEMBERED = 1000
"""The limit on `Health.overcome`, for endpoints whose error messages are all different."""
LONGEST_RETRY_AFTER = 31 * 86_400.0
"""In seconds. Quotas are renewed at least once a month, so a longer wait is an error of the endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds to wait between the attempts of a call.

    Backoff doubles from `first` to at most `longest`. An endpoint that is unreachable and has never answered
    is tried for `first_contact` only. An endpoint that is down is probed at intervals of `probe`, and its
    waiting calls check at intervals of about `check` whether it is back.
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
    """A block in which retries come after a millisecond; `seconds` replace fields other than `first`.

    For tests only: it would flood the failing endpoint of a session.

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

    `failed_in_row` counts the failures since the last answer. `tried_at` is when an attempt last failed, or a
    probe last began, by `time.monotonic`. `overcome` holds digests of failures after which a retry succeeded,
    so another retry may succeed, too. `has_repeated` is set once a call got the same body on two connections,
    which shows that the endpoint itself gives equal answers.
    """

    answered: int = 0
    failed: int = 0
    failed_in_row: int = 0
    tried_at: float = 0.0
    overcome: set[str] = field(default_factory=set)
    has_repeated: bool = False

    def answer(self) -> None:
        """Count a call that the endpoint answered."""
        self.answered += 1
        self.failed_in_row = 0

    def fail(self) -> None:
        """Count a failed attempt."""
        self.failed += 1
        self.failed_in_row += 1
        self.tried_at = time.monotonic()

    @property
    def is_down(self) -> bool:
        """Whether the last DOWN_AFTER attempts all failed."""
        return self.failed_in_row >= DOWN_AFTER


class Retries:
    """The retries of one call: at most `most` after failures, and one after an answer that may be a copy.

    `repeats` counts the retries after possible copies. Times are in seconds of `time.monotonic`.
    `_failed_at_start` and `_answered_at_failure` are the endpoint's counts when the call began and when it
    first failed: later counts show what has become of other calls since.
    """

    def __init__(self, most: int, health: Health) -> None:
        self.repeats = 0
        self._failure_retries = 0
        self._most = most
        self._health = health
        self._last_failure: Failure | None = None
        self._same_in_row = 0
        self._own_failures = 0
        self._answered_at_failure = 0
        self._failed_at_start = health.failed
        self._due = 0.0
        self._begun = time.monotonic()
        # Whether the endpoint requested the wait, which then must not be cut short.
        self._is_wait_requested = False
        self._is_probe = False
        self._doubted_digest: int | None = None

    @property
    def count(self) -> int:
        """The number of retries so far, without the first attempt."""
        return self._failure_retries + self.repeats

    @property
    def is_in_doubt(self) -> bool:
        """Whether an answer may have been a copy: from then on the call is sent on new connections."""
        return self._doubted_digest is not None

    def check_for_copy(self, digest: int, repeat_distance: int) -> bool:
        """Doubt an answer that may be a late copy of another call's, and return whether it is doubted.

        `digest` is the digest of the body. `repeat_distance` says how many bodies ago the connection had the
        same body, 0 if never. True at most once per call. If an endpoint is known to give equal answers, only
        a repetition of the last body is doubted.
        """
        if self._doubted_digest is not None:
            self._health.has_repeated |= digest == self._doubted_digest
            return False
        if not repeat_distance or (repeat_distance > 1 and self._health.has_repeated):
            return False
        self._doubted_digest = digest
        return True

    def report_answer(self) -> None:
        """Report that the last attempt was answered."""
        self._health.answer()
        if self._last_failure is not None and len(self._health.overcome) < MOST_REMEMBERED:
            self._health.overcome.add(_digest(self._last_failure))

    def delay_after(self, failure: Failure) -> float | None:
        """Report a failed attempt. Returns the seconds until the next one; None if there must be none.

        Does not include a pause that an overloaded endpoint requests, which applies to all its calls. A
        failed attempt that probed the endpoint is not counted as a retry.
        """
        if failure.may_be_copy:
            self.repeats += 1
            return 0.0
        if self._last_failure is None:
            self._answered_at_failure = self._health.answered
        self._health.fail()
        # Where TLS fails at first contact, it would fail again.
        if failure.is_unreachable and not self._health.answered and (failure.is_insecure or self._left <= 0):
            return None
        was_probe, self._is_probe = self._is_probe, False
        if was_probe and failure.is_transient:
            return max(0.0, self._due - time.monotonic())
        self._own_failures += 1
        is_same = self._last_failure is not None and _digest(self._last_failure) == _digest(failure)
        self._same_in_row = self._same_in_row + 1 if is_same else 1
        self._last_failure = failure
        has_been_overcome = _digest(failure) in self._health.overcome
        is_hopeless = self.is_about_request and not has_been_overcome
        if not failure.is_transient or self._failure_retries >= self._most or is_hopeless:
            return None
        self._failure_retries += 1
        self._is_wait_requested = _own_wait(failure) > 0
        delay = max(self._backoff(), _own_wait(failure))
        if failure.is_unreachable and not self._health.answered:
            delay = min(delay, self._left)
        self._due = time.monotonic() + delay
        return delay

    async def wait_until_due(self) -> None:
        """Wait for the next attempt: until it is due, or less if the endpoint is back or can be probed."""
        answered_before = self._health.answered
        while (left := self._due - time.monotonic()) > 0:
            is_back = self._health.answered > answered_before
            if self._is_wait_requested or not (self._health.is_down or is_back):
                await asyncio.sleep(left)
                return
            if is_back:
                return
            if time.monotonic() - self._health.tried_at >= WAITS.probe:
                # No other call probes until this attempt has failed as well.
                self._health.tried_at, self._is_probe = time.monotonic(), True
                return
            await asyncio.sleep(min(left, random.uniform(0.5, 1) * WAITS.check))  # noqa: S311

    @property
    def _left(self) -> float:
        """Seconds left to try an endpoint that has never answered; not above 0 if the time is over."""
        return self._begun + WAITS.first_contact - time.monotonic()

    def _backoff(self) -> float:
        """Seconds to wait before the current retry, random so that calls which failed together spread out."""
        # The exponent is bounded, as the power of a large one would overflow.
        longest = min(WAITS.longest, WAITS.first * 2.0 ** min(self._failure_retries - 1, 16))
        return random.uniform(0.5, 1) * longest  # noqa: S311 - not a secret

    @property
    def concerns_all(self) -> bool:
        """Whether other calls would fail too: the failure is not about this request, or no call succeeded."""
        return not self.is_about_request or not self._health.answered

    @property
    def is_about_request(self) -> bool:
        """Whether the endpoint keeps failing this call in the same way while it is not down.

        The test differs from `is_down`: the endpoint counts as up if it has answered a call since this one
        first failed, or if no other call has failed since this one began.
        """
        failure = self._last_failure
        if failure is None or not failure.may_be_about_request or self._same_in_row < MOST_IDENTICAL:
            return False
        others_answered = self._health.answered > self._answered_at_failure
        others_failed = self._health.failed - self._failed_at_start > self._own_failures
        return others_answered or not others_failed


def _own_wait(failure: Failure) -> float:
    """Seconds of a wait requested for this call alone: an overloaded endpoint pauses its whole queue."""
    return 0.0 if failure.is_overload else min(failure.retry_after or 0.0, WAITS.longest)


def _digest(failure: Failure) -> str:
    return hashlib.sha256(
        f"{failure.status} {failure.message} {failure.body!r}".encode("utf-8", "replace")
    ).hexdigest()


# The wait that an endpoint requests in its response headers.

# A lookahead, so that there is a digit before or after the point.
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
# One part of a duration, such as the 3.5s of 1h2m3.5s.
_DURATION_PART = rf"({_DECIMAL})({'|'.join(_UNITS)})"
_DURATION = re.compile(rf"-?(?:{_DURATION_PART}){{1,9}}", re.ASCII)
# datetime.fromisoformat accepts far more than endpoints send.
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[t ][\d:.+z-]{5,30})?", re.ASCII)
# Names of reset headers: of OpenAI and most others (x-ratelimit-reset-tokens), the IETF's drafts, Anthropic,
# and Mistral's gateway.
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit(?:bysize)?-(?:.+-)?reset(?:-.+)?")


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that an endpoint asks to wait, from 0 to LONGEST_RETRY_AFTER; None if it does not say.

    `now` is the wall clock in Unix time. It is used only if the response has no Date header, since clocks
    differ. Invalid values are ignored.
    """
    # Azure and xAI also write x-rate-limit.
    values = {
        name.lower().replace("rate-limit", "ratelimit"): value.strip().lower()
        for name, value in headers.items()
    }
    date = _http_date(values.get("date", ""))
    now = now if date is None else date
    milliseconds = _number(values.get("retry-after-ms", ""))
    wait = None if milliseconds is None else _sane(milliseconds / 1000)
    if wait is None:
        wait = _seconds(values.get("retry-after", ""), now)
    return _until_reset(values, now) if wait is None else wait


def _until_reset(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until all exhausted quotas are reset; if none is exhausted, until the first reset of any."""
    exhausted: list[float] = []
    others: list[float] = []
    for name, value in headers.items():
        wait = _seconds(value, now) if _RESET.fullmatch(name) else None
        if wait is not None and not _is_unlimited(headers, name):
            remaining = _number(headers.get(name.replace("reset", "remaining"), ""))
            # A quota without a header on what remains may be exhausted.
            (exhausted if remaining is None or remaining <= 0 else others).append(wait)
    return max(exhausted) if exhausted else min(others, default=None)


def _is_unlimited(headers: Mapping[str, str], reset_name: str) -> bool:
    """Whether the reset header of this name is about something without a limit."""
    # Azure then sends a limit of -1 and a reset of 0.
    limit = _number(headers.get(reset_name.replace("reset", "limit"), ""))
    return limit is not None and limit < 0


def _seconds(text: str, now: float) -> float | None:
    """The wait in a header value: seconds, a duration, a Unix timestamp or a date. None if it is invalid."""
    number = _number(text)
    if number is not None and number < 1e9:
        return _sane(number)
    wait = _duration(text)
    if wait is not None:
        return _sane(wait)
    at = _date(text) if number is None else _timestamp(number)
    return None if at is None else _sane(at - now)


def _sane(wait: float) -> float | None:
    """The wait, at least 0; None if it is longer than LONGEST_RETRY_AFTER."""
    return max(0.0, wait) if wait <= LONGEST_RETRY_AFTER else None


def _timestamp(number: float) -> float | None:
    """Unix time in seconds from a timestamp in seconds or milliseconds; None outside plausible ranges."""
    # 1e9 seconds is in the year 2001; no server means an earlier time.
    if 1e9 <= number < 1e11:
        return number
    return number / 1000 if 1e12 <= number < 1e14 else None


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _duration(text: str) -> float | None:
    """Seconds in a duration as Go prints it, used by OpenAI and Groq: 20ms, 6m0s, 1h2m3.5s; also 1d2h."""
    if not _DURATION.fullmatch(text):
        return None
    length = sum(float(amount) * _UNITS[unit] for amount, unit in re.findall(_DURATION_PART, text, re.ASCII))
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
        # Python rejects a leap second: it is read as the second before.
        return _unix_time(parsedate_to_datetime(text.replace(":60 ", ":59 ")))
    except (ValueError, OverflowError):
        return None


def _unix_time(date: datetime) -> float:
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
