"""The sheets on which people look at questions: written, filled in, and what comes of them."""

from __future__ import annotations

import csv
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from conftest import refusal
from equipoise.core.errors import UserError
from equipoise.suites.chinese_simpleqa.from_documents.annotation import (
    FIRST_COLUMNS,
    FIRST_SHEETS,
    THIRD_COLUMNS,
    THIRD_SHEET,
    annotate,
)
from equipoise.suites.construct_contract import StageResult

ROWS = [
    {"id": "tea", "question": "《茶经》的作者是谁？", "answer": "陆羽"},
    {"id": "paper", "question": "谁改进了造纸术，\n又是哪朝人？", "answer": "蔡伦"},
]
GOOD = {
    name: {"compliant": "yes", "answer": answer, "url_1": "https://a.example", "url_2": "http://b.example"}
    for name, answer in (("tea", "陆羽"), ("paper", "蔡伦"))
}
Line = dict[str, str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the sheets are, written and still empty."""
    complaint(tmp_path / "sheets")
    return tmp_path / "sheets"


complaint = partial(refusal, annotate, ROWS)


def read(path: Path) -> list[Line]:
    """The lines of a sheet, whatever has written it."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, lines: dict[str, Line]) -> None:
    """Fill in a sheet, as a spreadsheet would."""
    rows = read(path)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, **lines.get(row["id"], {})} for row in rows)


def fill_both(folder: Path, first: dict[str, Line], second: dict[str, Line]) -> None:
    """Fill in both sheets, as GOOD says but for these lines."""
    for name, changes in zip(FIRST_SHEETS, (first, second), strict=True):
        fill(folder / name, {key: {**line, **changes.get(key, {})} for key, line in GOOD.items()})


def reasons(folder: Path) -> dict[str, str | None]:
    """What becomes of each question."""
    return {str(item.row["id"]): item.reason for item in annotate(ROWS, folder)}


# Writing.


def test_both_sheets_are_written_at_once(folder: Path) -> None:
    """With the questions and without their answers; nobody waits for the other."""
    for name in FIRST_SHEETS:
        with (folder / name).open(encoding="utf-8", newline="") as file:
            assert next(csv.reader(file)) == FIRST_COLUMNS
        assert [(line["id"], line["question"]) for line in read(folder / name)] == [
            (row["id"], row["question"]) for row in ROWS
        ]
        assert "陆羽" not in (folder / name).read_text(encoding="utf-8")
    assert not (folder / THIRD_SHEET).exists()


