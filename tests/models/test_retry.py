"""Whether a failed call is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import httpx2
import pytest

from equipoise.models import retry
from equipoise.models.failures import Failure
from equipoise.models.retry import LONGEST_RETRY_AFTER, WAITS, Health, Retries, retry_after

BUSY = Failure(message="slow down", status=429, body={"message": "slow down"})
BROKEN = Failure(message="internal error", status=500, body={"message": "internal error"})
GONE = Failure(message="connection failed")
COPY = Failure(message="the answer repeats another one", status=200, may_be_copy=True)


def numbered(number: int, status: int = 500) -> Failure:
    """A failure that differs from every other, as where an endpoint tells a request id."""
    return Failure(message=f"internal error {number}", status=status, body={"id": number})


def attempts(retries: Retries, *failures: Failure) -> int:
    """How many attempts there are if they fail like this, and like the last of these from then on."""
    for number in range(1, 1000):
        if retries.delay_after(failures[min(number, len(failures)) - 1]) is None:
            return number
    raise AssertionError("there is no end to it")


# How often.


def test_an_answer_that_may_be_a_copy_is_asked_for_once_more() -> None:
    """However few retries are allowed, and at once; it is no failure of the endpoint."""
    health = Health()
    retries = Retries(0, health)
    assert not retries.check_for_copy(7, 0)
    assert retries.check_for_copy(7, 3)
    assert retries.is_in_doubt
    assert retries.delay_after(COPY) == 0
    assert not retries.check_for_copy(8, 1)
    assert (retries.count, retries.repeats, health.failed) == (1, 1, 0)
    assert retries.delay_after(BROKEN) is None


def test_of_an_endpoint_that_repeats_its_answers_only_the_last_is_in_doubt() -> None:
    """Once an answer came again although it was asked for again, since its answers differ in nothing else."""
    health = Health()
    for digest in (8, 7):
        retries = Retries(0, health)
        assert retries.check_for_copy(7, 2)
        assert not retries.check_for_copy(digest, 0)
    assert not Retries(0, health).check_for_copy(7, 2)
    assert Retries(0, health).check_for_copy(7, 1)


def test_every_failed_attempt_is_counted_for_the_endpoint() -> None:
    """The health of an endpoint knows of all attempts that failed and of all calls that were answered."""
    health = Health()
    for failures in ((BUSY, GONE), (Failure(message="no", status=400),), ()):
        retries = Retries(12, health)
        for failure in failures:
            retries.delay_after(failure)
        retries.report_answer()
    assert (health.answered, health.failed) == (3, 3)


# Backoff.


def test_waits_double_up_to_a_ceiling() -> None:
    """Before the nth retry it is half to all of 0.5 s, doubled n-1 times, and of a minute at most."""
    retries, shares = Retries(10_000, Health()), []
    for number in range(1, 501):
        longest = WAITS.longest if number >= 8 else WAITS.first * 2 ** (number - 1)
        wait = retries.delay_after(GONE)
        assert wait is not None
        shares.append(wait / longest)
    # Calls that failed together do not come again together.
    assert 0.5 <= min(shares) < 0.55
    assert 0.95 < max(shares) <= 1


def test_a_wait_for_one_call_is_kept_here() -> None:
    """The call does not come before its endpoint is back; an overload holds all calls back in their queue."""
    failure = Failure(message="restarting", status=502, retry_after=30)
    assert Retries(12, Health()).delay_after(failure) == 30
    assert Retries(12, Health()).delay_after(replace(failure, retry_after=1e6)) == WAITS.longest
    assert (Retries(12, Health()).delay_after(replace(failure, status=429)) or 0) <= WAITS.first


# When it is no use.


def test_only_answers_alike_in_a_row_count(subtests: pytest.Subtests) -> None:
    """Another status, body or message in between, and the counting starts again."""
    others = {
        "status": replace(BROKEN, status=501),
        "body": replace(BROKEN, body={"message": "internal error", "id": 7}),
        "message": replace(BROKEN, message="the answer has no choices"),
        "connection": GONE,
    }
    for what, other in others.items():
        with subtests.test(what):
            assert attempts(Retries(12, Health()), BROKEN, BROKEN, other, BROKEN) == 6


def test_answers_that_all_differ_are_tried_to_the_end() -> None:
    """Where every error has a number of its own, nothing tells that it is about the request."""
    retries = Retries(12, Health())
    assert attempts(retries, *(numbered(n) for n in range(20))) == 13
    assert not retries.is_about_request


def test_whether_it_is_the_request_depends_on_other_calls_meanwhile(subtests: pytest.Subtests) -> None:
    """Answers alike are an outage where others fail and none is answered since."""
    for what, events, more, is_about_request in (
        ("down", "| fail", 13, False),
        ("others are answered", "| fail own answer", 2, True),
        ("an outage that is over", "fail |", 3, True),
        ("answers from better times", "fail answer |", 3, True),
        ("answered before it went down", "| answer fail", 13, False),
        ("an outage that ends", "| fail own own own own own answer", 1, True),
    ):
        with subtests.test(what):
            health = Health()
            other = retries = Retries(12, health)
            for event in events.split():
                if event == "|":
                    retries, other = Retries(12, health), Retries(12, health)
                elif event == "answer":
                    other.report_answer()
                else:
                    caller, failure = (retries, BROKEN) if event == "own" else (other, numbered(1))
                    assert caller.delay_after(failure) is not None
            assert (attempts(retries, BROKEN), retries.is_about_request) == (more, is_about_request)


def test_a_call_that_is_given_up_says_whether_others_would_fare_better(subtests: pytest.Subtests) -> None:
    """Others would where some are answered, and this call alone always gets the same."""
    for what, failure, is_any_answered, concerns_all in (
        ("this request", BROKEN, True, False),
        ("none was ever answered", BROKEN, False, True),
        ("overload", BUSY, True, True),
        ("no connection", GONE, True, True),
    ):
        with subtests.test(what):
            health = Health(answered=int(is_any_answered))
            retries = Retries(4, health)
            attempts(retries, failure)
            assert retries.concerns_all is concerns_all


def test_what_another_call_has_overcome_is_chance() -> None:
    """It is tried to the end: the last failure before an answer; earlier ones may have had other cures."""
    health = Health()
    lucky = Retries(12, health)
    lucky.delay_after(BROKEN)
    lucky.delay_after(numbered(1))
    lucky.report_answer()
    assert attempts(Retries(12, health), BROKEN) == 3
    assert attempts(Retries(12, health), numbered(1)) == 13


def test_failures_overcome_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that numbers its errors does not fill the memory."""
    monkeypatch.setattr(retry, "MOST_REMEMBERED", 3)
    health = Health()
    for number in range(10):
        retries = Retries(12, health)
        retries.delay_after(numbered(number))
        retries.report_answer()
    assert len(health.overcome) == 3


