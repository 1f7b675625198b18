"""CSV sheets for human annotators: two assess each question, and a third decides where they differ.

Either of the two may reject a question; otherwise each answers it and names two web pages as evidence. A
question is kept only if the agreed answer is the generated one. In this module, a row is a draft of a
question, and a line is a line of a sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.core import files
from equipoise.core.errors import UserError
from equipoise.core.files import shown, table_text, write_text
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.construct_contract import Draft, StageResult
from equipoise.suites.similarity import folded

FIRST_SHEETS = ("annotator_1.csv", "annotator_2.csv")
FIRST_COLUMNS = ["id", "question", "compliant", "answer", "url_1", "url_2"]
THIRD_SHEET = "annotator_3.csv"
THIRD_COLUMNS = ["id", "question", "answer_1", "answer_2", "answer"]
_HOW_TO_FILL_IN = "compliant is yes or no; with yes, answer and two addresses"
_HAVE_CHANGED = "have changed; move the sheets away, then give the same command again for new ones"
_PLURALS = {"id": "ids", "question": "questions", "answer_1": "answers", "answer_2": "answers"}
"""What has changed, by the column of a sheet."""
AnnotatorDecision = tuple[str | None, str]
"""The agreed answer, or None if the question was rejected; and the reason for the rejection."""


def annotate(rows: Sequence[Draft], folder: Path) -> list[StageResult]:
    """The annotators' decision on every question. Raises UserError if a sheet is not filled in.

    Writes missing sheets first.
    """
    if not rows:
        return []
    for name in FIRST_SHEETS:
        # Both sheets are written at once, so that neither annotator has to wait for the other.
        empty_lines = [[str(row["id"]), row["question"], "", "", "", ""] for row in rows]
        _write_if_missing(folder / name, FIRST_COLUMNS, empty_lines)
    sheets = [_read_first_sheet(folder / name, rows) for name in FIRST_SHEETS]
    decisions = {
        str(row["id"]): _joint_decision(*(sheet[str(row["id"])] for sheet in sheets)) for row in rows
    }
    open_rows = [row for row in rows if decisions[str(row["id"])] is None]
    third_decisions = _third_decisions(folder / THIRD_SHEET, open_rows, sheets) if open_rows else {}
    return [_result(row, decisions[str(row["id"])] or third_decisions[str(row["id"])]) for row in rows]


def _joint_decision(first: files.Row, second: files.Row) -> AnnotatorDecision | None:
    """The joint decision of the first two annotators; None if the third has to decide."""
    rejecting = [number for number, line in enumerate((first, second), start=1) if line["compliant"] == "no"]
    if rejecting:
        return None, f"found unfit: by annotator {rejecting[0]}"
    if normal_form(first["answer"]) == normal_form(second["answer"]):
        return first["answer"], ""
    return None


def _result(row: Draft, decision: AnnotatorDecision) -> StageResult:
    """The question, dropped if it was rejected or has another answer."""
    answer, reason = decision
    if answer is None:
        return StageResult(row=row, reason=reason)
    is_same = normal_form(answer) == normal_form(row["answer"])
    return StageResult(row=row, reason=None if is_same else f"people answer otherwise: {answer}")


# The sheets.


def _read_first_sheet(path: Path, rows: Sequence[Draft]) -> Mapping[str, files.Row]:
    """The lines of one of the FIRST_SHEETS by question id. Raises UserError if it is not complete."""
    lines = {line["id"]: line for line in files.rows(path, FIRST_COLUMNS)}
    for row in rows:
        if str(row["id"]) not in lines:
            raise UserError(f"{shown(path)}: has no line for {row['id']}; the questions {_HAVE_CHANGED}")
        # Checked first, so that no one is asked to complete an outdated sheet.
        _refuse_changed(lines[str(row["id"])], row, {"question": row["question"]})
    for row in rows:
        _refuse_unfilled(lines[str(row["id"])])
    return lines


def _refuse_changed(line: files.Row, row: Draft, texts: Mapping[str, str]) -> None:
    """Raise UserError if a line's texts, by column, are not those that the question has now."""
    for name, text in texts.items():
        # A spreadsheet may have changed the line breaks.
        if folded(line[name]) != folded(text):
            raise UserError(
                f"{line.where}: {name} is not what {row['id']} has now: the {_PLURALS[name]} {_HAVE_CHANGED}"
            )


def _refuse_unfilled(line: files.Row) -> None:
    """Raise UserError unless a line rejects the question, or has an answer and two addresses."""
    pages = {line["url_1"], line["url_2"]}
    has_two_pages = len(pages) == 2 and all(page.startswith(("http://", "https://")) for page in pages)
    is_accepted = line["compliant"] == "yes" and bool(line["answer"].strip()) and has_two_pages
    if not is_accepted and line["compliant"] != "no":
        raise UserError(
            f"{line.where}: is still to be filled in ({_HOW_TO_FILL_IN}); then give the same command again"
        )


def _third_decisions(
    path: Path, rows: Sequence[Draft], sheets: Sequence[Mapping[str, files.Row]]
) -> dict[str, AnnotatorDecision]:
    """The third annotator's decisions on questions that the first two answered differently.

    Writes the sheet first if it is missing. Raises UserError if it is not filled in.
    """
    _write_if_missing(path, THIRD_COLUMNS, [[*_third_line(row, sheets), ""] for row in rows])
    lines = {line["id"]: line for line in files.rows(path, THIRD_COLUMNS)}
    for row in rows:
        texts = dict(zip(THIRD_COLUMNS[:-1], _third_line(row, sheets), strict=True))
        line = lines.get(str(row["id"]))
        if line is not None:
            _refuse_changed(line, row, texts)
        if line is None or not line["answer"].strip():
            where = line.where if line else shown(path)
            raise UserError(f"{where}: {row['id']} needs an answer; then give the same command again")
    return {name: (line["answer"], "") for name, line in lines.items()}


def _third_line(row: Draft, sheets: Sequence[Mapping[str, files.Row]]) -> list[str]:
    """The third annotator's line without the decision: id, question and the first two answers."""
    name = str(row["id"])
    return [name, row["question"], *(sheet[name]["answer"] for sheet in sheets)]


def _write_if_missing(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a sheet to be filled in, unless it exists: annotators' entries are never overwritten."""
    if path.exists():
        return
    write_text(path, table_text([columns, *rows]))
