"""The benchmarks, a package each, and the protocol that they implement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar, cast

from equipoise.core.errors import UserError
from equipoise.core.findings import Finding, Recognised, Text
from equipoise.core.options import Option
from equipoise.core.records import Aggregate, Cell, Metric, Record, Score
from equipoise.core.types import JSON, Case, Foreseen
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Rubric, Scale
from equipoise.models.model import Subject
from equipoise.suites.selection import Selection
from equipoise.suites.stages import Outcome, Row, Stage

C = TypeVar("C", bound=Case)
R = TypeVar("R", bound=Rubric)
TESTS = "tests_benchmark"
"""The folder of a project that holds a test file for each suite."""
GROUP = "equipoise.suites"
"""The entry points of installed packages that bring suites."""


class ResultsFormat(Protocol):
    """The format of the results files that the published benchmark writes: a module with these."""

    BENCHMARK: str
    """Whose results they are."""

    def is_published(self, data: JSON) -> bool:
        """Whether a file's content is of this format, as it was or as it is now."""

    def is_old(self, data: Mapping[str, JSON]) -> bool:
        """Whether it has to be completed first."""

    def complete(self, data: Mapping[str, JSON]) -> tuple[dict[str, JSON], Counter[str]]:
        """The same as the benchmark writes it now, and how often what was added. Raises ValueError."""

    def adapt(self, data: Mapping[str, JSON]) -> dict[str, JSON]:
        """The same in our shape. Raises ValueError naming the place."""


class Construct(Protocol):
    """Builds tables out of others; its docstring is shown to the user."""

    def __call__(self, folder: Path, *, is_check: bool = False) -> str:
        """Write them again, or raise UserError where they would change. Returns a line for the user."""


class FromDocuments(Protocol):
    """Builds a suite's questions out of documents: a module with these; users see its docstring."""

    COMMAND: str
    """What `equipoise construct` calls it."""

    def stages(
        self,
        root: Path,
        *,
        least: int,
        most: int,
        corpus: Path,
        retriever: str | None,
        critic: int,
        solvers: Sequence[int],
    ) -> tuple[Sequence[Stage], Sequence[Stage]]:
        """The stages before and after people look at the questions. Raises UserError.

        Documents have `least` to `most` characters; answers are looked up in `corpus`, or by the user's
        `retriever`; `critic` and `solvers` are indices into the evaluators of a job.
        """

    def annotate(self, rows: Sequence[Row], folder: Path) -> Sequence[Outcome]:
        """What people say of every question. Raises UserError where a sheet is still to be filled in."""

    def as_question(self, row: Row) -> dict[str, JSON]:
        """The row as the suite reads it."""


