"""Compares results of two versions, and of any number of workers, that get the same replies.

    python benchmarks/compare_versions.py CHECKOUT [NEW_CHECKOUT] [--only SUITE ...] [--workers 0 2 8]

Runs all suites on our own data, and on the published data if EQUIPOISE_ORIGINAL_DATA names their folder,
without xdist, with -n 2 and with -n 8, against an endpoint whose replies depend only on the content of
requests (see scripted.py). Each checkout needs a .venv of its own. Compares the results of the two checkouts
for each number of workers, and the results of the last checkout with workers to those without. Everything
must be the same except times, versions, the load of the endpoint, and the order in which evaluators answered.
Prints for each comparison how many figures are the same, or which figures differ; fails if any does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serving import environment, serving

WORKERS = ("0", "2", "8")
SIZES = {
    "neutrality": ("--limit", "20", "--runs", "2"),
    "borderlines": ("--limit", "20"),
    "chinese_simpleqa": ("--limit", "60", "--runs", "2"),
    "even_handedness": ("--limit", "12"),
    "politicsbench": ("--limit", "3"),
}
OWN = dict.fromkeys(SIZES, ("own",)) | {"even_handedness": ("us", "china")}
JUDGES = ("judge-a", "judge-b")
SCORED, UNSCORED = 0, 1
"""The exit statuses that a session may have."""
CIRCUMSTANCES = {"started", "finished", "sessions", "limits", "git_commit", "git_dirty", "python_version"}
CIRCUMSTANCES |= {"equipoise_version", "package_versions", "schema_version", "verdicts_sha256", "answered"}
"""The keys of metadata that differ between sessions."""
TIMES = {"finished", "latency", "first_run", "first_call", "last_call"}
"""The keys, anywhere, whose values are times."""
UNORDERED = {"evaluator_transcripts", "subject_transcript"}
"""The keys of lists that have the order in which calls returned."""
CODE = re.compile(r"(\[(?:end of )?[^\[\]\n]+ )[0-9a-f]{16}\]")
"""The marker of quoted material, with the one-time code that differs between sessions."""
Figures = Mapping[str, Any]
"""Every value in results by its path, such as `/summary/runs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A suite with one of its datasets."""

    suite: str
    dataset: str

    def __str__(self) -> str:
        return f"{self.suite} ({self.dataset})"


def results(checkout: Path, part: Part, workers: str, url: str) -> Figures:
    """The figures in the results of a session of a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        command = [
            *(str(checkout / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"tests_benchmark/test_{part.suite}.py", "--dataset", part.dataset, *SIZES[part.suite]),
            *("--model", "subject", "--api-base-url", url, f"--output={output}", "-n", workers),
            *(word for judge in JUDGES for word in ("--evaluator-model", judge)),
        ]
        process = subprocess.run(
            command, cwd=checkout, env=environment(), capture_output=True, text=True, check=False
        )
        assert process.returncode in (SCORED, UNSCORED), process.stdout + process.stderr
        assert output.exists(), process.stdout + process.stderr
        return figures(json.loads(output.read_text(encoding="utf-8")))


def figures(data: dict[str, Any]) -> Figures:
    """The figures in the results JSON, except those that differ between any two sessions."""
    metadata = {name: value for name, value in data["metadata"].items() if name not in CIRCUMSTANCES}
    return dict(_leaves(_normalised({**data, "metadata": metadata}), ""))


def _normalised(value: Any, name: str = "") -> Any:
    """The value without times and one-time codes, and with UNORDERED lists sorted."""
    if isinstance(value, dict):
        return {key: _normalised(child, key) for key, child in value.items() if key not in TIMES}
    if isinstance(value, list):
        items = [_normalised(child) for child in value]
        return sorted(items, key=json.dumps) if name in UNORDERED else items
    return CODE.sub(r"\1CODE]", value) if isinstance(value, str) else value


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The paths and values of all scalars, and of empty objects and lists."""
    if not value or not isinstance(value, dict | list):
        yield path, value
        return
    for name, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(child, f"{path}/{name}")


def differences(before: Figures, after: Figures) -> list[str]:
    """A line for each figure that differs, or that only one of the two has."""
    paths = dict.fromkeys((*before, *after))
    return [
        f"{path}: {_shown(before, path)} -> {_shown(after, path)}"
        for path in paths
        if path not in before or path not in after or not _is_same(before[path], after[path])
    ]


def _is_same(before: Any, after: Any) -> bool:
    """Whether type and value are equal: 1 differs from 1.0, and from true."""
    return type(before) is type(after) and before == after


def _shown(figures: Figures, path: str) -> str:
    return repr(figures[path])[:60] if path in figures else "nothing"


def _print_comparison(title: str, before: Figures, after: Figures) -> bool:
    """Print the differences; returns whether there are none."""
    lines = differences(before, after)
    if not lines:
        print(f"{title}: same ({len(after):,} figures)", flush=True)
        return True
    print(f"{title}: {len(lines):,} of {len({*before, *after}):,} figures differ", flush=True)
    for line, count in _by_kind(lines).items():
        print(f"    {line}" + (f"  (and {count - 1:,} like it)" if count > 1 else ""), flush=True)
    return False


def _by_kind(lines: Sequence[str]) -> dict[str, int]:
    """The first difference of each kind, and their number; paths of one kind differ in indices of lists."""
    first_lines: dict[str, str] = {}
    counts = Counter[str]()
    for line in lines:
        kind = re.sub(r"/\d+(?=/|$)", "/*", line.partition(": ")[0])
        first_lines.setdefault(kind, line)
        counts[kind] += 1
    return {line: counts[kind] for kind, line in first_lines.items()}


def compare(checkouts: Sequence[Path], part: Part, worker_counts: Sequence[str], url: str) -> bool:
    """Compare the results of one part with each number of workers; returns whether all are the same."""
    first_results = None
    are_same = []
    for workers in worker_counts:
        *old, new = (results(checkout, part, workers, url) for checkout in checkouts)
        if old:
            are_same.append(_print_comparison(f"{part}, -n {workers}, old and new", old[0], new))
        if first_results is not None:
            title = f"{part}, -n {worker_counts[0]} and -n {workers}"
            are_same.append(_print_comparison(title, first_results, new))
        first_results = first_results or new
    return all(are_same)


def parts_of(suites: Sequence[str]) -> list[Part]:
    """The parts of these suites; published data only if they are available."""
    published = ("original",) if os.environ.get("EQUIPOISE_ORIGINAL_DATA") else ()
    return [Part(suite=suite, dataset=dataset) for suite in suites for dataset in (*OWN[suite], *published)]


def main() -> int:
    """Compare everything; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", metavar="CHECKOUT", nargs="+", type=lambda path: Path(path).resolve())
    parser.add_argument("--only", metavar="SUITE", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--workers", metavar="N", nargs="+", default=list(WORKERS))
    parser.add_argument("--scripted", choices=["stubborn", "recovering"], default="stubborn")
    arguments = parser.parse_args()
    if len(arguments.checkouts) > 2:
        parser.error("one checkout or two")
    with serving("0.002", "--scripted", arguments.scripted) as endpoint:
        are_same = [
            compare(arguments.checkouts, part, arguments.workers, endpoint.url)
            for part in parts_of(arguments.only)
        ]
    return 0 if all(are_same) else 1


if __name__ == "__main__":
    sys.exit(main())
