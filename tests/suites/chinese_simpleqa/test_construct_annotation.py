"""The sheets on which people look at questions: written, filled in, and what comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sheets import rows, save

from conftest import refusal
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
CHANGED = "move the sheets away, then give the same command again for new ones"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the sheets are, written and still empty."""
    refusal(annotate, ROWS, tmp_path / "sheets")
    return tmp_path / "sheets"


def fill(path: Path, **lines: Line) -> None:
    """Fill in a sheet, as a spreadsheet would, with line breaks of its own."""
    sheet = [{**row, "question": row["question"].replace("\n", "\r\n")} for row in rows(path)]
    save(path, [{**row, **lines.get(row["id"], {})} for row in sheet])


def fill_first(folder: Path, *of_tea: Line) -> None:
    """Fill in both sheets as GOOD says, but for what each says of the question on tea."""
    for name, line in zip(FIRST_SHEETS, of_tea, strict=True):
        fill(folder / name, **{**GOOD, "tea": {**GOOD["tea"], **line}})


def fill_third(folder: Path, **of_tea: str) -> str:
    """Have a third person decide between two answers on tea; the message that asked for it."""
    fill_first(folder, {}, {"answer": "皎然"})
    message = refusal(annotate, ROWS, folder)
    fill(folder / THIRD_SHEET, tea=of_tea)
    return message


def contents(folder: Path) -> dict[str, bytes]:
    """What stands in each sheet."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# Writing.


def test_both_sheets_are_written_at_once(folder: Path) -> None:
    """With the questions and without their answers; nobody waits for the other."""
    assert sorted(contents(folder)) == sorted(FIRST_SHEETS)
    for name in FIRST_SHEETS:
        questions = [{"id": row["id"], "question": row["question"]} for row in ROWS]
        assert rows(folder / name) == [{**dict.fromkeys(FIRST_COLUMNS, ""), **row} for row in questions]
        assert (folder / name).read_text(encoding="utf-8").startswith(",".join(FIRST_COLUMNS))


def test_a_sheet_is_never_overwritten(folder: Path) -> None:
    """Whatever people have put there stays, byte by byte."""
    fill_third(folder, answer="陆羽")
    before = contents(folder)
    assert len(before) == 3
    annotate(ROWS, folder)
    assert contents(folder) == before


def test_without_questions_there_are_no_sheets(tmp_path: Path) -> None:
    """Empty ones would stand in the way of later questions; a folder that cannot be written is one line."""
    assert annotate([], tmp_path / "sheets") == []
    assert not (tmp_path / "sheets").exists()
    (tmp_path / "sheets").write_text("mine")
    assert "annotator_1.csv: cannot be written to" in refusal(annotate, ROWS, tmp_path / "sheets")


# What is still open.


@pytest.mark.parametrize(
    "line",
    [
        {"compliant": "", "answer": "", "url_1": "", "url_2": ""},
        {"compliant": "perhaps"},
        {"answer": " "},
        {"url_2": ""},
        {"url_1": "a.example"},
        {"url_2": "https://a.example"},
    ],
)
def test_an_unfilled_line_is_named(folder: Path, line: Line) -> None:
    """By file and line, with what is wanted: an answer and two addresses."""
    for lines, name in zip(([line, {}], [{}, line]), FIRST_SHEETS, strict=True):
        fill_first(folder, *lines)
        says = f"{name}:2: is still to be filled in (compliant is yes or no; with yes, answer and two"
        assert says in refusal(annotate, ROWS, folder)


# What people say.

UNFIT = {"compliant": "no", "answer": "", "url_1": "", "url_2": ""}
OTHERWISE = "people answer otherwise: 皎然"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ({"answer": "「陆羽」"}, {"answer": "陆 羽。"}, None),
        (UNFIT, {}, "found unfit: by annotator 1"),
        ({}, UNFIT, "found unfit: by annotator 2"),
        ({"answer": "皎然"}, {"answer": "皎然"}, OTHERWISE),
    ],
)
def test_what_two_people_say_decides(folder: Path, first: Line, second: Line, reason: str | None) -> None:
    """Either can find a question unfit; an answer that both give, however spelt, is right, or drops it."""
    fill_first(folder, first, second)
    assert annotate(ROWS, folder) == [StageResult(row=ROWS[0], reason=reason), StageResult(row=ROWS[1])]
    assert not (folder / THIRD_SHEET).exists()


@pytest.mark.parametrize(("answer", "reason"), [("陆羽", None), ("陆 羽", None), ("皎然", OTHERWISE)])
def test_a_third_decides_where_two_differ(folder: Path, answer: str, reason: str | None) -> None:
    """On a sheet with both answers, and of these questions alone; one that differs later is named."""
    fill_first(folder, {}, {"answer": "皎然"})
    assert f"{THIRD_SHEET}:2: tea needs an answer" in refusal(annotate, ROWS, folder)
    shown = ("tea", ROWS[0]["question"], "陆羽", "皎然", "")
    assert rows(folder / THIRD_SHEET) == [dict(zip(THIRD_COLUMNS, shown, strict=True))]
    fill(folder / THIRD_SHEET, tea={"answer": answer})
    assert [item.reason for item in annotate(ROWS, folder)] == [reason, None]
    fill(folder / FIRST_SHEETS[1], paper={"answer": "蔡侯"})
    assert f"{THIRD_SHEET}: paper needs an answer" in refusal(annotate, ROWS, folder)


# Other questions under the same ids.


@pytest.mark.parametrize("is_filled", [True, False])
def test_what_was_said_of_another_question_does_not_count(folder: Path, is_filled: bool) -> None:
    """It is named, with what to do; nobody is sent to fill in a sheet that is of no use."""
    if is_filled:
        fill_first(folder, {}, {})
    before = contents(folder)
    now = [{**ROWS[0], "question": "谁写了《茶经》？"}, ROWS[1]]
    says = "annotator_1.csv:2: question is not what tea has now: the questions have changed; "
    assert refusal(annotate, now, folder).endswith(f"{says}{CHANGED}")
    chess = {"id": "chess", "question": "?", "answer": "!"}
    says = f"annotator_1.csv: has no line for chess; the questions have changed; {CHANGED}"
    assert refusal(annotate, [*ROWS, chess], folder).endswith(says)
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["question", "answer_1", "answer_2"])
def test_the_other_sheets_are_looked_at_too(folder: Path, name: str) -> None:
    """What a third decided of another question, or between other answers, says nothing now."""
    fill_third(folder, answer="陆羽", **{name: "谁？"})
    what = "questions" if name == "question" else "answers"
    says = f"{THIRD_SHEET}:2: {name} is not what tea has now: the {what} have changed"
    assert says in refusal(annotate, ROWS, folder)
    fill_first(folder, {}, {"question": "谁写了《茶经》？"})
    assert f"{FIRST_SHEETS[1]}:2: question is not what tea has now" in refusal(annotate, ROWS, folder)
