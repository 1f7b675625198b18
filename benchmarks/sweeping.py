"""The overhead of a cell of a sweep over a bare session of the same cases.

    python benchmarks/sweeping.py [--repeat 3] [--latency 0.5] [--ray]

Against the loopback endpoint: 750 runs of neutrality with 8 calls in flight, as a session from the command
line and as the only cell of a sweep, alternately. With --ray the cell is a task of a Ray that is already
running. Prints the wall time of each and the share that the cell adds, by medians; fails above 5 %.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving import ROOT, environment, serving

from equipoise.runner import processes
from equipoise.runner.cells import SweepCell
from equipoise.runner.sweep import Tasks, ray_at

MAX_OVERHEAD = 0.05
OPTIONS = {"concurrency": "8", "evaluator_model": ["judge"]}


def bare(url: str, folder: Path) -> float:
    """The seconds of a session from the command line."""
    command = (
        *(sys.executable, "-c", "from equipoise.cli import main; main()", "run", "neutrality"),
        *("--model", "subject", "--evaluator-model", "judge", "--api-base-url", url),
        *("--concurrency", "8", f"--output={folder / 'bare.json'}"),
    )
    started = time.monotonic()
    subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def cell(url: str, folder: Path, *, is_task: bool) -> float:
    """The seconds of a cell with the same cases."""
    one = SweepCell(
        name="cell",
        folder=folder,
        suite="neutrality",
        model="subject",
        release="subject",
        options={**OPTIONS, "api_base_url": url},
    )
    started = time.monotonic()
    if is_task:
        pool = Tasks([one], ROOT, environment())
        ended = None
        while ended is None:
            ended = next((end for _, end in pool.ended_cells()), None)
    else:
        ended = processes.run(one, ROOT, environment(), threading.Event())
    assert ended.status == 0, ended
    return time.monotonic() - started


@contextmanager
def no_ray() -> Iterator[None]:
    """The context without Ray, which starts nothing."""
    yield


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--ray", action="store_true")
    arguments = parser.parse_args()
    seconds: list[tuple[float, float]] = []
    os.chdir(ROOT)
    with ray_at("local") if arguments.ray else no_ray(), serving(str(arguments.latency)) as endpoint:
        for _ in range(arguments.repeat):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                pair = bare(endpoint.url, folder), cell(endpoint.url, folder, is_task=arguments.ray)
            seconds.append(pair)
            print(f"session {pair[0]:7.2f} s   cell {pair[1]:7.2f} s", flush=True)
    session_median, cell_median = (statistics.median(side) for side in zip(*seconds, strict=True))
    overhead = cell_median / session_median - 1
    print(f"medians {session_median:7.2f} s        {cell_median:7.2f} s   {overhead:+.1%}")
    assert overhead <= MAX_OVERHEAD


if __name__ == "__main__":
    main()
