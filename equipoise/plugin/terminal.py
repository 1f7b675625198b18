"""The terminal output of a session: outcome badges, progress, and the summary.

Implements pytest hooks, but does not import pytest.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from equipoise import suites
from equipoise.core.errors import printable
from equipoise.core.outcomes import APPEARANCES
from equipoise.core.records import Record

if TYPE_CHECKING:
    from equipoise.report.status_line import Output
    from equipoise.runner.progress import Progress
    from equipoise.runner.standard_output import LosableOutput

UNSCORED = "unscored"
"""The category of runs without a score in pytest's last line."""
MOST_ERROR_CHARACTERS = 300
"""The length to which a report cuts the error of a run; the journal has all of it."""
_LETTERS = {outcome: appearance.letter for outcome, appearance in APPEARANCES.items() if appearance.letter}
LEGEND = ", ".join(
    (
        "letters: a digit is the score of a run (. any other score)",
        *(f"{letter} {outcome}" for outcome, letter in _LETTERS.items()),
        "s not run",
    )
)
"""The explanation of the letters that stand for runs."""


def say(config: Any, text: str) -> None:
    """Print the lines of a text, escaped, unless it is empty."""
    if text:
        write(config, "\n".join(map(printable, text.split("\n"))))


def write(config: Any, text: str) -> None:
    """Print a text as it is, unless there is no terminal reporter."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(text)
        # Piped output is buffered, and would appear late.
        reporter.flush()


def outlive_output(config: Any) -> LosableOutput:
    """Have pytest write to an output whose loss causes no traceback, and return that output."""
    from equipoise.runner.standard_output import LosableOutput

    writer = config.get_terminal_writer()
    # pytest has no public name for the file that its writer writes to.
    writer._file = output = LosableOutput(writer._file)
    return output


def show_lines(config: Any, title: str, lines: Iterable[str]) -> None:
    """Print a title and lines, wrapped to the terminal."""
    say(config, f"\n{title}")
    for line in lines:
        say_wrapped(config, line)


def say_wrapped(config: Any, line: str) -> None:
    """Print a line, wrapped to the terminal."""
    from equipoise.report.layout import wrap_line

    for part in wrap_line(line, shutil.get_terminal_size().columns):
        say(config, part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """How the terminal shows a run: a letter, the words for -v, and a colour of pytest's terminal writer."""

    letter: str
    words: str
    colour: str


@dataclass(frozen=True, kw_only=True)
class _CountedReport:
    """A report that pytest's last line counts: of a gate that did not pass, or of results not saved.

    Other plugins may read these attributes, which all of pytest's reports have.
    """

    outcome: str
    nodeid: str
    when: str = "summary"


def badge(properties: Mapping[str, Any]) -> Badge | None:
    """The badge of a run, from its report's properties; None if the report is of another test."""
    outcome = properties.get("outcome")
    if outcome is None:
        return None
    score, percent = properties.get("score"), properties.get("percent")
    letter = _LETTERS.get(outcome) or _score_letter(score, percent)
    name = "score" if outcome == "scored" else outcome
    figures = "" if score is None else f" {score:g}" + ("" if percent is None else f" ({percent:g}%)")
    return Badge(letter=letter, words=f"{name.upper()}{figures}", colour=_colour(outcome, score, percent))


def _score_letter(score: float | None, percent: float | None) -> str:
    """A score from 0 to 9 as a rounded digit; a dot for others, and for fractions without a percentage."""
    if score is None or not 0 <= score < 9.5 or (percent is None and not float(score).is_integer()):
        return "."
    return f"{int(score + 0.5)}"


def _colour(outcome: str, score: float | None, percent: float | None) -> str:
    """Red for a missing or low score, yellow for a medium one or an incomplete reply, otherwise green."""
    if score is None:
        return "red"
    if outcome not in ("scored", "refused"):
        return "yellow"
    if percent is None:
        return "green"
    return "green" if percent >= 75 else "yellow" if percent >= 50 else "red"


def report_properties(record: Record) -> list[tuple[str, str | float]]:
    """The user properties of a test's report. They are small, as xdist sends each of them three times."""
    values: dict[str, str | float | None] = {
        "language": str(record.case["language"]),
        "asker": f"{record.asker.side} {record.asker.form}" if record.asker else None,
        "outcome": record.outcome,
        "score": record.score,
        "percent": record.percent,
        "error": None if record.error is None else printable(record.error)[:MOST_ERROR_CHARACTERS],
        "call_latency": record.latency,
        "queue_time": record.queued,
    }
    return [_shared_property(name, value) for name, value in values.items() if value is not None]


@lru_cache(maxsize=1000, typed=True)
def _shared_property(name: str, value: str | float) -> tuple[str, str | float]:
    """The same tuple for equal values: pytest holds three reports of every test in memory until the end."""
    return (name, value)


