"""HTTP connections on which no call can receive the response to another one.

If an endpoint or proxy answers one call twice, the second response is left on a connection that goes back to
the pool. HTTP/1.1 has no request ids, so the next call would take it for its own. Therefore a connection
rests before it is reused, and is closed if anything arrives on it that was not requested. A response tells
whether the same body came before on its connection; the call can then be sent again on a new connection.

Redirects to another host are not followed, and the size of a body is limited, compressed or not. Calls go to
aiohttp directly, with the settings of the SDK's client: through that client they would take twice the CPU.
"""

from __future__ import annotations

import asyncio
import select
import zlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, cast

import aiohttp
import httpx2
from aiohttp.client_proto import ResponseHandler

from equipoise.models.open_files import most_resting

REST_SECONDS = 0.25
"""How long a connection rests after a response: a duplicate response follows immediately."""
MOST_BODIES = 16
"""How many bodies are remembered for each connection: with rests between them, those of 4 s at least."""
CONNECT_SECONDS = 6.0
"""The connect timeout: an answer may take minutes, a connection never does."""
MAX_BODY = 32 * 2**20
"""The default limit on the bytes of a body."""
ENCODINGS: Mapping[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "deflate": zlib.decompressobj,
}
"""Accepted content encodings: those that can be decompressed incrementally."""
MOST_REDIRECTS = 20
_REDIRECTS = {301, 302, 303, 307, 308}
"""Statuses of redirects. The request is sent again with its method and content, whatever the status."""
_HTTP_PORTS = {"http": 80, "https": 443}
Content = bytes | None | Callable[[], aiohttp.FormData]
"""The content of a request: bytes, none, or a function that makes a form, as a form can be sent only once."""


class RedirectedElsewhere(Exception):  # noqa: N818 - it names what the endpoint did
    """The endpoint redirects the call to another host."""

    def __init__(self, status: int, here: str, there: str) -> None:
        super().__init__(
            f"the endpoint at {here} redirects to {there}, which was not followed: keys and headers are for "
            f"{here}; if {there} is meant, name it with --api-base-url"
        )
        self.status = status


class ProxyRefused(Exception):  # noqa: N818 - it names what the proxy did
    """A proxy does not connect to the endpoint."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the proxy refuses: {reason}")
        self.status = status


class Unsuccessful(Exception):  # noqa: N818 - it names what the endpoint did
    """The endpoint answers a request for a file with an unsuccessful status."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class BodyTooLarge(Exception):  # noqa: N818 - it names what the endpoint did
    """A body exceeds its size limit."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the body of the answer has more than {most:,} bytes (--max-response-size)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A complete response, its body decompressed and the names of its headers in lower case.

    `repeats` is how many bodies ago the same one came on this connection, 1 for the last; 0 if it is new.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    repeats: int = 0

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The URL of requests, the session that sends them, and the headers that they share.

    `fresh` is a session that makes a new connection for every request.
    """

    url: str
    session: aiohttp.ClientSession
    fresh: aiohttp.ClientSession
    headers: Mapping[str, str]


