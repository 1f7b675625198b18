"""`equipoise report` and `equipoise plot`: the HTML page of results, and its figures as files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.output import print_line
from equipoise.core.errors import UserError
from equipoise.core.files import replacing, shown

if TYPE_CHECKING:
    from equipoise.suites.plots import Plot

_PATHS = click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.command()
@_PATHS
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="report.html",
    show_default=True,
    help="Where to write the page.",
)
@click.option(
    "--reviews",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Marks by people, as the page saved them; repeatable.",
)
@click.option(
    "--transcripts/--no-transcripts",
    default=None,
    help="Put the transcripts on the page, or the board of models alone "
    "(default: the board of more than 20 results or 300 MB, else both).",
)
def report(
    results: tuple[Path, ...], output: Path, reviews: tuple[Path, ...], transcripts: bool | None
) -> None:
    """Write one HTML page of RESULTS, files or folders. It opens without a server or network.

    Models are side by side. Only comparable results are in the same table, and the page says which models do
    not differ significantly.
    """
    from equipoise.report.page import board_page, page
    from equipoise.report.page.reviews import load
    from equipoise.results.find import find_results

    if reviews and transcripts is False:
        raise UserError(
            "--reviews: marks are shown with the runs that they are of; leave --no-transcripts out"
        )
    files, lines = find_results(results)
    page.refuse_output("-o", output)
    marks = [item for path in reviews for item in load(path)]
    too_many = board_page.too_many(files) if transcripts is None and not reviews else None
    if transcripts is False or too_many:
        with click.progressbar(
            files, label="reading", file=sys.stderr, hidden=not sys.stderr.isatty()
        ) as files_with_progress:
            board_page.write(output, files_with_progress)
    elif unmatched := page.write(output, files, marks).unmatched:
        lines.append(f"warning:   {unmatched} reviews are of no run of these results")
    for line in lines:
        print_line(line)
    note = f", without transcripts ({too_many}; --transcripts adds them)" if too_many else ""
    print_line(f"page:      {shown(output)} ({output.stat().st_size / 1e6:.1f} MB){note}")


@click.command()
@_PATHS
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the figures; it is made if it does not exist.",
)
def plot(results: tuple[Path, ...], output: Path) -> None:
    """Write the figures of the page of RESULTS as SVG and PNG, for papers.

    RESULTS may also be audits of evaluators, as files or the folder audits/. The figures then show every
    check with its tolerance.
    """
    from equipoise.audit import plots as audit_plots
    from equipoise.core import extras
    from equipoise.report.page import figures, page
    from equipoise.results.find import find_results

    extras.require("plots", "equipoise plot")
    if audits := audit_plots.read(results):
        plots: Mapping[str, Plot] = audit_plots.plots(audits)
    else:
        files, _ = find_results(results)
        plots = page.plots_by_file_name([*page.read(files)])
    try:
        for name, item in plots.items():
            with replacing(output / f"{name}.svg") as file:
                file.write(figures.svg(item, is_file=True).encode())
            with replacing(output / f"{name}.png") as file:
                file.write(figures.png(item))
    except OSError as error:
        raise UserError(f"-o: {output}: cannot be written to ({error.strerror})") from None
    print_line(f"{len(plots)} figures, each as SVG and PNG, in {shown(output)}")
