"""Connections that break, stall, lie and repeat; redirects; and forms of asking for a wait."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from email.utils import formatdate
from functools import partial

from fakes import FakeSlot

from attacks.endpoint import (
    KEY,
    TIMEOUT,
    Behaviour,
    Expected,
    Line,
    RawEndpoint,
    answering,
    ask,
    client_of,
    failed,
    one_of,
    plainly,
    response,
    says,
    strike_all,
)
from attacks.tally import Size, Tally
from equipoise.core.types import Reply
from equipoise.models import retry
from equipoise.models.retry import LONGEST_RETRY_AFTER
from loopback import completion

TEXT = "It opened in 1931."
SAID, EITHER = says(TEXT), one_of(says(TEXT), failed)
OTHER = answering("The answer to something else.")
WHOLE = json.dumps(completion(TEXT))
ANSWER = answering(TEXT)
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"


def attack(size: Size) -> Tally:
    """Each transport beside ordinary calls, many at the same time."""
    tally = Tally("transports")
    found = transports()
    with RawEndpoint({name: behaviour for name, behaviour, _ in found}) as endpoint:
        expected = ((name, expected) for name, _, expected in found)
        asyncio.run(strike_all(tally, endpoint, expected, at_once=8))
    return tally


Transport = tuple[str, Behaviour, Expected]


def transports() -> list[Transport]:
    """All of them."""
    return [*_cuts(), *_lengths(), *_chunks(), *_repeats(), *_stalls(), *_oddities()]


def _sending(*pieces: bytes, pause: float = 0.0, closes: bool = False) -> Behaviour:
    async def send(line: Line) -> None:
        await line.send(*pieces, pause=pause)
        if closes:
            line.close()

    return send


def _cuts() -> Iterator[Transport]:
    head = ANSWER.index(b"\r\n\r\n")
    for name, at in {
        "in the status": 5,
        "in a header": 25,
        "before the blank line": head,
        "behind the head": head + 4,
        "in the body": head + 40,
        "before the last byte": len(ANSWER) - 1,
        "before anything": 0,
    }.items():
        yield f"closed-{name}".replace(" ", "-"), _sending(ANSWER[:at], closes=True), failed
        yield f"reset-{name}".replace(" ", "-"), partial(_reset, ANSWER[:at]), failed
    yield "reset-behind-the-answer", partial(_reset, ANSWER), EITHER
    yield "closed-behind-the-answer", _sending(ANSWER, closes=True), SAID
    yield "closed-unread", _close_unread, failed


async def _reset(sent: bytes, line: Line) -> None:
    await line.send(sent)
    await asyncio.sleep(0.02)
    line.reset()


async def _close_unread(line: Line) -> None:
    """Without looking at the body of the request."""
    line.reset()


def _lengths() -> Iterator[Transport]:
    size = len(WHOLE)
    for name, length, closes, expected in (
        ("too-short", size - 10, False, failed),
        ("too-long", size + 10, True, failed),
        ("too-long-and-open", size + 10, False, failed),
        ("zero", 0, False, failed),
        ("negative", -1, True, failed),
        ("huge", 10**30, True, failed),
        ("text", "many", True, failed),
        ("plus", f"+{size}", True, EITHER),
        ("hexadecimal", hex(size), True, failed),
        ("twice-the-same", f"{size}\r\nContent-Length: {size}", True, EITHER),
        ("twice-differing", f"{size}\r\nContent-Length: {size - 5}", True, failed),
        ("listed", f"{size}, {size}", True, EITHER),
    ):
        yield f"length-{name}", _sending(response(WHOLE, length=length), closes=closes), expected
    bare = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + WHOLE.encode()
    yield "length-none-and-closed", _sending(bare, closes=True), SAID
    yield "length-none-and-open", _sending(bare), failed
    yield "length-none-and-cut", _sending(bare[:-9], closes=True), failed
    both = response(WHOLE, headers="Transfer-Encoding: chunked\r\n")
    yield "length-and-chunked", _sending(both, closes=True), failed


def _chunks() -> Iterator[Transport]:
    body = WHOLE.encode()
    sized = b"%x\r\n%b\r\n" % (len(body), body)
    bytewise = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    for name, sent, closes, expected in (
        ("plain", sized + b"0\r\n\r\n", False, SAID),
        ("of-one-byte", bytewise + b"0\r\n\r\n", False, SAID),
        ("with-extension", sized.replace(b"\r\n", b";a=b\r\n", 1) + b"0\r\n\r\n", False, EITHER),
        ("with-trailer", sized + b"0\r\nX-A: 1\r\n\r\n", False, EITHER),
        ("without-end", sized, True, failed),
        ("without-last-blank", sized + b"0\r\n", True, EITHER),
        ("size-too-large", b"fff" + sized + b"0\r\n\r\n", True, failed),
        ("size-too-small", b"5\r\n" + body + b"\r\n0\r\n\r\n", True, failed),
        ("size-negative", b"-5\r\n" + body + b"\r\n0\r\n\r\n", True, failed),
        ("size-huge", b"f" * 40 + b"\r\n" + body, True, failed),
        ("size-garbage", b"zz\r\n" + body, True, failed),
        ("not-chunked-at-all", body, True, failed),
        ("endless-size", b"0" * 200_000, True, failed),
    ):
        yield f"chunks-{name}", _sending(CHUNKED + b"\r\n" + sent, closes=closes), expected


def _repeats() -> Iterator[Transport]:
    """More answers than were asked for: none of them is another call's."""
    yield "twice-at-once", _sending(ANSWER + ANSWER), SAID
    yield "twice-and-another", _sending(ANSWER + OTHER), SAID
    yield "twice-soon", _sending(ANSWER, OTHER, pause=0.05), SAID
    yield "twice-later", _sending(ANSWER, OTHER, pause=0.2), SAID
    yield "garbage-behind", _sending(ANSWER + b"\r\n\r\ngarbage"), EITHER
    yield "many-times", _sending(*[ANSWER, *[OTHER] * 20], pause=0.01), SAID
    yield "half-a-second-answer", _sending(ANSWER + OTHER[:50]), SAID
    yield "early", _early, EITHER
    yield "late", _late, failed
    yield "another-before", _sending(OTHER[:-5], closes=True), failed