class Connections:
    """Sends requests with the proxies, certificates and limits of the SDK's aiohttp client.

    Belongs to the event loop that it is used on. A body has at most `max_body` bytes.
    """

    def __init__(self, sdk: httpx2.AsyncClient, max_body: int = MAX_BODY) -> None:
        self._sdk = sdk
        self._max_body = max_body
        self._sessions: dict[
            httpx2.AsyncBaseTransport, tuple[aiohttp.ClientSession, aiohttp.ClientSession]
        ] = {}

    def address(self, url: str, headers: Mapping[str, str]) -> Address:
        """The address for requests with these headers."""
        # There is no public API for this: only the client knows which proxy a URL needs.
        transport = self._sdk._transport_for_url(httpx2.URL(url))
        if transport not in self._sessions:
            self._sessions[transport] = _session(transport), _session(transport, force_close=True)
        session, fresh = self._sessions[transport]
        return Address(url=url, session=session, fresh=fresh, headers=headers)

    async def send(
        self, address: Address, content: Content, *, method: str = "POST", is_fresh: bool = False
    ) -> Response:
        """Send a request with this content and read the complete response.

        With `is_fresh` it is sent over a new connection. Only connecting has a time limit. Raises
        RedirectedElsewhere for a redirect to another host, ProxyRefused, BodyTooLarge, aiohttp.ClientError,
        OSError or ValueError.
        """
        for _ in range(MOST_REDIRECTS):
            session = address.fresh if is_fresh else address.session
            response = await self._send(method, session, address, content)
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or location is None:
                return response
            there = _target(response.status, httpx2.URL(address.url), location)
            address = self.address(there, address.headers)
        raise aiohttp.ClientPayloadError(f"the endpoint redirects more than {MOST_REDIRECTS} times")

    async def _send(
        self, method: str, session: aiohttp.ClientSession, address: Address, content: Content
    ) -> Response:
        data = content() if callable(content) else content
        try:
            async with session.request(
                method, address.url, data=data, headers=address.headers, allow_redirects=False
            ) as response:
                data = await _body(response, self._max_body)
                return Response(
                    status=response.status,
                    headers=_combined(response.headers),
                    content=data,
                    repeats=response.repeats(data) if isinstance(response, _Response) else 0,
                )
        except aiohttp.ClientHttpProxyError as error:
            # Its own text would contain the password of the proxy.
            raise ProxyRefused(error.status, error.message) from None

    async def lines(self, address: Address, seconds: float) -> AsyncGenerator[bytes]:
        """The lines of a file as they arrive; at most `seconds` may pass between two reads.

        A redirect to another host, where some endpoints have their files, is followed without our headers.
        Each line has at most `max_body` bytes. Raises Unsuccessful, and otherwise as `send` does.
        """
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=seconds)
        headers: Mapping[str, str] | None = {**address.headers, "accept-encoding": "identity"}
        url = httpx2.URL(address.url)
        for _ in range(MOST_REDIRECTS):
            here = self.address(str(url), {})
            async with here.fresh.get(
                here.url, headers=headers, allow_redirects=False, timeout=timeout
            ) as response:
                location = response.headers.get("location")
                if response.status in _REDIRECTS and location is not None:
                    there = url.join(location)
                    headers = headers if _origin(there) == _origin(url) else None
                    url = there
                    continue
                if not response.ok:
                    raise Unsuccessful(await self._read(response))
                async for line in _lines(response, self._max_body):
                    yield line
                return
        raise aiohttp.ClientPayloadError(f"the endpoint redirects more than {MOST_REDIRECTS} times")

    async def _read(self, response: aiohttp.ClientResponse) -> Response:
        content = await _body(response, self._max_body)
        return Response(status=response.status, headers=_combined(response.headers), content=content)

    async def close(self) -> None:
        """Close all connections."""
        for session in chain.from_iterable(self._sessions.values()):
            await session.close()
        await self._sdk.aclose()


def _session(transport: Any, *, force_close: bool = False) -> aiohttp.ClientSession:
    """A session with the settings of a transport of the SDK, and without cookies.

    Cookies ignore ports: one endpoint's cookies would be sent to another one on the same host.
    """
    limits: httpx2.Limits = transport.limits
    connector = _Connector(
        force_close=force_close,
        keepalive_timeout=None if force_close else limits.keepalive_expiry,
        limit=(limits.max_connections or 0) and limits.max_connections + most_resting(),
        ssl=transport.ssl_context,
    )
    return aiohttp.ClientSession(
        connector=connector,
        response_class=_Response,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
        proxy=_with_password(transport.proxy),
    )


def _with_password(proxy: httpx2.Proxy | None) -> str | None:
    if proxy is None:
        return None
    name, password = proxy.auth or (None, None)
    return str(proxy.url if name is None else proxy.url.copy_with(username=name, password=password))