def progress_output(config: Any) -> Output | None:
    """The output that progress is shown on; None with --quiet or without a terminal reporter."""
    from equipoise.report import status_line

    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 0:
        return None
    if not status_line.supports_live_line(reporter.isatty):
        return status_line.Output(write=partial(_write_between_rows, reporter))
    # Standard output is captured while a test runs: duplicate the original descriptor.
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        descriptor = os.dup(1)
    config.add_cleanup(lambda: os.close(descriptor))
    return status_line.Output(write=partial(_write_between_rows, reporter), descriptor=descriptor)


def _write_between_rows(reporter: Any, text: str) -> None:
    """Print lines below the current row of letters; further letters begin a new row.

    Writes once, as the main thread may print a letter at the same time.
    """
    has_open_row = reporter.config.get_terminal_writer().width_of_current_line > 0
    if reporter.showlongtestinfo:
        # With -v, the row holds the name of the running test: let pytest print the name again.
        reporter.currentfspath = None
    newline = "\n" if has_open_row else ""
    reporter.write(f"{newline}{text}\n", flush=True)


def suite_and_run(nodeid: str) -> tuple[str, str] | None:
    """The suite and the run id in a node id, tests_benchmark/test_<suite>.py::test_<suite>[<run id>].

    None for any other test.
    """
    path, _, test = nodeid.partition("::")
    suite = _suite_of_file(path)
    # Interned: the run's own id, which is in memory until the end, is the same object.
    run = sys.intern(test.partition("[")[2].removesuffix("]"))
    return (suite, run) if run and suite else None


@cache
def _suite_of_file(path: str) -> str | None:
    # Cached: called for every test, of which a file has thousands.
    file = PurePosixPath(path)
    suite = file.stem.removeprefix("test_")
    return suite if file.parent.name == suites.TESTS and suite in suites.names() else None


class Display:
    """Shows the progress of a session in the controller. `most_failures` is the limit of -x or --maxfail.

    `reports` are those of pytest's terminal reporter, by category. Some are removed to save memory, unless
    `reports` is None.
    """

    def __init__(
        self,
        progress: Progress,
        most_failures: int,
        say: Callable[[str], None],
        reports: Mapping[str, list[Any]] | None = None,
    ) -> None:
        self.progress = progress
        self._say = say
        self._most_failures = most_failures
        self._reports = reports
        self._failures = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a finished run. With -x, also prevent further calls for the tests of other workers."""
        if report.when == "call" and (run := suite_and_run(report.nodeid)):
            self.progress.note(*run, has_failed=report.failed)
        self._failures += report.failed
        if 0 < self._most_failures <= self._failures:
            self.progress.session.counters.stop(f"stopping after {self._failures} failures")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Remove the reports of a run's setup and teardown; in a long session there are thousands."""
        if self._reports is None or not suite_and_run(nodeid):
            return
        # The category "" has those reports. pytest shows one only if the test has printed something, which
        # is in `sections`.
        reports = self._reports.get("", [])
        while reports and reports[-1].nodeid == nodeid and not reports[-1].sections:
            reports.pop()

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show the score instead of a dot."""
        if getattr(report, "when", None) != "call":
            return None
        properties = dict(report.user_properties)
        run_badge = badge(properties)
        if run_badge is None:
            return None
        # pytest would list each "failed" test with its location; the summary has a line for each.
        category = UNSCORED if report.failed and "score" not in properties else report.outcome
        return (category, run_badge.letter, (run_badge.words, {run_badge.colour: True}))

    def pytest_keyboard_interrupt(self) -> None:
        """Prevent further calls, and say how many are in flight."""
        counters = self.progress.session.counters
        counters.stop("interrupted")
        self.progress.close_line()
        if count := counters.totals().in_flight:
            from equipoise.runner.signals import in_flight_message

            self._say(in_flight_message(count))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table of scores, the cost, missing runs, and the path of the results."""
        from equipoise.report.layout import style_lines

        self._complete_last_line(terminalreporter)
        width = shutil.get_terminal_size().columns
        for name, lines in self.progress.summary(width):
            terminalreporter.section(name)
            for line, markup in style_lines(lines, width):
                terminalreporter.write_line(line, **markup)

    def _complete_last_line(self, reporter: Any) -> None:
        """Count gates and unsaved results in pytest's last line, which is red if anything failed."""
        from equipoise.report.verdict import VERDICTS

        verdicts = [verdict for gate in self.progress.gates if (verdict := gate["verdict"]) != "pass"]
        # pytest has no public API for further categories, or for the colour.
        for verdict in verdicts:
            reporter._add_stats(f"gate {VERDICTS[verdict]}", [_CountedReport(outcome=verdict, nodeid="gate")])
        for name in self.progress.unsaved:
            reporter._add_stats("not saved", [_CountedReport(outcome="failed", nodeid=name)])
        has_failed = any(case.outcome == "failed" for case in self.progress.cases())
        is_incomplete = not (self.progress.is_complete or self.progress.is_waiting)
        if has_failed or UNSCORED in reporter.stats or is_incomplete:
            # The line is red if there is a list of failures, even an empty one.
            reporter._add_stats("failed", [])
