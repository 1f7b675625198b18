"""The client for OpenAI-compatible endpoints: takes a Call, returns a Reply or raises CallFailed.

The only module that imports openai. It retries failed attempts, remembers parameters that an endpoint
rejects, and also makes the requests that batches need.
"""

from __future__ import annotations

import asyncio
import email.message
import logging
import ssl
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from http import HTTPStatus
from types import TracebackType
from typing import Protocol
from urllib.parse import urlsplit

import aiohttp
import openai

from equipoise.core import json_io
from equipoise.core.errors import CallFailed, printable
from equipoise.core.quantities import first_few
from equipoise.core.session_options import DEFAULT_BASE_URL
from equipoise.core.settings import NO_KEY, Endpoint
from equipoise.core.types import CONTINUES, JSON, Call, Message, Reply, Role
from equipoise.models.connections import (
    CONNECT_SECONDS,
    ENCODINGS,
    MAX_BODY,
    Address,
    BodyTooLarge,
    Connections,
    Content,
    DownloadRefused,
    ProxyRefused,
    RedirectedElsewhere,
    Response,
)
from equipoise.models.failures import Failure, describe_body, provider_headers, retry_delay
from equipoise.models.parameter_changes import (
    PREFILL,
    ParameterChange,
    change_for_rejection,
    rejects_parameter,
)
from equipoise.models.redact import Secrets
from equipoise.models.response import as_json, duplicate_field, read_body, read_continuation
from equipoise.models.retry import Health, Retries, retry_after

_TRANSPORT_ERRORS = (
    *(aiohttp.ClientError, OSError, ValueError),
    *(RedirectedElsewhere, ProxyRefused, BodyTooLarge),
)
"""Exceptions of the transport if no complete response arrived, or the response must not be read."""
_UNSENT_ERRORS = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
"""Exceptions of the transport if it made no connection, so that nothing was sent."""

_MODEL_OPTIONS: Mapping[Role, str] = {"subject": "--model", "evaluator": "--evaluator-model"}
_LIST_SECONDS = 10.0
"""How long an endpoint may take to list its models, for a message about a wrong one."""
_MOST_NAMES, _MOST_NAME_CHARACTERS = 5, 80
"""The most models that a message names, and the most characters of a name."""

_LOGGERS = ("openai", "httpx2", "httpcore2", "aiohttp")
"""These loggers log headers, bodies and URLs, which may contain secrets."""

# Python has more codecs: some decompress their input, and some take minutes for a megabyte.
_CHARSETS = {"iso-8859-1", "windows-1252", "gbk", "gb2312", "gb18030", "big5", "shift_jis", "euc-kr"}
"""Accepted charsets of a body that is not UTF-8, such as an error page."""

PATHS = ("chat/completions", "completions")
"""The paths of chat completions and of plain ones, to be indexed by whether a call continues a text."""
OnLearned = Callable[[Call, ParameterChange], None]
OnHeaders = Callable[[Call, Mapping[str, str]], None]