def _combined(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, with the values of a repeated one as a list (RFC 9110, section 5.3)."""
    combined: dict[str, str] = {}
    for name, value in headers.items():
        before = combined.get(name.lower())
        combined[name.lower()] = value if before is None else f"{before}, {value}"
    return combined


async def _body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body, decompressed as it is read. Raises BodyTooLarge, or ClientPayloadError for invalid data."""
    decompress = _decompressor(response.headers.get("content-encoding", "identity").strip().lower())
    body, received = bytearray(), 0
    async for piece in response.content.iter_any():
        received += len(piece)
        # One byte more than the limit shows that the body is too large.
        body += decompress(piece, most + 1 - len(body))
        if max(received, len(body)) > most:
            raise BodyTooLarge(most)
    return bytes(body)


async def _lines(response: aiohttp.ClientResponse, most: int) -> AsyncGenerator[bytes]:
    """The lines of a body without their line breaks. Raises BodyTooLarge, or ClientPayloadError."""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise aiohttp.ClientPayloadError("it is compressed, which was not asked for")
    rest = bytearray()
    async for piece in response.content.iter_any():
        *whole, last = piece.split(b"\n")
        for part in whole:
            yield bytes(rest + part)
            rest.clear()
        rest += last
        if len(rest) > most:
            raise BodyTooLarge(most)
    if rest:
        yield bytes(rest)


def _decompressor(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that decompresses the next piece of a body, into at most a number of bytes."""
    if encoding == "identity":
        return lambda piece, most: piece
    if encoding not in ENCODINGS:
        raise aiohttp.ClientPayloadError(f"it is compressed with {encoding!r}, which was not asked for")
    decompressor = ENCODINGS[encoding]()

    def decompress(piece: bytes, most: int) -> bytes:
        try:
            data: bytes = decompressor.decompress(piece, most)
        except zlib.error as error:
            raise aiohttp.ClientPayloadError(f"it is not compressed with {encoding}: {error}") from None
        return data

    return decompress


def _target(status: int, here: httpx2.URL, location: str) -> str:
    """The target of a redirect. Raises RedirectedElsewhere, or ClientPayloadError if the URL is invalid."""
    try:
        there = here.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        why = f"the endpoint redirects to an address that cannot be read: {error}"
        raise aiohttp.ClientPayloadError(why) from None
    if _origin(here) != _origin(there) and not _is_upgrade(here, there):
        raise RedirectedElsewhere(status, here.netloc.decode(), there.netloc.decode())
    return str(there)


class _Protocol(ResponseHandler):
    """A connection that closes if data arrives that was not requested, and remembers the bodies it received.

    `is_asked`: a request waits for its response. `is_early`: data arrived although no request was waiting, or
    before it was written completely.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.is_asked, self.is_early = True, False
        self.bodies: deque[int] = deque(maxlen=MOST_BODIES)

    def data_received(self, data: bytes) -> None:
        """Check whether the data was requested, and read it."""
        is_written = self.transport is None or not self.transport.get_write_buffer_size()
        # aiohttp itself calls this with empty data, to have its buffer read.
        if data and not (self.is_asked and is_written):
            self.is_early = True
            self.force_close()
        super().data_received(data)


class _Connector(aiohttp.TCPConnector):
    """A connection pool that lets connections rest, and discards those on which unrequested data arrived."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # There is no public API for the class of connections.
        self._factory = cast("partial[ResponseHandler]", partial(_Protocol, loop=self._loop))
        self._resting = 0
        self._most_resting = most_resting()

    async def connect(self, *arguments: Any, **options: Any) -> aiohttp.connector.Connection:
        """A connection without unread data."""
        while True:
            connection = await super().connect(*arguments, **options)
            if not _has_unread(connection):
                return connection
            connection.close()

    def _release(self, key: Any, protocol: ResponseHandler, *, should_close: bool = False) -> None:
        if should_close or protocol.should_close or self.force_close or self._resting >= self._most_resting:
            super()._release(key, protocol, should_close=True)
            return
        if isinstance(protocol, _Protocol):
            protocol.is_asked = False
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
    """A response that fails to start if it came before its request was written, unless it is a rejection."""

    _source: _Protocol | None = None

    async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        """Read the head. Raises ClientConnectionError if it arrived too early to belong to this call."""
        protocol = connection.protocol
        if not isinstance(protocol, _Protocol) or protocol.should_close:
            connection.close()
            raise aiohttp.ClientConnectionError(_EARLY)
        self._source = protocol
        protocol.is_asked = True
        response = await super().start(connection)
        # A small response is complete by now, and its connection back in the pool.
        if protocol.is_early and self.ok:
            connection.close()
            raise aiohttp.ClientConnectionError(_EARLY)
        return response

    def repeats(self, body: bytes) -> int:
        """How many bodies ago the same one came on this connection, which is then closed; 0 if it is new.

        0 also for an error: endpoints reject calls in the same words.
        """
        if self._source is None or not self.ok:
            return 0
        digest, before = hash(body), self._source.bodies
        distance = before.index(digest) + 1 if digest in before else 0
        before.appendleft(digest)
        if distance:
            self._source.force_close()
        return distance


_EARLY = "a response came before the request was sent"


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _HTTP_PORTS.get(url.scheme)


def _is_upgrade(here: httpx2.URL, there: httpx2.URL) -> bool:
    """Whether the redirect only upgrades to HTTPS on the same host."""
    return _origin(here) == ("http", here.host, 80) and _origin(there) == ("https", here.host, 443)
