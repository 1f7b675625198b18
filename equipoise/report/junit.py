"""Gates and incomplete results as cases of a test report, and a JUnit report of them.

A test report has a case for every run. Without these additional cases it could show no failure although the
exit status is not 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from equipoise.core.errors import UserError, printable
from equipoise.report.verdict import VERDICTS, SectionsBySuite
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


# A JUnit report.


_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}


def write(path: Path, releases: Mapping[str, SectionsBySuite], inconclusive: str | None) -> None:
    """Write a test suite for each model, from the sections of its results by suite. Raises UserError."""
    root = Element("testsuites")
    for model, suites in releases.items():
        _add_test_suite(root, model, list(cases(suites, inconclusive)))
    indent(root)
    try:
        ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UserError(f"--junitxml: {path}: cannot be written ({error.strerror})") from None


def cases(suites: SectionsBySuite, inconclusive: str | None) -> Iterator[ReportedCase]:
    """A test case for each gate, for each of its rules, and for results that lack runs or scores."""
    for suite, sections in suites.items():
        if gate := sections.get("gate"):
            yield from missing_run_cases(suite, gate)
            yield from gate_cases(suite, gate, inconclusive)


def _add_test_suite(root: Element, model: str, cases: list[ReportedCase]) -> None:
    counts = {
        f"{name}s" if name != "skipped" else name: str(sum(case.outcome == outcome for case in cases))
        for outcome, name in _ELEMENTS.items()
    }
    attributes = {"name": printable(model), "tests": str(len(cases)), **counts}
    suite = SubElement(root, "testsuite", attributes)
    for case in cases:
        classname, name = _names(case.nodeid)
        item = SubElement(suite, "testcase", classname=classname, name=name)
        if case.outcome in _ELEMENTS:
            SubElement(item, _ELEMENTS[case.outcome], message=printable(case.why))


def _names(nodeid: str) -> tuple[str, str]:
    """The class and the name that pytest's JUnit report gives the test of a node id."""
    file, *names = nodeid.split("::")
    *classes, name = names
    return ".".join([file.removesuffix(".py").replace("/", "."), *classes]), name
