"""One pytest invocation, without pytest: suites, files, built-in servers, and the engine of this process.

The controller of an xdist session prepares and aggregates, its workers run the engine, and a session
without xdist does both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from equipoise import results, resume, storage, suites, topics
from equipoise.board import Board
from equipoise.engine import Desk, Engine
from equipoise.errors import UserError
from equipoise.limiter import share
from equipoise.local import LocalServer, weights
from equipoise.provenance import versions
from equipoise.results import Ledger
from equipoise.rubric import Rubric
from equipoise.settings import Endpoint, Settings, is_local, public_url
from equipoise.storage import Files, Lock
from equipoise.suites import Suite
from equipoise.topics import Selection
from equipoise.types import JSON, Case, Role, Run

HOME = Path(__file__).resolve().parent.parent
_SESSION_SETTINGS = ("concurrency", "max_retries", "evaluator_attempts", "request_timeout", "keep_going")
REPLACEMENTS = 4
"""How many times over xdist replaces its workers at most, which bounds the rows of the board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a controller tells a worker. `number` is the worker's place among `processes` that get work."""

    board: str
    row: int
    number: int
    processes: int
    servers: Mapping[str, str]
    share: Sequence[int] | None = None

    def to_json(self) -> dict[str, JSON]:
        """Plain data, as xdist can send it."""
        return {**asdict(self), "servers": dict(self.servers)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One suite of the session, its data and rubric read and checked."""

    suite: Suite[Any]
    rubric: Rubric
    topics: Path
    cases: Sequence[Case]
    files: Files


@dataclass(slots=True)
class Session:
    """The state of one pytest process. `root` is pytest's rootdir; `link` is set in xdist workers only."""

    settings: Settings
    root: Path
    link: Link | None = None
    _loaded: dict[str, Loaded] = field(default_factory=dict)
    _servers: dict[str, LocalServer] = field(default_factory=dict)
    _engine: Engine | None = None
    _is_started: bool = False
    _board: Board | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _ledgers: dict[str, Ledger] = field(default_factory=dict)
    _locks: list[Lock] = field(default_factory=list)
    begun: dict[str, str] = field(default_factory=dict)

    def load(self, name: str) -> Loaded:
        """A suite with its cases and rubric. Raises UserError."""
        if name not in self._loaded:
            suite, settings = suites.load(name), self.settings
            where = settings.topics or self._home_of(f"topics/{name}")
            selection = Selection(topics=where, languages=settings.languages, limit=settings.limit)
            self._loaded[name] = Loaded(
                suite=suite,
                rubric=suite.rubric(self._home_of(f"rubric/{name}.toml")),
                topics=where,
                cases=suite.cases(selection),
                files=storage.files(self.root / "results", settings.output, settings.model or "", name),
            )
        return self._loaded[name]

    def _home_of(self, path: str) -> Path:
        """The file or folder under pytest's rootdir, else the one that came with Equipoise."""
        here = self.root / path
        return here if here.exists() else HOME / path

    def runs(self, name: str) -> list[Run]:
        """Every run of a suite in the order in which they are asked."""
        numbers = range(1, self.settings.runs + 1)
        return [Run(suite=name, case=case, number=n) for case in self.load(name).cases for n in numbers]

    def check(self, names: Iterable[str]) -> None:
        """Raise UserError for whatever can be known to fail before anything is spent."""
        names = list(names)
        for flag, path in (("--output", self.settings.output), ("--topics", self.settings.topics)):
            if path and len(names) > 1:
                raise UserError(f"{flag}: one path, but {len(names)} suites; leave it out, or name one suite")
        for model in filter(is_local, self.settings.models):
            weights(model)
        for name in names:
            files = self.load(name).files
            files.check()
            self._locks.append(Lock(files))
            if not self.settings.fresh:
                resume.refuse_changes(resume.look_back(files.journal), self._identity(name), files)

    def begin(self, plan: Mapping[str, Sequence[str]], selection: Mapping[str, JSON]) -> None:
        """Open the journals for these runs of each suite. Raises UserError."""
        for name, ids in plan.items():
            loaded = self.load(name)
            languages = {run.id: run.case.language for run in self.runs(name)}
            planned = {run: languages[run] for run in ids}
            selected = {**selection, "deselected": len(languages) - len(planned)}
            self.begun[name] = resume.begin(
                loaded.files,
                planned,
                self._identity(name),
                {**self._about(name), "selection": selected},
                fresh=self.settings.fresh,
            )

    def _identity(self, name: str) -> dict[str, JSON]:
        """The settings that a resumed session must share with the one that was interrupted."""
        settings, loaded = self.settings, self.load(name)
        return {
            "subject_model": settings.model,
            "evaluator_models": list(settings.evaluator_models),
            **_sampling(settings, "subject"),
            **_sampling(settings, "evaluator"),
            "runs": settings.runs,
            "limit": settings.limit,
            "languages_asked": list(settings.languages) or None,
            "data_hash": topics.data_hash(loaded.topics),
            "rubric_version": loaded.rubric.version,
            "rubric_hash": loaded.rubric.hash,
            "endpoints": {role: self._public(role) for role in ("subject", "evaluator")},
        }

    def _about(self, name: str) -> dict[str, JSON]:
        """What is kept beside the settings: it does not change what is asked."""
        return {
            "suite": name,
            "versions": versions(HOME),
            "session_settings": {item: getattr(self.settings, item) for item in _SESSION_SETTINGS},
        }

    def _public(self, role: Role) -> str:
        models = self.settings.models[:1] if role == "subject" else self.settings.evaluator_models
        is_built_in = all(map(is_local, models))
        return "built-in server" if is_built_in else public_url(self.settings.endpoint(role).base_url)

    # The built-in servers and what workers are told.

    def start_servers(self) -> None:
        """Start the built-in server of every local model, one for each file, without waiting for it."""
        by_path = {server.path: server for server in self._servers.values()}
        for model in filter(is_local, self.settings.models):
            path = weights(model)
            if path not in by_path:
                by_path[path] = LocalServer(path)
            self._servers[model] = by_path[path]

    def await_servers(self) -> None:
        """Wait until every built-in server answers. Raises UserError."""
        for server in self._servers.values():
            server.wait_until_ready()

    def worker_link(self, *, row: int, number: int, workers: int, share: Sequence[int] | None) -> Link:
        """What a worker needs to know; `workers` is how many there are, with work or without."""
        self._open_board(rows=(REPLACEMENTS + 1) * workers + 1)
        assert self._folder is not None
        return Link(
            board=str(Path(self._folder.name) / "board"),
            row=1 + (row - 1) % ((REPLACEMENTS + 1) * workers),
            number=number,
            processes=min(workers, self.settings.concurrency),
            servers={model: server.base_url for model, server in self._servers.items()},
            share=share,
        )

    def _open_board(self, rows: int) -> Board:
        if self._board is None:
            self._folder = tempfile.TemporaryDirectory(prefix="equipoise-")
            path = Path(self._folder.name) / "board"
            self._board = Board.create(path, rows=rows, models=len(self.settings.models))
        return self._board

    @property
    def board(self) -> Board:
        """The counters of all processes."""
        if self._board is None and self.link is not None:
            self._board = Board(Path(self.link.board), self.link.row)
        return self._board or self._open_board(rows=1)

    # The engine of this process.

    @property
    def engine(self) -> Engine:
        """Made at first use; its thread starts with `Engine.warm_up`."""
        if self._engine is None:
            number, processes = (self.link.number, self.link.processes) if self.link else (0, 1)
            self._engine = Engine(
                self.settings,
                endpoint=self._endpoint,
                ceiling=max(1, share(self.settings.concurrency, processes, number)),
                board=self.board,
                desk=self._desk,
            )
        return self._engine

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        if not is_local(model):
            return self.settings.endpoint(role)
        where = self.link.servers[model] if self.link else self._servers[model].base_url
        return Endpoint(base_url=where, api_key="none")

    def _desk(self, name: str) -> Desk:
        loaded = self.load(name)
        return Desk(suite=loaded.suite, rubric=loaded.rubric, journal=loaded.files.journal)

    @property
    def is_started(self) -> bool:
        """Whether this process has begun its share."""
        return self._is_started

    def start(self, runs: Sequence[Run | None]) -> None:
        """Begin this process's share of all collected items, of which some may be no runs (None)."""
        self._is_started = True
        self.engine.start(self.my_share(runs))

    def my_share(self, runs: Sequence[Run | None]) -> list[Run]:
        """This process's part of all collected items."""
        if self.link is None:
            mine = runs
        elif self.link.share is not None:
            mine = [runs[index] for index in self.link.share]
        else:
            mine = runs[self.link.number :: self.link.processes] if self._has_share else []
        return [run for run in mine if run is not None]

    @property
    def _has_share(self) -> bool:
        return self.link is None or self.link.number < self.link.processes

    # The end.

    def save(self, name: str, *, is_running: bool = False) -> dict[str, JSON]:
        """Write the results of a suite from its journal and return them."""
        loaded = self.load(name)
        ledger = self._ledgers.pop(name, None) or Ledger()
        ledger.read_on(loaded.files.journal)
        data = results.build(loaded.suite, loaded.rubric, ledger, is_running=is_running)
        if is_running:
            self._ledgers[name] = ledger
        storage.write_json(loaded.files.results, data)
        return data

    def base_url(self, number: int) -> str:
        """Where the model of that number answers, the subject being 0."""
        return self.settings.endpoint("evaluator" if number else "subject").base_url

    def close_engine(self) -> None:
        """Bring calls in flight home."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def close(self) -> None:
        """Stop what this process started; each step happens whatever the others do."""
        with ExitStack() as steps:
            if self._board is not None:
                steps.callback(self._board.close)
            if self._folder is not None:
                steps.callback(self._folder.cleanup)
            for lock in self._locks:
                steps.callback(lock.release)
            for server in set(self._servers.values()):
                steps.callback(server.stop)
            steps.callback(self.close_engine)
        self._board, self._folder, self._servers = None, None, {}
        self._locks.clear()


def _sampling(settings: Settings, role: Role) -> dict[str, JSON]:
    sampling = settings.sampling(role)
    return {f"{role}_sampling": sampling.parameters(), f"{role}_system_prompt": sampling.system_prompt}
