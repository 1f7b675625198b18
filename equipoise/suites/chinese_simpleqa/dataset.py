"""Reads short questions of fact from JSON Lines: the project's own, and the published ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.core.errors import UserError
from equipoise.core.files import objects, rows
from equipoise.core.types import JSON, Case
from equipoise.suites.chinese_simpleqa.options import (
    ANSWER_FORMAT,
    CONFIDENCE,
    PROMPT_STYLE,
    RETRIEVAL,
    RETRIEVER,
    check_options,
)
from equipoise.suites.findings import Recognised
from equipoise.suites.resources import SHIPPED
from equipoise.suites.selection import DEFAULT_AREA, Selection
from equipoise.suites.shared_options import SEED

LANGUAGE = "zh-CN"
QUESTIONS = "questions.jsonl"
SUBTOPICS = "subtopics.csv"
PUBLISHED = "chinese_simpleqa.jsonl"
KINDS = ("person", "place", "organisation", "date", "number", "work", "term")
LETTERS = "ABCD"
_COLUMNS = ["subtopic", "subtopic_name", "topic", "topic_name"]
_OWN_TABLE = SHIPPED / "topics" / "chinese_simpleqa" / SUBTOPICS
_ID = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Case):
    """One question with one short answer, and how it is asked.

    `accepted` are the answer and its other spellings; `kind` is the kind of answer, None if not stated.
    `options` are the choices in the order shown, empty for an open answer. `style` is the style of the
    prompt, and `is_confident` whether it asks for a confidence. `corpus` and `retriever` are the source of
    passages, if any.
    """

    item: str
    topic: str
    subtopic: str
    kind: str | None
    question: str
    accepted: tuple[str, ...]
    options: tuple[str, ...] = ()
    style: str = "direct"
    is_confident: bool = False
    corpus: str | None = None
    retriever: str | None = None

    def to_json(self) -> dict[str, JSON]:
        """All fields except the keywords; the corpus by its name only, so that results have no local path."""
        data = Case.to_json(self)
        return {**data, "corpus": Path(self.corpus).name if self.corpus else None}


def facts(selection: Selection) -> list[Fact]:
    """The selected questions in the order of the file. Raises UserError naming file and line."""
    if unknown := [language for language in selection.languages if language != LANGUAGE]:
        raise UserError(f"--language: no {unknown[0]!r} in {selection.topics}; there is {LANGUAGE}")
    check_options(selection)
    table = _Subtopics(selection.topics)
    lines = list(_rows(selection.topics))[: selection.limit]
    made: dict[str, Fact] = {}
    for number, (where, row) in enumerate(lines, start=1):
        fact = _fact(where, number, row, table, selection)
        if fact.id in made:
            raise UserError(f"{where}: the id {row['id']!r} is taken by an earlier line")
        made[fact.id] = fact
    return list(made.values())


def _rows(topics: Path) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The object in each line, with its `file:line`. Raises UserError if there is none."""
    path = question_file(topics)
    is_empty = True
    for where, data in objects(path):
        is_empty = False
        _refuse_missing(data, where)
        yield where, data
    if is_empty:
        raise UserError(f"{path}:1: no question in this file; write one JSON object a line")


def question_file(topics: Path) -> Path:
    """The file with the questions: `topics` itself, or a file in this folder. Raises UserError."""
    names = (QUESTIONS, PUBLISHED) if topics.is_dir() else ("",)
    path = next((topics / name for name in names if (topics / name).is_file()), None)
    if path is None:
        raise UserError(f"{topics}: no {QUESTIONS} in this folder")
    return path