def test_any_body_can_be_told_from_another(subtests: pytest.Subtests) -> None:
    """Whatever an endpoint sends along with its error, it is compared and remembered in a few bytes."""
    for what, body in {"surrogate": {"a": "\ud83d"}, "list": [1, None], "long": "x" * 100_000}.items():
        with subtests.test(what):
            health = Health()
            retries = Retries(12, health)
            retries.delay_after(Failure(message="", status=500, body=body))
            retries.report_answer()
            assert [len(item) for item in health.overcome] == [64]


# How long an endpoint asks to wait.

# Sun, 12 Oct 2025 08:00:00 GMT.
NOW = 1_760_256_000.0
DAY = 86_400.0
READABLE: dict[float, str] = {
    # Seconds, durations, Unix time in seconds or milliseconds, ISO 8601, RFC 9110, all in any form.
    0: "0|-5|-0|-1e99|0s|-1m30s|1760255000|1000000000|1741305600000|2025-10-12T07:59:00Z"
    "|Sun, 06 Nov 1994 08:49:37 GMT|Sunday, 06-Nov-94 08:49:37 GMT|Sun Nov  6 08:49:37 1994"
    "|0001-01-01t00:00:00+23:59",
    30: "1760256030|1760256030000|1.76025603e9|2025-10-12T08:00:30Z|2025-10-12t08:00:30z"
    "|2025-10-12T08:00:30+00:00|2025-10-12T10:00:30+02:00|2025-10-12T08:00:30|2025-10-12 08:00:30",
    30.25: "1760256030.25|1760256030250|2025-10-12T08:00:30.250Z",
    120: "Sun, 12 Oct 2025 08:02:00 GMT|Sunday, 12-Oct-25 08:02:00 GMT|Sun Oct 12 08:02:00 2025"
    "|sun, 12 oct 2025 08:02:00 gmt|Sun, 12 Oct 2025 08:02:00 UTC|Sun, 12 Oct 2025 10:02:00 +0200"
    "|Sun, 12 Oct 2025 08:02:00|12 Oct 2025 08:02:00 GMT",
    **{119: "Sun, 12 Oct 2025 08:01:60 GMT", 22 * DAY: "Mon Nov  3 08:00:00 2025", 16 * 3600: "2025-10-13"},
    **{7: "7", 0.5: "0.5|.5", 33011.382867: "33011.382867", 1: "1.|1s", 3: "+3", 12: " 12\t", DAY: "86400"},
    **{5e-05: "5e-05", 0.02: "20ms", 7.66: "7.66s", 360: "6m0s", 179.56: "2m59.56s", 977.764: "16m17.764s"},
    **{3723.5: "1h2m3.5s", 15_420: "4h17m", DAY + 7200: "1d2h", 3720: "1H2M", 9e-7: "900ns"},
    **{0.00025: "250us|250\u00b5s|250\u03bcs", LONGEST_RETRY_AFTER: "2678400|31d"},
}
NO_NUMBERS = (
    "| |soon|nan|NaN|inf|-inf|Infinity|1e400|1_000|0x10|1,5|5, 5|-|.|+|e5|--5|5\x00|5 s|s|ms|5x"
    "|5s!|1s 2m|99999999999|99999999999999999|2678401|2678400.1|40d|1e9999|\u0663|\u00b2|\ud800"
)
UNREADABLE = (
    *NO_NUMBERS.split("|"),
    *("1" * 5000, "1s" * 5000, f"Sun, {'6' * 20} Oct 2025 08:02:00 GMT", "Sun, 12 Oct 2025 08:02:00 +999999"),
    *("2025-13-01T00:00:00Z", "2025-10-12T25:00:00Z", "9999-12-31T23:59:59Z", "2026-10-12T08:00:00Z"),
    *("Sun, 12 Okt 2025 08:02:00 GMT", "Sun, 31 Feb 2025 08:02:00 GMT", "Sun, 12 Oct 2025 24:02:00 GMT"),
    *("Thu, 01 Jan 2026 00:00:00 GMT", "Sun, 12 Oct 2025 08:02:99 GMT", "Sun, 12 Oct 2025 GMT", "Sun, 12"),
    *("9999-12-31t23:59:59-23:59", "2025-W42-1", "20251012T080030Z", "2025-10-12T08:00:30Z[UTC]"),
    "2025-10-12T",
)
NAMES = ("retry-after", "x-ratelimit-reset", "anthropic-ratelimit-tokens-reset")


