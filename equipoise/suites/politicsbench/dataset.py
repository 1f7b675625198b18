"""Reads role-play scenarios: the project's own files, one per language, and the published ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from equipoise.core.errors import UserError
from equipoise.core.files import json_object, objects, read_bytes, read_text, rows
from equipoise.core.types import JSON, Case
from equipoise.suites.findings import Recognised
from equipoise.suites.selection import Selection

PUBLISHED = "scenario_prompts.txt"
"""The file of the published scenarios."""
QUESTIONS = "questions.csv"
"""The file of the project's own direct questions, with these COLUMNS."""
COLUMNS = ["scenario", "language", "subject", "title", "question"]
WORDINGS = ("original", "paraphrase_a", "paraphrase_b", "mirror")
PoliticalSide = Literal["left", "right"]
SIDES: tuple[PoliticalSide, ...] = get_args(PoliticalSide)
ORDERS = ("first", "second")
"""Whether the pressing person speaks before or after the other one."""
STAGE_COUNT = 4
_WORDINGS_BY_SUFFIX = {"og": "original", "wa": "paraphrase_a", "wb": "paraphrase_b", "": "original"}
"""Our names of the published wordings, by the suffix of their number."""
_SCENARIO_HEADING = re.compile(r"^########(?!#) *(.*)$", re.MULTILINE)
_PROMPT_HEADING = re.compile(r"^#######(?!#) *Prompt\d+ *$", re.MULTILINE)
_NUMBER_AND_SUFFIX = re.compile(r"(\d+)(?:-(\w+))?$")
_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_SLUG = re.compile(r"[a-z0-9_]+")
_STAGES_KEY = re.compile(rb'"stages"\s*:')


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
    folder = selection.topics
    by_language = _published_scenarios(folder) if (folder / PUBLISHED).is_file() else _own_scenarios(folder)
    if unknown := [language for language in selection.languages if language not in by_language]:
        raise UserError(f"--language: no {unknown[0]!r} in {folder}; there are {', '.join(by_language)}")
    _refuse_same_ids(folder, [case for cases in by_language.values() for case in cases])
    return [
        case
        for language, cases in by_language.items()
        if not selection.languages or language in selection.languages
        for case in sorted(cases, key=lambda case: WORDINGS.index(case.wording))
    ]


def _refuse_same_ids(folder: Path, cases: Sequence[Scenario]) -> None:
    ids: set[str] = set()
    for case in cases:
        if case.id in ids:
            raise UserError(f"{folder}: there are two scenarios {case.id!r}; remove one of them")
        ids.add(case.id)


# The project's own scenarios.


def _own_scenarios(folder: Path) -> dict[str, list[Scenario]]:
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise UserError(f"{folder}: no scenarios (*.jsonl, one file a language) in this folder")
    questions = _questions(folder / QUESTIONS)
    return {path.stem: list(_read_language(path, questions)) for path in files}


def _questions(path: Path) -> dict[tuple[str, str], Mapping[str, str]]:
    """The rows of the direct questions by scenario and language. Raises UserError."""
    questions: dict[tuple[str, str], Mapping[str, str]] = {}
    for row in rows(path, COLUMNS):
        key = (row["scenario"], row["language"])
        if key in questions or not row["question"].strip():
            raise UserError(f"{row.where}: needs a question, and the only one of {key[0]} in {key[1]}")
        questions[key] = row.values
    return questions


def _read_language(path: Path, questions: Mapping[tuple[str, str], Mapping[str, str]]) -> Iterator[Scenario]:
    wordings: set[tuple[str, str]] = set()
    for where, data in objects(path):
        case = _scenario(data, where, path.stem, questions)
        if (case.scenario, case.wording) in wordings:
            raise UserError(f"{where}: {case.scenario} has its {case.wording} already")
        wordings.add((case.scenario, case.wording))
        yield case
    if not wordings:
        raise UserError(f"{path}:1: no scenario in this file; write one JSON object a line")


