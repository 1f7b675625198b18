"""Time and memory of merging shards, compared with one session of the same runs.

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


def session(url: str, output: Path, runs: int, *options: str) -> ProcessUsage:
    """Run a session of all questions, or of the shard in `options`."""
    command = (
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--model", "subject"),
        *("--evaluator-model", "judge", "--api-base-url", url, "--concurrency", "64"),
        *("--runs", str(runs), f"--output={output}", *options),
    )
    return measured(command)


def scores(path: Path) -> list[Any]:
    """The score of every run, in order."""
    results = json.loads(path.read_bytes())["results"].values()
    return [run["score"] for section in results for item in section["questions"] for run in item["runs"]]


def largest(usages: Sequence[ProcessUsage]) -> ProcessUsage:
    """The maximum of each figure."""
    return ProcessUsage(
        began=0.0,
        ended=max(usage.wall for usage in usages),
        cpu=max(usage.cpu for usage in usages),
        peak_mb=max(usage.peak_mb for usage in usages),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--shards", type=int, default=16)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, serving("0.001") as endpoint:
        folder = Path(name)
        whole, merged = folder / "whole.json", folder / "merged.json"
        print(f"{150 * arguments.runs:,} runs        seconds        CPU  peak memory", flush=True)
        whole_usage = session(endpoint.url, whole, arguments.runs)
        print(line("one session", whole_usage), flush=True)
        shard_usages = [
            session(
                *(endpoint.url, folder / "shards" / f"{number}.json", arguments.runs),
                *("--shard", f"{number}/{arguments.shards}"),
            )
            for number in range(1, arguments.shards + 1)
        ]
        print(line(f"largest of {arguments.shards}", largest(shard_usages)), flush=True)
        command = (sys.executable, "-c", "from equipoise.cli import main; main()", "merge")
        merge = measured([*command, str(folder / "shards"), "-o", str(merged)])
        print(line("merge", merge))
        assert scores(merged) == scores(whole)
        assert merge.peak_mb <= whole_usage.peak_mb


if __name__ == "__main__":
    main()
