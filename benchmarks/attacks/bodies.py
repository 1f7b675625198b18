"""Bodies, headers and statuses that no endpoint should send: each is a reply, word for word, or a failure."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from attacks.endpoint import (
    MOST_BODY,
    Behaviour,
    Expected,
    Line,
    RawEndpoint,
    blocked,
    failed,
    one_of,
    response,
    says,
    strike_all,
)
from attacks.tally import Size, Tally
from loopback import completion

TEXT = "It opened in 1931."
SAID, EMPTY = says(TEXT), says("")
EITHER = one_of(SAID, failed)
Shape = tuple[str, bytes | Behaviour, Expected]
DEEP = 100_000


def shapes() -> list[Shape]:
    """All of them."""
    families = (_replies(), _contents(), _nonsense(), _texts(), _encodings(), _statuses(), _headers())
    return [shape for family in families for shape in family]


def attack(size: Size) -> Tally:
    """Each shape beside ordinary calls."""
    return _attack("bodies", shapes())


def beside(size: Size) -> Tally:
    """An error beside a reply, in its choice or in its message, which is no reply then; and empty ones."""
    return _attack("errors beside answers", [*errors_beside()])


def _attack(family: str, found: list[Shape]) -> Tally:
    tally = Tally(family)
    with RawEndpoint({name: behaviour(answer) for name, answer, _ in found}) as endpoint:
        asyncio.run(strike_all(tally, endpoint, ((name, expected) for name, _, expected in found)))
    return tally


def behaviour(answer: bytes | Behaviour) -> Behaviour:
    """Bytes as something that is sent."""
    return partial(_send, answer) if isinstance(answer, bytes) else answer


async def _send(answer: bytes, line: Line) -> None:
    await line.send(answer)


def _body(**changes: Any) -> dict[str, Any]:
    """A completion; what is None is left out, what is ... is null."""
    whole = {**completion(TEXT), **changes}
    return {key: None if value is ... else value for key, value in whole.items() if value is not None}


def _choice(**changes: Any) -> dict[str, Any]:
    return completion(TEXT, **changes)


def _json(data: Any) -> bytes:
    return response(json.dumps(data))


# Completions with something odd beside the text.


def _replies() -> Iterator[Shape]:
    for name, usage in {
        "null": ...,
        "texts": {"prompt_tokens": "9", "completion_tokens": "nine"},
        "negative": {"prompt_tokens": -1, "completion_tokens": -(2**70)},
        "huge": {"prompt_tokens": 1e308, "completion_tokens": 10**40},
        "nan": {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
        "list": [1, 2],
        "cached more than read": {
            "prompt_tokens": 5,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 10**9},
        },
    }.items():
        yield f"usage-{name.replace(' ', '-')}", _json(_body(usage=usage)), SAID
    yield "bare", _json({"choices": [{"message": {"content": TEXT}}]}), SAID
    yield "created-text", _json(_body(created="yesterday", object=7, id=...)), SAID
    for name, model in {"number": 5, "object": {}, "long": "m" * 10**6, "control": "\x1b[2J\0"}.items():
        yield f"model-{name}", _json(_body(model=model, system_fingerprint=[model], provider={})), SAID
    for name, value in {"number": 7, "object": {}, "unknown": "because", "list": ["stop"]}.items():
        yield f"finish-{name}", _json(_choice(finish_reason=value)), SAID
    for name, value in {"text": "no", "nan": {"content": [{"top_logprobs": [{"token": "A"}]}]}}.items():
        yield f"logprobs-{name}", _json(_choice(logprobs=value)), SAID
    two = _choice()
    two["choices"].append({"index": 1, "message": {"content": "Another."}})
    yield "several-choices", _json(two), SAID
    yield "choice-index-lies", _json(_choice(index=99)), SAID
    yield "extra-keys", _json(_body(**{f"key{n}": n for n in range(20_000)})), SAID
    yield "extra-megabytes", _json(_body(padding="x" * 3_000_000)), SAID
    yield (
        "number-of-5000-digits",
        response(json.dumps(_body()).replace("{", '{"n":' + "9" * 5000 + ",", 1)),
        (EITHER),
    )
    for name, message in {
        "tool-calls": {"tool_calls": [{"id": "x", "type": "function", "function": {"name": "f"}}]},
        "function-call": {"function_call": {"name": "f", "arguments": "{"}},
        "thoughts": {"reasoning_content": '{"score": 5}', "reasoning": 7},
        "role-system": {"role": "system"},
        "audio": {"audio": {"data": "x" * 1000}, "annotations": [1], "refusal": None},
    }.items():
        yield f"message-{name}", _json(_choice(message=message)), SAID


def _contents() -> Iterator[Shape]:
    parts: dict[str, tuple[Any, Expected]] = {
        "text-parts": ([{"type": "text", "text": TEXT}], SAID),
        "string-parts": ([TEXT[:3], TEXT[3:]], SAID),
        "output-text": ([{"type": "output_text", "text": TEXT}], SAID),
        "thinking-part": ([{"type": "thinking", "thinking": "5"}, {"type": "text", "text": TEXT}], SAID),
        "null": (None, EMPTY),
        "empty": ("", EMPTY),
        "no-parts": ([], EMPTY),
        "unclosed-thought": ("<think>It is", says("<think>It is")),
        "mentioned-thought": ("A tag <think> opens.", says("A tag <think> opens.")),
        "lone-closing": ("One side.</think>Another.", says("One side.</think>Another.")),
        "number": (5, failed),
        "true": (True, failed),
        "object": ({"text": TEXT}, failed),
        "list-of-numbers": ([5], failed),
        "part-without-type": ([{"text": TEXT}], failed),
        "part-of-unknown-type": ([{"type": "image_url\x1b", "image_url": TEXT}], failed),
        "part-with-number": ([{"type": "text", "text": 5}], failed),
        "part-of-type-list": ([{"type": ["text"], "text": TEXT}], failed),
    }
    for name, (content, expected) in parts.items():
        yield f"content-{name}", _json(_choice(message={"content": content})), expected
    yield "content-missing", _json({"choices": [{"message": {"role": "assistant"}}]}), EMPTY
    yield (
        "content-beside-refusal",
        _json(_choice(message={"content": TEXT, "refusal": "No."})),
        says(f"{TEXT}\n\nNo."),
    )
    yield "content-refusal", _json(_choice(message={"content": None, "refusal": TEXT})), SAID
    yield "content-tool-calls-alone", _json(_choice(message={"content": None, "tool_calls": [{}]})), EMPTY
    for name, text in {
        "lone-surrogate": "cut \ud83d here",
        "emoji": "\U0001f600",
        "nul": "a\0b",
        "line-separators": "a\u2028b\x85c\r\n",
        "bidi": "\u202eabc\u2066",
        "megabyte": "x" * 10**6,
        "like-json": '{"choices": []}',
        "escapes": "\\ud83d \\n \\",
    }.items():
        yield f"content-{name}", _json(_choice(message={"content": text})), says(text)


# Completions with an error, which are none.


def errors_beside() -> Iterator[Shape]:
    """Each kind of error at each of its places."""
    for kind, (error, expected) in {
        "object": ({"message": "upstream timed out", "code": 502}, failed),
        "code": ({"code": 502}, failed),
        "text": ("upstream timed out", failed),
        "list": ([{"message": "upstream timed out"}], failed),
        "true": (True, failed),
        "filter": ({"message": "Rejected.", "code": "content_filter"}, blocked),
        "long": ({"message": "\x1b[2J" * 10**5}, failed),
        "null": (..., SAID),
        "empty": ({}, SAID),
        "empty-text": ("", SAID),
        "empty-fields": ({"message": "", "code": 0, "type": None}, SAID),
    }.items():
        said = None if error is ... else error
        yield f"error-{kind}-beside", _json(_body(error=error)), expected
        yield f"error-{kind}-in-choice", _json(_choice(error=said)), expected
        yield f"error-{kind}-in-message", _json(_choice(message={"error": said})), expected
        text = response(json.dumps(_choice(error=said)), kind="text/plain")
        yield f"error-{kind}-in-text", text, expected


# Bodies that hold no completion.


def _nonsense() -> Iterator[Shape]:
    bodies: dict[str, Any] = {
        "object": {},
        "list": [],
        "null": None,
        "true": True,
        "text": "text",
        "number": 12,
        "choices-empty": {"choices": []},
        "choices-null": {"choices": None},
        "choices-object": {"choices": {}},
        "choices-of-null": {"choices": [None]},
        "choices-of-texts": {"choices": ["x"]},
        "choices-of-objects": {"choices": [{}]},
        "message-null": {"choices": [{"message": None}]},
        "message-text": {"choices": [{"message": TEXT}]},
        "message-list": {"choices": [{"message": []}]},
        "delta": {"object": "chat.completion.chunk", "choices": [{"delta": {"content": TEXT}}]},
        "legacy-text": {"choices": [{"text": TEXT}]},
        "error-object": {"error": {"message": "\x1b[2J" + "m" * 10**6, "code": {}}},
        "error-text": {"error": "down"},
        "error-number": {"error": 5},
        "error-nested": {"error": {"message": [{"message": ["x"]}]}},
        "detail": {"detail": [{"loc": ["body"], "msg": "odd"}]},
    }
    for name, data in bodies.items():
        yield f"body-{name}", _json(data), failed
    yield "finish-error", _json(_choice(finish_reason="error")), failed
    yield "finish-broken", _json(_choice(finish_reason="insufficient_system_resource")), failed
    yield "finish-filter", _json(_choice(finish_reason="content_filter")), blocked
    yield "finish-filter-in-capitals", _json(_choice(finish_reason="CONTENT_FILTER")), blocked


def _texts() -> Iterator[Shape]:
    whole = json.dumps(completion(TEXT))
    chunk = json.dumps({"choices": [{"delta": {"content": TEXT}}]})
    twice = f'{{"choices": [{{"message": {{"content": "Other.", "content": {json.dumps(TEXT)}}}}}]}}'
    for name, text, expected in (
        ("cut", whole[:-20], failed),
        ("cut-in-escape", whole[: whole.index("1931")] + "\\u12", failed),
        ("two-objects", whole + whole, failed),
        ("trailing-garbage", whole + "}", failed),
        ("single-quotes", whole.replace('"', "'"), failed),
        ("comment", "/* x */" + whole, failed),
        ("trailing-comma", whole[:-1] + ",}", failed),
        ("html", "<!DOCTYPE html><title>502</title><h1>Bad</h1>" * 100, failed),
        ("empty", "", failed),
        ("blank", " \r\n\t ", failed),
        ("stream", f"data: {chunk}\n\ndata: [DONE]\n\n", failed),
        ("stream-lines", f"{chunk}\n{chunk}\n", failed),
        ("deep-lists", '{"choices":' + "[" * DEEP + "]" * DEEP + "}", failed),
        ("deep-objects", '{"a":' * DEEP + "1" + "}" * DEEP, failed),
        ("deep-beside", whole[:-1] + ',"x":' + "[" * 400 + "]" * 400 + "}", SAID),
        ("same-key-twice", twice, failed),
        ("same-choices-twice", whole.replace('"choices":', '"choices": [], "choices":', 1), failed),
        ("same-message-twice", whole.replace('"message":', '"message": {}, "message":', 1), failed),
        ("byte-order-mark", "\ufeff" + whole, EITHER),
        ("space-around", f"\r\n\t {whole}\n\n", SAID),
        ("constants", whole[:-1] + ',"a":NaN,"b":-Infinity}', EITHER),
    ):
        yield f"text-{name}", response(text), expected
    for name, kind in {
        "none": None,
        "text": "text/plain",
        "html": "text/html; charset=utf-8",
        "garbage": ";;;=\x01",
        "stream": "text/event-stream",
        "long": "application/json; " + "x" * 6000,
    }.items():
        yield f"kind-{name}", response(whole, kind=kind), one_of(SAID, failed) if name == "garbage" else SAID
    accented = json.dumps(completion("caf\xe9 \u2026"), ensure_ascii=False)
    for name in ("iso-8859-1", "klingon", "", "utf-7", "utf-16", "zlib", "punycode", "unicode_escape"):
        kind = f"text/plain; charset={name}"
        yield f"charset-{name}", response(accented, kind=kind), says("caf\xe9 \u2026")
    yield "charset-slow", response(b"\xff-" + b"b" * 10**6, kind="text/plain; charset=punycode"), failed
    yield "charset-bomb", response(zlib.compress(bytes(10**8)), kind="text/plain; charset=zlib"), failed
    for name, charset in {"utf-16": "utf-16", "utf-32": "utf-32", "latin-1": "latin-1"}.items():
        yield f"bytes-{name}", response(whole.encode(charset)), EITHER
    yield "bytes-binary", response(bytes(range(256)) * 40), failed
    yield (
        "bytes-invalid-utf-8",
        response(whole.encode().replace(b"1931", b"\xff\xfe\xc0")),
        (one_of(failed, lambda found: "\ufffd" in getattr(found, "text", ""))),
    )


# Compression and size.


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _encodings() -> Iterator[Shape]:
    whole = json.dumps(completion(TEXT)).encode()
    packed = gzip.compress(whole)
    bomb = gzip.compress(bytes(200 * 2**20), compresslevel=1)
    for name, encoding, body, expected in (
        ("gzip", "gzip", packed, SAID),
        ("gzip-capitals", "GZIP", packed, SAID),
        ("gzip-alias", "x-gzip", packed, EITHER),
        ("gzip-lie", "gzip", whole, failed),
        ("gzip-cut", "gzip", packed[:-20], failed),
        ("gzip-without-its-checksum", "gzip", packed[:-8], EITHER),
        ("gzip-wrong-checksum", "gzip", packed[:-8] + b"\0" * 8, failed),
        ("gzip-and-garbage", "gzip", packed + b"garbage", EITHER),
        ("gzip-in-two-members", "gzip", gzip.compress(whole[:50]) + gzip.compress(whole[50:]), EITHER),
        ("gzip-unsaid", "identity", packed, failed),
        ("deflate", "deflate", zlib.compress(whole), SAID),
        ("deflate-raw", "deflate", _raw_deflate(whole), EITHER),
        ("deflate-lie", "deflate", whole, failed),
        ("brotli-lie", "br", whole, failed),
        ("zstd-lie", "zstd", whole, failed),
        ("several", "gzip, gzip", gzip.compress(packed), failed),
        ("unknown", "\x1b[2J", whole, failed),
        ("empty", "", whole, EITHER),
        ("bomb", "gzip", bomb, failed),
        ("bomb-deflate", "deflate", zlib.compress(bytes(200 * 2**20), 1), failed),
        ("bomb-in-a-bomb", "gzip", gzip.compress(bomb), failed),
    ):
        yield f"encoding-{name}", response(body, headers=f"Content-Encoding: {encoding}\r\n"), expected
    yield "size-200-megabytes", _endless, failed
    yield "size-beyond-the-limit", response(json.dumps(completion("x" * MOST_BODY))), failed


async def _endless(line: Line) -> None:
    """200 MB of a reply, as long as they are taken."""
    piece = b"x" * 2**20
    await line.send(response('{"choices": [{"message": {"content": "', length=200 * 2**20))
    for _ in range(200):
        line.writer.write(piece)
        await line.writer.drain()
    line.close()


# Statuses and headers.


def _statuses() -> Iterator[Shape]:
    whole = json.dumps(completion(TEXT))
    for status in ("201 Created", "206 Partial Content", "299 Odd", "200", "200 " + "x" * 5000):
        yield f"status-{status[:3]}-{len(status)}", response(whole, status), SAID
    yield "status-204", b"HTTP/1.1 204 No Content\r\n\r\n", failed
    yield "status-205", response("", "205 Reset"), failed
    yield "status-304", b"HTTP/1.1 304 Not Modified\r\n\r\n", failed
    for code in (300, 400, 401, 402, 403, 404, 405, 407, 410, 411, 412, 413, 415, 416, 417, 418, 421, 422):
        yield f"status-{code}", response(whole, f"{code} Odd"), failed
    for code in (425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 511, 520, 524, 529, 599):
        yield f"status-{code}", response("<html>" * 50, f"{code} Odd"), failed
    for status in ("000", "099", "600", "999", "2000", "-200", "abc", "2OO", "", "\u0662"):
        line = b"HTTP/1.1 " + status.encode() + b" Odd\r\nContent-Length: 0\r\n\r\n"
        yield f"status-odd-{status.encode().hex()}", line, failed
    complaints = {
        "null": "null",
        "list": "[[[]]]",
        "deep": "[" * DEEP,
        "number": "7",
        "huge-number": "9" * 5000,
        "code-object": json.dumps({"error": {"code": {"a": []}, "message": None, "param": 7, "type": []}}),
        "megabytes": json.dumps({"error": {"message": "\x1b" * 10**6}}),
        "surrogate": '{"error": {"message": "\\ud800"}}',
        "key": json.dumps({"error": {"message": "sk-planted-attack-Zq81Xw52Kt is wrong"}}),
    }
    for name, text in complaints.items():
        for code in (400, 429, 500):
            yield f"complaint-{name}-{code}", response(text, f"{code} Odd"), failed
    filtered = json.dumps({"error": {"message": "Rejected.", "code": "content_filter"}})
    yield "complaint-filter", response(filtered, "400 Bad Request"), blocked


def _headers() -> Iterator[Shape]:
    whole = json.dumps(completion(TEXT))
    for name, headers in {
        "cookies": "Set-Cookie: a=b; Domain=.example\r\n" * 50,
        "not-ascii": "X-Name: caf\xe9\r\n",
        "same-twice": "X-A: 1\r\nX-A: 2\r\n",
        "many": "".join(f"X-{number}: {number}\r\n" for number in range(90)),
        "refresh": 'Refresh: 0; url=http://127.0.0.2/\r\nAlt-Svc: h2=":1"\r\n',
        "date-garbage": "Date: yesterday\r\nAge: -5\r\nRetry-After: 99999\r\n",
        "trailer": "Trailer: X-A\r\n",
    }.items():
        yield f"header-{name}", response(whole, headers=headers), SAID
    for name, headers in {
        "long": "X-Long: " + "x" * 100_000 + "\r\n",
        "no-colon": "no colon here\r\n",
        "folded": "X-A: 1\r\n 2\r\n",
        "nul": "X-A: \0\r\n",
        "no-name": ": value\r\n",
        "thousands": "".join(f"X-{number}: {'y' * 50}\r\n" for number in range(5000)),
    }.items():
        yield f"header-{name}", response(whole, headers=headers), EITHER
