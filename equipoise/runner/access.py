"""The access of a session's calls to its models: client, budget, counters, and the route to each model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from equipoise.core.types import Role, Usage
from equipoise.models.budget import Budget
from equipoise.models.counters import Counters
from equipoise.models.rate_limit import EndpointQueue

if TYPE_CHECKING:
    from equipoise.models.client import Client


class Stop(Protocol):
    """Ends the session for a reason. `is_mistake` says that the user has to change something."""

    def __call__(self, reason: str, *, is_mistake: bool = False) -> None:
        """Let no further call begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The route to a model in a role.

    `model_index` and `endpoint_index` are indices in the counters, and `queue` is the endpoint's. `cost`
    returns the cost of tokens in nano-dollars, `cost_in_batch` their cost in a batch.
    """

    model_index: int
    endpoint_index: int
    base_url: str
    queue: EndpointQueue
    cost: Callable[[Usage], int]
    cost_in_batch: Callable[[Usage], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What every call needs. `stop` ends the session with a message for the user."""

    client: Client
    counters: Counters
    budget: Budget
    routes: Mapping[tuple[Role, str], Route]
    stop: Stop
