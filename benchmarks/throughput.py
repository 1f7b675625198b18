"""The cost of the engine itself: whole sessions against a loopback endpoint with a fixed latency.

    python benchmarks/throughput.py [--repeat 3]

For no xdist, -n 2 and -n 8: the full neutrality dataset (750 runs, 1,500 calls) at 50 ms and 64 calls in
flight. Prints the wall time of all calls and its ratio to the ideal, the time from the start of pytest to its
first call, the client's CPU per call beyond start-up, and the peak memory of a process. The figures are the
best of the repetitions: others are slower because the machine is busy.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from dataclasses import dataclass

from processes import measured
from serving import serving

LATENCY, CONCURRENCY, RUNS = 0.05, 64, 750
IDEAL = math.ceil(RUNS / CONCURRENCY) * 2 * LATENCY


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """One session: seconds to the first call, seconds from it to the end of pytest, CPU seconds, peak MB."""

    first_call: float
    asking: float
    cpu: float
    peak_mb: float
    calls: int


def measure(*arguments: str, evaluator: str = "judge") -> SessionUsage:
    """Run one session and measure it."""
    with tempfile.TemporaryDirectory() as folder, serving(str(LATENCY)) as endpoint:
        command = (
            *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", evaluator),
            *("--api-base-url", endpoint.url, "--concurrency", str(CONCURRENCY)),
            *(f"--output={folder}/out.json", *arguments),
        )
        usage, stats = measured(command), endpoint.stats()
    assert stats["peak"] <= CONCURRENCY, stats
    return SessionUsage(
        first_call=stats["first"] - usage.began,
        asking=usage.ended - stats["first"],
        cpu=usage.cpu,
        peak_mb=usage.peak_mb,
        calls=stats["calls"],
    )


def compare(name: str, flags: tuple[str, ...], repeat: int) -> str:
    """One row of the table."""
    # Start-up: everything is collected and loaded in every worker, with very few calls.
    small = [measure(*flags, "-k", "hong_kong and run1") for _ in range(repeat)]
    full = [measure(*flags) for _ in range(repeat)]
    # Each model is also asked once before the first question.
    assert all(item.calls == 2 * RUNS + 2 for item in full), full
    extra_calls = full[0].calls - small[0].calls
    per_call = (min(item.cpu for item in full) - min(item.cpu for item in small)) / extra_calls * 1000
    asking = min(item.asking for item in full)
    first = min(item.first_call for item in full)
    cpu = min(item.cpu for item in full) / full[0].calls * 1000
    return (
        f"{name:<10} {asking:6.2f} s {asking / IDEAL:6.2f} {first:10.2f} s {per_call:12.2f} ms "
        f"{cpu:12.2f} s {max(item.peak_mb for item in full):9.0f} MB"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print(f"{RUNS} runs, {LATENCY * 1000:.0f} ms, {CONCURRENCY} in flight: ideal {IDEAL:.2f} s")
    print("           asking  / ideal  first call  CPU per call  CPU/1,000 calls  peak memory")
    for name, flags in (("no xdist", ()), ("-n 2", ("-n", "2")), ("-n 8", ("-n", "8"))):
        print(compare(name, flags, repeat), flush=True)


if __name__ == "__main__":
    main()
