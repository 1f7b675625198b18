"""Evaluates one run, from its case to its record, or does one job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from equipoise.core.errors import CallFailed
from equipoise.core.records import Choice, Record, Score, Verdict
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Cue, Exchange, Message, Reply, Run, sort_by_model, transcripts
from equipoise.judge.judge import Evaluator, JobModels, Panel
from equipoise.models.model import Subject
from equipoise.runner.calls import Deadline
from equipoise.runner.loading import LoadedSuite
from equipoise.suites import askers
from equipoise.suites.shared_options import LABEL_SAMPLES

T = TypeVar("T")


class CallsOfRun(Protocol):
    """The calls of one run or job, as `RunCalls` makes them."""

    exchanges: list[Exchange]
    deadline: Deadline
    queued: float

    def code(self, *parts: str) -> str:
        """The one-time code for these parts."""

    async def __call__(self, call: Call) -> Reply:
        """The reply to a call. Raises CallFailed or SessionStopped."""


async def run_case(
    loaded: LoadedSuite,
    run: Run,
    calls: CallsOfRun,
    on_judged: Callable[[str, Sequence[Verdict | Choice]], None] = lambda evaluator, verdicts: None,
) -> tuple[Record, list[str]]:
    """Evaluate a run. Returns its record and the ids of its calls.

    A model's failure is part of the record, not an exception. Raises SessionStopped, or the exception of a
    bug. `on_judged` is called with the name of each evaluator that was asked, and its verdicts or choices.
    """
    settings = loaded.settings
    subject, evaluators = models(calls, settings, run.asker)
    panel = Panel(evaluators, keeps_going=settings.keep_going)
    try:
        async with calls.deadline:
            score = await loaded.suite.evaluate(run.case, loaded.rubric, subject, panel)
    except CallFailed as failure:
        score = Score(outcome="error", value=None, error=str(failure))
    except TimeoutError:
        if not calls.deadline.is_over:
            raise
        message = f"the run took longer than --case-timeout {settings.case_timeout:g}"
        score = Score(outcome="error", value=None, error=message)
    for evaluator, verdicts in panel.answers.items():
        on_judged(evaluator, verdicts)
    exchanges = sort_by_model(calls.exchanges, settings.evaluator_models)
    return _record(run, score, exchanges, calls.queued), [exchange.id for exchange in exchanges]


async def do_job(do: Callable[[JobModels], Awaitable[T]], calls: CallsOfRun, settings: Settings) -> T:
    """Do a job with these calls, within their time limit, and return its result. Raises CallFailed."""
    model, evaluators = models(calls, settings)
    # Codes of evaluators begin with their names, so no code of the job equals an evaluator's.
    code = partial(calls.code, "")
    try:
        async with calls.deadline:
            return await do(JobModels(model=model, evaluators=evaluators, code=code))
    except TimeoutError:
        if not calls.deadline.is_over:
            raise
        raise CallFailed(f"took longer than {settings.case_timeout:g} s") from None


def models(calls: CallsOfRun, settings: Settings, cue: Cue | None = None) -> tuple[Subject, list[Evaluator]]:
    """The subject and the evaluators of a run or job. The cue is put before the subject's prompts."""
    subject = Subject(settings.model or "", settings.subject, calls, cue)
    evaluators = [
        Evaluator(
            name,
            settings.evaluator,
            calls,
            attempts=settings.evaluator_attempts,
            code=calls.code,
            label_samples=settings.option(LABEL_SAMPLES),
        )
        for name in settings.evaluator_models
    ]
    return subject, evaluators


def _record(run: Run, score: Score, exchanges: list[Exchange], queued: float) -> Record:
    return Record(
        case=run.case.to_json(),
        run=run.number,
        outcome=score.outcome,
        score=score.value,
        percent=score.percent,
        error=score.error,
        verdicts=score.verdicts,
        details=score.details,
        latency=round(sum(item.reply.latency for item in exchanges), 3),
        queued=round(queued, 3),
        asker=run.asker,
        names_asker=_names_asker(run.asker, exchanges) if run.asker else None,
        subject=transcripts(item for item in exchanges if item.call.role == "subject"),
        evaluators=transcripts(item for item in exchanges if item.call.role == "evaluator"),
    )


def _names_asker(cue: Cue, exchanges: list[Exchange]) -> bool:
    """Whether any reply of the subject mentions the asker."""
    return any(
        askers.names_asker(cue, _without_cue(cue, exchange.call.messages), exchange.reply.text)
        for exchange in exchanges
        if exchange.call.role == "subject"
    )


def _without_cue(cue: Cue, messages: Sequence[Message]) -> str:
    return "\n".join(item["content"].removeprefix(cue.text) for item in messages if item["role"] == "user")
