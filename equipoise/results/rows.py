"""The only reader and writer of runs: rows from a journal's records or results JSON, and JSON from rows.

What differs between suites comes from methods of the suite and is passed on unchanged.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from numbers import Real
from sys import intern
from typing import Any

import msgspec
from msgspec import Struct, structs

from equipoise.core import json_io
from equipoise.core.errors import UserError
from equipoise.core.lazy import LazySequence, at_once
from equipoise.core.records import Record, Verdict
from equipoise.core.rows import (
    EvaluatorTranscript,
    QuestionContent,
    QuestionRow,
    RunResult,
    RunRow,
    VerdictRow,
    by_question,
    count_outcomes,
    rounded,
)
from equipoise.core.types import FORMS, JSON, PLACES, Conversation, Cue, Message, Usage
from equipoise.judge.rubric import Scale
from equipoise.results.light import Transcripts
from equipoise.stats import mean, population_sd
from equipoise.suites import AnySuite


class ImpossibleValueError(ValueError):
    """A value in results that no session can have written, such as infinity or a duplicate question."""


# From records.


RESULTS_POINTER, ASKERS_POINTER = "/results", "/askers/results"
"""JSON pointers to the plain runs in results, and to the runs with a cue about who asks."""
_NO_INDICES: Mapping[str, int] = {}


def of_records(
    suite: AnySuite,
    records: Iterable[Record],
    scale: Scale,
    left_out_evaluator: str | None = None,
    *,
    section: str = RESULTS_POINTER,
    plain_indices: Mapping[str, int] = _NO_INDICES,
) -> list[RunRow]:
    """A row for each record, language by language and question by question.

    `left_out_evaluator` is treated as if it had not been in the panel. `section` is the JSON pointer to the
    rows in results. For runs with a cue, `plain_indices` has the numbers of the same questions among the
    plain runs, by key.
    """
    languages: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        cases = languages.setdefault(record.case["language"], {})
        cases.setdefault(record.case["id"], []).append(record)
    return [
        row
        for cases in languages.values()
        for row in _rows_of_language(suite, cases, scale, left_out_evaluator, section, plain_indices)
    ]


def _rows_of_language(
    suite: AnySuite,
    cases: Mapping[str, list[Record]],
    scale: Scale,
    left_out_evaluator: str | None,
    section: str,
    plain_indices: Mapping[str, int],
) -> Iterator[RunRow]:
    """The rows of one language. Each record is removed from `cases`, so that it can be freed."""
    questions = [(suite.question(runs[0].case), runs) for runs in cases.values()]
    # The sort is stable: questions without a number, whose index is 0, remain in the order of the records.
    questions.sort(key=lambda item: item[0].index)
    for position, (question, runs) in enumerate(questions):
        pointer = f"{section}/{_escape(question.language)}/questions/{position}"
        index = question.index or plain_indices.get(question.key, position + 1)
        numbered = structs.replace(question, index=index, at=pointer)
        runs.sort(key=_run_order, reverse=True)
        while runs:
            yield _row_of_record(suite, numbered, runs.pop(), scale, left_out_evaluator)


def _run_order(record: Record) -> tuple[int, ...]:
    cue = record.asker
    return (record.run, *((FORMS.index(cue.form), PLACES.index(cue.place)) if cue else ()))


def _row_of_record(
    suite: AnySuite, question: QuestionRow, record: Record, scale: Scale, left_out_evaluator: str | None
) -> RunRow:
    # A suite may return a bool, but results have numbers.
    values = {
        name: as_number(suite, record, name, value)
        for name, value in suite.values(record, scale, left_out_evaluator).items()
    }
    return RunRow(
        question=question,
        number=record.run,
        outcome=record.outcome,
        score=record.score,
        percent=values.get("percent", record.percent),
        error=record.error,
        values=values,
        verdicts=_verdict_rows(suite, record, left_out_evaluator),
        details=suite.details(record),
        subject_transcript=_SubjectTranscript(record.subject, _sent_prompts(question, record.asker)),
        evaluator_transcripts=_EvaluatorTranscripts(record.evaluators),
        asker=record.asker,
        names_asker=record.names_asker,
    )


def as_number(suite: AnySuite, record: Record, name: str, value: Any) -> float | None:
    """A value of a run as a float, None if it has none. Raises UserError for anything but a finite number."""
    if value is None or (type(value) is float and math.isfinite(value)):
        # Nearly all values. Asking for Real takes ten times as long.
        return value
    # Real also has the scalars of numpy.
    with suppress(OverflowError):
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
    raise UserError(
        f"suite {suite.name!r}: {record.id}: its value {name!r} is {reprlib.repr(value)}, "
        "not a finite number; mend it, and run the same command again: no reply is lost"
    )


def _sent_prompts(question: QuestionRow, asker: Cue | None) -> Mapping[str, str]:
    """The first messages of a pair of conversations, as sent: with the cue, if any, before the prompt."""
    if asker is None:
        return question.prompts
    return {label: asker.prepend_to(prompt) for label, prompt in question.prompts.items()}


def _verdict_rows(suite: AnySuite, record: Record, left_out_evaluator: str | None) -> Sequence[VerdictRow]:
    level = suite.judging.level  # returns the number by which panels and people are compared
    if level is None:
        return ()
    verdicts = [item for item in record.verdicts if item.evaluator != left_out_evaluator]
    return [_verdict_row(verdict, level(verdict)) for verdict in verdicts]


def _verdict_row(verdict: Verdict, score: float | None) -> VerdictRow:
    fields = {name: value for name, value in (verdict.fields or {}).items() if name != "score"}
    # The other keys are fields of the rubric, which no type can name.
    row: dict[str, JSON] = {"evaluator": intern(verdict.evaluator), "score": score, **fields}
    if verdict.attempts:
        row["attempts"] = verdict.attempts
    if verdict.error is not None:
        row["error"] = verdict.error
    return row  # type: ignore[return-value]


# Sequences that refer only to the transcripts, so that the rest of a record can be freed.


class _SubjectTranscript(LazySequence[Message]):
    __slots__ = ("_prompts", "_transcripts")

    def __init__(self, transcripts: Sequence[Conversation], prompts: Mapping[str, str]) -> None:
        self._transcripts, self._prompts = transcripts, prompts

    def read(self) -> Sequence[Message]:
        if not self._prompts:
            return [message for item in self._transcripts for message in item.messages]
        transcripts = at_once(self._transcripts)
        return [
            {**message, "conversation": label}
            for label, prompt in self._prompts.items()
            for message in _conversation(transcripts, prompt)
        ]


def _conversation(transcripts: Sequence[Conversation], prompt: str) -> Sequence[Message]:
    """The first conversation with this prompt, after a system prompt, if any; empty if none has it."""
    for transcript in transcripts:
        if any(message["content"] == prompt for message in transcript.messages):
            return transcript.messages
    return ()


class _EvaluatorTranscripts(LazySequence[EvaluatorTranscript]):
    __slots__ = ("_transcripts",)

    def __init__(self, transcripts: Sequence[Conversation]) -> None:
        self._transcripts = transcripts

    def read(self) -> Sequence[EvaluatorTranscript]:
        return [{"evaluator": item.name, "messages": [*item.messages]} for item in self._transcripts]


# To JSON.


def to_json(
    suite: AnySuite, rows: Sequence[RunRow], scale: Scale, *, has_means: bool = True
) -> dict[str, JSON]:
    """The section `results` of results JSON. The runs of each question are made only on writing.

    Questions have mean scores only if the suite has means and `has_means` is set.
    """
    means = scale if suite.judging.has_means and has_means else None
    return {
        language: _language_json(list(runs), means)
        for language, runs in groupby(rows, key=lambda row: row.language)
    }


def _language_json(rows: Sequence[RunRow], scale: Scale | None) -> dict[str, JSON]:
    questions = by_question(rows)
    means = [mean(_scores(runs)) for runs in questions]
    parts = [_question_json(runs, average, scale) for runs, average in zip(questions, means, strict=True)]
    average = mean([item for item in means if item is not None])
    return {"questions": parts, **(scale.named("average_score", average) if scale else {})}


def _question_json(rows: Sequence[RunRow], average: float | None, scale: Scale | None) -> dict[str, JSON]:
    spread = {"score_stddev": rounded(population_sd(_scores(rows)))}
    return {
        **rows[0].question.to_json(),
        "runs": lambda: [row.to_json() for row in rows],
        **({**scale.named("mean_score", average), **spread} if scale else {}),
        "outcomes": count_outcomes(rows),
    }


def _scores(rows: Iterable[RunRow]) -> list[float]:
    return [row.score for row in rows if row.score is not None]


# From JSON.


class _Run(RunResult, frozen=True, kw_only=True):
    """A run in a file. Verdicts have the fields of the rubric, which no type can name.

    Transcripts may be offsets, and are checked when they are read.
    """

    verdicts: list[dict[str, JSON]]  # type: ignore[assignment]
    subject_transcript: list[Any]
    evaluator_transcripts: list[Any]


class _Question(QuestionContent, frozen=True, kw_only=True):
    runs: list[_Run]


class _Language(Struct, frozen=True):
    questions: list[_Question]


class _Asked(Struct, frozen=True):
    results: dict[str, _Language]


def of_json(results: JSON, transcripts: Transcripts | None = None) -> list[RunRow]:
    """The rows of the section `results` of results JSON of the current version, in order.

    Raises TypeError or ValueError if something is missing or of the wrong type.
    """
    return _of_languages(json_io.as_type(results, dict[str, _Language]), transcripts, RESULTS_POINTER)


def of_askers(data: Mapping[str, JSON], transcripts: Transcripts | None) -> list[RunRow]:
    """The rows of runs with a cue in results JSON; empty if there are none. Raises as `of_json` does."""
    if "askers" not in data:
        return []
    return _of_languages(json_io.as_type(data["askers"], _Asked).results, transcripts, ASKERS_POINTER)


def _of_languages(
    languages: Mapping[str, _Language], transcripts: Transcripts | None, section: str
) -> list[RunRow]:
    rows: list[RunRow] = []
    for language, content in languages.items():
        ids = [question.id for question in content.questions]
        if len({*ids}) < len(ids):
            raise ValueError(f"a question occurs twice in {language}")
        for position, question in enumerate(content.questions):
            pointer = f"{section}/{_escape(language)}/questions/{position}"
            rows += _rows_of_question(language, question, pointer, transcripts)
    return rows


def _rows_of_question(
    language: str, content: _Question, pointer: str, transcripts: Transcripts | None
) -> Iterator[RunRow]:
    fields = {name: getattr(content, name) for name in QuestionContent.__struct_fields__}
    question = QuestionRow(language=language, at=pointer, **fields)
    for run in content.runs:
        msgspec.convert(run.verdicts, list[VerdictRow])
        fields = {name: getattr(run, name) for name in _RUN_FIELDS}
        for name in TRANSCRIPTS:
            fields[name] = _transcript(fields[name], transcripts)
        yield RunRow(question=question, **fields)


_RUN_FIELDS = RunResult.__struct_fields__
TRANSCRIPTS = ("subject_transcript", "evaluator_transcripts")
"""The keys of a run that contain conversations."""


def _transcript(content: Sequence[Any], transcripts: Transcripts | None) -> Sequence[Any]:
    """A transcript in a file; lazy if `content` is its offsets."""
    if transcripts is None or not content or not isinstance(content[0], int):
        return content
    return _InFile(transcripts, *content)


class _InFile(LazySequence[Any]):
    """A transcript in a file."""

    __slots__ = ("_first", "_last", "_transcripts")

    def __init__(self, transcripts: Transcripts, first: int, last: int) -> None:
        self._transcripts, self._first, self._last = transcripts, first, last

    def read(self) -> Sequence[Any]:
        return self._transcripts.read(self._first, self._last)


def _escape(name: str) -> str:
    """The name as a reference token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def total_usage(conversations: Sequence[Conversation]) -> Usage | None:
    """The sum of the tokens reported for these conversations; None if none were reported."""
    usages = [message["usage"] for item in conversations for message in item.messages if "usage" in message]
    if not usages:
        return None
    kinds = ("input", "output", "cached", "reasoning")
    return Usage(**{kind: sum(usage[kind] for usage in usages) for kind in kinds})
