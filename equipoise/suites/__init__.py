"""The benchmarks, one package each, and the protocol that they implement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol, TypeVar, cast

from equipoise.audit.design import Design
from equipoise.audit.judged import Check, Judged
from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.figures import Figure
from equipoise.core.findings import Finding, Recognised, Text
from equipoise.core.options import Option
from equipoise.core.records import Aggregate, Cell, Metric, Record, Score
from equipoise.core.types import JSON, Case, Foreseen
from equipoise.judge.anchors import Anchor, Anchors
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import Rubric, Scale
from equipoise.models.model import Subject
from equipoise.suites.selection import Selection
from equipoise.suites.stages import Outcome, Row, Stage

C = TypeVar("C", bound=Case)
R = TypeVar("R", bound=Rubric)
TESTS = "tests_benchmark"
"""The folder of a project that contains a test file for each suite."""
GROUP = "equipoise.suites"
"""The entry-point group of suites in installed packages."""


class ResultsFormat(Protocol):
    """A module that reads the results files of the published benchmark."""

    BENCHMARK: str
    """The name of the published benchmark."""

    def is_published(self, data: JSON) -> bool:
        """Whether data are results of the published benchmark, old or current."""

    def is_old(self, data: Mapping[str, JSON]) -> bool:
        """Whether they are in the old format, and have to be completed first."""

    def complete(self, data: Mapping[str, JSON]) -> tuple[dict[str, JSON], Counter[str]]:
        """Results in the current format, and how often each field was added. Raises ValueError."""

    def adapt(self, data: Mapping[str, JSON]) -> dict[str, JSON]:
        """The results in our format. Raises ValueError naming the place."""


class Construct(Protocol):
    """Builds tables from other data; its docstring is the command's help."""

    def __call__(self, folder: Path, *, is_check: bool = False) -> str:
        """Write the tables, or with `is_check` raise UserError if they would change; a line for the user."""


class FromDocuments(Protocol):
    """A module that builds a suite's questions out of documents; its docstring is the command's help."""

    COMMAND: str
    """The name of the command below `equipoise construct`."""

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
        """The annotators' verdict on every question. Raises UserError if a sheet is not filled in."""

    def as_question(self, row: Row) -> dict[str, JSON]:
        """The row in the format of the suite's questions."""


