"""Audits in a session: its evaluators also judge anchors, or its journal notes their saved audits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.audit import files as audit_files
from equipoise.audit.plan import AnchorRun, AuditPlan, plan_audit
from equipoise.comparison.gate import refusals
from equipoise.core.errors import CannotKeep, UserError
from equipoise.core.files import shown
from equipoise.core.rules import Rule
from equipoise.core.types import Foreseen
from equipoise.judge.judge import JobModels
from equipoise.results import audits
from equipoise.results.history import History
from equipoise.results.results import Results
from equipoise.runner import resume
from equipoise.runner.loading import LoadedSuite
from equipoise.suites.resources import nearest

if TYPE_CHECKING:
    from equipoise.judge.anchors import Judged
    from equipoise.results.document import Audit


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorVerdict:
    """An `ExtraJob` of the session: one evaluator's verdict on an anchor."""

    suite: str
    evaluator: str
    run: AnchorRun

    line_kind = "anchor"

    @property
    def id(self) -> str:
        """The verdict's name in the journal, which evaluators never see."""
        return audits.verdict_name(self.evaluator, self.run.anchor.id, self.run.repeat)

    async def do(self, models: JobModels) -> dict[str, str | list[Judged]]:
        """The content of its journal line. Raises CallFailed if the evaluator cannot be reached."""
        evaluator = next(item for item in models.evaluators if item.name == self.evaluator)
        rows = await self.run.judge(evaluator)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        return {"evaluator": self.evaluator, "at": at, "judged": rows}


