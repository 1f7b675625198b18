"""Reads the key facts beside questions, and names every fault of the file and of the sources in it.

Evaluators are given the facts; models under test never see them. Nothing here is specific to one suite.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from equipoise.core import json_io, toml_text
from equipoise.core.errors import UserError
from equipoise.core.files import read_text
from equipoise.core.types import JSON
from equipoise.judge.facts import STATUSES, KeyFact
from equipoise.suites.findings import Finding, Text
from equipoise.suites.selection import FACTS, folder_of

MOST_FACTS, MOST_WORDS = 6, 25
"""The maximum numbers of facts of a question and of words of a fact: evaluators' prompts must stay short."""
_KEYS = ("question", "id", "text", "status")
_SOURCE_KEYS = (
    "title",
    "author",
    "date",
    "address",
    "locator",
    "quotation",
    "language",
    "kind",
    "party",
    "sha256",
)
_SOURCES = re.compile(r"^\[\[fact\.source\]\]$.*?(?=^\[\[fact\]\]$|\Z)", re.DOTALL | re.MULTILINE)
_ID = re.compile(r"[a-z0-9_]+")
_DAY = re.compile(r"(?<![\d-])\d{4}-\d\d-\d\d(?![\d-])")
_WEB = re.compile(r"https?:", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def file_beside(topics: Path) -> Path | None:
    """The file of facts in a folder of questions, or beside a file of questions; None if there is none."""
    path = folder_of(topics) / FACTS
    return path if path.is_file() else None


def read(topics: Path, questions: Collection[str]) -> dict[str, tuple[KeyFact, ...]]:
    """The facts by question, in the file's order; empty without a file.

    `questions` are the ids of all questions that may have facts. Raises UserError for the first fault, except
    faults of sources, which only `lint` reads.
    """
    if (path := file_beside(topics)) is None:
        return {}
    rows = _rows_without_sources(path)
    for fault in _faults(path, rows, questions, _fact_faults):
        raise UserError(str(fault))
    by_question: dict[str, list[KeyFact]] = {}
    for row in rows:
        fact = KeyFact(id=row["id"], text=row["text"], status=row["status"], by=row.get("by", ""))
        by_question.setdefault(row["question"], []).append(fact)
    return {question: tuple(facts) for question, facts in by_question.items()}


def lint(topics: Path, questions: Collection[str]) -> Iterator[Finding | Text]:
    """The facts as texts that must be distinct, and all their faults.

    Raises UserError if the file cannot be read.
    """
    if (path := file_beside(topics)) is not None:
        rows = _rows(path, read_text(path))
        yield from _faults(path, rows, questions, _all_faults)
        for row, line in zip(rows, _first_lines(path, len(rows)), strict=True):
            where = f"{path}:{line}"
            among = f"{FACTS} {_text(row, 'question')}"
            yield Text(where=where, among=among, owner=_text(row, "id"), text=_text(row, "text"))


def digest(topics: Path) -> str | None:
    """The SHA-256 of the facts that evaluators are given, hexadecimal; None without a file. Raises UserError.

    Sources are left out, because evaluators do not see them.
    """
    if (path := file_beside(topics)) is None:
        return None
    rows = [[row.get(key) for key in (*_KEYS, "by")] for row in _rows_without_sources(path)]
    return hashlib.sha256(json_io.dumps(rows)).hexdigest()


def _rows_without_sources(path: Path) -> list[dict[str, JSON]]:
    """The facts as written, without their sources if these can be cut out before parsing. Raises UserError.

    Sources are most of the file, and TOML is slow to parse: a session would have to wait.
    """
    text = read_text(path)
    # A text of several lines may contain the header of a table, so nothing is cut out.
    has_long_texts = '"""' in text or "'''" in text
    return _rows(path, text if has_long_texts else _SOURCES.sub(_blank_lines, text))


def _blank_lines(sources: re.Match[str]) -> str:
    """As many empty lines, so that an error names the right line."""
    return "\n" * sources[0].count("\n")


def _rows(path: Path, text: str) -> list[dict[str, JSON]]:
    """The facts in a text of this file. Raises UserError if they are not a list of tables."""
    try:
        data = toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    rows = data.get("fact", [])
    if data.keys() - {"fact"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path}: must have tables [[fact]] and nothing else")
    return rows


def _faults(
    path: Path,
    rows: Sequence[Mapping[str, JSON]],
    questions: Collection[str],
    faults_of: Callable[[Mapping[str, JSON]], Iterable[str]],
) -> Iterator[Finding]:
    """A finding for each fault, at the line where its fact begins; `faults_of` has the faults of one fact."""
    ids = Counter(_text(row, "id") for row in rows)
    earlier: Counter[str] = Counter()
    for row, line in zip(rows, _first_lines(path, len(rows)), strict=True):
        name, question = _text(row, "id"), _text(row, "question")
        earlier[question] += 1
        faults = [*faults_of(row)]
        if question and question not in questions:
            faults.append(f"there is no question {question!r} here")
        if ids[name] > 1:
            faults.append(f"{ids[name]} facts have this id; rename all but one")
        if earlier[question] == MOST_FACTS + 1:
            faults.append(f"its question has more than {MOST_FACTS} facts; remove the least needed")
        yield from (Finding(str(path), line, f"fact {name!r}: {fault}") for fault in faults)


def _first_lines(path: Path, count: int) -> list[int]:
    """The line at which each fact begins; 1 for all facts if their headers cannot be matched to the facts."""
    lines = [
        number for number, text in enumerate(read_text(path).split("\n"), 1) if text.strip() == "[[fact]]"
    ]
    return lines if len(lines) == count else [1] * count


def _fact_faults(row: Mapping[str, JSON]) -> Iterator[str]:
    """The faults of a fact, except those of its sources."""
    yield from _key_faults(row, _KEYS, ("by", "source"))
    name, question, words = _text(row, "id"), _text(row, "question"), len(_text(row, "text").split())
    if not (_ID.fullmatch(name) and name.startswith(f"{question}_")):
        yield "its id must be the question's with _ and a-z, 0-9 or _ after it"
    if words > MOST_WORDS:
        yield f"text has {words} words; at most {MOST_WORDS}"
    if (status := row.get("status")) not in STATUSES:
        yield f"status is {status!r}, neither {STATUSES[0]} nor {STATUSES[1]}"
    if (status == "contested") != ("by" in row):
        yield "by says who says what of a contested fact; a contested fact needs it, and no other fact has it"
    if "by" in row and not _text(row, "by"):
        yield "by must be a text that is not blank"
    if len(f"{_text(row, 'text')} {_text(row, 'by')}".splitlines()) > 1:
        yield "text and by must each be in one line"


def _all_faults(row: Mapping[str, JSON]) -> Iterator[str]:
    """The faults of a fact and of its sources."""
    yield from _fact_faults(row)
    yield from _source_faults(row.get("source"))


def _source_faults(sources: JSON) -> Iterator[str]:
    """The faults of a fact's sources."""
    if not isinstance(sources, list) or not sources or not all(isinstance(item, dict) for item in sources):
        yield "needs one [[fact.source]] or more"
        return
    for number, source in enumerate(sources, 1):
        where = f"source {number}: "
        yield from (where + fault for fault in _key_faults(source, _SOURCE_KEYS))
        yield from (f"{where}{fault}" for fault in _place_faults(source))
        if not _SHA256.fullmatch(digest := _text(source, "sha256")):
            yield f"{where}sha256 is {digest!r}, not 64 hexadecimal digits"


def _place_faults(source: Mapping[str, JSON]) -> Iterator[str]:
    """Days in the date of a source that do not exist, and a web address that no browser opens.

    A date may have words around it. An address may also say in words where a book is.
    """
    for day in _DAY.findall(_text(source, "date")):
        try:
            date.fromisoformat(day)
        except ValueError:
            yield f"date has {day}, which does not exist"
    address = _text(source, "address")
    if _WEB.match(address) and (not _host(address) or len(address.split()) > 1):
        yield f"address is {address!r}, not a URL such as https://example.org/page"


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _key_faults(
    table: Mapping[str, JSON], needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[str]:
    """Missing and unknown keys, and needed keys without a text."""
    for key in needed:
        if key not in table:
            yield f"{key} is missing"
        elif not _text(table, key):
            yield f"{key} must be a text that is not blank"
    yield from (f"unknown key {key}; remove it" for key in table if key not in (*needed, *optional))


def _text(table: Mapping[str, JSON], key: str) -> str:
    """The text of a key; empty if it is missing, blank or no text."""
    value = table.get(key)
    return value if isinstance(value, str) and value.strip() else ""