def test_waits_are_read_in_every_form() -> None:
    """Whatever the header; what is past is no wait, what is garbage or more than a month is not told."""
    read = {value: wait for wait, values in READABLE.items() for value in values.split("|")}
    expected = {(value, name): wait for (value, wait), name in product(read.items(), NAMES)}
    waits = {(value, name): retry_after({name: value}, NOW) for value, name in expected}
    assert waits == pytest.approx(expected)
    every = product(UNREADABLE, NAMES)
    believed = {(ascii(value)[:40], name): retry_after({name: value}, NOW) for value, name in every}
    assert {case: wait for case, wait in believed.items() if wait is not None} == {}


# Which header counts.


def headers(text: str) -> dict[str, str]:
    """Headers as they are sent, in one line."""
    pairs = (line.partition(": ") for line in text.split(" | ") if line)
    return {name: value for name, _, value in pairs}


DATE = "date: Sun, 12 Oct 2025 08:00:00 GMT"
TOLD: dict[str, float | None] = {
    # No header, no wait; others say nothing.
    **{"": None, f"{DATE} | x-request-id: 7 | age: 5": None},
    "x-ratelimit-limit: 60 | x-ratelimit-remaining: 0 | x-preset: 9": None,
    # The endpoint's own word counts, even where it is 0.
    "x-ratelimit-reset-requests: 1m | x-ratelimit-remaining-requests: 0 | retry-after: 2": 2,
    "x-ratelimit-reset-requests: 1m | x-ratelimit-remaining-requests: 0 | retry-after: 0": 0,
    "x-ratelimit-reset-requests: 1m | x-ratelimit-remaining-requests: 0 | retry-after: soon": 60,
    # A response's date has no bearing on a number of seconds; a device without a clock counts from 1970.
    "date: Sun, 06 Nov 1994 08:49:37 GMT | retry-after: 3": 3,
    "date: Thu, 01 Jan 0000 00:00:00 GMT | retry-after: 1e99": None,
    "date: Thu, 01 Jan 1970 00:00:00 GMT | retry-after: Thu, 01 Jan 1970 00:00:09 GMT": 9,
    # What is no HTTP date is as if the response had none.
    **{
        f"date: {date} | retry-after: Sun, 12 Oct 2025 08:00:30 GMT": 30
        for date in ("", "now", "1760256010", "2025-10-12T08:00:10Z", "Sun, 40 Oct 2025 08:00:10 GMT")
    },
}
MILLISECONDS = {"1500": 1.5, "0": 0.0, "-20": 0.0, "0.5": 0.0005, "2678400000": LONGEST_RETRY_AFTER}
NO_MILLISECONDS = ("", "soon", "nan", "1s", "1e15", "Sun, 12 Oct 2025 08:02:00 GMT")