class AnchorSuite(Protocol):
    """A module that tries a suite's evaluators on anchors, texts whose verdicts are known."""

    DESIGNS: Mapping[str, Design]
    """The extents of an audit, `quick` and `full`."""

    def load(self, folder: Path, topics: Path, rubric: Any) -> Anchors:
        """The anchors in a folder, for the questions in `topics`. Raises UserError."""

    async def judge(self, anchor: Anchor, rubric: Any, evaluator: Evaluator) -> Mapping[str, float | None]:
        """An evaluator's verdict on an anchor as numbers, by aspect; None where it is not valid.

        It comes about as the verdict on a reply does. Raises CallFailed.
        """

    def checks(self, judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
        """What these verdicts of one evaluator tell about it; pure."""


class JudgeReply(Protocol):
    """Has a reply to a question judged by itself, as in the benchmark, whatever language it is in."""

    async def __call__(self, question: str, reply: str, rubric: Any, evaluator: Evaluator) -> float | None:
        """The score on 0..100; None without a valid verdict. Raises CallFailed."""


class Suite(Protocol[C, R]):
    """A benchmark: a package with a name, options and these functions.

    Optional members and their defaults are in `Defaults`.
    """

    NAME: str
    OPTIONS: tuple[Option, ...]
    """The options of single suites that this suite takes."""

    def rubric(self, path: Path) -> R:
        """The suite's rubric file, read and checked. Raises UserError naming file and key."""

    def cases(self, selection: Selection) -> Sequence[C]:
        """The cases in their stable order. Raises UserError naming file and line."""

    async def evaluate(self, case: C, rubric: R, subject: Subject, panel: Panel) -> Score:
        """Ask, judge and score one run of the case. Raises CallFailed."""

    def aggregate(self, records: Sequence[Record], rubric: R) -> Aggregate:
        """Results and summary of these records; pure."""

    def cells(self, results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
        """The numbers in the results of `aggregate`, from this session or a file; pure.

        `without` leaves an evaluator out, as if it had not been in the panel.
        """

    def metrics(self, cells: Sequence[Cell]) -> Sequence[Metric]:
        """The metrics of these cells, the headline first."""

    def table(self, summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
        """The summary as rows of a terminal table, header first."""


class Defaults(Protocol):
    """The optional members of a suite, with their defaults."""

    RUNS: int = 1
    """The default number of runs of each case."""
    CLUSTERS: str = "questions"
    """What its clusters are called, in the plural: questions, pairs, territories ..."""
    TITLE: str = ""
    """What it is called in reports; its name if empty."""
    HEADLINE: str = "the score"
    """What its first metric is, in words that go before "is 62 %"."""
    AREA: str = "area"
    """The field of a case in its results by which cases are grouped."""
    CATEGORIES: Mapping[str, float] = {}
    """What its verdicts are, where these are no levels of a scale, with the number of each in its cells."""
    DATASETS: tuple[str, ...] = ()
    """The names of its datasets, the default first; empty if there is only one."""
    DEFAULTS: Mapping[str, Any] = {}
    """Defaults of session options, by name, that differ from those of other suites."""
    RESULTS_FORMAT: ResultsFormat | None = None
    """Reads results files of the published benchmark; None if they cannot be read."""
    construct: Construct | None = None
    """Builds its derived tables; None if it has none."""
    from_documents: FromDocuments | None = None
    """Builds questions out of documents; None if it cannot."""

    judge_reply: JudgeReply | None = None
    """Judges a reply, also in translation; None if its replies are not free texts judged one by one."""

    audit: AnchorSuite | None = None
    """Tries its evaluators on texts whose verdicts are known; None if it has none."""

    @staticmethod
    def notes(topics: Path) -> Sequence[str]:
        """Known defects and other remarks on these data, in sentences, for the metadata."""
        return ()

    @staticmethod
    def recognises(path: Path) -> Recognised:
        """Whether a folder or file contains the suite's data, judged by its content rather than its name."""
        return "no"

    @staticmethod
    def lint(topics: Path) -> Iterator[Finding | Text]:
        """Problems that the loader accepts, and texts that must be distinct.

        Raises UserError, naming file and line, for files that cannot be read.
        """
        return iter(())

    @staticmethod
    def over_models(sessions: Sequence[Mapping[str, JSON]]) -> Sequence[Mapping[str, JSON]]:
        """By aspect, how far two evaluators of a panel, or two ways of scoring, rank models alike.

        `sessions` are whole results, one a model.
        """
        return ()

    @staticmethod
    def foresee(case: Any, rubric: Any) -> Sequence[Foreseen]:
        """The calls of one run of the case with one evaluator and without retries."""
        question = str(getattr(case, "question", ""))
        return [
            Foreseen(role="subject", prompt=question),
            Foreseen(role="evaluator", prompt=question, quoted=1),
        ]

    @staticmethod
    def plots(data: Mapping[str, JSON]) -> Sequence[Figure]:
        """The suite's own figures of whole results."""
        return ()

    @staticmethod
    def figure_of(case: Mapping[str, JSON], run: Mapping[str, JSON], scale: Scale) -> float | None:
        """The score of a run of a case in the results, in percent or in the unit of the headline.

        By default the run's `score_percentage`, and without one the place of its score on the scale.
        """
        percent: float | None = run.get("score_percentage")
        is_on_scale = percent is None and run["score"] is not None
        return scale.percent(run["score"]) if is_on_scale else percent

    @staticmethod
    def asked(case: Mapping[str, JSON]) -> str:
        """What a person who scores replies must know of a case in the results: its question."""
        return str(case.get("question") or case.get("prompt_a") or case["id"])

    @staticmethod
    def effects(
        before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
    ) -> Sequence[str]:
        """The effects of the options in which the metadata of two results differ, in sentences.

        `metrics` are those of the comparison, by name.
        """
        return ()


class AnySuite(Suite[Any, Any], Defaults, Protocol):
    """A suite with all optional members."""


class _WithDefaults:
    """A suite's package, with the default of each member that it lacks."""

    def __init__(self, package: Any) -> None:
        self.package = package

    def __getattr__(self, member: str) -> Any:
        return getattr(self.package, member) if hasattr(self.package, member) else getattr(Defaults, member)


@cache
def _installed() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def names() -> tuple[str, ...]:
    """The names of all suites, sorted: shipped with Equipoise, installed, or in the project."""
    return tuple(sorted({*(module.name for module in iter_modules(__path__) if module.ispkg), *_installed()}))


def add_project(below: Path) -> None:
    """Add a project's own suites: the packages in `suites` beside its benchmark tests.

    The project is the nearest folder with benchmark tests, from `below` upwards.
    """
    root = next((place for place in (below, *below.parents) if (place / TESTS).is_dir()), below)
    folder = root / "suites"
    if folder.is_dir() and str(folder) not in __path__:
        __path__.append(str(folder))
        for known in (names, load, options):
            known.cache_clear()


@cache
def load(name: str) -> AnySuite:
    """The suite of that name. Raises UserError if it lacks a member that a suite needs."""
    point = _installed().get(name)
    package = point.load() if point else import_module(f"{__name__}.{name}")
    needed = [member for member in (*Suite.__annotations__, *vars(Suite)) if not member.startswith("_")]
    if missing := [member for member in needed if not hasattr(package, member)]:
        raise UserError(f"{package.__file__}: a suite needs {', '.join(missing)}; see docs/adding-a-suite.md")
    return cast("AnySuite", _WithDefaults(package))


def results_schema(name: str) -> dict[str, JSON] | None:
    """The JSON Schema of a suite's own parts of the results: `schema.json` in its package, if it has one."""
    path = Path(cast("Any", load(name)).package.__file__).with_name("schema.json")
    found: dict[str, JSON] | None = json_io.loads(path.read_bytes()) if path.is_file() else None
    return found


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
