"""Bodies of answers: decompressed as they are read, and never more than a limit."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import aiohttp
import pytest
from fakes import rude_server
from openai import DefaultAioHttpClient

from equipoise.models.connections import BodyTooLarge, Connections, Response

LIMIT = 2**20


async def asked(body: bytes, encoding: str | None) -> Response:
    """The response of a server that sends these bytes as they are."""
    named = "" if encoding is None else f"Content-Encoding: {encoding}\r\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{named}\r\n"
    with rude_server(head.encode() + body) as url:
        connections = Connections(DefaultAioHttpClient(), LIMIT)
        try:
            return await connections.send(connections.address(url, {}), b"{}")
        finally:
            await connections.close()


def test_a_body_within_the_limit_is_read(subtests: pytest.Subtests) -> None:
    """As it is or compressed, up to the last byte that is allowed."""
    text = "议会 " * 1000
    for name, body, encoding in (
        ("plain", text.encode(), None),
        ("gzip", gzip.compress(text.encode()), "GZip"),
        ("deflate", zlib.compress(text.encode()), "deflate"),
        ("identity", text.encode(), "identity"),
    ):
        with subtests.test(name):
            assert asyncio.run(asked(body, encoding)).content.decode() == text
    assert len(asyncio.run(asked(gzip.compress(bytes(LIMIT)), "gzip")).content) == LIMIT


@pytest.mark.slow
def test_a_body_beyond_the_limit_is_refused_while_it_is_read(subtests: pytest.Subtests) -> None:
    """Before and after decompression; no more memory is taken than the limit allows."""
    huge = gzip.compress(bytes(60 * LIMIT))
    assert len(huge) < LIMIT
    for name, body, encoding in (
        ("plain", bytes(LIMIT + 1), None),
        ("gzip", gzip.compress(bytes(LIMIT + 1)), "gzip"),
        ("deflate", zlib.compress(bytes(LIMIT + 1)), "deflate"),
        ("far beyond", huge, "gzip"),
    ):
        with subtests.test(name):
            tracemalloc.start()
            with pytest.raises(BodyTooLarge, match="more than 1,048,576 bytes"):
                asyncio.run(asked(body, encoding))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 20 * LIMIT


def test_a_body_that_cannot_be_decompressed_is_said_to_be_so(subtests: pytest.Subtests) -> None:
    """What was not asked for, and what is not what it says."""
    for encoding, why in (("br", "'br', which was not asked for"), ("gzip", "not compressed with gzip")):
        with subtests.test(encoding), pytest.raises(aiohttp.ClientPayloadError, match=why):
            asyncio.run(asked(b"plain", encoding))
