"""`equipoise check`: asks the models of a session a few short calls, before it is paid for.

Writes no journal. An endpoint's failure is part of the findings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.core.durations import duration, span
from equipoise.core.errors import UserError
from equipoise.core.settings import Endpoint, Settings, is_local, public_url
from equipoise.core.types import JSON, Call, Message, Reply, Role
from equipoise.models import prices, probe
from equipoise.models.failures import Failure, ParameterChange
from equipoise.models.local import PARALLEL, LocalServers
from equipoise.models.probe import EndpointReport, Support
from equipoise.models.proxies import refuse_proxies
from equipoise.models.redact import Secrets
from equipoise.report.check import CheckedModel, CheckedSuite, CheckedTotal, meaning
from equipoise.report.header import BUILT_IN
from equipoise.runner.estimate import (
    ASSUMED_SPEED,
    AUDIT,
    NOTHING,
    Item,
    Range,
    SessionEstimate,
    of_session,
    seconds,
    together,
)
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.plan import Plan

if TYPE_CHECKING:
    from equipoise.models.client import Client

RETRIES, TIMEOUT = 2, 120.0
"""The most retries and seconds of a call: whoever checks wants to know soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A model to ask: in the first of its roles, where one endpoint serves it in both."""

    model: str
    roles: tuple[Role, ...]

    @property
    def role(self) -> Role:
        """The role in which it is asked."""
        return self.roles[0]


def targets(settings: Settings) -> list[Target]:
    """The models of a session, the subject first."""
    subject, *panel = settings.models
    is_shared = is_local(subject) or settings.subject_endpoint == settings.evaluator_endpoint
    is_both = subject in panel and is_shared
    first = Target(model=subject, roles=("subject", "evaluator") if is_both else ("subject",))
    others = [name for name in panel if not (is_both and name == subject)]
    return [first, *(Target(model=name, roles=("evaluator",)) for name in others)]


def announcement(settings: Settings, targets: Sequence[Target]) -> str:
    """The number of calls that will be made, and about what they cost."""
    tokens = {"input": probe.TOKENS_IN, "output": probe.TOKENS_OUT}
    costs = [
        prices.cost(item.model, settings.endpoint(item.role).base_url, tokens, settings.price)
        for item in targets
    ]
    known = sum(filter(None, costs))
    cost = f"about {known:.4f} USD" if known else "free"
    if None in costs:
        cost = f"{cost}, and what has no price" if known else "no price is known"
    number = probe.CALLS * len(targets)
    models = "1 model" if len(targets) == 1 else f"{len(targets)} models"
    return (
        f"asking {models} {probe.CALLS} times each: {number} short calls, {cost}; "
        "several times that of models that think"
    )


def ask(settings: Settings, targets: Sequence[Target]) -> list[Support]:
    """The support of each model, in order. Raises UserError if a built-in server cannot be started."""
    refuse_proxies(settings)
    servers = LocalServers()
    try:
        servers.start(item.model for item in targets)
        servers.wait_until_ready()
        return asyncio.run(_ask(settings, targets, servers))
    finally:
        servers.stop()


async def _ask(settings: Settings, targets: Sequence[Target], servers: LocalServers) -> list[Support]:
    from equipoise.models.client import Client

    reports = {(item.role, item.model): EndpointReport() for item in targets}
    secrets = Secrets(settings.secrets)

    def endpoint(role: Role, model: str) -> Endpoint:
        return servers.endpoint(model) or settings.endpoint(role)

    def learn(call: Call, change: ParameterChange) -> None:
        reason = secrets.mask(change.reason)
        reports[call.role, call.model].changes.append(replace(change, reason=reason))

    client = Client(
        endpoint,
        max_retries=min(settings.max_retries, RETRIES),
        timeout=min(settings.request_timeout, TIMEOUT),
        secrets=secrets,
        on_learned=learn,
        on_headers=lambda call, headers: reports[call.role, call.model].headers(secrets.mask({**headers})),
    )
    try:
        return list(
            await asyncio.gather(
                *(_probe(client, item, settings, reports[item.role, item.model]) for item in targets)
            )
        )
    finally:
        await client.close()


async def _probe(client: Client, target: Target, settings: Settings, report: EndpointReport) -> Support:
    async def send(messages: tuple[Message, ...], parameters: Mapping[str, JSON]) -> Reply:
        # More than the user has set, as a limit on tokens: a refusal is an answer and ends nothing.
        call = Call(
            role=target.role,
            model=target.model,
            messages=messages,
            parameters=parameters,
            is_stretched=True,
        )
        return await client.complete(call, _Unlimited())

    return await probe.probe(send, settings.sampling(target.role), report)


class _Unlimited(nullcontext[None]):
    """The `AttemptSlot` of calls that have no limit: entered at once, whatever becomes of attempts."""

    def succeed(self, reply: Reply) -> None:
        """Change nothing."""

    def fail(self, failure: Failure) -> None:
        """Change nothing."""


# What it means.


def models(settings: Settings, targets: Sequence[Target], supports: Sequence[Support]) -> list[CheckedModel]:
    """The models with what they support and cost."""
    return [
        CheckedModel(
            model=item.model,
            roles=item.roles,
            endpoint=_where(settings, item),
            support=support,
            price=_price(settings, item),
        )
        for item, support in zip(targets, supports, strict=True)
    ]


def _where(settings: Settings, target: Target) -> str:
    return BUILT_IN if is_local(target.model) else public_url(settings.endpoint(target.role).base_url)


def _price(settings: Settings, target: Target) -> tuple[float, float] | None:
    """USD per million tokens, in and out, from those of a short call: long ones may have another price."""
    base_url = settings.endpoint(target.role).base_url
    read, written = (
        prices.cost(target.model, base_url, {**prices.NO_TOKENS, kind: 1000}, settings.price)
        for kind in ("input", "output")
    )
    return None if read is None or written is None else (1000 * read, 1000 * written)


def suites(
    settings: Settings,
    root: Path,
    names: Sequence[str],
    checked: Sequence[CheckedModel],
    extra_jobs: ExtraJobs,
) -> tuple[list[CheckedSuite], CheckedTotal]:
    """Each suite, with what the models' support means for it and what a session takes; and the total."""
    each = {name: _afresh(own) for name, own in settings.suites.items()}
    plan = Plan(replace(_afresh(settings), suites=each), root, extra_jobs)
    by_suite = {name: _session(plan, name, checked) for name in names}
    items = [_suite(plan, name, session, checked) for name, session in by_suite.items()]
    sessions = [item for item in by_suite.values() if isinstance(item, _Session)]
    total = _Session(
        estimate=together(item.estimate for item in sessions),
        seconds=_sum([item.seconds for item in sessions]),
    )
    return items, CheckedTotal(
        suites=len(sessions),
        session=total.in_short(),
        basis=_basis(settings, checked),
        figures=total.figures(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """A whole session, and the seconds that it takes; None where a model does not answer."""

    estimate: SessionEstimate
    seconds: Range | None

    def in_short(self) -> str:
        """Runs, calls, cost and time in one line."""
        if self.seconds is None:
            return f"{self.estimate.in_short()}, time unknown"
        likely = duration(self.seconds.value)
        return f"{self.estimate.in_short()}, {likely} ({span(self.seconds.low, self.seconds.high)})"

    def figures(self) -> dict[str, JSON]:
        """The estimate as numbers."""
        cost = self.estimate.cost
        return {
            "runs": self.estimate.runs,
            "calls": asdict(self.estimate.calls),
            "cost_usd": None if cost is None else asdict(cost),
            "seconds": None if self.seconds is None else asdict(self.seconds),
        }


def _session(plan: Plan, name: str, checked: Sequence[CheckedModel]) -> _Session | UserError:
    """A whole session of a suite, or the error that rules it out."""
    waits = {(role, item.model): item.support.latency for item in checked for role in item.roles}
    try:
        estimate = of_session(plan, name, {run.id for run in plan.runs(name)})
    except UserError as error:
        return error
    spans = [
        _seconds(item, waits["evaluator" if item.role == AUDIT else item.role, item.model], plan.settings)
        for item in estimate.items
    ]
    return _Session(estimate=estimate, seconds=_sum(spans))


def _sum(spans: Sequence[Range | None]) -> Range | None:
    """The sum of spans of seconds; None if one is unknown."""
    known = [item for item in spans if item is not None]
    return sum(known, NOTHING) if len(known) == len(spans) else None


def _seconds(item: Item, wait: float | None, settings: Settings) -> Range | None:
    """The seconds that a model's calls take, as many in flight as the session allows."""
    if wait is None:
        return None
    return seconds(item.use.calls.value, item.use.output, wait) / _in_flight(settings, item.model)


def _in_flight(settings: Settings, model: str) -> int:
    """The most calls of a model that are answered at once; the built-in server takes only so many."""
    return min(settings.concurrency, PARALLEL) if is_local(model) else settings.concurrency


def _basis(settings: Settings, checked: Sequence[CheckedModel]) -> str:
    """The basis of the time, in words."""
    first = ", ".join(
        f"{item.model} {item.support.latency:.1f} s" for item in checked if item.support.latency is not None
    )
    in_flight = " or ".join(
        f"{n}" for n in dict.fromkeys(_in_flight(settings, item.model) for item in checked)
    )
    (_, likely), (_, fast), (_, slow) = ASSUMED_SPEED
    return (
        f"{in_flight} calls in flight, each as long as the first call here "
        f"({first or 'none answered'}) and {likely:g} tokens a second ({slow:g} to {fast:g}); "
        "a rate limit may make it longer"
    )


def _afresh(settings: Settings) -> Settings:
    """The settings of an estimate of everything, whatever is done already."""
    return replace(settings, fresh=True, estimate=True)


def _suite(
    plan: Plan, name: str, session: _Session | UserError, checked: Sequence[CheckedModel]
) -> CheckedSuite:
    by_role = {(role, item.model): item.support for item in checked for role in item.roles}
    means: dict[str, list[str]] = {}
    settings = plan.settings.of(name)
    if by_role["subject", settings.model or ""].error is not None:
        means["cannot be asked, as it does not answer"] = [settings.model or ""]
    try:
        form = plan.load(name).suite.verdict_form
        for model in settings.evaluator_models:
            means.setdefault(meaning(form, by_role["evaluator", model]), []).append(model)
    except UserError as error:
        session = error
    if isinstance(session, UserError):
        return CheckedSuite(suite=name, means=means, session=str(session), figures={"error": str(session)})
    return CheckedSuite(suite=name, means=means, session=session.in_short(), figures=session.figures())
