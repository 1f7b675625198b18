"""What the models' support, as `equipoise check` measured it, means for suites, and what sessions take.

Makes no call. A session's cost and time are estimated as if nothing were done yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.quantities import duration, span
from equipoise.core.settings import Settings, is_local
from equipoise.core.types import JSON
from equipoise.models.local import PARALLEL
from equipoise.report.check import CheckedModel, CheckedSuite, CheckedTotal, meaning
from equipoise.runner.estimate import (
    ASSUMED_SPEED,
    AUDIT,
    NOTHING,
    Item,
    Range,
    SessionEstimate,
    of_session,
    seconds_of,
    together,
)
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.plan import Plan


def checked_suites(
    settings: Settings,
    root: Path,
    names: Sequence[str],
    checked: Sequence[CheckedModel],
    extra_jobs: ExtraJobs,
) -> tuple[list[CheckedSuite], CheckedTotal]:
    """The findings about each suite, and the total of sessions of all suites that can be run."""
    by_suite = {name: _from_scratch(suite_settings) for name, suite_settings in settings.suites.items()}
    plan = Plan(replace(_from_scratch(settings), suites=by_suite), root, extra_jobs)
    costs = {name: _session_cost(plan, name, checked) for name in names}
    items = [_checked_suite(plan, name, cost, checked) for name, cost in costs.items()]
    known = [cost for cost in costs.values() if isinstance(cost, _SessionCost)]
    total = _SessionCost(
        estimate=together(cost.estimate for cost in known),
        seconds=_sum([cost.seconds for cost in known]),
    )
    return items, CheckedTotal(
        suites=len(known),
        session=total.in_short(),
        basis=_time_basis(settings, checked),
        figures=total.figures(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionCost:
    """The estimate of a whole session, and its duration in seconds; None if a model does not answer."""

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


def _session_cost(plan: Plan, name: str, checked: Sequence[CheckedModel]) -> _SessionCost | UserError:
    """The cost of a whole session of a suite, or the error that prevents it."""
    latencies = {(role, item.model): item.support.latency for item in checked for role in item.roles}
    try:
        estimate = of_session(plan, name, {run.id for run in plan.runs(name)})
    except UserError as error:
        return error
    ranges = [
        _seconds(item, latencies["evaluator" if item.role == AUDIT else item.role, item.model], plan.settings)
        for item in estimate.items
    ]
    return _SessionCost(estimate=estimate, seconds=_sum(ranges))


def _sum(ranges: Sequence[Range | None]) -> Range | None:
    """The sum of these ranges; None if one is unknown."""
    known = [item for item in ranges if item is not None]
    return sum(known, NOTHING) if len(known) == len(ranges) else None


def _seconds(item: Item, latency: float | None, settings: Settings) -> Range | None:
    """The seconds that a model's calls take with as many in flight as possible.

    `latency` is that of a short call, in seconds; None if the model did not answer.
    """
    if latency is None:
        return None
    return seconds_of(item.use.calls.value, item.use.output, latency) / _in_flight(settings, item.model)


def _in_flight(settings: Settings, model: str) -> int:
    """The largest number of calls of a model in flight; the built-in server has a limit of its own."""
    return min(settings.concurrency, PARALLEL) if is_local(model) else settings.concurrency


def _time_basis(settings: Settings, checked: Sequence[CheckedModel]) -> str:
    """The assumptions behind the estimated time, as text."""
    latencies = ", ".join(
        f"{item.model} {item.support.latency:.1f} s" for item in checked if item.support.latency is not None
    )
    in_flight = " or ".join(
        f"{n}" for n in dict.fromkeys(_in_flight(settings, item.model) for item in checked)
    )
    (_, likely), (_, fast), (_, slow) = ASSUMED_SPEED
    return (
        f"{in_flight} calls in flight, each as long as the first call here "
        f"({latencies or 'none answered'}) and {likely:g} tokens a second ({slow:g} to {fast:g}); "
        "a rate limit may make it longer"
    )


def _from_scratch(settings: Settings) -> Settings:
    """The settings for an estimate of a whole session, which ignores earlier ones."""
    return replace(settings, fresh=True, estimate=True)


def _checked_suite(
    plan: Plan, name: str, cost: _SessionCost | UserError, checked: Sequence[CheckedModel]
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
        cost = error
    if isinstance(cost, UserError):
        return CheckedSuite(
            suite=name, models_by_meaning=means, session=str(cost), figures={"error": str(cost)}
        )
    return CheckedSuite(suite=name, models_by_meaning=means, session=cost.in_short(), figures=cost.figures())
