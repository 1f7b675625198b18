"""Interprets the findings of `equipoise check` for each suite, and estimates whole sessions.

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
    models: Sequence[CheckedModel],
    extra_jobs: ExtraJobs,
) -> tuple[list[CheckedSuite], CheckedTotal]:
    """The findings about each suite, and the total of sessions of all suites that can be run."""
    by_suite = {name: _from_scratch(suite_settings) for name, suite_settings in settings.suites.items()}
    plan = Plan(replace(_from_scratch(settings), suites=by_suite), root, extra_jobs)
    forecasts = {name: _session_forecast(plan, name, models) for name in names}
    suites = [_checked_suite(plan, name, forecast, models) for name, forecast in forecasts.items()]
    known = [forecast for forecast in forecasts.values() if isinstance(forecast, _SessionForecast)]
    total = _SessionForecast(
        estimate=together(forecast.estimate for forecast in known),
        seconds=_sum([forecast.seconds for forecast in known]),
    )
    return suites, CheckedTotal(
        suites=len(known),
        session=total.in_short(),
        basis=_time_basis(settings, models),
        figures=total.figures(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionForecast:
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


def _session_forecast(plan: Plan, name: str, models: Sequence[CheckedModel]) -> _SessionForecast | UserError:
    """The forecast of a whole session of a suite, or the error that prevents the session."""
    latencies = {(role, model.model): model.support.latency for model in models for role in model.roles}
    try:
        estimate = of_session(plan, name, {run.id for run in plan.within_limit(name, plan.runs(name))})
    except UserError as error:
        return error
    ranges = [
        _seconds(item, latencies["evaluator" if item.role == AUDIT else item.role, item.model], plan.settings)
        for item in estimate.items
    ]
    return _SessionForecast(estimate=estimate, seconds=_sum(ranges))


def _sum(ranges: Sequence[Range | None]) -> Range | None:
    """The sum of these ranges; None if one is unknown."""
    known_ranges = [item for item in ranges if item is not None]
    return sum(known_ranges, NOTHING) if len(known_ranges) == len(ranges) else None


def _seconds(item: Item, latency: float | None, settings: Settings) -> Range | None:
    """The seconds that a model's calls take with as many in flight as possible.

    `latency` is that of a short call, in seconds; None if the model did not answer.
    """
    if latency is None:
        return None
    return seconds_of(item.use.calls.value, item.use.output, latency) / _calls_in_flight(settings, item.model)


def _calls_in_flight(settings: Settings, model: str) -> int:
    """The largest number of calls of a model in flight; the built-in server has a limit of its own."""
    return min(settings.concurrency, PARALLEL) if is_local(model) else settings.concurrency


def _time_basis(settings: Settings, models: Sequence[CheckedModel]) -> str:
    """The assumptions behind the estimated time, as text."""
    latencies = ", ".join(
        f"{model.model} {model.support.latency:.1f} s"
        for model in models
        if model.support.latency is not None
    )
    in_flight = " or ".join(
        f"{calls}" for calls in dict.fromkeys(_calls_in_flight(settings, model.model) for model in models)
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
    plan: Plan, name: str, forecast: _SessionForecast | UserError, models: Sequence[CheckedModel]
) -> CheckedSuite:
    support = {(role, model.model): model.support for model in models for role in model.roles}
    models_by_meaning: dict[str, list[str]] = {}
    settings = plan.settings.of(name)
    if support["subject", settings.model or ""].error is not None:
        models_by_meaning["cannot be asked, as it does not answer"] = [settings.model or ""]
    try:
        form = plan.load(name).suite.judging.form
        for model in settings.evaluator_models:
            phrase = meaning(form or "json", support["evaluator", model])
            models_by_meaning.setdefault(phrase, []).append(model)
    except UserError as error:
        forecast = error
    if isinstance(forecast, UserError):
        session, figures = str(forecast), {"error": str(forecast)}
    else:
        session, figures = forecast.in_short(), forecast.figures()
    return CheckedSuite(suite=name, models_by_meaning=models_by_meaning, session=session, figures=figures)
