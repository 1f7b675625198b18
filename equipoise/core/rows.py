"""Results as rows: one for each run, with its question, in the same form for every suite.

Statistics, terminal, page, exports and comparisons read rows. `results.rows` makes them from a journal or a
results file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NotRequired, TypedDict, TypeVar

from equipoise.core.records import OUTCOMES, Cell
from equipoise.core.types import JSON, Cue, Message

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
ROW_OUTCOMES: tuple[str, ...] = (*OUTCOMES, "unknown")
"""The outcomes of a row. `unknown` is for published results, which do not record outcomes."""
Values = Mapping[str, float | None]
"""The values of a run by name: a percentage, or 1 for yes and 0 for no; None if it has no such value."""


class EvaluatorTranscript(TypedDict):
    """A conversation with an evaluator."""

    evaluator: str
    messages: list[Message]


class VerdictRow(TypedDict):
    """One evaluator's judgement of a run. The fields of the rubric are further keys.

    `score` is the number by which evaluators and people are compared, None without a valid verdict.
    `attempts` is absent in published results.
    """

    evaluator: str
    score: float | None
    attempts: NotRequired[int]
    error: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of a run. `name` is the evaluator, the label of a question of a pair, or empty."""

    name: str
    messages: Sequence[Message]

    @property
    def replies(self) -> list[Message]:
        """The model's messages."""
        return [message for message in self.messages if message["role"] == "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A case in results.

    `id` is unique in its language. `text` is what a person must know to score a reply. `cluster` is the
    question of which the case is one version, and `stratum` the version, usually a language: statistics treat
    clusters as a random sample and give each stratum the same weight. Metrics select by `labels`. `details`
    are specific to the suite and are only shown. `prompts` are the first messages of the conversations of a
    pair, by label. A detail named `..._LABEL` is shown on the page beside the conversation with that label.
    `index` numbers the questions of a language. `at` is the JSON pointer (RFC 6901) to the question in the
    results JSON.
    """

    id: str
    language: str
    text: str
    cluster: str
    stratum: str
    area: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, JSON] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    index: int = 0
    at: str = ""

    @property
    def key(self) -> str:
        """The id with the language: unique in results."""
        return f"{self.language}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run in results. `number` counts the runs of its question, from 1.

    `score` is on the suite's own scale, `percent` in percent or in the unit of the headline metric. Both are
    None if `error` says why there is no score. Metrics are computed from `values`. `details` are specific to
    the suite. Transcripts are functions, which read them when called. `asker` is the cue that says who asks,
    and `names_asker` whether a reply repeats the cue. Both are None in plain runs.
    """

    question: QuestionRow
    number: int
    outcome: str
    score: float | None
    percent: float | None
    error: str | None
    values: Values
    verdicts: Sequence[VerdictRow]
    details: Mapping[str, JSON]
    subject_transcript: Callable[[], list[Message]]
    evaluator_transcripts: Callable[[], list[EvaluatorTranscript]]
    asker: Cue | None = None
    names_asker: bool | None = None

    @property
    def id(self) -> str:
        """The id of the question, unique in its language."""
        return self.question.id

    @property
    def name(self) -> str:
        """Language, question, asker (if any) and number, joined by slashes: unique in results."""
        asker = f"/{self.asker.tag}" if self.asker else ""
        return f"{self.question.key}{asker}/{self.number}"

    @property
    def language(self) -> str:
        """The language of the question."""
        return self.question.language

    @property
    def area(self) -> str:
        """The topic area; empty if the suite has no areas."""
        return self.question.area

    @property
    def scores(self) -> dict[str, float | None]:
        """The score of each evaluator."""
        return {verdict["evaluator"]: verdict["score"] for verdict in self.verdicts}

    @property
    def subject(self) -> list[Conversation]:
        """The conversations with the subject."""
        messages = self.subject_transcript()
        labels = dict.fromkeys(message.get("conversation", "") for message in messages)
        return [
            Conversation(name=label, messages=[m for m in messages if m.get("conversation", "") == label])
            for label in labels
        ]

    @property
    def evaluators(self) -> list[Conversation]:
        """The conversations with evaluators."""
        return [
            Conversation(name=item["evaluator"], messages=item["messages"])
            for item in self.evaluator_transcripts()
        ]


def by_question(rows: Iterable[RunRow]) -> list[list[RunRow]]:
    """The runs grouped by question. The rows of one question must be adjacent and share a `QuestionRow`."""
    return [list(runs) for _, runs in groupby(rows, key=lambda row: id(row.question))]


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, in the order in which they occur."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def count_outcomes(rows: Iterable[RunRow]) -> dict[str, int]:
    """The number of runs by outcome, without outcomes that did not occur."""
    # Faster than a Counter, which matters: this is called for every question of the results.
    outcomes = [row.outcome for row in rows]
    return {outcome: count for outcome in ROW_OUTCOMES if (count := outcomes.count(outcome))}


def rounded(value: float | None) -> float | None:
    """A figure rounded to two decimals, as in the results JSON."""
    return None if value is None else round(value, 2)


def cells(rows: Iterable[RunRow]) -> list[Cell]:
    """A cell for each question: its values and its evaluators' scores, run by run."""
    return [_cell(runs) for runs in by_question(rows)]


def _cell(runs: Sequence[RunRow]) -> Cell:
    question, values, scores = runs[0].question, [run.values for run in runs], [run.scores for run in runs]
    return Cell(
        id=question.key,
        cluster=question.cluster,
        stratum=question.stratum,
        labels=question.labels,
        values=_columns(values),
        verdicts=_columns(scores),
        at=f"{question.at}/runs",
    )


def _columns(runs: Sequence[Values]) -> dict[str, list[float | None]]:
    """The value of each run, by name; None if the run has no such value."""
    # A dict, as a set would lose the order of the names.
    names: dict[str, float | None] = {}
    for values in runs:
        names.update(values)
    return {name: [values.get(name) for values in runs] for name in names}
