"""What the command says of audits: the checks of each evaluator, and a ranking of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.report.audit import faults, rows
from equipoise.report.layout import align

if TYPE_CHECKING:
    from equipoise.results.document import CheckFigures, EvaluatorAudit


def lines(evaluator: str, audit: EvaluatorAudit, width: int | None = None) -> Iterator[str]:
    """The checks of one evaluator, under the faults that were found."""
    yield f"{evaluator}: {faults(audit)}"
    yield from align(rows(audit), width)


def ranked(checks: Mapping[str, Sequence[CheckFigures]]) -> list[str]:
    """The evaluators' names, the one with the fewest faults first, then by how much they get right."""
    return sorted(checks, key=lambda name: _rank(checks[name]))


def _rank(checks: Sequence[CheckFigures]) -> tuple[int, int, float]:
    """Sort key: checks by chance first, then the number of faults, then the distance from what is sound."""
    missed = [
        1.0 if check["value"] is None else (check["sound"] - check["value"]) / check["sound"]
        for check in checks
        if check["worse"] == "lower"
    ]
    by_chance = sum(check["is_by_chance"] for check in checks)
    faulty = sum(check["is_fault"] for check in checks)
    return by_chance, faulty, sum(missed) / len(missed) if missed else 1.0


def ranking(audits: Mapping[str, Mapping[str, EvaluatorAudit]], width: int | None = None) -> Iterator[str]:
    """Several evaluators over all suites that were audited, by their audits by suite, best first."""
    every = {
        name: [check for audit in by_suite.values() for check in audit["checks"]]
        for name, by_suite in audits.items()
    }
    table = [
        (f"{rank}.", name, str(sum(check["is_fault"] for check in every[name])), _where(audits[name]))
        for rank, name in enumerate(ranked(every), 1)
    ]
    yield from align([("", "evaluator", "faults", ""), *table], width)


def _where(audits: Mapping[str, EvaluatorAudit]) -> str:
    by_suite = {suite: [*_named(audit["checks"])] for suite, audit in audits.items()}
    return (
        "; ".join(f"{suite}: {', '.join(names)}" for suite, names in by_suite.items() if names)
        or "none found"
    )


def _named(checks: Sequence[CheckFigures]) -> Iterator[str]:
    yield from (check["name"] for check in checks if check["is_fault"])
    yield from (f"{check['name']} by chance" for check in checks if check["is_by_chance"] > check["is_fault"])
