"""`equipoise show`: the table of results again, and what was said in single runs."""

from __future__ import annotations

from pathlib import Path

import click

from equipoise.cli.output import show as print_lines
from equipoise.cli.output import width
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.records import OUTCOMES


@click.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "-k", "text", metavar="TEXT", help="Transcripts of runs with this text in id, area or messages."
)
@click.option("--lowest", metavar="N", type=click.IntRange(min=1), help="Transcripts of the N lowest runs.")
@click.option("--outcome", type=click.Choice(OUTCOMES), help="Transcripts of runs with this outcome.")
def show(results: Path, text: str | None, lowest: int | None, outcome: str | None) -> None:
    """Show RESULTS again: the table, or with -k, --lowest or --outcome the transcripts of single runs."""
    from equipoise.compare.baseline import DAMAGE, load
    from equipoise.report import comparison, transcripts
    from equipoise.report.layout import wrapped
    from equipoise.report.terminal import summary

    found = load(results, is_whole=True)
    try:
        if text is None and lowest is None and outcome is None:
            rows = found.suite.table(found.data["summary"])
            print_lines(summary(rows, found.data, path=shown(results), width=width()))
            if "comparison" in found.data:
                print_lines(["", *comparison.lines(found.data["comparison"], width())])
            if "gate" in found.data:
                print_lines(["", *comparison.rulings(found.data["gate"], found.data.get("comparison"))])
            return
        every = transcripts.runs(found.data, found.cells, next(iter(found.metrics.values())).of)
    except DAMAGE:
        why = "an earlier version or another tool wrote it: only compare reads it"
        raise UserError(f"{results}: {why}") from None
    selected = transcripts.select(every, text=text, outcome=outcome, lowest=lowest)
    for run in selected:
        for place, line in enumerate(transcripts.lines(run)):
            for part in wrapped(line, width()):
                click.secho(part, bold=place == 0)
    click.echo(f"{len(selected):,} of {len(every):,} runs")
