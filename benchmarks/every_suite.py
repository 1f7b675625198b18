"""The time, CPU, memory and disk space of a session of each suite with its own defaults.

    python benchmarks/every_suite.py [--latency 0.5] [--limit N]

Whole sessions without workers against the scripted endpoint of server.py, which answers after the latency;
64 calls are in flight. A few replies are blocked or empty, and a few verdicts need a second attempt.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from against_empty import PYTEST, run
from serving import ROOT, serving

from equipoise import suites

SCORED, SOME_UNSCORED = 0, 1


def session(name: str, latency: float, limit: int | None) -> None:
    """Print the row of a suite."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(str(latency), "--scripted", "recovering") as endpoint,
    ):
        output = Path(folder) / "out.json"
        models = ("--model", "subject", "--evaluator-model", "judge", "--api-base-url", endpoint.url)
        part = () if limit is None else ("--limit", str(limit))
        calls = ("--concurrency", "64", f"--output={output}")
        command = [*PYTEST, f"tests_benchmark/test_{name}.py", *models, *part, *calls]
        usage = run(command, ROOT, (SCORED, SOME_UNSCORED))
        metadata = json.loads(output.read_bytes())["metadata"]
        disk = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        counts = f"{metadata['runs_completed']:>6,} {endpoint.stats()['calls']:>7,}"
        costs = f"{usage.wall:>8.1f} s {usage.cpu:>6.1f} s {usage.memory:>6.0f} MB {disk:>6.1f} MB"
        print(f"{name:<17} {counts} {costs}", flush=True)


def main() -> None:
    """Print a row for each suite."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--limit", type=int)
    arguments = parser.parse_args()
    print(f"{'suite':<17} {'runs':>6} {'calls':>7} {'wall':>10} {'CPU':>8} {'memory':>9} {'files':>9}")
    for name in suites.names():
        session(name, arguments.latency, arguments.limit)


if __name__ == "__main__":
    main()
