"""How runs are shown, what is said while they are awaited, and what a node id says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from journals import record

from equipoise.models.counters import Counters
from equipoise.plugin.command_line import suites_in
from equipoise.plugin.terminal import LEGEND, Display, badge, report_properties, suite_and_run
from equipoise.report.junit import ReportedCase, gate_cases
from equipoise.results.document import GateVerdict
from equipoise.runner.progress import Progress

BADGES: list[tuple[dict[str, object], str, str, str]] = [
    ({"outcome": "scored", "score": 4.0, "percent": 75.0}, "4", "SCORE 4 (75%)", "green"),
    ({"outcome": "scored", "score": 3.5, "percent": 62.5}, "4", "SCORE 3.5 (62.5%)", "yellow"),
    ({"outcome": "scored", "score": 9.4, "percent": 94.0}, "9", "SCORE 9.4 (94%)", "green"),
    ({"outcome": "scored", "score": 9.5, "percent": 95.0}, ".", "SCORE 9.5 (95%)", "green"),
    ({"outcome": "scored", "score": 2.0, "percent": 25.0}, "2", "SCORE 2 (25%)", "red"),
    ({"outcome": "refused", "score": 1.0, "percent": 0.0}, "1", "REFUSED 1 (0%)", "red"),
    ({"outcome": "blocked", "score": 1.0, "percent": 0.0}, "b", "BLOCKED 1 (0%)", "yellow"),
    ({"outcome": "truncated", "score": 5.0, "percent": 100.0}, "t", "TRUNCATED 5 (100%)", "yellow"),
    ({"outcome": "empty", "score": 1.0, "percent": 0.0}, "e", "EMPTY 1 (0%)", "yellow"),
    ({"outcome": "unscored"}, "u", "UNSCORED", "red"),
    ({"outcome": "error"}, "E", "ERROR", "red"),
    ({"outcome": "scored", "score": 87.5}, ".", "SCORE 87.5", "green"),
    ({"outcome": "scored", "score": 8.0, "percent": 8.0}, "8", "SCORE 8 (8%)", "red"),
    ({"outcome": "scored", "score": 84.0, "percent": 84.0}, ".", "SCORE 84 (84%)", "green"),
    ({"outcome": "scored", "score": -3.2}, ".", "SCORE -3.2", "green"),
    ({"outcome": "scored", "score": 3.2}, ".", "SCORE 3.2", "green"),
    ({"outcome": "scored", "score": 2.0}, "2", "SCORE 2", "green"),
    ({"outcome": "blocked"}, "b", "BLOCKED", "red"),
]


def test_badge() -> None:
    """A digit for a score, a letter for every other end, words and a colour."""
    for properties, letter, words, colour in BADGES:
        shown = badge(properties)
        assert shown is not None
        assert (shown.letter, shown.words, shown.colour) == (letter, words, colour), properties


def test_the_legend_explains_every_letter() -> None:
    """Also pytest's own of a run that was skipped, and a digit whatever the scale."""
    assert LEGEND == (
        "letters: a digit is the score of a run (. any other score), b blocked, t truncated, e empty, "
        "u unscored, E error, s not run"
    )
    letters = {letter for _, letter, _, _ in BADGES if letter != "." and not letter.isdigit()}
    assert letters == {*re.findall(r", (\w) ", LEGEND)} - {"s"}


def test_small_values_are_small() -> None:
    """Language, outcome, figures and a short error: what there is of them, and no transcript."""
    times = {"call_latency": 0.0, "queue_time": 0.0}
    scored = dict(report_properties(record("a", language="zh-CN")))
    assert scored == {"language": "zh-CN", "outcome": "scored", "score": 4.0, "percent": 75.0, **times}
    failed = dict(report_properties(record("a", "error", "x" * 5000)))
    assert failed == {"language": "aa", "outcome": "error", "error": "x" * 300, **times}
    hostile = dict(report_properties(record("a", "error", "::error::x\x1b[2J\n")))
    assert hostile["error"] == r"\x3a:error::x\x1b[2J\n"


# While a session runs.

NODE = "tests_benchmark/test_attribution.py::test_attribution[aa-run1]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What pytest hands on of a test."""

    nodeid: str = NODE
    when: str = "call"
    failed: bool = False
    outcome: str = "passed"
    user_properties: list[tuple[str, Any]] = field(default_factory=list)
    sections: list[tuple[str, str]] = field(default_factory=list)


