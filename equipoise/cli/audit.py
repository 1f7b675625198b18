"""`equipoise judge audit`: audits of evaluators outside of sessions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.model_options import (
    call_options,
    call_settings,
    evaluators_option,
    usage_line,
    warn_of_keys,
)
from equipoise.cli.output import print_line, print_notice, print_wrapped, width
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.suites.resources import nearest

if TYPE_CHECKING:
    from equipoise.audit.plan import AuditPlan
    from equipoise.audit.run import AuditOutcome
    from equipoise.core.settings import Settings
    from equipoise.results.document import Audit
    from equipoise.suites import AnySuite


@click.command()
@click.argument("names", metavar="[SUITE]...", nargs=-1)
@evaluators_option
@click.option(
    "--extent",
    type=click.Choice(["quick", "full"]),
    default="full",
    help="quick costs a third or less, and sees gross faults only: docs/judge.md says which (default full).",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the first N questions (pairs, scenarios ...): cheaper, and sees less.",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("results"), help="The folder of the results."
)
@call_options
def audit(
    names: tuple[str, ...],
    evaluators: tuple[str, ...],
    extent: str,
    limit: int | None,
    folder: Path,
    fresh: bool,
    **options: Any,
) -> None:
    """Audit evaluators on texts with known scores: do they lean, or obey instructions in what they judge?

    Default: every SUITE that has such texts. If there are several evaluators, they are ranked. Audits are
    written to audits/ in the folder of results, and `equipoise report --figures` draws them.
    """
    from equipoise import suites
    from equipoise.audit import plan, report

    settings = call_settings({**options, "model": evaluators[0]}, evaluators)
    auditable = plan.auditable_suites()
    for name in names:
        if name not in auditable:
            raise UserError(f"{name}: no suite with anchors; there are {', '.join(auditable)}")
    plans = [_plan_audit(suites.load(name), extent, limit) for name in names or auditable]
    warn_of_keys(settings)
    by_evaluator: dict[str, dict[str, Audit]] = {}
    for audit_plan in filter(None, plans):
        for outcome in _run_audit(audit_plan, settings, folder, is_fresh=fresh):
            if outcome.audit is not None:
                by_evaluator.setdefault(outcome.evaluator, {})[audit_plan.suite.name] = outcome.audit
    if len(plans) > 1 and len(by_evaluator) > 1:
        print_wrapped(report.ranking(by_evaluator, width()))


def _plan_audit(suite: AnySuite, extent: str, limit: int | None) -> AuditPlan | None:
    """The plan of a suite's audit; None if there is nothing to judge. Raises UserError."""
    from equipoise.audit import plan

    root = Path.cwd()
    rubric = suite.judging.rubric(nearest(f"rubric/{suite.name}.toml", root))
    anchors, topics = nearest(f"rubric/anchors/{suite.name}", root), nearest("topics", root) / suite.name
    return plan.plan_audit(suite, rubric, anchors, topics, extent, limit)


def _run_audit(
    plan: AuditPlan, settings: Settings, folder: Path, *, is_fresh: bool
) -> Sequence[AuditOutcome]:
    """Audit all evaluators on one suite, with a progress bar, print the audits, and return the outcomes."""
    from equipoise.audit import report, run

    with click.progressbar(
        length=len(plan.runs()), label=f"judging {plan.suite.name}", file=sys.stderr
    ) as bar:
        outcomes, totals = run.run_audit(
            plan, settings, folder, is_fresh=is_fresh, on_done=lambda: bar.update(1), tell=print_notice
        )
    audits = {item.evaluator: (item.audit, item.path) for item in outcomes if item.audit and item.path}
    for name in report.rank_evaluators({name: audit["checks"] for name, (audit, _) in audits.items()}):
        audit, path = audits[name]
        print_wrapped([*report.lines(name, audit, width()), f"audit: {shown(path)}", ""])
    for item in outcomes:
        if item.missing:
            print_wrapped([f"{item.evaluator}: audit incomplete: {item.missing:,} verdicts failed", ""])
    print_line(usage_line(totals))
    return outcomes
