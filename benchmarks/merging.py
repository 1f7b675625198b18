"""What merging shards takes, beside the one session that they stand for.

    python benchmarks/merging.py [--runs 500] [--shards 16]

Against the loopback endpoint: all questions of neutrality in one session, then in shards, then merged. Prints
seconds, CPU and peak memory of the session, of the largest shard and of the merge; fails if the merge takes
more memory than the session, or if a score differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from processes import ProcessUsage, measured
from serving import serving


def line(name: str, usage: ProcessUsage) -> str:
    """One row of the table."""
    return f"{name:<16} {usage.wall:8.1f} s {usage.cpu:8.1f} s {usage.peak_mb:8.0f} MB"


def session(url: str, output: Path, runs: int, *more: str) -> ProcessUsage:
    """One session of all questions, or of a shard of them."""
    command = (
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--model", "subject"),
        *("--evaluator-model", "judge", "--api-base-url", url, "--concurrency", "64"),
        *("--runs", str(runs), f"--output={output}", *more),
    )
    return measured(command)


def scores(path: Path) -> list[Any]:
    """The score of every run, in order."""
    results = json.loads(path.read_bytes())["results"].values()
    return [run["score"] for found in results for item in found["questions"] for run in item["runs"]]


def largest(parts: Sequence[ProcessUsage]) -> ProcessUsage:
    """The most of each figure."""
    return ProcessUsage(
        began=0.0,
        ended=max(part.wall for part in parts),
        cpu=max(part.cpu for part in parts),
        peak_mb=max(part.peak_mb for part in parts),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--shards", type=int, default=16)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, serving("0.001") as endpoint:
        folder = Path(name)
        whole, merged = folder / "whole.json", folder / "merged.json"
        print(f"{150 * given.runs:,} runs        seconds        CPU  peak memory", flush=True)
        one = session(endpoint.url, whole, given.runs)
        print(line("one session", one), flush=True)
        parts = [
            session(
                *(endpoint.url, folder / "shards" / f"{number}.json", given.runs),
                *("--shard", f"{number}/{given.shards}"),
            )
            for number in range(1, given.shards + 1)
        ]
        print(line(f"largest of {given.shards}", largest(parts)), flush=True)
        command = (sys.executable, "-c", "from equipoise.cli import main; main()", "merge")
        merge = measured([*command, str(folder / "shards"), "-o", str(merged)])
        print(line("merge", merge))
        assert scores(merged) == scores(whole)
        assert merge.peak_mb <= one.peak_mb


if __name__ == "__main__":
    main()
