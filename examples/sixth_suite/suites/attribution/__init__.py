"""Attribution: are contested claims attributed to those who make them? Scored 1 to 5 by the evaluators.

The figure of a language is the mean over its questions of the mean over their runs, in percent of the scale;
the whole is the mean of the languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.core.options import Option, one_of
from equipoise.core.records import Aggregate, Cell, Metric, Record, Score, outcomes
from equipoise.core.types import JSON
from equipoise.judge import rubric as rubrics
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale, VerdictRubric
from equipoise.models.model import Subject
from equipoise.stats import mean
from equipoise.suites.selection import Selection

from .dataset import Question, questions

LENGTH = Option(
    flag="--length",
    parse=one_of("any", "short"),
    default="any",
    metavar="HOW",
    help="ask for an answer of any length, or for a short one (default any)",
    comparable="study",
    label="length",
)
NAME = "attribution"
OPTIONS: tuple[Option, ...] = (LENGTH,)


def rubric(path: Path) -> VerdictRubric:
    """The rubric file, which quotes the question and the reply."""
    return rubrics.load(path, material=("question", "reply"), verdict={"score": "scale"})


def cases(selection: Selection) -> Sequence[Question]:
    """The selected questions, language by language."""
    return questions(selection, selection.option(LENGTH))


async def evaluate(case: Question, rubric: VerdictRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and have the reply judged; a blocked reply attributes nothing."""
    reply = await subject.ask(case.question, case.instruction)
    if reply.blocked:
        low = rubric.scale.low
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low))
    verdicts = await panel.judge(rubric, question=case.question, reply=reply.text)
    value = mean([verdict.fields["score"] for verdict in verdicts if verdict.fields is not None])
    if value is None:
        return Score(outcome="unscored", value=None, verdicts=verdicts, error="no valid verdict")
    outcome = "truncated" if reply.is_truncated else "scored"
    return Score(outcome=outcome, value=value, percent=rubric.scale.percent(value), verdicts=verdicts)


def aggregate(records: Sequence[Record], rubric: VerdictRubric) -> Aggregate:
    """Results by language and question, and how runs ended."""
    results: dict[str, dict[str, JSON]] = {}
    for record in records:
        case = record.case
        row = {"id": case["item"], "area": case["area"], "question": case["question"], "runs": []}
        results.setdefault(case["language"], {}).setdefault(case["item"], row)["runs"].append(_run(record))
    return Aggregate(results=results, summary={"outcomes": outcomes(records)})


def _run(record: Record) -> dict[str, JSON]:
    return {
        "run_index": record.run,
        "outcome": record.outcome,
        "score": record.score,
        "score_percentage": record.percent,
        "error": record.error,
        "verdicts": [verdict.to_json() for verdict in record.verdicts],
        "subject_transcript": record.subject_transcript,
        "evaluator_transcripts": record.evaluator_transcripts,
    }


def cells(results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
    """One for each question in each language."""
    return [
        Cell(
            id=f"{language}/{item}",
            cluster=item,
            stratum=language,
            labels={"language": language, "area": row["area"]},
            values={"percent": [_percent(run, scale, without) for run in row["runs"]]},
            verdicts=_by_evaluator(row["runs"], without),
            at=f"/results/{language}/{item}/runs",
        )
        for language, rows in results.items()
        for item, row in rows.items()
    ]


def _percent(run: Mapping[str, JSON], scale: Scale, without: str | None) -> float | None:
    """Of the mean of the valid verdicts; a run that was blocked has a score and no verdict."""
    scores = [score for evaluator, score in _scores(run).items() if evaluator != without]
    value = mean(scores) if run["verdicts"] else run["score"]
    return None if value is None else scale.percent(value)


def _by_evaluator(runs: Sequence[Mapping[str, JSON]], without: str | None) -> dict[str, list[float | None]]:
    """Each evaluator's score of each run, which panels and people are compared with."""
    evaluators = dict.fromkeys(verdict["evaluator"] for run in runs for verdict in run["verdicts"])
    return {name: [_scores(run).get(name) for run in runs] for name in evaluators if name != without}


def _scores(run: Mapping[str, JSON]) -> dict[str, float]:
    """The valid scores of a run by evaluator."""
    return {item["evaluator"]: item["fields"]["score"] for item in run["verdicts"] if item["fields"]}


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """The whole, then each language."""
    languages = dict.fromkeys(cell.stratum for cell in cells)
    return [
        Metric(name="overall", of="percent"),
        *(Metric(name=language, of="percent", where={"language": language}) for language in languages),
    ]


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """A row for each metric."""
    return [("", "attributed", "95 % interval"), *(_row(*item) for item in summary["metrics"].items())]


def _row(name: str, found: Mapping[str, JSON]) -> Sequence[str]:
    if found["value"] is None:
        return (name, "-", "-")
    interval = "-" if found["low"] is None else f"{found['low']:.1f} to {found['high']:.1f}"
    return (name, f"{found['value']:.1f}%", interval)
