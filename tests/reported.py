"""What reports of tests say of a session: JUnit's, and that of pytest-json-report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

OPTIONS = ("--junitxml=junit.xml", "--json-report", "--json-report-file=report.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """Exit status, how many tests ended how by both reports, and the cases that are not runs.

    `cases` has the tag in JUnit's report, the outcome in the other one and the explanation, by node id.
    """

    status: int
    junit: Counter[str]
    json: Counter[str]
    cases: dict[str, tuple[str, str, str]]


def read(folder: Path) -> Reported:
    """The reports that a session with these options has written."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (suite,) = ET.parse(folder / "junit.xml").getroot()
    # A test in no class; the rules of a gate are in the class `gate`.
    tags = {f"{case.get('classname')}.{case.get('name')}": _tag(case) for case in suite}
    whys = {name: case.find(tag) for (name, tag), case in zip(tags.items(), suite, strict=True)}
    cases = {}
    for test in report["tests"]:
        if "[" not in test["nodeid"]:
            file, *names = test["nodeid"].split("::")
            name = ".".join([file.removesuffix(".py").replace("/", "."), *names])
            element = whys[name]
            shown = "" if element is None else str(element.get("message"))
            why = test["user_properties"][0]["why"]
            assert why in shown or tags[name] == "passed"
            cases[test["nodeid"]] = (tags[name], test["outcome"], why)
    outcomes = Counter(test["outcome"] for test in report["tests"])
    assert {name: outcomes[name] for name in outcomes} == {
        name: number
        for name, number in report["summary"].items()
        if name not in ("total", "collected", "deselected")
    }
    junit = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    counts = Counter(tags.values())
    assert {tag: counts[tag] for tag in junit} == {
        tag: int(suite.get(name, -1)) for tag, name in junit.items()
    }
    assert len(tags) == int(suite.get("tests", -1)) == len(report["tests"])
    return Reported(status=report["exitcode"], junit=counts, json=outcomes, cases=cases)


def _tag(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag != "properties"), "passed")
