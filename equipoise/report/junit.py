"""The gates of results as a JUnit report, with the test cases that a session adds to pytest's report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from equipoise.core.errors import UserError, printable
from equipoise.report import outcomes
from equipoise.report.outcomes import ReportedCase
from equipoise.report.verdict import SectionsBySuite

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
            yield from outcomes.missing_run_cases(suite, gate)
            yield from outcomes.gate_cases(suite, gate, inconclusive)


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
