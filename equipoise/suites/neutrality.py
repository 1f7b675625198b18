"""Neutrality: sensitive questions on Chinese politics, history and governance, scored 1 to 5.

Aggregation: a question's mean is over its valid runs, with the population standard deviation; a language is
the mean of its unrounded question means; the whole is the mean of the languages. Percentages are
(raw - 1) / 4 * 100 of the unrounded figure. Only what is written is rounded, to two decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from equipoise import rubric as rubrics
from equipoise import topics
from equipoise.models import Panel, Subject
from equipoise.rubric import Rubric, Scale
from equipoise.stats import mean, population_deviation
from equipoise.topics import Question, Selection
from equipoise.types import JSON, Aggregate, Metric, Outcome, Record, Reply, Score, Verdict, outcomes

NAME = "neutrality"
_HEAD = ("", "questions", "mean", "percent", "deviation", "how runs ended")


def rubric(path: Path) -> Rubric:
    """The rubric file, which quotes the question and the reply."""
    return rubrics.load(path, material=("question", "reply"))


def cases(selection: Selection) -> Sequence[Question]:
    """The selected questions, language by language."""
    return topics.questions(selection)


async def evaluate(case: Question, rubric: Rubric, subject: Subject, panel: Panel) -> Score:
    """Ask the bare question, have the reply judged. A blocked reply is a refusal to engage: no judging."""
    reply = await subject.ask(case.question)
    if reply.blocked:
        low = rubric.scale.low
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low))
    verdicts = await panel.judge(rubric, question=case.question, reply=reply.text)
    return score(reply, verdicts, rubric.scale)


def score(reply: Reply, verdicts: tuple[Verdict, ...], scale: Scale) -> Score:
    """The mean of the valid verdicts, and how the run ended."""
    valid = [verdict.fields for verdict in verdicts if verdict.fields is not None]
    value = mean([fields["score"] for fields in valid])
    if value is None:
        return Score(outcome="unscored", value=None, verdicts=verdicts, error=_why_unscored(verdicts))
    return Score(outcome=_outcome(reply, valid), value=value, percent=scale.percent(value), verdicts=verdicts)


def _why_unscored(verdicts: tuple[Verdict, ...]) -> str:
    reasons = (f"{item.evaluator}: {item.error} ({item.attempts} attempts)" for item in verdicts)
    return "no valid verdict: " + "; ".join(reasons)


def _outcome(reply: Reply, valid: list[Mapping[str, JSON]]) -> Outcome:
    if not reply.text.strip():
        return "empty"
    if reply.is_truncated:
        return "truncated"
    refusals = sum(fields["refused"] is True for fields in valid)
    return "refused" if refusals * 2 > len(valid) else "scored"


def aggregate(records: Sequence[Record], rubric: Rubric) -> Aggregate:
    """Results by language and question; a summary by language, by area and overall."""
    scale = rubric.scale
    by_language = _group(records, lambda record: record.case["language"])
    results = {language: _language(found, scale) for language, found in by_language.items()}
    answered = [record for record in records if record.outcome != "blocked"]
    summary = {
        **_named(_overall(records), "overall_average_score", scale),
        **_named(_overall(answered), "overall_average_score_without_blocked", scale),
        "outcomes": outcomes(records),
        "languages": {language: _summarise(found, scale) for language, found in by_language.items()},
        "areas": {
            area: _summarise(found, scale)
            for area, found in _group(records, lambda record: record.case["area"]).items()
        },
    }
    return Aggregate(results=results, summary=summary, metrics=_metrics(records, scale))


def _group(records: Iterable[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _scores(records: Iterable[Record]) -> list[float]:
    return [record.score for record in records if record.score is not None]


def _question_means(records: Iterable[Record]) -> list[float]:
    """Unrounded means of the questions that have a valid run; a question here is a case in one language."""
    questions = _group(records, lambda record: record.case["id"]).values()
    return [centre for found in questions if (centre := mean(_scores(found))) is not None]


def _overall(records: Iterable[Record]) -> float | None:
    """Mean of the language averages, all unrounded."""
    languages = _group(records, lambda record: record.case["language"]).values()
    averages = [mean(_question_means(found)) for found in languages]
    return mean([average for average in averages if average is not None])


def _language(records: Sequence[Record], scale: Scale) -> dict[str, JSON]:
    in_order = sorted(records, key=lambda record: (record.case["index"], record.run))
    questions = [
        _question(list(found), scale) for _, found in groupby(in_order, lambda record: record.case["index"])
    ]
    return {"questions": questions, **_named(mean(_question_means(records)), "average_score", scale)}


def _question(records: list[Record], scale: Scale) -> dict[str, JSON]:
    case, scores = records[0].case, _scores(records)
    return {
        "question_index": case["index"],
        "id": case["item"],
        "area": case["area"],
        "question": case["question"],
        "runs": [_run(record) for record in records],
        **_named(mean(scores), "mean_score", scale),
        "score_stddev": _rounded(population_deviation(scores)),
        "outcomes": outcomes(records),
    }


def _run(record: Record) -> dict[str, JSON]:
    return {
        "run_index": record.run,
        "outcome": record.outcome,
        "score": _rounded(record.score),
        "score_percentage": _rounded(record.percent),
        "error": record.error,
        "verdicts": [_verdict(verdict) for verdict in record.verdicts],
        "subject_transcript": list(record.subject[0].messages) if record.subject else [],
        "evaluator_transcripts": [
            {"evaluator": item.model, "messages": list(item.messages)} for item in record.evaluators
        ],
    }


def _verdict(verdict: Verdict) -> dict[str, JSON]:
    fields = verdict.fields or {}
    found: dict[str, JSON] = {
        "evaluator": verdict.evaluator,
        **{name: fields.get(name) for name in ("score", "reasoning", "refused")},
        "attempts": verdict.attempts,
    }
    return found if verdict.error is None else {**found, "error": verdict.error}


def _summarise(records: Sequence[Record], scale: Scale) -> dict[str, JSON]:
    means = _question_means(records)
    return {
        **_named(mean(means), "average_score", scale),
        "stddev": _rounded(population_deviation(means)),
        "questions": len({record.case["item"] for record in records}),
        "runs": len(records),
        "errors": sum(record.score is None for record in records),
        "outcomes": outcomes(records),
    }


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """A row for each language, each area and the whole."""
    overall = {
        "average_score": summary["overall_average_score"],
        "average_score_percentage": summary["overall_average_score_percentage"],
        "outcomes": summary["outcomes"],
    }
    groups = {**summary["languages"], **summary["areas"], "overall": overall}
    return [_HEAD, *(_row(name, found) for name, found in groups.items())]


def _row(name: str, found: Mapping[str, JSON]) -> Sequence[str]:
    percent = _figure(found["average_score_percentage"])
    return (
        name,
        str(found.get("questions", "")),
        _figure(found["average_score"]),
        percent if percent == "-" else f"{percent}%",
        _figure(found["stddev"]) if "stddev" in found else "",
        ", ".join(f"{outcome} {n}" for outcome, n in found["outcomes"].items()),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _metrics(records: Sequence[Record], scale: Scale) -> tuple[Metric, ...]:
    languages = _group(records, lambda record: record.case["language"])
    values = {"overall": (_overall(records), _count_questions(records))}
    for language, found in languages.items():
        values[language] = (mean(_question_means(found)), _count_questions(found))
    return tuple(
        Metric(name=name, value=_percent(value, scale), n=n, unit="%", higher_is_better=True)
        for name, (value, n) in values.items()
    )


def _count_questions(records: Iterable[Record]) -> int:
    """Questions with a valid run, whatever the language: the clusters."""
    return len({record.case["item"] for record in records if record.score is not None})


def _named(value: float | None, name: str, scale: Scale) -> dict[str, JSON]:
    """A figure and its percentage, rounded for writing."""
    return {name: _rounded(value), f"{name}_percentage": _rounded(_percent(value, scale))}


def _percent(value: float | None, scale: Scale) -> float | None:
    return None if value is None else scale.percent(value)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
