"""Blind sheets in which people score replies; reads them again, and reviews that the page saved."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.compare.baseline import Side
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, read_text, shown, table_text, whole, write_text
from equipoise.core.spreadsheet import guarded, unguarded
from equipoise.report.page import reviews
from equipoise.report.page.reviews import Review
from equipoise.results import replies
from equipoise.results.replies import ScoredReply
from equipoise.stats.sampling import stratified

COLUMNS = ("id", "language", "question", "reply", "score", "note")
LONGEST = 32_000
"""Characters of a cell: a spreadsheet takes 32,767."""
CUT = "\n[cut here: too long for a spreadsheet]"
_BANDS = 3
_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """What a score can be: the levels of a scale, or categories with their numbers."""

    numbers: Sequence[float]
    names: Mapping[str, float]

    @property
    def is_categorical(self) -> bool:
        """Whether these are categories without an order."""
        return bool(self.names)

    @property
    def shown(self) -> list[int | str]:
        """As people give them."""
        return list(self.names) if self.names else [int(number) for number in self.numbers]

    def read(self, text: str) -> float | None:
        """The score that a text says; None if it says none of them."""
        if self.names:
            known = {name.casefold(): number for name, number in self.names.items()}
            return known.get(text.strip().replace(" ", "_").casefold())
        try:
            value = float(text.strip().replace(",", "."))
        except ValueError:
            return None
        return value if value in self.numbers else None


def levels(side: Side) -> Levels:
    """The levels of these results."""
    if names := side.suite.categories:
        return Levels(numbers=sorted(names.values()), names=names)
    scale = side.scale
    return Levels(numbers=[float(level) for level in range(scale.low, scale.high + 1)], names={})


def judged(side: Side) -> list[ScoredReply]:
    """The replies that an evaluator has scored. Raises UserError if there is none."""
    found = [reply for reply in replies.scored(side.rows) if reply.verdicts]
    if not found:
        raise UserError(
            f"{side.file}: no reply in it has a score by an evaluator that people could give, too"
        )
    return found


# Writing.


def sample(side: Side, n: int, seed: int) -> list[ScoredReply]:
    """`n` replies in proportion to languages, areas and thirds of the scale, in random order."""
    return stratified(judged(side), _stratum, n, seed)


def _stratum(reply: ScoredReply) -> tuple[str, ...]:
    band = min(max(int(reply.percent * _BANDS / 100), 0), _BANDS - 1)
    return reply.language, reply.area, str(band)


def write(path: Path, found: Sequence[ScoredReply]) -> None:
    """Write an empty sheet with a byte order mark. Raises UserError rather than replace a file."""
    if path.exists():
        raise UserError(f"-o: {shown(path)} already exists and may contain scores; name another file")
    rows = [(reply.id, reply.language, reply.question, reply.text, "", "") for reply in found]
    text = table_text([COLUMNS, *(tuple(map(_cell, row)) for row in rows)])
    write_text(path, f"\ufeff{whole(text)}")


def _cell(text: str) -> str:
    """As much of the text as a cell takes with its guards."""
    guards = len(guarded(text[:LONGEST])) - len(text[:LONGEST])
    return text if len(text) + guards <= LONGEST else text[: LONGEST - guards] + CUT


# Reading.


@dataclass(slots=True, kw_only=True)
class Sheet:
    """One person's scores by the id of the reply, what is left blank, and what cannot be used."""

    name: str
    file: str
    sha256: str
    scores: dict[str, float] = field(default_factory=dict)
    blank: int = 0
    invalid: list[str] = field(default_factory=list)

    def put(self, where: str, name: str, score: float | None, why: str) -> None:
        """Add a score, or why it cannot be used."""
        if score is None:
            self.invalid.append(f"{where}: {why}")
        elif name in self.scores:
            self.invalid.append(f"{where}: {name} was scored before")
        else:
            self.scores[name] = score


def read(path: Path, side: Side, known: Mapping[str, ScoredReply]) -> list[Sheet]:
    """The sheet in a CSV file, or the reviews that the page saved, one a reviewer. Raises UserError."""
    try:
        digest = hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if path.suffix == ".json":
        return _of_reviews(path, digest, side, known)
    return [_of_table(path, digest, levels(side), known)]


def _of_table(path: Path, digest: str, scale: Levels, known: Mapping[str, ScoredReply]) -> Sheet:
    sheet = Sheet(name=path.stem, file=path.name, sha256=digest)
    for number, name, given in _rows(path):
        where = f"{path.name}: row {number}"
        if name not in known:
            sheet.invalid.append(f"{where}: {name!r} is not a reply in these results")
        elif not given:
            sheet.blank += 1
        else:
            sheet.put(where, name, scale.read(given), _not_a_level(given, scale))
    return sheet


def _not_a_level(given: object, scale: Levels) -> str:
    return f"score {str(given)[:40]!r} is not one of {', '.join(map(str, scale.shown))}"


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """The number of each row as in a spreadsheet, its id and its score; empty rows are left out."""
    text = read_text(path)
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = [name.strip().casefold() for name in next(reader, [])]
        if not {"id", "score"} <= {*columns}:
            raise UserError(f"{path}: row 1: the columns id and score are needed, there are {head.strip()!r}")
        for name in ("id", "score"):
            if (count := columns.count(name)) > 1:
                raise UserError(f"{path}: row 1: there are {count} columns {name}; keep the one that counts")
        places = columns.index("id"), columns.index("score")
        for number, row in enumerate(reader, start=2):
            name, given = (unguarded(row[place].strip()) if place < len(row) else "" for place in places)
            if name or given:
                yield number, name, given
    except csv.Error as error:
        raise UserError(f"{path}: line {reader.line_num + 1}: cannot be read: {error}") from None


def _of_reviews(path: Path, digest: str, side: Side, known: Mapping[str, ScoredReply]) -> list[Sheet]:
    """The last review of each run by each reviewer; only those of these results count."""
    own = (side.suite.name, side.model, side.metadata["started"])
    last: dict[str, dict[str, tuple[int, Review]]] = {}
    for number, review in enumerate(reviews.load(path, ""), start=1):
        if (review.suite, review.model, review.started) == own:
            last.setdefault(review.reviewer or path.stem, {})[review.run] = (number, review)
    if not last:
        raise UserError(f"{path}: has no review of {side.file}")
    found = []
    for name, given in last.items():
        sheet = Sheet(name=name, file=path.name, sha256=digest)
        for number, review in given.values():
            _put_review(sheet, f"{path.name}: review {number}", review, levels(side), known)
        found.append(sheet)
    return found


def _put_review(
    sheet: Sheet, where: str, review: Review, scale: Levels, known: Mapping[str, ScoredReply]
) -> None:
    """A verdict called right without a score counts as the evaluators' own, as on the page."""
    reply = known.get(review.run)
    if reply is None:
        sheet.invalid.append(f"{where}: {review.run!r} is not a reply in these results")
    elif review.score is not None:
        sheet.put(where, review.run, scale.read(str(review.score)), _not_a_level(review.score, scale))
    elif review.verdict == "right" and (own := _joint(reply, scale)) is not None:
        sheet.put(where, review.run, own, "")
    else:
        sheet.blank += 1


def _joint(reply: ScoredReply, scale: Levels) -> float | None:
    """The level nearest to the mean of the evaluators; of categories the one that all of them gave."""
    given = list(reply.verdicts.values())
    if scale.is_categorical:
        return given[0] if len(set(given)) == 1 else None
    return scale.read(str(round(sum(given) / len(given))))
