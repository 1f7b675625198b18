"""Results as rows: one for each run, with its question, in the same form for every suite.

Statistics, terminal, page, exports and comparisons read rows. `results.rows` makes them from a journal or a
results file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Literal, NotRequired, TypedDict, TypeVar

from msgspec import Meta, Struct

from equipoise.core.lazy import at_once
from equipoise.core.records import OUTCOMES, Cell, Number, Outcome
from equipoise.core.types import JSON, Conversation, Cue, Message

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
RowOutcome = Outcome | Literal["unknown"]
"""How a run ended; `unknown` in published results, which do not record outcomes."""
ROW_OUTCOMES: tuple[RowOutcome, ...] = (*OUTCOMES, "unknown")
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


class QuestionContent(
    Struct, frozen=True, kw_only=True, rename={"index": "question_index", "text": "question"}
):
    """A question in one language, as in a results file, without its runs."""

    index: Annotated[int, Meta(ge=1, description="Its number in its language")]
    id: Annotated[str, Meta(description="Unique in its language")]
    area: Annotated[str, Meta(description="Topic area; empty where the suite has none")]
    text: Annotated[str, Meta(description="What a person must know to score a reply")]
    cluster: Annotated[
        str, Meta(description="Id of the question of which this is one form; the same in all languages")
    ]
    stratum: Annotated[
        str,
        Meta(description="Which form this is: its language, or something finer; strata are weighted equally"),
    ]
    labels: Annotated[Mapping[str, str], Meta(description="Labels by which metrics select questions")]
    details: Annotated[
        Mapping[str, JSON], Meta(description="Details of the question that only this suite has")
    ]

    def to_json(self) -> dict[str, JSON]:
        """The question as in a results file, without its runs."""
        return dict(zip(_QUESTION_KEYS, _QUESTION_VALUES(self), strict=True))


_QUESTION_KEYS = QuestionContent.__struct_encode_fields__
_QUESTION_VALUES = attrgetter(*QuestionContent.__struct_fields__)


class QuestionRow(QuestionContent, frozen=True, kw_only=True):
    """A case in results.

    Statistics treat clusters as a random sample and give each stratum the same weight. `index` is 0 until
    the questions of a language are numbered. `prompts` are the first messages of the conversations of a pair,
    by label. A detail named `..._LABEL` is shown on the page beside the conversation with that label. `at` is
    the JSON pointer (RFC 6901) to the question in the results JSON.
    """

    language: str
    index: int = 0
    area: str = ""
    labels: Mapping[str, str] = {}
    details: Mapping[str, JSON] = {}
    prompts: Mapping[str, str] = {}
    at: str = ""

    @property
    def key(self) -> str:
        """The id with the language: unique in results."""
        return f"{self.language}/{self.id}"


class RunResult(
    Struct, frozen=True, kw_only=True, rename={"number": "run_index", "percent": "score_percentage"}
):
    """One run of a question; its score is null exactly where `error` says why."""

    number: Annotated[int, Meta(ge=1, description="Which repeat of the question, from 1")]
    outcome: Annotated[
        RowOutcome,
        Meta(description="How the run ended; unknown for published results, which do not state it"),
    ]
    score: Annotated[
        Number | None, Meta(description="Score on the suite's own scale; null where `error` says why")
    ]
    percent: Annotated[
        Number | None, Meta(description="Score in percent of the scale, or in the unit of the headline")
    ]
    error: Annotated[str | None, Meta(description="Why there is no score")]
    values: Annotated[
        Values,
        Meta(
            description="What metrics are made of, by name: a percentage, or 1 and 0 for what was and was "
            "not so"
        ),
    ]
    verdicts: Annotated[
        Sequence[VerdictRow],
        Meta(
            description="Each evaluator's judgement: the fields of the rubric, and `score`, the number "
            "that panels and people are compared by"
        ),
    ]
    details: Annotated[Mapping[str, JSON], Meta(description="Details of the run that only this suite has")]
    subject_transcript: Annotated[
        Sequence[Message],
        Meta(
            description="The conversation with the subject; of a pair both, each message with the label "
            "of its `conversation`"
        ),
    ]
    evaluator_transcripts: Annotated[
        Sequence[EvaluatorTranscript], Meta(description="The conversations with evaluators")
    ]
    asker: Annotated[Cue | None, Meta(description="The cue about who asks; absent without one")] = None
    names_asker: Annotated[
        bool | None, Meta(description="Whether a reply repeats three consecutive words of the cue")
    ] = None

    def to_json(self) -> dict[str, JSON]:
        """The run as in a results file; its transcripts may be lazy, and are read on writing."""
        data = dict(zip(_RUN_KEYS, _RUN_VALUES(self), strict=True))
        if self.asker is None:
            del data["asker"], data["names_asker"]
        return data


_RUN_KEYS, _RUN_VALUES = RunResult.__struct_encode_fields__, attrgetter(*RunResult.__struct_fields__)


class RunRow(RunResult, frozen=True, kw_only=True):
    """One run in results, with its question.

    Metrics are computed from `values`. Lazy transcripts are read again at each use.
    """

    question: QuestionRow

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
        messages = at_once(self.subject_transcript)
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
            for item in self.evaluator_transcripts
        ]


def by_question(rows: Iterable[RunRow]) -> list[list[RunRow]]:
    """The runs grouped by question. The rows of one question must be adjacent and share one `QuestionRow`."""
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
