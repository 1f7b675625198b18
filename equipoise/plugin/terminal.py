"""What the user sees while a session runs and when it ends: badges, counting, the summary.

The hooks of a pytest plugin, which need nothing of pytest but what they are handed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from equipoise import suites
from equipoise.core.records import Record
from equipoise.report import status_line
from equipoise.report.comparison import VERDICTS
from equipoise.report.status_line import Output
from equipoise.runner.progress import Progress
from equipoise.runner.signals import in_flight

UNSCORED = "unscored"
"""What pytest's last line calls runs without a score."""
_LETTERS = {"blocked": "b", "truncated": "t", "empty": "e", "unscored": "u", "error": "E"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """How a run is shown: one letter, words for -v, a colour of pytest's terminal writer."""

    letter: str
    words: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class _GateReport:
    """What other plugins find among pytest's reports for a gate that does not pass."""

    outcome: str
    nodeid: str = "gate"
    when: str = "summary"


def badge(properties: Mapping[str, Any]) -> Badge | None:
    """The badge of a report's small values; None where it is not an Equipoise report."""
    outcome = properties.get("outcome")
    if outcome is None:
        return None
    score, percent = properties.get("score"), properties.get("percent")
    letter = _LETTERS.get(outcome) or _digit(score, percent)
    name = "score" if outcome == "scored" else outcome
    figures = "" if score is None else f" {score:g}" + ("" if percent is None else f" ({percent:g}%)")
    return Badge(letter=letter, words=f"{name.upper()}{figures}", colour=_colour(outcome, percent))


def _digit(score: float | None, percent: float | None) -> str:
    """The score as a digit, rounded where it is on a scale of a few levels; else a dot."""
    is_level = score is not None and (percent is not None or float(score).is_integer())
    return f"{int(score + 0.5)}" if is_level and score is not None and 0 <= score < 9.5 else "."


def _colour(outcome: str, percent: float | None) -> str:
    """Red is for low scores and for none; where a score is neither high nor low it is green."""
    if outcome in ("unscored", "error"):
        return "red"
    if outcome not in ("scored", "refused"):
        return "yellow"
    if percent is None:
        return "green"
    return "green" if percent >= 75 else "yellow" if percent >= 50 else "red"


def small_values(record: Record) -> list[tuple[str, str | float]]:
    """What travels with every report: small values only."""
    found: dict[str, str | float | None] = {
        "language": str(record.case["language"]),
        "outcome": record.outcome,
        "score": record.score,
        "percent": record.percent,
        "error": None if record.error is None else record.error[:300],
        "call_latency": record.latency,
        "queue_time": record.queued,
    }
    return [_pair(name, value) for name, value in found.items() if value is not None]


@lru_cache(maxsize=1000, typed=True)
def _pair(name: str, value: str | float) -> tuple[str, str | float]:
    # pytest keeps three reports of every test to the end: let them share what is the same.
    return (name, value)


def output(config: Any) -> Output | None:
    """Where progress is shown; None where nobody wants to see it."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 0:
        return None
    # While a test runs, standard output is captured: the line goes to what it was before.
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        descriptor = os.dup(1)
    config.add_cleanup(lambda: os.close(descriptor))
    return Output(descriptor=descriptor, is_live=status_line.supports(reporter.isatty))


def suite_and_run(nodeid: str) -> tuple[str, str] | None:
    """The suite and the run id in a node id, tests_benchmark/test_<suite>.py::test_<suite>[<run id>].

    None for any other test.
    """
    path, _, test = nodeid.partition("::")
    suite = _suite_in(path)
    run = test.partition("[")[2].removesuffix("]")
    return (suite, run) if run and suite else None


@lru_cache
def _suite_in(path: str) -> str | None:
    # Asked for every test, of which a file has thousands.
    file = PurePosixPath(path)
    suite = file.stem.removeprefix("test_")
    return suite if file.parent.name == suites.TESTS and suite in suites.names() else None


class Display:
    """Follows a session in the process that the user sees. `most_failures` is what -x or --maxfail says."""

    def __init__(self, progress: Progress, most_failures: int, say: Callable[[str], None]) -> None:
        self.progress = progress
        self._say = say
        self._most_failures = most_failures
        self._failures = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a run that is done; with -x stop every worker, not only the one that failed."""
        if report.when == "call" and (found := suite_and_run(report.nodeid)):
            self.progress.note(*found)
        self._failures += report.failed
        if 0 < self._most_failures <= self._failures:
            self.progress.session.counters.stop(f"stopping after {self._failures} failures")

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """The score instead of a dot."""
        if getattr(report, "when", None) != "call":
            return None
        properties = dict(report.user_properties)
        shown = badge(properties)
        if shown is None:
            return None
        # Not "failed", of which pytest shows where in the test: the summary has its one line.
        kind = UNSCORED if report.failed and "score" not in properties else report.outcome
        return (kind, shown.letter, (shown.words, {shown.colour: True}))

    def pytest_keyboard_interrupt(self) -> None:
        """Let no worker start another call, and say what is waited for."""
        counters = self.progress.session.counters
        counters.stop("interrupted")
        self.progress.close_line()
        if count := counters.totals().in_flight:
            self._say(in_flight(count))

    def pytest_sessionfinish(self) -> None:
        """Let no signal cut off the writing of results, which takes a moment; the calls are made."""
        self.progress.session.interruptions.finish()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table of scores, what it cost, what is missing, and where the results are."""
        self._colour_last_line(terminalreporter)
        for name, lines in self.progress.summary():
            terminalreporter.section(name)
            for line in lines:
                terminalreporter.write_line(line)

    def _colour_last_line(self, reporter: Any) -> None:
        """Let pytest's last line name each gate that does not pass, and be green only where all is well."""
        verdicts = [verdict for verdict in self.progress.verdicts if verdict != "pass"]
        # There is no public way to a kind of its own, or to another colour.
        for verdict in verdicts:
            reporter._add_stats(f"gate {VERDICTS[verdict]}", [_GateReport(outcome=verdict)])
        if "fail" in verdicts or UNSCORED in reporter.stats or not self.progress.is_complete:
            # The line is red where there is a list of failures, be it empty.
            reporter._add_stats("failed", [])
