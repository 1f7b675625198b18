"""Prompts of questions of fact, loaded from the rubric and filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from equipoise.core.types import JSON
from equipoise.judge import choice
from equipoise.judge.choice import ChoiceRubric
from equipoise.judge.rubric import Scale, reading, take, template
from equipoise.suites.chinese_simpleqa.dataset import LETTERS, Fact
from equipoise.suites.chinese_simpleqa.retrieval import Passage, numbered
from equipoise.suites.chinese_simpleqa.scoring import GRADES

SCALE = Scale(low=0, high=2, levels={})
"""2 is correct, 1 not attempted, 0 incorrect."""
STYLES = ("direct", "recall", "step_by_step")
"""The styles of prompts that are instructions; few_shot has a text to continue instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRubric(ChoiceRubric):
    """The prompts for asking and grading; `styles` are the instructions by --prompt-style.

    `shots` is the text of the few-shot examples, and `shot` the question after it, which the model continues.
    `marker` precedes the answer in replies that recall or reason first. `no_passages` stands for passages if
    none are found.
    """

    styles: Mapping[str, str]
    marker: str
    shots: str
    shot: Template
    choice_system: str
    choice: Template
    confidence: str
    retrieval_system: str
    retrieval: Template
    no_passages: str


def load(path: Path) -> FactRubric:
    """The rubric in a TOML file. Raises UserError naming file and key."""
    base = choice.load(path, {"grading": ("question", "reference", "reply")}, SCALE, {"grading": GRADES})
    with reading(path) as (data, _):
        asking, choosing, retrieval = (take(data, name, dict) for name in ("asking", "choice", "retrieval"))
        return FactRubric(
            version=base.version,
            hash=base.hash,
            scale=SCALE,
            prompts=base.prompts,
            styles={name: take(asking, name, str, "asking.") for name in STYLES},
            marker=_marker(asking),
            shots=_shots(take(data, "few_shot", dict)),
            shot=_template(data, "few_shot", "question", {"question"}),
            choice_system=take(choosing, "system", str, "choice."),
            choice=_template(data, "choice", "user", {"question", "options"}),
            confidence=take(take(data, "confidence", dict), "system", str, "confidence."),
            retrieval_system=take(retrieval, "system", str, "retrieval."),
            retrieval=_template(data, "retrieval", "user", {"question", "passages"}),
            no_passages=take(retrieval, "none", str, "retrieval."),
        )


def _marker(asking: dict[str, JSON]) -> str:
    """The marker. Raises ValueError if it is empty, because every text would contain it."""
    marker = take(asking, "marker", str, "asking.")
    if not marker.strip():
        raise ValueError("asking.marker must not be empty")
    return marker


def _template(data: dict[str, JSON], table: str, key: str, names: set[str]) -> Template:
    return template(take(data, table, dict), key, known=names, needed=names, where=f"{table}.")


def _shots(table: dict[str, JSON]) -> str:
    """All few-shot examples as one text. Raises ValueError if there is none."""
    names = {"question", "answer"}
    example = template(table, "example", known=names, needed=names, where="few_shot.")
    examples = table.get("examples")
    if not isinstance(examples, list) or not examples:
        raise ValueError("few_shot.examples needs at least one question with its answer")
    for item in examples:
        if not isinstance(item, dict) or not all(isinstance(item.get(name), str) for name in names):
            raise ValueError("few_shot.examples: each needs a question and an answer")
    return "".join(example.substitute(item) for item in examples)


def instruction(case: Fact, rubric: FactRubric) -> str:
    """The system message: the instructions for the style of the prompt and for the other options."""
    parts = [rubric.styles[case.style]]
    parts += [rubric.choice_system] if case.options else []
    parts += [rubric.confidence.strip()] if case.is_confident else []
    parts += [rubric.retrieval_system] if case.corpus else []
    return "\n".join(parts)


def message(case: Fact, rubric: FactRubric, passages: Sequence[Passage] = ()) -> str:
    """The user message: passages, if any, the question, and its options."""
    text = case.question
    if case.options:
        options = "\n".join(
            f"{letter}. {option}" for letter, option in zip(LETTERS, case.options, strict=True)
        )
        text = rubric.choice.substitute(question=text, options=options).strip()
    if case.corpus is None:
        return text
    return rubric.retrieval.substitute(
        question=text, passages=numbered(passages) or rubric.no_passages
    ).strip()


def grading_material(question: str, accepted: Sequence[str]) -> dict[str, str]:
    """The material of a grading prompt without the reply: the question and the accepted answers."""
    return {"question": question, "reference": " / ".join(accepted)}


def continuation(case: Fact, rubric: FactRubric) -> str:
    """The examples and the question, as a text that the model continues with the answer."""
    return rubric.shots + rubric.shot.substitute(question=case.question)
