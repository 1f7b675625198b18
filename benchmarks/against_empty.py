"""What xdist's workers cost, and how much memory a session takes: against suites of as many empty tests.

    python benchmarks/against_empty.py [--runs 75000]

750 cases of two calls at 500 ms, 64 in flight, alone and with `-n 8`: wall time, and the greatest sum of the
memory (PSS) of all processes, beside those of 750 empty tests. Then many runs of the project's 150 questions,
without workers, beside as many empty tests: memory, and CPU by run. PSS is read every 50 ms from /proc, which
Linux has.
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
EVERY = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds of wall time and CPU; megabytes."""

    wall: float
    cpu: float
    memory: float


def run(command: list[str], folder: Path, ends: Sequence[int] = (0,)) -> Measured:
    """Run a command to its end, with one of these exit statuses, and look at its memory meanwhile."""
    started, most = time.time(), 0.0
    with subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, process_group=0
    ) as process:
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            most = max(most, _memory(process.pid))
            time.sleep(EVERY)
    assert process.returncode in ends, command
    return Measured(wall=time.time() - started, cpu=used.ru_utime + used.ru_stime, memory=most)


def _memory(group: int) -> float:
    """Megabytes of all processes of a group, what they share counted once."""
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


def empty(count: int, *arguments: str) -> Measured:
    """So many tests that do nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_empty.py").write_text(EMPTY.format(count=count))
        return run([*PYTEST, *arguments], folder)


def workers() -> None:
    """Print what `-n 8` costs."""
    scenario = SCENARIOS["750 at 500 ms, 64 in flight"]
    nothing = {flags: empty(scenario.cases, *flags) for flags in ((), ("-n", "8"))}
    ours = {}
    for flags in nothing:
        with tempfile.TemporaryDirectory() as name, serving(str(scenario.latency)) as endpoint:
            ours[flags] = run(
                command_line(" ".join(("pytest", *flags)), scenario, endpoint.url, Path(name)), ROOT
            )
    print("750 cases of two calls at 500 ms; as many empty tests")
    print("             ours: wall    memory   empty: wall    memory   memory more")
    for flags, none in nothing.items():
        name, mine = " ".join(("pytest", *flags)), ours[flags]
        print(
            f"{name:<12} {mine.wall:8.2f} s {mine.memory:6.0f} MB {none.wall:11.2f} s {none.memory:6.0f} MB "
            f"{mine.memory - none.memory:10.0f} MB"
        )
    alone, spread = (), ("-n", "8")
    expected = ours[alone].wall + nothing[spread].wall - nothing[alone].wall
    print(f"-n 8 over (without + what -n 8 adds to empty tests): {ours[spread].wall / expected:.2f}")


def many(runs: int) -> None:
    """Print what a large session takes beyond as many empty tests."""
    print(f"{'runs':>7}  ours: memory  empty: memory   memory more   CPU a run, beyond the empty test's")
    for count in (runs // 10, runs):
        none = empty(count)
        with tempfile.TemporaryDirectory() as name, serving("0.001") as endpoint:
            mine = run(_many(count, endpoint.url, Path(name)), ROOT)
        print(
            f"{count:>7,} {mine.memory:10.0f} MB {none.memory:11.0f} MB {mine.memory - none.memory:10.0f} MB "
            f"{(mine.cpu - none.cpu) / count * 1000:10.2f} ms",
            flush=True,
        )


def _many(count: int, url: str, folder: Path) -> list[str]:
    """The project's 150 cases, so many runs in all."""
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
    workers()
    if runs:
        many(runs)


if __name__ == "__main__":
    main()
