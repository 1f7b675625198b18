"""Question files and their index: what is read, in which order, and what is refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipoise.core.errors import UserError
from equipoise.suites.neutrality.dataset import Question, question_files, questions
from equipoise.suites.selection import Selection, data_hash

HEAD = "line,id,area,slug,keywords\n"
TWO_ROWS = HEAD + "1,q01,rivers,source,河流;rio\n2,q02,lakes,depth,\n"
BOM = "\ufeff"


def put(folder: Path, **files: str | bytes) -> Path:
    """Write files named by keyword: `en_US` is en-US.txt, `index` is index.csv."""
    for key, content in files.items():
        name = "index.csv" if key == "index" else f"{key.replace('_', '-')}.txt"
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read(topics: Path, *languages: str, limit: int | None = None) -> list[Question]:
    """The questions of a folder or file."""
    return questions(Selection(topics=topics, languages=languages, limit=limit))


def complaint(topics: Path, *languages: str) -> str:
    """The message with which reading is refused."""
    with pytest.raises(UserError) as caught:
        read(topics, *languages)
    return str(caught.value)


# What is read.


def test_files_are_read_in_name_order_and_lines_in_file_order(tmp_path: Path) -> None:
    """Cases come file by file in name order, line by line."""
    put(tmp_path, zh_CN="丙\n丁\n", en_US="a\nb\n")
    assert [case.question for case in read(tmp_path)] == ["a", "b", "丙", "丁"]


def test_an_index_gives_a_case_its_id_area_item_and_keywords(tmp_path: Path) -> None:
    """A row of the index describes the line of that number in every language."""
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


def test_an_item_without_keywords_has_none(tmp_path: Path) -> None:
    """An empty last column means no keywords, not one empty keyword."""
    put(tmp_path, en_US="a\nb\n", index=TWO_ROWS)
    assert read(tmp_path)[1].keywords == ()


def test_without_an_index_lines_get_plain_ids_in_one_area(tmp_path: Path) -> None:
    """A folder without index.csv works: ids by line number, one general area."""
    put(tmp_path, en_US="a\nb\n")
    assert [case.id for case in read(tmp_path)] == ["en-US-general-q01", "en-US-general-q02"]


def test_plain_ids_sort_as_their_lines_do(tmp_path: Path) -> None:
    """Line numbers in ids are padded to one width, so that 9 stands before 100."""
    put(tmp_path, en_US="".join(f"question {n}\n" for n in range(1, 101)))
    ids = [case.id for case in read(tmp_path)]
    assert (ids[0], ids[-1]) == ("en-US-general-q001", "en-US-general-q100")
    assert ids == sorted(ids)


def test_rows_of_the_index_may_stand_in_any_order(tmp_path: Path) -> None:
    """Rows are matched by their line number, not by their place in the index."""
    put(tmp_path, en_US="a\nb\n", index=HEAD + "2,q02,lakes,depth,\n1,q01,rivers,source,\n")
    assert [case.item for case in read(tmp_path)] == ["q01_source", "q02_depth"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("a\n\nb\n", id="empty_line"),
        pytest.param("a\n \t\nb", id="line_of_blanks_and_no_last_newline"),
        pytest.param("a\r\n\r\nb\r\n", id="crlf"),
        pytest.param(f"{BOM}a\n\nb\n\n\n", id="bom_and_blank_lines_at_the_end"),
        pytest.param("  a\n\nb  \n", id="blanks_around_the_text"),
    ],
)
def test_blank_lines_are_skipped_and_keep_their_numbers(tmp_path: Path, content: str) -> None:
    """A blank line is no question, yet the next question keeps the line number it has in an editor."""
    put(tmp_path, en_US=content)
    assert [(case.index, case.question) for case in read(tmp_path)] == [(1, "a"), (3, "b")]


@pytest.mark.parametrize(
    "separator",
    [
        pytest.param("\u2028", id="line_separator"),
        pytest.param("\u2029", id="paragraph_separator"),
        pytest.param("\x85", id="next_line"),
        pytest.param("\x0c", id="form_feed"),
    ],
)
def test_only_a_newline_ends_a_line(tmp_path: Path, separator: str) -> None:
    """Separators that str.splitlines knows may stand inside a question."""
    put(tmp_path, en_US=f"one{separator}two\nthree\n")
    assert [case.question for case in read(tmp_path)] == [f"one{separator}two", "three"]


@pytest.mark.parametrize("ending", [pytest.param("\n", id="lf"), pytest.param("\r\n", id="crlf")])
@pytest.mark.parametrize("start", [pytest.param("", id="plain"), pytest.param(BOM, id="bom")])
def test_an_index_is_read_whatever_its_line_endings(tmp_path: Path, start: str, ending: str) -> None:
    """The index may come from a spreadsheet, with a byte order mark and CRLF."""
    put(tmp_path, en_US="a\nb\n", index=start + TWO_ROWS.replace("\n", ending))
    assert [case.item for case in read(tmp_path)] == ["q01_source", "q02_depth"]


# What is selected.


@pytest.mark.parametrize("limit", [1, 2])
def test_limit_counts_questions_of_each_file_and_not_lines(tmp_path: Path, limit: int) -> None:
    """`limit` takes the first questions of every file; blank lines do not count."""
    put(tmp_path, en_US="\na\n\nb\nc\n", pt_BR="x\ny\nz\n")
    found = [case.question for case in read(tmp_path, limit=limit)]
    assert found == ["a", "b"][:limit] + ["x", "y"][:limit]


def test_a_limit_above_the_number_of_questions_takes_all(tmp_path: Path) -> None:
    """A limit is a bound and no demand."""
    put(tmp_path, en_US="a\nb\n")
    assert len(read(tmp_path, limit=9)) == 2


def test_a_limit_does_not_change_ids(tmp_path: Path) -> None:
    """A case has the same id whether or not later ones are selected."""
    put(tmp_path, en_US="".join(f"question {n}\n" for n in range(1, 101)))
    assert [case.id for case in read(tmp_path, limit=3)] == [case.id for case in read(tmp_path)][:3]


def test_languages_select_files_in_their_own_order(tmp_path: Path) -> None:
    """Languages asked for select; the order stays that of the file names."""
    put(tmp_path, en_US="a\n", pt_BR="b\n", zh_CN="c\n")
    assert [case.language for case in read(tmp_path, "zh-CN", "en-US")] == ["en-US", "zh-CN"]


def test_only_selected_files_are_read(tmp_path: Path) -> None:
    """A fault in a file that nobody asked for stops nobody."""
    put(tmp_path, en_US="a\n", pt_BR=b"\xff")
    assert [case.question for case in read(tmp_path, "en-US")] == ["a"]


def test_one_file_is_read_alone(tmp_path: Path) -> None:
    """A question file stands for itself, whatever lies beside it."""
    put(tmp_path, en_US="a\n", pt_BR="b\n")
    assert [case.id for case in read(tmp_path / "pt-BR.txt")] == ["pt-BR-general-q01"]


def test_one_file_has_the_index_beside_it(tmp_path: Path) -> None:
    """A question file alone is described by the index in its folder."""
    put(tmp_path, en_US="a\nb\n", index=TWO_ROWS)
    assert [case.item for case in read(tmp_path / "en-US.txt")] == ["q01_source", "q02_depth"]


def test_only_text_files_of_a_folder_are_question_files(tmp_path: Path) -> None:
    """A README or an index in the folder is no question file."""
    put(tmp_path, en_US="a\n", index=TWO_ROWS)
    (tmp_path / "README.md").write_text("about")
    assert question_files(tmp_path) == [tmp_path / "en-US.txt"]


# What is refused, with file and line.


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        pytest.param("", 1, "no question", id="empty"),
        pytest.param("\n \n", 1, "no question", id="only_blank_lines"),
        pytest.param(BOM, 1, "no question", id="only_a_bom"),
        pytest.param("a\nb\na\n", 3, "repeats line 1", id="repeated"),
        pytest.param("a\n\nb\n  a\r\n", 4, "repeats line 1", id="repeated_but_for_blanks"),
        pytest.param(b"a\nb\n\xe9t\xe9\n", 3, "UTF-8", id="latin_1"),
        pytest.param(b"\xff\xfea\x00", 1, "UTF-8", id="utf_16"),
        pytest.param(b"a\nb\xe4", 2, "UTF-8", id="cut_inside_a_character"),
        pytest.param(b"\xef\xbb\xbfa\n\xff", 2, "UTF-8", id="latin_1_after_a_bom"),
    ],
)
def test_a_bad_question_file_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, line: int, said: str
) -> None:
    """Whatever is wrong in a question file is told with file, line and reason, on one line."""
    message = complaint(put(tmp_path, en_US=content))
    assert message.startswith(f"{tmp_path / 'en-US.txt'}:{line}: ")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        pytest.param("1,q01,rivers,,\n2,q02,lakes,depth,\n", 2, "slug", id="no_slug"),
        pytest.param("1,q01,rivers,Source,\n", 2, "'Source'", id="capital_in_slug"),
        pytest.param("1,q01,rivers,the-source,\n", 2, "'the-source'", id="hyphen_in_slug"),
        pytest.param("1,q01,rivers,source ,\n", 2, "'source '", id="blank_in_slug"),
        pytest.param("1,q01,河流,source,\n", 2, "area is '河流'", id="area_not_ascii"),
        pytest.param("1,Q/1,rivers,source,\n", 2, "id is 'Q/1'", id="bad_id"),
        pytest.param("0,q01,rivers,source,\n", 2, "'0'", id="line_zero"),
        pytest.param("-1,q01,rivers,source,\n", 2, "'-1'", id="line_below_zero"),
        pytest.param("one,q01,rivers,source,\n", 2, "'one'", id="line_no_number"),
        pytest.param(",q01,rivers,source,\n", 2, "''", id="line_empty"),
        pytest.param("1,q01,rivers,source\n", 2, "5 values", id="too_few_values"),
        pytest.param("1,q01,rivers,source,a,b\n", 2, "5 values", id="too_many_values"),
        pytest.param("1,q01,rivers,source,\n1,q02,lakes,depth,\n", 3, "line 1", id="line_twice"),
        pytest.param("1,q01,rivers,source,\n2,q01,lakes,depth,\n", 3, "'q01'", id="id_twice"),
        pytest.param("1,q01,rivers,source,\n\n2,q01,lakes,depth,\n", 4, "'q01'", id="after_a_blank_line"),
    ],
)
def test_a_bad_row_of_the_index_is_refused_with_its_line(
    tmp_path: Path, rows: str, line: int, said: str
) -> None:
    """Whatever is wrong in a row of the index is told with file, line and value."""
    message = complaint(put(tmp_path, en_US="a\nb\n", index=HEAD + rows))
    assert message.startswith(f"{tmp_path / 'index.csv'}:{line}: ")
    assert said in message


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("", id="empty_file"),
        pytest.param("line,id,area,slug\n", id="column_missing"),
        pytest.param("line,id,area,slug,keywords,note\n", id="column_too_many"),
        pytest.param("id,line,area,slug,keywords\n", id="other_order"),
        pytest.param("1,q01,rivers,source,\n", id="no_heading"),
        pytest.param("line;id;area;slug;keywords\n", id="semicolons"),
    ],
)
def test_an_index_with_other_columns_is_refused(tmp_path: Path, head: str) -> None:
    """The message about a wrong heading names the columns that are needed."""
    message = complaint(put(tmp_path, en_US="a\n", index=head))
    assert message.startswith(f"{tmp_path / 'index.csv'}:1: ")
    assert "line,id,area,slug,keywords" in message


def test_an_index_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    """Encoding faults in the index are told like those in questions."""
    message = complaint(put(tmp_path, en_US="a\n", index=HEAD.encode() + b"1,q01,rivers,source,\xe9\n"))
    assert message.startswith(f"{tmp_path / 'index.csv'}:2: ")


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        pytest.param("a\nb\nc\n", 3, "no row in index.csv", id="index_too_short"),
        pytest.param("a\n", 2, "there is no question", id="index_too_long"),
        pytest.param("a\n\nb\n", 2, "there is no question", id="blank_line_with_a_row"),
    ],
)
def test_an_index_that_does_not_fit_the_questions_is_refused(
    tmp_path: Path, content: str, line: int, said: str
) -> None:
    """Every question needs its row and every row its question; the first misfit is named."""
    message = complaint(put(tmp_path, en_US=content, index=TWO_ROWS))
    assert message.startswith(f"{tmp_path / 'en-US.txt'}:{line}: ")
    assert said in message


def test_an_index_without_rows_is_refused(tmp_path: Path) -> None:
    """An index of nothing but its heading describes no question, which is an error."""
    assert "no row in index.csv" in complaint(put(tmp_path, en_US="a\n", index=HEAD))


@pytest.mark.parametrize("stem", ["my questions", "en-US.old", "-en", "中文"])
def test_a_file_name_must_be_a_language_code(tmp_path: Path, stem: str) -> None:
    """A text file whose name is no language code is refused by name."""
    (tmp_path / f"{stem}.txt").write_text("a\n")
    message = complaint(tmp_path)
    assert message.startswith(f"{tmp_path / stem}.txt: ")
    assert "language code" in message


@pytest.mark.parametrize("name", ["missing", "missing.txt"])
def test_a_missing_path_is_refused(tmp_path: Path, name: str) -> None:
    """A path that does not exist is named, and so is the option that sets it."""
    message = complaint(tmp_path / name)
    assert message.startswith(f"{tmp_path / name}: ")
    assert "--topics" in message


def test_a_folder_without_question_files_is_refused(tmp_path: Path) -> None:
    """A folder without any .txt file is named."""
    assert complaint(tmp_path).startswith(f"{tmp_path}: no question files")


def test_a_folder_named_as_a_question_file_is_refused(tmp_path: Path) -> None:
    """What cannot be read is a user error and no traceback."""
    (tmp_path / "en-US.txt").mkdir()
    assert complaint(tmp_path).startswith(f"{tmp_path / 'en-US.txt'}: cannot be read")


@pytest.mark.parametrize("language", ["de-DE", "en-us", "en", ""])
def test_an_unknown_language_is_refused(tmp_path: Path, language: str) -> None:
    """An unknown language is named together with those that there are."""
    message = complaint(put(tmp_path, en_US="a\n", zh_CN="b\n"), "en-US", language)
    assert message.startswith(f"--language: no {language!r} in ")
    assert message.endswith("there are en-US, zh-CN")


def test_a_language_that_one_file_is_not_in_is_refused(tmp_path: Path) -> None:
    """With a single file only its own language can be asked for."""
    put(tmp_path, en_US="a\n", zh_CN="b\n")
    assert "no 'zh-CN'" in complaint(tmp_path / "en-US.txt", "zh-CN")


# The hash of the data.


def test_the_hash_of_the_same_data_is_the_same_anywhere(tmp_path: Path) -> None:
    """The hash is made of names and contents, not of the place."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        put(folder, en_US="a\n", index=TWO_ROWS)
    assert data_hash(folders[0]) == data_hash(folders[1])


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"en_US": "a \n"}, id="other_content"),
        pytest.param({"en_GB": "a\n"}, id="other_name"),
        pytest.param({"en_US": "a\n", "pt_BR": "b\n"}, id="one_more_file"),
        pytest.param({"en_US": "a\n", "index": TWO_ROWS}, id="with_an_index"),
        pytest.param({"en_US": "a\r\n"}, id="other_line_ending"),
    ],
)
def test_the_hash_changes_with_content_and_name(tmp_path: Path, files: dict[str, str]) -> None:
    """Any change of the data of a folder changes its hash."""
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = put(tmp_path / "before", en_US="a\n")
    assert data_hash(put(tmp_path / "after", **files)) != data_hash(before)


