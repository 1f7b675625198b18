"""Reads short questions of fact from JSON Lines, the project's own format or the published one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import Row
from equipoise.core.types import JSON, Case
from equipoise.suites import tables
from equipoise.suites.chinese_simpleqa.options import (
    ANSWER_FORMAT,
    CONFIDENCE,
    PROMPT_STYLE,
    RETRIEVAL,
    RETRIEVER,
    check_options,
)
from equipoise.suites.invariants import one_value
from equipoise.suites.resources import SHIPPED
from equipoise.suites.selection import DEFAULT_AREA, Selection
from equipoise.suites.shared_options import SEED
from equipoise.suites.tables import Table, optional

LANGUAGE = "zh-CN"
KINDS = ("person", "place", "organisation", "date", "number", "work", "term")
"""The kinds of answers."""
LETTERS = "ABCD"
"""The letters of the options."""
QUESTIONS = Table(
    file="questions.jsonl",
    row="question",
    columns={
        "id": tables.slug,
        "question": tables.text,
        "answer": tables.text,
        "kind": optional(tables.one_of(*KINDS)),
        "subtopic": optional(tables.text),
        "variants": optional(tables.texts, ()),
        "distractors": optional(tables.texts, ()),
        # The published file has these two in place of the subtopic.
        "primary_category": optional(tables.text),
        "secondary_category": optional(tables.text),
    },
    unique=["id"],
)
PUBLISHED = replace(QUESTIONS, file="chinese_simpleqa.jsonl")
SUBTOPICS = Table(
    file="subtopics.csv",
    row="subtopic",
    columns={
        "subtopic": tables.slug,
        "subtopic_name": tables.text,
        "topic": tables.slug,
        "topic_name": tables.text,
    },
    unique=["subtopic", ("topic_name", "subtopic_name")],
    must=[one_value("topic_name", by="topic")],
    optional=True,
)
FORMATS = ((QUESTIONS, SUBTOPICS), (PUBLISHED, SUBTOPICS))


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
    selection.chosen([LANGUAGE])
    check_options(selection)
    rows = QUESTIONS.read(question_file(selection.topics))
    subtopics = _subtopics(selection.topics)
    return [_fact(number, row, subtopics, selection) for number, row in enumerate(rows, start=1)]


def question_file(topics: Path) -> Path:
    """The file with the questions: `topics` itself, or a file in this folder. Raises UserError."""
    files = QUESTIONS.files(topics) or PUBLISHED.files(topics)
    if not files:
        raise UserError(f"{topics}: no {QUESTIONS.file} in this folder")
    return files[0]


def _subtopics(topics: Path) -> Mapping[JSON, Row]:
    """The rows of the table beside the data, or else of the shipped table, by subtopic and by both names."""
    folder = topics if topics.is_dir() else topics.parent
    rows = SUBTOPICS.read(folder) or SUBTOPICS.read(SHIPPED / "topics" / "chinese_simpleqa")
    by_names = {(row["topic_name"], row["subtopic_name"]): row for row in rows}
    return {**by_names, **{row["subtopic"]: row for row in rows}}


def _subtopic_of(row: Row, subtopics: Mapping[JSON, Row]) -> Mapping[str, str]:
    """The subtopic and topic of a question; both are DEFAULT_AREA if it has none. Raises UserError."""
    names = row["primary_category"], row["secondary_category"]
    key = row["subtopic"] if names == (None, None) else names
    if isinstance(key, str) and key not in subtopics:
        raise UserError(f"{row.where}: there is no subtopic {key!r} in {SUBTOPICS.file}")
    if key in subtopics:
        return subtopics[key].values
    topic_name, subtopic_name = names
    return {
        "subtopic": DEFAULT_AREA,
        "subtopic_name": subtopic_name or "",
        "topic": DEFAULT_AREA,
        "topic_name": topic_name or "",
    }


def _fact(number: int, row: Row, subtopics: Mapping[JSON, Row], selection: Selection) -> Fact:
    about = _subtopic_of(row, subtopics)
    # The ids of published questions are hashes.
    item = f"{about['subtopic']}_q{number:04d}" if row["primary_category"] else row["id"]
    corpus = selection.option(RETRIEVAL)
    return Fact(
        id=f"{LANGUAGE}-{about['topic']}-{item}",
        language=LANGUAGE,
        area=about["topic"],
        keywords=tuple(about[key] for key in ("subtopic", "subtopic_name", "topic_name") if about[key]),
        item=item,
        topic=about["topic"],
        subtopic=about["subtopic"],
        kind=row["kind"],
        question=row["question"],
        accepted=(row["answer"], *row["variants"]),
        options=_options(item, row, selection),
        style=selection.option(PROMPT_STYLE),
        is_confident=selection.option(CONFIDENCE),
        corpus=str(corpus) if corpus else None,
        retriever=selection.option(RETRIEVER),
    )


def _options(item: str, row: Row, selection: Selection) -> tuple[str, ...]:
    """The options, in code-point order or shuffled by question and seed; empty for open answers.

    Raises UserError unless there are three different wrong options.
    """
    form = selection.option(ANSWER_FORMAT)
    if form == "open":
        return ()
    right, wrong = {row["answer"], *row["variants"]}, row["distractors"]
    if not len(wrong) == len({*wrong} - right) == len(LETTERS) - 1:
        raise UserError(
            f"{row.where}: --answer-format {form} needs {len(LETTERS) - 1} different wrong 'distractors'"
        )
    options = [row["answer"], *wrong]
    if form == "choice":
        return tuple(sorted(options))
    seed = selection.option(SEED)
    salt = f"{seed} {item}" if seed else item
    return tuple(sorted(options, key=lambda text: _digest(f"{salt} {text}")))


def _digest(text: str) -> bytes:
    """The SHA-256 of a text, which may have lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
