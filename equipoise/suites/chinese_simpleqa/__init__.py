"""Chinese SimpleQA: short questions of fact, graded correct, incorrect or not attempted.

Metrics after He and others (2024): with A correct, B incorrect, C not attempted of n, CO = A/n, IN = B/n,
NA = C/n, CGA = A/(A+B), F = 2A/(2n-C); the last two are 0 where nothing was attempted. A run without a grade
is in none of them. With several evaluators the grade is that of most of them, in a tie B before C before A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.core.options import Option
from equipoise.core.records import Aggregate, Cell, Metric, Outcome, Record, Score, Verdict, outcomes
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject
from equipoise.suites.chinese_simpleqa import anchors, dataset, plot_data, prompts, summary
from equipoise.suites.chinese_simpleqa import from_documents as from_documents
from equipoise.suites.chinese_simpleqa.dataset import (
    ANSWER_FORMAT,
    CONFIDENCE,
    LETTERS,
    PROMPT_STYLE,
    RETRIEVAL,
    RETRIEVER,
    Fact,
)
from equipoise.suites.chinese_simpleqa.judging import VALUES, graded, material
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.retrieval import Passage, retrieve
from equipoise.suites.chinese_simpleqa.scoring import (
    CORRECT,
    INCORRECT,
    NOT_ATTEMPTED,
    behind,
    chosen,
    is_exact,
    is_in_other_language,
    majority,
    stated,
)
from equipoise.suites.selection import Selection
from equipoise.suites.shared_options import DATASET, SEED

NAME = "chinese_simpleqa"
TITLE = "Chinese SimpleQA"
HEADLINE = "F, which weighs correct answers against wrong ones,"
AREA = "topic"
DATASETS: tuple[str, ...] = ("own", "own-v1", "original")
OPTIONS: tuple[Option, ...] = (
    DATASET,
    PROMPT_STYLE,
    ANSWER_FORMAT,
    SEED,
    CONFIDENCE,
    RETRIEVAL,
    RETRIEVER,
)
lint, recognises = dataset.lint, dataset.recognises
plots = plot_data.plots
CATEGORIES = {
    "correct": VALUES[CORRECT],
    "incorrect": VALUES[INCORRECT],
    "not_attempted": VALUES[NOT_ATTEMPTED],
}
audit = anchors
_GROUPS = ("topic", "subtopic", "kind")


def rubric(path: Path) -> FactRubric:
    """The rubric file, in Chinese. Raises UserError naming file and key."""
    return prompts.load(path)


def cases(selection: Selection) -> Sequence[Fact]:
    """The selected questions."""
    return dataset.facts(selection)


def foresee(case: Fact, rubric: FactRubric) -> Sequence[Foreseen]:
    """The question, and the grading of its answer, which choices do not need."""
    if case.style == "few_shot":
        asked = prompts.continuation(case, rubric)
    else:
        asked = prompts.message(case, rubric) + prompts.instruction(case, rubric)
    subject = Foreseen(role="subject", prompt=asked)
    if case.options:
        return [subject]
    judging = rubric.prompts["grading"].messages(code="", reply="", **material(case.question, case.accepted))
    prompt = "".join(message["content"] for message in judging)
    return [subject, Foreseen(role="evaluator", prompt=prompt, quoted=1)]


# One run.


async def evaluate(case: Fact, rubric: FactRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and have the answer graded; a choice is read without an evaluator."""
    passages = await retrieve(case.question, case.corpus, case.retriever) if case.corpus else []
    reply = await _ask(case, rubric, subject, passages)
    details: dict[str, JSON] = {"passages": [item.id for item in passages]} if case.corpus else {}
    if reply.blocked or not reply.text.strip():
        outcome: Outcome = "blocked" if reply.blocked else "empty"
        return _score(outcome, NOT_ATTEMPTED, details)
    told, answer = _answer(case, rubric, reply.text)
    details |= told
    if case.options:
        place = chosen(reply.text, case.options, LETTERS[: len(case.options)], rubric.marker)
        return _score(_outcome(reply), _grade_of(case, place), {**details, "chosen": place})
    if not answer.strip():
        return _score("empty", NOT_ATTEMPTED, details)
    details |= {"exact": is_exact(answer, case.accepted)}
    verdicts = await graded(rubric, panel, answer, case.question, case.accepted)
    return _score(_outcome(reply), _grade(verdicts), details, verdicts)


