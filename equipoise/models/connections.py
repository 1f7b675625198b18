"""HTTP connections on which no call can receive the response to another one.

If an endpoint or proxy answers one call twice, the second response is left on a connection that goes back to
the pool. HTTP/1.1 has no request ids, so the next call would take that response for its own. Therefore a
connection rests before it is reused, and is closed if anything arrives on it that was not requested. A
Response says whether its connection has had the same body before; the call can then be sent again on a new
connection.

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
"""How many bodies a connection remembers. As it rests after each one, they cover at least 4 s."""
CONNECT_SECONDS = 6.0
"""The connect timeout: an answer may take minutes, connecting never does."""
MAX_BODY = 32 * 2**20
"""The default limit on the bytes of a body."""
ENCODINGS: Mapping[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "deflate": zlib.decompressobj,
}
"""Accepted content encodings: those that can be decompressed incrementally."""
MOST_REDIRECTS = 20
_REDIRECT_STATUSES = {301, 302, 303, 307, 308}
"""After any of these, the request is sent again with the same method and content."""
_HTTP_PORTS = {"http": 80, "https": 443}
_SessionKey = tuple[httpx2.AsyncBaseTransport, tuple[tuple[str, str], ...]]
"""A transport of the SDK, and headers."""
Content = bytes | None | Callable[[], aiohttp.FormData]
"""The content of a request: bytes, none, or a function that makes a form, which can be sent only once."""
_EARLY = "a response came before the request was sent"


class RedirectedElsewhere(Exception):  # noqa: N818 - it names what the endpoint did
    """The endpoint redirects the call to another host."""

    def __init__(self, status: int, source: str, target: str) -> None:
        super().__init__(
            f"the endpoint at {source} redirects to {target}, which was not followed: keys and headers "
            f"are for {source}; if {target} is meant, name it with --api-base-url"
        )
        self.status = status


class ProxyRefused(Exception):  # noqa: N818 - it names what the proxy did
    """A proxy does not connect to the endpoint."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the proxy refuses: {reason}")
        self.status = status


