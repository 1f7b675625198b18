"""What the user sees while a session runs and when it ends: badges, counting, the summary.

The hooks of a pytest plugin, which need nothing of pytest but what they are handed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from equipoise import statusline
from equipoise.engine import DRAIN_SECONDS
from equipoise.naming import suite_and_run
from equipoise.progress import Progress
from equipoise.types import Record

_LETTERS = {"blocked": "b", "truncated": "t", "empty": "e", "unscored": "u", "error": "E"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """How a run is shown: one letter, words for -v, a colour of pytest's terminal writer."""

    letter: str
    words: str
    colour: str


def badge(properties: Mapping[str, Any]) -> Badge | None:
    """The badge of a report's small values; None where it is no report of ours."""
    outcome = properties.get("outcome")
    if outcome is None:
        return None
    score, percent = properties.get("score"), properties.get("percent")
    letter = _LETTERS.get(outcome) or (
        f"{int(score + 0.5)}" if score is not None and 0 <= score < 9.5 else "."
    )
    name = "score" if outcome == "scored" else outcome
    figures = "" if score is None else f" {score:g}" + ("" if percent is None else f" ({percent:g}%)")
    return Badge(letter=letter, words=f"{name.upper()}{figures}", colour=_colour(outcome, percent))


def _colour(outcome: str, percent: float | None) -> str:
    if percent is None:
        return "red"
    if outcome not in ("scored", "refused"):
        return "yellow"
    return "green" if percent >= 75 else "yellow" if percent >= 50 else "red"


def small_values(record: Record) -> dict[str, str | float]:
    """What travels with every report: small values only."""
    found: dict[str, str | float | None] = {
        "language": str(record.case["language"]),
        "outcome": record.outcome,
        "score": record.score,
        "percent": record.percent,
        "error": None if record.error is None else record.error[:300],
    }
    return {name: value for name, value in found.items() if value is not None}


def terminal(config: Any) -> int | None:
    """The descriptor of the terminal, where there is one that shows a live line."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 0 or not statusline.supports(reporter.isatty):
        return None
    # While a test runs, standard output is captured: the line goes to what it was before.
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        descriptor = os.dup(1)
    config.add_cleanup(lambda: os.close(descriptor))
    return descriptor


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
            self.progress.session.board.stop(f"stopping after {self._failures} failures")

    def pytest_keyboard_interrupt(self) -> None:
        """Let no worker start another call, and say what is waited for."""
        board = self.progress.session.board
        board.stop("interrupted")
        self.progress.close_line()
        if count := board.totals().in_flight:
            self._say(
                f"waiting {DRAIN_SECONDS:g} s at most for {count} calls in flight; Ctrl-C again drops them"
            )

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table of scores, what it cost, what is missing, and where the results are."""
        for name, lines in self.progress.summary():
            terminalreporter.section(name)
            for line in lines:
                terminalreporter.write_line(line)
