"""Reads role-play scenarios: the project's own files, one per language, and the published ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from equipoise.core.errors import UserError
from equipoise.core.files import Row, json_object, read_text
from equipoise.core.types import JSON, Case
from equipoise.suites import tables
from equipoise.suites.invariants import balanced, distinct, one_value, only, parallel
from equipoise.suites.politicsbench.scoring import EIGHT_WEIGHTS, WEIGHTS, composite
from equipoise.suites.selection import DEFAULT_AREA, SCRIPTED, Selection
from equipoise.suites.tables import Table, as_slug, optional

WORDINGS = ("original", "paraphrase_a", "paraphrase_b", "mirror")
PoliticalSide = Literal["left", "right"]
SIDES: tuple[PoliticalSide, ...] = get_args(PoliticalSide)
ORDERS = ("first", "second")
"""Whether the pressing person speaks before or after the other one."""
STAGE_COUNT = 4
_WORDINGS_BY_SUFFIX = {"og": "original", "wa": "paraphrase_a", "wb": "paraphrase_b", "": "original"}
"""The project's names of the published wordings, by the suffix of their number."""
_SCENARIO_HEADING = re.compile(r"^########(?!#) *(.*)$", re.MULTILINE)
_PROMPT_HEADING = re.compile(r"^#######(?!#) *Prompt\d+ *$", re.MULTILINE)
_NUMBER_AND_SUFFIX = re.compile(r"(\d+)(?:-(\w+))?$")


def _stages(cell: JSON) -> tuple[str, ...]:
    stages = tables.texts(cell)
    if len(stages) != STAGE_COUNT:
        raise ValueError(f"must be {STAGE_COUNT} texts, not {len(stages)}")
    return stages


SCENARIOS = Table(
    file="*.jsonl",
    row="scenario",
    columns={
        "scenario": tables.slug,
        "wording": tables.one_of(*WORDINGS),
        "pressure": optional(tables.one_of(*SIDES)),
        "change_sought_by": optional(tables.one_of(*SIDES)),
        "presser_speaks": optional(tables.one_of(*ORDERS)),
        "stages": _stages,
    },
    unique=[("scenario", "wording")],
    must=[
        parallel("stages"),
        one_value("change_sought_by", "presser_speaks", by="scenario"),
        balanced("pressure", *SIDES, by=["wording"], allowed=1),
        balanced("change_sought_by", *SIDES, by=["wording", "pressure"], allowed=1),
        balanced("presser_speaks", *ORDERS, by=["wording", "pressure"], allowed=1),
    ],
)


def _asked(folder: Path) -> set[tuple[str, str]]:
    """Each scenario with each language in which it is told."""
    return {
        (row["scenario"], path.stem) for path in SCENARIOS.files(folder) for row in SCENARIOS.valid_rows(path)
    }


QUESTIONS = Table(
    file="questions.csv",
    row="question",
    columns={
        "scenario": tables.slug,
        "language": tables.text,
        "subject": tables.text,
        "title": tables.text,
        "question": tables.text,
    },
    unique=[("scenario", "language")],
    must=[
        parallel("subject", "title", "question"),
        only("scenario", "language", of=_asked),
        distinct("title"),
    ],
)


def _scores(cell: JSON) -> dict[str, float]:
    if not isinstance(cell, dict) or not all(isinstance(value, int | float) for value in cell.values()):
        raise ValueError("must have a number for each dimension")
    if unknown := {*WEIGHTS} ^ {*cell}:
        raise ValueError(f"must have the dimensions of the rubric; see {min(unknown)}")
    return cell


def _composite(cell: JSON) -> float:
    if not isinstance(cell, int | float):
        raise ValueError(f"is {cell!r}, not a number")
    return cell


def _composite_faults(row: Row) -> Iterator[str]:
    """Composites that do not follow from the scores in the same row."""
    for column, weights in {"composite": WEIGHTS, "composite_of_eight": EIGHT_WEIGHTS}.items():
        if row[column] != (expected := round(composite(row["scores"], weights), 3)):
            yield f"{column} is {row[column]}, and {expected} by its scores; correct one"


