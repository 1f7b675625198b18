"""Chinese SimpleQA: short questions of fact, graded correct, incorrect or not attempted.

Metrics after He and others (2024): with A correct, B incorrect, C not attempted of n, CO = A/n, IN = B/n,
NA = C/n, CGA = A/(A+B), F = 2A/(2n-C). CGA and F are 0 if nothing was attempted. Runs without a grade are
left out. The grade that most evaluators give counts; in a tie, B goes before C, and C before A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from equipoise.core.figures import Figure, format_value
from equipoise.core.records import Cell, Label, Metric, Outcome, Record, Score, Verdict
from equipoise.core.rows import QuestionRow, Values
from equipoise.core.types import JSON, Foreseen, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject
from equipoise.suites.chinese_simpleqa import answers, askers, checks, dataset, plot_data, prompts
from equipoise.suites.chinese_simpleqa.anchors import AUDIT
from equipoise.suites.chinese_simpleqa.dataset import Fact
from equipoise.suites.chinese_simpleqa.options import OPTIONS
from equipoise.suites.chinese_simpleqa.prompts import FactRubric
from equipoise.suites.chinese_simpleqa.retrieval import Passage, retrieve
from equipoise.suites.chinese_simpleqa.scoring import (
    CORRECT,
    GRADE_SCORES,
    GRADES,
    INCORRECT,
    NOT_ATTEMPTED,
    majority_grade,
)
from equipoise.suites.chinese_simpleqa.summary import summary
from equipoise.suites.contract import About, Data, Judging, Suite, foresee_verdict
from equipoise.suites.reading import read_letter
from equipoise.suites.scores import outcome_of


def foresee(case: Fact, rubric: FactRubric) -> Sequence[Foreseen]:
    """The question, and the grading of its answer unless the answer is a choice between options."""
    if case.style == "few_shot":
        text = prompts.continuation(case, rubric)
    else:
        text = f"{prompts.instruction(case, rubric)}\n{prompts.message(case, rubric)}"
    subject = Foreseen(role="subject", prompt=text)
    if case.options:
        return [subject]
    material = prompts.grading_material(case.question, case.accepted)
    return [subject, foresee_verdict(rubric.prompts["grading"].messages(code="", reply="", **material))]


# One run.


async def evaluate(case: Fact, rubric: FactRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and have the answer graded; a letter or an option that stands alone needs no evaluator."""
    passages = await retrieve(case.question, case.corpus, case.retriever) if case.corpus else []
    reply = await _ask(case, rubric, subject, passages)
    details: dict[str, JSON] = {"passages": [item.id for item in passages]} if case.corpus else {}
    if reply.blocked or not reply.text.strip():
        return _score(outcome_of(reply), NOT_ATTEMPTED, details)
    answer, answer_details = _read_answer(case, rubric, reply.text)
    details |= answer_details
    question = case.question
    if case.options:
        choice = read_letter(reply.text, case.options, [rubric.marker]).value
        details |= {"chosen": None if choice is None else int(choice)}
        if choice is not None:
            return _score(outcome_of(reply), _option_grade(case, int(choice)), details)
        question = prompts.message(case, rubric)
    if not answer.strip():
        return _score("empty", NOT_ATTEMPTED, details)
    if not case.options:
        details |= {"exact": answers.is_exact(answer, case.accepted)}
    material = prompts.grading_material(question, case.accepted)
    verdicts = await panel.grade(rubric.prompts["grading"], reply=answer, **material)
    return _score(outcome_of(reply), _joint_grade(verdicts), details, verdicts)


async def _ask(case: Fact, rubric: FactRubric, subject: Subject, passages: Sequence[Passage]) -> Reply:
    if case.style == "few_shot":
        return await subject.continue_(prompts.continuation(case, rubric), stop=["\n"])
    question = prompts.message(case, rubric, passages)
    return await subject.ask(question, prompts.instruction(case, rubric))


def _read_answer(case: Fact, rubric: FactRubric, text: str) -> tuple[str, dict[str, JSON]]:
    """The part of a reply to grade, and details: its language, and its confidence if that was asked for."""
    names = (*case.accepted, *case.options)
    if not case.is_confident:
        marked = answers.text_after_marker(text, rubric.marker) if case.style != "direct" else None
        return (marked or "").strip() or text, {"other_language": answers.is_in_other_language(text, names)}
    # Only the answer is checked: the keys of the JSON object are English words, as requested.
    answer, confidence = answers.parse_confident_answer(text) or (text, None)
    return answer, {"other_language": answers.is_in_other_language(answer, names), "confidence": confidence}


def _option_grade(case: Fact, index: int) -> str:
    return CORRECT if case.options[index] == case.accepted[0] else INCORRECT


def _joint_grade(verdicts: Sequence[Verdict]) -> str | None:
    """The grade that most of the valid verdicts give; None without a valid one."""
    return majority_grade([verdict.fields["grade"] for verdict in verdicts if verdict.fields is not None])


def _score(
    outcome: Outcome, grade: str | None, details: Mapping[str, JSON], verdicts: tuple[Verdict, ...] = ()
) -> Score:
    with_grade = {**details, "grade": grade}
    if grade is None:
        why = "; ".join(f"{item.evaluator}: {item.error}" for item in verdicts)
        return Score(
            outcome="unscored", value=None, error=f"no grade: {why}", verdicts=verdicts, details=with_grade
        )
    return Score(outcome=outcome, value=GRADE_SCORES[grade], verdicts=verdicts, details=with_grade)