class Suite(Protocol[C, R]):
    """A benchmark: a package with its name, its options and these functions.

    What else a suite may have, and what holds where it has not, is in `Defaults`.
    """

    NAME: str
    OPTIONS: tuple[Option, ...]
    """The options that only some suites take of which this one does."""

    def rubric(self, path: Path) -> R:
        """The suite's rubric file, read and checked. Raises UserError naming file and key."""

    def cases(self, selection: Selection) -> Sequence[C]:
        """The cases in their stable order. Raises UserError naming file and line."""

    async def evaluate(self, case: C, rubric: R, subject: Subject, panel: Panel) -> Score:
        """Ask, judge and score one run of the case. Raises CallFailed."""

    def aggregate(self, records: Sequence[Record], rubric: R) -> Aggregate:
        """Results and summary of these records; pure."""

    def cells(self, results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
        """The numbers in what `aggregate` gave as results, of this session or read from a file; pure.

        `without` leaves an evaluator out, as if it had not been in the panel.
        """

    def metrics(self, cells: Sequence[Cell]) -> Sequence[Metric]:
        """The figures that these cells give, the headline first."""

    def table(self, summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
        """The rows that a terminal shows of a summary, head first."""


class Defaults(Protocol):
    """What a suite may have, and what holds for one that has not."""

    RUNS: int = 1
    """Runs of each case, where the user says nothing."""
    CLUSTERS: str = "questions"
    """What its cells' clusters are, as a plural: what its figures are a sample of."""
    DATASETS: tuple[str, ...] = ()
    """The sets of cases that it has, the default first; empty where there is only one."""
    DEFAULTS: Mapping[str, Any] = {}
    """What holds by name of option where the user says nothing, other than what holds for all suites."""
    RESULTS_FORMAT: ResultsFormat | None = None
    """How the published benchmark writes its results; None where none of them can be read."""
    construct: Construct | None = None
    """What builds the tables that are made of others; None where there are none."""
    from_documents: FromDocuments | None = None
    """What builds questions out of documents; None where nothing does."""

    @staticmethod
    def notes(topics: Path) -> Sequence[str]:
        """What a reader of the figures should know of these data, in sentences: for the metadata."""
        return ()

    @staticmethod
    def recognises(path: Path) -> Recognised:
        """Whether a folder or a file is the suite's data, where its content tells and not its name alone."""
        return "no"

    @staticmethod
    def lint(topics: Path) -> Iterator[Finding | Text]:
        """What is wrong with the data there that the loader takes, and the texts that must differ.

        Raises UserError for what cannot be read, naming file and line.
        """
        return iter(())

    @staticmethod
    def over_models(sessions: Sequence[Mapping[str, JSON]]) -> Sequence[Mapping[str, JSON]]:
        """How alike each two evaluators of a panel rank models, by aspect; `sessions` are whole results."""
        return ()

    @staticmethod
    def foresee(case: Any, rubric: Any) -> Sequence[Foreseen]:
        """The calls of one run of the case, with one evaluator, if nothing has to be repeated."""
        question = str(getattr(case, "question", ""))
        return [
            Foreseen(role="subject", prompt=question),
            Foreseen(role="evaluator", prompt=question, quoted=1),
        ]

    @staticmethod
    def effects(
        before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
    ) -> Sequence[str]:
        """What options have done in which the metadata of two results differ, in sentences.

        `metrics` are those of the comparison, by name.
        """
        return ()


class AnySuite(Suite[Any, Any], Defaults, Protocol):
    """A suite with all that it may have."""


class _WithDefaults:
    """A suite's package, and the defaults of what it has not."""

    def __init__(self, package: Any) -> None:
        self.package = package

    def __getattr__(self, member: str) -> Any:
        return getattr(self.package, member) if hasattr(self.package, member) else getattr(Defaults, member)


@cache
def _installed() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """The names of all suites, sorted: those that came with Equipoise, are installed or are the project's."""
    return tuple(sorted({*(module.name for module in iter_modules(__path__) if module.ispkg), *_installed()}))


def add_project(below: Path) -> None:
    """Find a project's own suites too: the packages in `suites` beside its benchmark tests.

    The project is the folder that has them, at or above this one.
    """
    root = next((place for place in (below, *below.parents) if (place / TESTS).is_dir()), below)
    folder = root / "suites"
    if folder.is_dir() and str(folder) not in __path__:
        __path__.append(str(folder))
        for known in (names, load, options):
            known.cache_clear()


@cache
def load(name: str) -> AnySuite:
    """The suite of that name."""
    point = _installed().get(name)
    return cast("AnySuite", _WithDefaults(point.load() if point else import_module(f"{__name__}.{name}")))


@cache
def options() -> Mapping[Option, Sequence[str]]:
    """The options that only some suites take, with the suites that do. Raises UserError."""
    found: dict[str, tuple[Option, list[str]]] = {}
    for name in names():
        for option in load(name).OPTIONS:
            known, takers = found.setdefault(option.name, (option, []))
            if known != option:
                raise UserError(f"{option.flag}: the suites {takers[0]} and {name} declare it in two ways")
            takers.append(name)
    return dict(found.values())


def defaults_of(asked_for: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    """The defaults of each of these suites, by name."""
    return {name: load(name).DEFAULTS for name in asked_for}
