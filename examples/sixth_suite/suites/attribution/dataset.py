"""Reads the questions, one table for all languages, and what a model is told beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.errors import UserError
from equipoise.core.files import rows
from equipoise.core.types import Case
from equipoise.suites.selection import Selection

QUESTIONS = ["language", "id", "area", "question"]
LENGTHS = ["language", "length", "instruction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Case):
    """One question in one language; `item` is the same in each."""

    item: str
    question: str
    instruction: str | None


def questions(selection: Selection, length: str) -> Sequence[Question]:
    """The selected questions; `limit` counts those of each language. Raises UserError."""
    path, lengths = selection.topics / "questions.csv", selection.topics / "lengths.csv"
    told = {row["language"]: row["instruction"] for row in rows(lengths, LENGTHS) if row["length"] == length}
    found: dict[str, list[Question]] = {}
    for row in rows(path, QUESTIONS):
        language, item = row["language"], row["id"]
        case = Question(
            id=f"{language}-{row['area']}-{item}",
            language=language,
            area=row["area"],
            item=item,
            question=row["question"],
            instruction=told.get(language),
        )
        found.setdefault(language, []).append(case)
    if unknown := set(selection.languages) - found.keys():
        raise UserError(f"--language: no {min(unknown)!r} in {path}; there are {', '.join(found)}")
    wanted = selection.languages or tuple(found)
    return [case for language in wanted for case in found[language][: selection.limit]]
