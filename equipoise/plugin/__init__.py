"""The pytest plugin: options, cases as parametrised tests, the fixture `record`, progress and reports.

The hooks delegate to `runner.session`; those of pytest-xdist are in `plugin.xdist`. In this package `session`
is pytest's session, and `bench_session` is Equipoise's.
"""

from __future__ import annotations

import argparse
import atexit
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import pytest
from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

from equipoise import suites
from equipoise.core import env_file
from equipoise.core.env_file import EnvFile
from equipoise.core.errors import BatchWaiting, NotNeeded, SessionStopped, UserError, printable
from equipoise.core.files import require_posix
from equipoise.core.options import Option
from equipoise.core.records import Record
from equipoise.core.settings import Settings
from equipoise.core.types import Run
from equipoise.models.redact import Secrets
from equipoise.plugin.command_line import (
    COMMAND,
    PYTEST,
    examples,
    is_distributing,
    is_pytest_command,
    is_worker,
    refuse_doubled,
    refuse_unsupported,
    runs_no_tests,
    selected_runs,
    suites_asked_for,
    suites_in,
    unknown_option,
    workers,
)
from equipoise.plugin.ending import conclude
from equipoise.plugin.terminal import outlive_output, report_properties, say, show_lines, write
from equipoise.report import header
from equipoise.runner import exit_status
from equipoise.runner.collector import collect_garbage_rarely
from equipoise.runner.settings import settings_of
from equipoise.runner.transports import session_options

# The opening line should appear at once, so whatever it does not need is imported inside functions.
if TYPE_CHECKING:
    from equipoise.plugin.xdist import RecordClient
    from equipoise.runner.session import Session
    from equipoise.runner.standard_output import LosableOutput

P = ParamSpec("P")
T = TypeVar("T")


class RecordSource(Protocol):
    """Returns the records of runs to the tests of this process: a Session, or in a worker a RecordClient."""

    @property
    def stop_reason(self) -> str | None:
        """Why the session has to end; None while it continues."""

    def record(self, run: Run) -> Record:
        """Wait for a run's record. Raises SessionStopped, NotNeeded, or BatchWaiting."""


SESSION: pytest.StashKey[Session] = pytest.StashKey()
RECORDS: pytest.StashKey[RecordSource] = pytest.StashKey()
CLIENT: pytest.StashKey[RecordClient] = pytest.StashKey()
"""Only in a worker: its connection to the session in the controller."""
OUTPUT: pytest.StashKey[LosableOutput] = pytest.StashKey()
ENV_FILE: pytest.StashKey[EnvFile] = pytest.StashKey()
FIRST_ITEM: pytest.StashKey[pytest.Item] = pytest.StashKey()
"""The first test that was collected from a file, in the stash of the file."""
PROJECT = "equipoise_project"
"""The ini option for the project's folder."""
WAITS_FOR_FIRST_CALLS = "waiting for the models' first answers: one of them may still be loading"
TITLE = "Equipoise: asking and judging a language model"

# Options.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register every option for the command line and for pytest.ini."""
    group = parser.getgroup("equipoise", f"{TITLE}\nexit statuses:\n{exit_status.TABLE}\noptions")
    parser.addini(PROJECT, "folder of topics, rubrics and results (default: the rootdir)", default=None)
    parser.addini(COMMAND, "the command that started the session, as hints repeat it", default=PYTEST)
    # The rootdir is unknown until options are parsed.
    suites.add_project(Path.cwd())
    try:
        suites.require_consistent_names(Path.cwd())
        suite_options = suites.options()
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    for option in (*session_options(), *suite_options):
        for word in option.optional_words:
            # A separate flag for each word: with an optional value, argparse would read a following path as
            # the value.
            group.addoption(
                f"{option.flag}={word}",
                dest=option.name,
                default=None,
                action="store_const",
                const=word,
                help=argparse.SUPPRESS,
            )
        flags = [option.flag, option.alias] if option.alias else [option.flag]
        help_text = _help(option, suite_options.get(option, ()))
        group.addoption(*flags, dest=option.name, default=None, help=help_text, **_argparse_options(option))
        parser.addini(option.ini_key, f"default of {option.flag}", default=None)


