"""How well is an endpoint used that takes 39 calls at once and refuses (429) what goes beyond?

    python benchmarks/rationed.py

750 runs, 1,500 calls of 1 s, against a loopback endpoint. Prints, for ceilings of 64 and 256 calls in flight,
without xdist and with workers, which share of the 39 slots was in use from the first call to the last, and
which share of the calls was refused. Fails where less than 90 % was in use or more than 2 % were refused.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass

from serving import ROOT, environment, serving

LATENCY, SLOTS = 1.0, 39
LEAST_USED, MOST_REFUSED = 0.90, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Which share of the slots was in use and which of the calls was refused; seconds; calls at once."""

    used: float
    refused: float
    seconds: float
    peak: int

    def __str__(self) -> str:
        return f"{self.used:6.1%} {self.refused:8.1%} {self.seconds:6.1f} s {self.peak:4d}"


def measure(*arguments: str) -> Usage:
    """One session, a row of the table."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(str(LATENCY), "--at-most", str(SLOTS)) as endpoint,
    ):
        subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
                *("--api-base-url", endpoint.url, f"--output={folder}/out.json", *arguments),
            ],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        stats = endpoint.stats()
    seconds = stats["last"] - stats["first"]
    return Usage(
        used=stats["used"] / seconds / SLOTS,
        refused=stats["refused"] / stats["calls"],
        seconds=seconds,
        peak=stats["peak"],
    )


def main() -> None:
    """Print the table; fail at its end where a row is not as promised."""
    short = []
    ideal = 1500 / SLOTS * LATENCY
    print(f"{SLOTS} slots, 1,500 calls of {LATENCY:g} s: ideal {ideal:.1f} s")
    print("                     in use  refused   time  peak")
    for ceiling in ("64", "256"):
        for workers in ("0", "8"):
            found = measure("--concurrency", ceiling, "-n", workers)
            print(f"ceiling {ceiling:>3}, -n {workers}  {found}", flush=True)
            if found.used < LEAST_USED or found.refused > MOST_REFUSED:
                short.append(f"ceiling {ceiling}, -n {workers}")
    assert not short, short


if __name__ == "__main__":
    main()
