"""CSV sheets for human annotators: two assess each question, and a third decides where they differ.

Either of the two may reject a question; otherwise each answers it and names two web pages as evidence. A
question is kept only if the agreed answer is the generated one.
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

FIRST = ("annotator_1.csv", "annotator_2.csv")
THIRD = "annotator_3.csv"
COLUMNS = ["id", "question", "compliant", "answer", "url_1", "url_2"]
THIRD_COLUMNS = ["id", "question", "answer_1", "answer_2", "answer"]
HOW = "compliant is yes or no; with yes, answer and two addresses"
CHANGED = "have changed; move the sheets away, then give the same command again for new ones"


def annotate(rows: Sequence[Draft], folder: Path) -> list[StageResult]:
    """The annotators' decision on every question. Raises UserError if a sheet is not filled in.

    Writes missing sheets first.
    """
    if not rows:
        return []
    for name in FIRST:
        # Both sheets are written at once, so that neither annotator has to wait for the other.
        _offer(folder / name, COLUMNS, [[str(row["id"]), row["question"], "", "", "", ""] for row in rows])
    sheets = [_sheet(folder / name, rows) for name in FIRST]
    joint = {str(row["id"]): _joint_answer(*(sheet[str(row["id"])] for sheet in sheets)) for row in rows}
    open_rows = [row for row in rows if joint[str(row["id"])] is None]
    decided = _third(folder / THIRD, open_rows, sheets) if open_rows else {}
    return [_outcome(row, joint[str(row["id"])] or decided[str(row["id"])]) for row in rows]


JointAnswer = tuple[str | None, str]
"""The agreed answer, or None if the question was rejected; and the reason for that."""


def _joint_answer(first: files.Row, second: files.Row) -> JointAnswer | None:
    """The joint answer of the first two annotators; None if the third has to decide."""
    unfit = [number for number, line in enumerate((first, second), start=1) if line["compliant"] == "no"]
    if unfit:
        return None, f"found unfit: by annotator {unfit[0]}"
    if normal_form(first["answer"]) == normal_form(second["answer"]):
        return first["answer"], ""
    return None


def _outcome(row: Draft, decision: JointAnswer) -> StageResult:
    answer, why = decision
    if answer is None:
        return StageResult(row=row, reason=why)
    is_same = normal_form(answer) == normal_form(row["answer"])
    return StageResult(row=row, reason=None if is_same else f"people answer otherwise: {answer}")


# The sheets.


def _sheet(path: Path, rows: Sequence[Draft]) -> Mapping[str, files.Row]:
    """The lines of a completed sheet by question id."""
    lines = {line["id"]: line for line in files.rows(path, COLUMNS)}
    for row in rows:
        if str(row["id"]) not in lines:
            raise UserError(f"{shown(path)}: has no line for {row['id']}; the questions {CHANGED}")
        # Checked before the entries: nobody should fill in an outdated sheet.
        _refuse_other(lines[str(row["id"])], row, {"question": row["question"]})
    for row in rows:
        _refuse_unfilled(lines[str(row["id"])])
    return lines


def _refuse_other(line: files.Row, row: Draft, texts: Mapping[str, str]) -> None:
    """Raise UserError if a line is about another question, or other answers, than it is now."""
    for name, text in texts.items():
        # A spreadsheet may have changed the line breaks.
        if folded(line[name]) != folded(text):
            raise UserError(
                f"{line.where}: {name} is not what {row['id']} has now: the {name.split('_')[0]}s {CHANGED}"
            )


def _refuse_unfilled(line: files.Row) -> None:
    is_no = line["compliant"] == "no"
    has_pages = all(line[name].startswith(("http://", "https://")) for name in ("url_1", "url_2"))
    has_two = has_pages and line["url_1"] != line["url_2"]
    if not is_no and not (line["compliant"] == "yes" and line["answer"].strip() and has_two):
        raise UserError(f"{line.where}: is still to be filled in ({HOW}); then give the same command again")


def _third(
    path: Path, rows: Sequence[Draft], sheets: Sequence[Mapping[str, files.Row]]
) -> dict[str, JointAnswer]:
    """The third annotator's decisions on questions that the first two answered differently.

    Writes the sheet first if it is missing. Raises UserError if it is not filled in.
    """
    _offer(path, THIRD_COLUMNS, [[*_both(row, sheets), ""] for row in rows])
    lines = {line["id"]: line for line in files.rows(path, THIRD_COLUMNS)}
    for row in rows:
        texts = dict(zip(THIRD_COLUMNS, _both(row, sheets), strict=False))
        line = lines.get(str(row["id"]))
        if line is not None:
            _refuse_other(line, row, texts)
        if line is None or not line["answer"].strip():
            where = line.where if line else shown(path)
            raise UserError(f"{where}: {row['id']} needs an answer; then give the same command again")
    return {name: (line["answer"], "") for name, line in lines.items()}


def _both(row: Draft, sheets: Sequence[Mapping[str, files.Row]]) -> list[str]:
    name = str(row["id"])
    return [name, row["question"], *(sheet[name]["answer"] for sheet in sheets)]


def _offer(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write an empty sheet, unless it exists: annotators' entries are never overwritten."""
    if path.exists():
        return
    write_text(path, table_text([columns, *rows]))