async def _ask(case: Fact, rubric: FactRubric, subject: Subject, passages: Sequence[Passage]) -> Reply:
    if case.style == "few_shot":
        return await subject.continue_(prompts.continuation(case, rubric), stop=["\n"])
    question = prompts.message(case, rubric, passages)
    return await subject.ask(question, prompts.instruction(case, rubric))


def _answer(case: Fact, rubric: FactRubric, text: str) -> tuple[dict[str, JSON], str]:
    """The part of the reply to grade, and what else was read from it."""
    names = (*case.accepted, *case.options)
    if not case.is_confident:
        last = behind(text, rubric.marker) if case.style != "direct" else None
        return {"other_language": is_in_other_language(text, names)}, (last or "").strip() or text
    # The keys of the object are English words that were asked for.
    answer, confidence = stated(text) or (text, None)
    return {"other_language": is_in_other_language(answer, names), "confidence": confidence}, answer


def _grade_of(case: Fact, place: int | None) -> str:
    if place is None:
        return NOT_ATTEMPTED
    return CORRECT if case.options[place] == case.accepted[0] else INCORRECT


def _grade(verdicts: Sequence[Verdict]) -> str | None:
    return majority([verdict.fields["grade"] for verdict in verdicts if verdict.fields is not None])


def _outcome(reply: Reply) -> Outcome:
    return "truncated" if reply.is_truncated else "scored"


def _score(
    outcome: Outcome, grade: str | None, details: Mapping[str, JSON], verdicts: tuple[Verdict, ...] = ()
) -> Score:
    found = {**details, "grade": grade}
    if grade is None:
        why = "; ".join(f"{item.evaluator}: {item.error}" for item in verdicts)
        return Score(
            outcome="unscored", value=None, error=f"no grade: {why}", verdicts=verdicts, details=found
        )
    return Score(outcome=outcome, value=VALUES[grade], verdicts=verdicts, details=found)


# Results.


def aggregate(records: Sequence[Record], rubric: FactRubric) -> Aggregate:
    """Results by language and question; a summary by topic, subtopic and kind, and the side studies."""
    results: dict[str, dict[str, dict[str, JSON]]] = {}
    for record in records:
        rows = results.setdefault(record.case["language"], {})
        rows.setdefault(record.case["id"], {**summary.about(record.case), "runs": []})
        rows[record.case["id"]]["runs"].append(summary.run(record))
    listed = {language: {"questions": list(rows.values())} for language, rows in results.items()}
    questions = [row for found in listed.values() for row in found["questions"]]
    figures = {
        "outcomes": outcomes(records),
        **summary.figures(questions),
        **{group: summary.by(group, questions) for group in _GROUPS},
        **summary.grading(questions),
        "other_language": sum(bool(run["other_language"]) for row in questions for run in row["runs"]),
        **summary.studies(questions),
    }
    return Aggregate(results=listed, summary=figures)


def cells(results: Mapping[str, JSON], scale: Scale, without: str | None = None) -> Sequence[Cell]:
    """One for each question."""
    return [
        _cell(language, place, row, without)
        for language, found in results.items()
        for place, row in enumerate(found["questions"])
    ]


def figure_of(case: Mapping[str, JSON], run: Mapping[str, JSON], scale: Scale) -> float | None:
    """100 for a correct answer, 0 for any other; None without a grade."""
    return None if run["grade"] is None else 100.0 * (run["grade"] == CORRECT)


def asked(case: Mapping[str, JSON]) -> str:
    """The question and the accepted answers, as evaluators are told them."""
    return f"{case['question']}\n[{' / '.join(case['accepted'])}]"


