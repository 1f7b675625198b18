"""Memory of sessions, and the costs of xdist's workers, compared with the same number of empty tests.

    python benchmarks/against_empty.py [--runs 75000]

750 cases of two calls at 500 ms, 64 in flight, without xdist and with `-n 8`: wall time, and the peak of the
memory of all processes together, compared with 750 empty tests. Then --runs runs of the project's 150
questions, without workers, compared with the same number of empty tests: memory, and CPU per run. Memory is
PSS, in which shared pages count once, read every 50 ms from /proc (Linux).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from against_bare import SCENARIOS, command_line
from serving import ROOT, environment, serving

EMPTY = """import pytest

@pytest.mark.parametrize("number", range({count}))
def test_nothing(number):
    pass
"""
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
SAMPLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUsage:
    """Seconds of wall time and CPU, and megabytes at the peak."""

    wall: float
    cpu: float
    memory: float


def run(command: list[str], folder: Path, statuses: Sequence[int] = (0,)) -> MemoryUsage:
    """Run a command, which must end with one of these exit statuses, and measure it."""
    started, peak = time.time(), 0.0
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, process_group=0
    ) as process:
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            peak = max(peak, _memory(process.pid))
            time.sleep(SAMPLE_SECONDS)
    assert process.returncode in statuses, command
    return MemoryUsage(wall=time.time() - started, cpu=used.ru_utime + used.ru_stime, memory=peak)


def _memory(group: int) -> float:
    """The megabytes of all processes of a group together."""
    return sum(
        _pss(int(entry)) for entry in os.listdir("/proc") if entry.isdigit() and _is_in(int(entry), group)
    )


def _is_in(pid: int, group: int) -> bool:
    with suppress(ProcessLookupError):
        return os.getpgid(pid) == group
    return False


def _pss(pid: int) -> float:
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    return 0.0


def run_empty(count: int, *options: str) -> MemoryUsage:
    """Run `count` tests that do nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_empty.py").write_text(EMPTY.format(count=count))
        return run([*PYTEST, *options], folder)


def compare_workers() -> None:
    """Print the costs of `-n 8`."""
    scenario = SCENARIOS["750 at 500 ms, 64 in flight"]
    empty = {flags: run_empty(scenario.cases, *flags) for flags in ((), ("-n", "8"))}
    ours = {}
    for flags in empty:
        with tempfile.TemporaryDirectory() as name, serving(str(scenario.latency)) as endpoint:
            ours[flags] = run(
                command_line(" ".join(("pytest", *flags)), scenario, endpoint.url, Path(name)), ROOT
            )
    print("750 cases of two calls at 500 ms; as many empty tests")
    print("             ours: wall    memory   empty: wall    memory   memory more")
    for flags, base in empty.items():
        name, usage = " ".join(("pytest", *flags)), ours[flags]
        print(
            f"{name:<12} {usage.wall:8.2f} s {usage.memory:6.0f} MB {base.wall:11.2f} s "
            f"{base.memory:6.0f} MB {usage.memory - base.memory:10.0f} MB"
        )
    alone, workers = (), ("-n", "8")
    expected = ours[alone].wall + empty[workers].wall - empty[alone].wall
    print(f"-n 8 over (without + what -n 8 adds to empty tests): {ours[workers].wall / expected:.2f}")


def compare_large(runs: int) -> None:
    """Print the memory and CPU of large sessions beyond the same number of empty tests."""
    print(f"{'runs':>7}  ours: memory  empty: memory   memory more   CPU a run, beyond the empty test's")
    for count in (runs // 10, runs):
        base = run_empty(count)
        with tempfile.TemporaryDirectory() as name, serving("0.001") as endpoint:
            usage = run(_large_session(count, endpoint.url, Path(name)), ROOT)
        print(
            f"{count:>7,} {usage.memory:10.0f} MB {base.memory:11.0f} MB "
            f"{usage.memory - base.memory:10.0f} MB {(usage.cpu - base.cpu) / count * 1000:10.2f} ms",
            flush=True,
        )


def _large_session(count: int, url: str, folder: Path) -> list[str]:
    """The command for `count` runs of the project's 150 cases."""
    return [
        *(*PYTEST, "tests_benchmark/test_neutrality.py", "--model", "subject", "--evaluator-model", "judge"),
        *(
            "--api-base-url",
            url,
            "--runs",
            str(count // 150),
            "--concurrency",
            "64",
            f"--output={folder}/out.json",
        ),
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=75_000)
    runs = parser.parse_args().runs
    compare_workers()
    if runs:
        compare_large(runs)


if __name__ == "__main__":
    main()
