"""Runs a whole session of one suite without pytest, for scripts and notebooks.

The engine runs an event loop in its own thread, so this also works where another event loop is running.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from equipoise import suites
from equipoise.core import env_file
from equipoise.core.errors import BatchWaiting, CannotSave, NotNeeded, SessionStopped, UserError
from equipoise.core.files import require_posix
from equipoise.core.options import Option
from equipoise.core.settings import Settings
from equipoise.report import header
from equipoise.results.results import Results
from equipoise.runner.extra_jobs import ExtraJobs
from equipoise.runner.progress import Progress
from equipoise.runner.session import Session
from equipoise.runner.settings import settings_of
from equipoise.runner.signals import stop_message
from equipoise.runner.transport import WAITING
from equipoise.runner.transports import session_options

HELP_COMMAND = "equipoise run SUITE --help"
"""The command that lists the options."""
_WITHOUT_CALLS = ("estimate", "show_prompts")
"""The options of sessions that make no calls."""
NO_SELECTION: Mapping[str, None] = {"keyword": None, "mark": None}
"""The expressions of -k and -m, as the journal records them: none."""
CALLER_LEVEL = 4
"""The `stacklevel` of warnings that names the caller of `equipoise.run`."""


def run(suite: str, root: Path, options: Mapping[str, Any], extra_jobs: ExtraJobs) -> Results:
    """Ask and judge every case of a suite, and return the results.

    `options` are a session's options by name: numbers, texts, paths, or lists of these. A run without a score
    is part of the results. Raises UserError before any call, SessionStopped if the session ends early,
    BatchWaiting if batches are not done, CannotSave if the results cannot be written.
    """
    require_posix()
    suites.add_project(root)
    suites.require_consistent_names(root)
    suites.require(suite)
    loaded_file = env_file.load(Path.cwd(), os.environ)
    try:
        settings = settings_of(_texts(options), os.environ, {}, [suite], loaded_file.origins)
        if settings.model is None:
            raise UserError("which model? Name it with model=")
        return _run(suite, settings, Session(settings, root, extra_jobs))
    finally:
        loaded_file.unset(os.environ)


def _run(suite: str, settings: Settings, session: Session) -> Results:
    for warning in header.warnings(settings):
        warnings.warn(warning, stacklevel=CALLER_LEVEL)
    with closing(session):
        session.check([suite])
        for text in session.plan.load(suite).warnings():
            warnings.warn(text, stacklevel=CALLER_LEVEL)
        session.start_servers()
        session.engine.warm_up()
        session.await_servers()
        runs = session.plan.within_limit(suite, session.plan.runs(suite))
        selected = {suite: [run.id for run in runs]}
        session.ask_first(selected)
        session.begin(selected, NO_SELECTION)
        return _finish(session, suite)


def _finish(session: Session, suite: str) -> Results:
    """Wait for all runs, and write and return the results. Raises as `run` does if some are missing."""
    progress = Progress(session, None)
    stop_reason = None
    try:
        for planned_run in session.planned.values():
            try:
                record = session.record(planned_run)
            except (NotNeeded, BatchWaiting):
                continue
            progress.note(suite, planned_run.id, has_failed=record.score is None)
        stop_reason = session.await_extra()
    except SessionStopped as error:
        stop_reason = session.stop_reason or str(error)
    except KeyboardInterrupt:
        stop_reason = "interrupted"
    try:
        session.close_engine()
    finally:
        all_results = progress.finish(keeps_rows=True)
    if progress.unsaved:
        raise CannotSave(next(iter(progress.unsaved.values())))
    if stop_reason is None and session.is_waiting:
        done = f"{progress.done} of {progress.total} runs"
        raise BatchWaiting(f"{WAITING} ({done}): {'; '.join(session.batch_messages)}")
    if stop_reason is not None:
        message = stop_message(stop_reason, is_mistake=session.counters.is_mistake)
        raise SessionStopped(f"{message} ({progress.done} of {progress.total} runs)")
    (results,) = all_results
    return results


def _texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the command line parser would return them.

    Raises UserError for unknown options, and for those of sessions that make no calls and have no results.
    """
    options = {option.name: option for option in (*session_options(), *suites.options())}
    for name in values:
        if name not in options or name in _WITHOUT_CALLS:
            nearest = get_close_matches(name, options, n=1) if name not in _WITHOUT_CALLS else []
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"{HELP_COMMAND} lists them"
            raise UserError(f"there is no option {name!r} here; {hint}")
    return {name: _text(options[name], value) for name, value in values.items() if value is not None}


def _text(option: Option, value: Any) -> Any:
    if option.switch:
        return value
    if option.many:
        items: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
        return [str(item) for item in items]
    return str(value)