# Results.


def question(case: Mapping[str, JSON]) -> QuestionRow:
    """The row of a question; its text includes the accepted answers, as evaluators see them."""
    language = case["language"]
    return QuestionRow(
        id=case["id"].removeprefix(f"{language}-"),
        language=language,
        area=case["topic"] or "",
        text=f"{case['question']}\n[{' / '.join(case['accepted'])}]",
        cluster=case["item"],
        stratum=language,
        labels={group: case[group] or "" for group in ("topic", "subtopic", "kind")},
        details={name: list(case[name]) for name in ("accepted", "options")},
    )


def values(record: Record, scale: Scale, without: str | None = None) -> Values:
    """1 or 0 for each grade, and numerator and denominator of F; all None without a grade."""
    grade = _grade_without(record, without)
    values = _grade_values(grade)
    return dict.fromkeys(values) if grade is None else values


def labelled(label: Label, judged: Values, scale: Scale) -> Values:
    """The values of a run with the grade that has the label's score."""
    grade = next((grade for grade, score in GRADE_SCORES.items() if score == label.score), None)
    return {} if grade is None else _grade_values(grade)


def _grade_values(grade: str | None) -> Values:
    correct, incorrect, not_attempted = (float(grade == letter) for letter in GRADES)
    return {
        "percent": 100.0 * correct,
        "correct": correct,
        "incorrect": incorrect,
        "not_attempted": not_attempted,
        "attempted": 1.0 - not_attempted,
        "twice_correct": 2.0 * correct,
        "twice_less_not_attempted": 2.0 - not_attempted,
    }


def _grade_without(record: Record, without: str | None) -> str | None:
    """The grade of a run without one evaluator; unchanged for an answer that no evaluator graded."""
    if without is None or not record.verdicts:
        return record.details.get("grade")
    return _joint_grade([verdict for verdict in record.verdicts if verdict.evaluator != without])


def level(verdict: Verdict) -> float | None:
    """2 for correct, 1 for not attempted, 0 for incorrect."""
    return None if verdict.fields is None else GRADE_SCORES[verdict.fields["grade"]]


_METRICS = (
    Metric(name="f", of="twice_correct", per="twice_less_not_attempted", kind="ratio", if_nothing=0.0),
    Metric(name="correct", of="correct", kind="rate"),
    Metric(name="incorrect", of="incorrect", kind="rate", higher_is_better=False),
    Metric(name="not_attempted", of="not_attempted", kind="rate", higher_is_better=None),
    Metric(name="correct_given_attempted", of="correct", per="attempted", kind="ratio", if_nothing=0.0),
)


def metrics(cells: Sequence[Cell]) -> Sequence[Metric]:
    """F, then the other four metrics; all five by topic and by kind of answer; F by subtopic."""
    groups = [
        zip(*(metric.by(label, cells) for metric in _METRICS), strict=True) for label in ("topic", "kind")
    ]
    by_group = [metric for group in groups for metrics in group for metric in metrics]
    return [*_METRICS, *by_group, *_METRICS[0].by("subtopic", cells)]


_HEADER = ("", "questions", *plot_data.METRIC_LABELS.values(), "95 % interval of F")


def table(summary: Mapping[str, JSON]) -> Sequence[Sequence[str]]:
    """A header, then rows for all answers, each topic and each kind of answer."""
    metrics: Mapping[str, Figure] = summary["metrics"]
    groups = plot_data.groups(metrics, "topic") | plot_data.groups(metrics, "kind")
    return [_HEADER, *(_table_row(name, figures) for name, figures in groups.items())]


def _table_row(name: str, figures: Mapping[str, Figure]) -> Sequence[str]:
    numbers = (format_value(figures[key].value, 1) for key in plot_data.METRIC_LABELS)
    return (name, str(figures["f"].n), *numbers, figures["f"].limits())


SUITE = Suite(
    name="chinese_simpleqa",
    about=About(
        title="Chinese SimpleQA",
        # The comma closes the relative clause before "is 62 %".
        headline="F, which weighs correct answers against wrong ones,",
        names={"tcm": "Traditional Chinese medicine", "f": "F"},
        meaning="F is the harmonic mean of two percentages: of correct answers among all questions, and "
        "among those that were attempted.",
    ),
    data=Data(cases=dataset.facts, formats=dataset.FORMATS, lint=checks.lint, datasets=("own", "original")),
    options=OPTIONS,
    judging=Judging(
        rubric=prompts.load,
        form="label",
        level=level,
        categories={
            "correct": GRADE_SCORES[CORRECT],
            "incorrect": GRADE_SCORES[INCORRECT],
            "not_attempted": GRADE_SCORES[NOT_ATTEMPTED],
        },
        labelled=labelled,
    ),
    foresee=foresee,
    evaluate=evaluate,
    question=question,
    values=values,
    summary=summary,
    metrics=metrics,
    table=table,
    plots=plot_data.plots,
    audit=AUDIT,
    asked=askers,
)