def test_a_sheet_is_never_overwritten(folder: Path) -> None:
    """Whatever people have put there stays, byte by byte."""
    fill_both(folder, {}, {"tea": {"answer": "皎然"}})
    complaint(folder)
    fill(folder / THIRD_SHEET, {"tea": {"answer": "陆羽"}})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(before) == 3
    annotate(ROWS, folder)
    annotate(ROWS, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_without_questions_there_are_no_sheets(tmp_path: Path) -> None:
    """Empty ones would stand in the way of later questions."""
    assert annotate([], tmp_path / "sheets") == []
    assert not (tmp_path / "sheets").exists()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """As where a file has its name."""
    (tmp_path / "sheets").write_text("mine")
    assert "annotator_1.csv: cannot be written to" in complaint(tmp_path / "sheets")


# What is still open.


def test_an_unfilled_line_is_named(folder: Path, subtests: pytest.Subtests) -> None:
    """By file and line, with what is wanted, in one line."""
    unfilled = {
        "empty": {"compliant": "", "answer": "", "url_1": "", "url_2": ""},
        "neither yes nor no": {"compliant": "perhaps"},
        "no answer": {"answer": " "},
        "one page": {"url_2": ""},
        "no address": {"url_1": "a.example"},
        "the same page twice": {"url_2": "https://a.example"},
    }
    for (why, change), name in product(unfilled.items(), FIRST_SHEETS):
        with subtests.test(f"{why} in {name}"):
            first, second = ({"tea": change} if sheet == name else {} for sheet in FIRST_SHEETS)
            fill_both(folder, first, second)
            said = complaint(folder)
            assert f"{name}:2: is still to be filled in (compliant is yes or no; with yes, answer" in said
            assert "\n" not in said


def test_a_question_that_has_no_line_is_named(folder: Path) -> None:
    """The questions are others than when the sheets were written."""
    fill_both(folder, {}, {})
    with pytest.raises(UserError, match=r"annotator_1\.csv: has no line for chess; the questions have"):
        annotate([*ROWS, {"id": "chess", "question": "?", "answer": "!"}], folder)


# What people say.


def test_what_both_answer_alike_stays(folder: Path) -> None:
    """Whatever the spelling; rows go on as they were."""
    fill_both(folder, {"tea": {"answer": "「陆羽」"}}, {"tea": {"answer": "陆 羽。"}})
    assert annotate(ROWS, folder) == [StageResult(row=row) for row in ROWS]
    assert not (folder / THIRD_SHEET).exists()


@pytest.mark.parametrize("place", [0, 1])
def test_either_can_find_a_question_unfit(folder: Path, place: int) -> None:
    """Alone, and without an answer or a page."""
    unfit = {"tea": {"compliant": "no", "answer": "", "url_1": "", "url_2": ""}}
    fill_both(folder, *([unfit, {}] if place == 0 else [{}, unfit]))
    assert reasons(folder) == {"tea": f"found unfit: by annotator {place + 1}", "paper": None}


def test_another_answer_than_the_generated_drops_a_question(folder: Path) -> None:
    """Where both people give it."""
    other = {"tea": {"answer": "皎然"}}
    fill_both(folder, other, other)
    assert reasons(folder) == {"tea": "people answer otherwise: 皎然", "paper": None}


@pytest.mark.parametrize(
    ("decision", "reason"), [("陆羽", None), ("陆 羽", None), ("皎然", "people answer otherwise: 皎然")]
)
def test_a_third_decides_where_two_differ(folder: Path, decision: str, reason: str | None) -> None:
    """On a sheet with both answers, and of these questions alone."""
    fill_both(folder, {}, {"tea": {"answer": "皎然"}})
    why = complaint(folder)
    assert f"{THIRD_SHEET}:2: tea needs an answer" in why
    (line,) = read(folder / THIRD_SHEET)
    assert list(line) == THIRD_COLUMNS
    expected = {"id": "tea", "question": ROWS[0]["question"], "answer_1": "陆羽", "answer_2": "皎然"}
    assert line == {**expected, "answer": ""}
    fill(folder / THIRD_SHEET, {"tea": {"answer": decision}})
    assert reasons(folder) == {"tea": reason, "paper": None}


def test_a_later_difference_needs_the_third_as_well(folder: Path) -> None:
    """The sheet has no line for it: it is named, and nothing is overwritten."""
    fill_both(folder, {}, {"tea": {"answer": "皎然"}})
    complaint(folder)
    fill(folder / THIRD_SHEET, {"tea": {"answer": "陆羽"}})
    fill_both(folder, {}, {"tea": {"answer": "皎然"}, "paper": {"answer": "蔡侯"}})
    assert f"{THIRD_SHEET}: paper needs an answer" in complaint(folder)


# Other questions under the same ids.

NOW = [{**ROWS[0], "question": "谁写了《茶经》？"}, ROWS[1]]


@pytest.mark.parametrize("is_filled", [True, False])
def test_what_was_said_of_another_question_does_not_count(folder: Path, is_filled: bool) -> None:
    """It is named, with what to do; nobody is sent to fill in a sheet that is of no use."""
    if is_filled:
        fill_both(folder, {}, {})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert refusal(annotate, NOW, folder).endswith(
        "annotator_1.csv:2: question is not what tea has now: the questions have changed; "
        "move the sheets away, then give the same command again for new ones"
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_second_sheet_is_looked_at_too(folder: Path) -> None:
    """As where the first alone was made again."""
    fill_both(folder, {}, {"tea": {"question": "谁写了《茶经》？"}})
    assert f"{FIRST_SHEETS[1]}:2: question is not what tea has now" in complaint(folder)


def test_other_line_breaks_make_no_other_question(folder: Path) -> None:
    """A spreadsheet writes its own."""
    breaks = {"paper": {"question": ROWS[1]["question"].replace("\n", "\r\n")}}
    fill_both(folder, breaks, breaks)
    assert reasons(folder) == {"tea": None, "paper": None}


@pytest.mark.parametrize("change", [{"question": "谁？"}, {"answer_1": "皎然"}, {"answer_2": "陆羽"}])
def test_the_third_decided_between_other_answers(folder: Path, change: Line) -> None:
    """Or about another question: what was decided then says nothing now."""
    fill_both(folder, {}, {"tea": {"answer": "皎然"}})
    complaint(folder)
    fill(folder / THIRD_SHEET, {"tea": {"answer": "陆羽", **change}})
    (name,) = change
    why = complaint(folder)
    assert f"{THIRD_SHEET}:2: {name} is not what tea has now: the {name.split('_')[0]}s have changed" in why
