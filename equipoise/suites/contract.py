"""The contract of a suite: its package defines `SUITE`, a `Suite` of functions and descriptions.

A suite needs `name`, `data` and `evaluate`; every other member has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from equipoise.core.figures import Figure, format_value
from equipoise.core.options import Option
from equipoise.core.records import Cell, Label, Metric, Record, Score, Verdict
from equipoise.core.rows import QuestionRow, RunRow, Values, cells
from equipoise.core.types import JSON, Case, Foreseen, Message
from equipoise.judge import rubric
from equipoise.judge.rubric import Rubric, Scale, VerdictRubric
from equipoise.stats import mean, valid
from equipoise.stats.askers import AskerScale
from equipoise.suites.askers import Askers
from equipoise.suites.audits import SuiteAudit
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.plots import Plot, breakdowns
from equipoise.suites.selection import Selection
from equipoise.suites.tables import Table, recognise

# Modules that call models are slow to import, and a caller may need only the names of suites.
if TYPE_CHECKING:
    from equipoise.judge.judge import Panel
    from equipoise.models.model import Subject

C = TypeVar("C", bound=Case)
C_contra = TypeVar("C_contra", bound=Case, contravariant=True)
R = TypeVar("R", bound=Rubric)
R_contra = TypeVar("R_contra", bound=Rubric, contravariant=True)
VerdictForm = Literal["json", "probabilities", "label"]
"""The form of a verdict: JSON by a schema, a label by its token probabilities, or a label as text."""


class Evaluate(Protocol[C_contra, R_contra]):
    """Asks, judges and scores one run of a case."""

    async def __call__(self, case: C_contra, rubric: R_contra, subject: Subject, panel: Panel, /) -> Score:
        """The score of the run, or why there is none. Raises CallFailed."""


class RunValues(Protocol):
    """Computes the values of one run, from which metrics are computed; pure."""

    def __call__(self, record: Record, scale: Scale, without: str | None = None) -> Values:
        """The values by name; `percent` is the run's figure on the page.

        `without` names an evaluator to leave out, as if the panel did not have it. A record without a score
        may have values; the mapping may also be empty.
        """


class Asked(Protocol):
    """A module with a suite's asker cues, and the scales on which cues may move an answer."""

    SCALES: Sequence[AskerScale]
    """The scales of the values of `stances`, the main scale first."""
    BY_CLUSTER: bool
    """Whether clusters have equal weight in figures over all languages, because their languages differ."""

    def askers(self, selection: Selection, cases: Sequence[Any]) -> Askers:
        """The cues of these cases, read and checked. Raises UserError naming file and line."""

    def stances(self, row: RunRow, sides: tuple[str, str]) -> Values:
        """The position of an answer on each scale, 0 to 100, by the scale's name; None if unknown; pure.

        `sides` are the slugs of the first and the second side of the case. On a directed scale, 100 is the
        first side's end and 0 the second's.
        """

    def answer(self, row: RunRow) -> str | None:
        """The answer in short, to be compared with answers to other askers; None without a score."""


# Defaults.


def load_rubric(path: Path) -> VerdictRubric:
    """A rubric that quotes question and reply, and asks for a level of its scale. Raises UserError."""
    return rubric.load(path, material=("question", "reply"), verdict={"score": "scale"})


def score_value(record: Record, scale: Scale, without: str | None = None) -> Values:
    """The mean level of the verdicts in percent, or the record's own percentage if it has no verdicts."""
    if not record.verdicts:
        return {"percent": record.percent}
    levels = valid(verdict_level(item) for item in record.verdicts if item.evaluator != without)
    level = mean(levels)
    return {"percent": None if level is None else scale.percent(level)}


def by_language(cells: Sequence[Cell]) -> Sequence[Metric]:
    """The mean of `percent`, called `overall`, then that of each language."""
    overall = Metric(name="overall", of="percent")
    return [overall, *overall.by("language", cells, "")]