SCRIPTED_TEXTS = Table(
    file=f"{SCRIPTED}/*.jsonl",
    row="text",
    columns={
        "scenario": tables.slug,
        "leans": tables.one_of(*SIDES),
        "scores": _scores,
        "composite": _composite,
        "composite_of_eight": _composite,
        "text": tables.text,
    },
    unique=[("scenario", "leans")],
    faults=_composite_faults,
    optional=True,
)
PUBLISHED = Table(file="scenario_prompts.txt")
FORMATS = ((PUBLISHED,), (SCENARIOS, QUESTIONS, SCRIPTED_TEXTS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Case):
    """One wording of a scenario in one language: the four stages, and the direct question on the subject.

    `pressure` is the side of the pressing person. `change_sought_by` is the side that seeks change, while the
    other defends the status quo. `presser_speaks` says whether the pressing person speaks first or second.
    Each is None if not stated.
    """

    scenario: str
    wording: str
    pressure: PoliticalSide | None
    change_sought_by: PoliticalSide | None = None
    presser_speaks: str | None = None
    stages: tuple[str, ...]
    question: str


def scenarios(selection: Selection) -> list[Scenario]:
    """The selected scenarios by language, and then by wording in the order of WORDINGS.

    Raises UserError naming file and line.
    """
    if (selection.topics / PUBLISHED.file).is_file():
        return sorted(_published_scenarios(selection), key=_place)
    files = SCENARIOS.languages(selection.topics)
    questions = {(row["scenario"], row["language"]): row for row in QUESTIONS.read(selection.topics)}
    return [
        case
        for language in selection.chosen(files)
        for case in sorted(
            (_scenario(row, language, questions) for row in SCENARIOS.read(files[language])), key=_place
        )
    ]


def _place(case: Scenario) -> int:
    return WORDINGS.index(case.wording)


def _scenario(row: Row, language: str, questions: Mapping[tuple[str, str], Row]) -> Scenario:
    name = row["scenario"]
    if (name, language) not in questions:
        raise UserError(f"{row.where}: {QUESTIONS.file} has no row for {name} in {language}")
    direct = questions[name, language]
    english = questions.get((name, "en-US"), direct)
    return Scenario(
        id=f"{language}-{name}-{row['wording']}",
        language=language,
        area=as_slug(english["subject"]) or DEFAULT_AREA,
        keywords=(direct["title"], direct["subject"]),
        question=direct["question"],
        **row.values,
    )


# The published scenarios.


def _published_scenarios(selection: Selection) -> Iterator[Scenario]:
    selection.chosen(["en-US"])
    path = selection.topics / PUBLISHED.file
    # Text before the first heading is skipped. In the rest, titles and bodies alternate.
    _, *parts = _SCENARIO_HEADING.split(read_text(path))
    blocks = list(zip((title.strip() for title in parts[::2]), parts[1::2], strict=True))
    questions = next((body for title, body in blocks if title == "BASELINE_QUESTIONS"), None)
    if questions is None:
        raise UserError(f"{path}: has no BASELINE_QUESTIONS at its end")
    question_by_number = json_object(questions.strip(), f"{path}: BASELINE_QUESTIONS")
    for title, body in blocks:
        if title != "BASELINE_QUESTIONS":
            yield _published_scenario(title, body, question_by_number, path)


def _published_scenario(
    title: str, body: str, question_by_number: Mapping[str, JSON], path: Path
) -> Scenario:
    parts = [part.strip() for part in title.split("|")]
    number = _NUMBER_AND_SUFFIX.fullmatch(parts[0])
    if len(parts) != 3 or number is None or number[2] not in (None, *_WORDINGS_BY_SUFFIX):
        raise UserError(f"{path}: {title!r} is not a number with its wording, a theme and a title")
    stages = tuple(filter(None, (text.strip() for text in _PROMPT_HEADING.split(body))))
    question = question_by_number.get(number[1])
    if len(stages) != STAGE_COUNT or not isinstance(question, str):
        raise UserError(f"{path}: {title!r} needs {STAGE_COUNT} prompts and a baseline question")
    name = as_slug(parts[2].partition("(")[0])
    wording = _WORDINGS_BY_SUFFIX[number[2] or ""]
    return Scenario(
        id=f"en-US-{int(number[1]):02d}_{name}-{wording}",
        language="en-US",
        area=as_slug(parts[1]),
        keywords=(parts[2], parts[1]),
        scenario=f"{int(number[1]):02d}_{name}",
        wording=wording,
        pressure=None,
        stages=stages,
        question=question,
    )
