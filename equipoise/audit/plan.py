"""The plan of an audit: which anchors an evaluator judges and how often, and the rows of each verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise import suites
from equipoise.core.errors import CallFailed, UserError
from equipoise.core.settings import Settings
from equipoise.core.types import Call, Foreseen, Reply
from equipoise.judge.anchors import Anchor, Anchors, Design, Judged
from equipoise.judge.judge import Evaluator
from equipoise.judge.rubric import Rubric
from equipoise.results import audits
from equipoise.suites import AnySuite
from equipoise.suites.audits import SuiteAudit

if TYPE_CHECKING:
    from equipoise.judge.anchors import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """The plan of an audit: the anchors of a suite, and the design, which selects the anchors to judge.

    `audited` is the suite's own part: how anchors are loaded, judged and turned into checks.
    """

    suite: AnySuite
    audited: SuiteAudit[Any]
    rubric: Rubric
    anchors: Anchors
    design: Design

    @property
    def judged_anchors(self) -> list[Anchor]:
        """The anchors that are judged."""
        return select_anchors(self.anchors, self.design)

    def runs(self) -> list[AnchorRun]:
        """The verdicts to get: each anchor as often as it is judged."""
        return [
            AnchorRun(audited=self.audited, rubric=self.rubric, anchor=anchor, repeat=repeat)
            for anchor in self.judged_anchors
            for repeat in range(self.design.repeats(anchor.kind))
        ]

    @property
    def repeats(self) -> dict[str, int]:
        """How often each anchor is judged, by its id."""
        return {anchor.id: self.design.repeats(anchor.kind) for anchor in self.judged_anchors}

    def possible_checks(self) -> Sequence[Check]:
        """The checks that the audit will have, for their names and units; their figures mean nothing."""
        rows = [
            row
            for run in self.runs()
            for row in run.rows({name: (low + high) / 2 for name, (low, high) in run.anchor.bounds.items()})
        ]
        return audits.checks(self.audited, rows, self.anchors.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorRun:
    """One judgement of an anchor; `repeat` numbers the judgements of the same anchor from 0."""

    audited: SuiteAudit[Any]
    rubric: Rubric
    anchor: Anchor
    repeat: int

    @property
    def id(self) -> str:
        """The name of the run, unique in an audit."""
        return f"{self.anchor.id}-{self.repeat}"

    async def judge(self, evaluator: Evaluator) -> list[Judged]:
        """The rows of this evaluator's verdict; scores are None if the verdict is invalid or declined.

        Raises CallFailed if the evaluator cannot be reached.
        """
        try:
            scores = await self.audited.judge(self.anchor, self.rubric, evaluator)
        except CallFailed as failure:
            if failure.stops_session:
                raise
            scores = {}
        return self.rows(scores)

    def rows(self, scores: Mapping[str, float | None]) -> list[Judged]:
        """The rows of a verdict, one for each of its scores (`aspect`); missing scores are None."""
        return [
            Judged(
                topic=self.anchor.topic,
                language=self.anchor.language,
                kind=self.anchor.kind,
                repeat=self.repeat,
                score=scores.get(aspect),
                low=low,
                high=high,
                host=self.anchor.host,
                aspect=aspect,
            )
            for aspect, (low, high) in self.anchor.bounds.items()
        ]

    async def foreseen(self, evaluator: str, settings: Settings) -> list[Foreseen]:
        """The calls of the verdict if the first answer is accepted."""
        calls: list[Foreseen] = []

        async def record(call: Call) -> Reply:
            prompt = "\n".join(message["content"] for message in call.messages)
            calls.append(Foreseen(role="evaluator", prompt=prompt))
            return Reply(text="")

        stand_in = Evaluator(evaluator, settings.evaluator, record, attempts=1, code=_placeholder_code)
        await self.audited.judge(self.anchor, self.rubric, stand_in)
        return calls


def _placeholder_code(model: str) -> str:
    # As long as the random codes that delimit untrusted text in prompts.
    return "0" * 16


def auditable_suites() -> list[str]:
    """The names of the suites whose evaluators can be audited."""
    return [name for name in suites.loadable() if suites.load(name).audit is not None]


def plan_audit(
    suite: AnySuite, rubric: Rubric, folder: Path, topics: Path, extent: str, limit: int | None = None
) -> AuditPlan | None:
    """The plan with the anchors in `folder` on the questions in `topics`; None for a suite without anchors.

    `limit` is the number of topics, by default all. Raises UserError if the anchors do not fit the rubric.
    """
    if suite.audit is None:
        return None
    design = suite.audit.designs[extent]
    if limit is not None:
        # With another name, no session takes this for an audit of the whole extent.
        design = replace(design, name=f"{extent}, first {limit}", topics=limit)
    anchors = suite.audit.load(folder, topics, rubric)
    plan = AuditPlan(
        suite=suite,
        audited=suite.audit,
        rubric=rubric,
        anchors=anchors,
        design=design,
    )
    if not plan.judged_anchors:
        raise UserError(f"{suite.name}: there are no anchors for an audit of this extent")
    return plan


def select_anchors(anchors: Anchors, design: Design) -> list[Anchor]:
    """The anchors of a design: texts of its kinds, then some injections (commands hidden in such texts)."""
    topics = list(dict.fromkeys(item.topic for item in anchors.texts))[: design.topics]
    candidates = [item for item in anchors.texts if item.topic in topics]
    texts = [
        item for item in candidates if item.host is None and (not design.kinds or item.kind in design.kinds)
    ]
    kinds = {item.kind for item in texts}
    return texts + [item for item in candidates if item.host in kinds][: design.injections]
