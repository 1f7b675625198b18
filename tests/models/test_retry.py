"""Whether a failed call is tried again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import httpx2
import pytest

from equipoise.models import retry
from equipoise.models.failures import Failure
from equipoise.models.retry import LONGEST_RETRY_AFTER, MOST_IDENTICAL, WAITS, Health, Retries, retry_after

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


def test_a_passing_failure_is_tried_again_so_often_and_no_more(subtests: pytest.Subtests) -> None:
    """`most` counts the attempts beyond the first, and so does `count`."""
    for most, failure in product((0, 1, 12), (BUSY, GONE)):
        with subtests.test(most=most, failure=failure.message):
            retries = Retries(most, Health())
            assert attempts(retries, failure) == most + 1
            assert retries.count == most


def test_an_answer_that_may_be_a_copy_is_asked_for_once_more() -> None:
    """However few retries are allowed, and at once; it is no failure of the endpoint."""
    health = Health()
    retries = Retries(0, health)
    assert not retries.doubts(7, 0)
    assert retries.doubts(7, 3)
    assert retries.is_in_doubt
    assert retries.delay_after(COPY) == 0
    assert not retries.doubts(8, 1)
    assert (retries.count, retries.repeats, health.failed) == (1, 1, 0)
    assert retries.delay_after(BROKEN) is None


def test_of_an_endpoint_that_repeats_its_answers_only_the_last_is_in_doubt() -> None:
    """Once an answer came again although it was asked for again, since its answers differ in nothing else."""
    health = Health()
    for digest in (8, 7):
        retries = Retries(0, health)
        assert retries.doubts(7, 2)
        assert not retries.doubts(digest, 0)
    assert not Retries(0, health).doubts(7, 2)
    assert Retries(0, health).doubts(7, 1)


def test_a_failure_that_will_not_pass_is_not_tried_again(subtests: pytest.Subtests) -> None:
    """What the endpoint says of this request or this key, it would say again."""
    for status in (400, 401, 402, 403, 404, 413, 422):
        with subtests.test(status=status):
            retries = Retries(12, Health())
            assert retries.delay_after(Failure(message="no", status=status)) is None
            assert retries.count == 0


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
    retries = Retries(10_000, Health())
    for number in range(1, 501):
        longest = WAITS.longest if number >= 8 else WAITS.first * 2 ** (number - 1)
        wait = retries.delay_after(GONE)
        assert wait is not None
        assert longest / 2 <= wait <= longest, number


def test_calls_that_failed_together_do_not_come_again_together() -> None:
    """The waits of calls that failed at the same moment are spread over half of the longest one."""
    random.seed(1)
    waits = [Retries(1, Health()).delay_after(GONE) or 0.0 for _ in range(200)]
    assert min(waits) < 0.55 * WAITS.first
    assert max(waits) > 0.95 * WAITS.first


def test_a_wait_for_all_calls_is_not_added_here() -> None:
    """Where an endpoint is overloaded, its queue holds all calls back; this one only backs off."""
    asked = Failure(message="slow down", status=429, retry_after=30)
    assert (Retries(12, Health()).delay_after(asked) or 0) <= WAITS.first


def test_a_wait_for_one_call_is_kept_here() -> None:
    """Where an endpoint fails and says when it will be back, the call does not come sooner."""
    asked = Failure(message="restarting", status=502, retry_after=30)
    assert Retries(12, Health()).delay_after(asked) == 30
    assert Retries(12, Health()).delay_after(replace(asked, retry_after=1e6)) == WAITS.longest


# When it is no use.


def test_three_answers_alike_are_enough(subtests: pytest.Subtests) -> None:
    """What an endpoint says three times of one request, while nobody else complains, it will say for ever."""
    assert MOST_IDENTICAL == 3
    for status in (200, 500, 501, 520):
        with subtests.test(status=status):
            retries = Retries(12, Health())
            assert attempts(retries, Failure(message="it broke", status=status, body="it broke")) == 3
            assert retries.is_about_request


def test_what_says_nothing_of_the_request_is_tried_to_the_end(subtests: pytest.Subtests) -> None:
    """An outage or an overload looks the same every time, and passes."""
    for status in (None, 408, 409, 429, 502, 503, 504, 529):
        with subtests.test(status=status):
            retries = Retries(12, Health())
            assert attempts(retries, Failure(message="busy", status=status, body="busy")) == 13
            assert not retries.is_about_request


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


def test_an_endpoint_that_is_down_is_given_its_time() -> None:
    """Where other calls fail as well and none is answered, three answers alike are an outage."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.delay_after(BROKEN)
    assert attempts(retries, BROKEN) == 13
    assert not retries.is_about_request


