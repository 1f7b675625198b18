"""`equipoise check`: makes a few short calls to the models of a session, to find what endpoints support.

Writes no journal. An endpoint's failure is part of the findings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equipoise.core.settings import Endpoint, Settings, is_local, public_url
from equipoise.core.types import JSON, Call, Message, Reply, Role
from equipoise.models import prices, probe
from equipoise.models.failures import Failure
from equipoise.models.local import LocalServers
from equipoise.models.parameter_changes import ParameterChange
from equipoise.models.probe import EndpointReport, Support
from equipoise.models.proxies import refuse_proxies
from equipoise.models.redact import Secrets
from equipoise.report.check import CheckedModel
from equipoise.report.header import BUILT_IN

if TYPE_CHECKING:
    from equipoise.models.client import Client

MAX_RETRIES, MAX_SECONDS = 2, 120.0
"""Upper bounds on the retries and the timeout of a call: the user waits for the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A model to probe: once, in its first role, if one endpoint serves it in both roles."""

    model: str
    roles: tuple[Role, ...]

    @property
    def role(self) -> Role:
        """The role in which the model is probed."""
        return self.roles[0]


def targets_of(settings: Settings) -> list[Target]:
    """The models of a session, the subject first."""
    subject, *panel = settings.models
    has_one_endpoint = is_local(subject) or settings.subject_endpoint == settings.evaluator_endpoint
    has_both_roles = subject in panel and has_one_endpoint
    roles: tuple[Role, ...] = ("subject", "evaluator") if has_both_roles else ("subject",)
    evaluators = [name for name in panel if not (has_both_roles and name == subject)]
    targets = [Target(model=name, roles=("evaluator",)) for name in evaluators]
    return [Target(model=subject, roles=roles), *targets]


def announcement(settings: Settings, targets: Sequence[Target]) -> str:
    """The message before the calls: their number, and their approximate cost."""
    tokens = {"input": probe.TOKENS_IN, "output": probe.TOKENS_OUT}
    costs = [
        prices.cost(target.model, settings.endpoint(target.role).base_url, tokens, settings.price)
        for target in targets
    ]
    known_cost = sum(filter(None, costs))
    cost = f"about {known_cost:.4f} USD" if known_cost else "free"
    if None in costs:
        cost = f"{cost} and models without a price" if known_cost else "no price is known"
    number = probe.CALLS * len(targets)
    models = "1 model" if len(targets) == 1 else f"{len(targets)} models"
    return (
        f"asking {models} {probe.CALLS} times each: {number} short calls, {cost}; "
        "models that think cost several times that"
    )


def probe_models(settings: Settings, targets: Sequence[Target]) -> list[CheckedModel]:
    """Call the models, and return them in order, with what they support and cost.

    Raises UserError if a built-in server cannot be started.
    """
    return [
        CheckedModel(
            model=target.model,
            roles=target.roles,
            endpoint=_shown_endpoint(settings, target),
            support=support,
            price=_price(settings, target),
        )
        for target, support in zip(targets, _probe_support(settings, targets), strict=True)
    ]


def _probe_support(settings: Settings, targets: Sequence[Target]) -> list[Support]:
    refuse_proxies(settings)
    servers = LocalServers()
    try:
        servers.start(target.model for target in targets)
        servers.wait_until_ready()
        return asyncio.run(_probe_all(settings, targets, servers))
    finally:
        servers.stop()


async def _probe_all(settings: Settings, targets: Sequence[Target], servers: LocalServers) -> list[Support]:
    from equipoise.models.client import Client

    reports = {(target.role, target.model): EndpointReport() for target in targets}
    secrets = Secrets(settings.secrets)

    def endpoint(role: Role, model: str) -> Endpoint:
        return servers.endpoint(model) or settings.endpoint(role)

    def learn(call: Call, change: ParameterChange) -> None:
        reason = secrets.mask(change.reason)
        reports[call.role, call.model].changes.append(replace(change, reason=reason))

    client = Client(
        endpoint,
        max_retries=min(settings.max_retries, MAX_RETRIES),
        timeout=min(settings.request_timeout, MAX_SECONDS),
        secrets=secrets,
        on_learned=learn,
        on_headers=lambda call, headers: reports[call.role, call.model].record_headers(
            secrets.mask({**headers})
        ),
    )
    try:
        return list(
            await asyncio.gather(
                *(_probe(client, target, settings, reports[target.role, target.model]) for target in targets)
            )
        )
    finally:
        await client.close()


async def _probe(client: Client, target: Target, settings: Settings, report: EndpointReport) -> Support:
    sampling = settings.sampling(target.role)

    async def send(messages: tuple[Message, ...], parameters: Mapping[str, JSON]) -> Reply:
        # Probes may have parameters of their own: if an endpoint rejects these, it is a finding.
        call = Call(
            role=target.role,
            model=target.model,
            messages=messages,
            parameters=parameters,
            is_stretched={**parameters} != sampling.parameters(),
        )
        return await client.complete(call, _UnlimitedSlot())

    return await probe.probe(send, sampling, report)


class _UnlimitedSlot(nullcontext[None]):
    """An `AttemptSlot` without any limit: it is entered at once and ignores how attempts end."""

    def succeed(self, reply: Reply) -> None:
        """Do nothing."""

    def fail(self, failure: Failure) -> None:
        """Do nothing."""


def _shown_endpoint(settings: Settings, target: Target) -> str:
    return BUILT_IN if is_local(target.model) else public_url(settings.endpoint(target.role).base_url)


def _price(settings: Settings, target: Target) -> tuple[float, float] | None:
    """USD per million input and output tokens; None without a price.

    Computed from 1000 tokens, as long calls may have a higher price.
    """
    base_url = settings.endpoint(target.role).base_url
    input_cost, output_cost = (
        prices.cost(target.model, base_url, {**prices.NO_TOKENS, kind: 1000}, settings.price)
        for kind in ("input", "output")
    )
    return None if input_cost is None or output_cost is None else (1000 * input_cost, 1000 * output_cost)