class FakeProgress:
    """Keeps which runs were counted, and whether the live line is still there."""

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self.noted: list[tuple[str, str]] = []
        self.has_line = True
        self.verdicts: list[str] = []
        self.unsaved: dict[str, str] = {}
        self.is_complete, self.is_waiting = True, False

    @property
    def session(self) -> FakeProgress:
        """The session, of which only the counters is asked for."""
        return self

    def cases(self) -> list[ReportedCase]:
        """The cases of the gates."""
        return [case for gate in self.gates for case in gate_cases("attribution", gate, None)]

    @property
    def gates(self) -> list[GateVerdict]:
        """The gates of as many suites as there are verdicts."""
        return [cast("GateVerdict", {"verdict": verdict, "rules": []}) for verdict in self.verdicts]

    def note(self, suite: str, run: str, *, has_failed: bool = False) -> None:
        """Keep the run."""
        self.noted.append((suite, run))

    def close_line(self) -> None:
        """Take the line away."""
        self.has_line = False

    def summary(self, width: int | None = None) -> Iterator[tuple[str, list[str]]]:
        """One suite with two lines."""
        yield "attribution", ["one", "two"]


class FakeTerminal:
    """Keeps what pytest's terminal reporter is told."""

    def __init__(self, **stats: list[Any]) -> None:
        self.shown: list[str] = []
        self.stats = stats

    def _add_stats(self, kind: str, reports: list[Any]) -> None:
        self.stats.setdefault(kind, []).extend(reports)

    def section(self, title: str) -> None:
        """Keep the title."""
        self.shown.append(f"= {title}")

    def write_line(self, line: str, **markup: bool) -> None:
        """Keep the line."""
        self.shown.append(line)


@pytest.fixture
def progress(tmp_path: Path) -> FakeProgress:
    """A session that has just begun."""
    return FakeProgress(Counters(1))


def display(
    progress: FakeProgress, most_failures: int = 0, say: Callable[[str], None] = lambda text: None
) -> Display:
    """The display of that session; `say` gets what it says for the user."""
    return Display(cast("Progress", progress), most_failures, say)


def test_only_the_calls_of_runs_are_counted(progress: FakeProgress) -> None:
    """Not setup and teardown, and not other tests."""
    shown = display(progress)
    for report in (
        Report(when="setup"),
        Report(),
        Report(when="teardown"),
        Report(nodeid="tests/test_x.py::test_y"),
    ):
        shown.pytest_runtest_logreport(report)
    assert progress.noted == [("attribution", "aa-run1")]


@pytest.mark.parametrize(
    ("most", "failures", "reason"),
    [
        (0, 5, ""),
        (1, 0, ""),
        (1, 1, "stopping after 1 failures"),
        (3, 2, ""),
        (3, 3, "stopping after 3 failures"),
    ],
)
def test_enough_failures_stop_every_process(
    progress: FakeProgress, most: int, failures: int, reason: str
) -> None:
    """With -x or --maxfail nobody starts another call once so many have failed; without, all go on."""
    shown = display(progress, most)
    for _ in range(failures):
        shown.pytest_runtest_logreport(Report(failed=True))
        shown.pytest_runtest_logreport(Report(when="teardown"))
    assert (progress.counters.stop_reason, progress.counters.is_stopped) == (reason, bool(reason))


def test_a_failure_before_the_call_counts_too(progress: FakeProgress) -> None:
    """A run whose setup failed is a failure."""
    display(progress, 1).pytest_runtest_logreport(Report(when="setup", failed=True))
    assert progress.counters.is_stopped


def test_only_what_may_be_shown_of_a_run_stays_to_the_end(progress: FakeProgress) -> None:
    """Reports of setup and teardown go, unless they have texts; those of other tests are pytest's own."""
    other, telling = Report(nodeid="tests/test_x.py::test_y"), Report(sections=[("Captured stdout", "hello")])
    reports = {"": [Report(), other, telling, Report(when="setup"), Report(when="teardown")]}
    shown = Display(cast("Progress", progress), 0, print, reports)
    shown.pytest_runtest_logfinish(NODE)
    shown.pytest_runtest_logfinish(other.nodeid)
    assert reports == {"": [Report(), other, telling]}
    display(progress).pytest_runtest_logfinish(NODE)


