"""A long session against a bad endpoint: whether every run is scored, no call repeated, and memory flat.

    python benchmarks/soak.py [--runs 50] [-n 2]

150 questions, --runs times each (7,500 runs, 15,000 calls), 256 calls in flight at most, against a loopback
endpoint that answers after 50 ms, but of 100 calls refuses 2 (429), fails 2 (500), resets 1, truncates 1 and
leaves 1 hanging. Prints the outcomes of the runs, the calls and how many the faults explain, and the memory
of the largest process while calls were made. Fails if a run has no score, a call was made that no fault
explains, or a process needs 250 MB or grows by a tenth in the second half.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS, LATENCY, CONCURRENCY, TIMEOUT = 150, 0.05, 256, 2
SAMPLE_SECONDS = 0.25
MAX_MEGABYTES, MAX_GROWTH = 250, 1.10
"""Limits for the largest process: its memory, and its growth from half of the calls to the last."""


def processes(parent: int) -> list[int]:
    """The ids of a process and all of its descendants."""
    pids = [parent]
    # The list grows while it is iterated over.
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            pids += map(int, task.read_text().split())
    return pids


def memory(pid: int) -> float:
    """Resident megabytes of a process; 0 once it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "VmRSS 0")
    return int(line.split()[1]) / 1024


def stats(port: str) -> dict[str, Any]:
    """The endpoint's counts."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
        return dict(json.load(answer))


def session(port: str, folder: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    """The started process of the session under test."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
            *("--api-base-url", f"http://127.0.0.1:{port}/v1", "--concurrency", str(CONCURRENCY)),
            *("--request-timeout", str(TIMEOUT), f"--output={folder}/out.json", *arguments),
            # Otherwise pytest loads the names of all tests that were ever run in this checkout.
            *("-o", f"cache_dir={folder}/cache"),
        ],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )


def watch(client: subprocess.Popen[bytes], port: str) -> list[tuple[float, float, float]]:
    """(seconds, share of the calls made, megabytes of the largest process) until the session ends."""
    started, samples = time.time(), []
    while client.poll() is None:
        largest = max(map(memory, processes(client.pid)), default=0.0)
        calls = float(stats(port)["calls"])
        samples.append((time.time() - started, calls, largest))
        time.sleep(SAMPLE_SECONDS)
    return samples


def report(port: str, folder: str, samples: list[tuple[float, float, float]]) -> None:
    """Print the figures; fail if a run was lost, a call made for no reason, or memory is not flat."""
    data = json.loads(Path(folder, "out.json").read_text(encoding="utf-8"))
    metadata, counts = data["metadata"], stats(port)
    faults: dict[str, int] = counts["faults"]
    # Each model is also asked once before the first question.
    needed = 2 * metadata["runs_expected"] + 2
    expected, calls_made = needed + sum(faults.values()), counts["calls"]
    during_calls = [megabytes for _, calls, megabytes in samples if 0 < calls < expected]
    second_half = [megabytes for _, calls, megabytes in samples if expected / 2 <= calls < expected]
    growth = during_calls[-1] / second_half[0]
    peak = max(megabytes for _, _, megabytes in samples)
    print(f"runs:   {metadata['runs_expected']:,} in {samples[-1][0]:.0f} s, {data['summary']['outcomes']}")
    print(f"faults: {', '.join(f'{name} {n}' for name, n in faults.items())}")
    surplus = calls_made - expected
    print(f"calls:  {calls_made:,}, {sum(faults.values()):,} after faults, {surplus} for no reason")
    print(
        f"limit:  {metadata['limits']['lowest']} to {metadata['limits']['highest']}, "
        f"cut {metadata['limits']['cuts']} times"
    )
    print(
        f"memory: {second_half[0]:.0f} MB at half of the calls, {during_calls[-1]:.0f} MB at the end of the "
        f"asking ({growth - 1:+.1%}), {peak:.0f} MB at most"
    )
    size = Path(folder, "out.jsonl").stat().st_size / 1e6
    print(f"files:  journal {size:.0f} MB, results {Path(folder, 'out.json').stat().st_size / 1e6:.0f} MB")
    assert data["summary"]["outcomes"] == {"scored": metadata["runs_expected"]}
    assert surplus == 0
    assert peak < MAX_MEGABYTES
    assert growth < MAX_GROWTH


def main() -> None:
    """Run the session and print its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("-n", default="0")
    arguments = parser.parse_args()
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), str(LATENCY), "--faults"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        client = session(port, folder, ["--runs", str(arguments.runs), "-n", arguments.n])
        samples = watch(client, port)
        report(port, folder, samples)
        server.stdin.close()


if __name__ == "__main__":
    main()