def _argparse_options(option: Option) -> dict[str, Any]:
    """The keyword arguments of argparse's `add_argument` that say which values an option takes."""
    if option.optional_words:
        return {"action": "store_const", "const": "yes"}
    if option.switch:
        return {"action": "store_true"}
    return {"metavar": option.metavar, **({"action": "append"} if option.many else {})}


def _help(option: Option, suites_with_it: Sequence[str]) -> str:
    """The help text of an option; it begins with the suites that have the option, unless all have it."""
    is_for_some = 0 < len(suites_with_it) < len(suites.names())
    return f"{', '.join(suites_with_it)}: {option.help}" if is_for_some else option.help


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None]:
    """Reject unknown options, in one line, after conftest.py files have added theirs."""
    yield
    _, unknown = parser.parse_known_and_unknown_args(args)
    # Flags without their values, which may include an API key.
    flags = [argument.partition("=")[0] for argument in unknown if argument.startswith("--")]
    if flags:
        # pytest has no public API for the names of all options.
        groups = [parser._anonymous, *parser._groups]
        known = [name for group in groups for option in group.options for name in option.names()]
        hint = f"`{early_config.getini(COMMAND)} --help` lists all"
        # The option may be of a suite that cannot be loaded.
        reasons = [*map(str, suites.unloadable().values())]
        messages = [*(printable(unknown_option(flag, known, hint)) for flag in flags), *reasons]
        raise pytest.UsageError("; ".join(messages))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Start no workers if no calls will be made. Reject an invalid command line before workers start."""
    if config.getoption("estimate") or config.getoption("show_prompts") or runs_no_tests(config):
        # Works whether xdist's hook runs before or after this one.
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []
    if suites_asked_for(config) and not runs_no_tests(config):
        _as_usage_error(refuse_unsupported, config)
        _as_usage_error(refuse_doubled, config, (*session_options(), *suites.options()))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Resolve the settings, print the opening line, and store the session in the config's stash."""
    _as_usage_error(require_posix)
    config.addinivalue_line("markers", "suite(name): the benchmark that a test module runs")
    config.addinivalue_line("markers", "area(name): the topic area of a case")
    config.addinivalue_line("markers", "language(name): the language of a case")
    options = (*session_options(), *suites.options())
    command_line = {option.name: config.getoption(option.name) for option in options}
    ini = {option.name: config.getini(option.ini_key) for option in options}
    names = suites_asked_for(config)
    loaded_file = config.stash[ENV_FILE] = _load_env_file(config) if names else EnvFile()
    settings = _as_usage_error(settings_of, command_line, os.environ, ini, names, loaded_file.origins)
    if config.option.debug:
        # pytest writes its command line to this file, and closes it after the last hook.
        atexit.register(Secrets(settings.secrets).mask_file, Path(config.option.debug).absolute())
    if names and not is_worker(config) and config.pluginmanager.hasplugin("terminalreporter"):
        config.stash[OUTPUT] = outlive_output(config)
    _print_opening_line(config, settings)
    # Imported after the opening line is printed, as these imports are slow.
    from equipoise.audit.session import SessionAudits
    from equipoise.runner.session import Session

    # In a worker, `Distribution.pytest_configure_node` has set it, in the controller.
    link = getattr(config, "workerinput", {}).get("equipoise")
    project = Path(config.getini(PROJECT) or config.rootpath)
    bench_session = Session(settings, project, SessionAudits(project), is_worker=is_worker(config))
    config.stash[SESSION] = config.stash[RECORDS] = bench_session
    if link:
        from equipoise.plugin.xdist import RecordClient

        config.stash[CLIENT] = config.stash[RECORDS] = RecordClient(**link)
        config.add_cleanup(config.stash[CLIENT].close)


def _load_env_file(config: pytest.Config) -> EnvFile:
    """Load .env from the current folder; its variables are set until the session ends."""
    loaded_file = _as_usage_error(env_file.load, config.invocation_params.dir, os.environ)
    config.add_cleanup(lambda: loaded_file.unset(os.environ))
    return loaded_file


