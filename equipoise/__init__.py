"""Equipoise: is a language model neutral, even-handed and factual on political questions?

In scripts and notebooks:

    import equipoise

    results = equipoise.run("SUITE", model="gpt-x", limit=5)
    results = equipoise.load("results/gpt-x.SUITE.json")
    equipoise.compare("results/old.SUITE.json", results)
    equipoise.gate("results/old.SUITE.json", results, "overall:-2pp")

Whatever cannot work raises an `EquipoiseError` whose message is one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipoise.core.errors import EquipoiseError, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path
    from typing import Any, TypeAlias

    from equipoise.comparison.api import Gate
    from equipoise.comparison.compare import Comparison
    from equipoise.report.results import Results

    Source: TypeAlias = str | PathLike[str] | Results

__version__ = "0.2.0"
__all__ = ["EquipoiseError", "UserError", "__version__", "compare", "gate", "load", "run"]

# Everything is imported where it is used: `import equipoise` is quick, and every part of the package does it.


def load(path: str | PathLike[str]) -> Results:
    """The results in a file. Raises UserError."""
    from pathlib import Path

    from equipoise.report import results

    return results.load(Path(path))


def run(suite: str, *, folder: str | PathLike[str] = ".", **options: Any) -> Results:
    """Ask and judge every case of a suite, in a session without pytest, and return its results.

    `options` are those of `pytest --help` with underscores: `model="gpt-x"`, `limit=5`,
    `evaluator_model=["a", "b"]`. Files of the project in `folder` come before those of the package; results
    and journal are written to its `results`. The same call resumes a session, and never pays twice.

    Raises UserError before anything is asked, SessionStopped where the session ended early, BatchWaiting
    where batches are not done. A run without a score raises nothing: it is in `errors` of the results.
    """
    from pathlib import Path

    from equipoise.audit.session import SessionAudits
    from equipoise.runner import run as sessions

    root = Path(folder).absolute()
    return load(sessions.run(suite, root, options, SessionAudits(root)))


def compare(baseline: Source, candidate: Source, *, allow_mismatch: bool = False) -> Comparison:
    """The candidate against the baseline: the difference in every metric, with its interval.

    Raises UserError that names what differs if the two are not comparable.
    """
    from equipoise.comparison import api

    return api.compare(_path(baseline), _path(candidate), allows_mismatch=allow_mismatch)


def gate(
    baseline: Source, candidate: Source, rules: str | Sequence[str], *, allow_mismatch: bool = False
) -> Gate:
    """Whether the candidate may be released by these rules, such as `overall:-2pp` or `gates.toml`.

    Raises UserError.
    """
    from equipoise.comparison import api

    texts = [rules] if isinstance(rules, str) else rules
    return api.gate(_path(baseline), _path(candidate), texts, allows_mismatch=allow_mismatch)


def _path(source: Source) -> Path:
    from pathlib import Path

    from equipoise.report.results import Results

    return source.path if isinstance(source, Results) else Path(source)
