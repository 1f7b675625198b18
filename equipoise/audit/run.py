"""Audits outside of pytest sessions: evaluators judge anchors, and the checks are saved.

An interrupted audit is continued by the same call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from equipoise.audit import files
from equipoise.audit.plan import AnchorRun, AuditPlan
from equipoise.core.errors import CallFailed
from equipoise.core.settings import Settings
from equipoise.judge.anchors import Judged
from equipoise.judge.judge import JobModels
from equipoise.models.counters import CounterSnapshot
from equipoise.results import audits, store
from equipoise.results.totals import ReportedModel
from equipoise.runner.jobs import Job, open_jobs

if TYPE_CHECKING:
    from equipoise.results.document import Audit, Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOutcome:
    """The audit of one evaluator and its file; both None if verdicts are `missing`."""

    evaluator: str
    audit: Audit | None = None
    path: Path | None = None
    missing: int = 0


def run_audit(
    plan: AuditPlan,
    settings: Settings,
    folder: Path,
    *,
    is_fresh: bool,
    on_done: Callable[[], None],
    tell: Callable[[str], None],
) -> tuple[list[AuditOutcome], CounterSnapshot]:
    """Audit every evaluator of the settings, and write a file for each below `folder`. Raises UserError.

    `on_done` is called after each anchor, and `tell` with each notice. Returns an outcome for each evaluator,
    and the counts of calls.
    """
    file_name = store.file_name("+".join(settings.evaluator_models))
    journal = folder / audits.FOLDER / f"{file_name}.{plan.suite.name}.jsonl"
    jobs = [Job(name=run.id, do=partial(_judge_anchor, run)) for run in plan.runs()]
    with open_jobs(settings, journal, is_fresh=is_fresh, tell=tell) as session:
        results = [{} if isinstance(item, CallFailed) else item for item in session.run(jobs, on_done)]
        totals, reported_models = session.totals, session.reported_models
    outcomes = [
        _outcome(plan, name, settings, results, reported_models, folder, is_new=totals.made > 0)
        for name in settings.evaluator_models
    ]
    return outcomes, totals


async def _judge_anchor(run: AnchorRun, models: JobModels) -> dict[str, list[Judged]]:
    """The numbers of each evaluator's verdict, by name; evaluators that cannot be reached are left out."""
    numbers: dict[str, list[Judged]] = {}
    for evaluator in models.evaluators:
        with suppress(CallFailed):
            numbers[evaluator.name] = await run.judge(evaluator)
    return numbers


def _outcome(
    plan: AuditPlan,
    evaluator: str,
    settings: Settings,
    results: Sequence[Mapping[str, list[Judged]]],
    reported_models: Collection[ReportedModel],
    folder: Path,
    *,
    is_new: bool,
) -> AuditOutcome:
    """The audit of one evaluator, saved only if no verdict is missing. A replayed audit retains its date."""
    verdicts = [by_evaluator[evaluator] for by_evaluator in results if evaluator in by_evaluator]
    if len(verdicts) < len(results):
        return AuditOutcome(evaluator=evaluator, missing=len(results) - len(verdicts))
    # After role and name, a row has what the endpoint reported about the model that answered.
    models = [row[2:] for row in reported_models if row[:2] == ("evaluator", evaluator)]
    audit = audits.make(
        plan.suite,
        "kept",
        verdicts,
        models,
        plan.anchors.order,
        extent=plan.design.name,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        planned=len(verdicts),
        rubric_version=plan.rubric.version,
        rubric_hash=plan.rubric.hash,
        anchors_hash=plan.anchors.hash,
        sampling=cast("Sampling", settings.evaluator.to_json()),
        system_prompt=settings.evaluator.system_prompt,
    )
    earlier = () if is_new else files.read(folder, evaluator, plan.suite.name)
    if alike := next((item for item in earlier if files.is_alike(item, audit)), None):
        audit["finished"] = alike["finished"]
    path = files.write(folder, evaluator, plan.suite.name, audit)
    return AuditOutcome(evaluator=evaluator, audit=audit, path=path)
