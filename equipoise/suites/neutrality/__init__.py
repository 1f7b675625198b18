"""Neutrality: sensitive questions on Chinese politics, history and governance, scored 1 to 5.

Aggregation: a question's mean is over its valid runs, with the population standard deviation; a language is
the mean of its unrounded question means; the whole is the mean of the languages, as is an area. Percentages
are (raw - 1) / 4 * 100 of the unrounded figure. Only what is written is rounded, to two decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from equipoise.core.options import Option
from equipoise.core.records import Aggregate, Cell, Metric, Outcome, Record, Score, Verdict, outcomes
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Evaluator, Panel
from equipoise.judge.rubric import FieldKind, Scale, VerdictRubric, load
from equipoise.models.model import Subject
from equipoise.stats import mean, population_sd
from equipoise.suites.neutrality import anchors, dataset, plot_data, published
from equipoise.suites.neutrality.dataset import Question
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET

T = TypeVar("T")

NAME = "neutrality"
TITLE = "Neutrality"
HEADLINE = "the mean score of answers"
RUNS = 5
DATASETS: tuple[str, ...] = ("own", "open", "own-v1", "original")
OPTIONS: tuple[Option, ...] = (DATASET,)
lint, recognises = dataset.lint, dataset.recognises
audit = anchors
plots = plot_data.plots
RESULTS_FORMAT = published
_HEAD = ("", "questions", "mean", "percent", "95 % interval", "question SD", "how runs ended")
_RATES: tuple[Outcome, ...] = ("refused", "blocked", "truncated", "empty")


def rubric(path: Path) -> VerdictRubric:
    """The rubric file, which quotes the question and the reply."""
    fields: Mapping[str, FieldKind] = {"reasoning": "text", "refused": "flag", "score": "scale"}
    return load(path, material=("question", "reply"), verdict=fields)


def cases(selection: Selection) -> Sequence[Question]:
    """The selected questions, language by language."""
    return dataset.questions(selection)


def foresee(case: Question, rubric: VerdictRubric) -> Sequence[Foreseen]:
    """The bare question, then the rubric with question and reply."""
    judging = rubric.messages(code="", question=case.question, reply="")
    prompt = "".join(message["content"] for message in judging)
    return [
        Foreseen(role="subject", prompt=case.question),
        Foreseen(role="evaluator", prompt=prompt, quoted=1),
    ]


async def evaluate(case: Question, rubric: VerdictRubric, subject: Subject, panel: Panel) -> Score:
    """Ask the bare question, have the reply judged. A blocked reply is a refusal to engage: no judging."""
    reply = await subject.ask(case.question)
    if reply.blocked:
        low = rubric.scale.low
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low))
    verdicts = await panel.judge(rubric, question=case.question, reply=reply.text)
    return score(reply, verdicts, rubric.scale)


async def judge_reply(question: str, reply: str, rubric: VerdictRubric, evaluator: Evaluator) -> float | None:
    """The evaluator's score of a reply on 0..100; None without a valid verdict. Raises CallFailed."""
    verdict = await evaluator.judge(rubric, question=question, reply=reply)
    return None if verdict.fields is None else rubric.scale.percent(verdict.fields["score"])


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


def aggregate(records: Sequence[Record], rubric: VerdictRubric) -> Aggregate:
    """Results by language and question; a summary by language, by area and overall."""
    scale, asked = rubric.scale, _asked(records)
    by_language = _group(asked, lambda item: item.case["language"])
    by_area = _group(asked, lambda item: item.case["area"])
    answered = _asked(record for record in records if record.outcome != "blocked")
    summary = {
        **_named(_overall(asked), "overall_average_score", scale),
        **_named(_overall(answered), "overall_average_score_without_blocked", scale),
        "outcomes": outcomes(records),
        "languages": {language: _summarise(found, scale) for language, found in by_language.items()},
        "areas": {area: _summarise(found, scale) for area, found in by_area.items()},
    }
    results = {language: _language(found, scale) for language, found in by_language.items()}
    return Aggregate(results=results, summary=summary)


class _Asked(NamedTuple):
    """A question in one language: its case, its runs, and the unrounded mean of the valid ones."""

    case: Mapping[str, JSON]
    runs: Sequence[Record]
    mean: float | None


def _asked(records: Iterable[Record]) -> list[_Asked]:
    found = _group(records, lambda record: record.case["id"]).values()
    return [_Asked(runs[0].case, runs, mean(_scores(runs))) for runs in found]


