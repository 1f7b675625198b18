"""`equipoise audit`: evaluators on trial, without a subject."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equipoise.cli.model_options import asks_named_models, settings_of, spent
from equipoise.cli.output import say, show, tell, width
from equipoise.cli.parameters import NAME
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.types import JSON
from equipoise.suites.resources import nearest

if TYPE_CHECKING:
    from equipoise.core.settings import Settings
    from equipoise.runner.audit import EvaluatorAudit
    from equipoise.suites import AnySuite


@click.command()
@click.argument("names", metavar="[SUITE]...", nargs=-1)
@click.option(
    "--evaluator-model",
    "evaluators",
    metavar="M",
    type=NAME,
    multiple=True,
    required=True,
    help="May be repeated.",
)
@click.option(
    "--extent",
    type=click.Choice(["quick", "full"]),
    default="full",
    help="quick costs a third or less, and sees gross faults only: docs/audit.md says which (default full).",
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
@asks_named_models
def audit(
    names: tuple[str, ...],
    evaluators: tuple[str, ...],
    extent: str,
    limit: int | None,
    folder: Path,
    fresh: bool,
    **given: Any,
) -> None:
    """Have evaluators judge texts whose verdicts are known: do they lean, or obey what they read?

    For each SUITE, by default for all that have such texts; several evaluators are ranked. Results are kept
    in audits/ below the folder, and `equipoise plot` draws them.
    """
    from equipoise import suites
    from equipoise.report import audit as report

    settings = settings_of({**given, "model": evaluators[0]}, evaluators)
    settings = replace(
        settings, evaluator=replace(settings.evaluator, max_tokens=settings.subject.max_tokens)
    )
    for name in names:
        if name not in suites.names() or suites.load(name).audit is None:
            raise UserError(f"{name}: no suite with anchors; there are {', '.join(_with_anchors())}")
    by_evaluator: dict[str, dict[str, Mapping[str, JSON]]] = {}
    wanted = names or _with_anchors()
    for name in wanted:
        for found in _audit(suites.load(name), settings, extent, limit, folder, is_fresh=fresh):
            if found.said is not None:
                by_evaluator.setdefault(found.evaluator, {})[name] = found.said
    if len(wanted) > 1 and len(by_evaluator) > 1:
        show(report.ranking(by_evaluator, width()))


def _with_anchors() -> list[str]:
    from equipoise import suites

    return [name for name in suites.names() if suites.load(name).audit is not None]


def _audit(
    suite: AnySuite, settings: Settings, extent: str, limit: int | None, folder: Path, *, is_fresh: bool
) -> Sequence[EvaluatorAudit]:
    from equipoise.report import audit as report
    from equipoise.runner import anchors as texts_of
    from equipoise.runner import audit as runner

    root = Path.cwd()
    texts = suite.rubric(nearest(f"rubric/{suite.name}.toml", root))
    assert suite.audit is not None
    design = suite.audit.DESIGNS[extent]
    if limit is not None:
        # Under a name of its own: it is shown in no session as the whole.
        design = replace(design, name=f"{extent}, first {limit}", topics=limit)
    anchors = suite.audit.load(
        nearest(f"rubric/anchors/{suite.name}", root), nearest("topics", root) / suite.name, texts
    )
    total = sum(design.repeats(item.kind) for item in texts_of.selected(anchors, design))
    with click.progressbar(length=total, label=f"judging {suite.name}", file=sys.stderr) as bar:
        found, totals = runner.audit(
            suite,
            texts,
            anchors,
            design,
            settings,
            folder,
            is_fresh=is_fresh,
            on_done=lambda: bar.update(1),
            tell=tell,
        )
    said = {item.evaluator: item.said for item in found if item.said is not None}
    paths = {item.evaluator: item.path for item in found if item.path is not None}
    for name in report.ranked(said):
        show([*report.lines(name, said[name], width()), f"audit: {shown(paths[name])}", ""])
    for item in found:
        if item.missing:
            show([f"{item.evaluator}: audit incomplete: {item.missing:,} verdicts failed", ""])
    say(spent(totals))
    return found