def test_an_endpoint_that_answers_others_is_not_down() -> None:
    """Though other calls fail as well, one that is answered meanwhile shows that it is about the request."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.delay_after(numbered(1))
    assert retries.delay_after(BROKEN) is not None
    other.report_answer()
    assert attempts(retries, BROKEN) == 2
    assert retries.is_about_request


def test_what_was_before_the_call_does_not_count(subtests: pytest.Subtests) -> None:
    """An outage that is over, or answers from better times, say nothing of how the endpoint is now."""
    for is_answered in (False, True):
        with subtests.test(is_answered=is_answered):
            health = Health()
            before = Retries(12, health)
            before.delay_after(numbered(1))
            if is_answered:
                before.report_answer()
            assert attempts(Retries(12, health), BROKEN) == 3


def test_an_answer_that_came_before_the_first_failure_does_not_count() -> None:
    """An endpoint may have gone down since: what matters is whether it answers now."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.report_answer()
    other.delay_after(numbered(1))
    assert attempts(retries, BROKEN) == 13


def test_an_outage_that_ends_leaves_the_request_to_blame() -> None:
    """Once others are answered again, a call that has gone on getting the same answer is given up."""
    health = Health()
    retries, other = Retries(12, health), Retries(12, health)
    other.delay_after(numbered(1))
    assert [retries.delay_after(BROKEN) is None for _ in range(5)] == [False] * 5
    other.report_answer()
    assert retries.delay_after(BROKEN) is None
    assert retries.is_about_request


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
    """An error after which the same call was answered is tried to the end, wherever it comes up.

    But not at another endpoint, which has its own health.
    """
    health = Health()
    lucky = Retries(12, health)
    lucky.delay_after(BROKEN)
    lucky.report_answer()
    assert attempts(Retries(12, health), BROKEN) == 13
    assert attempts(Retries(12, health), numbered(1)) == 3
    assert attempts(Retries(12, Health()), BROKEN) == 3