def _scenario(
    data: Mapping[str, JSON],
    where: str,
    language: str,
    questions: Mapping[tuple[str, str], Mapping[str, str]],
) -> Scenario:
    name, wording = data.get("scenario"), data.get("wording")
    if not isinstance(name, str) or not _SLUG.fullmatch(name):
        raise UserError(f"{where}: scenario is {name!r}; use a-z, 0-9 and _ only")
    if wording not in WORDINGS:
        raise UserError(f"{where}: wording is {wording!r}, not one of {', '.join(WORDINGS)}")
    if (speaks := data.get("presser_speaks")) not in (*ORDERS, None):
        raise UserError(f"{where}: presser_speaks is {speaks!r}, neither first nor second")
    if (name, language) not in questions:
        raise UserError(f"{where}: {QUESTIONS} has no row for {name} in {language}")
    row = questions[name, language]
    english = questions.get((name, "en-US"), row)
    return Scenario(
        id=f"{language}-{name}-{wording}",
        language=language,
        area=_slug(english["subject"]),
        keywords=(row["title"], row["subject"]),
        scenario=name,
        wording=wording,
        pressure=_side(data, "pressure", where),
        change_sought_by=_side(data, "change_sought_by", where),
        presser_speaks=speaks,
        stages=_stages(data, where),
        question=row["question"],
    )


def _side(data: Mapping[str, JSON], key: str, where: str) -> PoliticalSide | None:
    side = data.get(key)
    if side is None or side in SIDES:
        return cast("PoliticalSide | None", side)
    raise UserError(f"{where}: {key} is {side!r}, neither left nor right")


def _stages(data: Mapping[str, JSON], where: str) -> tuple[str, ...]:
    stages = data.get("stages")
    if not isinstance(stages, list) or not all(isinstance(text, str) and text.strip() for text in stages):
        raise UserError(f"{where}: 'stages' must be a list of texts")
    if len(stages) != STAGE_COUNT:
        raise UserError(f"{where}: needs {STAGE_COUNT} stages, not {len(stages)}")
    return tuple(stages)


def _slug(text: str) -> str:
    return _NOT_IN_SLUGS.sub("_", text.lower()).strip("_") or "general"


# The published scenarios.


def _published_scenarios(folder: Path) -> dict[str, list[Scenario]]:
    path = folder / PUBLISHED
    text = read_text(path)
    # Text before the first heading is skipped; the rest alternates between titles and bodies.
    _, *parts = _SCENARIO_HEADING.split(text)
    blocks = list(zip((title.strip() for title in parts[::2]), parts[1::2], strict=True))
    questions = next((body for title, body in blocks if title == "BASELINE_QUESTIONS"), None)
    if questions is None:
        raise UserError(f"{path}: has no BASELINE_QUESTIONS at its end")
    question_by_number = json_object(questions.strip(), f"{path}: BASELINE_QUESTIONS")
    return {
        "en-US": [
            _published_scenario(title, body, question_by_number, path)
            for title, body in blocks
            if title != "BASELINE_QUESTIONS"
        ]
    }


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
    name = _slug(parts[2].partition("(")[0])
    wording = _WORDINGS_BY_SUFFIX[number[2] or ""]
    return Scenario(
        id=f"en-US-{int(number[1]):02d}_{name}-{wording}",
        language="en-US",
        area=_slug(parts[1]),
        keywords=(parts[2], parts[1]),
        scenario=f"{int(number[1]):02d}_{name}",
        wording=wording,
        pressure=None,
        stages=stages,
        question=question,
    )


# Recognising.


def recognises(path: Path) -> Recognised:
    """Yes for a folder with direct questions or the published file; part for one of the data files.

    A fault in the header of the questions must not hide what the folder is: the scenarios say it, too.
    """
    if _has_direct_questions(path / QUESTIONS) or (path / PUBLISHED).is_file():
        return "yes"
    if (path / QUESTIONS).is_file() and any(map(_has_stages, path.glob("*.jsonl"))):
        return "yes"
    if not path.is_file():
        return "no"
    return "part" if _has_stages(path) or _has_direct_questions(path) or path.name == PUBLISHED else "no"


def _has_stages(path: Path) -> bool:
    return path.suffix == ".jsonl" and path.is_file() and bool(_STAGES_KEY.search(read_bytes(path)))


def _has_direct_questions(path: Path) -> bool:
    """Whether a file has direct questions. Without a column `scenario` it may be another suite's."""
    return path.name == QUESTIONS and path.is_file() and b"scenario" in read_bytes(path).split(b"\n", 1)[0]
