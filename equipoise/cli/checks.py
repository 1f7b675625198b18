"""Commands that convert published results and validate data."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The new file.")
def convert(old: Path, output: Path) -> None:
    """Complete OLD, results of the original benchmark from before it had percentages.

    Adds percentages behind all averages, and limit, files_expected and files_completed. No score is changed.
    """
    from equipoise.results import published

    for line in published.convert(old, output):
        click.echo(line)


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def validate(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Check the data at each PATH, a suite's folder, a dataset or a file of questions; by default ./topics.

    Every finding is a line. Exits with 0 where there is none, 1 where there are any, 4 where a path is none.
    Published data in folders named original are checked where they are named.
    """
    from equipoise.datasets import lint

    findings, files = lint.validate(paths)
    for finding in findings:
        click.echo(str(finding))
    counts = (_counted(len(findings), "finding"), _counted(files, "file"))
    click.echo(" in ".join(counts), err=bool(findings))
    ctx.exit(1 if findings else 0)


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