def test_only_the_last_failure_before_an_answer_was_overcome() -> None:
    """What came earlier may have been cured by something else."""
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
READABLE: dict[str, dict[str, float]] = {
    "whole seconds, as RFC 9110 has it, and fractions": {
        "0": 0,
        "7": 7,
        "0.5": 0.5,
        ".5": 0.5,
        "33011.382867": 33011.382867,
        "1.": 1,
        "+3": 3,
        "5e-05": 5e-05,
        " 12\t": 12,
        "86400": DAY,
        "-5": 0,
        "-0": 0,
        "-1e99": 0,
        "2678400": LONGEST_RETRY_AFTER,
    },
    "durations as OpenAI, Groq and SambaNova send them": {
        "20ms": 0.02,
        "1s": 1,
        "0s": 0,
        "7.66s": 7.66,
        "6m0s": 360,
        "2m59.56s": 179.56,
        "16m17.764s": 977.764,
        "1h2m3.5s": 3723.5,
        "4h17m": 15_420,
        "1d2h": DAY + 7200,
        "1H2M": 3720,
        "250us": 0.00025,
        "250\u00b5s": 0.00025,
        "250\u03bcs": 0.00025,
        "900ns": 9e-7,
        "-1m30s": 0,
        "31d": LONGEST_RETRY_AFTER,
    },
    "Unix time in seconds, as DigitalOcean sends it, or milliseconds, as OpenRouter does": {
        "1760256030": 30,
        "1760256030.25": 30.25,
        "1760256030000": 30,
        "1760256030250": 30.25,
        "1.76025603e9": 30,
        "1760255000": 0,
        "1000000000": 0,
        "1741305600000": 0,
    },
    "dates of ISO 8601, as Anthropic sends them; of UTC without a time zone": {
        "2025-10-12T08:00:30Z": 30,
        "2025-10-12t08:00:30z": 30,
        "2025-10-12T08:00:30.250Z": 30.25,
        "2025-10-12T08:00:30+00:00": 30,
        "2025-10-12T10:00:30+02:00": 30,
        "2025-10-12T08:00:30": 30,
        "2025-10-12 08:00:30": 30,
        "2025-10-12T07:59:00Z": 0,
        "2025-10-13": 16 * 3600,
    },
    "all three forms of RFC 9110, and what comes close": {
        "Sun, 12 Oct 2025 08:02:00 GMT": 120,
        "Sunday, 12-Oct-25 08:02:00 GMT": 120,
        "Sun Oct 12 08:02:00 2025": 120,
        "sun, 12 oct 2025 08:02:00 gmt": 120,
        "Sun, 12 Oct 2025 08:02:00 UTC": 120,
        "Sun, 12 Oct 2025 10:02:00 +0200": 120,
        "Sun, 12 Oct 2025 08:02:00": 120,
        "12 Oct 2025 08:02:00 GMT": 120,
        "Sun, 12 Oct 2025 08:01:60 GMT": 119,
        "Sun, 06 Nov 1994 08:49:37 GMT": 0,
        "Sunday, 06-Nov-94 08:49:37 GMT": 0,
        "Sun Nov  6 08:49:37 1994": 0,
        "Mon Nov  3 08:00:00 2025": 22 * DAY,
    },
}
UNREADABLE = (
    *("", " ", "soon", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "1_000", "0x10", "1,5", "5, 5"),
    *("-", ".", "+", "e5", "--5", "5\x00", "5 s", "s", "ms", "5x", "5s!", "1s 2m", "1" * 5000, "1s" * 5000),
    *(
        "99999999999",
        "99999999999999999",
        "2678401",
        "2678400.1",
        "40d",
        "1e9999",
        "\u0663",
        "\u00b2",
        "\ud800",
    ),
    *("2025-13-01T00:00:00Z", "2025-10-12T25:00:00Z", "9999-12-31T23:59:59Z", "2026-10-12T08:00:00Z"),
    *("Sun, 12 Okt 2025 08:02:00 GMT", "Sun, 31 Feb 2025 08:02:00 GMT", "Sun, 12 Oct 2025 24:02:00 GMT"),
    *("Thu, 01 Jan 2026 00:00:00 GMT", "Sun, 12 Oct 2025 08:02:99 GMT", "Sun, 12 Oct 2025 GMT", "Sun, 12"),
    *("Sun, 12 Oct 2025 08:02:00 +999999", f"Sun, {'6' * 20} Oct 2025 08:02:00 GMT"),
    *("2025-W42-1", "20251012T080030Z", "2025-10-12T08:00:30Z[UTC]", "2025-10-12T"),
)
NAMES = ("retry-after", "x-ratelimit-reset", "anthropic-ratelimit-tokens-reset")


def test_waits_are_read_in_every_form() -> None:
    """Whatever the name of the header; a negative wait, or a time in the past, is none."""
    expected = {
        (value, name): wait
        for values in READABLE.values()
        for (value, wait), name in product(values.items(), NAMES)
    }
    found = {(value, name): retry_after({name: value}, NOW) for value, name in expected}
    assert found == pytest.approx(expected)


