"""`equipoise merge`: the results of shards as one session would have written them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from equipoise.cli.compare import gate_options, publish
from equipoise.cli.output import show, width
from equipoise.core import exit_status
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.rules import Rule

if TYPE_CHECKING:
    from equipoise.results.recover import Recovered

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """The comparison and the gate of a merge."""

    baseline: Path | None
    gate: tuple[Rule, ...]
    gate_inconclusive: Literal["pass", "fail"] | None
    allow_mismatch: bool


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=_PATH)
@click.option(
    "-o",
    "--output",
    metavar="RESULTS",
    type=_PATH,
    help="Default: results/<model>.<suite>.json, as a session's.",
)
@click.option("--baseline", metavar="FILE", type=_PATH, help="Compare with these earlier results.")
@gate_options
@click.pass_context
def merge(
    ctx: click.Context,
    folders: tuple[Path, ...],
    output: Path | None,
    baseline: Path | None,
    rules: tuple[Rule, ...],
    gate_inconclusive: Literal["pass", "fail"] | None,
    allow_mismatch: bool,
) -> None:
    """Join the shards below each DIR, which sessions with --shard I/N wrote, into the results of one session.

    Writes the journal and the results that a session without shards would have written. Every shard must be
    there once, with the same data, rubric, settings and version, and all its runs must have ended.

    Exits as a session does: 0; 1 if a run has no score; 7 or 6 by the gate; 4 if shards cannot be joined.
    """
    from equipoise.results.merge import find
    from equipoise.results.store import files
    from equipoise.runner import shards
    from equipoise.suites.resources import SHIPPED

    found = find(folders)
    if len(found) > 1 and (output or baseline):
        names = ", ".join(f"{suite} ({model})" for suite, model in found)
        raise UserError(f"--{'output' if output else 'baseline'}: is for one result, but there are {names}")
    wanted = _Wanted(
        baseline=baseline, gate=rules, gate_inconclusive=gate_inconclusive, allow_mismatch=allow_mismatch
    )
    merged = [
        shards.merge(parts, files(Path("results"), output, model, suite), wanted, homes=(Path.cwd(), SHIPPED))
        for (suite, model), parts in found.items()
    ]
    for item in merged:
        _print(item)
    ctx.exit(_status(merged, gate_inconclusive))


def _print(merged: Recovered) -> None:
    """The table, and the comparison and the gate if there are any."""
    from equipoise.report import comparison
    from equipoise.report.terminal import summary

    data = merged.data
    show(summary(merged.rows, data, path=shown(merged.path), width=width()))
    show(f"warning:   {warning}" for warning in merged.warnings)
    if "comparison" in data:
        show(["", *comparison.lines(data["comparison"], width())])
    if "gate" in data:
        show(["", *comparison.rulings(data["gate"], data.get("comparison"))])
    if "comparison" in data or "gate" in data:
        publish(data["metadata"]["suite"], data)


def _status(merged: Sequence[Recovered], inconclusive: str | None) -> int:
    if any(item.data["metadata"]["status"] != "complete" for item in merged):
        return 1
    verdicts = [item.data["gate"]["verdict"] for item in merged if "gate" in item.data]
    return exit_status.of_verdicts(verdicts, inconclusive)