def _cell(language: str, place: int, row: Mapping[str, JSON], without: str | None) -> Cell:
    grades = [_grade_without(run, without) for run in row["runs"]]
    names = dict.fromkeys(item["evaluator"] for run in row["runs"] for item in run["verdicts"])
    return Cell(
        id=row["id"],
        cluster=row["item"],
        stratum=language,
        labels={group: row[group] or "" for group in _GROUPS},
        values={
            "correct": [_is(grade, CORRECT) for grade in grades],
            "incorrect": [_is(grade, INCORRECT) for grade in grades],
            "not_attempted": [_is(grade, NOT_ATTEMPTED) for grade in grades],
            "attempted": [None if grade is None else float(grade != NOT_ATTEMPTED) for grade in grades],
            "twice_correct": [None if grade is None else 2.0 * (grade == CORRECT) for grade in grades],
            "twice_less_not_attempted": [
                None if grade is None else 2.0 - (grade == NOT_ATTEMPTED) for grade in grades
            ],
        },
        verdicts={name: [_verdict_of(run, name) for run in row["runs"]] for name in names if name != without},
        at=f"/results/{language}/questions/{place}/runs",
    )


def _grade_without(run: Mapping[str, JSON], without: str | None) -> str | None:
    grade: str | None = run["grade"]
    if without is None or not run["verdicts"]:
        return grade
    given = [item["grade"] for item in run["verdicts"] if item["evaluator"] != without]
    return majority([grade for grade in given if grade is not None])


def _is(grade: str | None, wanted: str) -> float | None:
    return None if grade is None else float(grade == wanted)


def _verdict_of(run: Mapping[str, JSON], evaluator: str) -> float | None:
    found = next((item["grade"] for item in run["verdicts"] if item["evaluator"] == evaluator), None)
    return None if found is None else VALUES[found]


_FIVE = (
    Metric(name="f", of="twice_correct", per="twice_less_not_attempted", kind="ratio", if_nothing=0.0),
    Metric(name="correct", of="correct", kind="rate"),
    Metric(name="incorrect", of="incorrect", kind="rate", higher_is_better=False),
    Metric(name="not_attempted", of="not_attempted", kind="rate", higher_is_better=None),
    Metric(name="correct_given_attempted", of="correct", per="attempted", kind="ratio", if_nothing=0.0),
)


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """F first, then the other four; all five by topic and by kind of answer, F by subtopic."""
    found = _five()
    for group in ("topic", "kind"):
        for name in dict.fromkeys(cell.labels[group] for cell in cells if cell.labels[group]):
            found += _five(f".{group}.{name}", **{group: name})
    for name in dict.fromkeys(cell.labels["subtopic"] for cell in cells):
        found.append(_five(f".subtopic.{name}", subtopic=name)[0])
    return found


def _five(suffix: str = "", **where: str) -> list[Metric]:
    return [replace(metric, name=f"{metric.name}{suffix}", where=where) for metric in _FIVE]


_HEAD = ("", "answers", "CO", "NA", "IN", "CGA", "F", "95 % interval of F")


def effects(
    before: Mapping[str, JSON], after: Mapping[str, JSON], metrics: Mapping[str, JSON]
) -> Sequence[str]:
    """The gain from passages, and from a prompt's style; the drop from a choice to an open answer."""
    return list(summary.effects(before, after, metrics))


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """The whole, each topic and each kind of answer."""
    metrics = summary["metrics"]
    rows = [
        _row(name, found, metrics[f"f.{group}.{name}"])
        for group in ("topic", "kind")
        for name, found in summary[group].items()
    ]
    return [_HEAD, _row("overall", summary, metrics["f"]), *rows]


def _row(name: str, found: Mapping[str, JSON], metric: Mapping[str, JSON]) -> Sequence[str]:
    order = ("correct", "not_attempted", "incorrect", "correct_given_attempted", "f")
    shown = ("-" if found[key] is None else f"{found[key]:.1f}" for key in order)
    interval = "-" if metric["low"] is None else f"{metric['low']:.1f} to {metric['high']:.1f}"
    return (name, str(found["n"]), *shown, interval)
