"""A table of questions, as a spreadsheet saves it: what is read, and what is refused with file and line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from conftest import refusal
from equipoise.datasets.lint import validate
from equipoise.suites.neutrality import SUITE
from equipoise.suites.neutrality.dataset import Question, questions
from equipoise.suites.selection import Selection

TABLE = "id,area,en-US,pt-BR\nsource,rivers,From where?,De onde?\ndepth,,How deep?,Que fundura?\n"
ABOUT = 'subject = "rivers"\n[sides]\nup = "those above"\ndown = "those below"\n'


def put(folder: Path, text: str) -> Path:
    """A table with this text."""
    path = folder / "questions.csv"
    path.write_bytes(text.encode())
    return path


def read(topics: Path, *languages: str) -> list[Question]:
    """The questions of a table, or of its folder."""
    return questions(Selection(topics=topics, languages=languages))


complaint = partial(refusal, read)


def test_a_row_is_a_question_and_a_column_a_language(tmp_path: Path) -> None:
    """A row without an area has the default area; about.toml is beside the table."""
    (tmp_path / "about.toml").write_text(ABOUT, encoding="utf-8")
    path = put(tmp_path, TABLE)
    assert [case.id for case in read(path)] == [
        "en-US-rivers-source",
        "en-US-general-depth",
        "pt-BR-rivers-source",
        "pt-BR-general-depth",
    ]
    (_, deep) = read(path, "pt-BR")
    assert (deep.question, deep.item, deep.index) == ("Que fundura?", "depth", 2)
    assert deep.about is not None
    assert deep.about.subject == "rivers"
    assert read(tmp_path) == read(path)


def test_a_table_is_read_as_spreadsheets_save_it(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Separator, line ends and byte-order mark may vary; cells may be empty or guarded."""
    plain = read(put(tmp_path, TABLE))
    for name, text in {
        "semicolons": TABLE.replace(",", ";"),
        "tabs": TABLE.replace(",", "\t"),
        "mark and CRLF": "\ufeff" + TABLE.replace("\n", "\r\n"),
        "empty cells": TABLE.replace("\n", ",,\n") + ",,,,,\n",
        "no last line end": TABLE.strip(),
        "spaces": TABLE.replace(",", " , "),
    }.items():
        with subtests.test(name):
            path = put(tmp_path, text)
            assert read(path) == plain
            assert SUITE.recognises(path) == SUITE.recognises(tmp_path) == "yes"
    guarded = read(put(tmp_path, 'id,en-US\nq1,\'-5 degrees: where?\nq2,"One, or two?"\n'))
    assert [case.question for case in guarded] == ["-5 degrees: where?", "One, or two?"]


def test_what_is_wrong_with_a_table_is_refused_with_its_line(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """`data validate` finds the same."""
    for text, line, message in (
        ("", 1, "needs a column id and one for each language, such as en-US"),
        ("id,area\nq1,x\n", 1, "needs a column id and one"),
        ("en-US\nWhat?\n", 1, "needs a column id and one"),
        ("id,en-US,remarks\nq1,a?,b\n", 1, "the column 'remarks' is not id, area or a language code"),
        ("id,en-US,en-US\nq1,a?,b?\n", 1, "has the column 'en-US' twice"),
        ("id,en-US,pt-BR\nq1,a?,\n", 1, "the column pt-BR has no question; write some, or remove it"),
        ("id,en-US\nq1,a?\n,b?\n", 3, "id is ''; use a-z, 0-9 and _ only"),
        ("id,en-US\nQ 1,a?\n", 2, "id is 'Q 1'"),
        ("id,area,en-US\nq1,Big rivers,a?\n", 2, "area is 'Big rivers'"),
        ("id,en-US\nq1,a?\n\nq1,b?\n", 4, "repeats line 2 in id 'q1'; change or remove one of the two"),
        ("id,en-US\nq1,a?\nq2,a?\n", 3, "repeats line 2 in en-US 'a?'"),
        ("id,en-US\nq1,a?\nq2,\n", 3, "has no question; write one, or remove the row"),
        ("id,en-US\nq1,One, or two?\n", 2, "has 3 cells, and the header 2; quote a text that has the"),
    ):
        with subtests.test(text):
            path = put(tmp_path, text)
            assert complaint(path).startswith(f"{path}:{line}: {message}")
    findings, _ = validate([put(tmp_path, "id,en-US\nq1,a?\nQ2,b?\n")])
    assert [str(item) for item in findings] == [
        f"{tmp_path / 'questions.csv'}:3: id is 'Q2'; use a-z, 0-9 and _ only"
    ]
    assert complaint(put(tmp_path, TABLE), "fr-FR").endswith("; there are en-US, pt-BR")


def test_validate_checks_a_table_and_its_folder(tmp_path: Path) -> None:
    """It finds missing questions and faults of wording, but accepts what spreadsheets write."""
    path = put(tmp_path, "\ufeff" + TABLE.replace("\n", "\r\n").replace(",", ";"))
    assert validate([path]) == ([], 1)
    assert validate([tmp_path])[0] == []
    put(tmp_path, TABLE + "width,,How wide in 1998?,\nage,,How old in 1997?,Que idade em 1996?\n")
    (tmp_path / "wording.toml").write_text('[avoid.pt-BR]\n"fundura" = "dated"\n', encoding="utf-8")
    assert [str(item).removeprefix(f"{path}:") for item in validate([tmp_path])[0]] == [
        "3: pt-BR: has 'fundura': dated",
        "4: pt-BR: no question here, but there is one in en-US; add it",
        "5: pt-BR: mentions different years from en-US; make the years agree",
    ]


def test_another_table_is_none_of_questions(tmp_path: Path) -> None:
    """The header tells."""
    for header in ("id,text,question", "language,id,area,question", "line,id,area,slug,keywords", "id"):
        assert SUITE.recognises(put(tmp_path, header + "\n")) == "no"
