"""HTTP connections on which no call can receive the response to another one.

An endpoint or proxy that answers one call twice leaves a response on a connection that goes back to the pool,
and HTTP/1.1 has no request ids by which the next call could tell that it is not its own. So a connection
rests before it is reused, and is closed if more data has arrived. Redirects to another host are not followed,
and the size of a body is limited, compressed or not.
"""

from __future__ import annotations

import select
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
import httpx2
from aiohttp.client_proto import ResponseHandler

REST_SECONDS = 0.25
"""How long a connection rests after a response: a duplicate response follows immediately."""
MOST_RESTING = 256
"""How many connections may rest at a time; any more are closed instead."""
CONNECT_SECONDS = 6.0
"""The connect timeout: an answer may take minutes, a connection never does."""
MAX_BODY = 32 * 2**20
"""The default limit on the bytes of a body."""
ENCODINGS: Mapping[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "deflate": zlib.decompressobj,
}
"""Accepted content encodings: those that can be decompressed incrementally."""
_OF_ONE_REQUEST = {b"content-length", b"cookie"}
"""Headers that differ from request to request."""
_HTTP_PORTS = {"http": 80, "https": 443}


class RedirectedElsewhere(Exception):  # noqa: N818 - it names what the endpoint did
    """The endpoint redirects the call to another host."""

    def __init__(self, status: int, here: str, there: str) -> None:
        super().__init__(
            f"the endpoint at {here} redirects to {there}, which was not followed: keys and headers are for "
            f"{here}; if {there} is meant, name it with --api-base-url"
        )
        self.status = status


class BodyTooLarge(Exception):  # noqa: N818 - it names what the endpoint did
    """A body exceeds its size limit."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the body of the answer has more than {most:,} bytes (--max-response-size)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The URL of requests, and the headers and settings that they share."""

    url: httpx2.URL
    headers: tuple[tuple[bytes, bytes], ...]
    extensions: Mapping[str, Any]


