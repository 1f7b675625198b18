"""The verdicts of an audit: which anchors each evaluator judges, how often, and what a verdict says."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from equipoise.core.errors import CallFailed, UserError
from equipoise.core.settings import Settings
from equipoise.core.types import JSON, Call, Foreseen, Reply
from equipoise.judge.anchors import Anchor, Anchors
from equipoise.judge.judge import Evaluator
from equipoise.judge.rubric import Rubric
from equipoise.results import audits
from equipoise.results.history import History
from equipoise.runner import evaluate
from equipoise.runner.calls import RunCalls
from equipoise.runner.evaluate import SuiteContext
from equipoise.suites import AnySuite
from equipoise.suites.resources import nearest

if TYPE_CHECKING:
    from equipoise.judge.anchors import Design

R = TypeVar("R")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorVerdict:
    """One verdict of an audit: an evaluator's, on an anchor, for the nth time."""

    suite: str
    evaluator: str
    anchor: Anchor
    repeat: int

    @property
    def id(self) -> str:
        """What it is called in the journal; the evaluator never sees it."""
        return audits.verdict_name(self.evaluator, self.anchor.id, self.repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPlan:
    """The audit of a suite's evaluators to some extent."""

    suite: AnySuite
    anchors: Anchors
    design: Design

    @property
    def texts(self) -> list[Anchor]:
        """The anchors of this extent."""
        return selected(self.anchors, self.design)

    def verdicts(self, evaluator: str) -> list[AnchorVerdict]:
        """What this evaluator has to judge."""
        return [
            AnchorVerdict(suite=self.suite.name, evaluator=evaluator, anchor=anchor, repeat=repeat)
            for anchor in self.texts
            for repeat in range(self.design.repeats(anchor.kind))
        ]

    def to_json(self) -> dict[str, JSON]:
        """The content of its journal line: with the verdicts all that results need."""
        return {
            "extent": self.design.name,
            "anchors_hash": self.anchors.hash,
            "order": [list(pair) for pair in self.anchors.order],
            "anchors": {anchor.id: self.design.repeats(anchor.kind) for anchor in self.texts},
        }


def plan(suite: AnySuite, rubric: Rubric, root: Path, extent: str) -> AuditPlan:
    """The plan of an audit of this extent. Raises UserError if the anchors do not fit the rubric."""
    assert suite.audit is not None
    found = AuditPlan(suite=suite, anchors=load(suite, rubric, root), design=suite.audit.DESIGNS[extent])
    if not found.texts:
        raise UserError(f"--audit: {suite.name} has no anchors for an audit of this extent")
    return found


def load(suite: AnySuite, rubric: Rubric, root: Path) -> Anchors:
    """The anchors of a suite that has some: the project's own, or those shipped, with their questions."""
    assert suite.audit is not None
    folder = nearest(f"rubric/anchors/{suite.name}", root)
    return suite.audit.load(folder, folder.parents[2] / "topics" / suite.name, rubric)


def selected(anchors: Anchors, design: Design) -> list[Anchor]:
    """The anchors of a design: texts of its kinds, and the first injections whose hosts are among them."""
    topics = list(dict.fromkeys(item.topic for item in anchors.texts))[: design.topics]
    known = [item for item in anchors.texts if item.topic in topics]
    texts = [item for item in known if item.host is None and (not design.kinds or item.kind in design.kinds)]
    kinds = {item.kind for item in texts}
    return texts + [item for item in known if item.host in kinds][: design.injections]


def scattered(runs: Sequence[R], verdicts: Sequence[V], seed: str) -> list[R | V]:
    """The runs in their order, with the verdicts in a random one among them."""
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    keyed: list[tuple[float, R | V]] = [(place, item) for place, item in enumerate(runs)]
    keyed += [(chance.random() * len(runs), item) for item in chance.sample(verdicts, len(verdicts))]
    return [item for _, item in sorted(keyed, key=lambda entry: entry[0])]


def is_planned(found: AuditPlan, history: History, evaluators: Sequence[str]) -> bool:
    """Whether a journal has this plan, or another that is done and that this is a part of."""
    known, wanted = history.audit, found.to_json()
    if known is None or known.anchors_hash != wanted["anchors_hash"]:
        return False
    if known.anchors == wanted["anchors"]:
        return True
    is_part = all(known.anchors.get(name, 0) >= times for name, times in wanted["anchors"].items())
    return is_part and not any(audits.missing(history, name) for name in evaluators)


def left(found: AuditPlan, history: History, evaluator: str) -> list[AnchorVerdict]:
    """The verdicts of an evaluator that are not in the journal; those on other texts do not count."""
    is_same = history.audit is not None and history.audit.anchors_hash == found.anchors.hash
    known = history.anchors if is_same else {}
    return [item for item in found.verdicts(evaluator) if item.id not in known]


# One verdict.


async def judge(item: AnchorVerdict, context: SuiteContext, calls: RunCalls) -> dict[str, JSON]:
    """The content of a verdict's journal line. Raises CallFailed if the evaluator cannot be reached."""
    _, evaluators = evaluate.models(calls, context.settings)
    evaluator = next(found for found in evaluators if found.name == item.evaluator)
    try:
        async with calls.deadline:
            judged = await judged_by(context.suite, context.rubric, item.anchor, item.repeat, evaluator)
    except TimeoutError:
        if not calls.deadline.is_over:
            raise
        raise CallFailed(f"took longer than --case-timeout {context.settings.case_timeout:g}") from None
    replies = [exchange.reply for exchange in calls.exchanges]
    return {
        "run": item.id,
        "evaluator": item.evaluator,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "judged": judged,
        "seen": [
            list(row) for row in {(said.model, said.fingerprint, said.provider): None for said in replies}
        ],
        "calls": [exchange.id for exchange in calls.exchanges],
    }


async def judged_by(
    suite: AnySuite, rubric: Rubric, anchor: Anchor, repeat: int, evaluator: Evaluator
) -> list[dict[str, JSON]]:
    """The numbers of a verdict beside what is known of them; None where it is invalid.

    Raises CallFailed if the evaluator cannot be reached; one that declines to judge this text is invalid.
    """
    assert suite.audit is not None
    try:
        scores = await suite.audit.judge(anchor, rubric, evaluator)
    except CallFailed as failure:
        if failure.stops_session:
            raise
        scores = {}
    return judged(anchor, repeat, scores)


def judged(anchor: Anchor, repeat: int, scores: Mapping[str, float | None]) -> list[dict[str, JSON]]:
    """A row for each number of a verdict; those that are missing are None."""
    return [
        {
            "topic": anchor.topic,
            "language": anchor.language,
            "kind": anchor.kind,
            "repeat": repeat,
            "score": scores.get(aspect),
            "low": low,
            "high": high,
            "host": anchor.host,
            "aspect": aspect,
        }
        for aspect, (low, high) in anchor.bounds.items()
    ]


# Without a call.


async def foreseen(
    suite: AnySuite, rubric: Rubric, settings: Settings, items: Sequence[AnchorVerdict]
) -> list[list[Foreseen]]:
    """The calls of each verdict if every first answer is accepted."""
    assert suite.audit is not None
    found: list[list[Foreseen]] = []
    for item in items:
        calls: list[Foreseen] = []

        async def note(call: Call, calls: list[Foreseen] = calls) -> Reply:
            prompt = "\n".join(message["content"] for message in call.messages)
            calls.append(Foreseen(role="evaluator", prompt=prompt))
            return Reply(text="")

        evaluator = Evaluator(item.evaluator, settings.evaluator, note, attempts=1, code=_no_code)
        await suite.audit.judge(item.anchor, rubric, evaluator)
        found.append(calls)
    return found


def _no_code(model: str) -> str:
    return "0" * 16


def possible_checks(found: AuditPlan) -> list[dict[str, JSON]]:
    """The checks that the audit will make, with figures that mean nothing."""
    rows = [
        row
        for item in found.verdicts("")
        for row in judged(
            item.anchor,
            item.repeat,
            {name: (low + high) / 2 for name, (low, high) in item.anchor.bounds.items()},
        )
    ]
    said: list[dict[str, JSON]] = audits.concluded(found.suite, rows, found.anchors.order)["checks"]
    return said