class AttemptSlot(Protocol):
    """A slot for one attempt in flight, entered for each attempt. `succeed` or `fail` reports the outcome."""

    async def __aenter__(self) -> None:
        """Wait for the slot."""

    def succeed(self, reply: Reply) -> None:
        """The endpoint answered."""

    def fail(self, failure: Failure) -> None:
        """The endpoint did not answer, or its answer holds no reply."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release the slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _EndpointAccess:
    """How the calls to a model reach its endpoint: `addresses` has one for each of PATHS.

    `health` is shared by all models of a base URL. `foreign_keys` are the keys of other endpoints, which must
    not be sent to this one.
    """

    addresses: tuple[Address, Address]
    health: Health
    foreign_keys: Secrets


class Client:
    """Sends calls to the models of a session. Belongs to the event loop it was created on.

    `endpoint` returns the endpoint of a model in a role. A call holds a slot only while it is in flight, not
    between retries. `timeout` is in seconds per attempt, `max_body` in bytes. `on_learned` is called once per
    model and change of a rejected parameter, `on_retry` with the reason before every retry, `on_headers` with
    the headers of every response. Secrets are masked in errors, but not in replies. A real key is never sent
    to an endpoint that has a different one.
    """

    def __init__(
        self,
        endpoint: Callable[[Role, str], Endpoint],
        *,
        max_retries: int,
        timeout: float,
        secrets: Secrets,
        max_body: int = MAX_BODY,
        on_learned: OnLearned = lambda call, change: None,
        on_retry: Callable[[str], None] = lambda why: None,
        on_headers: OnHeaders | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._max_retries = max_retries
        self._timeout = timeout
        self._secrets = secrets
        self._on_learned = on_learned
        self._on_retry = on_retry
        self._on_headers = on_headers
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._sdk = openai.DefaultAioHttpClient()
        self._http = Connections(self._sdk, max_body)
        self._accesses: dict[tuple[Role, str], _EndpointAccess] = {}
        self._health: defaultdict[str, Health] = defaultdict(Health)
        self._parameter_changes: dict[tuple[Role, str], list[ParameterChange]] = {}
        self._no_echo: set[tuple[Role, str]] = set()
        self._name_advice: dict[tuple[Role, str], asyncio.Future[str]] = {}

    async def complete(self, call: Call, slot: AttemptSlot, *, max_retries: int | None = None) -> Reply:
        """Send a call; `slot` is entered for each attempt. Raises CallFailed when no retry can help.

        `max_retries` replaces the limit of all calls.
        """
        if _is_echo(call) and (call.role, call.model) in self._no_echo:
            raise _no_echo_error(call)
        most = self._max_retries if max_retries is None else max_retries
        retries = Retries(most, self._access(call.role, call.model).health)
        while True:
            async with slot:
                parameters = self._parameters(call)
                answer = await self._attempt(call, parameters, retries)
                if isinstance(answer, Reply):
                    retries.report_answer()
                    slot.succeed(answer)
                    return answer
                slot.fail(answer)
                if _is_echo(call) and answer.status in _NO_ECHO_STATUS:
                    self._no_echo.add((call.role, call.model))
                    raise _no_echo_error(call)
                is_changed = self._remember_change(call, answer, parameters)
                delay = 0.0 if is_changed else retries.delay_after(answer)
                # Raised inside the slot, so that no other call starts before the failure is known.
                if delay is None:
                    message = self._secrets.mask(f"{answer.message}{await self._advice(call, answer)}")
                    raise self._call_error(call, answer, parameters, retries, message)
            if not is_changed:
                self._on_retry(f"{_status_prefix(answer)}{self._secrets.mask(answer.message)}")
                await retries.wait_until_due()

    async def _advice(self, call: Call, failure: Failure) -> str:
        """Advice on the account, a proxy, a model or path that is not there, or an endpoint that has never
        answered; "" on anything else.
        """
        if failure.is_out_of_balance or failure.status == 402:
            return "; top up the account, then run the same command again"
        if failure.is_of_proxy or failure.status == 407:
            return "; check the proxy in HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, and its password"
        if failure.names_nothing:
            return await self._advice_on_names(call)
        endpoint, url = self._endpoint(call.role, call.model), _option(call.role, "api-base-url")
        if self._access(call.role, call.model).health.answered:
            return ""
        if failure.is_insecure:
            return f"; {_tls_advice(failure)}, or name another endpoint with {url}"
        if failure.is_unreachable:
            return f"; nothing answers at {endpoint.base_url}: {_unreachable_advice(endpoint, call.role)}"
        return f"; {_key_advice(endpoint)}" if failure.status in (401, 403) else ""

    async def _advice_on_names(self, call: Call) -> str:
        """Advice if the endpoint has no such path or model; found only once, however many calls fail."""
        key = (call.role, call.model)
        if key not in self._name_advice:
            self._name_advice[key] = asyncio.ensure_future(self._find_name(call))
        return await asyncio.shield(self._name_advice[key])

    async def _find_name(self, call: Call) -> str:
        """The models that the endpoint lists, or its likely URL, as advice."""
        role, option = call.role, _option(call.role, "api-base-url")
        base_url = self._endpoint(role, call.model).base_url
        if (names := await self._listed_models(call, base_url)) is not None:
            if call.model in names:
                return ""
            listed = f"the endpoint lists {_some(names, call.model)}: " if names else ""
            return f"; {listed}name an existing model with {_MODEL_OPTIONS[role]}"
        for other in _likely_urls(base_url):
            if await self._listed_models(call, other) is not None:
                return f"; did you mean {option} {other}?"
        return f"; check the model's name and {option}"

    async def _listed_models(self, call: Call, base_url: str) -> list[str] | None:
        """The models that `base_url` lists, at the origin of the call's endpoint; None if it lists none."""
        headers = self._access(call.role, call.model).addresses[0].headers
        with suppress(TimeoutError, ValueError):
            async with asyncio.timeout(_LIST_SECONDS):
                url = replace(self._endpoint(call.role, call.model), base_url=base_url).url("models")
                address = self._http.address(url, headers)
                response = await self._send(address, None, method="GET")
            if isinstance(response, Response) and response.is_success:
                return _model_names(_content(response))
        return None

    # Batches.

    def batch_request(self, call: Call) -> tuple[str, dict[str, JSON]]:
        """The path and the body of a call, for a line of a batch's input file."""
        masked = self._access(call.role, call.model).foreign_keys.masked_call(call)
        return PATHS[CONTINUES in call.parameters], _body(masked, self._parameters(call))

    def read_batch_result(self, call: Call, status: int, body: JSON, retries: int) -> Reply | Failure:
        """The reply in a line of a batch's results, or the failure; `retries` counts the attempts before it.

        If a parameter is rejected, its change is remembered for later calls.
        """
        if not 200 <= status < 300:
            body = as_json(body)
            failure = Failure(message=describe_body(body) or _phrase(status), status=status, body=body)
            if failure.filter_code is None:
                self._remember_change(call, failure, self._parameters(call))
            answer: Reply | Failure = failure
        else:
            read = read_continuation if CONTINUES in call.parameters else read_body
            answer = read(body, latency=0.0, retries=retries, role=call.role)
        return _blocked_reply_or(answer, 0.0, retries, 0) if isinstance(answer, Failure) else answer

    def is_learned(self, call: Call, failure: Failure) -> bool:
        """Whether the failure is about a parameter whose change is remembered for later calls."""
        return change_for_rejection(failure, call.parameters) in self._parameter_changes.get(
            (call.role, call.model), ()
        )

    async def request(
        self, role: Role, model: str, method: str, path: str, content: Content = None
    ) -> Response | Failure:
        """The successful response of a model's endpoint to a request other than a call, or the failure."""
        response = await self._send(self._address(role, model, path, content), content, method=method)
        if isinstance(response, Failure) or response.is_success:
            return response
        return _status_failure(response)

    async def download(self, role: Role, model: str, path: str) -> AsyncGenerator[bytes | Failure]:
        """The lines of a file at a model's endpoint. If reading stops early, the last item is the failure."""
        address = self._address(role, model, path, None)
        try:
            async with aclosing(self._http.lines(address, self._timeout)) as lines:
                async for line in lines:
                    yield line
        except DownloadRefused as error:
            refusal = error.response
            incomplete = Failure(message=f"{path}: HTTP {refusal.status} instead of the whole file")
            yield incomplete if refusal.is_success else _status_failure(refusal)
        except _TRANSPORT_ERRORS as error:
            yield self._failure(error)

    def _address(self, role: Role, model: str, path: str, content: Content) -> Address:
        """The address of a path at a model's endpoint, for a request other than a call."""
        headers = dict(self._access(role, model).addresses[0].headers)
        if not isinstance(content, bytes):
            # aiohttp sets the content type of a form itself.
            headers.pop("content-type", None)
        return self._http.address(self._endpoint(role, model).url(path), headers)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def _attempt(self, call: Call, parameters: Mapping[str, JSON], retries: Retries) -> Reply | Failure:
        started = time.perf_counter()
        response = await self._post(call, parameters, is_fresh=retries.is_in_doubt)
        latency = time.perf_counter() - started
        if self._on_headers is not None and isinstance(response, Response):
            self._on_headers(call, response.headers)
        answer = (
            response if isinstance(response, Failure) else _read_response(call, response, latency, retries)
        )
        if isinstance(answer, Reply):
            return answer
        return _blocked_reply_or(answer, latency, retries.count, retries.repeats)

    async def _post(
        self, call: Call, parameters: Mapping[str, JSON], *, is_fresh: bool
    ) -> Response | Failure:
        """The response to one attempt, or the failure. With `is_fresh`, over a new connection."""
        access = self._access(call.role, call.model)
        body = json_io.dumps(_body(access.foreign_keys.masked_call(call), parameters))
        address = access.addresses[CONTINUES in call.parameters]
        return await self._send(address, body, is_fresh=is_fresh)

    async def _send(
        self, address: Address, content: Content, *, method: str = "POST", is_fresh: bool = False
    ) -> Response | Failure:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._http.send(address, content, method=method, is_fresh=is_fresh)
        except _TRANSPORT_ERRORS as error:
            return self._failure(error)

    def _failure(self, error: Exception) -> Failure:
        # The order matters: most of these classes are subclasses of OSError too.
        match error:
            case aiohttp.ClientConnectionError() | ssl.SSLError():
                return self._no_connection(error)
            case TimeoutError():
                return Failure(message=f"no answer within {self._timeout:g} s")
            case RedirectedElsewhere():
                return Failure(message=str(error), status=error.status)
            case ProxyRefused():
                return Failure(message=printable(str(error))[:500], status=error.status, is_of_proxy=True)
            case BodyTooLarge():
                return Failure(message=str(error), status=200)
            case aiohttp.ClientError() | OSError():
                return Failure(message=f"connection failed: {_error_text(_causes(error)[-1])}")
        return _unreadable(error)

    def _no_connection(self, error: Exception) -> Failure:
        """The failure of a connection that could not be made, or broke."""
        causes = _causes(error)
        # aiohttp raises an exception without a text when its connect timeout is over.
        is_timeout = isinstance(causes[-1], TimeoutError) and not _error_text(causes[-1])
        why = f"no connection within {CONNECT_SECONDS:g} s" if is_timeout else _error_text(causes[-1])
        is_insecure = any(isinstance(cause, ssl.SSLError) for cause in causes)
        is_of_proxy = isinstance(error, aiohttp.ClientProxyConnectionError)
        return Failure(
            message=f"connection {'to the proxy ' if is_of_proxy else ''}failed: {why}",
            is_unreachable=True,
            is_unsent=isinstance(error, _UNSENT_ERRORS),
            is_insecure=is_insecure,
            is_of_proxy=is_of_proxy,
        )

    def _access(self, role: Role, model: str) -> _EndpointAccess:
        key = (role, model)
        if key not in self._accesses:
            endpoint = self._endpoint(role, model)
            headers = self._headers(endpoint)
            chat, plain = (self._http.address(endpoint.url(path), headers) for path in PATHS)
            self._accesses[key] = _EndpointAccess(
                addresses=(chat, plain),
                health=self._health[endpoint.base_url],
                foreign_keys=self._secrets.except_key(endpoint.api_key),
            )
        return self._accesses[key]

    def _call_error(
        self,
        call: Call,
        failure: Failure,
        parameters: Mapping[str, JSON],
        retries: Retries,
        message: str,
    ) -> CallFailed:
        """The error that ends a call after its last attempt; `message` is the failure's, with keys masked."""
        after = f" (after {retries.count} retries)" if retries.count else ""
        is_exhausted = failure.is_transient and retries.concerns_all
        is_about_settings = rejects_parameter(failure, parameters) and not call.is_stretched
        is_at_default = self._endpoint(call.role, call.model).base_url == DEFAULT_BASE_URL
        is_mistake = failure.is_mistake or (failure.is_unreachable and is_at_default)
        return CallFailed(
            f"{call.role} {call.model!r}: {_status_prefix(failure)}{message}{after}",
            status=failure.status,
            stops_session=is_exhausted or failure.is_fatal or is_about_settings,
            is_mistake=is_mistake or is_about_settings,
            retries=retries.count,
        )

    def _headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The headers that the SDK would send to an endpoint.

        The SDK's own `post` would build them again for every call, which doubles the CPU time.
        """
        sdk = openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, http_client=self._sdk)
        if not endpoint.takes_environment:
            sdk.organization = sdk.project = None
            # There is no public API for this: every new client reads them from the environment.
            sdk._custom_headers = {}
        headers: dict[str, str] = {}
        for name, value in {**sdk.auth_headers, **sdk.default_headers}.items():
            # Lower case, so that a user's own header replaces the SDK's, however either is written.
            if isinstance(value, str):
                headers[name.lower()] = value
        headers |= dict(endpoint.headers)
        headers["connection"] = "keep-alive"
        headers["content-type"] = "application/json"
        headers["accept-encoding"] = ", ".join(ENCODINGS)
        headers["x-stainless-retry-count"] = "0"
        headers["x-stainless-read-timeout"] = str(self._timeout)
        return headers

    def _parameters(self, call: Call) -> Mapping[str, JSON]:
        """The parameters to send: with all changes so far, and without CONTINUES, which selects the path."""
        parameters = {name: value for name, value in call.parameters.items() if name != CONTINUES}
        for change in self._parameter_changes.get((call.role, call.model), ()):
            parameters = change.apply(parameters)
        if "top_logprobs" in parameters and "logprobs" not in parameters:
            # Endpoints reject top_logprobs without logprobs.
            return {name: value for name, value in parameters.items() if name != "top_logprobs"}
        return parameters

    def _remember_change(self, call: Call, failure: Failure, parameters: Mapping[str, JSON]) -> bool:
        """Remember the change if a parameter was rejected. True if a retry with the change may succeed."""
        change = change_for_rejection(failure, parameters)
        if change is None:
            return False
        changes = self._parameter_changes.setdefault((call.role, call.model), [])
        if change not in changes:
            changes.append(change)
            self._on_learned(call, change)
        return True


def _option(role: Role, name: str) -> str:
    """The session option with this name for the models in a role."""
    return f"--{name}" if role == "subject" else f"--evaluator-{name}"


def _unreachable_advice(endpoint: Endpoint, role: Role) -> str:
    is_default = endpoint.base_url.startswith(DEFAULT_BASE_URL)
    why = "it is the default, as no endpoint was given; " if is_default else ""
    return f"{why}start it, or name another with {_option(role, 'api-base-url')}"


def _tls_advice(failure: Failure) -> str:
    """Advice on a TLS error: the certificate is not trusted, or the server does not use TLS."""
    if "CERTIFICATE_VERIFY_FAILED" in failure.message:
        return "trust its certificate with SSL_CERT_FILE=FILE"
    return "use http:// if the server does not use TLS"


def _key_advice(endpoint: Endpoint) -> str:
    if endpoint.api_key == NO_KEY:
        variable = "OPENAI_API_KEY" if endpoint.takes_environment else "EQUIPOISE_EVALUATOR_API_KEY"
        return f"no key was given: set it in {variable}"
    return f"the key is from {endpoint.key_source or 'nowhere'}: set another there"


def _model_names(body: JSON) -> list[str] | None:
    """The names in a list of models; None if the body is not such a list."""
    items = body.get("data") if isinstance(body, dict) else None
    if not isinstance(items, list):
        return None
    return [str(item["id"]) for item in items if isinstance(item, dict) and item.get("id")]


def _some(names: Sequence[str], wanted: str) -> str:
    """Some of the names as text, those that are like `wanted` first."""
    ordered = dict.fromkeys([*get_close_matches(wanted, names, n=_MOST_NAMES), *names])
    return first_few([printable(name)[:_MOST_NAME_CHARACTERS] for name in ordered], _MOST_NAMES)


def _likely_urls(base_url: str) -> list[str]:
    """Other base URLs at the same origin that the user may have meant."""
    parts = urlsplit(base_url)
    stripped = parts.path.removesuffix("/completions").removesuffix("/chat")
    paths = [stripped, f"{stripped}/v1", "/v1"]
    return [url for path in dict.fromkeys(paths) if (url := parts._replace(path=path).geturl()) != base_url]


def _causes(error: Exception) -> list[Exception]:
    """The error and its chain of causes, the root cause last."""
    errors = [error]
    while isinstance(errors[-1].__cause__, Exception):
        errors.append(errors[-1].__cause__)
    return errors


def _error_text(error: Exception) -> str:
    """The text of an exception. Without a text, its type, or "" for a timeout."""
    return printable(str(error))[:500] or ("" if isinstance(error, TimeoutError) else type(error).__name__)


def _is_echo(call: Call) -> bool:
    """Whether the call asks for token probabilities of a given text."""
    return CONTINUES in call.parameters and "echo" in call.parameters


_NO_ECHO_STATUS = frozenset({400, 404, 405, 422, 501})
"""Statuses with which an endpoint without `echo` rejects a call that asks for it."""
NO_ECHO = Failure(message="it does not echo the text with token probabilities", status=501)


def _has_echoed(call: Call, reply: Reply) -> bool:
    return reply.tokens is not None and reply.text.startswith(call.messages[-1]["content"])


def _no_echo_error(call: Call) -> CallFailed:
    """The error of a call to an endpoint that does not echo; `is_declined` tells callers to do without."""
    why = "its endpoint returns no token probabilities for a given text"
    return CallFailed(f"{call.role} {call.model!r}: {why}", is_declined=True)


def _body(call: Call, parameters: Mapping[str, JSON]) -> dict[str, JSON]:
    """The body of a request: a prompt for a plain completion, messages for a chat, and the parameters."""
    if CONTINUES in call.parameters:
        return {"model": call.model, "prompt": call.messages[-1]["content"], **parameters}
    if PREFILL not in parameters:
        return {"model": call.model, "messages": call.messages, **parameters}
    prefill = Message(role="assistant", content=parameters[PREFILL])
    others = {name: value for name, value in parameters.items() if name != PREFILL}
    return {"model": call.model, "messages": [*call.messages, prefill], **others}


def _blocked_reply_or(failure: Failure, latency: float, retries: int, repeats: int) -> Reply | Failure:
    """An empty, blocked reply if a filter rejected the prompt; otherwise the failure."""
    if (code := failure.filter_code) is None:
        return failure
    return Reply(
        text="",
        finish_reason="content_filter",
        blocked=code,
        latency=latency,
        retries=retries,
        repeats=repeats,
    )


def _status_prefix(failure: Failure) -> str:
    """The beginning of a message: the status, if there was a response."""
    return "" if failure.status is None else f"HTTP {failure.status}: "


def _read_response(call: Call, response: Response, latency: float, retries: Retries) -> Reply | Failure:
    try:
        if not response.is_success:
            return _status_failure(response)
        read = read_continuation if CONTINUES in call.parameters else read_body
        if name := duplicate_field(response.content):
            return Failure(message=f"the answer has the field {name!r} twice", status=200)
        reply = read(_content(response), latency=latency, retries=retries.count, role=call.role)
    except ValueError as error:
        return _unreadable(error)
    except RecursionError:
        return Failure(message="the body of the answer is nested too deeply")
    if isinstance(reply, Failure):
        return reply
    if retries.check_for_copy(hash(response.content), response.repeat_distance):
        return POSSIBLE_COPY
    if _is_echo(call) and not _has_echoed(call, reply):
        return NO_ECHO
    return replace(reply, repeats=retries.repeats) if retries.repeats else reply


POSSIBLE_COPY = Failure(
    message="the answer repeats another one of its connection", status=200, may_be_copy=True
)


def _unreadable(error: Exception) -> Failure:
    return Failure(message=f"the body of the answer cannot be read: {printable(str(error))[:500]}")


def _content(response: Response) -> JSON:
    """The content of a response: JSON if its headers say so, otherwise text. Raises ValueError."""
    media_type = response.headers.get("content-type", "").partition(";")[0]
    return json_io.loads(response.content) if media_type.endswith("json") else _text(response)


def _text(response: Response) -> str:
    """The body as text. Valid UTF-8, which JSON requires, is decoded as such whatever the headers say."""
    with suppress(UnicodeDecodeError):
        return response.content.decode()
    charset = _charset(response.headers.get("content-type", ""))
    return response.content.decode(charset if charset in _CHARSETS else "utf-8", "replace")


def _charset(content_type: str) -> str:
    message = email.message.Message()
    message["content-type"] = content_type
    return message.get_content_charset("")


def _status_failure(response: Response) -> Failure:
    """The failure in a response with an unsuccessful status."""
    body = _error_body(response)
    return Failure(
        message=describe_body(body) or _phrase(response.status),
        status=response.status,
        body=body,
        retry_after=_retry_after(response, body),
    )


def _phrase(status: int) -> str:
    """The standard phrase for a status, used if the endpoint gives no explanation."""
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else "no explanation"


def _error_body(response: Response) -> JSON:
    """The body of an error response, JSON or not."""
    text = _text(response).strip()
    try:
        body = json_io.loads(text.encode())
    except ValueError:
        return as_json(text)
    return text if body is None else as_json(body)


def _retry_after(response: Response, body: JSON) -> float | None:
    """Seconds to wait, from the headers of the response, of a provider behind a gateway, or from the body."""
    delay = retry_delay(body)
    sources = (response.headers, provider_headers(body), {} if delay is None else {"retry-after": delay})
    now = time.time()
    waits = (retry_after(headers, now) for headers in sources)
    return next((wait for wait in waits if wait is not None), None)
