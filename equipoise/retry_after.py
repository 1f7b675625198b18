"""How long an endpoint asks to wait, read from the headers of its response.

Pure; knows no HTTP library, and nothing of how long anybody is willing to wait.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

# Quotas are renewed at least once a month: whoever asks for a longer wait is mistaken.
LONGEST = 31 * 86_400.0

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

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>[a-z]{3})"
_TIME = r"(?P<time>\d\d:\d\d:[0-6]\d)"
# RFC 9110, section 5.6.7: the preferred form and RFC 850's, then that of C's asctime().
_DATE = rf"(?P<day>\d\d?)[ -]{_MONTH}[ -](?P<year>\d\d(?:\d\d)?)"
_DAY_FIRST = re.compile(rf"(?:[a-z]{{3,9}}, )?{_DATE} {_TIME} (?:gmt|utc)", re.ASCII)
_ASCTIME = re.compile(rf"[a-z]{{3}} {_MONTH} (?P<day>[ \d]\d) {_TIME} (?P<year>\d{{4}})", re.ASCII)
# What Python reads as ISO 8601 is far more than anybody means by it.
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[t ][\d:.+z-]{5,30})?", re.ASCII)

# OpenAI and most others (x-ratelimit-reset-tokens), the IETF's drafts, Anthropic, Mistral's gateway.
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit(?:bysize)?-(?:.+-)?reset(?:-.+)?")


def seconds(headers: Mapping[str, str], now: float) -> float | None:
    """How long an endpoint asks to wait, in seconds from 0 to LONGEST; None where it does not say.

    `now` is the wall clock in Unix time. It is used where the response does not carry a date of its own:
    clocks differ, and a wait is a difference on one clock. What cannot be read is as if it were not there.
    """
    # Azure and xAI also write x-rate-limit.
    fields = {name.lower().replace("rate-limit", "ratelimit"): value for name, value in headers.items()}
    sent = _http_date(_plain(fields.get("date", "")))
    now = now if sent is None else sent
    milliseconds = _number(fields.get("retry-after-ms", ""))
    wait = None if milliseconds is None else _sane(milliseconds / 1000)
    if wait is None:
        wait = _wait(fields.get("retry-after", ""), now)
    return _until_reset(fields, now) if wait is None else wait


def _until_reset(fields: Mapping[str, str], now: float) -> float | None:
    """The wait for all quotas that are spent; where none is, the shortest wait for any."""
    spent: list[float] = []
    left: list[float] = []
    for name, value in fields.items():
        wait = _wait(value, now) if _RESET.fullmatch(name) else None
        if wait is not None and not _is_unlimited(fields, name):
            remaining = _number(fields.get(name.replace("reset", "remaining"), ""))
            (spent if remaining is None or remaining <= 0 else left).append(wait)
    return max(spent) if spent else min(left, default=None)


def _is_unlimited(fields: Mapping[str, str], reset: str) -> bool:
    # Azure sends a limit of -1, together with a reset of 0, for what it does not limit.
    limit = _number(fields.get(reset.replace("reset", "limit"), ""))
    return limit is not None and limit < 0


def _wait(text: str, now: float) -> float | None:
    """The wait that a value asks for: seconds, a duration, a Unix timestamp or a date."""
    number = _number(text)
    if number is not None and number < 1e9:
        return _sane(number)
    wait = _duration(text)
    if wait is not None:
        return _sane(wait)
    at = _date(_plain(text)) if number is None else _timestamp(number)
    return None if at is None else _sane(at - now)


def _sane(wait: float) -> float | None:
    return max(0.0, wait) if wait <= LONGEST else None


def _timestamp(number: float) -> float | None:
    """Unix time in seconds, of seconds or milliseconds since 1970; from September 2001 on."""
    if 1e9 <= number < 1e11:
        return number
    return number / 1000 if 1e12 <= number < 1e14 else None


def _plain(text: str) -> str:
    return text.strip().lower()


def _number(text: str) -> float | None:
    text = _plain(text)
    return float(text) if _NUMBER.fullmatch(text) else None


def _duration(text: str) -> float | None:
    """Seconds in a duration as Go prints it, which OpenAI and Groq do: 20ms, 6m0s, 1h2m3.5s; also 1d2h."""
    text = _plain(text)
    if not _DURATION.fullmatch(text):
        return None
    length = sum(float(amount) * _UNITS[unit] for amount, unit in re.findall(_STEP, text, re.ASCII))
    return -length if text.startswith("-") else length


def _date(text: str) -> float | None:
    """Unix time of a date, in small letters, of HTTP or of ISO 8601; of UTC where it names no time zone."""
    if not _ISO_DATE.fullmatch(text):
        return _http_date(text)
    try:
        date = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def _http_date(text: str) -> float | None:
    """Unix time of a date, in small letters, in one of the three forms of HTTP."""
    match = _DAY_FIRST.fullmatch(text) or _ASCTIME.fullmatch(text)
    if match is None or match["month"] not in _MONTHS:
        return None
    hour, minute, second = map(int, match["time"].split(":"))
    month = _MONTHS.index(match["month"]) + 1
    try:
        date = datetime(_year(match["year"]), month, int(match["day"]), hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    # Added afterwards, because the seconds of a minute with a leap second go up to 60.
    return date.timestamp() + second


def _year(digits: str) -> int:
    """The year; of two digits, one from 1969 to 2068, as POSIX has it."""
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (1900 if year >= 69 else 2000)
