"""Gates and incomplete results as cases of a test report, such as JUnit's.

A test report has a case for every run. Without these additional cases it could show no failure although the
exit status is not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from equipoise.core.errors import printable
from equipoise.report.verdict import VERDICTS
from equipoise.suites import TESTS

if TYPE_CHECKING:
    from equipoise.results.document import GateVerdict

CaseOutcome = Literal["passed", "failed", "error", "skipped"]
_OUTCOMES: Mapping[str, CaseOutcome] = {"pass": "passed", "fail": "failed", "inconclusive": "error"}
_INCONCLUSIVE: Mapping[str | None, CaseOutcome] = {"pass": "skipped", "fail": "failed"}
"""Outcome of an inconclusive verdict by the value of `--gate-inconclusive`; `error` without that option."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCase:
    """A case: `name` is the last part of its node id, after the test file, and `why` a line of explanation.

    The outcome `error` means that the case could not be decided.
    """

    suite: str
    name: str
    outcome: CaseOutcome
    why: str

    @property
    def nodeid(self) -> str:
        """The node id, relative to the project."""
        return f"{TESTS}/test_{self.suite}.py::{printable(self.name)}"


def gate_cases(suite: str, gate: GateVerdict, inconclusive: str | None) -> Iterator[ReportedCase]:
    """A case for the gate of a suite, then one for each rule.

    `inconclusive` is the value of `--gate-inconclusive`. An advisory rule that does not pass is `skipped`.
    """
    outcomes = {**_OUTCOMES, "inconclusive": _INCONCLUSIVE.get(inconclusive, "error")}
    summary = ", ".join(f"{ruling.rule} {VERDICTS[ruling.verdict]}" for ruling in gate["rules"])
    yield ReportedCase(suite=suite, name="gate", outcome=outcomes[gate["verdict"]], why=summary)
    for ruling in gate["rules"]:
        is_required = ruling.required
        label, outcome = "gate" if is_required else "advisory", outcomes[ruling.verdict]
        why = f"{label} {VERDICTS[ruling.verdict]}: {ruling.rule}: {ruling.why}"
        if not is_required and outcome != "passed":
            outcome = "skipped"
        yield ReportedCase(suite=suite, name=f"gate::{ruling.rule}", outcome=outcome, why=why)


def incomplete_case(suite: str, why: str) -> ReportedCase:
    """A case for results of a suite that are incomplete, or could not be written."""
    return ReportedCase(suite=suite, name="results", outcome="error", why=why)


def waiting_case(suite: str, why: str) -> ReportedCase:
    """A case for results of a suite that still waits for batches."""
    return ReportedCase(suite=suite, name="results", outcome="skipped", why=why)


def missing_run_cases(suite: str, gate: GateVerdict) -> Iterator[ReportedCase]:
    """Cases for runs that were not done or have no score, for reports without a case for each run."""
    if gate["left"]:
        yield incomplete_case(suite, f"{gate['left']:,} of {gate['planned']:,} runs were not done")
    if gate["unscored"]:
        why = f"{gate['unscored']:,} of {gate['planned']:,} runs have no score"
        yield ReportedCase(suite=suite, name="results", outcome="failed", why=why)