async def _early(line: Line) -> None:
    """Something else before the body has been read, the answer behind it."""
    line.writer.write(ANSWER)
    await line.writer.drain()
    await line.body()


async def _late(line: Line) -> None:
    """Long after nobody waits for it any more."""
    await line.body()
    await asyncio.sleep(TIMEOUT * 1.3)
    await line.send(OTHER)


def _stalls() -> Iterator[Transport]:
    yield "hang", _hang, failed
    yield "hang-unread", _hang_unread, failed
    yield "hang-behind-the-head", partial(_hang, sent=ANSWER[: ANSWER.index(b"{")]), failed
    yield "hang-in-the-body", partial(_hang, sent=ANSWER[:-20]), failed
    yield "drip-in-time", _sending(*_split(ANSWER, 40), pause=0.005), SAID
    yield "drip-for-ever", _sending(*_split(ANSWER, len(ANSWER)), pause=0.05), failed
    yield "drip-of-headers", partial(_headers_for_ever), failed
    yield "drip-of-blanks", partial(_blanks_for_ever), failed


def _split(data: bytes, pieces: int) -> list[bytes]:
    step = max(1, len(data) // pieces)
    return [data[start : start + step] for start in range(0, len(data), step)]


async def _hang(line: Line, sent: bytes = b"") -> None:
    await line.send(sent)
    await asyncio.sleep(TIMEOUT * 3)
    line.close()


async def _hang_unread(line: Line) -> None:
    await asyncio.sleep(TIMEOUT * 3)
    line.close()


async def _headers_for_ever(line: Line) -> None:
    await line.send(b"HTTP/1.1 200 OK\r\n")
    await line.send(*(b"X-%d: 1\r\n" % number for number in range(100)), pause=0.05)


async def _blanks_for_ever(line: Line) -> None:
    """As gateways do to keep a connection alive; the answer never comes."""
    await line.send(response(b"\n", length=10_000))
    await line.send(*[b"\n"] * 100, pause=0.05)


def _oddities() -> Iterator[Transport]:
    for name, sent, closes, expected in (
        ("continue-first", b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER, False, SAID),
        ("hints-first", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ANSWER, False, EITHER),
        ("continue-hundredfold", b"HTTP/1.1 100 Continue\r\n\r\n" * 100 + ANSWER, False, EITHER),
        ("switching", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", False, failed),
        ("old-protocol", ANSWER.replace(b"1.1", b"1.0", 1), True, SAID),
        ("new-protocol", ANSWER.replace(b"1.1", b"3.0", 1), True, EITHER),
        ("no-protocol", b"ICY 200 OK\r\n\r\n", True, failed),
        ("newlines-alone", ANSWER.replace(b"\r\n", b"\n"), True, EITHER),
        ("blank-lines-first", b"\r\n\r\n" + ANSWER, False, EITHER),
        ("alive-and-closed", ANSWER.replace(b"OK\r\n", b"OK\r\nConnection: keep-alive\r\n", 1), True, SAID),
        ("closing-but-open", ANSWER.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n", 1), False, SAID),
        ("alive-for-ever", ANSWER.replace(b"OK\r\n", b"OK\r\nKeep-Alive: timeout=-1\r\n", 1), True, SAID),
        ("tls-alert", b"\x15\x03\x01\x00\x02\x02\x0a", True, failed),
        ("http-2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", True, failed),
        ("zeros", bytes(100_000), True, failed),
    ):
        yield f"odd-{name}", _sending(sent, closes=closes), expected


# Redirects.

ELSEWHERE = "127.0.0.2"
MOST_REDIRECTED = 2 * 21
"""Requests of a call that is sent in circles, and tried again."""
STATUSES = (301, 302, 303, 307, 308)


def redirects(size: Size) -> Tally:
    """Each with every status: followed on the same host alone, and the key goes nowhere else."""
    tally = Tally("redirects")
    with RawEndpoint({}, host=ELSEWHERE) as other, RawEndpoint({}) as end:
        found = dict(_targets(end, other))
        names = {f"{name}-{status}": (name, status) for name in found for status in STATUSES}
        end.behave(
            {full: partial(_redirect, found[name][0], status) for full, (name, status) in names.items()}
        )
        end.behave({"target": _sending(ANSWER), "loop": partial(_redirect, b"/loop/v1/x", 307)})
        attacks = ((full, found[name][1]) for full, (name, _) in names.items())
        asyncio.run(strike_all(tally, end, attacks, most=MOST_REDIRECTED))
        with tally.attack("nothing is sent elsewhere") as harm:
            harm.keys += sum(KEY in head for head in other.heads)
            harm.expect(not other.heads, f"{len(other.heads)} requests to the other host")
    return tally


def _targets(end: RawEndpoint, other: RawEndpoint) -> Iterator[tuple[str, tuple[bytes, Expected]]]:
    here, there = f"127.0.0.1:{end.port}", f"{ELSEWHERE}:{other.port}"
    for name, location, expected in (
        ("same-host", f"http://{here}/target/v1/x", SAID),
        ("path", "/target/v1/x", SAID),
        ("relative", "../../../target/v1/x", EITHER),
        ("same-host-with-userinfo", f"http://user:{KEY}@{here}/target/v1/x", EITHER),
        ("other-host", f"http://{there}/x/v1", failed),
        ("other-host-with-userinfo", f"http://127.0.0.1@{there}/x/v1", failed),
        ("other-host-without-scheme", f"//{there}/x/v1", failed),
        ("other-host-with-key", f"http://{there}/{KEY}/v1?k={KEY}", failed),
        ("other-port", f"http://127.0.0.1:{other.port}/x/v1", failed),
        ("other-name", f"http://localhost:{end.port}/target/v1", failed),
        ("https", f"https://{here}/target/v1", failed),
        ("https-elsewhere", f"https://{there}/x", failed),
        ("backslash", f"http:\\\\{there}\\x", failed),
        ("loop", "/loop/v1/x", failed),
        ("empty", "", failed),
        ("blank", "   ", failed),
        ("no-host", "http://", failed),
        ("bracket", "http://[::1", failed),
        ("port-huge", "http://127.0.0.1:99999999/x", failed),
        ("port-text", "http://127.0.0.1:port/x", failed),
        ("file", "file:///etc/passwd", failed),
        ("script", "javascript:alert(1)", failed),
        ("data", "data:application/json,{}", failed),
        ("websocket", f"ws://{here}/target/v1", failed),
        ("long", f"http://{there}/" + "x" * 7000, failed),
        ("too-long", "http://" + "x" * 70_000, failed),
        ("not-ascii", "http://caf\xe9.example/\xff", failed),
        ("control", "http://exa\x01mple/\x1b[2J", failed),
        ("percent", "http://%31%32%37.0.0.2/x", failed),
        ("idna", "http://xn--\xe9--/x", failed),
    ):
        yield name, (location.encode("latin-1"), expected)


async def _redirect(location: bytes, status: int, line: Line) -> None:
    head = b"HTTP/1.1 %d Elsewhere\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % (status, location)
    await line.send(head)


# How long an endpoint asks to wait.


def waits(size: Size) -> Tally:
    """Each form of it: read as it is meant, or not at all, and never as a wait that nobody means."""
    tally = Tally("waits")
    found = [(f"{status}-{number}", *form) for status in (429, 503) for number, form in enumerate(_forms())]
    behaviours = {name: partial(_wait_then_answer, name.split("-")[0], headers) for name, headers, _ in found}
    with RawEndpoint(behaviours) as endpoint, retry.testing():
        asyncio.run(_wait_for_each(tally, endpoint, found))
    return tally


Form = tuple[str, float | None]


async def _wait_for_each(
    tally: Tally, endpoint: RawEndpoint, found: list[tuple[str, str, float | None]]
) -> None:
    client = client_of(endpoint)
    for name, headers, seconds in found:
        with tally.attack(f"{name}: {headers[:60]!r}") as harm:
            slot = FakeSlot()
            reply = await ask(client, name, slot)
            harm.lost += not isinstance(reply, Reply)
            harm.twice += endpoint.asked[name] - 2
            (failure,) = slot.failures
            asked = failure.retry_after
            harm.expect(asked is None or 0 <= asked <= LONGEST_RETRY_AFTER, f"a wait of {asked}")
            meant = asked is None if seconds is None else asked is not None and abs(asked - seconds) <= 3
            harm.expect(meant, f"a wait of {asked}, not {seconds}")
    await client.close()


async def _wait_then_answer(status: str, headers: str, line: Line) -> None:
    if line.number > 1:
        await plainly(line)
    else:
        await line.send(response("{}", f"{status} Wait", headers=headers))


def _forms() -> Iterator[Form]:
    now = time.time()
    hour = formatdate(now + 3600, usegmt=True)
    after: dict[str, float | None] = {
        "5": 5, "0": 0, "-5": 0, "1.5": 1.5, "+7": 7, " 9 ": 9, "1e2": 100, "1e99": None, "9" * 30: None,
        "99999999": None, "": None, "soon": None, "nan": None, "inf": None, "-inf": None, "0x10": None,
        "1_000": None, "\u0665".encode().decode("latin-1"): None, "5, 10": None, "5s": 5, "2m3s": 123,
        "20ms": 0.02, "-3s": 0, "1h" * 20: None, hour: 3600, formatdate(0, usegmt=True): 0,
        formatdate(now + 10**9, usegmt=True): None, "Thu, 99 Foo 2026 99:99:99 GMT": None,
        "Fri, 31 Dec 9999 23:59:59 GMT": None, str(int(now) + 60): 60, str(int(now * 1000) + 60_000): 60,
        "2020-01-01T00:00:00Z": 0, "2020-13-45": None, "5;q=1": None, "\x00": None,
    }  # fmt: skip
    for value, seconds in after.items():
        if "\x00" not in value:
            yield f"Retry-After: {value}\r\n", seconds
    yield "Retry-After: 5\r\nRetry-After: 600\r\n", None
    yield "retry-after-ms: 250\r\nRetry-After: 9\r\n", 0.25
    yield "retry-after-ms: nan\r\nRetry-After: 9\r\n", 9
    yield "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nRetry-After: Thu, 01 Jan 1970 00:01:00 GMT\r\n", 60
    yield "Date: never\r\nRetry-After: 8\r\n", 8
    for name in (
        "x-ratelimit-reset-tokens",
        "x-ratelimit-reset-requests",
        "ratelimit-reset",
        "x-rate-limit-reset",
    ):
        for value, seconds in (("6m0s", 360), ("17ms", 0.017), ("-1", 0), ("never", None), ("1e400", None)):
            yield f"{name}: {value}\r\n", seconds
    resets = "x-ratelimit-reset-tokens: 50s\r\nx-ratelimit-reset-requests: 1s\r\n"
    yield f"x-ratelimit-remaining-tokens: 0\r\n{resets}", 50
    yield "x-ratelimit-limit-tokens: -1\r\nx-ratelimit-reset-tokens: 0\r\n", None
    yield "".join(f"x-ratelimit-reset-{number}: {number}s\r\n" for number in range(1, 90)), 89
