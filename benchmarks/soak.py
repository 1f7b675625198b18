"""A long session against a bad endpoint: is every run scored, nothing asked twice, memory flat?

    python benchmarks/soak.py [--runs 50] [-n 2]

150 questions, --runs times each (7,500 runs, 15,000 calls), 256 calls in flight at most, against a
loopback endpoint that answers after 50 ms, but of 100 calls refuses 2 (429), fails 2 (500), resets 1, cuts
1 in the middle and leaves 1 hanging. Prints what became of the runs, the calls against those that the
faults explain, and the memory of the largest process over the time of the asking. Fails where a run has no
score, a call was made that no fault explains, or a process needs 250 MB or grows by a tenth in the second
half.
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

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS, LATENCY, CONCURRENCY, TIMEOUT = 150, 0.05, 256, 2
EVERY = 0.25
MOST_MEGABYTES, MOST_GROWTH = 250, 1.10
"""Of the largest process, at any time; and from half of the calls to the end of the asking."""


def processes(parent: int) -> list[int]:
    """A process and everything below it."""
    found = [parent]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def memory(pid: int) -> float:
    """Resident megabytes of a process; 0 once it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS")), "VmRSS 0")
    return int(line.split()[1]) / 1024


def stats(port: str) -> dict[str, object]:
    """What the endpoint has counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats") as answer:
        return dict(json.load(answer))


def session(port: str, folder: str, arguments: list[str]) -> subprocess.Popen[bytes]:
    """The session under test."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "--model", "subject", "--evaluator-model", "judge"),
            *("--api-base-url", f"http://127.0.0.1:{port}/v1", "--concurrency", str(CONCURRENCY)),
            *("--request-timeout", str(TIMEOUT), f"--output={folder}/out.json", *arguments),
            # Else pytest would hold the names of all tests that were ever run in this checkout.
            *("-o", f"cache_dir={folder}/cache"),
        ],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )


def watch(client: subprocess.Popen[bytes], port: str) -> list[tuple[float, float, float]]:
    """(seconds, share of the calls made, megabytes of the largest process) until the session ends."""
    started, found = time.time(), []
    while client.poll() is None:
        largest = max(map(memory, processes(client.pid)), default=0.0)
        found.append((time.time() - started, float(stats(port)["calls"]), largest))  # type: ignore[arg-type]
        time.sleep(EVERY)
    return found


def report(port: str, folder: str, seen: list[tuple[float, float, float]]) -> None:
    """Print the figures; fail where a run was lost, a call made for no reason, or memory is not flat."""
    data = json.loads(Path(folder, "out.json").read_text(encoding="utf-8"))
    metadata, counted = data["metadata"], stats(port)
    faults: dict[str, int] = counted["faults"]  # type: ignore[assignment]
    expected, made = 2 * metadata["runs_expected"] + sum(faults.values()), counted["calls"]
    asking = [megabytes for _, calls, megabytes in seen if 0 < calls < expected]
    half = [megabytes for _, calls, megabytes in seen if expected / 2 <= calls < expected]
    print(f"runs:   {metadata['runs_expected']:,} in {seen[-1][0]:.0f} s, {data['summary']['outcomes']}")
    print(f"faults: {', '.join(f'{name} {n}' for name, n in faults.items())}")
    print(f"calls:  {made:,}, {sum(faults.values()):,} after faults, {made - expected} for no reason")
    print(
        f"limit:  {metadata['limits']['lowest']} to {metadata['limits']['highest']}, "
        f"cut {metadata['limits']['cuts']} times"
    )
    print(
        f"memory: {half[0]:.0f} MB at half of the calls, {asking[-1]:.0f} MB at the end of the asking "
        f"({asking[-1] / half[0] - 1:+.1%}), {max(item[2] for item in seen):.0f} MB at most"
    )
    size = Path(folder, "out.jsonl").stat().st_size / 1e6
    print(f"files:  journal {size:.0f} MB, results {Path(folder, 'out.json').stat().st_size / 1e6:.0f} MB")
    assert data["summary"]["outcomes"] == {"scored": metadata["runs_expected"]}
    assert made == expected
    assert max(megabytes for _, _, megabytes in seen) < MOST_MEGABYTES
    assert asking[-1] / half[0] < MOST_GROWTH


def main() -> None:
    """Run the session and print what it was like."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("-n", default="0")
    given = parser.parse_args()
    command = [sys.executable, str(ROOT / "benchmarks" / "server.py"), str(LATENCY), "--faults"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        client = session(port, folder, ["--runs", str(given.runs), "-n", given.n])
        seen = watch(client, port)
        report(port, folder, seen)
        server.stdin.close()


if __name__ == "__main__":
    main()