def test_the_hash_of_a_folder_ignores_what_is_no_data(tmp_path: Path) -> None:
    """A README may change without making old results incomparable."""
    before = data_hash(put(tmp_path, en_US="a\n"))
    (tmp_path / "README.md").write_text("about")
    assert data_hash(tmp_path) == before


@pytest.mark.parametrize("name", ["en-US.txt", "en-US", "en-US.md"])
def test_the_hash_of_one_file_changes_with_its_content(tmp_path: Path, name: str) -> None:
    """A single file that can be read as questions is hashed, whatever its suffix."""
    path = tmp_path / name
    path.write_text("a\n")
    before = data_hash(path)
    path.write_text("b\n")
    assert read(path)[0].question == "b"
    assert data_hash(path) != before


def test_the_hash_of_one_file_ignores_other_languages(tmp_path: Path) -> None:
    """With a single file selected, its neighbours do not count."""
    put(tmp_path, en_US="a\n")
    before = data_hash(tmp_path / "en-US.txt")
    put(tmp_path, pt_BR="b\n")
    assert data_hash(tmp_path / "en-US.txt") == before


def test_the_hash_of_one_file_changes_with_its_index(tmp_path: Path) -> None:
    """An index beside a single file decides ids and areas, and so belongs to its data."""
    put(tmp_path, en_US="a\nb\n", index=TWO_ROWS)
    before = data_hash(tmp_path / "en-US.txt")
    put(tmp_path, index=TWO_ROWS.replace("rivers", "streams"))
    assert data_hash(tmp_path / "en-US.txt") != before