def test_which_header_counts(subtests: pytest.Subtests) -> None:
    """retry-after-ms, which OpenAI and Azure send, before retry-after, and that before all resets."""
    for value, wait in {**MILLISECONDS, **dict.fromkeys(NO_MILLISECONDS, 2.0)}.items():
        text = f"retry-after: 2 | retry-after-ms: {value} | x-ratelimit-reset-tokens: 9s"
        with subtests.test(milliseconds=value):
            assert retry_after(headers(text), NOW) == pytest.approx(wait)
    for text, expected in TOLD.items():
        with subtests.test(text):
            assert retry_after(headers(text), NOW) == expected


def test_the_endpoints_clock_is_used() -> None:
    """A point in time is taken relative to the response's own date, however wrong our clock goes."""
    dates = ("Sun, 12 Oct 2025 08:00:00 GMT", "Sunday, 12-Oct-25 08:00:00 GMT", "Sun Oct 12 08:00:00 2025")
    values = ("Sun, 12 Oct 2025 08:00:30 GMT", "1760256030", "1760256030000", "2025-10-12T08:00:30Z")
    for date, value, name, off in product(dates, values, NAMES, (-1e6, 0.0, 3600.0)):
        assert retry_after({"date": date, name: value}, NOW + off) == 30.0, (date, value, name, off)


# Resets.

