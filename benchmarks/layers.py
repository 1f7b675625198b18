"""Where the time of a session goes: which layer holds the interpreter, in each of its phases.

    uv run --with py-spy python benchmarks/layers.py [SCENARIO] [--workers N]

Runs a scenario of against_bare.py (by default the first) under py-spy, which samples the one thread of each
process that holds its interpreter lock, and sums the samples by phase and by the innermost layer on the
stack. Imports are a layer of their own, whatever is imported. What waits, for the network or the lock, is not
sampled.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from against_bare import SCENARIOS, command_line
from serving import ROOT, environment, serving

RATE = 200
LAYERS = {
    "pytest": ("_pytest/", "pytest/", "pluggy/"),
    "xdist, execnet": ("xdist/", "execnet/"),
    "aiohttp": ("aiohttp/",),
    "the SDK, httpx2": ("openai/", "httpx2/"),
    "client, limiter": ("equipoise/models/",),
    "journal, results": ("equipoise/results/", "equipoise/core/", "equipoise/comparison/"),
    "engine": ("equipoise/runner/",),
    "suite, judge": ("equipoise/suites/", "equipoise/judge/"),
    "statistics": ("equipoise/stats/", "numpy/", "scipy/"),
    "plugin, report": ("equipoise/plugin/", "equipoise/report/"),
    "asyncio": ("asyncio/",),
}
PHASES = ("start", "calls", "items", "end", "workers")
"""The last is whatever the workers of pytest-xdist do; the process that makes all calls has the others."""
_FILE = re.compile(r" \(([^()]+?)(?::\d+)?\)$")


def profile(title: str, workers: int) -> list[str]:
    """The stacks of a session, outermost frame first, each with the number of its samples."""
    contender = f"pytest -n {workers}" if workers else "pytest"
    scenario = SCENARIOS[title]
    with tempfile.TemporaryDirectory() as name, serving(str(scenario.latency)) as endpoint:
        found = Path(name) / "stacks"
        sample = (
            "py-spy",
            "record",
            "--gil",
            "--threads",
            "--subprocesses",
            "--rate",
            str(RATE),
            "--format",
            "raw",
        )
        command = [
            *sample,
            "--output",
            str(found),
            "--",
            *command_line(contender, scenario, endpoint.url, Path(name)),
        ]
        subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=True)
        return found.read_text(encoding="utf-8").splitlines()


def phase_of(frames: Sequence[str]) -> str:
    """Calls are what the engine's loop does, items what pytest does with tests and reports."""
    names = {frame.split(" ")[0].rpartition(".")[2] for frame in frames}
    if sum(frame.startswith("process ") for frame in frames) > 1:
        return "workers"
    if any(frame.startswith("thread") and frame.endswith(": equipoise") for frame in frames):
        return "calls" if "run_forever" in names else "start"
    if names & {"pytest_runtestloop", "_thread_receiver"} or any(f.endswith(": statistics") for f in frames):
        return "items"
    return "end" if {"pytest_sessionfinish", "pytest_unconfigure"} & names else "start"


def layer_of(frames: Sequence[str]) -> str:
    """The innermost layer; the standard library belongs to whoever calls it."""
    files = [found[1] for frame in frames if (found := _FILE.search(frame))]
    if any("importlib" in file for file in files):
        return "imports"
    return next(filter(None, map(_named, reversed(files))), "other")


def _named(file: str) -> str | None:
    return next((name for name, folders in LAYERS.items() if file.startswith(folders)), None)


def counted(lines: Sequence[str]) -> Iterator[tuple[tuple[str, str], int]]:
    """The phase and the layer of each stack, and its samples."""
    for line in lines:
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        yield (phase_of(frames), layer_of(frames)), int(count)


def main() -> None:
    """Print the table: seconds by layer and phase, the milliseconds of one call, of one item, and shares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default=next(iter(SCENARIOS)), choices=SCENARIOS)
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    title: str = given.scenario
    cases, seconds = SCENARIOS[title].cases, Counter[tuple[str, str]]()
    for key, count in counted(profile(title, given.workers)):
        seconds[key] += count
    total = seconds.total()
    print(f"{title}: {total / RATE:.1f} s under the interpreter lock; ms of one of {2 * cases:,} calls")
    print("layer              start    calls   a call    items   an item      end  workers    share")
    rows = sorted((*LAYERS, "imports", "other"), key=lambda name: -_sum(seconds, name))
    for name in (*rows, "all"):
        found = [_sum(seconds, name, phase) / RATE for phase in PHASES]
        start, calls, items, end, workers = (f"{value:6.2f} s" for value in found)
        a_call, an_item = (f"{found[1] * 500 / cases:6.2f} ms", f"{found[2] * 1000 / cases:6.2f} ms")
        print(
            f"{name:<16} {start} {calls} {a_call} {items} {an_item} {end} {workers} "
            f"{_sum(seconds, name) / total:6.1%}"
        )


def _sum(seconds: Counter[tuple[str, str]], layer: str, phase: str | None = None) -> int:
    return sum(n for (p, name), n in seconds.items() if layer in (name, "all") and phase in (p, None))


if __name__ == "__main__":
    main()
