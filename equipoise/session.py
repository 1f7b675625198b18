"""One pytest invocation, without pytest: suites, files, built-in servers, and the engine of this process.

The controller of an xdist session prepares and aggregates, its workers run the engine, and a session
without xdist does both.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

from equipoise import rejudge, release, results, resume, storage
from equipoise.board import Board
from equipoise.catalogue import Catalogue
from equipoise.engine import Desk, Engine
from equipoise.errors import CannotSave, UserError
from equipoise.ledger import Ledger
from equipoise.local import LocalServer, weights
from equipoise.settings import Endpoint, Settings, is_local
from equipoise.signals import HURRY, PATIENCE, Interruptions
from equipoise.storage import Files, Lock
from equipoise.types import JSON, Role, Run

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


@dataclass(slots=True)
class Session:
    """The state of one pytest process. `root` is pytest's rootdir; `link` is set in xdist workers only."""

    settings: Settings
    root: Path
    link: Link | None = None
    catalogue: Catalogue = field(init=False)
    _servers: dict[str, LocalServer] = field(default_factory=dict)
    _engine: Engine | None = None
    _is_started: bool = False
    _board: Board | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _ledgers: dict[str, Ledger] = field(default_factory=dict)
    _locks: list[Lock] = field(default_factory=list)
    begun: dict[str, str] = field(default_factory=dict)
    _plans: dict[str, frozenset[str]] = field(default_factory=dict)
    interruptions: Interruptions = field(default_factory=Interruptions)

    def __post_init__(self) -> None:
        self.catalogue = Catalogue(self.settings, self.root)

    def check(self, names: Iterable[str]) -> None:
        """Raise UserError for whatever can be known to fail before anything is spent."""
        names = list(names)
        self.catalogue.check(names)
        for name in names:
            files = self.catalogue.load(name).files
            files.check()
            try:
                self._locks.append(Lock(files))
            except OSError as error:
                where = storage.shown(files.results)
                raise UserError(f"{where}: cannot be written to ({error.strerror})") from None
            if not self.settings.fresh:
                resume.refuse(resume.look_back(files.journal), self.catalogue.identity(name), files)

    def begin(self, plan: Mapping[str, Sequence[str]], selection: Mapping[str, JSON]) -> None:
        """Open the journals for these runs of each suite. Raises UserError."""
        for name, ids in plan.items():
            self.catalogue.refuse_other_cases(name, ids)
            loaded = self.catalogue.load(name)
            languages = {run.id: run.case.language for run in self.catalogue.runs(name)}
            planned = {run: languages[run] for run in ids}
            self._plans[name] = frozenset(ids)
            selected = {**selection, "deselected": len(languages) - len(planned)}
            self.begun[name] = resume.begin(
                loaded.files,
                planned,
                self.catalogue.identity(name),
                {**self.catalogue.about(name), "selection": selected},
                fresh=self.settings.fresh,
            )
            if self.settings.rejudge:
                rejudge.bring_over(self.settings.rejudge, loaded.files.journal, ids)

    # The built-in servers and what workers are told.

    def start_servers(self) -> None:
        """Start the built-in server of every local model, one for each file, without waiting for it."""
        by_path = {server.path: server for server in self._servers.values()}
        for model in filter(is_local, self.settings.asked_models):
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
            self._engine = Engine(
                self.settings,
                endpoint=self._endpoint,
                has_company=self.link is not None and self.link.processes > 1,
                board=self.board,
                desk=self._desk,
            )
        return self._engine

    def _endpoint(self, role: Role, model: str) -> Endpoint:
        if not is_local(model) or (role == "subject" and self.settings.rejudge):
            return self.settings.endpoint(role)
        where = self.link.servers[model] if self.link else self._servers[model].base_url
        return Endpoint(base_url=where, api_key="none", takes_environment=False)

    def _desk(self, name: str) -> Desk:
        loaded = self.catalogue.load(name)
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

    # Rounds of runs.

    def look(self, name: str, number: int) -> bool:
        """After a round: whether an interval is as narrow as `--until` says, so that no other is needed.

        Raises CannotKeep.
        """
        with self.interruptions.undisturbed():
            ledger = self._ledger(name)
            found = ledger.looks.get(number) or self._look(name, ledger, number)
        if found["is_enough"]:
            self.board.close_rounds()
        return bool(found["is_enough"])

    def _look(self, name: str, ledger: Ledger, number: int) -> Mapping[str, JSON]:
        from equipoise import rounds

        assert self.settings.until is not None
        loaded = self.catalogue.load(name)
        scale = loaded.rubric.scale
        records = [record for record in ledger.in_order() if record.run <= number]
        cells = loaded.suite.cells(loaded.suite.aggregate(records, loaded.rubric).results, scale)
        metric = {item.name: item for item in loaded.suite.metrics(cells)}[self.settings.until.name]
        found = rounds.look(self.settings.until, metric, cells, number, self.catalogue.repeats(name))
        rounds.keep(ledger, found)
        return found

    def _ledger(self, name: str) -> Ledger:
        """What the journal of a suite says by now."""
        ledger = self._ledgers.setdefault(name, Ledger(self.catalogue.load(name).files.journal))
        ledger.read_on()
        return ledger

    # The end.

    def save(self, name: str, *, is_running: bool = False) -> dict[str, JSON]:
        """Write the results of a suite from its journal, and return what is to be shown. Raises CannotSave.

        The file holds all runs of all sessions. Of a session that asked for a part of them, `summary` and
        `errors` are those of the part, and `covers` says how many runs it has.
        """
        with self.interruptions.undisturbed():
            return self._save(name, is_running=is_running)

    def _save(self, name: str, *, is_running: bool) -> dict[str, JSON]:
        loaded, ledger = self.catalogue.load(name), self._ledger(name)
        data = results.build(loaded.suite, loaded.rubric, ledger, is_running=is_running)
        if not is_running:
            del self._ledgers[name]
            baseline = self.catalogue.baselines.get(name)
            data |= release.conclude(self.settings, baseline, data, loaded.files.results)
        try:
            storage.write_json(loaded.files.results, data)
        except OSError as error:
            raise CannotSave(_why_unsaved(loaded.files, error)) from None
        return data if is_running else {**data, **self._part(name, ledger)}

    def _part(self, name: str, ledger: Ledger) -> dict[str, JSON]:
        part = ledger.only(self._plans[name])
        if len(part.planned) == len(ledger.planned):
            return {}
        loaded = self.catalogue.load(name)
        data = results.build(loaded.suite, loaded.rubric, part)
        return {"summary": data["summary"], "errors": data["errors"], "covers": len(part.planned)}

    @property
    def patience(self) -> float:
        """Seconds to wait at most for calls in flight when the session ends."""
        return HURRY if self.interruptions.is_hurried else min(PATIENCE, self.settings.request_timeout)

    def await_workers(self) -> None:
        """Give the workers time to bring their calls home, which xdist would not."""
        end = time.monotonic() + self.patience
        while self.board.totals().in_flight and time.monotonic() < end and not self.drops_calls:
            time.sleep(0.1)

    @property
    def drops_calls(self) -> bool:
        """Whether the user has said twice that the session is to end."""
        return self.interruptions.count > 1

    def close_engine(self) -> None:
        """Bring calls in flight home."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close(self.patience, lambda: self.drops_calls)

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
        if self.link is not None:
            # To a worker that is slow to end after all is done xdist sends what Ctrl-C would.
            self.interruptions.ignore()


def _why_unsaved(files: Files, error: OSError) -> str:
    return (
        f"{storage.shown(files.results)}: cannot be written ({error.strerror}); all that was asked is in the "
        f"journal: make room, then run: equipoise recover {storage.shown(files.journal)}"
    )
