"""Work outside of pytest that asks models: jobs with a journal, so that nothing is paid twice.

A job is a name and a coroutine that is handed its models. The same command goes on where it was interrupted:
every reply that was paid for is in the journal beside the result.
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
class Crew:
    """The models of one job: the one that works, and those that look it over.

    `code` makes the one-time code that marks, in the prompt for this purpose, what is quoted.
    """

    worker: Subject
    checkers: Sequence[Evaluator]
    code: Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(Generic[T]):
    """One piece of work. The name is unique, and stays the same when the work is taken up again."""

    name: str
    do: Callable[[Crew], Awaitable[T]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done(Generic[T]):
    """What each job gave, or why it failed, in order; and what was asked for it."""

    results: Sequence[T | CallFailed]
    totals: Totals


def work(
    settings: Settings,
    path: Path,
    jobs: Sequence[Job[T]],
    on_done: Callable[[], None] = lambda: None,
    before: Totals | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Done[T]:
    """Do all jobs, with the journal at `path`. Raises UserError, or SessionStopped before the end.

    `on_done` is called after each job, `tell` with what the user should know meanwhile. What was sent and
    spent `before`, in the same command, counts towards its limits and stays in the totals.
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
            return asyncio.run(_Workshop(settings, path, servers, tell).run(jobs, on_done, before))
    finally:
        lock.release()


def note(path: Path, kind: str, **content: JSON) -> None:
    """Write one line more into a journal. Raises CannotKeep."""
    log = Journal(path, secrets.token_hex(4))
    try:
        log.append(kind, **content)
    finally:
        log.close()


def put_away(path: Path) -> Path | None:
    """Archive the journal at `path`, so that all is asked anew; where it is now. Raises UserError."""
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
    """The built-in server of every local model, while it is needed."""
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


class _Workshop:
    """One command's asking, on one event loop."""

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
    ) -> Done[T]:
        """Do them, as many calls at once as the endpoint bears."""
        counters = Counters(len(self._settings.models))
        if before is not None:
            _carry(counters, before)
        self._limiter = Limiter(self._settings.concurrency, lambda: counters.is_stopped)
        self._counters, self._log = counters, self._begin()
        context = self._open()
        try:
            found = await self._all(context, jobs, on_done)
        finally:
            await context.client.close()
            self._log.close()
        return Done(results=_results(found, counters), totals=counters.totals())

    def _begin(self) -> Journal:
        self._history = History(self._path)
        log = Journal(self._path, secrets.token_hex(4), Secrets(self._settings.secrets), self._history.add)
        self._history.refresh()
        # The same for all sessions: prompts that quote material carry codes made of it.
        self._nonce = self._history.nonce or secrets.token_hex(16)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"format": journal.FORMAT, "started": started, "suite": self._path.stem}
        log.append("session", nonce=self._nonce, **about)
        return log

    def _open(self) -> CallContext:
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

    async def _all(
        self, context: CallContext, jobs: Sequence[Job[T]], on_done: Callable[[], None]
    ) -> list[T | BaseException]:
        tasks = [
            asyncio.create_task(self._one(context, place, job, on_done)) for place, job in enumerate(jobs)
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

    async def _one(self, context: CallContext, place: int, job: Job[T], on_done: Callable[[], None]) -> T:
        deadline = Deadline(self._settings.case_timeout)
        asker = Asker(context, job.name, place, self._log, self._history, deadline)
        try:
            async with deadline:
                found = await job.do(self._crew(asker, job.name))
        except TimeoutError:
            raise CallFailed(f"took longer than {self._settings.case_timeout:g} s") from None
        on_done()
        return found

    def _crew(self, asker: Asker, name: str) -> Crew:
        settings = self._settings
        return Crew(
            code=lambda purpose: journal.code(self._nonce, name, "", purpose),
            worker=Subject(settings.model or "", settings.subject, asker),
            checkers=[
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


def _carry(counters: Counters, before: Totals) -> None:
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
