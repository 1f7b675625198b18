"""One session, from the check of its settings to the results that it saves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import InitVar, dataclass, field
from pathlib import Path

from equipoise.core.errors import BatchWaiting, CallFailed, SessionStopped, UserError
from equipoise.core.records import Record
from equipoise.core.settings import Endpoint, Settings
from equipoise.core.types import JSON, Role, Run
from equipoise.models.counters import Counters
from equipoise.models.local import LocalServers
from equipoise.models.open_files import allow_connections
from equipoise.models.proxies import refuse_proxies
from equipoise.results import history, rows, store
from equipoise.results.history import History
from equipoise.results.results import Results
from equipoise.results.store import Files, Lock
from equipoise.runner import first_calls, metadata, preflight, resume, saving
from equipoise.runner.collector import pause_collector
from equipoise.runner.engine import Engine
from equipoise.runner.extra_jobs import ExtraJob, ExtraJobs
from equipoise.runner.loading import LoadedSuite
from equipoise.runner.plan import Plan
from equipoise.runner.signals import Interruptions
from equipoise.runner.transport import SubjectReplies

ENDED = "the session has ended"


@dataclass(slots=True)
class Session:
    """A session in the process that the user started. In an xdist worker, only settings and plan are used.

    `root` is the folder of the user's files. `start_messages` maps each suite whose journal is open to a
    message about its earlier sessions, which may be empty. `planned` are the selected runs, by suite and id.
    `_without_answers` has the suites whose journal holds no answer, so that it is started afresh.
    `_extra_by_suite` has the extra jobs left to do; `_awaits_extra` is true once only these are waited for.
    """

    settings: Settings
    root: InitVar[Path]
    extra_jobs: InitVar[ExtraJobs]
    is_worker: bool = False
    plan: Plan = field(init=False)
    _servers: LocalServers = field(default_factory=LocalServers)
    _engine: Engine | None = None
    _is_started: bool = False
    _is_ended: bool = False
    counters: Counters = field(init=False)
    _histories: dict[str, History] = field(default_factory=dict)
    _locks: list[Lock] = field(default_factory=list)
    start_messages: dict[str, str] = field(default_factory=dict)
    _without_answers: set[str] = field(default_factory=set)
    planned: dict[tuple[str, str], Run] = field(default_factory=dict)
    _extra_by_suite: dict[str, Sequence[ExtraJob]] = field(default_factory=dict)
    _awaits_extra: bool = False
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _importing: threading.Thread | None = None
    _has_batches: bool = False
    interruptions: Interruptions = field(default_factory=Interruptions)

    def __post_init__(self, root: Path, extra_jobs: ExtraJobs) -> None:
        self.plan = Plan(self.settings, root, extra_jobs)
        self.counters = Counters(len(self.settings.models))
        self._has_batches = bool(self.settings.batch)

    def check(self, names: Iterable[str], workers: int = 0) -> None:
        """Lock the files of these suites (`names`), and load their journals.

        Raises UserError for anything that is bound to fail. `workers` is the number of xdist workers.
        """
        names = list(names)
        refuse_proxies(self.settings)
        if self.settings.batch or self.settings.batch_write or self.settings.batch_read:
            from equipoise.runner.batches import checks

            checks.refuse_files(self.settings)
        allow_connections(self.settings.concurrency, workers)
        preflight.check(self.plan, names)
        for name in names:
            files = self.plan.load(name).files
            files.check()
            self._locks.append(store.lock(files))
            self._histories[name] = self._load_history(name, files)
            if not self.settings.fresh and files.batches.exists():
                from equipoise.runner.batches import checks

                unread = checks.unread(files)
                checks.require_readable(unread, self.settings, self._histories[name], files)
                self._has_batches |= bool(unread)

    def _load_history(self, name: str, files: Files) -> History:
        """The history to resume from: that of the suite's journal, or an empty one for a fresh start.

        Raises UserError if an earlier session had other settings.
        """
        if self.settings.fresh:
            return History(files.journal)
        past = history.load(files.journal)
        try:
            resume.require_resumable(
                past, metadata.resume_settings(self.plan, name), files, self.plan.load(name).data_files
            )
        except UserError as error:
            if past.has_answers or past.is_empty:
                raise
            if sent := resume.describe_unread(files):
                raise UserError(f"{error}; {sent}") from None
            # The earlier session has no answer, perhaps because its endpoint was wrong: nothing is lost.
            self._without_answers.add(name)
            return History(files.journal)
        return past

    def ask_first(
        self, selected: Mapping[str, Sequence[str]], on_wait: Callable[[], None] = lambda: None
    ) -> None:
        """Ask each model that has calls left once, briefly, before anything is written.

        `selected` has the ids of the runs by suite. Raises UserError for failures that will persist.
        """
        if self._has_batches:
            return
        planned = [
            call
            for name, ids in selected.items()
            for call in first_calls.calls(
                self.plan.load(name),
                self._histories[name],
                [run for run in ids if not self._histories[name].has_score(run)],
            )
        ]
        if calls := first_calls.once(self.settings, planned):
            self.engine.ask_first(calls, on_wait)

    def begin(self, selected: Mapping[str, Sequence[str]], selection: Mapping[str, JSON]) -> None:
        """Open the journals for the selected runs. Raises UserError.

        `selected` has the ids of the runs by suite. `selection` has the expressions of -k and -m, which the
        journals record.
        """
        for name, ids in selected.items():
            preflight.refuse_other_cases(self.plan, name, ids)
            loaded = self.plan.load(name)
            runs = self.plan.runs(name)
            languages = {run.id: run.case.language for run in runs}
            planned = {run: languages[run] for run in ids}
            preflight.refuse_askers_alone(name, (*planned, *self._histories[name].planned))
            self.planned |= {(name, run.id): run for run in runs if run.id in planned}
            deselected = self.plan.total(name) - len(planned)
            self.start_messages[name] = resume.begin(
                loaded.files,
                self._histories[name],
                planned,
                metadata.resume_settings(self.plan, name),
                {
                    **metadata.provenance(self.plan, name),
                    "selection": {**selection, "deselected": deselected},
                    **({"ranks": ranks} if (ranks := self.plan.ranks(name, planned)) else {}),
                },
                fresh=self.settings.fresh or name in self._without_answers,
            )
            self._begin_extra(name)

    def _begin_extra(self, name: str) -> None:
        """Set the extra jobs of a suite that are left to do. Raises UserError."""
        jobs = self.plan.extra_jobs.begin(self.plan.load(name), self._histories[name])
        self._extra_by_suite[name] = jobs
        if jobs and self.start_messages[name].startswith(resume.ALREADY_COMPLETE):
            self.start_messages[name] = f"all runs are done; verdicts of the audit to do: {len(jobs):,}"

    # The built-in servers.

    def start_servers(self) -> None:
        """Start the built-in servers of local models, one per file, without waiting for them."""
        self._servers.start(self.settings.asked_models)

    def await_servers(self) -> None:
        """Wait until all built-in servers are ready. Raises UserError."""
        self._servers.wait_until_ready()

    # The engine.

    @property
    def engine(self) -> Engine:
        """The engine, created at first use; its thread starts with `Engine.warm_up`."""
        if self._engine is None:
            self._engine = Engine(
                self.settings,
                endpoint=self._endpoint,
                counters=self.counters,
                load=self._load,
                idle=self._idle,
                has_batches=self._has_batches,
                replies=self._load_replies if self.settings.replies else None,
            )
        return self._engine

    def _load_replies(self) -> SubjectReplies:
        """The replies of the session's suite, which is its only one."""
        (name,) = self._histories
        replies = self.plan.load(name).replies
        assert replies is not None
        return replies

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        is_asked = role == "evaluator" or not self.settings.replies
        return (self._servers.endpoint(model) if is_asked else None) or self.settings.endpoint(role)

    def _load(self, name: str) -> tuple[LoadedSuite, History]:
        return self.plan.load(name), self._histories[name]

    @property
    def stop_reason(self) -> str | None:
        """Why the session has to end; None while it continues."""
        return ENDED if self._is_ended else self.engine.stop_reason

    def record(self, run: Run) -> Record:
        """Wait for a run's record; the first call starts all runs.

        Raises SessionStopped, NotNeeded, BatchWaiting, or the exception of a bug.
        """
        record = self._started_engine().record(run)
        # With a fast endpoint, no test waits long enough for `_idle` to be called.
        self._import_statistics()
        return record

    def _started_engine(self) -> Engine:
        """The engine, with all runs started. Raises SessionStopped if the session has ended."""
        with self._starting:
            if self._is_ended:
                raise SessionStopped(ENDED)
            if not self._is_started:
                self._is_started = True
                self.engine.start(self.planned.values(), self._extra_jobs)
            return self.engine

    @property
    def _extra_jobs(self) -> list[ExtraJob]:
        return [job for jobs in self._extra_by_suite.values() for job in jobs]

    def await_extra(self) -> str | None:
        """Wait for the extra jobs. Returns the reason if the session is stopped first, otherwise None.

        Jobs that fail are done by the next session. Raises the exception of a bug.
        """
        self._awaits_extra = True
        try:
            for job in self._extra_jobs:
                self._stop_if_interrupted()
                with suppress(CallFailed, BatchWaiting):
                    self._started_engine().await_extra(job)
        except SessionStopped as error:
            return self.counters.stop_reason or str(error)
        return None

    @property
    def extra_progress(self) -> tuple[int, int]:
        """The number of extra jobs that are done, and the number of all."""
        jobs = self._extra_jobs
        return sum(job.id in self._histories[job.suite].anchors for job in jobs), len(jobs)

    def _idle(self) -> None:
        """Called repeatedly while a test waits for its run."""
        self._import_statistics()
        if self._awaits_extra:
            self._stop_if_interrupted()

    def _stop_if_interrupted(self) -> None:
        """Raise SessionStopped if the user has interrupted.

        When only extra jobs are left, pytest no longer catches KeyboardInterrupt.
        """
        if self.interruptions.count:
            self.counters.stop("interrupted")
            raise SessionStopped("interrupted")

    def _import_statistics(self) -> None:
        """Import the libraries for statistics while the session waits for calls."""
        if self._importing is None:
            # In a thread, because Ctrl-C in the main thread would leave libraries half-imported.
            self._importing = threading.Thread(
                target=saving.import_statistics, name="statistics", daemon=True
            )
            self._importing.start()

    def fetch(self, suite: str, run: str) -> dict[str, JSON]:
        """Wait for a record, and return it as plain data for another process. Raises as `record` does.

        The data are the record's journal line, the journal's path, and the offsets of its calls there.
        """
        self._started_engine().await_run(self.planned[suite, run])
        self._import_statistics()
        history = self._histories[suite]
        starts = history.calls.starts(history.record_line(run).calls)
        return {"line": history.record_bytes(run).decode(), "journal": str(history.path), "starts": starts}

    def has_score(self, suite: str, run: str) -> bool:
        """Whether a run has a score in the journal, from this or an earlier session."""
        return self._histories[suite].has_score(run)

    # Rounds of runs.

    def look(self, name: str, number: int) -> bool:
        """Take an interim look: whether `--until` is satisfied after round `number` of a suite.

        If so, no further round is opened. Raises CannotKeep if the look cannot be journalled.
        """
        with self.interruptions.delay():
            is_enough = self._is_enough(name, number)
        if is_enough:
            self.counters.close_rounds()
        return is_enough

    def _is_enough(self, name: str, number: int) -> bool:
        history = self._histories[name]
        if (look := history.plans.looks.get(number)) is not None:
            return look.is_enough
        loaded = self.plan.load(name)
        records = [record for record in history.records() if record.run <= number and record.asker is None]
        cells = loaded.suite.combine(rows.of_records(loaded.suite, records, loaded.rubric.scale))
        content = self.plan.stopping_rules[name].look(cells, number)
        resume.append(history, "look", **content)
        return bool(content["is_enough"])

    # The end.

    def save(self, name: str, *, is_running: bool = False) -> tuple[Results, Results | None]:
        """Write the results of a suite from its journal, and return them. Raises CannotSave.

        The file contains all runs of all sessions. If this session selected only some of them, the second
        results are those of the selected runs alone.
        """
        with self.interruptions.delay(), pause_collector():
            history = self._histories[name].snapshot()
            results = saving.save(self.plan, name, history, is_running=is_running)
            if is_running:
                return results, None
            self.plan.extra_jobs.finish(results)
            selected = {run for suite, run in self.planned if suite == name}
            return results, saving.selected_results(self.plan, name, history, selected)

    @property
    def is_waiting(self) -> bool:
        """Whether every unfinished run waits for a batch."""
        return self._engine is not None and self._engine.is_suspended

    @property
    def batch_messages(self) -> Sequence[str]:
        """A message for each endpoint with unread batches, and for each file of batches."""
        return [] if self._engine is None else self._engine.batch_messages()

    def close_engine(self) -> None:
        """Wait for calls in flight, then end the engine. Raises CannotKeep if a journal has vanished."""
        with self._starting:
            has_ended, self._is_ended = self._is_ended, True
        if self._engine is not None and not has_ended:
            self._engine.close(self.interruptions)

    def close(self) -> None:
        """Stop everything that this process started; each step runs even if another one fails."""
        # The steps run in reverse order.
        with ExitStack() as steps:
            for lock in self._locks:
                steps.callback(lock.release)
            steps.callback(self._servers.stop)
            steps.callback(self.close_engine)
        self._locks.clear()
        if self.is_worker:
            # xdist sends SIGINT to a worker that is slow to exit.
            self.interruptions.ignore()
