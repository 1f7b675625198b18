"""Results as rows: one a run, of the same form for every suite, with the question that it answers.

Everything after the journal reads rows: statistics, terminal, page, exports, comparisons. Knows neither the
journal nor the file that rows are made from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NotRequired, TypedDict

from equipoise.core.records import OUTCOMES, Cell
from equipoise.core.types import JSON, Cue, Message

ENDS: tuple[str, ...] = (*OUTCOMES, "unknown")
"""How a run may have ended: published results do not say."""
Values = Mapping[str, float | None]
"""Numbers of a run by name: a percentage, or 1 and 0 for what was and was not so; None where it has none."""


class EvaluatorTranscript(TypedDict):
    """A conversation with an evaluator."""

    evaluator: str
    messages: list[Message]


class VerdictRow(TypedDict):
    """One evaluator's judgement of a run; the fields of the rubric stand beside these.

    `score` is the number that panels and people are compared by, None without a valid verdict.
    Published results do not say how many attempts it took.
    """

    evaluator: str
    score: float | None
    attempts: NotRequired[int]
    error: NotRequired[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of a run; `name` is the evaluator, or the label of a paired question, or empty."""

    name: str
    messages: Sequence[Message]

    @property
    def replies(self) -> list[Message]:
        """The replies of the model."""
        return [message for message in self.messages if message["role"] == "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A case in results. `id` is unique in its language, `text` what a person must know to score a reply.

    `cluster` is the question of which this is one form, `stratum` the form: statistics treat clusters as a
    sample, and strata alike. Metrics select by `labels`; `details` are the suite's own, shown and read by
    nothing else. `prompts` are the first messages of the conversations of a pair, by label: pages show a
    detail whose name ends in `_` and a label beside that conversation. `index` numbers the questions of a
    language, and `at` is where the question stands in the results JSON (RFC 6901).
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
        """Its id with its language: unique in results."""
        return f"{self.language}/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run of results. `number` is the repeat of its question, from 1.

    `score` is on the suite's own scale, `percent` in percent or in the unit of the headline; both None where
    `error` says why. Metrics are made of `values`. `details` are the suite's own. Transcripts are read when
    they are called. `asker` says who asked, and `names_asker` whether a reply repeats it; None in plain runs.
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
        """The id of its question, unique in its language."""
        return self.question.id

    @property
    def name(self) -> str:
        """Language, question, who asks if anybody, and number: unique in results."""
        asker = f"/{self.asker.tag}" if self.asker else ""
        return f"{self.question.key}{asker}/{self.number}"

    @property
    def language(self) -> str:
        """The language that it was asked in."""
        return self.question.language

    @property
    def area(self) -> str:
        """The topic area; empty where its suite has none."""
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
    """The runs of each question; those of one question follow each other."""
    return [list(runs) for _, runs in groupby(rows, key=lambda row: id(row.question))]


def outcomes(rows: Iterable[RunRow]) -> dict[str, int]:
    """The number of runs by outcome; outcomes that did not occur are left out."""
    # Quicker than a Counter for every question of the results.
    ended = [row.outcome for row in rows]
    return {outcome: count for outcome in ENDS if (count := ended.count(outcome))}


def rounded(value: float | None) -> float | None:
    """A figure with the two decimals of results."""
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
    """Value of each run by name, None where it has none."""
    names: dict[str, float | None] = {}
    for values in runs:
        names.update(values)
    return {name: [values.get(name) for values in runs] for name in names}