def _refuse_missing(data: Mapping[str, JSON], where: str) -> None:
    for key in ("id", "question", "answer"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            raise UserError(f"{where}: {key!r} must be a text")


class _Subtopics:
    """Slugs and names of subtopics and their topics, from the data's own table or from ours."""

    def __init__(self, topics: Path) -> None:
        folder = topics if topics.is_dir() else topics.parent
        path = folder / SUBTOPICS
        self.path = path if path.is_file() else _OWN_TABLE
        table = []
        for row in rows(self.path, _COLUMNS):
            for column in ("subtopic", "topic"):
                if not _ID.fullmatch(row[column]):
                    raise UserError(f"{row.where}: {column} is {row[column]!r}; use a-z, 0-9 and _ only")
            table.append(row.values)
        self._by_slug = {row["subtopic"]: row for row in table}
        self._by_name = {(row["topic_name"], row["subtopic_name"]): row for row in table}

    def of(self, data: Mapping[str, JSON], where: str) -> Mapping[str, str]:
        """The row of a line's subtopic; the general one if the line names none. Raises UserError."""
        if "primary_category" in data:
            key = (str(data["primary_category"]), str(data.get("secondary_category")))
            return self._by_name.get(key) or _unnamed(*key)
        slug = data.get("subtopic")
        if slug is None:
            return _unnamed("", "")
        if not isinstance(slug, str) or slug not in self._by_slug:
            raise UserError(f"{where}: there is no subtopic {slug!r} in {self.path.name}")
        return self._by_slug[slug]


def _unnamed(topic: str, subtopic: str) -> dict[str, str]:
    """The row of a subtopic without a slug."""
    return {
        "subtopic": DEFAULT_AREA,
        "subtopic_name": subtopic,
        "topic": DEFAULT_AREA,
        "topic_name": topic,
    }


def _fact(where: str, number: int, data: Mapping[str, JSON], table: _Subtopics, selection: Selection) -> Fact:
    category = table.of(data, where)
    item = f"{category['subtopic']}_q{number:04d}" if "primary_category" in data else data["id"]
    if not _ID.fullmatch(item):
        raise UserError(f"{where}: id is {item!r}; use a-z, 0-9 and _ only")
    if data.get("kind") not in (None, *KINDS):
        raise UserError(f"{where}: kind is {data['kind']!r}, not one of {', '.join(KINDS)}")
    accepted = (data["answer"], *_texts(data, "variants", where))
    corpus = selection.option(RETRIEVAL)
    return Fact(
        id=f"{LANGUAGE}-{category['topic']}-{item}",
        language=LANGUAGE,
        area=category["topic"],
        keywords=tuple(
            name for name in (category["subtopic"], category["subtopic_name"], category["topic_name"]) if name
        ),
        item=item,
        topic=category["topic"],
        subtopic=category["subtopic"],
        kind=data.get("kind"),
        question=data["question"],
        accepted=accepted,
        options=_options(item, accepted, data, selection, where),
        style=selection.option(PROMPT_STYLE),
        is_confident=selection.option(CONFIDENCE),
        corpus=str(corpus) if corpus else None,
        retriever=selection.option(RETRIEVER),
    )


def _texts(data: Mapping[str, JSON], key: str, where: str) -> tuple[str, ...]:
    texts = data.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(item, str) and item for item in texts):
        raise UserError(f"{where}: {key!r} must be a list of texts")
    return tuple(texts)


def _options(
    item: str, accepted: Sequence[str], data: Mapping[str, Any], selection: Selection, where: str
) -> tuple[str, ...]:
    """The options to choose from: in code-point order, or shuffled by question and seed."""
    form = selection.option(ANSWER_FORMAT)
    if form == "open":
        return ()
    wrong = _texts(data, "distractors", where)
    if len(wrong) != len(LETTERS) - 1 or set(wrong) & set(accepted) or len(set(wrong)) < len(wrong):
        raise UserError(
            f"{where}: --answer-format {form} needs {len(LETTERS) - 1} different wrong 'distractors'"
        )
    offered = [accepted[0], *wrong]
    if form == "choice":
        return tuple(sorted(offered))
    seed = selection.option(SEED)
    salt = f"{seed} {item}" if seed else item
    return tuple(sorted(offered, key=lambda text: hashlib.sha256(f"{salt} {text}".encode()).digest()))


def recognises(path: Path) -> Recognised:
    """Yes for a folder with a file of questions of fact; perhaps for JSON Lines."""
    if any((path / name).is_file() for name in (QUESTIONS, PUBLISHED)):
        return "yes"
    return "perhaps" if path.suffix == ".jsonl" and path.is_file() else "no"
