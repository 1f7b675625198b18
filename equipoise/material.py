"""The texts of a deck with the line that each stands at, as they are in its files.

Reads what can be read: what a suite's loader refuses is passed over here, as it is told there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise import disputes, facts, pairs, scenarios, topics
from equipoise.errors import UserError
from equipoise.textfiles import lines, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text that nobody should be asked twice.

    It is held against those of the same `among` (a language, say). Those of the same `owner` may be much
    alike, yet not the same.
    """

    path: str
    line: int
    among: str
    owner: str
    text: str

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stances:
    """Two opposing stances of a deck."""

    path: str
    line: int
    language: str
    id: str
    a: str
    b: str


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a file that are JSON objects, by their numbers. Raises UserError."""
    for number, line in lines(path):
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            yield number, data


def line_of(where: str) -> int:
    """The line in `file:line`."""
    return int(where.rpartition(":")[2])


# By suite.


def texts(suite: str, deck: Path) -> list[Text]:
    """What the deck asks; nothing of the files that cannot be read, nor of a suite that is not known."""
    try:
        return list(_TEXTS[suite](deck)) if suite in _TEXTS else []
    except UserError:
        return []


def _of_neutrality(deck: Path) -> Iterator[Text]:
    for path in topics.question_files(deck):
        for number, text in lines(path):
            yield Text(path=str(path), line=number, among=path.stem, owner=f"{path}:{number}", text=text)


def facts_file(deck: Path) -> Path:
    """The file of questions of fact. Raises UserError."""
    names = (facts.QUESTIONS, facts.PUBLISHED) if deck.is_dir() else ("",)
    found = next((deck / name for name in names if (deck / name).is_file()), None)
    if found is None:
        raise UserError(f"{deck}: no {facts.QUESTIONS} in this folder")
    return found


def _of_facts(deck: Path) -> Iterator[Text]:
    path = facts_file(deck)
    for number, data in objects(path):
        if isinstance(text := data.get("question"), str):
            yield Text(path=str(path), line=number, among="", owner=str(number), text=text)


def stances(deck: Path) -> Iterator[Stances]:
    """The stance pairs of a deck, each once, in our tables or the published one. Raises UserError."""
    published = deck / pairs.PUBLISHED_FILE
    if published.is_file():
        yield from _published_stances(published)
        return
    for path in sorted(deck.glob("*.csv")):
        if path.name != pairs.TEMPLATE_FILE:
            for row in rows(path, pairs.STANCES):
                yield _stances(path, row.where, row["id"], row["stance_a"], row["stance_b"])


def _published_stances(path: Path) -> Iterator[Stances]:
    """Each pair where it stands first: it is there once for every template."""
    seen = set()
    for row in rows(path, pairs.PUBLISHED):
        both = (row["stance_a"], row["stance_b"])
        if both not in seen:
            seen.add(both)
            yield _stances(path, row.where, f"{len(seen)}", *both)


def _stances(path: Path, where: str, name: str, a: str, b: str) -> Stances:
    return Stances(path=str(path), line=line_of(where), language=path.stem, id=name, a=a, b=b)


def _of_pairs(deck: Path) -> Iterator[Text]:
    for pair in stances(deck):
        for text in (pair.a, pair.b):
            yield Text(path=pair.path, line=pair.line, among=pair.language, owner=pair.id, text=text)


def _of_scenarios(deck: Path) -> Iterator[Text]:
    """The direct questions, and each case's stages as one text. A mirror is much like its original."""
    for path in sorted(deck.glob("*.jsonl")):
        for number, data in objects(path):
            is_mirrored = data.get("wording") in ("original", "mirror")
            among, owner = f"{path.stem} stages", str(data.get("scenario") if is_mirrored else number)
            text = "\n".join(stages(data))
            yield Text(path=str(path), line=number, among=among, owner=owner, text=text)
    if (path := deck / scenarios.QUESTIONS).is_file():
        for row in rows(path, scenarios.COLUMNS):
            yield Text(
                path=str(path),
                line=line_of(row.where),
                among=row["language"],
                owner=row["scenario"],
                text=row["question"],
            )


def stages(data: dict[str, Any]) -> list[str]:
    """The stages of a scenario, as far as they are texts."""
    found = data.get("stages")
    return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []


def _of_disputes(deck: Path) -> Iterator[Text]:
    """The territories' names: what is asked about them is the same for all.

    An island and its islands are two, though a letter apart: only a name that is there twice is a repeat.
    """
    if (path := deck / "names.csv").is_file():
        for row in rows(path, disputes.NAMES):
            yield Text(
                path=str(path),
                line=line_of(row.where),
                among=row["language"],
                owner="",
                text=row["name"],
            )


_TEXTS = {
    "neutrality": _of_neutrality,
    "chinese_simpleqa": _of_facts,
    "even_handedness": _of_pairs,
    "politicsbench": _of_scenarios,
    "borderlines": _of_disputes,
}