RESETS = (
    *("x-ratelimit-reset", "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "ratelimit-reset"),
    *("x-ratelimit-reset-tokens_usage_based", "x-ratelimit-reset-requests-day", "ratelimitbysize-reset"),
    *("x-ratelimit-reset-tokens-per-minute", "x-rate-limit-reset-tokens"),
    *(
        f"anthropic-ratelimit-{kind}-reset"
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)


def test_headers_are_known_by_name_in_any_case() -> None:
    """Every provider's names, in a plain dict as in a library's headers."""
    late = headers(f"{DATE} | retry-after: Sun, 12 Oct 2025 08:00:04 GMT")
    every: list[Mapping[str, str]] = [late, {"retry-after-ms": "4000"}, *({name: "4"} for name in RESETS)]
    spellings: tuple[Callable[[str], str], ...] = (str, str.title, str.upper)
    for plain, as_sent in product(every, spellings):
        sent = {as_sent(name): value for name, value in plain.items()}
        assert retry_after(sent, NOW + 60) == retry_after(httpx2.Headers(sent), NOW + 60) == 4.0, sent


def openai(requests: tuple[str | None, str], tokens: tuple[str | None, str]) -> dict[str, str]:
    """OpenAI's headers: what remains and when it is reset, of requests and of tokens."""
    fields = {"x-ratelimit-limit-requests": "60", "x-ratelimit-limit-tokens": "150000"}
    for kind, (remaining, reset) in {"requests": requests, "tokens": tokens}.items():
        fields[f"x-ratelimit-reset-{kind}"] = reset
        if remaining is not None:
            fields[f"x-ratelimit-remaining-{kind}"] = remaining
    return fields


QUOTAS: dict[str, tuple[Mapping[str, str], float | None]] = {
    "requests spent": (openai(("0", "1s"), ("149984", "6m0s")), 1.0),
    "tokens spent": (openai(("59", "1s"), ("0", "6m0s")), 360.0),
    "both spent": (openai(("0", "1s"), ("0", "6m0s")), 360.0),
    "overdrawn": (openai(("0.0", "1s"), ("-20", "6m0s")), 360.0),
    "none spent": (openai(("59", "1s"), ("10", "6m0s")), 1.0),
    "none spent, shortest": (openai(("59", "6m0s"), ("10", "1s")), 1.0),
    "one unknown": (openai((None, "1s"), ("10", "6m0s")), 1.0),
    "both unknown": (openai((None, "1s"), (None, "6m0s")), 360.0),
    "unreadable is unknown": (openai(("many", "1s"), ("10", "6m0s")), 1.0),
    "unreadable reset": (openai(("0", "soon"), ("10", "6m0s")), 360.0),
    "unreadable resets": (openai(("0", "soon"), ("0", "1y")), None),
}
# Azure's -1 and 0 are no wait of 0 seconds.
UNLIMITED = "x-ratelimit-limit-tokens: -1 | x-ratelimit-remaining-tokens: -1 | x-ratelimit-reset-tokens: 0"
PROVIDERS: dict[str, float | None] = {
    "anthropic-ratelimit-requests-remaining: 3201 | anthropic-ratelimit-requests-reset: 2025-10-12T08:00:01Z"
    " | anthropic-ratelimit-output-tokens-remaining: 0"
    " | anthropic-ratelimit-output-tokens-reset: 2025-10-12T08:00:45Z": 45.0,
    "X-RateLimit-Limit: 50 | X-RateLimit-Remaining: 0 | X-RateLimit-Reset: 1760313600000": 16 * 3600.0,
    "x-ratelimit-remaining-requests: 14370 | x-ratelimit-remaining-tokens: 0"
    " | x-ratelimit-reset-requests: 2m59.56s | x-ratelimit-reset-tokens: 7.66s": 7.66,
    "x-ratelimit-remaining-requests-day: 9500 | x-ratelimit-reset-requests-day: 33011.382867"
    " | x-ratelimit-remaining-tokens-minute: 0 | x-ratelimit-reset-tokens-minute: 45.5": 45.5,
    "ratelimitbysize-limit: 500000 | ratelimitbysize-remaining: 0 | ratelimitbysize-reset: 27": 27.0,
    "x-ratelimit-limit: 10 | x-ratelimit-remaining: 0 | x-ratelimit-reset: 1": 1.0,
    "x-rate-limit-reset-tokens: 55 | x-ratelimit-remaining-requests: 12": 55.0,
    UNLIMITED: None,
    f"{UNLIMITED} | x-ratelimit-reset-requests: 8": 8.0,
    "RateLimit-Remaining: 0 | RateLimit-Reset: 30 | X-RateLimit-Remaining: 0"
    " | X-RateLimit-Reset: 1760256030": 30.0,
}
"""Of Anthropic, OpenRouter, Groq, Cerebras, Mistral, Together, Azure, and the draft of the IETF."""


def test_the_spent_quota_decides(subtests: pytest.Subtests) -> None:
    """The longest wait for what is spent or unknown; the shortest where something is left of everything."""
    providers = {text: (headers(text), wait) for text, wait in PROVIDERS.items()}
    for name, (fields, wait) in {**QUOTAS, **providers}.items():
        with subtests.test(name):
            assert retry_after(fields, NOW) == pytest.approx(wait)
