"""Runs the cells of a sweep, in processes on this machine or as tasks of Ray.

The only module that imports ray.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from equipoise.core.errors import UserError
from equipoise.core.quantities import duration
from equipoise.report.layout import fit_parts
from equipoise.report.status_line import Output, open_line
from equipoise.runner import processes
from equipoise.runner.cells import SweepCell
from equipoise.runner.processes import INTERRUPTED, CellEnd

LOCAL = "local"
"""The value of `--ray` that starts Ray on this machine, until the sweep ends."""
OBJECT_STORE_BYTES = 100_000_000
"""The size of Ray's object store: little more than its minimum, as a cell returns only three values."""
MOST_RESTARTS = 5
"""How often a cell is restarted if its node or worker is lost."""
_UPDATE_SECONDS = 0.5
"""The interval between updates of the overview."""
_RECORD_PREFIX = b'{"kind":"record"'
"""How the journal's line of a finished run begins."""
_MOST_SHOWN = 3
"""The largest number of running cells that the overview names."""


class Pool(Protocol):
    """The processes or tasks that cells run in."""

    def ended_cells(self) -> Iterator[tuple[SweepCell, CellEnd]]:
        """Wait a moment for cells to end, and yield those that have. Raises KeyboardInterrupt."""

    def interrupt(self) -> None:
        """Interrupt the running cells, and cancel the waiting ones."""


# The overview.


