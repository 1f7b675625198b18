"""Equipoise: is a language model neutral, even-handed and factual on political questions?

In scripts and notebooks:

    import equipoise

    results = equipoise.run("SUITE", model="gpt-x", limit=5)
    results = equipoise.load("results/gpt-x.SUITE.json")
    equipoise.compare("results/old.SUITE.json", results)
    equipoise.gate("results/old.SUITE.json", results, "overall:-2pp")

Errors are `EquipoiseError`s, whose message is one line.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, overload

from equipoise.core.errors import EquipoiseError, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any, TypeAlias

    from equipoise.comparison.compare import Comparison
    from equipoise.comparison.of_files import Gate
    from equipoise.results.results import Results, ResultsList

    Source: TypeAlias = str | PathLike[str] | Results

__version__ = "1.0.0"
__all__ = ["EquipoiseError", "UserError", "__version__", "compare", "gate", "load", "run"]

# Functions import what they need: every import of a module of the package runs this module first.


@overload
def load(path: str | PathLike[str]) -> Results: ...
@overload
def load(path: list[str] | list[Path]) -> ResultsList: ...
def load(path: str | PathLike[str] | list[str] | list[Path]) -> Results | ResultsList:
    """Load the results in a file, or all those in a folder and its subfolders. Raises UserError.

    A file gives a Results; a folder, or a list of files and folders, gives a ResultsList. Type checkers
    cannot tell a folder from a file: put the folder in a list if you need the precise type.

    The suites of a project are searched for from the working directory, as the commands do.
    """
    from pathlib import Path

    from equipoise.results.find import find_results
    from equipoise.results.results import ResultsList

    paths = [Path(path)] if isinstance(path, str | PathLike) else [*map(Path, path)]
    if isinstance(path, str | PathLike) and not paths[0].is_dir():
        return _load(paths[0])
    files, _ = find_results(paths)
    return ResultsList(map(_load, files))


def run(suite: str, *, folder: str | PathLike[str] = ".", **options: Any) -> Results:
    """Ask and judge every case of a suite, in a session without pytest, and return its results.

    `options` are those of `pytest --help` with underscores: `model="gpt-x"`, `limit=5`,
    `evaluator_model=["a", "b"]`. Files of the project in `folder` take precedence over those of the package.
    Results and journal are written to its folder `results`. The same call resumes a session and never pays
    for a call twice.

    Raises UserError before anything is asked, SessionStopped if the session ended early, and BatchWaiting if
    batches are not done. A run without a score raises nothing: it is listed in `errors` of the results.
    """
    from pathlib import Path

    from equipoise.audit.session import SessionAudits
    from equipoise.runner import run as sessions

    root = Path(folder).absolute()
    return _with_sentences(sessions.run(suite, root, options, SessionAudits(root)))


def compare(baseline: Source, candidate: Source, *, allow_mismatch: bool = False) -> Comparison:
    """Compare a candidate with a baseline: the difference in every metric, with its interval.

    Raises UserError that names what differs if the two are not comparable.
    """
    from dataclasses import replace

    from equipoise.comparison.of_files import compare_two
    from equipoise.report.comparison import answer

    _add_project()
    compared = compare_two(_path(baseline), _path(candidate), allows_mismatch=allow_mismatch)
    return replace(compared, says=answer)


def gate(
    baseline: Source, candidate: Source, rules: str | Sequence[str], *, allow_mismatch: bool = False
) -> Gate:
    """Check by rules, such as `overall:-2pp` or a file `gates.toml`, whether a candidate may be released.

    Raises UserError.
    """
    from equipoise.comparison.of_files import gate_one

    _add_project()
    texts = [rules] if isinstance(rules, str) else rules
    return gate_one(_path(baseline), _path(candidate), texts, allows_mismatch=allow_mismatch)


def _load(path: Path) -> Results:
    from equipoise.results.load import load

    _add_project()
    return _with_sentences(load(path))


def _add_project() -> None:
    from pathlib import Path

    from equipoise import suites

    suites.add_project(Path.cwd())


def _with_sentences(results: Results) -> Results:
    """The results with the function that says them in sentences, as notebooks and terminals show them."""
    from dataclasses import replace

    from equipoise.report import sentences

    return replace(results, says=sentences.about)


def _path(source: Source) -> Path:
    from pathlib import Path

    from equipoise.results.results import Results

    if not isinstance(source, Results):
        return Path(source)
    assert source.path is not None, "loaded results have a path"
    return source.path
