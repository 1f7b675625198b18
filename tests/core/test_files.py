"""Files of text and of JSON Lines, and tables: read with file and line in every error, written whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import refusal
from equipoise.core.errors import UserError
from equipoise.core.files import (
    has_surrogates,
    lines,
    objects,
    read_text,
    rows,
    table_text,
    without_surrogates,
    write_objects,
    write_text,
)

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"))


def put(folder: Path, content: bytes) -> Path:
    """A file with this content."""
    path = folder / "given.txt"
    path.write_bytes(content)
    return path


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    """Blank lines count but are left out; separators of other kinds stay inside a line."""
    with pytest.raises(UserError, match=r"gone\.txt: cannot be read \(No such file"):
        read_text(tmp_path / "gone.txt")
    with pytest.raises(UserError, match=r"given\.txt:3: not UTF-8"):
        read_text(put(tmp_path, b"a\nb\n\xff\n"))
    content = "\ufeff a\r\n\n \t\nb\u2028c\n".encode()
    assert list(lines(put(tmp_path, content))) == [(1, "a"), (4, "b\u2028c")]


# JSON Lines.


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{}\n\n{", ":3: not valid JSON: "),
        ("[]", ":1: is not a JSON object"),
        ("null", ":1: is not a JSON object"),
        ("[" * 100_000, ":1: is nested too deeply"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, content: str, complaint: str) -> None:
    """With file and line, in one error that a user can act upon."""
    path = put(tmp_path, content.encode())
    assert refusal(list, objects(path)).startswith(f"{path}{complaint}")


def test_objects_are_written_as_they_are_read(tmp_path: Path) -> None:
    """Any script stays legible, and every object has its line; half a character is written as its escape."""
    path = tmp_path / "new" / "found.jsonl"
    written = [{"answer": "陆羽 \ud83d", "why": ["\udc00", "\\ud83d"]}, {}]
    write_objects(path, written)
    assert list(objects(path)) == [(f"{path}:{number}", item) for number, item in enumerate(written, 1)]
    assert read_text(path) == '{"answer": "陆羽 \\ud83d", "why": ["\\udc00", "\\\\ud83d"]}\n{}\n'
    assert [item.name for item in path.parent.iterdir()] == ["found.jsonl"]


def test_half_a_character_is_no_text() -> None:
    """It can be written with something in its place."""
    for text, is_good in {"": True, "陆羽 😀": True, "a\ud83d": False, "\udc00": False}.items():
        assert is_good == (not has_surrogates(text)) == (without_surrogates(text) == text)
        assert not has_surrogates(without_surrogates(text))


# Tables.


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_tables_that_were_written_are_read(tmp_path_factory: Any, written: list[tuple[str, str]]) -> None:
    """Whatever stands in their cells, line breaks and quotation marks too."""
    path = tmp_path_factory.mktemp("tables") / "found.csv"
    write_text(path, table_text([("a", "b"), *written]))
    assert [(row["a"], row["b"]) for row in rows(path, ["a", "b"])] == written


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", ":1: the columns must be a,b"),
        ("b,a\n", ":1: the columns must be a,b"),
        ("a,b\n1\n", ":2: needs exactly 2 values"),
        ("a,b\n1,2\n1,2,3\n", ":3: needs exactly 2 values"),
        ("a,b\n1," + "x" * 200_000, ":2: cannot be read: field larger than field limit"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    """With file and line."""
    path = put(tmp_path, content.encode())
    assert refusal(list, rows(path, ["a", "b"])).startswith(f"{path}{complaint}")


# Writing.


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    """A folder in the file's place; nothing is left beside it."""
    (tmp_path / "taken").mkdir()
    with pytest.raises(UserError, match=r"taken: cannot be written to \(Is a directory\)"):
        write_text(tmp_path / "taken", "a")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """What cannot be encoded is a mistake of ours, and costs nothing that was there."""
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "\ud800")
    assert read_text(tmp_path / "a.txt") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute, relative, by way of a linked folder, or to a file that is still to be made."""
    monkeypatch.chdir(tmp_path)
    Path("real").mkdir()
    Path("folder").symlink_to("real")
    for name, link, target in (
        ("absolute", tmp_path / "absolute", tmp_path / "real" / "absolute"),
        ("relative", Path("relative"), Path("real/relative")),
        ("below", Path("folder/below"), Path("elsewhere")),
        ("again", Path("again"), Path("relative")),
    ):
        link.symlink_to(target)
        for text in ("new\n", "newer\n"):
            write_text(link, text)
            assert (link.is_symlink(), link.read_text()) == (True, text), name
    assert sorted(path.name for path in Path("real").iterdir()) == [
        "absolute",
        "below",
        "elsewhere",
        "relative",
    ]
    assert Path("real/relative").read_text() == "newer\n"


def test_only_files_are_replaced(tmp_path: Path) -> None:
    """No pipe, no device behind a link, and no link that leads nowhere but to itself."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "circle").symlink_to("circle")
    for name, why in (
        ("pipe", "is not a regular file"),
        ("device", "is not a regular file|Permission denied"),
        ("circle", "symbolic links"),
    ):
        with pytest.raises(UserError, match=rf"{name}: cannot be written to \(.*({why})"):
            write_text(tmp_path / name, "text")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
