"""The use of an endpoint that takes 39 calls at once and refuses (429) more.

    python benchmarks/rationed.py

750 runs, 1,500 calls of 1 s, against a loopback endpoint. Prints, for ceilings of 64 and 256 calls in flight,
without xdist and with workers, the share of the 39 slots in use from the first call to the last, and the
share of calls that were refused. Fails if less than 90 % was in use or more than 2 % were refused.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass

from serving import ROOT, environment, serving

LATENCY, SLOTS = 1.0, 39
MIN_USED, MAX_REFUSED = 0.90, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The shares of slots in use and of calls refused (0 to 1), seconds, and the peak of calls in flight."""

    used: float
    refused: float
    seconds: float
    peak: int

    def __str__(self) -> str:
        return f"{self.used:6.1%} {self.refused:8.1%} {self.seconds:6.1f} s {self.peak:4d}"


def measure(*arguments: str) -> Usage:
    """The use of the endpoint by one session."""
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
    """Print the table; fail at the end if a row is beyond a limit."""
    failures = []
    ideal = 1500 / SLOTS * LATENCY
    print(f"{SLOTS} slots, 1,500 calls of {LATENCY:g} s: ideal {ideal:.1f} s")
    print("                     in use  refused   time  peak")
    for ceiling in ("64", "256"):
        for workers in ("0", "8"):
            usage = measure("--concurrency", ceiling, "-n", workers)
            print(f"ceiling {ceiling:>3}, -n {workers}  {usage}", flush=True)
            if usage.used < MIN_USED or usage.refused > MAX_REFUSED:
                failures.append(f"ceiling {ceiling}, -n {workers}")
    assert not failures, failures


if __name__ == "__main__":
    main()