class SessionAudits:
    """The `ExtraJobs` of a session with `--audit`: verdicts of its evaluators on anchors.

    Without `--audit` there are no jobs, and saved audits are noted in the journal. `root` is the folder of
    the user's files; audits are saved in its folder `results`.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = root / "results"
        self._plans: dict[tuple[str, str, str], AuditPlan | None] = {}

    def refuse_unfit(self, suites: Sequence[LoadedSuite]) -> None:
        """Raise UserError if none of these suites has anchors, which `--audit` needs."""
        if not any(loaded.suite.audit for loaded in suites):
            names = ", ".join(loaded.suite.name for loaded in suites)
            raise UserError(f"--audit: {names} has no anchors to audit evaluators with; leave it out")

    def prepare(self, loaded: LoadedSuite, rules: Sequence[Rule]) -> None:
        """Load the anchors. Raises UserError, also for a rule about an audit or a check that is missing."""
        plan = self._plan(loaded)
        if not (audit_rules := [rule for rule in rules if rule.is_about_audit]):
            return
        saved_audits = self._saved_audits(loaded)
        missing = [name for name in loaded.settings.evaluator_models if name not in saved_audits]
        for rule in audit_rules:
            if plan is not None:
                refusals.refuse_unfit_audit(rule, plan.possible_checks())
                continue
            if missing:
                refusals.refuse_unaudited(rule, missing, loaded.suite.name)
            for audit in saved_audits.values():
                refusals.refuse_unfit_audit(rule, audit["checks"])

    def begin(self, loaded: LoadedSuite, history: History) -> list[AnchorVerdict]:
        """Write the plan or, without `--audit`, saved audits to the journal. Raises UserError.

        Returns the verdicts that the journal lacks.
        """
        plan, evaluators = self._plan(loaded), loaded.settings.evaluator_models
        try:
            if plan is None:
                self._note_saved(loaded, history)
            elif not is_planned(plan, history, evaluators):
                # With the verdicts, this is all that results need.
                resume.append(
                    history,
                    "audit",
                    extent=plan.design.name,
                    anchors_hash=plan.anchors.hash,
                    order=[list(pair) for pair in plan.anchors.order],
                    anchors=plan.repeats,
                )
        except (OSError, CannotKeep) as error:
            raise UserError(f"{shown(history.path)}: the audit cannot be written to it: {error}") from None
        if plan is None:
            return []
        return [item for name in evaluators for item in missing_verdicts(plan, history, name)]

    def foreseen(self, loaded: LoadedSuite, history: History) -> Mapping[str, Sequence[Sequence[Foreseen]]]:
        """The calls of each verdict that the journal lacks, by evaluator; empty without `--audit`."""
        plan, settings = self._plan(loaded), loaded.settings
        if plan is None:
            return {}

        async def calls(verdicts: Sequence[AnchorVerdict]) -> list[list[Foreseen]]:
            return [await item.run.foreseen(item.evaluator, settings) for item in verdicts]

        return {
            name: asyncio.run(calls(missing_verdicts(plan, history, name)))
            for name in settings.evaluator_models
        }

    def finish(self, results: Results) -> None:
        """Save each complete audit for later sessions. Audits that cannot be saved are still in the
        results."""
        for evaluator, audit in results.audits.items():
            if audit is not None and audit["source"] == "session" and audit["state"] == "complete":
                with suppress(OSError):
                    audit_files.write(self._folder, evaluator, results.suite.name, audit)

    def _plan(self, loaded: LoadedSuite) -> AuditPlan | None:
        """The plan of the suite's audit; None without `--audit`, and in every shard except the first."""
        extent, shard = loaded.settings.audit, loaded.settings.shard
        if extent is None or (shard is not None and shard.number > 1):
            return None
        return self._plan_of_extent(loaded, extent)

    def _plan_of_extent(self, loaded: LoadedSuite, extent: str) -> AuditPlan | None:
        """The plan of this extent, with the project's own anchors and questions or else those shipped."""
        name = loaded.suite.name
        key = (name, loaded.rubric.hash, extent)
        if key not in self._plans:
            folder = nearest(f"rubric/anchors/{name}", self._root)
            # The questions beside the anchors: `folder` is rubric/anchors/<suite>.
            topics = folder.parents[2] / "topics" / name
            self._plans[key] = plan_audit(loaded.suite, loaded.rubric, folder, topics, extent)
        return self._plans[key]

    def _note_saved(self, loaded: LoadedSuite, history: History) -> None:
        if history.audit is None:
            for evaluator, audit in self._saved_audits(loaded).items():
                if history.kept_audits.get(evaluator) != audit:
                    resume.append(history, "kept_audit", evaluator=evaluator, audit=audit)

    def _saved_audits(self, loaded: LoadedSuite) -> dict[str, Audit]:
        """The latest saved audit on the session's rubric and anchors, of each evaluator that has one."""
        name, evaluators = loaded.suite.name, loaded.settings.evaluator_models
        audits_by_evaluator = {
            evaluator: audit_files.read(self._folder, evaluator, name) for evaluator in evaluators
        }
        try:
            full_plan = self._plan_of_extent(loaded, "full") if any(audits_by_evaluator.values()) else None
        except UserError:
            # Without valid anchors no saved audit can be checked. Only `--audit` needs them.
            return {}
        if full_plan is None:
            return {}
        # This leaves out audits of the command with --limit: no design has their extent.
        extents, hashes = full_plan.audited.designs, (loaded.rubric.hash, full_plan.anchors.hash)
        usable = {
            evaluator: [
                audit for audit in saved if audit["extent"] in extents and _text_hashes(audit) == hashes
            ]
            for evaluator, saved in audits_by_evaluator.items()
        }
        return {evaluator: saved[0] for evaluator, saved in usable.items() if saved}


def _text_hashes(audit: Audit) -> tuple[str, str]:
    return audit["rubric_hash"], audit["anchors_hash"]


def is_planned(plan: AuditPlan, history: History, evaluators: Sequence[str]) -> bool:
    """Whether a journal has this plan, or a complete larger plan that includes it."""
    earlier, wanted = history.audit, plan.repeats
    if earlier is None or earlier.anchors_hash != plan.anchors.hash:
        return False
    if earlier.anchors == wanted:
        return True
    is_part = all(earlier.anchors.get(name, 0) >= times for name, times in wanted.items())
    return is_part and not any(audits.missing(history, name) for name in evaluators)


def missing_verdicts(plan: AuditPlan, history: History, evaluator: str) -> list[AnchorVerdict]:
    """The verdicts of an evaluator that the journal lacks; those on other anchors do not count."""
    is_same = history.audit is not None and history.audit.anchors_hash == plan.anchors.hash
    finished = history.anchors if is_same else {}
    planned_verdicts = (
        AnchorVerdict(suite=plan.suite.name, evaluator=evaluator, run=run) for run in plan.runs()
    )
    return [verdict for verdict in planned_verdicts if verdict.id not in finished]
