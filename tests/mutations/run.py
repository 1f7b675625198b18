"""Apply one mutation after the other to a copy of the checkout, and see whether the tests notice.

python tests/mutations/run.py                  # all, with the tests that each names and then the quick ones
python tests/mutations/run.py stats --slow     # those of stats.toml, with the slow tests too
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
QUICK, ALL = "not slow and not nightly", "not nightly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A change of one file that a test must notice."""

    name: str
    file: str
    old: str
    new: str
    tests: Sequence[str] = ()


def mutations(rooms: Sequence[str]) -> list[Mutation]:
    """Those of these files, or all."""
    files = [HERE / f"{room}.toml" for room in rooms] or sorted(HERE.glob("*.toml"))
    return [
        Mutation(**item)
        for file in files
        for item in tomllib.loads(file.read_text(encoding="utf-8"))["mutation"]
    ]


def copied(folder: Path) -> Path:
    """A copy of the checkout, a repository of its own: what git knows, as it is now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    # Some tests ask git which files there are: outside a repository they would fail whatever the defect.
    for command in (("git", "init", "-q"), ("git", "add", "-A")):
        subprocess.run(command, cwd=folder, check=True)
    return folder


@cache
def refuse_failing(folder: Path, tests: str, marks: str) -> None:
    """Raise SystemExit where these tests fail without any defect, so that they notice nothing."""
    if not _passes(folder, tests, marks):
        raise SystemExit(f"pytest {tests} fails without a mutation; mend that first")


def verdict(mutation: Mutation, folder: Path, marks: str) -> str:
    """By which tests it is noticed; empty where by none."""
    path = folder / mutation.file
    text = path.read_text(encoding="utf-8")
    if text.count(mutation.old) != 1:
        raise SystemExit(f"{mutation.name}: {mutation.file} has the text {text.count(mutation.old)} times")
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        noticed = next((tried for tried in _tried(mutation, marks) if not _passes(folder, *tried)), None)
    finally:
        path.write_text(text, encoding="utf-8")
    if noticed:
        refuse_failing(folder, *noticed)
    return noticed[0] if noticed else ""


def _tried(mutation: Mutation, marks: str) -> Iterator[tuple[str, str]]:
    """Tests and their marks: those that the mutation names, however slow, and then the others."""
    if mutation.tests:
        yield " ".join(mutation.tests), ALL
    yield "tests", marks


def _passes(folder: Path, tests: str, marks: str) -> bool:
    options = ("-x", "-q", "-p", "no:cacheprovider", "-m", marks, "-n", "2", "--dist", "worksteal")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *tests.split(), *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"pytest {tests} ends with {done.returncode}")
    return done.returncode == 0


def main() -> int:
    """Say of each mutation what notices it; 1 where nothing notices one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", nargs="*", help="names of the files here, without .toml")
    parser.add_argument("--slow", action="store_true", help="with the slow tests")
    options = parser.parse_args()
    wanted, missed = mutations(options.rooms), 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied(Path(temporary))
        for mutation in wanted:
            noticed = verdict(mutation, folder, ALL if options.slow else QUICK)
            missed += not noticed
            print(f"{noticed or 'NOT NOTICED':40} {mutation.name}", flush=True)
    print(f"{len(wanted) - missed} of {len(wanted)} mutations noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
