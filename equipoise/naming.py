"""One name everywhere: what a path or a node id says of the suite, by convention.

The tests of a suite are tests_benchmark/test_<suite>.py::test_<suite>[<run id>].
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from equipoise import suites
from equipoise.suites import TESTS


def suite_and_run(nodeid: str) -> tuple[str, str] | None:
    """The suite and the run id in a node id; None for any other test."""
    path, _, test = nodeid.partition("::")
    suite = _suite_in(path)
    run = test.partition("[")[2].removesuffix("]")
    return (suite, run) if run and suite else None


@lru_cache
def _suite_in(path: str) -> str | None:
    # Asked for every test, of which a file has thousands.
    file = PurePosixPath(path)
    suite = file.stem.removeprefix("test_")
    return suite if file.parent.name == TESTS and suite in suites.names() else None


def suites_in(root: Path, paths: Iterable[Path]) -> list[str]:
    """The suites whose test file is among these paths or below one of them."""
    files = {name: (root / TESTS / f"test_{name}.py").resolve() for name in suites.names()}
    asked = [path.resolve() for path in paths]
    return [
        name for name, file in files.items() if any(path == file or path in file.parents for path in asked)
    ]