class DownloadRefused(Exception):  # noqa: N818 - it names what the endpoint did
    """The endpoint answers a request for a file with another status than 200."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"HTTP {response.status}")
        self.response = response


class BodyTooLarge(Exception):  # noqa: N818 - it names what the endpoint did
    """A body exceeds its size limit."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the body of the answer has more than {max_bytes:,} bytes (--max-response-size)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A complete response, its body decompressed and the names of its headers in lower case.

    `repeat_distance` is how many bodies ago the connection had the same body, 1 for the last; 0 if it is new.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    repeat_distance: int = 0

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The URL of requests, the session that sends them, and the headers that they share.

    `fresh_session` makes a new connection for every request.
    """

    url: str
    session: aiohttp.ClientSession
    fresh_session: aiohttp.ClientSession
    headers: Mapping[str, str]


class Connections:
    """Sends requests with the proxies, certificates and limits of the SDK's aiohttp client.

    Belongs to the event loop that it is used on. A body has at most `max_body` bytes.
    """

    def __init__(self, sdk: httpx2.AsyncClient, max_body: int = MAX_BODY) -> None:
        self._sdk = sdk
        self._max_body = max_body
        self._connectors: dict[httpx2.AsyncBaseTransport, tuple[_Connector, _Connector]] = {}
        self._sessions: dict[_SessionKey, tuple[aiohttp.ClientSession, aiohttp.ClientSession]] = {}

    def address(self, url: str, headers: Mapping[str, str]) -> Address:
        """The address for requests with these headers."""
        # Only the SDK's client knows which proxy a URL needs, and it has no public API for that.
        transport = self._sdk._transport_for_url(httpx2.URL(url))
        key = transport, tuple(headers.items())
        if key not in self._sessions:
            resting, fresh = self._connectors_of(transport)
            self._sessions[key] = _session(transport, resting, headers), _session(transport, fresh, headers)
        session, fresh_session = self._sessions[key]
        return Address(url=url, session=session, fresh_session=fresh_session, headers=headers)

    def _connectors_of(self, transport: Any) -> tuple[_Connector, _Connector]:
        """The pool that reuses connections, and the pool that makes a new one for every request."""
        if transport not in self._connectors:
            self._connectors[transport] = _connector(transport), _connector(transport, force_close=True)
        return self._connectors[transport]

    async def send(
        self, address: Address, content: Content, *, method: str = "POST", is_fresh: bool = False
    ) -> Response:
        """Send a request with this content and read the complete response.

        With `is_fresh`, it is sent over a new connection. Only connecting has a time limit. Raises
        RedirectedElsewhere, ProxyRefused, BodyTooLarge, aiohttp.ClientError, OSError or ValueError.
        """
        for _ in range(MOST_REDIRECTS):
            session = address.fresh_session if is_fresh else address.session
            response = await self._send(method, session, address, content)
            location = response.headers.get("location")
            if response.status not in _REDIRECT_STATUSES or location is None:
                return response
            url = httpx2.URL(address.url)
            target = _redirect_target(url, location)
            if _origin(url) != _origin(target) and not _is_upgrade(url, target):
                raise RedirectedElsewhere(response.status, url.netloc.decode(), target.netloc.decode())
            address = self.address(str(target), address.headers)
        raise aiohttp.ClientPayloadError(f"the endpoint redirects more than {MOST_REDIRECTS} times")

    async def _send(
        self, method: str, session: aiohttp.ClientSession, address: Address, content: Content
    ) -> Response:
        data = content() if callable(content) else content
        try:
            async with session.request(method, address.url, data=data, allow_redirects=False) as response:
                return await self._read(response)
        except aiohttp.ClientHttpProxyError as error:
            # The error's own text contains the password of the proxy.
            raise ProxyRefused(error.status, error.message) from None

    async def lines(self, address: Address, seconds: float) -> AsyncGenerator[bytes]:
        """The lines of a file as they arrive; at most `seconds` may pass between two reads.

        A redirect to another host, where some endpoints have their files, is followed without our headers.
        Each line has at most `max_body` bytes. Raises DownloadRefused, or the errors of `send`.
        """
        timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=seconds)
        headers: Mapping[str, str] | None = {**address.headers, "accept-encoding": "identity"}
        url = httpx2.URL(address.url)
        for _ in range(MOST_REDIRECTS):
            session = self.address(str(url), {}).fresh_session
            async with session.get(
                str(url), headers=headers, allow_redirects=False, timeout=timeout
            ) as response:
                location = response.headers.get("location")
                if response.status in _REDIRECT_STATUSES and location is not None:
                    target = _redirect_target(url, location)
                    headers = headers if _origin(target) == _origin(url) else None
                    url = target
                    continue
                if response.status != 200:
                    # Another 2xx is not the whole file either: it is not ready (202, 204) or a part (206).
                    raise DownloadRefused(await self._read(response))
                async for line in _read_lines(response, self._max_body):
                    yield line
                return
        raise aiohttp.ClientPayloadError(f"the endpoint redirects more than {MOST_REDIRECTS} times")

    async def _read(self, response: aiohttp.ClientResponse) -> Response:
        content = await _read_body(response, self._max_body)
        distance = response.note_body(content) if isinstance(response, _Response) else 0
        return Response(
            status=response.status,
            headers=_combine(response.headers),
            content=content,
            repeat_distance=distance,
        )

    async def close(self) -> None:
        """Close all connections."""
        for session in chain.from_iterable(self._sessions.values()):
            await session.close()
        for connector in chain.from_iterable(self._connectors.values()):
            await connector.close()
        await self._sdk.aclose()


def _connector(transport: Any, *, force_close: bool = False) -> _Connector:
    """A pool of connections with the settings of a transport of the SDK."""
    limits: httpx2.Limits = transport.limits
    return _Connector(
        force_close=force_close,
        keepalive_timeout=None if force_close else limits.keepalive_expiry,
        # The limit includes resting connections; aiohttp takes 0 for no limit.
        limit=(limits.max_connections or 0) and limits.max_connections + most_resting(),
        ssl=transport.ssl_context,
    )


def _session(transport: Any, connector: _Connector, headers: Mapping[str, str]) -> aiohttp.ClientSession:
    """A session that sends these headers through a transport of the SDK, and no cookies.

    Cookies ignore ports: one endpoint's cookies would be sent to another one on the same host. The headers
    belong to the session because aiohttp builds a session's headers once, but a request's each time.
    """
    return aiohttp.ClientSession(
        connector=connector,
        connector_owner=False,
        headers=headers,
        response_class=_Response,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS),
        proxy=_proxy_url(transport.proxy),
    )


def _proxy_url(proxy: httpx2.Proxy | None) -> str | None:
    """The URL of a proxy with its user name and password."""
    if proxy is None:
        return None
    name, password = proxy.auth or (None, None)
    return str(proxy.url if name is None else proxy.url.copy_with(username=name, password=password))


def _combine(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by lower-case name; values of a repeated one become a list (RFC 9110, section 5.3)."""
    combined: dict[str, str] = {}
    for name, value in headers.items():
        earlier = combined.get(name.lower())
        combined[name.lower()] = value if earlier is None else f"{earlier}, {value}"
    return combined


