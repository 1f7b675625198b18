"""Has evaluators judge anchors, and keeps what that says of them. Interrupted, the same call goes on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.settings import Settings
from equipoise.core.types import JSON
from equipoise.judge.anchors import Anchor, Anchors, Design
from equipoise.judge.judge import JobModels
from equipoise.judge.rubric import Rubric
from equipoise.models.counters import CounterSnapshot
from equipoise.results import audits, store
from equipoise.results.totals import Answering
from equipoise.runner.anchors import judged_by, selected
from equipoise.runner.jobs import Job, open_jobs
from equipoise.suites import AnySuite

Given = dict[str, list[dict[str, JSON]]]
"""What each evaluator that could be reached made of an anchor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorAudit:
    """The audit of one evaluator, and where it is kept; None of both as long as verdicts are `missing`."""

    evaluator: str
    said: Mapping[str, JSON] | None = None
    path: Path | None = None
    missing: int = 0


def audit(
    suite: AnySuite,
    rubric: Rubric,
    anchors: Anchors,
    design: Design,
    settings: Settings,
    folder: Path,
    *,
    is_fresh: bool = False,
    on_done: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[list[EvaluatorAudit], CounterSnapshot]:
    """Audit every evaluator of the settings, and write a file for each below `folder`. Raises UserError."""
    chosen = selected(anchors, design)
    if not chosen:
        raise UserError(f"{suite.name}: there are no anchors for an audit of this extent")
    log = (
        folder / audits.FOLDER / f"{store.file_name('+'.join(settings.evaluator_models))}.{suite.name}.jsonl"
    )
    wanted = [
        _job(suite, rubric, anchor, repeat)
        for anchor in chosen
        for repeat in range(design.repeats(anchor.kind))
    ]
    with open_jobs(settings, log, is_fresh=is_fresh, tell=tell) as session:
        found = [{} if isinstance(given, CallFailed) else given for given in session.run(wanted, on_done)]
        totals, seen = session.totals, session.seen
    every = [
        _audited(suite, rubric, anchors, design, name, settings, found, seen, folder, is_new=totals.made > 0)
        for name in settings.evaluator_models
    ]
    return every, totals


def _job(suite: AnySuite, rubric: Rubric, anchor: Anchor, repeat: int) -> Job[Given]:
    return Job(name=f"{anchor.id}-{repeat}", do=partial(_judge, suite, rubric, anchor, repeat))


async def _judge(suite: AnySuite, rubric: Rubric, anchor: Anchor, repeat: int, models: JobModels) -> Given:
    found: Given = {}
    for item in models.evaluators:
        # One that cannot be reached has no verdict; the others have theirs.
        with suppress(CallFailed):
            found[item.name] = await judged_by(suite, rubric, anchor, repeat, item)
    return found


def _audited(
    suite: AnySuite,
    rubric: Rubric,
    anchors: Anchors,
    design: Design,
    evaluator: str,
    settings: Settings,
    found: Sequence[Given],
    seen: Collection[Answering],
    folder: Path,
    *,
    is_new: bool,
) -> EvaluatorAudit:
    """The audit of one evaluator, which is kept only if no verdict is missing; replayed, with its date."""
    lines = [given[evaluator] for given in found if evaluator in given]
    if len(lines) < len(found):
        return EvaluatorAudit(evaluator=evaluator, missing=len(found) - len(lines))
    said: dict[str, JSON] = {
        "state": audits.COMPLETE,
        "extent": design.name,
        "topics": len({line["topic"] for line in chain.from_iterable(lines)}),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "verdicts": len(lines),
        "planned": len(found),
        "rubric_version": rubric.version,
        "rubric_hash": rubric.hash,
        "anchors_hash": anchors.hash,
        "response_models": audits.models(row[2:] for row in seen if row[:2] == ("evaluator", evaluator)),
        "sampling": settings.evaluator.parameters(),
        "system_prompt": settings.evaluator.system_prompt,
        **audits.concluded(suite, list(chain.from_iterable(lines)), anchors.order),
    }
    earlier = () if is_new else audits.kept(folder, evaluator, suite.name)
    same = next((item for item in earlier if audits.is_same(item, said)), None)
    said |= {} if same is None else {"finished": same["finished"]}
    path = audits.keep(folder, evaluator, suite.name, said)
    return EvaluatorAudit(evaluator=evaluator, said=said, path=path)