def question_row(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a case with a `question` and an `item`, an id that is the same in all languages."""
    language, area = case["language"], case["area"]
    return QuestionRow(
        id=case["item"],
        language=language,
        area=area,
        text=case["question"],
        cluster=case["item"],
        stratum=language,
        labels={"language": language, "area": area},
        index=case.get("index", 0),
    )


def verdict_level(verdict: Verdict) -> float | None:
    """The level of the scale in a verdict's field `score`; None if the verdict is invalid."""
    return None if verdict.fields is None else verdict.fields.get("score")


def label_values(label: Label, judged: Values, scale: Scale) -> Values:
    """The label's score in percent, for suites whose scores lie on the scale."""
    return {"percent": None if label.score is None else scale.percent(label.score)}


def record_details(record: Record) -> Mapping[str, JSON]:
    """The details that `evaluate` returned."""
    return record.details


def question_cells(rows: Sequence[RunRow]) -> Sequence[Cell]:
    """A cell for each question."""
    return cells(rows)


def no_summary(rows: Sequence[RunRow], scale: Scale) -> Mapping[str, JSON]:
    """No keys besides those that all summaries have."""
    return {}


def table(
    metrics: Mapping[str, Figure], clusters: str, hidden: tuple[str, ...] = ()
) -> Sequence[Sequence[str]]:
    """A row for each metric whose name begins with none of `hidden`: its clusters, value and interval."""
    rows = (_table_row(*item) for item in metrics.items() if not item[0].startswith(hidden))
    return [("", clusters, "figure", "95 % interval"), *rows]


def _table_row(name: str, figure: Figure) -> Sequence[str]:
    value = format_value(figure.value, 1, {"%": " %", "pp": " pp"}.get(figure.unit, ""))
    return (name, f"{figure.n:,}", value, figure.limits())


def foresee(case: Any, rubric: Any) -> Sequence[Foreseen]:
    """A call for the question and, if evaluators are asked, one for a verdict that quotes both."""
    text = str(getattr(case, "question", ""))
    is_judged = isinstance(rubric, VerdictRubric)
    verdict = [Foreseen(role="evaluator", prompt=text, quoted=1)] if is_judged else []
    return [Foreseen(role="subject", prompt=text), *verdict]


def foresee_verdict(messages: Sequence[Message], quoted: int = 1, length: int | None = None) -> Foreseen:
    """The call for a verdict on `quoted` replies; `messages` contain neither the replies nor a code."""
    text = "".join(message["content"] for message in messages)
    return Foreseen(role="evaluator", prompt=text, quoted=quoted, length=length)


def nothing(*arguments: Any) -> Sequence[Any]:
    """Nothing: the default of members that a suite need not have."""
    return ()


@dataclass(frozen=True, kw_only=True)
class About:
    """The suite in words, for people who read its results."""

    title: str = ""
    """The title in reports; if empty, the suite's name."""
    headline: str = "the score"
    """The first metric in words that can precede "is 62 %"."""
    meaning: str = ""
    """The meaning of the headline's unit, in a sentence or two; $low, $middle and $high are of the scale."""
    clusters: str = "questions"
    """The name of the clusters in the plural: questions, pairs, territories ..."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Readable names of slugs that cannot be derived from the slug and the spelling in questions."""
    published: Path | None = None
    """A file of figures that others published for the suite's datasets (`suites.references`)."""


@dataclass(frozen=True, kw_only=True)
class Data(Generic[C]):
    """What is asked: the cases, and the tables that they are read from."""

    cases: Callable[[Selection], Sequence[C]]
    """The selected cases in their stable order. Raises UserError naming file and line."""
    formats: Sequence[Sequence[Table]] = ()
    """The formats that the data may have, each as its tables; a folder that fits two formats has the first.

    A folder is recognised by its format, and `equipoise data validate` checks it against that."""
    lint: Callable[[Path], Iterable[Finding | Text]] = nothing
    """Problems of data that the loader accepts, and texts that must be distinct. Raises UserError."""
    datasets: tuple[str | Suite[Any, Any], ...] = ()
    """The suite's datasets, the default first; empty if there is only one.

    A dataset that is asked and judged in its own way is a suite with the dataset's name."""


@dataclass(frozen=True, kw_only=True)
class Judging(Generic[R]):
    """How replies are judged, and which scores and values verdicts and people's labels have.

    By default evaluators choose a level of the rubric's scale, so that results state each question's mean.
    """

    rubric: Callable[[Path], R] = load_rubric  # type: ignore[assignment]
    """The suite's rubric file, read and checked. Raises UserError naming file and key."""
    form: VerdictForm | None = "json"
    """The form of verdict that evaluators are asked for; None if no evaluator is needed, called or named."""
    level: Callable[[Verdict], float | None] | None = verdict_level
    """The score of one evaluator's verdict; None if a verdict is not about a whole run."""
    scale_in_data: Scale | None = None
    """The scale of a rubric that was published with the data: `rubric` then gets the folder of the data."""
    categories: Mapping[str, float] = field(default_factory=dict)
    """The score of each possible verdict, if verdicts are not levels of a scale."""
    labelled: Callable[[Label, Values, Scale], Values] = label_values
    """The `values` that a run would have if every evaluator agreed with a person's label.

    A value is None if the label does not determine it. The second argument is the run's values by its
    evaluators. People's labels correct the figures of these values."""
    value_names: Callable[[Mapping[str, JSON], Any], Iterable[str]] = nothing
    """The names of values that a run of a case with this rubric has only if it has a score.

    They tell a session without a baseline which metrics it will have."""
    cautions: Callable[[Sequence[RunRow], Mapping[str, JSON]], Sequence[str]] = nothing
    """Sentences on ways of judging that limit what figures show, given rows and settings; pure."""
    over_models: Callable[[Mapping[str, Sequence[RunRow]]], Sequence[Mapping[str, JSON]]] = nothing
    """Agreement of two evaluators, or ways of scoring, in ranking models, by aspect; given rows by model."""

    @property
    def has_means(self) -> bool:
        """Whether scores are levels of the rubric's scale."""
        return self.level is verdict_level


NOT_JUDGED: Judging[Rubric] = Judging(rubric=rubric.load_scale, form=None, level=None)
"""For suites whose replies are read without evaluators, by a rubric that is only a scale."""


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[C, R]):
    """A benchmark, as an object in its package. For example (`examples/sixth_suite` is complete)::

    SUITE = Suite(name="attribution", data=Data(cases=cases, formats=((QUESTIONS,),)), evaluate=evaluate)
    """

    name: str
    """An ASCII slug: the name of its package, rubric, topics and benchmark test."""
    about: About = field(default_factory=About)
    """The suite in words."""
    data: Data[C]
    """What is asked."""
    options: tuple[Option, ...] = ()
    """The options that this suite takes besides those that all suites take."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of session options, by name, that differ from those of other suites."""

    # One run.

    evaluate: Evaluate[C, R]
    """Asks, judges and scores one run of a case."""
    judging: Judging[R] = field(default_factory=Judging)
    """How replies are judged; NOT_JUDGED where no evaluator is asked."""
    foresee: Callable[[Any, Any], Sequence[Foreseen]] = foresee
    """The expected calls of a run, given case and rubric: with one evaluator and without retries."""

    # From runs to rows, and from rows to figures.

    question: Callable[[Mapping[str, JSON]], QuestionRow] = question_row
    """The row of a case, given as its JSON."""
    details: Callable[[Record], Mapping[str, JSON]] = record_details
    """The details of a run in results, in addition to those that all suites have."""
    values: RunValues = score_value
    """The numbers of one run, from which metrics are computed."""
    combine: Callable[[Sequence[RunRow]], Sequence[Cell]] = question_cells
    """The cells of these rows, from which metrics are computed; by default a cell for each question."""
    metrics: Callable[[Sequence[Cell]], Sequence[Metric]] = by_language
    """The metrics of these cells, the headline first."""
    summary: Callable[[Sequence[RunRow], Scale], Mapping[str, JSON]] = no_summary
    """The keys of the summary that only this suite has; pure."""
    table: Callable[[Mapping[str, JSON]], Sequence[Sequence[str]]] | None = None
    """The summary as rows of a terminal table, header first, in place of a row for each metric."""
    plots: Callable[[Mapping[str, JSON], Sequence[RunRow], Sequence[Cell]], Sequence[Plot]] | None = None
    """The suite's own plots, given the summary, the rows and their cells, in place of `breakdowns`."""

    # Studies.

    audit: SuiteAudit[Any] | None = None
    """The test of evaluators on texts whose right verdicts are known."""
    asked: Asked | None = None
    """The module with the askers of questions; `askers.csv` beside the data has their cues."""

    def tabled(self, summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
        """The rows of the terminal's table: the suite's own, or those that follow from its metrics."""
        return table(summary["metrics"], self.about.clusters) if self.table is None else self.table(summary)

    def drawn(
        self, summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]
    ) -> Sequence[Plot]:
        """The plots of these results: the suite's own, or those that follow from its metrics."""
        if self.plots is not None:
            return self.plots(summary, rows, cells)
        return breakdowns(self.metrics(cells), summary["metrics"])

    @property
    def dataset_names(self) -> tuple[str, ...]:
        """The names of the datasets, the default first."""
        return tuple(item if isinstance(item, str) else item.name for item in self.data.datasets)

    @property
    def own_suites(self) -> Mapping[str, AnySuite]:
        """The datasets that are suites of their own, by name."""
        return {item.name: item for item in self.data.datasets if not isinstance(item, str)}

    def of(self, dataset: str | None) -> AnySuite:
        """The suite by which a dataset is asked and judged; its name, as in its results, is this suite's."""
        own = self.own_suites.get(dataset or "")
        return self if own is None else replace(own, name=self.name)

    def recognises(self, path: Path) -> Recognised:
        """Whether a folder or file contains the suite's data, by its content rather than its name."""
        formats = (suite.data.formats for suite in (self, *self.own_suites.values()))
        return recognise(chain.from_iterable(formats), path)

    def dataset_at(self, topics: Path) -> str | None:
        """The dataset that is a suite of its own and whose format these data have; None if there is none."""
        own = self.own_suites.items()
        return next((name for name, suite in own if suite.recognises(topics) == "yes"), None)


AnySuite = Suite[Any, Any]
"""A suite with any type of case and rubric."""