def test_what_cannot_be_read_or_believed_is_not_there() -> None:
    """Garbage, infinite waits and those of more than a month leave the caller to its own."""
    found = {
        (ascii(value)[:40], name): retry_after({name: value}, NOW)
        for value, name in product(UNREADABLE, NAMES)
    }
    assert {case: wait for case, wait in found.items() if wait is not None} == {}


# Which header counts.


def test_without_headers_nothing_is_known() -> None:
    """No header, no wait; other headers say nothing."""
    assert retry_after({}, NOW) is None
    assert (
        retry_after({"date": "Sun, 12 Oct 2025 08:00:00 GMT", "x-request-id": "7", "age": "5"}, NOW) is None
    )
    assert (
        retry_after({"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-preset": "9"}, NOW) is None
    )


def test_milliseconds_come_first(subtests: pytest.Subtests) -> None:
    """retry-after-ms, which OpenAI and Azure send, is more exact than what stands beside it.

    What is no number of milliseconds is passed over.
    """
    waits = {"1500": 1.5, "0": 0.0, "-20": 0.0, "0.5": 0.0005, "2678400000": LONGEST_RETRY_AFTER}
    garbage = ("", "soon", "nan", "1s", "1e15", "Sun, 12 Oct 2025 08:02:00 GMT")
    for value, wait in {**waits, **dict.fromkeys(garbage, 2.0)}.items():
        with subtests.test(value):
            headers = {"retry-after": "2", "retry-after-ms": value, "x-ratelimit-reset-tokens": "9s"}
            assert retry_after(headers, NOW) == pytest.approx(wait)


def test_retry_after_comes_before_resets() -> None:
    """The endpoint's own word counts, even where it is 0."""
    resets = {"x-ratelimit-reset-requests": "1m", "x-ratelimit-remaining-requests": "0"}
    assert retry_after({**resets, "retry-after": "2"}, NOW) == 2.0
    assert retry_after({**resets, "retry-after": "0"}, NOW) == 0.0
    assert retry_after({**resets, "retry-after": "soon"}, NOW) == 60.0


# Clocks.


def test_the_endpoints_clock_is_used() -> None:
    """A point in time is taken relative to the response's own date, however wrong our clock goes."""
    dates = ("Sun, 12 Oct 2025 08:00:00 GMT", "Sunday, 12-Oct-25 08:00:00 GMT", "Sun Oct 12 08:00:00 2025")
    values = ("Sun, 12 Oct 2025 08:00:30 GMT", "1760256030", "1760256030000", "2025-10-12T08:00:30Z")
    for date, value, name, off in product(dates, values, NAMES, (-1e6, 0.0, 3600.0)):
        assert retry_after({"date": date, name: value}, NOW + off) == 30.0, (date, value, name, off)


def test_an_unreadable_date_leaves_our_clock(subtests: pytest.Subtests) -> None:
    """What is no HTTP date is as if the response had none."""
    for date in ("", "now", "1760256010", "2025-10-12T08:00:10Z", "Sun, 40 Oct 2025 08:00:10 GMT"):
        with subtests.test(date):
            headers = {"date": date, "retry-after": "Sun, 12 Oct 2025 08:00:30 GMT"}
            assert retry_after(headers, NOW) == 30.0


def test_a_wait_in_seconds_needs_no_clock() -> None:
    """A response's date has no bearing on a number of seconds."""
    assert retry_after({"date": "Sun, 06 Nov 1994 08:49:37 GMT", "retry-after": "3"}, NOW) == 3.0


def test_the_epoch_is_a_date_too() -> None:
    """A device without a clock of its own counts from 1970, and is taken at its word."""
    headers = {"date": "Thu, 01 Jan 1970 00:00:00 GMT", "retry-after": "Thu, 01 Jan 1970 00:00:09 GMT"}
    assert retry_after(headers, NOW) == 9.0


# Resets.