def _print_opening_line(config: pytest.Config, settings: Settings) -> None:
    """Print the opening line, unless no runs will be made or -qq is set. Workers print none."""
    names = suites_asked_for(config)
    is_silent = is_worker(config) or runs_no_tests(config) or config.get_verbosity() < -1
    if settings.model and names and not is_silent:
        repeats = {
            name: settings.of(name).runs or suites.load(name).defaults.get("runs", 1) for name in names
        }
        say(config, header.opening_line(settings, repeats))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """The lines of the resolved settings, with API keys masked."""
    settings = config.stash[SESSION].settings
    makes_calls = settings.model and suites_asked_for(config)
    lines = [config.stash[ENV_FILE].about, *header.header(settings)] if makes_calls else []
    return [*map(printable, filter(None, lines))]


# Before the first call.


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Check the settings, and start the built-in servers, which load while tests are collected."""
    config, bench_session = session.config, session.config.stash[SESSION]
    names = suites_asked_for(config)
    if names and not runs_no_tests(config):
        from equipoise.runner.signals import listen

        collect_garbage_rarely(config.add_cleanup)
        ends_process = is_worker(config) or is_pytest_command()
        listen(bench_session.interruptions, config.add_cleanup, ends_process=ends_process)
        if OUTPUT in config.stash:
            config.stash[OUTPUT].call_on_loss(partial(bench_session.interruptions.interrupt, is_hurried=True))
    if is_worker(config) or not names:
        return
    if runs_no_tests(config):
        if config.option.collectonly or config.option.setupplan:
            _check_plan(config, names)
        return
    if not bench_session.settings.show_prompts:
        _require_model(config)
    if not bench_session.settings.makes_calls:
        _check_plan(config, names)
        _warn_of_questions(config, names)
        return
    _as_usage_error(bench_session.check, names, workers(config))
    _warn_of_questions(config, names)
    for warning in header.warnings(bench_session.settings):
        config.issue_config_time_warning(pytest.PytestWarning(warning), stacklevel=2)
    _as_usage_error(bench_session.start_servers)
    if is_distributing(config):
        _serve_workers(config)


def _check_plan(config: pytest.Config, names: Sequence[str]) -> None:
    from equipoise.runner import preflight

    _as_usage_error(preflight.check, config.stash[SESSION].plan, names)


def _warn_of_questions(config: pytest.Config, names: Iterable[str]) -> None:
    """Print warnings about questions and rubrics; pytest's own appear only at the end."""
    for name in names:
        for text in config.stash[SESSION].plan.load(name).warnings():
            say(config, f"WARNING: {text}")


def _serve_workers(config: pytest.Config) -> None:
    from equipoise.plugin.xdist import Distribution

    distribution = Distribution(
        config.stash[SESSION], lambda nodes: _begin_session(config, nodes), workers(config)
    )
    config.add_cleanup(distribution.server.close)
    config.pluginmanager.register(distribution, "equipoise-distribution")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import the client in the background while tests are collected.

    Not earlier: until the report header is printed, other plugins import modules, which must not be
    half-imported by this thread.
    """
    config, bench_session = session.config, session.config.stash[SESSION]
    runs_suites = suites_asked_for(config) and not runs_no_tests(config) and not is_worker(config)
    if runs_suites and bench_session.settings.makes_calls:
        bench_session.engine.warm_up()


def _require_model(config: pytest.Config) -> None:
    if config.stash[SESSION].settings.model is None:
        raise pytest.UsageError(f"which model? Name it with --model:\n{examples(config.getini(COMMAND))}")


def _as_usage_error(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function and return its result; a UserError is raised as pytest's UsageError."""
    try:
        return function(*arguments, **options)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None


# Collection.


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case and run of the suite that the module's mark names."""
    mark = metafunc.definition.get_closest_marker("suite")
    if mark is None or "record" not in metafunc.fixturenames:
        return
    _require_own_test(metafunc.definition, mark.args[0])
    runs = _as_usage_error(metafunc.config.stash[SESSION].plan.runs, mark.args[0])
    parameters = [
        pytest.param(run, id=run.id, marks=_marks(run.case.area, run.case.language)) for run in runs
    ]
    metafunc.parametrize("record", parameters, indirect=True)


