"""The contract of a suite: its package defines `SUITE`, a `Suite` of functions and descriptions.

A suite needs a name, `cases`, `evaluate`, `values` and `metrics`; all else has a default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from equipoise.core.options import Option
from equipoise.core.records import Cell, Label, Metric, Record, Score, Verdict
from equipoise.core.rows import QuestionRow, RunRow, Values, cells
from equipoise.core.types import JSON, Case, Foreseen
from equipoise.judge import rubric
from equipoise.judge.anchors import Anchor, Anchors, Check, Design, Judged, Mirrors
from equipoise.judge.rubric import Rubric, Scale, VerdictRubric
from equipoise.stats.askers import AskerScale
from equipoise.suites.askers import Askers
from equipoise.suites.findings import Finding, Recognised, Text
from equipoise.suites.plots import Plot
from equipoise.suites.selection import Selection

# Modules that call models are slow to import, and a caller may want no more than the names of suites.
if TYPE_CHECKING:
    from equipoise.judge.judge import Evaluator, Panel
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

        `without` names an evaluator to leave out, as if it had not been in the panel. A record without a
        score may have values; the mapping may also be empty.
        """


class Audited(Protocol):
    """A module that tests a suite's evaluators on anchors, texts whose verdicts are known."""

    DESIGNS: Mapping[str, Design]
    """The designs of an audit, `quick` and `full`."""
    MIRRORS: Mirrors
    """Pairs of anchor kinds that show a lean, the first kind's score less the second's; may be empty."""

    def load(self, folder: Path, topics: Path, rubric: Any) -> Anchors:
        """The anchors in a folder, for the questions in `topics`. Raises UserError."""

    async def judge(self, anchor: Anchor, rubric: Any, evaluator: Evaluator) -> Mapping[str, float | None]:
        """An evaluator's verdict on an anchor as numbers, by aspect; None where it is not valid.

        The evaluator is asked in the same way as about a reply. Raises CallFailed.
        """

    def checks(self, judged: Sequence[Judged], order: Sequence[tuple[str, str]]) -> tuple[Check, ...]:
        """Checks of one evaluator by its verdicts on anchors; pure. `order` is that of `Anchors`."""


class Translatable(Protocol):
    """Judges a single reply as the benchmark does, in whatever language it is."""

    async def __call__(self, question: str, reply: str, rubric: Any, evaluator: Evaluator) -> float | None:
        """The score on 0..100; None without a valid verdict. Raises CallFailed."""


class Asked(Protocol):
    """A module that defines a suite's asker cues, and scales of what they may change in an answer."""

    SCALES: Sequence[AskerScale]
    """The scales of the values of `stances`, the main one first."""
    BY_CLUSTER: bool
    """Whether clusters have equal weight in figures over all languages; for clusters with own languages."""

    def askers(self, selection: Selection, cases: Sequence[Any]) -> Askers:
        """The cues of these cases, read and checked. Raises UserError naming file and line."""

    def stances(self, row: RunRow, sides: tuple[str, str]) -> Values:
        """The positions of an answer, 0 to 100, by the name of the scale; None where unknown; pure.

        `sides` are the slugs of the first and the second side of the case. On a directed scale, 100 is the
        first side's end and 0 the second's.
        """

    def answer(self, row: RunRow) -> str | None:
        """The answer as one word, by which a changed answer is recognised; None without a score."""


# Defaults.


def load_rubric(path: Path) -> VerdictRubric:
    """A rubric that quotes question and reply, and asks for a level of its scale. Raises UserError."""
    return rubric.load(path, material=("question", "reply"), verdict={"score": "scale"})


def question(case: Mapping[str, JSON]) -> QuestionRow:
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


def level(verdict: Verdict) -> float | None:
    """The level of the scale that the evaluator gave."""
    return None if verdict.fields is None else verdict.fields.get("score")


def labelled(label: Label, judged: Values, scale: Scale) -> Values:
    """The label's score in percent, for suites whose scores lie on the scale."""
    return {"percent": None if label.score is None else scale.percent(label.score)}


def no_labels(label: Label, judged: Values, scale: Scale) -> Values:
    """No values: a person's label alone does not give any figure."""
    return {}


def details(record: Record) -> Mapping[str, JSON]:
    """The details that `evaluate` returned."""
    return record.details


def combine(rows: Sequence[RunRow]) -> Sequence[Cell]:
    """A cell for each question."""
    return cells(rows)


def nothing(rows: Sequence[RunRow], scale: Scale) -> Mapping[str, JSON]:
    """No summary of its own."""
    return {}


def table(summary: Mapping[str, JSON], figure: str = "figure") -> Sequence[Sequence[str]]:
    """A row for each metric, with its interval; `figure` is the heading of the column of values."""
    return [("", figure, "95 % interval"), *(_row(*item) for item in summary["metrics"].items())]


def _row(name: str, metric: Mapping[str, JSON]) -> Sequence[str]:
    if metric["value"] is None:
        return (name, "-", "-")
    interval = "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"
    return (name, f"{metric['value']:.1f}{'%' if metric['unit'] == '%' else ''}", interval)


def foresee(case: Any, rubric: Any) -> Sequence[Foreseen]:
    """The question, and one verdict on the reply."""
    text = str(getattr(case, "question", ""))
    return [Foreseen(role="subject", prompt=text), Foreseen(role="evaluator", prompt=text, quoted=1)]


def is_unknown(path: Path) -> Recognised:
    """Always `no`: the suite does not recognise data by their content."""
    return "no"


def no_findings(topics: Path) -> Iterator[Finding | Text]:
    """No findings: there are no rules beyond the loader's."""
    return iter(())


