"""What all runs share: the way to each model, and the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from equipoise.core.settings import Endpoint, resolve
from equipoise.core.types import Role, Usage
from equipoise.models.budget import NANO
from equipoise.models.counters import Board
from equipoise.models.rate_limit import Limiter
from equipoise.runner.calls import Office
from equipoise.runner.office import open_office

ONE, OTHER = "http://one/v1", "http://other/v1"
MODELS = ("e1", "e2", "e3")


@pytest.fixture
def board() -> Board:
    """A board for a subject and three evaluators."""
    return Board(4)


def office(board: Board, places: Mapping[str, str], subject: str = "m", **options: Any) -> Office:
    """The office of a session whose models are reached there, else at ONE."""
    given = {"model": subject, "evaluator_model": list(MODELS), "concurrency": "8", **options}

    def reach(role: Role, model: str) -> Endpoint:
        return Endpoint(base_url=places.get(model, ONE), api_key="none")

    async def story() -> Office:
        opened = open_office(
            resolve(given, {}, {}),
            endpoint=reach,
            limiter=Limiter(8),
            board=board,
            logs=lambda: [],
        )
        await opened.client.close()
        return opened

    return asyncio.run(story())


def test_models_of_one_endpoint_share_its_queue(board: Board) -> None:
    """Whatever their role; a model at another endpoint has another queue."""
    ways = office(board, {"e2": OTHER}).ways
    queues = {model: ways[role, model].queue for role, model in ways}
    assert queues["m"] is queues["e1"] is queues["e3"]
    assert queues["e2"] is not queues["m"]


def test_models_are_numbered_in_their_order(board: Board) -> None:
    """The subject is 0; an endpoint has the number of the first model there, so no two are alike."""
    ways = office(board, {"e2": OTHER, "e3": OTHER}).ways
    found = {(role, model): (way.model, way.endpoint) for (role, model), way in ways.items()}
    assert found == {
        ("subject", "m"): (0, 0),
        ("evaluator", "e1"): (1, 0),
        ("evaluator", "e2"): (2, 2),
        ("evaluator", "e3"): (3, 2),
    }


def test_a_subject_that_judges_itself_has_two_ways(board: Board) -> None:
    """One model in two roles is counted in each; its endpoint is one."""
    ways = office(board, {}, subject="e1").ways
    one, two = ways["subject", "e1"], ways["evaluator", "e1"]
    assert (one.model, two.model) == (0, 1)
    assert one.queue is two.queue


def test_a_pause_of_one_endpoint_is_not_that_of_another(board: Board) -> None:
    """The queue of an endpoint looks at its own place on the board."""
    ways = office(board, {"e2": OTHER}).ways
    board.pause(ways["evaluator", "e2"].endpoint, 1000.0)
    assert ways["evaluator", "e2"].queue.paused_until() == 1000.0
    assert ways["subject", "m"].queue.paused_until() == 0.0


def test_the_first_limit_of_an_endpoint_comes_from_what_is_allowed(board: Board) -> None:
    """A quarter of the concurrency."""
    found = office(board, {}).ways["subject", "m"].queue.concurrency
    assert (found.ceiling, found.limit) == (8, 2)


@pytest.mark.parametrize(
    ("options", "cost"),
    [
        pytest.param({}, 0, id="unknown"),
        pytest.param(
            {"price_input": "3", "price_output": "15"}, (3 * 100 + 15 * 10) * NANO // 10**6, id="own"
        ),
    ],
)
def test_tokens_cost_what_the_price_says(board: Board, options: dict[str, str], cost: int) -> None:
    """In nano-dollars; a model without a price costs nothing."""
    way = office(board, {}, subject="nobody-knows-this-model", **options).ways[
        "subject", "nobody-knows-this-model"
    ]
    assert way.cost(Usage(input=100, output=10)) == cost


@pytest.mark.parametrize(
    ("options", "is_limited"), [({}, False), ({"max_calls": "5"}, True), ({"max_cost": "0.5"}, True)]
)
def test_the_budget_is_that_of_the_settings(board: Board, options: dict[str, str], is_limited: bool) -> None:
    """Without a limit there is none."""
    assert office(board, {}, **options).budget.is_limited is is_limited
