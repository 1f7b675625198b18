"""`equipoise merge`: shards joined into the results that one session would have written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.gate_options import GateOptions, baseline_option, gate_options, publish
from equipoise.cli.output import print_wrapped, width
from equipoise.core.errors import UserError
from equipoise.core.rows import grouped
from equipoise.runner import exit_status

if TYPE_CHECKING:
    from equipoise.comparison.gate_terms import GateTerms
    from equipoise.results.recover import Recovered

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_PATH)
@click.option(
    "-o",
    "--output",
    metavar="RESULTS",
    type=_PATH,
    help="Default: results/<model>.<suite>.json, as a session's.",
)
@baseline_option
@gate_options
@click.pass_context
def merge(
    ctx: click.Context,
    folders: tuple[Path, ...],
    output: Path | None,
    baseline: Path | None,
    gating: GateOptions,
) -> None:
    """Join the shards below each DIR, written by sessions with --shard I/N, into the results of one session.

    Writes the journal and the results that a session without shards would have written. Every shard must be
    there once, with the same data, rubric, settings and version, and all its runs must have ended.

    Exits with the first of these that holds: 4 shards cannot be joined, 7 a rule fails, 1 a run has no score,
    6 a rule is inconclusive; otherwise 0.
    """
    from equipoise.results.merge import find
    from equipoise.results.store import files
    from equipoise.runner import shards
    from equipoise.suites.resources import SHIPPED

    shards_by_result = find(folders)
    if len(shards_by_result) > 1 and (output or (baseline and not baseline.is_dir())):
        names = ", ".join(f"{suite} ({model})" for suite, model in shards_by_result)
        raise UserError(f"--{'output' if output else 'baseline'}: is for one result, but there are {names}")
    terms = _resolve_terms(shards_by_result, baseline, gating)
    merged: dict[str, dict[str, Recovered]] = {}
    for (suite, model), suite_shards in shards_by_result.items():
        target = files(Path("results"), output, model, suite)
        result = shards.merge(suite_shards, target, terms[suite, model], roots=(Path.cwd(), SHIPPED))
        merged.setdefault(model, {})[suite] = result
    for model, results in merged.items():
        _print_release(model if len(merged) > 1 else "", results)
    all_results = [result for results in merged.values() for result in results.values()]
    ctx.exit(_exit_status(all_results, gating.inconclusive))


def _resolve_terms(
    keys: Iterable[tuple[str, str]], baseline: Path | None, gating: GateOptions
) -> dict[tuple[str, str], GateTerms]:
    """The terms of each suite and model. All suites of a model are gated together."""
    return {
        (suite, model): terms
        for model, of_model in grouped(keys, itemgetter(1)).items()
        for suite, terms in gating.resolve_terms([suite for suite, _ in of_model], baseline).items()
    }


def _print_release(model: str, merged: Mapping[str, Recovered]) -> None:
    """Print and publish what a model's results say.

    `model` is the heading, empty if there is only one model.
    """
    from equipoise.report import terminal

    results = {suite: item.results for suite, item in merged.items()}
    warnings = {suite: item.warnings for suite, item in merged.items()}
    print_wrapped([*([model] if model else ()), *terminal.release(results, width(), warnings=warnings)])
    publish({suite: item.sections for suite, item in results.items()}, model)


def _exit_status(merged: Sequence[Recovered], inconclusive: str | None) -> int:
    """The exit status for these results and their gates."""
    is_complete = all(item.results.metadata["status"] == "complete" for item in merged)
    verdicts = [gate["verdict"] for item in merged if (gate := item.results.sections.get("gate"))]
    gate_status = exit_status.status_of_verdicts(verdicts, inconclusive)
    return exit_status.combine([gate_status, 0 if is_complete else exit_status.NO_SCORE])