def _require_own_test(node: pytest.Item, suite: str) -> None:
    """Raise CollectError unless the test is test_<suite> in the suite's own file: no other may run it."""
    is_own_file = suites_in(node.config.rootpath, [node.path]) == [suite]
    if not is_own_file or node.nodeid.partition("::")[2] != f"test_{suite}":
        raise pytest.Collector.CollectError(
            f"{node.nodeid}: only test_{suite} in {suites.TESTS}/test_{suite}.py runs this suite; "
            "put further assertions into it, or read the results JSON"
        )


@cache
def _marks(area: str, language: str) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.area(name=area), pytest.mark.language(name=language))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Make cases selectable by their native names with `-k`, and set their location."""
    run = _run_of(item)
    if run is not None:
        # All runs of a case share one set, to save half a kilobyte for each.
        item.extra_keyword_matches = _keywords(run.case.keywords)
        item.location = _location(item)


def _location(item: pytest.Item) -> tuple[str, int | None, str]:
    """The same location that pytest would determine, without a file system access for each case."""
    assert item.parent is not None
    file, line, _ = item.parent.stash.setdefault(FIRST_ITEM, item).location
    return file, line, item.name


@cache
def _keywords(names: tuple[str, ...]) -> set[str]:
    return set(names)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Apply --limit to the cases that -k, -m and node ids have selected."""
    if config.stash[SESSION].settings.limit is None:
        return
    selected: dict[str, list[Run]] = {}
    for run in filter(None, map(_run_of, items)):
        selected.setdefault(run.suite, []).append(run)
    plan = config.stash[SESSION].plan
    limited = {(name, run.id) for name, runs in selected.items() for run in plan.within_limit(name, runs)}
    left_out = [
        item for item in items if (own_run := _run_of(item)) and (own_run.suite, own_run.id) not in limited
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]


def _run_of(item: pytest.Item) -> Run | None:
    """The run that a test waits for; None for other tests."""
    run = getattr(item, "callspec", None) and item.callspec.params.get("record")  # type: ignore[attr-defined]
    return run if isinstance(run, Run) else None


