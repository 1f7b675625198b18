"""Reads short questions of fact from JSON Lines, the project's own format or the published one."""

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
"""The file of questions in the project's own format."""
PUBLISHED = "chinese_simpleqa.jsonl"
"""The published file of questions."""
SUBTOPICS = "subtopics.csv"
KINDS = ("person", "place", "organisation", "date", "number", "work", "term")
"""The kinds of answers."""
LETTERS = "ABCD"
"""The letters of the options."""
_COLUMNS = ["subtopic", "subtopic_name", "topic", "topic_name"]
_SHIPPED_TABLE = SHIPPED / "topics" / "chinese_simpleqa" / SUBTOPICS
_SLUG = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact(Case):
    """One question with one short answer, and how it is asked.

    `item` is the id without language and topic. `accepted` are the answer, then its other spellings; `kind`
    is one of KINDS, None if not stated.
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
    subtopics = _Subtopics(selection.topics)
    by_id: dict[str, Fact] = {}
    for number, (where, data) in enumerate(_question_lines(selection.topics), start=1):
        fact = _fact(where, number, data, subtopics, selection)
        if fact.id in by_id:
            raise UserError(f"{where}: the id {data['id']!r} is taken by an earlier line")
        by_id[fact.id] = fact
    return list(by_id.values())


def _question_lines(topics: Path) -> Iterator[tuple[str, dict[str, JSON]]]:
    """The question in each line as an object, with its `file:line`. Raises UserError, also without any."""
    path = question_file(topics)
    is_empty = True
    for where, data in objects(path):
        is_empty = False
        _check_texts(data, where)
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


def _check_texts(data: Mapping[str, JSON], where: str) -> None:
    """Raise UserError unless id, question and answer are texts."""
    for key in ("id", "question", "answer"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            raise UserError(f"{where}: {key!r} must be a text")


class _Subtopics:
    """Slugs and names of subtopics and their topics, from the table beside the data or the shipped one."""

    def __init__(self, topics: Path) -> None:
        folder = topics if topics.is_dir() else topics.parent
        path = folder / SUBTOPICS
        self.path = path if path.is_file() else _SHIPPED_TABLE
        table: list[Mapping[str, str]] = []
        for row in rows(self.path, _COLUMNS):
            for column in ("subtopic", "topic"):
                if not _SLUG.fullmatch(row[column]):
                    raise UserError(f"{row.where}: {column} is {row[column]!r}; use a-z, 0-9 and _ only")
            table.append(row.values)
        self._by_slug = {row["subtopic"]: row for row in table}
        self._by_name = {(row["topic_name"], row["subtopic_name"]): row for row in table}

    def row_of(self, data: Mapping[str, JSON], where: str) -> Mapping[str, str]:
        """The table's row for a question, or a row with general slugs if it has none. Raises UserError."""
        if "primary_category" in data:  # the published format
            names = (str(data["primary_category"]), str(data.get("secondary_category")))
            return self._by_name.get(names) or _general_row(*names)
        slug = data.get("subtopic")
        if slug is None:
            return _general_row("", "")
        if not isinstance(slug, str) or slug not in self._by_slug:
            raise UserError(f"{where}: there is no subtopic {slug!r} in {self.path.name}")
        return self._by_slug[slug]


def _general_row(topic_name: str, subtopic_name: str) -> dict[str, str]:
    """The row of a topic and subtopic without slugs."""
    return {
        "subtopic": DEFAULT_AREA,
        "subtopic_name": subtopic_name,
        "topic": DEFAULT_AREA,
        "topic_name": topic_name,
    }


def _fact(
    where: str, number: int, data: Mapping[str, JSON], subtopics: _Subtopics, selection: Selection
) -> Fact:
    row = subtopics.row_of(data, where)
    # The ids of published questions are hashes.
    item = f"{row['subtopic']}_q{number:04d}" if "primary_category" in data else data["id"]
    if not _SLUG.fullmatch(item):
        raise UserError(f"{where}: id is {item!r}; use a-z, 0-9 and _ only")
    if data.get("kind") not in (None, *KINDS):
        raise UserError(f"{where}: kind is {data['kind']!r}, not one of {', '.join(KINDS)}")
    accepted = (data["answer"], *_texts(data, "variants", where))
    corpus = selection.option(RETRIEVAL)
    return Fact(
        id=f"{LANGUAGE}-{row['topic']}-{item}",
        language=LANGUAGE,
        area=row["topic"],
        keywords=tuple(row[key] for key in ("subtopic", "subtopic_name", "topic_name") if row[key]),
        item=item,
        topic=row["topic"],
        subtopic=row["subtopic"],
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
    """The list of texts at a key, empty if the key is missing. Raises UserError for anything else."""
    texts = data.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(item, str) and item for item in texts):
        raise UserError(f"{where}: {key!r} must be a list of texts")
    return tuple(texts)


def _options(
    item: str, accepted: Sequence[str], data: Mapping[str, Any], selection: Selection, where: str
) -> tuple[str, ...]:
    """The options, in code-point order or shuffled by question and seed; empty for open answers.

    Raises UserError unless there are three different wrong ones.
    """
    form = selection.option(ANSWER_FORMAT)
    if form == "open":
        return ()
    distractors = _texts(data, "distractors", where)
    is_distinct = len({*distractors}) == len(distractors) and not {*distractors} & {*accepted}
    if len(distractors) != len(LETTERS) - 1 or not is_distinct:
        raise UserError(
            f"{where}: --answer-format {form} needs {len(LETTERS) - 1} different wrong 'distractors'"
        )
    options = [accepted[0], *distractors]
    if form == "choice":
        return tuple(sorted(options))
    seed = selection.option(SEED)
    salt = f"{seed} {item}" if seed else item
    return tuple(sorted(options, key=lambda text: _digest(f"{salt} {text}")))


def _digest(text: str) -> bytes:
    """The SHA-256 of a text, which may have lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def recognises(path: Path) -> Recognised:
    """Yes for a folder with a file of questions of fact; perhaps for a file of JSON Lines."""
    if any((path / name).is_file() for name in (QUESTIONS, PUBLISHED)):
        return "yes"
    return "perhaps" if path.suffix == ".jsonl" and path.is_file() else "no"