class OwnConnections(httpx2.AsyncClient):
    """A mixin for the SDK's aiohttp client that makes it use these connections.

    Raises RedirectedElsewhere for a redirect to another host, and BodyTooLarge for a body of more than
    `max_body` bytes.
    """

    def __init__(self, *, max_body: int = MAX_BODY, **options: Any) -> None:
        self._max_body = max_body
        super().__init__(**options, event_hooks={"response": [_refuse_other_host]})

    def address(self, url: str, headers: Mapping[str, str], timeout: float) -> Address:
        """The address for requests with these headers; `timeout` is in seconds and applies to each phase."""
        phases = httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        first = self.build_request("POST", url, headers=headers, timeout=phases)
        return Address(
            url=first.url,
            headers=tuple(pair for pair in first.headers.raw if pair[0].lower() not in _OF_ONE_REQUEST),
            extensions=first.extensions,
        )

    async def ask(self, address: Address, content: bytes) -> httpx2.Response:
        """Send a request with this content and read the complete response."""
        return await self.send(self.request_to(address, content))

    def request_to(self, address: Address, content: bytes) -> httpx2.Request:
        """The request that the base class would build, in a fraction of the time."""
        request = httpx2.Request(
            "POST",
            address.url,
            headers=[*address.headers, (b"Content-Length", b"%d" % len(content))],
            cookies=self.cookies,
            stream=httpx2.ByteStream(content),
            extensions=address.extensions,
        )
        request.read()
        return request

    def _init_transport(self, *arguments: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return _Bounded(_over_own(super()._init_transport(*arguments, **options)), self._max_body)

    def _init_proxy_transport(self, *arguments: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return _Bounded(_over_own(super()._init_proxy_transport(*arguments, **options)), self._max_body)


def _over_own(transport: Any) -> httpx2.AsyncBaseTransport:
    limits: httpx2.Limits = transport.limits

    def session() -> aiohttp.ClientSession:
        connector = _Connector(
            keepalive_timeout=limits.keepalive_expiry,
            limit=(limits.max_connections or 0) and limits.max_connections + MOST_RESTING,
            ssl=transport.ssl_context,
        )
        return aiohttp.ClientSession(
            connector=connector, response_class=_Response, cookie_jar=aiohttp.DummyCookieJar()
        )

    transport.client = session
    found: httpx2.AsyncBaseTransport = transport
    return found


class _Bounded(httpx2.AsyncBaseTransport):
    """A transport without cookies whose bodies arrive decompressed and have at most `most` bytes."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, most: int) -> None:
        self._transport = transport
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the body of the response is not read yet."""
        response = await self._transport.handle_async_request(request)
        # Cookies ignore ports: one endpoint's cookies would be sent to another one on the same host.
        response.headers.pop("set-cookie", None)
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedBody(response.stream, encoding, self._most)
        return response

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()


class _BoundedBody(httpx2.AsyncByteStream):
    """A body that is decompressed as it is read. Raises BodyTooLarge, or DecodingError for invalid data."""

    def __init__(self, stream: httpx2.AsyncByteStream, encoding: str, most: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._most = self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        decompress = self._decompressor()
        received = 0
        async for piece in self._stream:
            received += len(piece)
            data = decompress(piece)
            self._left -= len(data)
            if self._left < 0 or received > self._most:
                raise BodyTooLarge(self._most)
            yield data

    def _decompressor(self) -> Callable[[bytes], bytes]:
        if self._encoding == "identity":
            return bytes
        if self._encoding not in ENCODINGS:
            raise httpx2.DecodingError(f"it is compressed with {self._encoding!r}, which was not asked for")
        found = ENCODINGS[self._encoding]()

        def decompress(piece: bytes) -> bytes:
            try:
                # One byte more than the limit shows that the body is too large.
                data: bytes = found.decompress(piece, self._left + 1)
            except zlib.error as error:
                raise httpx2.DecodingError(f"it is not compressed with {self._encoding}: {error}") from None
            return data

        return decompress

    async def aclose(self) -> None:
        """Close the body, even if it was not read."""
        await self._stream.aclose()


class _Connector(aiohttp.TCPConnector):
    """A connection pool that discards connections with unread data after the response."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._resting = 0

    async def connect(self, *arguments: Any, **options: Any) -> aiohttp.connector.Connection:
        """A connection without unread data."""
        while True:
            connection = await super().connect(*arguments, **options)
            if not _has_unread(connection):
                return connection
            connection.close()

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        if should_close or protocol.should_close or self._resting >= MOST_RESTING:
            super()._release(key, protocol, should_close=True)
            return
        self._resting += 1
        self._loop.call_later(REST_SECONDS, partial(self._end_rest, key, protocol))

    def _end_rest(self, key: Any, protocol: ResponseHandler) -> None:
        self._resting -= 1
        # Closes it if data has arrived in the meantime.
        super()._release(key, protocol)


def _has_unread(connection: aiohttp.connector.Connection) -> bool:
    """Whether data has arrived, in the protocol's buffer or on the socket."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return True
    poll = select.poll()
    poll.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(poll.poll(0))


class _Response(aiohttp.ClientResponse):
    """A response that may not begin before its request was written completely."""

    async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        """Read the head. Raises ClientConnectionError if it arrived too early to belong to this call."""
        protocol, transport = connection.protocol, connection.transport
        is_early = protocol is None or protocol.should_close
        found = None if is_early else await super().start(connection)
        # A small response is complete by now, and its connection back in the pool.
        is_written = transport is not None and transport.get_write_buffer_size() == 0
        if found is None or not is_written:
            connection.close()
            if protocol is not None:
                protocol.force_close()
            raise aiohttp.ClientConnectionError("a response came before the request was sent")
        return found


async def _refuse_other_host(response: httpx2.Response) -> None:
    if not response.has_redirect_location:
        return
    here = response.url
    try:
        there = here.join(response.headers["location"])
    except (httpx2.InvalidURL, ValueError) as error:
        why = f"the endpoint redirects to an address that cannot be read: {error}"
        raise httpx2.RemoteProtocolError(why) from None
    if _origin(here) != _origin(there) and not _is_upgrade(here, there):
        raise RedirectedElsewhere(response.status_code, here.netloc.decode(), there.netloc.decode())


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _HTTP_PORTS.get(url.scheme)


def _is_upgrade(here: httpx2.URL, there: httpx2.URL) -> bool:
    """Whether the redirect only upgrades to HTTPS on the same host."""
    return _origin(here) == ("http", here.host, 80) and _origin(there) == ("https", here.host, 443)
