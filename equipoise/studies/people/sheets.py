"""Writes blind sheets, tables in which people label replies. Reads these, saved pages, and reviews."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.comparison.side import Side
from equipoise.core.errors import UserError
from equipoise.core.files import read_bytes, read_text, shown, table_text, whole, write_text
from equipoise.core.spreadsheet import guarded, unguarded
from equipoise.report.page import reviews
from equipoise.report.page.reviews import Review
from equipoise.studies.people import draws as draws_of
from equipoise.studies.people import form, labelling
from equipoise.studies.people.draws import Draw, DrawnReply
from equipoise.studies.people.form import Field, FieldName, Levels
from equipoise.studies.replies import ScoredReply

LONGEST = 32_000
"""Maximum length of a cell in characters; spreadsheets allow 32,767."""
CUT = "\n[cut here: too long for a spreadsheet]"
_DELIMITERS = ",;\t"
_WORKBOOKS = (".xlsx", ".xls", ".ods", ".numbers")
MARKS = "marks on the page, whose readers saw the verdicts"


# Writing.


def refuse_existing(path: Path) -> None:
    """Raise UserError if the file exists, because it may contain scores."""
    if path.exists():
        raise UserError(f"-o: {shown(path)} already exists and may contain scores; name another file")


def write(path: Path, drawn: Sequence[DrawnReply], fields: Sequence[FieldName] = ("score",)) -> None:
    """Write an empty sheet with a byte order mark. Raises UserError if the file exists."""
    refuse_existing(path)
    empty = [""] * len([*fields, "note"])
    replies = ((row.reply, row.draw) for row in drawn)
    rows = [(reply.id, reply.language, reply.question, reply.text, *empty, draw) for reply, draw in replies]
    columns = ("id", "language", "question", "reply", *fields, "note", "draw")
    text = table_text([columns, *(tuple(map(_cell, row)) for row in rows)])
    write_text(path, f"\ufeff{whole(text)}")


def _cell(text: str) -> str:
    """A text, cut so that it fits into a cell together with the guards against formulas."""
    guards = len(guarded(text[:LONGEST])) - len(text[:LONGEST])
    return text if len(text) + guards <= LONGEST else text[: LONGEST - guards] + CUT


# Reading.


@dataclass(slots=True, kw_only=True)
class Sheet:
    """One person's labels by the id of the reply, the number left `blank`, and messages on `invalid` rows.

    A label has values by the name of the field. `draw` is the random draw of the replies. `why` is the reason
    why the labels correct no figure, None if they do. `others` counts rows on the other results of a draw in
    pairs.
    """

    name: str
    file: str
    sha256: str
    labels: dict[str, dict[FieldName, float | str]] = field(default_factory=dict)
    blank: int = 0
    invalid: list[str] = field(default_factory=list)
    others: int = 0
    draw: Draw | None = None
    why: str | None = None

    def given(self, name: FieldName) -> dict[str, float | str]:
        """The labels in one field, by the id of the reply."""
        return {reply: label[name] for reply, label in self.labels.items() if name in label}

    @property
    def scores(self) -> dict[str, float]:
        """The scores by the id of the reply."""
        return {name: float(score) for name, score in self.given("score").items()}

    def put(self, where: str, name: str, texts: Mapping[FieldName, str], form: _Form) -> None:
        """Add the label in a row on the reply `name`, or a message on why it cannot be used."""
        read = {part: form[part].read(text) if part in form else None for part, text in texts.items()}
        self.invalid += [
            f"{where}: {form[part].refusal(texts[part]) if part in form else f'no figure is made of {part}'}"
            for part, value in read.items()
            if value is None
        ]
        label = {part: value for part, value in read.items() if value is not None}
        if label and name in self.labels:
            self.invalid.append(f"{where}: {name} was scored before")
        elif label:
            self.labels[name] = label


_Form = Mapping[FieldName, Field]


def read(path: Path, side: Side, known: Mapping[str, ScoredReply], own: Draw) -> list[Sheet]:
    """The sheet in a table or in a file saved by its page, or a sheet for each reviewer in a file of reviews.

    `known` has the replies by id, `own` the digests of these results. Raises UserError.
    """
    try:
        digest = hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if path.suffix.lower() in _WORKBOOKS:
        raise UserError(f"{path}: is a workbook; save its sheet as CSV in UTF-8, and give that")
    if path.suffix != ".json":
        return [_sheet(path, digest, path.stem, _rows(path), form.fields(side), known, own)]
    if (saved := labelling.load(path)) is not None:
        rows = ((number, row.id, row.given, row.draw) for number, row in enumerate(saved.rows, start=1))
        return [_sheet(path, digest, saved.person or path.stem, rows, form.fields(side), known, own)]
    return _of_reviews(path, digest, side, known)


def _sheet(
    path: Path,
    digest: str,
    person: str,
    rows: Iterable[_SheetRow],
    fields: _Form,
    known: Mapping[str, ScoredReply],
    own: Draw,
) -> Sheet:
    sheet = Sheet(name=person, file=path.name, sha256=digest)
    draws: dict[Draw | None, None] = {}
    for number, name, texts, drawn in rows:
        where, draw = f"{path.name}: row {number}", draws_of.read(drawn, name)
        if draw and draw.pairs and draw.content != own.content:
            sheet.others += 1
            continue
        if name not in known:
            sheet.invalid.append(f"{where}: {name!r} is not a reply in these results")
            continue
        draws[draw] = None
        if not texts:
            sheet.blank += 1
        else:
            sheet.put(where, name, texts, fields)
    _put_draw(sheet, [*draws], own)
    return sheet


def _put_draw(sheet: Sheet, draws: Sequence[Draw | None], own: Draw) -> None:
    """Set the draw if all rows are of the same one, and the reason if it cannot correct figures."""
    if len(draws) != 1 or draws[0] is None:
        sheet.why = "not drawn at random by `equipoise review sample`, or not as a whole"
        return
    sheet.draw, sheet.why = draws[0], draws[0].unlike(own)


_SheetRow = tuple[int, str, Mapping[FieldName, str], str]
"""The number of a row, the id of its reply, the texts entered by field, and the text of its draw."""


def _rows(path: Path) -> Iterator[_SheetRow]:
    """The rows of a table, numbered as in a spreadsheet; empty ones are left out."""
    text = read_text(path)
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        columns = [name.strip().casefold() for name in next(reader, [])]
        _refuse_columns(path, columns, head)
        # A sheet without a draw was not sampled at random, but can still be read.
        indices = {name: columns.index(name) for name in ("id", *form.NAMES, "draw") if name in columns}
        for number, row in enumerate(reader, start=2):
            cells = {
                name: unguarded(row[index].strip()) for name, index in indices.items() if index < len(row)
            }
            name, drawn = cells.pop("id", ""), cells.pop("draw", "")
            texts = {part: cells[part] for part in form.NAMES if cells.get(part)}
            if name or texts:
                yield number, name, texts, drawn
    except csv.Error as error:
        raise UserError(f"{path}: line {reader.line_num + 1}: cannot be read: {error}") from None


def _refuse_columns(path: Path, columns: Sequence[str], head: str) -> None:
    if "id" not in columns or not {*form.NAMES} & {*columns}:
        raise UserError(f"{path}: row 1: the columns id and score are needed, there are {head.strip()!r}")
    for name in ("id", *form.NAMES):
        if (count := columns.count(name)) > 1:
            raise UserError(f"{path}: row 1: there are {count} columns {name}; keep the one that counts")


def _of_reviews(path: Path, digest: str, side: Side, known: Mapping[str, ScoredReply]) -> list[Sheet]:
    """A sheet for each reviewer with the last review of each run of these results."""
    own = (side.suite.name, side.model, side.metadata["started"])
    last: dict[str, dict[str, tuple[int, Review]]] = {}
    for number, review in enumerate(reviews.load(path, ""), start=1):
        if (review.suite, review.model, review.started) == own:
            last.setdefault(review.reviewer or path.stem, {})[review.run] = (number, review)
    if not last:
        raise UserError(f"{path}: has no review of {side.file}")
    sheets = []
    for name, latest in last.items():
        sheet = Sheet(name=name, file=path.name, sha256=digest, why=MARKS)
        for number, review in latest.values():
            _put_review(sheet, f"{path.name}: review {number}", review, side, known)
        sheets.append(sheet)
    return sheets


def _put_review(
    sheet: Sheet, where: str, review: Review, side: Side, known: Mapping[str, ScoredReply]
) -> None:
    """Add a review. Without a score, a verdict marked right counts as the evaluators' score."""
    reply, fields = known.get(review.run), form.fields(side)
    if reply is None:
        sheet.invalid.append(f"{where}: {review.run!r} is not a reply in these results")
    elif review.score is not None:
        sheet.put(where, review.run, {"score": str(review.score)}, fields)
    elif review.verdict == "right" and (own := _panel_score(reply, form.levels(side))) is not None:
        sheet.labels[review.run] = {"score": own}
    else:
        sheet.blank += 1


def _panel_score(reply: ScoredReply, scale: Levels) -> float | None:
    """The level nearest to the evaluators' mean; for categories, the one that all of them gave, else None."""
    verdicts = list(reply.verdicts.values())
    if scale.is_categorical:
        return verdicts[0] if len(set(verdicts)) == 1 else None
    return scale.read(str(round(sum(verdicts) / len(verdicts))))