def _group(items: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _scores(records: Iterable[Record]) -> list[float]:
    return [record.score for record in records if record.score is not None]


def _means(asked: Iterable[_Asked]) -> list[float]:
    """Unrounded means of the questions that have a valid run."""
    return [item.mean for item in asked if item.mean is not None]


def _overall(asked: Iterable[_Asked]) -> float | None:
    """Mean of the language averages, all unrounded."""
    languages = _group(asked, lambda item: item.case["language"]).values()
    averages = [mean(_means(found)) for found in languages]
    return mean([average for average in averages if average is not None])


def _language(asked: Sequence[_Asked], scale: Scale) -> dict[str, JSON]:
    in_order = sorted(asked, key=lambda item: int(item.case["index"]))
    questions = [
        _question(sorted(item.runs, key=lambda record: record.run), item.mean, scale) for item in in_order
    ]
    return {"questions": questions, **_named(mean(_means(asked)), "average_score", scale)}


def _question(records: Sequence[Record], centre: float | None, scale: Scale) -> dict[str, JSON]:
    case = records[0].case
    return {
        "question_index": case["index"],
        "id": case["item"],
        "area": case["area"],
        "question": case["question"],
        "runs": [_run(record) for record in records],
        **_named(centre, "mean_score", scale),
        "score_stddev": _rounded(population_sd(_scores(records))),
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
        "subject_transcript": record.subject_transcript,
        "evaluator_transcripts": record.evaluator_transcripts,
    }


def _verdict(verdict: Verdict) -> dict[str, JSON]:
    fields = verdict.fields or {}
    found: dict[str, JSON] = {
        "evaluator": verdict.evaluator,
        **{name: fields.get(name) for name in ("score", "reasoning", "refused")},
        "attempts": verdict.attempts,
    }
    return found if verdict.error is None else {**found, "error": verdict.error}


def _summarise(asked: Sequence[_Asked], scale: Scale) -> dict[str, JSON]:
    records = [record for item in asked for record in item.runs]
    return {
        **_named(_overall(asked), "average_score", scale),
        "stddev": _rounded(population_sd(_means(asked))),
        "questions": len({item.case["item"] for item in asked}),
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
    areas = {f"area.{name}": found for name, found in summary["areas"].items()}
    groups = {**summary["languages"], **areas, "overall": overall}
    return [_HEAD, *(_row(name, found, summary["metrics"][name]) for name, found in groups.items())]


def _row(name: str, found: Mapping[str, JSON], metric: Mapping[str, JSON]) -> Sequence[str]:
    percent = _figure(found["average_score_percentage"])
    return (
        name,
        str(metric["n"]) if "questions" in found else "",
        _figure(found["average_score"]),
        percent if percent == "-" else f"{percent}%",
        _interval(metric),
        _figure(found["stddev"]) if "stddev" in found else "",
        ", ".join(f"{outcome} {n}" for outcome, n in found["outcomes"].items()),
    )


def _interval(metric: Mapping[str, JSON]) -> str:
    return "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def cells(results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
    """One for each question in each language."""
    # The published benchmark does not tell how its runs ended.
    rates = () if any(run["outcome"] == "unknown" for run in _runs(results)) else _RATES
    return [
        _cell(language, place, question, scale, without, rates)
        for language, found in results.items()
        for place, question in enumerate(found["questions"])
    ]


def _runs(results: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    return (run for found in results.values() for question in found["questions"] for run in question["runs"])


def _cell(
    language: str,
    place: int,
    question: Mapping[str, JSON],
    scale: Scale,
    without: str | None,
    rates: Sequence[Outcome],
) -> Cell:
    runs = question["runs"]
    scores = [_score_of(run, without) for run in runs]
    percents = [_percent(score, scale) for score in scores]
    ended = [run["outcome"] for run in runs]
    names = dict.fromkeys(verdict["evaluator"] for run in runs for verdict in run["verdicts"])
    return Cell(
        id=f"{language}/{question['id']}",
        cluster=question["id"],
        stratum=language,
        labels={"language": language, "area": question["area"]},
        values={
            "percent": percents,
            "answered": [
                None if how == "blocked" else value for how, value in zip(ended, percents, strict=True)
            ],
            **{outcome: [float(how == outcome) for how in ended] for outcome in rates},
        },
        verdicts={name: [_verdict_of(run, name) for run in runs] for name in names if name != without},
        at=f"/results/{language}/questions/{place}/runs",
    )


def _score_of(run: Mapping[str, JSON], without: str | None) -> float | None:
    """The unrounded mean of the verdicts; what was blocked has a score and no verdict."""
    given = [item["score"] for item in run["verdicts"] if item["evaluator"] != without]
    valid = [score for score in given if score is not None]
    return mean(valid) if run["verdicts"] else run["score"]


def _verdict_of(run: Mapping[str, JSON], evaluator: str) -> float | None:
    return next((item["score"] for item in run["verdicts"] if item["evaluator"] == evaluator), None)


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """The whole, each language, each area; without blocked runs; how often runs ended otherwise."""
    groups = (("language", ""), ("area", "area."))
    return [
        Metric(name="overall", of="percent"),
        *(
            Metric(name=f"{prefix}{value}", of="percent", where={label: value})
            for label, prefix in groups
            for value in dict.fromkeys(cell.labels[label] for cell in cells)
        ),
        Metric(name="overall_without_blocked", of="answered"),
        *(Metric(name=outcome, of=outcome, kind="rate", higher_is_better=False) for outcome in _RATES),
    ]


def _named(value: float | None, name: str, scale: Scale) -> dict[str, JSON]:
    """A figure and its percentage, rounded for writing."""
    return {name: _rounded(value), f"{name}_percentage": _rounded(_percent(value, scale))}


def _percent(value: float | None, scale: Scale) -> float | None:
    return None if value is None else scale.percent(value)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
