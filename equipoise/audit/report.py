"""Output of `judge audit`: the checks of each evaluator, and a ranking of several evaluators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from equipoise.report.audit import check_rows, describe_faults
from equipoise.report.layout import align

if TYPE_CHECKING:
    from equipoise.judge.anchors import Check
    from equipoise.results.document import Audit


def lines(evaluator: str, audit: Audit, width: int | None) -> Iterator[str]:
    """A line on the faults of an evaluator, then the table of its checks."""
    yield f"{evaluator}: {describe_faults(audit)}"
    yield from align(check_rows(audit), width)


def rank_evaluators(checks: Mapping[str, Sequence[Check]]) -> list[str]:
    """The evaluators' names, best first: fewest checks no better than chance, then fewest faults."""
    return sorted(checks, key=lambda name: _rank_key(checks[name]))


def _rank_key(checks: Sequence[Check]) -> tuple[int, int, float]:
    """Sort key: checks by chance, faults, then the mean relative distance from a sound value."""
    distances = [
        1.0 if check.value is None else (check.sound - check.value) / check.sound
        for check in checks
        if check.worse == "lower"
    ]
    by_chance = sum(check.is_by_chance for check in checks)
    faulty = sum(check.is_fault for check in checks)
    return by_chance, faulty, sum(distances) / len(distances) if distances else 1.0


def ranking(audits: Mapping[str, Mapping[str, Audit]], width: int | None) -> Iterator[str]:
    """A table of evaluators, best first, over all suites. `audits` is by evaluator and suite."""
    all_checks = {
        name: [check for audit in by_suite.values() for check in audit["checks"]]
        for name, by_suite in audits.items()
    }
    table = [
        (
            f"{rank}.",
            name,
            str(sum(check.is_fault for check in all_checks[name])),
            _faulty_checks(audits[name]),
        )
        for rank, name in enumerate(rank_evaluators(all_checks), 1)
    ]
    yield from align([("", "evaluator", "faults", ""), *table], width)


def _faulty_checks(audits: Mapping[str, Audit]) -> str:
    by_suite = {suite: [*_faulty_names(audit["checks"])] for suite, audit in audits.items()}
    return (
        "; ".join(f"{suite}: {', '.join(names)}" for suite, names in by_suite.items() if names)
        or "none found"
    )


def _faulty_names(checks: Sequence[Check]) -> Iterator[str]:
    yield from (check.name for check in checks if check.is_fault)
    by_chance = (check for check in checks if check.is_by_chance and not check.is_fault)
    yield from (f"{check.name} by chance" for check in by_chance)
