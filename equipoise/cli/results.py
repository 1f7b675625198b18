"""`equipoise show`, `export` and `convert`: results as text, and to and from other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.output import print_line, print_wrapped, width
from equipoise.cli.parameters import NAME
from equipoise.core.errors import UserError, printable
from equipoise.core.rows import ROW_OUTCOMES
from equipoise.runner.collector import pause_collector, skip_collection_at_exit

if TYPE_CHECKING:
    from equipoise.report.export import Format

_PATH = click.Path(path_type=Path)
_FORMATS = ("csv", "parquet", "jsonl", "markdown", "every_eval_ever", "inspect")
_RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")


@click.command()
@click.argument("path", metavar="RESULTS", type=_PATH)
@click.option(
    "-k", "text", metavar="TEXT", help="Transcripts of runs with this text in id, area or messages."
)
@click.option(
    "--lowest",
    metavar="N",
    type=click.IntRange(min=1),
    help="Transcripts of the N lowest runs, or if runs have no scores, of the N lowest clusters.",
)
@click.option("--outcome", type=click.Choice(ROW_OUTCOMES), help="Transcripts of runs with this outcome.")
def show(path: Path, text: str | None, lowest: int | None, outcome: str | None) -> None:
    """Show the table of RESULTS, or with -k, --lowest or --outcome the transcripts of single runs."""
    from equipoise.report import comparison, transcripts, verdict
    from equipoise.report.layout import wrap_line
    from equipoise.report.terminal import summary
    from equipoise.results.load import ONLY_COMPARE_READS, load
    from equipoise.results.schema import reading

    results = load(path)
    with reading(path, otherwise=ONLY_COMPARE_READS):
        if text is None and lowest is None and outcome is None:
            print_wrapped(summary(results, width=width()))
            if "gate" in results.sections:
                print_wrapped(["", *verdict.lines({results.suite.name: results.sections}, width())])
            if "comparison" in results.sections:
                print_wrapped(["", *comparison.lines(results.sections["comparison"], width())])
            return
        headline = results.headline
    with reading(path):
        # Runs with an asker cue are not ranked.
        runs = [*results.rows, *(results.cued_rows if lowest is None else ())]
        ending = ""
        if lowest is None or any(run.percent is not None for run in runs):
            groups = {"": transcripts.select(runs, text=text, outcome=outcome, lowest=lowest)}
        else:
            selected = transcripts.select(runs, text=text, outcome=outcome)
            groups = transcripts.lowest_cells(selected, results.cells, headline, lowest)
            clusters = results.suite.about.clusters
            ending = (
                f"; {clusters} with the lowest {headline.name}: {len(groups):,}"
                if groups
                else f": none of them has a score, none of their {clusters} {headline.name}"
            )
        for title, group in groups.items():
            if title:
                click.secho(f"{printable(title)}\n", bold=True)
            for run in group:
                level = transcripts.describe_level(run, results.suite, results.scale)
                for number, line in enumerate(transcripts.lines(run, headline.unit, level)):
                    for part in wrap_line(line, width()):
                        click.secho(printable(part), bold=number == 0)
    shown = sum(map(len, groups.values()))
    print_line(f"{shown:,} of {len(runs):,} runs{ending}")


@click.command()
@click.argument("results", nargs=-1, required=True, type=_PATH)
@click.option("--to", required=True, type=click.Choice(_FORMATS), help="The format.")
@click.option("-o", "--output", type=_PATH, help="The file, or for every_eval_ever and inspect the folder.")
@click.option("--organization", metavar="NAME", type=NAME, help="every_eval_ever: who publishes the results.")
@click.option(
    "--relationship",
    type=click.Choice(_RELATIONSHIPS),
    help="every_eval_ever: the publisher's relationship to the model's developer.",
)
@click.option("--developer", metavar="NAME", type=NAME, help="every_eval_ever: whose model it is.")
def export(results: tuple[Path, ...], to: Format, output: Path | None, **publisher: str | None) -> None:
    """Write RESULTS, files or folders of them, in another format.

    csv, jsonl and parquet have one row for each run (default runs.csv ...). markdown is a table for a model
    card, printed if there is no --output. every_eval_ever and inspect are folders of files for that registry
    and that log viewer. The command reports what a format cannot represent. Only parquet and inspect need
    additional packages.
    """
    from equipoise.report import export as formats

    fields = {name: value for name, value in publisher.items() if value is not None}
    if fields and to != "every_eval_ever":
        raise UserError(f"--{next(iter(fields))}: is for --to every_eval_ever")
    skip_collection_at_exit()
    with pause_collector():
        for text in formats.export(results, to, output, formats.Publisher(**fields)):
            for line in text.split("\n"):
                print_line(line, err=line.startswith(formats.NOTES))


@click.command()
@click.argument("old", type=_PATH)
@click.option("-o", "--output", required=True, type=_PATH, help="The new file.")
def convert(old: Path, output: Path) -> None:
    """Complete OLD, a results file of an early version of the published benchmark, without percentages.

    Adds percentages after all averages, and limit, files_expected and files_completed. Scores are unchanged.
    """
    from equipoise.results import published

    for line in published.convert(old, output):
        print_line(line)
