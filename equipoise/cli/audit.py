"""`equipoise audit`: evaluators on trial, without a subject."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from equipoise.cli.data import asks_models, rubric, settings_of, spent, topics
from equipoise.cli.output import show, width
from equipoise.core.errors import UserError
from equipoise.core.files import shown


@click.command()
@click.argument("suite", default="neutrality")
@click.option(
    "--evaluator-model", "evaluators", metavar="M", multiple=True, required=True, help="May be repeated."
)
@click.option(
    "--extent",
    type=click.Choice(["quick", "full"]),
    default="full",
    help="quick costs a quarter, and misses a lean below 15 points (default full).",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=Path("results"), help="The folder of the results."
)
@asks_models
def audit(
    suite: str, evaluators: tuple[str, ...], extent: str, folder: Path, fresh: bool, **given: Any
) -> None:
    """Have evaluators judge texts with known scores: do they lean, prefer length, or obey what they read?"""
    from equipoise import suites
    from equipoise.audit import design
    from equipoise.report import audit as report
    from equipoise.runner import audit as runner

    if suite not in suites.names():
        raise UserError(f"there is no suite {suite!r}; there are {', '.join(suites.names())}")
    loaded = suites.load(suite)
    if loaded.anchors is None:
        raise UserError(f"{suite} has no anchors for its evaluators")
    settings = settings_of({**given, "model": evaluators[0]}, evaluators)
    settings = replace(
        settings, evaluator=replace(settings.evaluator, max_tokens=settings.subject.max_tokens)
    )
    texts = loaded.rubric(rubric(f"{suite}.toml"))
    anchors = loaded.anchors(rubric(f"anchors/{suite}"), topics() / suite, texts)
    chosen = design.FULL if extent == "full" else design.QUICK
    total = sum(chosen.repeats(item.kind) for item in runner.selected(anchors, chosen))
    with click.progressbar(length=total, label="judging", file=sys.stderr) as bar:
        found, totals = runner.audit(
            loaded,
            texts,
            anchors,
            chosen,
            settings,
            folder,
            is_fresh=fresh,
            on_done=lambda: bar.update(1),
            tell=lambda text: click.echo(f"\n{text}", err=True),
        )
    by_name = {item.evaluator: item for item in found}
    for name in report.ranked({item.evaluator: item.checks for item in found}):
        item = by_name[name]
        show([*report.lines(name, item.checks, item.by_language, width()), f"audit: {shown(item.path)}", ""])
    click.echo(spent(totals))
