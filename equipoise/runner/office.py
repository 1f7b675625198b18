"""Sets up what all runs share: the client, the budget, and the way to each model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from equipoise.core.errors import CallFailed
from equipoise.core.settings import Endpoint, Price, Settings
from equipoise.core.types import Call, Role, Usage
from equipoise.models import prices
from equipoise.models.budget import NANO, Budget
from equipoise.models.counters import Board
from equipoise.models.failures import Change
from equipoise.models.rate_limit import Limiter
from equipoise.models.redact import Secrets
from equipoise.results.journal import Journal
from equipoise.runner.calls import Office, Way

Reach = Callable[[Role, str], Endpoint]
"""Where a model in a role is reached."""


def open_office(
    settings: Settings,
    *,
    endpoint: Reach,
    limiter: Limiter,
    board: Board,
    logs: Callable[[], Iterable[Journal]],
) -> Office:
    """The office of a session; to be made on the event loop that it is for.

    What an endpoint declines is told to every journal that is open when it is learned.
    """
    from equipoise.models.client import Client

    def stop(reason: str) -> None:
        board.stop(reason)
        limiter.stop()

    def fail(failure: CallFailed) -> None:
        if failure.stops_session and not settings.keep_going:
            stop(str(failure))

    def learn(call: Call, change: Change) -> None:
        what = {"parameter": change.parameter, "action": change.action, "reason": change.reason}
        for log in logs():
            log.append("learned", role=call.role, model=call.model, **what)

    reached = _reached(settings, endpoint)
    numbers = {url: list(reached.values()).index(url) for url in reached.values()}
    ways = _ways(settings, reached, numbers, limiter, board)
    client = Client(
        endpoint,
        max_retries=settings.max_retries,
        timeout=settings.request_timeout,
        secrets=Secrets(settings.secrets),
        on_learned=learn,
        on_retry=board.count_retry,
    )
    budget = Budget(board, stop, calls=settings.max_calls, dollars=settings.max_cost)
    return Office(
        client=client,
        limiter=limiter,
        board=board,
        budget=budget,
        ways=ways,
        stop=stop,
        on_failure=fail,
        silent=frozenset(["subject"]) if settings.rejudge else frozenset(),
    )


def _reached(settings: Settings, endpoint: Reach) -> dict[tuple[Role, str], str]:
    """The base URL of every model in its role, subject first."""
    models: list[tuple[Role, str]] = [("subject", settings.model or "")]
    models += [("evaluator", name) for name in settings.evaluator_models]
    return {(role, model): endpoint(role, model).base_url for role, model in models}


def _ways(
    settings: Settings,
    reached: Mapping[tuple[Role, str], str],
    numbers: Mapping[str, int],
    limiter: Limiter,
    board: Board,
) -> dict[tuple[Role, str], Way]:
    """How each model is reached; models of one endpoint share its queue."""
    queues = {
        url: limiter.queue(paused_until=partial(board.paused_until, number))
        for url, number in numbers.items()
    }
    return {
        (role, model): Way(
            model=number,
            endpoint=numbers[url],
            queue=queues[url],
            cost=partial(_nano_dollars, model, url, settings.price),
        )
        for number, ((role, model), url) in enumerate(reached.items())
    }


def _nano_dollars(model: str, url: str, own: Price | None, usage: Usage) -> int:
    return int((prices.cost(model, url, usage.to_json(), own) or 0.0) * NANO)
