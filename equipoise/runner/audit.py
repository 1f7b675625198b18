"""Has evaluators judge anchors, and keeps what that says of them. Interrupted, the same call goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from equipoise.audit.checks import lean_by_language
from equipoise.audit.design import Design
from equipoise.audit.judged import Check, Judged
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.settings import Settings
from equipoise.core.types import JSON
from equipoise.judge.anchors import Anchor, Anchors
from equipoise.judge.judge import JobModels
from equipoise.judge.rubric import Rubric
from equipoise.models.counters import Totals
from equipoise.results import store
from equipoise.runner.jobs import Job, open_jobs
from equipoise.suites import AnySuite

FOLDER = "audits"
"""The folder below that of the results."""
VERSION = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """The checks of one evaluator, and where they are kept."""

    evaluator: str
    checks: tuple[Check, ...]
    by_language: Mapping[str, Check]
    path: Path


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
) -> tuple[list[Audited], Totals]:
    """Audit every evaluator of the settings, and write a file for each below `folder`. Raises UserError."""
    chosen = selected(anchors, design)
    if not chosen:
        raise UserError(f"{suite.NAME}: there are no anchors for an audit of this extent")
    log = folder / FOLDER / f"{store.file_name('+'.join(settings.evaluator_models))}.{suite.NAME}.jsonl"
    times = [(anchor, repeat) for anchor in chosen for repeat in range(design.repeats(anchor.kind))]
    wanted = [_job(suite, rubric, anchor, repeat) for anchor, repeat in times]
    with open_jobs(settings, log, is_fresh=is_fresh, tell=tell) as session:
        found = session.run(wanted, on_done)
        scores = [{} if isinstance(scores, CallFailed) else scores for scores in found]
        totals = session.totals
    audited = [
        _audited(
            suite,
            rubric,
            anchors,
            design,
            name,
            [
                row
                for (anchor, repeat), given in zip(times, scores, strict=True)
                for row in judged(anchor, repeat, given.get(name, {}))
            ],
            folder,
        )
        for name in settings.evaluator_models
    ]
    return audited, totals


def selected(anchors: Anchors, design: Design) -> list[Anchor]:
    """The anchors of a design: texts of its kinds, and the first injections whose hosts are among them."""
    topics = list(dict.fromkeys(item.topic for item in anchors.texts))[: design.topics]
    known = [item for item in anchors.texts if item.topic in topics]
    texts = [item for item in known if item.host is None and (not design.kinds or item.kind in design.kinds)]
    kinds = {item.kind for item in texts}
    return texts + [item for item in known if item.host in kinds][: design.injections]


Given = dict[str, Mapping[str, float | None]]
"""The numbers of a verdict, by evaluator."""


def _job(suite: AnySuite, rubric: Rubric, anchor: Anchor, repeat: int) -> Job[Given]:
    return Job(name=f"{anchor.id}-{repeat}", do=partial(_judge, suite, rubric, anchor))


async def _judge(suite: AnySuite, rubric: Rubric, anchor: Anchor, models: JobModels) -> Given:
    assert suite.audit is not None
    return {item.name: await suite.audit.judge(anchor, rubric, item) for item in models.evaluators}


def judged(anchor: Anchor, repeat: int, scores: Mapping[str, float | None]) -> list[Judged]:
    """The numbers of one verdict beside what is known of them; those that are missing are None."""
    return [
        Judged(
            topic=anchor.topic,
            language=anchor.language,
            kind=anchor.kind,
            repeat=repeat,
            score=scores.get(aspect),
            low=low,
            high=high,
            host=anchor.host,
            aspect=aspect,
        )
        for aspect, (low, high) in anchor.bounds.items()
    ]


def _audited(
    suite: AnySuite,
    rubric: Rubric,
    anchors: Anchors,
    design: Design,
    evaluator: str,
    judged: Sequence[Judged],
    folder: Path,
) -> Audited:
    assert suite.audit is not None
    found = suite.audit.checks(judged, anchors)
    by_language = {name: check for name, check in lean_by_language(judged).items() if check.n}
    path = folder / FOLDER / f"{store.file_name(evaluator)}.{suite.NAME}.json"
    content: dict[str, JSON] = {
        "version": VERSION,
        "evaluator": evaluator,
        "suite": suite.NAME,
        "extent": design.name,
        "topics": len({item.topic for item in judged}),
        "rubric_version": rubric.version,
        "rubric_hash": rubric.hash,
        "anchors_hash": anchors.hash,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "verdicts": len(judged),
        "checks": [
            {**asdict(check), "is_fault": check.is_fault, "is_by_chance": check.is_by_chance}
            for check in found
        ],
        "lean_by_language": {language: asdict(check) for language, check in by_language.items()},
        "judged": [asdict(item) for item in judged],
    }
    store.write_json(path, content)
    return Audited(evaluator=evaluator, checks=found, by_language=by_language, path=path)
