"""The time of a session by phase and by the layer that holds the interpreter lock.

    uv run --with py-spy python benchmarks/layers.py [SCENARIO] [--workers N]

Runs a scenario of against_bare.py (by default the first) under py-spy, which samples the one thread of each
process that holds its interpreter lock, and sums the samples by phase and by the innermost layer on the
stack. Imports are a layer of their own. Threads that wait for the network or the lock are not sampled.
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

SAMPLES_PER_SECOND = 200
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
"""`workers` is all time of pytest-xdist's workers; the process that makes the calls has the others."""
_FILE = re.compile(r" \(([^()]+?)(?::\d+)?\)$")


def profile(title: str, workers: int) -> list[str]:
    """The stacks of a session, outermost frame first, each with the number of its samples."""
    contender = f"pytest -n {workers}" if workers else "pytest"
    scenario = SCENARIOS[title]
    with tempfile.TemporaryDirectory() as name, serving(str(scenario.latency)) as endpoint:
        stacks = Path(name) / "stacks"
        sample = (
            "py-spy",
            "record",
            "--gil",
            "--threads",
            "--subprocesses",
            "--rate",
            str(SAMPLES_PER_SECOND),
            "--format",
            "raw",
        )
        command = [
            *sample,
            "--output",
            str(stacks),
            "--",
            *command_line(contender, scenario, endpoint.url, Path(name)),
        ]
        subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, check=True)
        return stacks.read_text(encoding="utf-8").splitlines()


def phase_of(frames: Sequence[str]) -> str:
    """The phase of a stack: `calls` for the engine's loop, `items` for pytest's work on tests and reports."""
    names = {frame.split(" ")[0].rpartition(".")[2] for frame in frames}
    if sum(frame.startswith("process ") for frame in frames) > 1:
        return "workers"
    if any(frame.startswith("thread") and frame.endswith(": equipoise") for frame in frames):
        return "calls" if "run_forever" in names else "start"
    if names & {"pytest_runtestloop", "_thread_receiver"} or any(f.endswith(": statistics") for f in frames):
        return "items"
    return "end" if {"pytest_sessionfinish", "pytest_unconfigure"} & names else "start"


def layer_of(frames: Sequence[str]) -> str:
    """The innermost layer of a stack; the standard library counts as the layer that calls it."""
    files = [match[1] for frame in frames if (match := _FILE.search(frame))]
    if any("importlib" in file for file in files):
        return "imports"
    return next(filter(None, map(_layer_of_file, reversed(files))), "other")


def _layer_of_file(file: str) -> str | None:
    return next((name for name, folders in LAYERS.items() if file.startswith(folders)), None)


def count_samples(lines: Sequence[str]) -> Iterator[tuple[tuple[str, str], int]]:
    """The phase and layer of each stack, and its number of samples."""
    for line in lines:
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        yield (phase_of(frames), layer_of(frames)), int(count)


def main() -> None:
    """Print the table: seconds by layer and phase, the milliseconds of one call, of one item, and shares."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", nargs="?", default=next(iter(SCENARIOS)), choices=SCENARIOS)
    parser.add_argument("--workers", type=int, default=0)
    arguments = parser.parse_args()
    title: str = arguments.scenario
    cases, samples = SCENARIOS[title].cases, Counter[tuple[str, str]]()
    for key, count in count_samples(profile(title, arguments.workers)):
        samples[key] += count
    total = samples.total()
    seconds = total / SAMPLES_PER_SECOND
    print(f"{title}: {seconds:.1f} s under the interpreter lock; ms of one of {2 * cases:,} calls")
    print("layer              start    calls   a call    items   an item      end  workers    share")
    rows = sorted((*LAYERS, "imports", "other"), key=lambda name: -_sum(samples, name))
    for name in (*rows, "all"):
        values = [_sum(samples, name, phase) / SAMPLES_PER_SECOND for phase in PHASES]
        start, calls, items, end, workers = (f"{value:6.2f} s" for value in values)
        a_call, an_item = (f"{values[1] * 500 / cases:6.2f} ms", f"{values[2] * 1000 / cases:6.2f} ms")
        print(
            f"{name:<16} {start} {calls} {a_call} {items} {an_item} {end} {workers} "
            f"{_sum(samples, name) / total:6.1%}"
        )


def _sum(samples: Counter[tuple[str, str]], layer: str, phase: str | None = None) -> int:
    """The samples of a layer, or of `all` layers, in a phase, or in all phases if it is None."""
    return sum(n for (own, name), n in samples.items() if layer in (name, "all") and phase in (own, None))


if __name__ == "__main__":
    main()
