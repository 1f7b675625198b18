"""`equipoise show` and `export`: results as text, and in other formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from equipoise.cli.output import print_line, print_wrapped, width
from equipoise.cli.parameters import NAME
from equipoise.core.errors import UserError, printable
from equipoise.core.rows import ROW_OUTCOMES
from equipoise.runner.collector import pause_collector, skip_collection_at_exit

if TYPE_CHECKING:
    from equipoise.report.export import Format
    from equipoise.results.results import Results

_PATH = click.Path(path_type=Path)
_FORMATS = ("csv", "parquet", "jsonl", "markdown", "every_eval_ever", "inspect", "published", "schema")


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
@click.option("--all", "shows_all", is_flag=True, help="All figures, variance, tokens, and sections.")
@click.option("-o", "--output", type=_PATH, help="For a journal: the results file (default beside it).")
def show(
    path: Path,
    text: str | None,
    lowest: int | None,
    outcome: str | None,
    output: Path | None,
    shows_all: bool,
) -> None:
    """Show what RESULTS say, or with -k, --lowest or --outcome the transcripts of single runs.

    RESULTS may be a journal, which ends in .jsonl. From a journal, or if only the journal of RESULTS is left,
    the results are first rebuilt, however its session ended. Makes no call.
    """
    from equipoise.report import terminal, transcripts
    from equipoise.report.layout import wrap_line
    from equipoise.results.load import ONLY_COMPARE_READS
    from equipoise.results.schema import reading

    results, warnings = _results_of(path, output)
    with reading(path, otherwise=ONLY_COMPARE_READS):
        if text is None and lowest is None and outcome is None:
            suite = results.suite.name
            every, about = {suite: results}, {suite: warnings}
            print_wrapped(terminal.release(every, width(), shows_all=shows_all, warnings=about))
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
                else f": none of them has a score, and none of their {clusters} has {headline.name}"
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


def _results_of(path: Path, output: Path | None) -> tuple[Results, tuple[str, ...]]:
    """The results to show, rebuilt if a journal is named, and warnings about the journal."""
    from equipoise.results.load import load
    from equipoise.results.recover import recover
    from equipoise.suites.resources import SHIPPED

    journal = path.with_suffix(".jsonl")
    if path != journal and (path.exists() or not journal.is_file()):
        if output:
            raise UserError("--output: is only for a journal, from which results are rebuilt")
        return load(path), ()
    recovered = recover(journal, output, roots=(Path.cwd(), SHIPPED))
    return recovered.results, recovered.warnings


@click.command()
@click.argument("results", nargs=-1, type=_PATH)
@click.option("--to", required=True, type=click.Choice(_FORMATS), help="The format.")
@click.option("-o", "--output", type=_PATH, help="The file, or for every_eval_ever and inspect the folder.")
@click.option("--organization", metavar="NAME", type=NAME, help="every_eval_ever: who publishes the results.")
@click.option(
    "--relationship",
    type=click.Choice(("first_party", "third_party", "collaborative", "other")),
    help="every_eval_ever: the publisher's relationship to the model's developer.",
)
@click.option("--developer", metavar="NAME", type=NAME, help="every_eval_ever: whose model it is.")
def export(results: tuple[Path, ...], to: str, output: Path | None, **publisher: str | None) -> None:
    """Write RESULTS, files or folders of them, in another format.

    csv, jsonl and parquet have one row for each run (default runs.csv ...). markdown is a table for a model
    card, printed if there is no --output. every_eval_ever and inspect are folders of files for that registry
    and that log viewer. The command reports what a format cannot represent. Only parquet and inspect need
    additional packages.

    published completes results that an early version of the published benchmark wrote, with percentages and
    without a change of scores. schema prints the JSON Schema of results, including the parts for the
    project's own suites; it takes no RESULTS.
    """
    from equipoise.report import export as formats

    fields = {name: value for name, value in publisher.items() if value is not None}
    if fields and to != "every_eval_ever":
        raise UserError(f"--{next(iter(fields))}: is for --to every_eval_ever")
    if to == "schema":
        _export_schema(results, output)
        return
    if not results:
        raise click.UsageError("Missing argument 'RESULTS...'.")
    if to == "published":
        _complete_published(results, output)
        return
    skip_collection_at_exit()
    with pause_collector():
        for text in formats.export(results, cast("Format", to), output, formats.Publisher(**fields)):
            for line in text.split("\n"):
                print_line(line, err=line.startswith(formats.NOTES))


def _export_schema(results: Sequence[Path], output: Path | None) -> None:
    from equipoise.cli.gate_options import write_json
    from equipoise.core import json_io
    from equipoise.results import schema

    if results:
        raise UserError(f"{results[0]}: --to schema takes no results; it is the same for all")
    if output:
        write_json(output, schema.results_schema())
    else:
        click.echo(json_io.dumps(schema.results_schema(), indent=True), nl=False)


def _complete_published(results: Sequence[Path], output: Path | None) -> None:
    from equipoise.results import published

    if len(results) > 1 or output is None:
        raise UserError("--to published: takes one file, and -o for the new one")
    for line in published.convert(results[0], output):
        print_line(line)
