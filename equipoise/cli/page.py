"""`equipoise report`: the HTML page of results, and its figures as files."""

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


@click.command()
@click.argument("results", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Where to write the page (default report.html).",
)
@click.option(
    "--figures",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the figures into this folder as SVG and PNG, for papers, in place of a page.",
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
    results: tuple[Path, ...],
    output: Path | None,
    figures: Path | None,
    reviews: tuple[Path, ...],
    transcripts: bool | None,
) -> None:
    """Write one HTML page of RESULTS, files or folders. It opens without a server or network.

    Models are side by side. Only comparable results are in the same table, and the page says which models do
    not differ significantly.

    With --figures, RESULTS may also be audits of evaluators, as files or the folder audits/. Figures then
    show every check with its tolerance.
    """
    if figures is None:
        _write_page(results, output or Path("report.html"), reviews, transcripts)
    elif output or reviews or transcripts is not None:
        raise UserError("--figures: writes no page; leave out the options of the page")
    else:
        _write_figures(results, figures)


def _write_page(
    results: tuple[Path, ...], output: Path, reviews: tuple[Path, ...], transcripts: bool | None
) -> None:
    from equipoise.report.page import board_page, page
    from equipoise.report.page.reviews import load
    from equipoise.results.find import find_results

    if reviews and transcripts is False:
        raise UserError(
            "--reviews: reviews are shown with their runs on the page; leave --no-transcripts out"
        )
    files, lines = find_results(results)
    page.refuse_output("-o", output)
    marks = [item for path in reviews for item in load(path)]
    reason = board_page.too_many(files) if transcripts is None and not reviews else None
    if transcripts is False or reason:
        with click.progressbar(
            files, label="reading", file=sys.stderr, hidden=not sys.stderr.isatty()
        ) as files_with_progress:
            board_page.write(output, files_with_progress)
    elif unmatched := page.write(output, files, marks).unmatched:
        lines.append(f"warning:   {unmatched} reviews match no run of these results")
    for line in lines:
        print_line(line)
    note = f", without transcripts ({reason}; --transcripts adds them)" if reason else ""
    print_line(f"page:      {shown(output)} ({output.stat().st_size / 1e6:.1f} MB){note}")


def _write_figures(results: tuple[Path, ...], folder: Path) -> None:
    from equipoise.audit import plots as audit_plots
    from equipoise.core import extras
    from equipoise.report.page import figures, page
    from equipoise.results.find import find_results

    extras.require("plots", "equipoise report --figures")
    if audits := audit_plots.read(results):
        plots: Mapping[str, Plot] = audit_plots.plots(audits)
    else:
        files, _ = find_results(results)
        plots = page.plots_by_file_name([*page.read(files)])
    try:
        for name, item in plots.items():
            with replacing(folder / f"{name}.svg") as file:
                file.write(figures.svg(item, is_file=True).encode())
            with replacing(folder / f"{name}.png") as file:
                file.write(figures.png(item))
    except OSError as error:
        raise UserError(f"--figures: {folder}: cannot be written to ({error.strerror})") from None
    print_line(f"{len(plots)} figures, each as SVG and PNG, in {shown(folder)}")