RESETS = (
    "x-ratelimit-reset",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset-tokens_usage_based",
    "x-ratelimit-reset-requests-day",
    "x-ratelimit-reset-tokens-per-minute",
    "x-rate-limit-reset-tokens",
    "ratelimit-reset",
    "ratelimitbysize-reset",
    "anthropic-ratelimit-requests-reset",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-reset",
    "anthropic-ratelimit-output-tokens-reset",
)


def test_headers_are_known_by_name_in_any_case() -> None:
    """Every provider's names, in a plain dict as in a library's headers."""
    late = {"date": "Sun, 12 Oct 2025 08:00:00 GMT", "retry-after": "Sun, 12 Oct 2025 08:00:04 GMT"}
    every = [late, {"retry-after-ms": "4000"}, *({name: "4"} for name in RESETS)]
    for headers, as_sent in product(every, (str, str.title, str.upper)):
        sent = {as_sent(name): value for name, value in headers.items()}
        assert retry_after(sent, NOW + 60) == retry_after(httpx2.Headers(sent), NOW + 60) == 4.0, sent


def openai(requests: tuple[str | None, str], tokens: tuple[str | None, str]) -> dict[str, str]:
    """OpenAI's headers: what remains and when it is reset, of requests and of tokens."""
    headers = {"x-ratelimit-limit-requests": "60", "x-ratelimit-limit-tokens": "150000"}
    for kind, (remaining, reset) in {"requests": requests, "tokens": tokens}.items():
        headers[f"x-ratelimit-reset-{kind}"] = reset
        if remaining is not None:
            headers[f"x-ratelimit-remaining-{kind}"] = remaining
    return headers


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
UNLIMITED = {
    "x-ratelimit-limit-tokens": "-1",
    "x-ratelimit-remaining-tokens": "-1",
    "x-ratelimit-reset-tokens": "0",
}
PROVIDERS: dict[str, tuple[Mapping[str, str], float | None]] = {
    "anthropic": (
        {
            "anthropic-ratelimit-requests-remaining": "3201",
            "anthropic-ratelimit-requests-reset": "2025-10-12T08:00:01Z",
            "anthropic-ratelimit-output-tokens-remaining": "0",
            "anthropic-ratelimit-output-tokens-reset": "2025-10-12T08:00:45Z",
        },
        45.0,
    ),
    "openrouter": (
        {"X-RateLimit-Limit": "50", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1760313600000"},
        16 * 3600.0,
    ),
    "groq": (
        {
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-requests": "2m59.56s",
            "x-ratelimit-reset-tokens": "7.66s",
        },
        7.66,
    ),
    "cerebras": (
        {
            "x-ratelimit-remaining-requests-day": "9500",
            "x-ratelimit-reset-requests-day": "33011.382867",
            "x-ratelimit-remaining-tokens-minute": "0",
            "x-ratelimit-reset-tokens-minute": "45.5",
        },
        45.5,
    ),
    "mistral": (
        {"ratelimitbysize-limit": "500000", "ratelimitbysize-remaining": "0", "ratelimitbysize-reset": "27"},
        27.0,
    ),
    "together": ({"x-ratelimit-limit": "10", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, 1.0),
    "azure": ({"x-rate-limit-reset-tokens": "55", "x-ratelimit-remaining-requests": "12"}, 55.0),
    "azure, unlimited": (UNLIMITED, None),
    "azure, tokens unlimited": ({**UNLIMITED, "x-ratelimit-reset-requests": "8"}, 8.0),
    "ietf draft": (
        {
            "RateLimit-Remaining": "0",
            "RateLimit-Reset": "30",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "1760256030",
        },
        30.0,
    ),
}


def test_the_spent_quota_decides(subtests: pytest.Subtests) -> None:
    """The longest wait for what is spent or unknown; the shortest where something is left of everything."""
    for name, (headers, wait) in {**QUOTAS, **PROVIDERS}.items():
        with subtests.test(name):
            assert retry_after(headers, NOW) == pytest.approx(wait)