@dataclass(slots=True)
class _RunCount:
    """Counts the finished runs in a cell's journal. Each update reads only the lines added since the last."""

    path: Path
    runs: int = 0
    _position: int = 0

    def update(self) -> int:
        """The number of finished runs up to now; a repeated run is counted each time."""
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(self._position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._position += len(line)
                self.runs += line.startswith(_RECORD_PREFIX)
        return self.runs


@dataclass(slots=True)
class Overview:
    """The state of the cells of a sweep. `planned` is the number of runs of each cell, by name."""

    cells: Sequence[SweepCell]
    planned: Mapping[str, int]
    ends: dict[str, CellEnd] = field(default_factory=dict)
    _begun: float = field(default_factory=time.time)
    _run_counts: dict[str, _RunCount] = field(default_factory=dict)
    _notices: list[str] = field(default_factory=list)

    def note(self, cell: SweepCell, end: CellEnd) -> None:
        """Note that a cell has ended."""
        self.ends[cell.name] = end
        reason = f": {end.reason}" if end.reason else ""
        done = f"{len(self.ends):,} of {len(self.cells):,}"
        self._notices.append(
            f"{cell.name}: exit status {end.status} after {duration(end.seconds)}{reason} ({done})"
        )

    def take_notices(self) -> list[str]:
        """Remove and return the messages that were not shown yet."""
        notices, self._notices = self._notices, []
        return notices

    def line(self, width: int) -> str:
        """The numbers of ended and failed cells, and the progress of running ones, in `width` columns.

        The parts with the highest ranks are omitted first.
        """
        failed = sum(end.status != 0 for end in self.ends.values())
        parts = [(0, f"{len(self.ends):,}/{len(self.cells):,} cells done"), (1, f"{failed:,} failed")]
        running = [cell for cell in self.cells if cell.name not in self.ends and self._has_begun(cell)]
        for rank, cell in enumerate(running[:_MOST_SHOWN], 2):
            run_count = self._run_counts.setdefault(cell.name, _RunCount(cell.files.journal))
            parts.append((rank, f"{cell.name} {run_count.update():,}/{self.planned[cell.name]:,}"))
        if len(running) > _MOST_SHOWN:
            parts.append((2 + _MOST_SHOWN, f"and {len(running) - _MOST_SHOWN:,} more"))
        return fit_parts(parts, width)

    def _has_begun(self, cell: SweepCell) -> bool:
        """Whether a cell's log was written during this sweep, and not only by an earlier one."""
        try:
            # The times of files may lag a little behind the clock.
            return cell.log.stat().st_mtime > self._begun - 1
        except OSError:
            return False


# Running.


def run(pool: Pool, overview: Overview, output: Output) -> bool:
    """Wait for all cells, and show their progress. Returns whether the sweep was interrupted."""
    is_interrupted = False
    with closing(open_line(overview.line, overview.take_notices, output)):
        while len(overview.ends) < len(overview.cells):
            try:
                for cell, end in pool.ended_cells():
                    overview.note(cell, end)
            except KeyboardInterrupt:
                if is_interrupted:
                    raise
                is_interrupted = True
                pool.interrupt()
    return is_interrupted


class Processes:
    """Runs cells in processes on this machine, at most `concurrency` at a time."""

    def __init__(
        self, cells: Sequence[SweepCell], root: Path, variables: Mapping[str, str], concurrency: int
    ) -> None:
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(concurrency)
        self._futures: dict[Future[CellEnd], SweepCell] = {
            self._threads.submit(self._run, cell, root, variables): cell for cell in cells
        }

    def _run(self, cell: SweepCell, root: Path, variables: Mapping[str, str]) -> CellEnd:
        if self._stop.is_set():
            return CellEnd(status=INTERRUPTED, reason="not begun")
        return processes.run(cell, root, variables, self._stop)

    def ended_cells(self) -> Iterator[tuple[SweepCell, CellEnd]]:
        """Each cell as soon as it has ended."""
        done, _ = wait(self._futures, timeout=_UPDATE_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            yield self._futures.pop(future), future.result()

    def interrupt(self) -> None:
        """Interrupt the sessions."""
        self._stop.set()


class Tasks:
    """Runs cells as tasks of Ray, which restarts the cells of a lost node on another node."""

    def __init__(self, cells: Sequence[SweepCell], root: Path, variables: Mapping[str, str]) -> None:
        import ray

        self._ray = ray
        task = ray.remote(processes.run)
        # The variables are an argument: Ray would log those of a runtime environment, API keys included.
        self._references: dict[Any, SweepCell] = {
            task.options(
                name=cell.name, num_cpus=cell.cpus, num_gpus=cell.gpus, max_retries=MOST_RESTARTS
            ).remote(cell, root, dict(variables)): cell
            for cell in cells
        }

    def ended_cells(self) -> Iterator[tuple[SweepCell, CellEnd]]:
        """Each cell as soon as it has ended."""
        done, _ = self._ray.wait(list(self._references), timeout=_UPDATE_SECONDS)
        for reference in done:
            yield self._references.pop(reference), self._result(reference)

    def _result(self, reference: Any) -> CellEnd:
        try:
            end: CellEnd = self._ray.get(reference)
        except self._ray.exceptions.TaskCancelledError:
            return CellEnd(status=INTERRUPTED, reason="interrupted")
        except self._ray.exceptions.RayTaskError:
            # The task has raised an exception: a bug.
            raise
        except self._ray.exceptions.RayError as error:
            # Its node or worker was lost more often than MOST_RESTARTS.
            return CellEnd(status=INTERRUPTED, reason=str(error).splitlines()[0])
        return end

    def interrupt(self) -> None:
        """Interrupt the sessions; Ray cancels the waiting tasks."""
        for reference in self._references:
            self._ray.cancel(reference, force=False)


@contextmanager
def ray_at(address: str) -> Iterator[None]:
    """Connect to Ray at an address, or with LOCAL start it, during the block. Raises UserError."""
    # Set before the import, which reads them.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    try:
        import ray
    except ImportError:
        raise UserError("--ray: Ray is not installed; run: pip install ray") from None
    arguments: dict[str, Any] = {"address": address}
    if address == LOCAL:
        arguments = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **arguments)
    except (OSError, RuntimeError, ValueError) as error:
        raise UserError(f"--ray {address}: cannot be reached: {str(error).splitlines()[0]}") from None
    try:
        yield
    finally:
        ray.shutdown()
