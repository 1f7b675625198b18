"""The context that all calls of a session share: client, limiter, counters, budget, and routes to models."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Discounted, Endpoint, Price, Settings
from equipoise.core.types import JSON, Call, Reply, Role, Usage
from equipoise.models import prices
from equipoise.models.budget import NANO, Budget, usage_of
from equipoise.models.counters import Counters
from equipoise.models.parameter_changes import ParameterChange
from equipoise.models.rate_limit import Limiter
from equipoise.models.redact import Secrets
from equipoise.runner.access import Access, Route
from equipoise.runner.transport import Live, Transport


class Log(Protocol):
    """A journal, or what collects lines until the journal is open."""

    def append(self, kind: str, **content: JSON) -> None:
        """Write one line."""


EndpointOf = Callable[[Role, str], Endpoint]
"""The endpoint of a model in a role."""


def _live() -> Mapping[Role, Transport]:
    live = Live()
    return {"subject": live, "evaluator": live}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext(Access):
    """The context of all calls. `on_failure` is called with the error of a call before its slot is released.

    `transports` answer the calls of each role. A request of an endpoint to wait longer than `max_wait`
    seconds ends the session. `opened` is the monotonic time at which the context was created. `thinking` has
    the models that have shown thoughts, each with the index of its endpoint.
    """

    limiter: Limiter
    on_failure: Callable[[CallFailed], None]
    transports: Mapping[Role, Transport] = field(default_factory=_live)
    max_wait: float = math.inf
    opened: float = field(default_factory=time.monotonic)
    thinking: set[tuple[int, str]] = field(default_factory=set)

    def with_room(self, call: Call) -> Call:
        """The call as it is sent: with room for thoughts if its model has shown any."""
        if call.room is None or self._endpoint_and_model(call) not in self.thinking:
            return call
        return replace(call, parameters={**call.parameters, "max_tokens": call.room})

    def observe(self, call: Call, reply: Reply) -> None:
        """Remember a model that thinks before it answers."""
        if reply.has_thoughts:
            self.thinking.add(self._endpoint_and_model(call))

    def count(self, call: Call, reply: Reply, *, replayed: bool, is_batched: bool = False) -> None:
        """Count a reply and its tokens; a `replayed` one comes from the journal."""
        usage = usage_of(call, reply)
        self.counters.count_reply(
            self.routes[call.role, call.model].model_index,
            usage.input,
            usage.output,
            replayed=replayed,
            is_estimated=not reply.is_metered,
            repeats=reply.repeats,
            is_batched=is_batched,
        )

    def _endpoint_and_model(self, call: Call) -> tuple[int, str]:
        return self.routes[call.role, call.model].endpoint_index, call.model

    def concurrency_limits(self) -> list[dict[str, int]]:
        """The lowest, highest and last concurrency limit of each endpoint, and its count of refused calls."""
        queues = {route.endpoint_index: route.queue for route in self.routes.values()}
        return [
            {
                "endpoint": endpoint,
                "lowest": queue.concurrency.lowest,
                "highest": queue.concurrency.highest,
                "last": queue.concurrency.limit,
                "refused": queue.concurrency.refused,
            }
            for endpoint, queue in queues.items()
        ]


def open_context(
    settings: Settings,
    *,
    endpoint: EndpointOf,
    limiter: Limiter,
    counters: Counters,
    logs: Callable[[], Iterable[Log]],
    suspend: Callable[[], None] | None = None,
    replies: Transport | None = None,
) -> CallContext:
    """Create the context of a session, on the event loop that its calls run on.

    A parameter that an endpoint rejects is recorded in every journal that `logs` returns. Calls are sent in
    batches only with `suspend`, which is called when the session stops waiting for batches. `replies` answers
    the subject's calls from replies that exist already.
    """
    from equipoise.models.client import Client

    def stop(reason: str, *, is_mistake: bool = False) -> None:
        counters.stop(reason, is_mistake=is_mistake)
        limiter.stop()

    def fail(failure: CallFailed) -> None:
        if failure.stops_session and not settings.keep_going:
            stop(str(failure), is_mistake=failure.is_mistake)

    def learn(call: Call, change: ParameterChange) -> None:
        content = {"parameter": change.parameter, "action": change.action, "reason": change.reason}
        for log in logs():
            log.append("learned", role=call.role, model=call.model, **content)

    base_urls = _base_urls(settings, endpoint)
    # An endpoint has the index of its first model.
    indices = {url: list(base_urls.values()).index(url) for url in base_urls.values()}
    routes = _routes(settings, base_urls, indices, limiter, counters)
    client = Client(
        endpoint,
        max_retries=settings.max_retries,
        timeout=settings.request_timeout,
        max_body=int(settings.max_response_size * 2**20),
        secrets=Secrets(settings.secrets),
        on_learned=learn,
        on_retry=counters.count_retry,
    )
    transports: dict[Role, Transport] = {}
    context = CallContext(
        client=client,
        counters=counters,
        budget=Budget(counters, stop, calls=settings.max_calls, dollars=settings.max_cost),
        routes=routes,
        stop=stop,
        limiter=limiter,
        on_failure=fail,
        transports=transports,
        max_wait=math.inf if settings.keep_going else settings.max_wait,
    )
    transport: Transport = Live()
    if suspend is not None:
        from equipoise.runner.batches.transport import Batches

        transport = Batches(settings, context, suspend)
    transports |= {"subject": transport if replies is None else replies, "evaluator": transport}
    return context


def _base_urls(settings: Settings, endpoint: EndpointOf) -> dict[tuple[Role, str], str]:
    """The base URL of every model, by role and name, subject first."""
    models: list[tuple[Role, str]] = [("subject", settings.model or "")]
    models += [("evaluator", name) for name in settings.models[1:]]
    return {(role, model): endpoint(role, model).base_url for role, model in models}


def _routes(
    settings: Settings,
    base_urls: Mapping[tuple[Role, str], str],
    indices: Mapping[str, int],
    limiter: Limiter,
    counters: Counters,
) -> dict[tuple[Role, str], Route]:
    """The route to each model; models of one endpoint share its queue."""
    queues = {url: limiter.queue(partial(counters.paused_until, number)) for url, number in indices.items()}
    return {
        (role, model): Route(
            model_index=number,
            endpoint_index=indices[url],
            base_url=url,
            queue=queues[url],
            cost=partial(_nano_dollars, model, url, settings.price),
            cost_in_batch=partial(_nano_dollars, model, url, settings.price_in_batches),
        )
        for number, ((role, model), url) in enumerate(base_urls.items())
    }


def _nano_dollars(model: str, url: str, price: Price | Discounted | None, usage: Usage) -> int:
    """The cost of tokens; 0 if it is unknown. `price` is the user's, None for the listed one."""
    return int((prices.cost(model, url, usage.to_json(), price) or 0.0) * NANO)
