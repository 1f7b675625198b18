"""Batch jobs outside of pytest that call models, with a journal, so that no reply is paid for twice.

A job is a name and a coroutine that takes models. An interrupted command, run again, continues from its
journal. Knows nothing of what jobs make.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

from equipoise.core.errors import CallFailed, SessionStopped, UserError
from equipoise.core.files import shown
from equipoise.core.settings import Endpoint, Settings, is_local
from equipoise.core.types import JSON, Role
from equipoise.judge.judge import Evaluator
from equipoise.models import prices
from equipoise.models.counters import Counters, Totals
from equipoise.models.local import LocalServer, weights
from equipoise.models.model import Subject
from equipoise.models.rate_limit import Limiter
from equipoise.models.redact import Secrets
from equipoise.results import journal
from equipoise.results.history import History
from equipoise.results.journal import Journal
from equipoise.results.store import Files, Lock
from equipoise.runner.calls import Asker, Deadline
from equipoise.runner.context import CallContext, open_context
from equipoise.runner.signals import heard, in_flight

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobModels:
    """The models of one job: the one that generates, and the evaluators that check it.

    `code` makes the one-time code that delimits quoted text in the prompt for this purpose.
    """

    model: Subject
    evaluators: Sequence[Evaluator]
    code: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[T]):
    """A unit of work. Its name is unique in a journal, and the same whenever the command is run again."""

    name: str
    do: Callable[[JobModels], Awaitable[T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResults(Generic[T]):
    """The result of each job, or why it failed, in order; and the totals of all calls."""

    results: Sequence[T | CallFailed]
    totals: Totals


def run_jobs(
    settings: Settings,
    path: Path,
    jobs: Sequence[Job[T]],
    on_done: Callable[[], None] = lambda: None,
    before: Totals | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> JobResults[T]:
    """Run all jobs, with the journal at `path`. Raises UserError, or SessionStopped before the end.

    `on_done` is called after each job, `tell` with messages for the user. What was sent and spent `before`,
    in the same command, counts towards its limits and is part of the totals.
    """
    if settings.model is None:
        raise UserError("--model: name the model that is to do it, or local")
    prices.refuse_unknown(settings)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Lock(Files(results=path, journal=path))
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be written to ({error.strerror})") from None
    try:
        with _servers(settings) as servers:
            return asyncio.run(_Batch(settings, path, servers, tell).run(jobs, on_done, before))
    finally:
        lock.release()


def append_to_journal(path: Path, kind: str, **content: JSON) -> None:
    """Append a line to the journal at `path`. Raises CannotKeep."""
    log = Journal(path, secrets.token_hex(4))
    try:
        log.append(kind, **content)
    finally:
        log.close()


def archive_journal(path: Path) -> Path | None:
    """Archive the journal at `path`, so that everything is asked again; its new path. Raises UserError."""
    try:
        if not path.exists():
            return None
        files = Files(results=path, journal=path)
        lock = Lock(files)
        try:
            return files.archive(datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"))
        finally:
            lock.release()
    except OSError as error:
        raise UserError(f"{shown(path)}: cannot be archived ({error.strerror})") from None


@contextmanager
def _servers(settings: Settings) -> Iterator[dict[str, LocalServer]]:
    """The built-in server of each local model, stopped on leaving."""
    files = {model: weights(model) for model in settings.models if is_local(model)}
    by_path = {path: LocalServer(path) for path in set(files.values())}
    try:
        # Here and not on the loop, where Ctrl-C would have to wait for a model that is being loaded.
        for server in by_path.values():
            server.wait_until_ready()
        yield {model: by_path[path] for model, path in files.items()}
    finally:
        for server in by_path.values():
            server.stop()


class _Batch:
    """The jobs of one command, on one event loop."""

    def __init__(
        self,
        settings: Settings,
        path: Path,
        servers: dict[str, LocalServer],
        tell: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._tell = tell
        self._path = path
        self._servers = servers

    async def run(
        self, jobs: Sequence[Job[T]], on_done: Callable[[], None], before: Totals | None
    ) -> JobResults[T]:
        """Run them, with as many calls at once as the endpoint sustains."""
        counters = Counters(len(self._settings.models))
        if before is not None:
            _add_totals(counters, before)
        self._limiter = Limiter(self._settings.concurrency, lambda: counters.is_stopped)
        self._counters, self._log = counters, self._open_journal()
        context = self._open_context()
        try:
            found = await self._run_all(context, jobs, on_done)
        finally:
            await context.client.close()
            self._log.close()
        return JobResults(results=_results(found, counters), totals=counters.totals())

    def _open_journal(self) -> Journal:
        self._history = History(self._path)
        log = Journal(self._path, secrets.token_hex(4), Secrets(self._settings.secrets), self._history.add)
        self._history.refresh()
        # The same for all sessions: prompts that quote material carry codes made of it.
        self._nonce = self._history.nonce or secrets.token_hex(16)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"format": journal.FORMAT, "started": started, "suite": self._path.stem}
        log.append("session", nonce=self._nonce, **about)
        return log

    def _open_context(self) -> CallContext:
        return open_context(
            self._settings,
            endpoint=self._endpoint,
            limiter=self._limiter,
            counters=self._counters,
            logs=lambda: [self._log],
        )

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        if model in self._servers:
            url = self._servers[model].base_url
            return Endpoint(base_url=url, api_key="none", takes_environment=False)
        return self._settings.endpoint(role)

    async def _run_all(
        self, context: CallContext, jobs: Sequence[Job[T]], on_done: Callable[[], None]
    ) -> list[T | BaseException]:
        tasks = [
            asyncio.create_task(self._run_one(context, place, job, on_done)) for place, job in enumerate(jobs)
        ]

        def stop() -> None:
            context.stop("interrupted")
            if count := self._counters.totals().in_flight:
                self._tell(in_flight(count))

        def drop() -> None:
            for task in tasks:
                task.cancel()

        with heard(stop, drop):
            return await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_one(self, context: CallContext, place: int, job: Job[T], on_done: Callable[[], None]) -> T:
        deadline = Deadline(self._settings.case_timeout)
        asker = Asker(context, job.name, place, self._log, self._history, deadline)
        try:
            async with deadline:
                found = await job.do(self._models(asker, job.name))
        except TimeoutError:
            raise CallFailed(f"took longer than {self._settings.case_timeout:g} s") from None
        on_done()
        return found

    def _models(self, asker: Asker, name: str) -> JobModels:
        settings = self._settings
        return JobModels(
            code=lambda purpose: journal.code(self._nonce, name, "", purpose),
            model=Subject(settings.model or "", settings.subject, asker),
            evaluators=[
                Evaluator(
                    model,
                    settings.evaluator,
                    asker,
                    attempts=settings.evaluator_attempts,
                    code=lambda model: journal.code(self._nonce, name, model),
                )
                for model in settings.evaluator_models
            ],
        )


def _add_totals(counters: Counters, before: Totals) -> None:
    counters.settle(0, before.spent)
    for _ in range(before.sent):
        counters.enter()
        counters.leave()


def _results(found: Sequence[T | BaseException], counters: Counters) -> list[T | CallFailed]:
    """What the jobs gave. Raises SessionStopped where they were stopped, and whatever is a defect of ours."""
    results: list[T | CallFailed] = []
    why = counters.stop_reason if counters.is_stopped else None
    for item in found:
        if isinstance(item, SessionStopped | asyncio.CancelledError):
            why = why or str(item)
        elif isinstance(item, BaseException) and not isinstance(item, CallFailed):
            raise item
        else:
            results.append(item)
    if why is not None:
        raise SessionStopped(f"stopped: {why}; what is done is kept, and the same command resumes from there")
    return results