def no_notes(topics: Path) -> Sequence[str]:
    """No remarks."""
    return ()


def no_figures(summary: Mapping[str, JSON], rows: Sequence[RunRow], cells: Sequence[Cell]) -> Sequence[Plot]:
    """No figures of its own."""
    return ()


def no_ranks(models: Mapping[str, Sequence[RunRow]]) -> Sequence[Mapping[str, JSON]]:
    """No ranks of its own."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[C, R]):
    """A benchmark.

    Example; `examples/sixth_suite` has it with all of its functions::

        SUITE = Suite(name="attribution", cases=cases, evaluate=evaluate, values=values, metrics=metrics)
    """

    name: str
    """An ASCII slug: the name of its package, rubric, topics and benchmark test."""
    cases: Callable[[Selection], Sequence[C]]
    """The selected cases in their stable order. Raises UserError naming file and line."""
    evaluate: Evaluate[C, R]
    """Asks, judges and scores one run of a case."""
    values: RunValues
    """The numbers of one run that metrics are made of."""
    metrics: Callable[[Sequence[Cell]], Sequence[Metric]]
    """The metrics of these cells, the headline first."""
    options: tuple[Option, ...] = ()
    """The options of single suites that this suite takes."""
    rubric: Callable[[Path], R] = load_rubric  # type: ignore[assignment]
    """The suite's rubric file, read and checked. Raises UserError naming file and key."""
    rubric_in_data: bool = False
    """Whether the rubric was published with the data, so that `rubric` reads it in their folder."""
    is_judged: bool = True
    """Whether evaluators judge the replies; if not, none is needed, called or named in results."""
    verdict_form: VerdictForm = "json"
    """The form of verdict that evaluators are asked for."""
    table: Callable[[Mapping[str, JSON]], Sequence[Sequence[str]]] = table
    """The summary as rows of a terminal table, header first."""

    # Names.

    title: str = ""
    """Its title in reports; its name if empty."""
    headline: str = "the score"
    """Its first metric in words that can precede "is 62 %"."""
    meaning: str = ""
    """The meaning of its headline's unit, in a sentence or two."""
    clusters: str = "questions"
    """The name of its clusters in the plural: questions, pairs, territories ..."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Readable names of slugs that cannot be derived from the slug and the spelling in questions."""
    datasets: tuple[str, ...] = ()
    """The names of its datasets, the default first; empty if there is only one."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of session options, by name, that differ from those of other suites."""
    protocols: Mapping[str, Suite[Any, Any]] = field(default_factory=dict)
    """Suites for datasets that are asked and judged differently, by dataset; they have this suite's name."""
    categories: Mapping[str, float] = field(default_factory=dict)
    """Its verdicts with the score of each, if they are not levels of a scale."""
    has_means: bool = True
    """Whether scores lie on the rubric's scale, so that results state each question's mean."""

    # From runs to rows, and from rows to figures.

    question: Callable[[Mapping[str, JSON]], QuestionRow] = question
    """The row of a case, given as its JSON."""
    level: Callable[[Verdict], float | None] | None = level
    """The score of one evaluator's verdict; None where verdicts are about less than a run."""
    labelled: Callable[[Label, Values, Scale], Values] = labelled
    """The `values` of a run if every evaluator agreed with a person's label; None where it does not say.

    The second argument is the run's values by its evaluators. People's labels correct figures of these."""
    details: Callable[[Record], Mapping[str, JSON]] = details
    """The details of a run in results, in addition to those that all suites have."""
    combine: Callable[[Sequence[RunRow]], Sequence[Cell]] = combine
    """The cells that these rows make; by default a cell for each question."""
    summary: Callable[[Sequence[RunRow], Scale], Mapping[str, JSON]] = nothing
    """The part of the summary that only this suite has; pure."""

    # Optional abilities.

    foresee: Callable[[Any, Any], Sequence[Foreseen]] = foresee
    """The calls of one run of a case, with one evaluator and without retries, given case and rubric."""
    lint: Callable[[Path], Iterator[Finding | Text]] = no_findings
    """Problems of data that the loader accepts, and texts that must be distinct. Raises UserError."""
    recognises: Callable[[Path], Recognised] = is_unknown
    """Whether a folder or file contains the suite's data, judged by its content rather than its name."""
    notes: Callable[[Path], Sequence[str]] = no_notes
    """Known defects of these data and other remarks, in sentences, for the metadata."""
    plots: Callable[[Mapping[str, JSON], Sequence[RunRow], Sequence[Cell]], Sequence[Plot]] = no_figures
    """The suite's own figures, given the summary, the rows and their cells."""
    over_models: Callable[[Mapping[str, Sequence[RunRow]]], Sequence[Mapping[str, JSON]]] = no_ranks
    """Agreement of two evaluators, or ways of scoring, in ranking models, by aspect; given rows by model."""
    audit: Audited | None = None
    """Tests its evaluators on texts whose verdicts are known."""
    asked: Asked | None = None
    """Its askers, with cues in the file `askers.csv` of its data."""
    judge_reply: Translatable | None = None
    """Judges a reply, also in translation; for suites whose replies are free texts judged one by one."""

    def of(self, dataset: str | None) -> Suite[Any, Any]:
        """The suite by which a dataset is asked and judged: the dataset's protocol, or else this suite."""
        return self if dataset is None else self.protocols.get(dataset, self)

    def dataset_at(self, topics: Path) -> str | None:
        """The dataset with its own protocol whose format these data have; None if there is none."""
        return next(
            (name for name, suite in self.protocols.items() if suite.recognises(topics) == "yes"), None
        )


AnySuite = Suite[Any, Any]
"""A suite with any type of case and rubric."""