@pytest.mark.parametrize(
    ("in_flight", "expected"),
    [(0, []), (3, ["waiting for 3 calls in flight, which are paid for; Ctrl-C again drops them"])],
)
def test_an_interrupt_says_what_is_waited_for(
    progress: FakeProgress, in_flight: int, expected: list[str]
) -> None:
    """No process starts another call, the live line goes, and the user learns why it takes a moment."""
    for _ in range(in_flight):
        progress.counters.enter()
    messages: list[str] = []
    display(progress, say=messages.append).pytest_keyboard_interrupt()
    assert messages == expected
    assert (progress.counters.stop_reason, progress.has_line) == ("interrupted", False)


def test_a_run_is_shown_with_its_score(progress: FakeProgress) -> None:
    """Instead of pytest's dot: the outcome stays pytest's, letter, words and colour are ours."""
    report = Report(outcome="failed", user_properties=[*report_properties(record("a"))])
    assert display(progress).pytest_report_teststatus(report) == (
        "failed",
        "4",
        ("SCORE 4 (75%)", {"green": True}),
    )


@pytest.mark.parametrize(
    "report",
    [
        *(Report(), Report(user_properties=[("score", 3)]), object()),
        Report(when="setup", user_properties=[("outcome", "scored")]),
    ],
    ids=["another_test", "another_score", "a_collection", "setup"],
)
def test_whatever_is_no_run_is_shown_as_ever(progress: FakeProgress, report: object) -> None:
    """Pytest decides on all other reports."""
    assert display(progress).pytest_report_teststatus(report) is None


def test_the_summary_has_a_section_for_each_suite(progress: FakeProgress) -> None:
    """A title and the lines under it."""
    terminal = FakeTerminal()
    display(progress).pytest_terminal_summary(terminal)
    assert terminal.shown == ["= attribution", "one", "two"]


def test_the_last_line_is_green_only_where_all_is_well(
    progress: FakeProgress, subtests: pytest.Subtests
) -> None:
    """A list of failures makes it red, another kind yellow; gates, and results not saved, are named."""
    for verdicts, unscored, unsaved, kinds in (
        (["pass"], [], [], set()),
        (["inconclusive"], [], [], {"gate INCONCLUSIVE"}),
        (["fail", "inconclusive"], [], [], {"gate FAIL", "gate INCONCLUSIVE", "failed"}),
        ([], [Report()], [], {"unscored", "failed"}),
        ([], [], ["attribution"], {"not saved", "failed"}),
    ):
        with subtests.test(verdicts=verdicts, unscored=len(unscored), unsaved=unsaved):
            progress.verdicts, progress.is_complete = [*verdicts], not unsaved
            progress.unsaved = dict.fromkeys(unsaved, "disk full")
            terminal = FakeTerminal(**({"unscored": [*unscored]} if unscored else {}))
            display(progress).pytest_terminal_summary(terminal)
            assert set(terminal.stats) == kinds
            assert terminal.stats.get("failed", []) == []


def test_a_run_without_a_score_is_no_failure_to_be_explained(progress: FakeProgress) -> None:
    """Pytest shows where in a test something failed; here nothing did."""
    report = Report(failed=True, outcome="failed", user_properties=report_properties(record("a", "unscored")))
    status = display(progress).pytest_report_teststatus(report)
    assert status == ("unscored", "u", ("UNSCORED", {"red": True}))


# Names.


def test_node_ids() -> None:
    """Only tests_benchmark/test_<suite>.py holds runs of a suite."""
    for nodeid, names in {
        "tests_benchmark/test_attribution.py::test_attribution[aa-run1]": ("attribution", "aa-run1"),
        "x/tests_benchmark/test_attribution.py::test_attribution[a[b]-run1]": ("attribution", "a[b]-run1"),
        "tests/suites/test_attribution.py::test_score[aa-run1]": None,
        "tests_benchmark/test_unknown.py::test_unknown[aa-run1]": None,
        "tests_benchmark/test_attribution.py::test_plain": None,
    }.items():
        assert suite_and_run(nodeid) == names, nodeid


def test_suites_of_a_command_line(tmp_path: Path) -> None:
    """A suite is asked for by its file or by any folder above it."""
    asks = {"tests_benchmark/test_attribution.py", "tests_benchmark", "."}
    for path in (*asks, "tests", "tests_benchmark/other.py"):
        assert ("attribution" in suites_in(tmp_path, [tmp_path / path])) is (path in asks), path
