"""Runs the jobs of a command outside of pytest, such as a translation: coroutines that call models.

All calls are journalled. A command that was interrupted continues from its journal when it is run again, so
no reply is paid for twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from equipoise.core.errors import CallFailed, SessionStopped, UserError
from equipoise.core.files import shown
from equipoise.core.settings import Endpoint, Settings
from equipoise.core.types import JSON, Role
from equipoise.judge.judge import JobModels
from equipoise.models import prices
from equipoise.models.counters import Counters, CounterSnapshot
from equipoise.models.local import LocalServers
from equipoise.models.open_files import allow_connections
from equipoise.models.proxies import refuse_proxies
from equipoise.results import history, store
from equipoise.results.history import History
from equipoise.results.store import Files
from equipoise.results.totals import ReportedModel
from equipoise.runner import evaluate, resume
from equipoise.runner.engine import Engine
from equipoise.runner.signals import Interruptions, in_flight_message, listen, stop_message

T = TypeVar("T")
_ROLES: Mapping[str, Role] = {"subject": "subject", "evaluator": "evaluator"}
"""The roles by their names in the journal, which are plain strings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[T]):
    """A unit of work. Its name is unique in the journal, and the same when the command is run again."""

    name: str
    do: Callable[[JobModels], Awaitable[T]]


class JobSession:
    """The session of one command: its journal, its engine and its built-in servers, started when needed.

    `past` is the history of the journal; `tell` is called with messages for the user. Created and closed by
    `open_jobs`.
    """

    def __init__(
        self, settings: Settings, past: History, interruptions: Interruptions, tell: Callable[[str], None]
    ) -> None:
        self.settings = settings
        self._history = past
        self._interruptions = interruptions
        self._tell = tell
        self._counters = Counters(len(settings.models))
        self._servers = LocalServers()
        self._engine: Engine | None = None

    @property
    def totals(self) -> CounterSnapshot:
        """The counts of calls and tokens of this session, without earlier ones."""
        return self._counters.totals()

    @property
    def cost(self) -> float | None:
        """The cost in USD of all calls in the journal, earlier sessions included; None without a price."""
        costs = [
            prices.cost(model, self.settings.endpoint(_ROLES[role]).base_url, tokens, self.settings.price)
            for (role, model), tokens in self._history.totals.tokens.items()
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def reported_models(self) -> list[ReportedModel]:
        """The models that answered calls in this journal, as responses name them."""
        return list(self._history.totals.reported)

    def append(self, kind: str, **content: JSON) -> None:
        """Append a line to the journal. Raises CannotKeep."""
        resume.append(self._history, kind, **content)

    def run(self, jobs: Sequence[Job[T]], on_done: Callable[[], None] = lambda: None) -> list[T | CallFailed]:
        """Run jobs. Returns the result of each, or its CallFailed, in order; `on_done` is called after each.

        Raises SessionStopped if the session ends early; UserError if no model has answered by then, and only
        another URL, key, model or parameter would help.
        """
        if not jobs:
            return []
        try:
            work = {job.name: partial(evaluate.do_job, job.do, settings=self.settings) for job in jobs}
            futures = self._start().submit(self._history, work)
            for _ in as_completed(futures):
                on_done()
        except KeyboardInterrupt:
            self._counters.stop("interrupted")
            if count := self.totals.in_flight:
                self._tell(in_flight_message(count))
            raise SessionStopped(stop_message("interrupted")) from None
        # If the session was stopped, discard the results, since a CallFailed may be due to the stop.
        with suppress(SessionStopped):
            results = _results(futures)
            if not self._counters.is_stopped:
                return results
        raise self._stop_error()

    def _stop_error(self) -> SessionStopped | UserError:
        reason, is_mistake = self._counters.stop_reason, self._counters.is_mistake
        if is_mistake and not self.totals.made:
            return UserError(reason)
        return SessionStopped(stop_message(reason, is_mistake=is_mistake))

    def _start(self) -> Engine:
        if self._engine is None:
            refuse_proxies(self.settings)
            allow_connections(self.settings.concurrency)
            self._servers.start(self.settings.models)
            self._servers.wait_until_ready()
            self._engine = Engine(self.settings, endpoint=self._endpoint, counters=self._counters)
        return self._engine

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        return self._servers.endpoint(model) or self.settings.endpoint(role)

    def close(self) -> None:
        """Wait for calls in flight, then stop the engine and the built-in servers."""
        with ExitStack() as steps:
            # The last callback runs first.
            steps.callback(self._servers.stop)
            if self._engine is not None:
                steps.callback(self._engine.close, self._interruptions)


@contextmanager
def open_jobs(
    settings: Settings,
    path: Path,
    *,
    is_fresh: bool = False,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[JobSession]:
    """Open a session with the journal at `path`, and close it at the end of the block. Raises UserError.

    If `is_fresh`, an earlier journal is archived first.
    """
    if settings.model is None:
        raise UserError("--model: name the model to call, or local for the built-in one")
    prices.refuse_unknown(settings)
    # A command has no results file, and the lock needs only the journal.
    files = Files(results=path, journal=path)
    is_new = not path.exists()
    with ExitStack() as steps:
        steps.callback(store.lock(files).release)
        if is_fresh and path.exists():
            tell(f"the earlier journal is archived as {shown(resume.archive(files))}")
        listen(interruptions := Interruptions(), add_cleanup=steps.callback)
        past = history.load(path)
        resume.write_first_line(past, suite=path.stem)
        session = JobSession(settings, past, interruptions, tell)
        with closing(session):
            try:
                yield session
            except UserError:
                # Nothing was asked, so nothing is left behind.
                if is_new and not session.totals.made:
                    steps.callback(path.unlink, missing_ok=True)
                raise


def _results(futures: Sequence[Future[T]]) -> list[T | CallFailed]:
    """The results or failures of jobs. Raises SessionStopped, or the exception of a bug."""
    results: list[T | CallFailed] = []
    for future in futures:
        try:
            results.append(future.result())
        except CallFailed as failure:
            results.append(failure)
    return results