# Running.


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Begin the session, unless xdist begins it. If it makes no calls, print what it shows instead."""
    config = session.config
    settings = config.stash[SESSION].settings
    if not settings.makes_calls:
        selected = selected_runs([item.nodeid for item in session.items])
        if settings.estimate:
            _show_estimate(config, selected)
        if settings.show_prompts:
            _show_prompts(config, selected, settings.show_prompts)
        return True
    uses_xdist = is_worker(config) or is_distributing(config)
    runs_tests = not session.testsfailed or config.option.continue_on_collection_errors
    if not uses_xdist and runs_tests and not runs_no_tests(config):
        skipped = _skipped_nodes(session.items)
        _begin_session(config, [item.nodeid for item in session.items if item.nodeid not in skipped])
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """In a worker, report the tests that will be skipped; in any process, drop an unneeded logging plugin."""
    if CLIENT in session.config.stash:
        # The controller has only node ids, not marks.
        session.config.stash[CLIENT].skip(_skipped_nodes(session.items))
    if session.items and all(map(_run_of, session.items)) and not _is_logging(session):
        session.config.pluginmanager.unregister(name="logging-plugin")


_LOGGING_OPTIONS = ("log_level", "log_cli_level", "log_file", "log_file_level")


def _is_logging(session: pytest.Session) -> bool:
    """Whether log records of tests are asked for, by an option or by a fixture.

    Otherwise pytest's plugin, which captures them in each phase of each test, is left out. Tests that only
    wait for a record log nothing, and the plugin takes about a sixth of pytest's time for a test.
    """
    config = session.config
    options = (config.getoption(name) or config.getini(name) for name in _LOGGING_OPTIONS)
    uses_fixture = any("caplog" in getattr(item, "fixturenames", ()) for item in session.items)
    return bool(config.getini("log_cli")) or any(options) or uses_fixture


def _skipped_nodes(items: Sequence[pytest.Item]) -> set[str]:
    """The node ids of items that a mark, skip or `xfail(run=False)`, keeps from running."""
    return {item.nodeid for item in items if _is_skipped(item)}


def _is_skipped(item: pytest.Item) -> bool:
    """Whether a mark keeps an item from running. pytest has no public API for this."""
    if evaluate_skip_marks(item) is not None:
        return True
    xfailed = None if item.config.option.runxfail else evaluate_xfail_marks(item)
    return xfailed is not None and not xfailed.run


def _show_estimate(config: pytest.Config, selected: Mapping[str, Sequence[str]]) -> None:
    from equipoise.runner import estimate

    plan = config.stash[SESSION].plan
    estimates = {
        name: _as_usage_error(estimate.of_session, plan, name, set(runs)) for name, runs in selected.items()
    }
    for name, suite_estimate in estimates.items():
        show_lines(config, f"{name}: an estimate; no calls are made", suite_estimate.lines())
    if len(estimates) > 1:
        show_lines(config, f"all {len(estimates)} suites", estimate.together(estimates.values()).total())


def _show_prompts(config: pytest.Config, selected: Mapping[str, Sequence[str]], count: int) -> None:
    from equipoise.runner import prompts

    plan = config.stash[SESSION].plan
    for name, ids in selected.items():
        chosen = set(ids)
        runs = [run for run in plan.runs(name) if run.id in chosen]
        say(config, f"\n{name}: prompts; no calls are made")
        # Not wrapped: prompts are shown as they are sent.
        for line in prompts.lines(plan.load(name), runs, count):
            write(config, printable(line))


def _begin_session(config: pytest.Config, nodes: Sequence[str]) -> None:
    """Open the journals of all suites for the selected runs, and start to show progress."""
    from equipoise.plugin.terminal import LEGEND, Display, progress_output
    from equipoise.runner.progress import Progress
    from equipoise.runner.resume import ALREADY_COMPLETE

    selected = selected_runs(nodes)
    if not selected:
        return
    _require_model(config)
    bench_session = config.stash[SESSION]
    _as_usage_error(bench_session.await_servers)
    _as_usage_error(bench_session.ask_first, selected, lambda: say(config, WAITS_FOR_FIRST_CALLS))
    selection = {"keyword": config.option.keyword or None, "mark": config.option.markexpr or None}
    _as_usage_error(bench_session.begin, selected, selection)
    for name in selected:
        if bench_session.start_messages[name] != ALREADY_COMPLETE:
            say(config, bench_session.start_messages[name])
    progress = Progress(bench_session, progress_output(config))
    if config.get_verbosity() in (0, -1) and bench_session.planned:
        say(config, LEGEND)
    reporter = config.pluginmanager.getplugin("terminalreporter")
    # --durations needs all reports, so then none are dropped.
    reports = None if reporter is None or config.option.durations is not None else reporter.stats
    display = Display(progress, config.option.maxfail or 0, lambda text: say(config, text), reports)
    config.pluginmanager.register(display, "equipoise-display")


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """The record of this run of this case; waits until the run has ended."""
    records = request.config.stash[RECORDS]
    try:
        result = records.record(request.param)
    except (NotNeeded, BatchWaiting) as error:
        pytest.skip(str(error))
    except SessionStopped as error:
        request.session.shouldstop = reason = records.stop_reason or str(error)
        pytest.skip(reason)
    request.node.user_properties.extend(report_properties(result))
    if records.stop_reason:
        request.session.shouldstop = records.stop_reason
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """For a run without a score, report a one-line reason instead of a traceback."""
    report = yield
    properties = dict(item.user_properties)
    if report.when == "call" and report.failed and "error" in properties and "score" not in properties:
        report.longrepr = str(properties["error"])
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_json_runtest_metadata(item: pytest.Item) -> dict[str, Any] | None:
    """The `user_properties` of a run's test as metadata of pytest-json-report."""
    return dict(item.user_properties) if _run_of(item) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Conclude the session before other plugins write their reports, such as JUnit XML."""
    try:
        if SESSION in session.config.stash:
            conclude(session, session.config.stash[SESSION])
    finally:
        result = yield
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the session; after a usage error its servers or threads may still be running."""
    if SESSION in config.stash:
        config.stash[SESSION].close()
