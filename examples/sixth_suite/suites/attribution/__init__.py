"""Are contested claims attributed to those who make them? Evaluators score each reply from 1 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.options import Option, one_of
from equipoise.core.records import Score
from equipoise.core.types import Case
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import VerdictRubric
from equipoise.models.model import Subject
from equipoise.suites import tables
from equipoise.suites.contract import Data, Suite
from equipoise.suites.invariants import parallel
from equipoise.suites.scores import mean_score
from equipoise.suites.selection import Selection
from equipoise.suites.tables import Table

LENGTH = Option(
    flag="--length",
    parse=one_of("any", "short"),
    default="any",
    metavar="HOW",
    help="ask for an answer of any length, or for a short one (default any)",
    comparable="study",
    label="length",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Case):
    """One question in one language; `item` is its id in all. `instruction` goes into the system message."""

    item: str
    question: str
    instruction: str | None


QUESTIONS = Table(
    file="questions.csv",
    row="question",
    columns={"language": tables.text, "id": tables.slug, "area": tables.slug, "question": tables.text},
    unique=[("language", "id")],
    must=[parallel("question")],
)
LENGTHS = Table(
    file="lengths.csv",
    columns={"language": tables.text, "length": tables.one_of("short"), "instruction": tables.text},
    unique=[("language", "length")],
    optional=True,
)


def cases(selection: Selection) -> Sequence[Question]:
    """The selected questions, language by language. Raises UserError."""
    questions, lengths = QUESTIONS.read(selection.topics), LENGTHS.read(selection.topics)
    length = selection.option(LENGTH)
    instructions = {row["language"]: row["instruction"] for row in lengths if row["length"] == length}
    return [
        Question(
            id=f"{language}-{row['area']}-{row['id']}",
            language=language,
            area=row["area"],
            item=row["id"],
            question=row["question"],
            instruction=instructions.get(language),
        )
        for language in selection.chosen(dict.fromkeys(row["language"] for row in questions))
        for row in questions
        if row["language"] == language
    ]


async def evaluate(case: Question, rubric: VerdictRubric, subject: Subject, panel: Panel) -> Score:
    """Ask, and have the reply judged; a blocked reply attributes nothing and gets the lowest score."""
    reply = await subject.ask(case.question, case.instruction or "")
    if reply.blocked:
        low = rubric.scale.low
        return Score(outcome="blocked", value=low, percent=rubric.scale.percent(low))
    verdicts = await panel.judge(rubric, question=case.question, reply=reply.text)
    return mean_score(reply, verdicts, rubric.scale)


SUITE = Suite(
    name="attribution",
    data=Data(cases=cases, formats=((QUESTIONS, LENGTHS),)),
    options=(LENGTH,),
    evaluate=evaluate,
)
