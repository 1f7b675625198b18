"""The end of a session: its results, its exit status, and its gates as reports of tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from equipoise import suites
from equipoise.core.errors import CannotKeep, printable
from equipoise.core.rules import Inconclusive
from equipoise.plugin.command_line import COMMAND, is_program, is_worker, suites_asked_for
from equipoise.plugin.terminal import say, say_wrapped, write
from equipoise.runner import exit_status
from equipoise.runner.collector import collect_no_more

if TYPE_CHECKING:
    from equipoise.report.outcomes import ReportedCase
    from equipoise.runner.progress import Progress
    from equipoise.runner.session import Session

_SILENT = ("session", "terminalreporter", "terminalprogress-plugin", "lfplugin", "stepwiseplugin")
"""pytest's own plugins that print tests, count them, or keep which ones to run again."""


def conclude(session: pytest.Session, own: Session) -> None:
    """Wait for calls in flight, then write the results and settle the exit status in the controller."""
    config = session.config
    display = config.pluginmanager.getplugin("equipoise-display")
    if display is not None:
        # From now on interruptions are only counted: they must not abort the writing of results.
        own.interruptions.finish()
    if is_worker(config) or is_program():
        collect_no_more()
    try:
        if display is not None and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            _await_extra(session, own)
        own.close_engine()
    except CannotKeep as error:
        _stop_late(session, str(error))
    finally:
        if display is not None:
            display.progress.finish()
            _settle_exit_status(session, display.progress, own.settings.gate_inconclusive)
            _report_cases(config, display.progress.cases())
            for command in display.progress.publish(os.environ):
                write(config, command)
        elif session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not is_worker(config):
            _name_what_there_is(config, own)
        is_idle = display is None or display.progress.is_idle
        if is_idle and own.interruptions.count:
            say(config, "interrupted before the first call; run the same command again")
        own.close()


def _report_cases(config: pytest.Config, cases: Iterable[ReportedCase]) -> None:
    """Report each case as a test to plugins that write reports: JUnit's, pytest-json-report, others."""
    plugins = config.pluginmanager
    silent = [*map(plugins.getplugin, _SILENT), plugins.getplugin("equipoise-display")]
    log = plugins.subset_hook_caller("pytest_runtest_logreport", [*filter(None, silent)])
    for case in cases:
        for report in _reports(case):
            log(report=report)


def _reports(case: ReportedCase) -> Iterator[pytest.TestReport]:
    """The reports of a test that ended like this case; an error is one of its setup, as of all tests."""
    file, why = f"{suites.TESTS}/test_{case.suite}.py", printable(case.why)
    test: dict[str, Any] = {
        "nodeid": f"{file}::{printable(case.name)}",
        "location": (file, None, case.name),
        "keywords": {},
        "user_properties": [("why", why)],
    }
    if case.outcome == "error":
        yield pytest.TestReport(**test, when="setup", outcome="failed", longrepr=why)
    elif case.outcome == "skipped":
        longrepr = (file, 0, f"Skipped: {why}")
        yield pytest.TestReport(**test, when="setup", outcome="skipped", longrepr=longrepr)
    else:
        reason = why if case.outcome == "failed" else None
        yield pytest.TestReport(**test, when="setup", outcome="passed", longrepr=None)
        yield pytest.TestReport(**test, when="call", outcome=case.outcome, longrepr=reason)
    yield pytest.TestReport(**test, when="teardown", outcome="passed", longrepr=None)


def _name_what_there_is(config: pytest.Config, own: Session) -> None:
    """Name what -k and -m could have selected."""
    for name in suites_asked_for(config):
        cases = [run.case for run in own.plan.runs(name)]
        areas, languages = ({getattr(case, part): None for case in cases} for part in ("area", "language"))
        line = (
            f"{name}: nothing was selected; there are the areas {', '.join(areas)} "
            f"and the languages {', '.join(languages)}; "
            f"{config.getini(COMMAND)} --collect-only -q lists the names of all tests"
        )
        say_wrapped(config, line)


def _await_extra(session: pytest.Session, own: Session) -> None:
    """Wait for what the session does beside its runs, which no test waits for."""
    if own.counters.is_stopped:
        return
    if reason := own.await_extra():
        from equipoise.runner.signals import stopped

        _stop_late(session, f"\n{stopped(reason)}")


def _stop_late(session: pytest.Session, reason: str) -> None:
    """Mark the session as interrupted and print the reason, unless it has ended with another status."""
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        say(session.config, reason)


def _settle_exit_status(
    session: pytest.Session, progress: Progress, inconclusive: Inconclusive | None
) -> None:
    """The status of tests that passed or failed and of the gates: the first of them by their precedence."""
    if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    statuses = [int(session.exitstatus)]
    if progress.is_waiting:
        statuses.append(exit_status.BATCHES_WAITING)
    elif not progress.is_complete:
        statuses.append(int(pytest.ExitCode.TESTS_FAILED))
    verdicts = [gate["verdict"] for gate in progress.gates]
    session.exitstatus = exit_status.first([*statuses, exit_status.of_verdicts(verdicts, inconclusive)])
