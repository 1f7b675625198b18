"""Where the time of a session goes: which layer holds the interpreter, in each of its phases.

    uv run --with py-spy python benchmarks/layers.py [SCENARIO]

Runs a scenario of against_bare.py (by default the first) under py-spy, which samples the one thread that
holds the interpreter lock, and sums the samples by phase and by the innermost layer on the stack. Imports are
a layer of their own, whatever is imported. What waits, for the network or the lock, is not sampled.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from against_bare import SCENARIOS, command_line
from serving import ROOT, environment, serving

RATE = 200
LAYERS = {
    "pytest": ("_pytest/", "pytest/", "pluggy/"),
    "aiohttp": ("aiohttp/",),
    "the SDK, httpx2": ("openai/", "httpx2/"),
    "client, limiter": ("equipoise/models/",),
    "journal, results": ("equipoise/results/", "equipoise/core/", "equipoise/compare/"),
    "engine": ("equipoise/runner/",),
    "suite, judge": ("equipoise/suites/", "equipoise/judge/", "equipoise/audit/"),
    "statistics": ("equipoise/stats/", "numpy/", "scipy/"),
    "plugin, report": ("equipoise/plugin/", "equipoise/report/"),
    "asyncio": ("asyncio/",),
}
PHASES = ("start", "calls", "items", "end")
_FILE = re.compile(r" \(([^()]+?)(?::\d+)?\)$")


def profile(title: str) -> list[str]:
    """The stacks of a session, outermost frame first, each with the number of its samples."""
    scenario = SCENARIOS[title]
    with tempfile.TemporaryDirectory() as name, serving(str(scenario.latency)) as endpoint:
        found = Path(name) / "stacks"
        sample = ("py-spy", "record", "--gil", "--threads", "--rate", str(RATE), "--format", "raw")
        command = [
            *sample,
            "--output",
            str(found),
            "--",
            *command_line("pytest", scenario, endpoint.url, Path(name)),
        ]
        subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=True)
        return found.read_text(encoding="utf-8").splitlines()


def phase_of(frames: Sequence[str]) -> str:
    """Calls are what the engine's loop does, items what pytest does with one test after the other."""
    names = {frame.split(" ")[0] for frame in frames}
    if any(frame.startswith("thread") and frame.endswith(": equipoise") for frame in frames):
        return "calls" if "BaseEventLoop.run_forever" in names else "start"
    if "pytest_runtest_protocol" in names or any(frame.endswith(": statistics") for frame in frames):
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
    title = sys.argv[1] if len(sys.argv) > 1 else next(iter(SCENARIOS))
    cases, seconds = SCENARIOS[title].cases, Counter[tuple[str, str]]()
    for key, count in counted(profile(title)):
        seconds[key] += count
    total = seconds.total()
    print(f"{title}: {total / RATE:.1f} s under the interpreter lock; ms of one of {2 * cases:,} calls")
    print("layer              start    calls   a call    items   an item      end    share")
    rows = sorted((*LAYERS, "imports", "other"), key=lambda name: -_sum(seconds, name))
    for name in (*rows, "all"):
        found = [_sum(seconds, name, phase) / RATE for phase in PHASES]
        start, calls, items, end = (f"{value:6.2f} s" for value in found)
        a_call, an_item = (f"{found[1] * 500 / cases:6.2f} ms", f"{found[2] * 1000 / cases:6.2f} ms")
        print(
            f"{name:<16} {start} {calls} {a_call} {items} {an_item} {end} {_sum(seconds, name) / total:6.1%}"
        )


def _sum(seconds: Counter[tuple[str, str]], layer: str, phase: str | None = None) -> int:
    return sum(n for (p, name), n in seconds.items() if layer in (name, "all") and phase in (p, None))


if __name__ == "__main__":
    main()
