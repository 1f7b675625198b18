"""What all runs share: the route to each model, and the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from equipoise.core.resolution import resolve
from equipoise.core.settings import Endpoint
from equipoise.core.types import Role, Usage
from equipoise.models.budget import NANO
from equipoise.models.counters import Counters
from equipoise.models.rate_limit import Limiter
from equipoise.runner.context import CallContext, open_context

ONE, OTHER = "http://one/v1", "http://other/v1"
MODELS = ("e1", "e2", "e3")


@pytest.fixture
def counters() -> Counters:
    """A counters for a subject and three evaluators."""
    return Counters(4)


def context(counters: Counters, places: Mapping[str, str], subject: str = "m", **options: Any) -> CallContext:
    """The context of a session whose models are reached there, else at ONE."""
    texts = {"model": subject, "evaluator_model": list(MODELS), "concurrency": "8", **options}

    def reach(role: Role, model: str) -> Endpoint:
        return Endpoint(base_url=places.get(model, ONE), api_key="none")

    async def story() -> CallContext:
        opened = open_context(
            resolve(texts, {}, {}), endpoint=reach, limiter=Limiter(8), counters=counters, logs=lambda: []
        )
        await opened.client.close()
        return opened

    return asyncio.run(story())


def test_models_of_one_endpoint_share_its_queue(counters: Counters) -> None:
    """Whatever their role. The subject is 0; an endpoint has the number of the first model there."""
    routes = context(counters, {"e2": OTHER, "e3": OTHER}).routes
    queues = {model: routes[role, model].queue for role, model in routes}
    assert queues["m"] is queues["e1"] is not queues["e2"] is queues["e3"]
    indices = {
        (role, model): (route.model_index, route.endpoint_index) for (role, model), route in routes.items()
    }
    assert indices == {
        ("subject", "m"): (0, 0),
        ("evaluator", "e1"): (1, 0),
        ("evaluator", "e2"): (2, 2),
        ("evaluator", "e3"): (3, 2),
    }


def test_a_subject_that_judges_itself_has_two_routes(counters: Counters) -> None:
    """One model in two roles is counted in each; its endpoint is one."""
    routes = context(counters, {}, subject="e1").routes
    one, two = routes["subject", "e1"], routes["evaluator", "e1"]
    assert (one.model_index, two.model_index) == (0, 1)
    assert one.queue is two.queue


def test_a_pause_of_one_endpoint_is_not_that_of_another(counters: Counters) -> None:
    """The queue of an endpoint looks at its own place on the counters."""
    routes = context(counters, {"e2": OTHER}).routes
    counters.pause(routes["evaluator", "e2"].endpoint_index, 1000.0)
    assert routes["evaluator", "e2"].queue.paused_until() == 1000.0
    assert routes["subject", "m"].queue.paused_until() == 0.0


def test_tokens_cost_what_the_price_says(counters: Counters) -> None:
    """In nano-dollars; a model without a price costs nothing."""
    for options, cost in (
        ({}, 0),
        ({"price_input": "3", "price_output": "15"}, (3 * 100 + 15 * 10) * NANO // 10**6),
    ):
        routes = context(counters, {}, subject="nobody-knows-this-model", **options).routes
        route = routes["subject", "nobody-knows-this-model"]
        assert route.cost(Usage(input=100, output=10)) == cost
