"""Writes sheets, tables for people to label replies without seeing verdicts, and reads the labels.

Labels are in filled-in tables, in files saved by the page of a sheet, and in reviews saved by a report.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.core.errors import UserError
from equipoise.core.files import (
    read_bytes,
    read_text,
    sheet_reader,
    shown,
    table_text,
    without_surrogates,
    write_text,
)
from equipoise.core.spreadsheet import add_guards, remove_guards
from equipoise.report.page import reviews
from equipoise.report.page.reviews import Review
from equipoise.results.results import Results
from equipoise.studies.people import form, labelling
from equipoise.studies.people.draws import Draw, DrawnReply, ResultsDigests, parse_draw
from equipoise.studies.people.form import Field, FieldName, Levels
from equipoise.studies.people.labelling import FilledRow
from equipoise.studies.replies import ScoredReply

_MAX_CELL_LENGTH = 32_000
"""The maximum length of a cell in characters. Spreadsheets allow 32,767."""
_CUT_NOTICE = "\n[cut here: too long for a spreadsheet]"
_WORKBOOK_SUFFIXES = (".xlsx", ".xls", ".ods", ".numbers")
_NOT_BLIND = "marks on the page, whose readers saw the verdicts"
_Fields = Mapping[FieldName, Field]


# Writing.


def refuse_existing(path: Path) -> None:
    """Raise UserError if the file exists, because it may contain scores."""
    if path.exists():
        raise UserError(f"-o: {shown(path)} already exists and may contain scores; name another file")


def write(path: Path, drawn: Sequence[DrawnReply], fields: Sequence[FieldName] = ("score",)) -> None:
    """Write an empty sheet with a byte order mark. Raises UserError if the file exists."""
    refuse_existing(path)
    empty = [""] * len([*fields, "note"])
    rows = [
        (
            row.reply.id,
            row.reply.run.language,
            row.reply.run.question.text,
            row.reply.text,
            *empty,
            row.draw_text,
        )
        for row in drawn
    ]
    columns = ("id", "language", "question", "reply", *fields, "note", "draw")
    text = table_text([columns, *(tuple(map(_cell, row)) for row in rows)])
    write_text(path, f"\ufeff{without_surrogates(text)}")


def _cell(text: str) -> str:
    """The text, cut so that it fits into a cell together with its guards against formulas."""
    guards = len(add_guards(text[:_MAX_CELL_LENGTH])) - len(text[:_MAX_CELL_LENGTH])
    return text if len(text) + guards <= _MAX_CELL_LENGTH else text[: _MAX_CELL_LENGTH - guards] + _CUT_NOTICE


# Reading.


@dataclass(slots=True, kw_only=True)
class Sheet:
    """One person's labels by the id of the reply, the number left `blank`, and messages on `invalid` rows.

    A label has values by the name of the field. `draw` is the random draw of the replies. `why_unused` says
    why the labels are not used to correct figures; None if they are. `skipped` counts the rows of a paired
    draw that belong to the other results.
    """

    name: str
    file: str
    sha256: str
    labels: dict[str, dict[FieldName, float | str]] = field(default_factory=dict)
    blank: int = 0
    invalid: list[str] = field(default_factory=list)
    skipped: int = 0
    draw: Draw | None = None
    why_unused: str | None = None

    def values(self, name: FieldName) -> dict[str, float | str]:
        """The values of one field, by the id of the reply."""
        return {reply_id: label[name] for reply_id, label in self.labels.items() if name in label}

    @property
    def scores(self) -> dict[str, float]:
        """The scores by the id of the reply."""
        return {reply_id: float(score) for reply_id, score in self.values("score").items()}

    def add(self, where: str, reply_id: str, texts: Mapping[FieldName, str], fields: _Fields) -> None:
        """Add the label of a reply, and a message on each text in the row `where` that cannot be used."""
        label: dict[FieldName, float | str] = {}
        for name, text in texts.items():
            if name not in fields:
                self.invalid.append(f"{where}: no figure is made of {name}")
            elif (value := fields[name].read(text)) is None:
                self.invalid.append(f"{where}: {fields[name].error(text)}")
            else:
                label[name] = value
        if label and reply_id in self.labels:
            self.invalid.append(f"{where}: {reply_id} was scored before")
        elif label:
            self.labels[reply_id] = label


def read(
    path: Path, results: Results, replies: Mapping[str, ScoredReply], digests: ResultsDigests
) -> list[Sheet]:
    """The sheet in a table or in a file saved by its page, or a sheet for each reviewer in a file of reviews.

    `replies` are by id, and `digests` those of the results. Raises UserError.
    """
    try:
        sha256 = hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if path.suffix.lower() in _WORKBOOK_SUFFIXES:
        raise UserError(f"{path}: is a workbook; save its sheet as CSV in UTF-8, and give that")
    if path.suffix != ".json":
        sheet = Sheet(name=path.stem, file=path.name, sha256=sha256)
        rows: Iterable[tuple[int, FilledRow]] = _rows(path)
    elif (saved := labelling.load(path)) is not None:
        sheet = Sheet(name=saved.person or path.stem, file=path.name, sha256=sha256)
        rows = enumerate(saved.rows, start=1)
    else:
        return _sheets_of_reviews(path, sha256, results, replies)
    _fill(sheet, rows, form.fields(results), replies, digests)
    return [sheet]


def _fill(
    sheet: Sheet,
    rows: Iterable[tuple[int, FilledRow]],
    fields: _Fields,
    replies: Mapping[str, ScoredReply],
    digests: ResultsDigests,
) -> None:
    """Add the numbered rows to a sheet, and set its draw."""
    draws: set[Draw | None] = set()
    for number, row in rows:
        where, draw = f"{sheet.file}: row {number}", parse_draw(row.draw_text, row.id)
        if draw and draw.is_paired and draw.digests.content != digests.content:
            sheet.skipped += 1
            continue
        if row.id not in replies:
            sheet.invalid.append(f"{where}: {row.id!r} is not a reply in these results")
            continue
        if (misfit := _misfit(row, draw, replies[row.id], digests)) is not None:
            sheet.invalid.append(f"{where}: {misfit}")
            # Without this row, the others are not a random sample, so the sheet corrects no figure.
            draws.add(None)
            continue
        draws.add(draw)
        if not row.texts:
            sheet.blank += 1
        else:
            sheet.add(where, row.id, row.texts, fields)
    sheet.draw = draws.pop() if len(draws) == 1 else None
    if sheet.draw is None:
        sheet.why_unused = "not drawn at random by `equipoise review sample`, or not one whole draw"
    else:
        sheet.why_unused = sheet.draw.mismatch(digests)


def _misfit(row: FilledRow, draw: Draw | None, reply: ScoredReply, digests: ResultsDigests) -> str | None:
    """Why the cells of a row do not belong together, for example after a partial sort; None if they do."""
    if draw is None and row.draw_text.strip():
        return f"its `draw` is not that of {row.id}; were only some columns sorted or moved? Not used"
    is_drawn_here = draw is not None and draw.digests.content == digests.content
    if is_drawn_here and row.reply is not None and not _is_same_text(row.reply, _cell(reply.text)):
        return f"its `reply` is not that of {row.id}; were only some columns sorted or moved? Not used"
    return None


def _is_same_text(one: str, other: str) -> bool:
    """Whether two cells have the same letters. A spreadsheet may change spaces, numbers and dates."""
    first, second = ("".join(filter(str.isalpha, text)) for text in (one, other))
    return first == second


def _rows(path: Path) -> Iterator[tuple[int, FilledRow]]:
    """The non-empty rows of a table, each with its number in a spreadsheet. Raises UserError."""
    text = read_text(path)
    header = text.partition("\n")[0]
    reader = sheet_reader(text)
    try:
        columns = [name.strip().casefold() for name in next(reader, [])]
        _refuse_columns(path, columns, header)
        # A sheet without a draw was not sampled at random, but can still be read.
        indices = {
            name: columns.index(name) for name in ("id", "reply", *form.NAMES, "draw") if name in columns
        }
        for number, row in enumerate(reader, start=2):
            cells = {
                name: remove_guards(row[index].strip()) for name, index in indices.items() if index < len(row)
            }
            texts = {name: cells[name] for name in form.NAMES if cells.get(name)}
            if cells.get("id") or texts:
                yield (
                    number,
                    FilledRow(
                        id=cells.get("id", ""),
                        draw_text=cells.get("draw", ""),
                        texts=texts,
                        reply=cells.get("reply"),
                    ),
                )
    except csv.Error as error:
        raise UserError(f"{path}: line {reader.line_num + 1}: cannot be read: {error}") from None


def _refuse_columns(path: Path, columns: Sequence[str], header: str) -> None:
    """Raise UserError if the columns for the id or for labels are missing or repeated."""
    if "id" not in columns or not {*form.NAMES} & {*columns}:
        raise UserError(f"{path}: row 1: the columns id and score are needed, there are {header.strip()!r}")
    for name in ("id", *form.NAMES):
        if (count := columns.count(name)) > 1:
            raise UserError(f"{path}: row 1: there are {count} columns {name}; keep the one that counts")


def _sheets_of_reviews(
    path: Path, sha256: str, results: Results, replies: Mapping[str, ScoredReply]
) -> list[Sheet]:
    """A sheet for each reviewer, with the last review of each run of these results. Raises UserError."""
    session = (results.suite.name, results.model, results.metadata["started"])
    last: dict[str, dict[str, tuple[int, Review]]] = {}
    for number, review in enumerate(reviews.load(path, ""), start=1):
        if (review.suite, review.model, review.started) == session:
            last.setdefault(review.reviewer or path.stem, {})[review.run] = (number, review)
    if not last:
        raise UserError(f"{path}: has no review of {results.file}")
    sheets = []
    for reviewer, by_run in last.items():
        sheet = Sheet(name=reviewer, file=path.name, sha256=sha256, why_unused=_NOT_BLIND)
        for number, review in by_run.values():
            _add_review(sheet, f"{path.name}: review {number}", review, results, replies)
        sheets.append(sheet)
    return sheets


def _add_review(
    sheet: Sheet, where: str, review: Review, results: Results, replies: Mapping[str, ScoredReply]
) -> None:
    """Add a review. If it has no score and marks the verdict as right, the evaluators' score counts."""
    reply = replies.get(review.run)
    if reply is None:
        sheet.invalid.append(f"{where}: {review.run!r} is not a reply in these results")
    elif review.score is not None:
        sheet.add(where, review.run, {"score": str(review.score)}, form.fields(results))
    elif review.verdict == "right" and (score := _panel_score(reply, form.levels_of(results))) is not None:
        sheet.labels[review.run] = {"score": score}
    else:
        sheet.blank += 1


def _panel_score(reply: ScoredReply, levels: Levels) -> float | None:
    """The level nearest to the evaluators' mean; for categories, the one that all of them gave, or None."""
    verdicts = list(reply.verdicts.values())
    if levels.is_categorical:
        return verdicts[0] if len(set(verdicts)) == 1 else None
    return levels.read(str(round(sum(verdicts) / len(verdicts))))
