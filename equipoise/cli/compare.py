"""`equipoise compare` and `equipoise robustness`: results against others, and the options of a gate."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from equipoise.cli.output import show, width
from equipoise.cli.parameters import RULE
from equipoise.core import exit_status
from equipoise.core.errors import UserError
from equipoise.core.rules import Rule
from equipoise.core.types import JSON


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what a session's gate takes: `rules`, `gate_inconclusive` and `allow_mismatch`."""
    for option in (
        click.option(
            "--allow-mismatch", is_flag=True, help="Compare what both share where they do not match."
        ),
        click.option(
            "--gate-inconclusive", type=click.Choice(["pass", "fail"]), help="Instead of exit status 6."
        ),
        click.option(
            "--gate",
            "rules",
            metavar="RULE",
            multiple=True,
            type=RULE,
            help="As in a session; repeatable.",
        ),
    ):
        command = option(command)
    return command


def publish(title: str, parts: Mapping[str, JSON]) -> None:
    """Print what GitHub Actions take as annotations, and append to its job summary."""
    from equipoise.report import github

    for line in github.publish(title, parts.get("comparison"), parts.get("gate"), os.environ):
        click.echo(line)


@click.command()
@click.argument(
    "files", metavar="[BASELINE] CANDIDATE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--baseline",
    "baselines",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="In place of BASELINE; repeatable: pieces of one result, or earlier releases, the last one last.",
)
@gate_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the comparisons as JSON as well."
)
@click.pass_context
def compare(
    ctx: click.Context,
    files: tuple[Path, ...],
    baselines: tuple[Path, ...],
    rules: tuple[Rule, ...],
    gate_inconclusive: str | None,
    allow_mismatch: bool,
    output: Path | None,
) -> None:
    """Compare the results in BASELINE with those of each CANDIDATE: what rose, what fell, is it chance?

    Files of one model with the same settings are pooled, as pieces of one result. With earlier releases as
    baselines the trend is shown; the gate compares with the last of them.

    Exits with 0 where all rules pass (or there are none), 7 where any fails or, with rules, a candidate has
    runs without a score, 6 where any is inconclusive, 4 where the files cannot be compared.
    """
    from equipoise.compare.release import compare_files
    from equipoise.report import comparison
    from equipoise.results import store
    from equipoise.results.schema import reading

    earlier, candidates = (baselines, files) if baselines else (files[:1], files[1:])
    if not candidates:
        raise click.UsageError("Missing argument 'CANDIDATE...'.")
    with reading(*earlier, *candidates):
        found = compare_files(earlier, candidates, rules, allows_mismatch=allow_mismatch)
    show(comparison.report(found, width()))
    for part in found:
        publish(part["comparison"]["candidate"]["subject_model"], part)
    if output:
        try:
            store.write_json(output, found)
        except OSError as error:
            raise UserError(f"--output: {output}: cannot be written ({error.strerror})") from None
    verdicts = [part["gate"]["verdict"] for part in found if "gate" in part]
    ctx.exit(exit_status.of_verdicts(verdicts, gate_inconclusive))


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
def robustness(results: tuple[Path, ...]) -> None:
    """Rank the models in RESULTS by each panel that judged them, and say how far the panels agree."""
    from equipoise.compare import panels
    from equipoise.report import comparison
    from equipoise.results.schema import reading

    with reading(*results):
        sides = panels.load(results)
        found = panels.rankings(sides)
        correlations, within = panels.rank_correlations(found), panels.within_panels(sides)
    show(comparison.rankings(found, correlations, within, width()))
