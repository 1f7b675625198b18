"""The end of a session: its results, its exit status, and its gates as reports of tests."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from equipoise.core.errors import CannotKeep, printable
from equipoise.core.rules import InconclusiveCountsAs
from equipoise.plugin.command_line import COMMAND, is_pytest_command, is_worker, suites_asked_for
from equipoise.plugin.terminal import say, say_wrapped, write
from equipoise.runner import exit_status
from equipoise.runner.collector import stop_collecting_garbage

if TYPE_CHECKING:
    from equipoise.report.junit import ReportedCase
    from equipoise.runner.progress import Progress
    from equipoise.runner.session import Session

_EXCLUDED_PLUGINS = ("session", "terminalreporter", "terminalprogress-plugin", "lfplugin", "stepwiseplugin")
"""pytest's own plugins that get no reports of gates: they print, count or select tests."""


def conclude(session: pytest.Session, bench_session: Session) -> None:
    """Wait for calls in flight, and close the session.

    In the controller, also write the results, set the exit status, and report gates as tests.
    """
    config = session.config
    # Only the process in which the session has begun has a display; a worker, for example, has none.
    display = config.pluginmanager.getplugin("equipoise-display")
    if display is not None:
        # From now on interruptions are only counted: they must not abort the writing of results.
        bench_session.interruptions.finish()
    if is_worker(config) or is_pytest_command():
        stop_collecting_garbage()
    try:
        if display is not None and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            _await_extra_jobs(session, bench_session)
        bench_session.close_engine()
    except CannotKeep as error:
        _mark_interrupted(session, str(error))
    finally:
        if display is not None:
            display.progress.finish()
            _set_exit_status(session, display.progress, bench_session.settings.gate_inconclusive)
            _report_cases(config, display.progress.cases())
            # Workflow commands of GitHub Actions.
            for command in display.progress.publish(os.environ):
                write(config, command)
        elif session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and not is_worker(config):
            _print_selectable(config, bench_session)
        is_idle = display is None or display.progress.is_idle
        if is_idle and bench_session.interruptions.count:
            say(config, "interrupted before the first call; run the same command again")
        bench_session.close()


def _report_cases(config: pytest.Config, cases: Iterable[ReportedCase]) -> None:
    """Report each case as a test to the plugins that write reports (JUnit XML, pytest-json-report, ...)."""
    plugins = config.pluginmanager
    excluded = [*map(plugins.getplugin, _EXCLUDED_PLUGINS), plugins.getplugin("equipoise-display")]
    log = plugins.subset_hook_caller("pytest_runtest_logreport", [*filter(None, excluded)])
    for case in cases:
        for report in _reports(case):
            log(report=report)


def _reports(case: ReportedCase) -> Iterator[pytest.TestReport]:
    """The reports of a test that ended like this case. pytest reports an error as a failed setup."""
    file, why = case.nodeid.partition("::")[0], printable(case.why)
    test: dict[str, Any] = {
        "nodeid": case.nodeid,
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


def _print_selectable(config: pytest.Config, bench_session: Session) -> None:
    """Print the areas and languages that -k and -m could have selected."""
    for suite in suites_asked_for(config):
        cases = [run.case for run in bench_session.plan.runs(suite)]
        # As dicts, which unlike sets keep the order.
        areas = dict.fromkeys(case.area for case in cases)
        languages = dict.fromkeys(case.language for case in cases)
        line = (
            f"{suite}: nothing was selected; there are the areas {', '.join(areas)} "
            f"and the languages {', '.join(languages)}; "
            f"{config.getini(COMMAND)} --collect-only -q lists the names of all tests"
        )
        say_wrapped(config, line)


def _await_extra_jobs(session: pytest.Session, bench_session: Session) -> None:
    """Wait for the extra jobs of the session, which no test waits for."""
    if bench_session.counters.is_stopped:
        return
    if reason := bench_session.await_extra():
        from equipoise.runner.signals import stop_message

        message = stop_message(reason, is_mistake=bench_session.counters.is_mistake)
        _mark_interrupted(session, f"\n{message}")


def _mark_interrupted(session: pytest.Session, reason: str) -> None:
    """Mark the session as interrupted and print the reason, unless it has ended with another status."""
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.exitstatus = pytest.ExitCode.INTERRUPTED
        say(session.config, reason)


def _set_exit_status(
    session: pytest.Session, progress: Progress, inconclusive: InconclusiveCountsAs | None
) -> None:
    """Set the exit status that takes precedence among those of the tests, batches and gates."""
    if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return
    statuses = [int(session.exitstatus)]
    if progress.is_waiting:
        statuses.append(exit_status.BATCHES_WAITING)
    elif not progress.is_complete:
        statuses.append(int(pytest.ExitCode.TESTS_FAILED))
    verdicts = [gate["verdict"] for gate in progress.gates]
    statuses.append(exit_status.status_of_verdicts(verdicts, inconclusive))
    session.exitstatus = exit_status.combine(statuses)
