"""The CPU and the time until a session prints its first byte to a pipe; nothing is asked.

python benchmarks/first_output.py [--repeats 7]

"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODEL = ("--model", "nobody", "--api-base-url", "http://127.0.0.1:9/v1", "--api-key", "none-at-all")
PYTEST = (sys.executable, "-m", "pytest")
RUN = (str(Path(sys.executable).parent / "equipoise"), "run")
COMMANDS = {
    "pytest": PYTEST,
    "pytest -q": (*PYTEST, "-q"),
    "pytest -n 2": (*PYTEST, "-n", "2"),
    "pytest tests_benchmark": (*PYTEST, "tests_benchmark"),
    "equipoise run neutrality": (*RUN, "neutrality"),
    "equipoise run all": (*RUN, "all"),
}


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far, in steps of the kernel's clock."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def first_byte(command: tuple[str, ...], folder: str) -> tuple[float, float]:
    """CPU and wall-clock seconds from the start of a command until it has printed something."""
    unusual = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in unusual}
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, *MODEL, "--estimate", "-o", f"cache_dir={folder}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    os.read(process.stdout.fileno(), 1)
    seconds = cpu_seconds(process.pid), time.perf_counter() - begun
    process.kill()
    process.wait()
    return seconds


def main() -> None:
    """Print the medians and the extremes of every command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    print(f"{'':<26}{'CPU s':>8}{'(least to most)':>18}{'wall s':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in COMMANDS.items():
            first_byte(command, folder)
            cpu, wall = zip(*(first_byte(command, folder) for _ in range(repeats)), strict=True)
            spread = f"({min(cpu):.2f} to {max(cpu):.2f})"
            print(f"{name:<26}{statistics.median(cpu):>8.2f}{spread:>18}{statistics.median(wall):>8.2f}")


if __name__ == "__main__":
    main()