async def _read_body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body, decompressed as it is read. Raises BodyTooLarge, or ClientPayloadError for invalid data."""
    decompress = _decompressor(response.headers.get("content-encoding", "identity").strip().lower())
    body, received = bytearray(), 0
    async for chunk in response.content.iter_any():
        received += len(chunk)
        # One byte over the limit is enough to show that the body is too large.
        body += decompress(chunk, max_bytes + 1 - len(body))
        if max(received, len(body)) > max_bytes:
            raise BodyTooLarge(max_bytes)
    return bytes(body)


async def _read_lines(response: aiohttp.ClientResponse, max_bytes: int) -> AsyncGenerator[bytes]:
    """The lines of a body without their line breaks.

    Raises BodyTooLarge if a line has more than `max_bytes`, or ClientPayloadError.
    """
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise aiohttp.ClientPayloadError("it is compressed, which was not asked for")
    unfinished = bytearray()
    async for chunk in response.content.iter_any():
        *line_ends, beginning = chunk.split(b"\n")
        for line_end in line_ends:
            yield bytes(unfinished + line_end)
            unfinished.clear()
        unfinished += beginning
        if len(unfinished) > max_bytes:
            raise BodyTooLarge(max_bytes)
    if unfinished:
        yield bytes(unfinished)


def _decompressor(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that decompresses the next chunk of a body, into at most a number of bytes."""
    if encoding == "identity":
        return lambda chunk, max_bytes: chunk
    if encoding not in ENCODINGS:
        raise aiohttp.ClientPayloadError(f"it is compressed with {encoding!r}, which was not asked for")
    decompressor = ENCODINGS[encoding]()

    def decompress(chunk: bytes, max_bytes: int) -> bytes:
        try:
            data: bytes = decompressor.decompress(chunk, max_bytes)
        except zlib.error as error:
            raise aiohttp.ClientPayloadError(f"it is not compressed with {encoding}: {error}") from None
        return data

    return decompress


def _redirect_target(url: httpx2.URL, location: str) -> httpx2.URL:
    """The URL that `url` redirects to. Raises ClientPayloadError if it is invalid."""
    try:
        return url.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        why = f"the endpoint redirects to an address that cannot be read: {error}"
        raise aiohttp.ClientPayloadError(why) from None


class _Protocol(ResponseHandler):
    """A connection that closes if unrequested data arrives, and remembers the bodies that it received.

    `awaits_response` is true while a request waits for its response. `is_early` says that data arrived when
    none was waiting, or before the request was written completely. `bodies` holds hashes, the latest first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.awaits_response, self.is_early = True, False
        self.bodies: deque[int] = deque(maxlen=MOST_BODIES)

    def data_received(self, data: bytes) -> None:
        """Check whether the data was requested, and read it."""
        is_written = self.transport is None or not self.transport.get_write_buffer_size()
        # aiohttp itself calls this with empty data, to have its buffer read.
        if data and not (self.awaits_response and is_written):
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
        # aiohttp calls this after a response: a connection is back in the pool only after its rest.
        if should_close or protocol.should_close or self.force_close or self._resting >= self._most_resting:
            super()._release(key, protocol, should_close=True)
            return
        if isinstance(protocol, _Protocol):
            protocol.awaits_response = False
        self._resting += 1
        self._loop.call_later(REST_SECONDS, partial(self._end_rest, key, protocol))

    def _end_rest(self, key: Any, protocol: ResponseHandler) -> None:
        self._resting -= 1
        # This closes the connection if data has arrived in the meantime.
        super()._release(key, protocol)


def _has_unread(connection: aiohttp.connector.Connection) -> bool:
    """Whether unrequested data has arrived on a connection, or it is closed."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None or protocol.should_close:
        return True
    poll = select.poll()
    poll.register(transport.get_extra_info("socket"), select.POLLIN)
    return bool(poll.poll(0))


class _Response(aiohttp.ClientResponse):
    """A response that fails to start if it came before its request was written.

    A rejection may come early: an endpoint may send it before it has read the whole request.
    """

    _protocol_used: _Protocol | None = None

    async def start(self, connection: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        """Read the head. Raises ClientConnectionError if it came too early to belong to this request."""
        protocol = connection.protocol
        if not isinstance(protocol, _Protocol) or protocol.should_close:
            connection.close()
            raise aiohttp.ClientConnectionError(_EARLY)
        self._protocol_used = protocol
        protocol.awaits_response = True
        response = await super().start(connection)
        # A small response is complete by now, its connection back in the pool, and connection.protocol None.
        if protocol.is_early and self.ok:
            connection.close()
            raise aiohttp.ClientConnectionError(_EARLY)
        return response

    def note_body(self, body: bytes) -> int:
        """Remember a body, close the connection if it had the same one before, and return `repeat_distance`.

        Bodies of errors are not remembered: endpoints reject calls in the same words.
        """
        if self._protocol_used is None or not self.ok:
            return 0
        digest, earlier_bodies = hash(body), self._protocol_used.bodies
        distance = earlier_bodies.index(digest) + 1 if digest in earlier_bodies else 0
        earlier_bodies.appendleft(digest)
        if distance:
            self._protocol_used.force_close()
        return distance


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _HTTP_PORTS.get(url.scheme)


def _is_upgrade(url: httpx2.URL, target: httpx2.URL) -> bool:
    """Whether a redirect only upgrades to HTTPS on the same host."""
    return _origin(url) == ("http", url.host, 80) and _origin(target) == ("https", url.host, 443)
