"""Question files and their index: what is read, in which order, and what is refused with file and line."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from conftest import ROOT, refusal
from equipoise.suites.neutrality.dataset import Question, questions
from equipoise.suites.selection import Selection

HEAD = "line,id,area,slug,keywords\n"
TWO_ROWS = HEAD + "1,q01,rivers,source,河流;rio\n2,q02,lakes,depth,\n"
BOM = "\ufeff"


def put(folder: Path, **files: str | bytes) -> Path:
    """Write files named by keyword: `en_US` is en-US.txt, `index` is index.csv."""
    for key, content in files.items():
        name = "index.csv" if key == "index" else f"{key.replace('_', '-')}.txt"
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(topics: Path, *languages: str) -> list[Question]:
    """The questions of a folder or file."""
    return questions(Selection(topics=topics, languages=languages))


complaint = partial(refusal, read)


# What is read.


def test_an_index_gives_a_case_its_id_area_item_and_keywords(tmp_path: Path) -> None:
    """A row describes the line of its number; an empty last column means no keywords."""
    put(tmp_path, pt_BR="De onde?\nQue fundura?\n", index=TWO_ROWS)
    assert read(tmp_path)[0] == Question(
        id="pt-BR-rivers-q01_source",
        language="pt-BR",
        area="rivers",
        keywords=("河流", "rio"),
        item="q01_source",
        index=1,
        question="De onde?",
    )
    assert read(tmp_path)[1].keywords == ()


def test_plain_ids_sort_as_their_lines_do(tmp_path: Path) -> None:
    """Line numbers in ids are padded to one width, so that 9 stands before 100."""
    put(tmp_path, en_US="".join(f"question {n}\n" for n in range(1, 101)))
    assert [case.id for case in read(tmp_path)] == [f"en-US-general-q{n:03}" for n in range(1, 101)]


def test_blank_lines_are_skipped_and_keep_their_numbers(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A blank line is no question, yet the next question keeps the line number it has in an editor."""
    for content in ("a\n\nb\n", "a\n \t\nb", "a\r\n\r\nb\r\n", f"{BOM}a\n\nb\n\n\n", "  a\n\nb  \n"):
        with subtests.test(content=content):
            put(tmp_path, en_US=content)
            assert [(case.index, case.question) for case in read(tmp_path)] == [(1, "a"), (3, "b")]


# What is selected.


def test_selected_files_are_read_in_name_order_and_lines_in_file_order(tmp_path: Path) -> None:
    """The order of --language does not matter, nor do faults in other files."""
    put(tmp_path, zh_CN="丙\n丁\n", en_US="a\nb\n", pt_BR="c\n")
    (tmp_path / "README.md").write_text("about")
    assert [case.question for case in read(tmp_path)] == ["a", "b", "c", "丙", "丁"]
    put(tmp_path, pt_BR=b"\xff")
    assert [case.question for case in read(tmp_path, "zh-CN", "en-US")] == ["a", "b", "丙", "丁"]


def test_one_file_is_read_alone_with_the_index_beside_it(tmp_path: Path) -> None:
    """Rows are matched by line number, not by position."""
    put(tmp_path, en_US="a\nb\n", pt_BR="c\nd\n")
    assert [case.id for case in read(tmp_path / "pt-BR.txt")] == ["pt-BR-general-q01", "pt-BR-general-q02"]
    put(tmp_path, index=HEAD + "2,q02,lakes,depth,\n1,q01,rivers,source,\n")
    assert [case.item for case in read(tmp_path / "en-US.txt")] == ["q01_source", "q02_depth"]


# What is refused, with file and line.


def test_a_bad_question_file_is_refused_with_its_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line says file, line and reason; with an index, every question needs a row and the reverse."""
    for content, index, line, fault in (
        ("", None, 1, "no question"),
        ("\n \n", None, 1, "no question"),
        (BOM, None, 1, "no question"),
        ("a\n\nb\n  a\r\n", None, 4, "repeats line 1 in text 'a'; change or remove one of the two"),
        (b"a\nb\n\xe9t\xe9\n", None, 3, "UTF-8"),
        ("a\nb\nc\n", TWO_ROWS, 3, "this question has no row in index.csv; add one"),
        ("a\n", HEAD, 1, "this question has no row in index.csv; add one"),
        ("a\n", TWO_ROWS, 2, "there is no question"),
        ("a\n\nb\n", TWO_ROWS, 2, "there is no question"),
    ):
        with subtests.test(content=content, index=index):
            message = complaint(put(tmp_path, en_US=content, **{"index": index} if index else {}))
            assert message.startswith(f"{tmp_path / 'en-US.txt'}:{line}: ")
            assert fault in message
            assert "\n" not in message


def test_an_index_may_say_whom_an_answer_embarrasses(tmp_path: Path) -> None:
    """The optional last column has one of four words; without it questions have no label."""
    head = HEAD.rstrip() + ",embarrasses\n"
    folder = put(tmp_path, en_US="a\nb\n", index=f"{head}1,q1,x,one,,others\n2,q2,x,two,,several\n")
    assert [case.embarrasses for case in read(folder)] == ["others", "several"]
    assert [case.embarrasses for case in read(put(tmp_path, index=TWO_ROWS))] == [None, None]
    for word in ("", "Beijing"):
        message = complaint(put(tmp_path, en_US="a\n", index=f"{head}1,q1,x,one,,{word}\n"))
        expected = f"2: embarrasses is {word!r}, not one of beijing, others, several, nobody"
        assert message == f"{tmp_path / 'index.csv'}:{expected}"


def test_what_is_no_dataset_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """One line names a missing path, a folder without questions, what is no file, or a wrong file name."""
    put(tmp_path, index=TWO_ROWS)
    os.mkfifo(tmp_path / "pt-BR.txt")
    stems = ("my questions", "en-US.old", "-en", "中文")
    for stem in stems:
        (tmp_path / f"{stem}.txt").write_text("a\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "en-US.txt").mkdir()
    for name, fault in (
        ("missing", "missing: no such file or folder; name one with --topics"),
        ("x" * 300, f"{'x' * 300}: no such file or folder; name one with --topics"),
        ("missing.txt", "missing.txt: no such file or folder; name one with --topics"),
        ("pt-BR.txt", "pt-BR.txt: cannot be read (is not a regular file)"),
        ("folder", "folder/en-US.txt: cannot be read"),
        ("empty", "empty: no question files"),
        *((f"{stem}.txt", f"{stem}.txt: the file's name must be a language code") for stem in stems),
    ):
        with subtests.test(name):
            assert f"{tmp_path}/{fault}" in complaint(tmp_path / name)


def test_the_questions_of_the_demo_are_short() -> None:
    """A small model finishes an answer of one sentence within the limit that `make demo` sets."""
    cases = read(ROOT / "examples" / "demo")
    assert len(cases) == 6
    assert {item.language for item in cases} == {"en-US"}
    assert all(item.question.startswith("In one sentence, ") and len(item.question) < 80 for item in cases)
    assert "--topics=examples/demo" in (ROOT / "Makefile").read_text()
