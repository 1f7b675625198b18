"""`equipoise sweep`: a session for each model, suite and setting, in local processes or on Ray."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from equipoise.cli.gate_options import GateOptions, baseline_option, decide_gates, gate_options
from equipoise.cli.model_options import announced_env_file
from equipoise.cli.output import print_line, print_wrapped, width
from equipoise.core.errors import UserError
from equipoise.core.files import shown
from equipoise.core.rows import grouped
from equipoise.runner import exit_status

if TYPE_CHECKING:
    from equipoise.runner.cells import Sweep, SweepCell
    from equipoise.runner.processes import CellEnd
    from equipoise.runner.sweep import Overview

_PATH = click.Path(path_type=Path)
_PAGE = "report.html"
"""The file name of the page of all results, in the sweep's folder."""


@click.command()
@click.argument("table", type=_PATH)
@click.option("--dry-run", is_flag=True, help="Show what each cell would cost, and start nothing.")
@click.option(
    "--processes",
    metavar="N",
    type=click.IntRange(min=1),
    help="Cells at a time (default: as many as CPUs).",
)
@click.option("--ray", "address", metavar="ADDRESS", help="Run the cells on Ray: local or an address.")
@baseline_option
@gate_options
@click.pass_context
def sweep(
    ctx: click.Context,
    table: Path,
    dry_run: bool,
    processes: int | None,
    address: str | None,
    baseline: Path | None,
    gating: GateOptions,
) -> None:
    """Run every cell of TABLE (models x suites x settings) as a session of its own.

    Each cell has a journal, results and a log in the sweep's folder, results/<name of TABLE> unless the table
    has `folder`. The same command resumes the sweep.
    A cell that fails does not stop others. At the end one page of all results is written. With --gate there
    is a verdict for each model and setting, over all suites.

    Exits with the first of 4, 2, 7, 1, 8, 6 that is the exit status of a cell or verdict; otherwise 0.
    """
    from equipoise.audit.session import SessionAudits
    from equipoise.comparison.of_files import check_terms
    from equipoise.runner import cells, forecast
    from equipoise.runner.sweep import Overview

    announced_env_file()
    root = Path.cwd()
    if address and processes:
        raise UserError("--processes: Ray decides how many cells run at a time, by their cpus and gpus")
    plan = cells.load(table, root)
    if address is None:
        _refuse_gpus(plan)
    for release_cells in grouped(plan.cells, attrgetter("release")).values():
        names = [cell.suite for cell in release_cells]
        check_terms(gating.resolve_terms(names, baseline))
    expected = forecast.forecast_cells(plan, root, SessionAudits(root))
    print_line(f"folder: {shown(plan.folder)}")
    print_wrapped(forecast.lines(expected, width()))
    if dry_run:
        return
    overview = Overview(plan.cells, {name: item.runs for name, item in expected.items()})
    ctx.with_resource(_only_sweep_in(plan.folder))
    is_interrupted = _run_cells(overview, root, processes, address)
    _report_cells(plan, overview.ends)
    gate_status = _decide_gates(plan, baseline, gating) if gating.rules else 0
    status = exit_status.combine([gate_status, *(end.status for end in overview.ends.values())])
    ctx.exit(2 if is_interrupted else status)


@contextmanager
def _only_sweep_in(folder: Path) -> Iterator[None]:
    """Raise UserError while another sweep runs in this folder; keep others out during the block."""
    import fcntl  # not on Windows, where sessions are refused

    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems cannot lock folders; sessions there still lock their own files.
        with suppress(OSError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = "another sweep is running in it; wait, or name another folder in the table"
                raise UserError(f"{shown(folder)}: {message}") from None
        yield
    finally:
        os.close(descriptor)


def _decide_gates(plan: Sweep, baseline: Path | None, gating: GateOptions) -> int:
    """Print the verdict on each model and setting with results. Returns the exit status for all of them."""
    statuses = []
    for name, cells in grouped(plan.cells, attrgetter("release")).items():
        if paths := [cell.files.results for cell in cells if cell.files.results.exists()]:
            print_wrapped(["", name])
            statuses.append(decide_gates(paths, baseline, gating))
    return exit_status.combine(statuses)


def _refuse_gpus(plan: Sweep) -> None:
    for cell in plan.cells:
        if cell.gpus:
            raise UserError(f"{cell.name}: gpus are assigned by Ray: add --ray local, or leave gpus out")


def _run_cells(overview: Overview, root: Path, processes: int | None, address: str | None) -> bool:
    """Run the cells, and return whether they were interrupted."""
    from equipoise.report.status_line import Output, supports_live_line
    from equipoise.runner import sweep

    is_live = supports_live_line(sys.stdout.isatty())
    output = Output(write=click.echo, descriptor=sys.stdout.fileno() if is_live else None)
    with sweep.ray_at(address) if address else nullcontext():
        pool: sweep.Pool
        if address:
            pool = sweep.Tasks(overview.cells, root, _variables_of_workers(overview.cells))
        else:
            pool = sweep.Processes(overview.cells, root, os.environ, processes or os.cpu_count() or 1)
        return sweep.run(pool, overview, output)


def _variables_of_workers(cells: Sequence[SweepCell]) -> dict[str, str]:
    """The environment variables that Ray's workers need, which may be on other machines: options and keys."""
    keys = {name for cell in cells for name in cell.keys.values()}
    prefixes = ("EQUIPOISE_", "OPENAI_")
    return {name: value for name, value in os.environ.items() if name in keys or name.startswith(prefixes)}


def _report_cells(plan: Sweep, ends: Mapping[str, CellEnd]) -> None:
    """Print how each cell ended, complete ones first, and write the page of all results."""
    from equipoise.core.quantities import duration
    from equipoise.report import terminal
    from equipoise.report.page import board_page, page
    from equipoise.results.load import load

    print_wrapped([""])
    for cell in sorted(plan.cells, key=lambda cell: ends[cell.name].status != 0):
        end = ends[cell.name]
        meaning = end.reason or exit_status.MEANINGS.get(end.status, "an internal error")
        fault = f": exit status {end.status}, {meaning}; {shown(cell.log)}" if end.status else ""
        print_wrapped([f"{cell.name} ({duration(end.seconds)}){fault or ': complete'}"])
    results = [cell.files.results for cell in plan.cells if cell.files.results.exists()]
    if results:
        loaded = sorted(map(load, results), key=lambda item: (item.suite.name, item.model))
        print_wrapped(["", *terminal.overview(loaded, width()), ""])
        path = plan.folder / _PAGE
        reason = board_page.too_many(results)
        if reason is None:
            page.write(path, results)
        else:
            board_page.write(path, results)
        how = f"{reason}; equipoise report --transcripts adds them"
        note = f", without transcripts ({how})" if reason else ""
        print_line(f"page: {shown(path)} ({path.stat().st_size / 1e6:.1f} MB){note}")
