"""Do two versions, or any number of workers, make the same of the same replies?

    python benchmarks/compare_versions.py CHECKOUT [NEW_CHECKOUT] [--only SUITE ...] [--workers 0 2 8]

Runs all suites on our own data, and on the published ones where EQUIPOISE_ORIGINAL_DATA names their folder,
without xdist, with -n 2 and with -n 8, against an endpoint whose replies depend on nothing but what they are
about (see scripted.py). Each checkout needs a .venv of its own. Compares the results of the two for each
number of workers, and those of the last one with workers to those without; results of an earlier version are
brought into the form of this one. Everything in them must be the same but for times, versions, how busy the
endpoint was, and the order in which evaluators answered. Prints for each comparison how many figures are the
same or which differ; fails where any does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serving import environment, serving

from equipoise.results.versions import upgrade

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
"""How a session may end."""
APART = {"started", "finished", "sessions", "limits", "git_commit", "git_dirty", "python_version"}
APART |= {"equipoise_version", "package_versions", "schema_version", "verdicts_sha256"}
APART |= {"answered"}
"""What the metadata tell of the circumstances: no matter for a comparison."""
TIMES = {"finished", "latency", "first_run", "first_call", "last_call"}
BY_RETURN = {"evaluator_transcripts", "subject_transcript"}
"""Lists in the order in which calls came back."""
CODE = re.compile(r"(\[(?:end of )?[^\[\]\n]+ )[0-9a-f]{16}\]")
Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A suite on one of its sets of cases."""

    suite: str
    dataset: str

    def __str__(self) -> str:
        return f"{self.suite} ({self.dataset})"


def results(checkout: Path, part: Part, workers: str, url: str) -> Figures:
    """Every figure in what a session writes, by where it stands."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        command = [
            *(str(checkout / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *(f"tests_benchmark/test_{part.suite}.py", "--dataset", part.dataset, *SIZES[part.suite]),
            *("--model", "subject", "--api-base-url", url, f"--output={output}", "-n", workers),
            *(word for judge in JUDGES for word in ("--evaluator-model", judge)),
        ]
        done = subprocess.run(
            command, cwd=checkout, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode in (SCORED, UNSCORED), done.stdout + done.stderr
        assert output.exists(), done.stdout + done.stderr
        return figures(upgrade(json.loads(output.read_text(encoding="utf-8"))))


def figures(data: dict[str, Any]) -> Figures:
    """Every figure in the results JSON, by where it stands, but for what no two sessions have alike."""
    about = {name: value for name, value in data["metadata"].items() if name not in APART}
    return dict(_leaves(_settled({**data, "metadata": about}), ""))


def _settled(value: Any, name: str = "") -> Any:
    """Without what no two sessions have alike: codes, seconds, and which call came back first."""
    if isinstance(value, dict):
        return {key: _settled(child, key) for key, child in value.items() if key not in TIMES}
    if isinstance(value, list):
        found = [_settled(child) for child in value]
        return sorted(found, key=json.dumps) if name in BY_RETURN else found
    return CODE.sub(r"\1CODE]", value) if isinstance(value, str) else value


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """All that is neither object nor list, or is an empty one, with its path."""
    if not value or not isinstance(value, dict | list):
        yield at, value
        return
    for name, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(child, f"{at}/{name}")


def differences(before: Figures, after: Figures) -> list[str]:
    """Which figures are not the same, or are only in one of the two."""
    paths = dict.fromkeys((*before, *after))
    return [
        f"{path}: {_shown(before, path)} -> {_shown(after, path)}"
        for path in paths
        if path not in before or path not in after or not _is_same(before[path], after[path])
    ]


def _is_same(before: Any, after: Any) -> bool:
    """Exactly: neither is 1 the same as 1.0, nor as true."""
    return type(before) is type(after) and before == after


def _shown(figures: Figures, path: str) -> str:
    return repr(figures[path])[:60] if path in figures else "nothing"


def _tell(title: str, before: Figures, after: Figures) -> bool:
    """Print one comparison; whether there is no difference."""
    found = differences(before, after)
    if not found:
        print(f"{title}: same ({len(after):,} figures)", flush=True)
        return True
    print(f"{title}: {len(found):,} of {len({*before, *after}):,} figures differ", flush=True)
    for line, count in _gathered(found).items():
        print(f"    {line}" + (f"  (and {count - 1:,} like it)" if count > 1 else ""), flush=True)
    return False


def _gathered(found: Sequence[str]) -> dict[str, int]:
    """The first difference of each kind, and how many there are; numbers of list items make no kind."""
    first: dict[str, str] = {}
    count: dict[str, int] = {}
    for line in found:
        kind = re.sub(r"/\d+(?=/|$)", "/*", line.partition(": ")[0])
        first.setdefault(kind, line)
        count[kind] = count.get(kind, 0) + 1
    return {line: count[kind] for kind, line in first.items()}


def compare(checkouts: Sequence[Path], part: Part, each: Sequence[str], url: str) -> bool:
    """Run one part in every way; whether all is the same."""
    alone = None
    are_same = []
    for workers in each:
        *before, found = (results(checkout, part, workers, url) for checkout in checkouts)
        if before:
            are_same.append(_tell(f"{part}, -n {workers}, old and new", before[0], found))
        if alone is not None:
            are_same.append(_tell(f"{part}, -n {each[0]} and -n {workers}", alone, found))
        alone = alone or found
    return all(are_same)


def parts(only: Sequence[str]) -> list[Part]:
    """What is compared."""
    published = ("original",) if os.environ.get("EQUIPOISE_ORIGINAL_DATA") else ()
    return [Part(suite=suite, dataset=dataset) for suite in only for dataset in (*OWN[suite], *published)]


def main() -> int:
    """Compare everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", metavar="CHECKOUT", nargs="+", type=lambda path: Path(path).resolve())
    parser.add_argument("--only", metavar="SUITE", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--workers", metavar="N", nargs="+", default=list(WORKERS))
    parser.add_argument("--scripted", choices=["stubborn", "recovering"], default="stubborn")
    given = parser.parse_args()
    if len(given.checkouts) > 2:
        parser.error("one checkout or two")
    with serving("0.002", "--scripted", given.scripted) as endpoint:
        are_same = [compare(given.checkouts, part, given.workers, endpoint.url) for part in parts(given.only)]
    return 0 if all(are_same) else 1


if __name__ == "__main__":
    sys.exit(main())
