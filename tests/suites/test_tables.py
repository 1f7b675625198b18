"""Declared tables: what is read of each form, which faults are named, and what is recognised."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzzing import made_of, modest, user_errors
from hypothesis import given

from conftest import refusal
from equipoise.core.files import Row
from equipoise.core.types import JSON
from equipoise.suites import tables
from equipoise.suites.findings import Finding
from equipoise.suites.invariants import balanced, parallel
from equipoise.suites.tables import CellType, Table


def unequal(row: Row) -> Iterator[str]:
    """A fault of a row whose two names are the same."""
    if row["id"] == row["kind"]:
        yield "id and kind are the same"


COLUMNS = {
    "id": tables.slug,
    "kind": tables.one_of("tea", "milk", "both"),
    "cup": tables.optional(tables.one_of("big", "small")),
    "text": tables.text,
}
DRINKS = Table(
    file="drinks.csv", row="drink", columns=COLUMNS, unique=["id", ("kind", "text")], faults=unequal
)
BY_LANGUAGE = Table(
    file="*.jsonl", row="drink", columns={**COLUMNS, "names": tables.texts}, besides=["other.jsonl"]
)
NAMES = Table(file="names.csv", row="name", columns={"id": tables.slug, "name": tables.text}, optional=True)
HEADER = "id,kind,cup,text\n"


def faults(table: Table, path: Path, content: str) -> list[str]:
    """The faults of a file with this content, without its name; the first is what reading it refuses."""
    path.write_text(content, encoding="utf-8")
    complaints = [str(item) for item in table.check(path) if isinstance(item, Finding)]
    if complaints:
        assert refusal(table.read, path) == complaints[0]
    return [line.removeprefix(f"{path}:") for line in complaints]


def test_the_same_rows_are_read_of_each_form(tmp_path: Path) -> None:
    """CSV, JSON Lines and lines of text give rows with their lines."""
    (tmp_path / "drinks.csv").write_bytes(
        "\ufeffid,kind,cup,text\r\na,tea,,Dear\r\nb,milk,big,Cheap\r\n".encode()
    )
    one, two = DRINKS.read(tmp_path)
    assert (one.line, one["id"], one["cup"], two.where) == (2, "a", None, f"{tmp_path / 'drinks.csv'}:3")
    path = tmp_path / "en-US.jsonl"
    path.write_text('\n{"id": "a", "kind": "tea", "text": "Dear", "names": ["T"], "note": 1}\n', "utf-8")
    (row,) = BY_LANGUAGE.read(path)
    assert (row.line, row.only("id", "names", "cup")) == (2, {"id": "a", "names": ("T",), "cup": None})
    assert BY_LANGUAGE.languages(tmp_path) == {"en-US": path}
    (tmp_path / "lines.txt").write_text("One?\n\n Two? \n", encoding="utf-8")
    lines = Table(file="*.txt", row="question", columns={"text": tables.text}).read(tmp_path / "lines.txt")
    assert [(line.line, line["text"]) for line in lines] == [(1, "One?"), (3, "Two?")]


def test_every_fault_is_named_with_its_line(tmp_path: Path) -> None:
    """All faults of a file are; a row without a fault is still read."""
    path = tmp_path / "drinks.csv"
    rows = "A b,tea,,x\na,coffee,huge,\na,tea,,x\na,milk,,y\nb,tea,small,x\ntea,tea,,z\n"
    assert faults(DRINKS, path, HEADER + rows) == [
        "2: id is 'A b'; use a-z, 0-9 and _ only",
        "3: kind is 'coffee', not one of tea, milk, both",
        "3: cup is 'huge', neither big nor small",
        "3: text is empty",
        "5: repeats line 4 in id 'a'; change or remove one of the two",
        "6: repeats line 4 in kind 'tea', text 'x'; change or remove one of the two",
        "7: id and kind are the same",
    ]
    assert [row.line for row in DRINKS.valid_rows(path)] == [4, 5, 6, 7]


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    """So is a missing or empty file, unless the table is optional."""
    path = tmp_path / "drinks.csv"
    assert refusal(DRINKS.read, tmp_path).startswith(f"{path}: cannot be read")
    assert NAMES.read(tmp_path) == []
    assert faults(DRINKS, path, HEADER) == ["1: no drink in this file; write a row for each"]
    assert faults(NAMES, tmp_path / "names.csv", "id,name\n") == []
    path.write_text("id,kind\n", encoding="utf-8")
    assert refusal(DRINKS.read, path) == f"{path}:1: the columns must be id,kind,cup,text"
    assert refusal(BY_LANGUAGE.languages, tmp_path) == (
        f"{tmp_path}: no drinks (*.jsonl, one file a language) in this folder"
    )
    assert "nowhere: no such file or folder; name one with --topics" in refusal(
        DRINKS.files, tmp_path / "nowhere"
    )


@modest
@given(content=made_of("id", "kind", "a", "tea", ",", '"', "{", "}", ":", "[", "\n", "\ud800", "9" * 5000))
def test_any_content_is_read_or_refused(content: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """It gives rows and printable findings, or raises UserError."""
    folder = tmp_path_factory.mktemp("any")
    for table, name in ((DRINKS, "drinks.csv"), (BY_LANGUAGE, "en.jsonl")):
        text = HEADER + content if name == "drinks.csv" else content
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        with user_errors():
            assert all(str(item).isprintable() for item in table.check(folder / name))


def read(column: CellType, cell: JSON) -> JSON:
    """The value of a cell, or its fault."""
    try:
        return column(cell)
    except ValueError as error:
        return str(error)


def test_columns_say_what_a_cell_may_be(subtests: pytest.Subtests) -> None:
    """A cell becomes its value, or a fault in words that follow the column's name."""
    slots = tables.template("{a}", "{b}")
    for column, cell, value in (
        (tables.text, "a", "a"),
        (tables.text, " ", "is empty"),
        (tables.text, None, "is missing"),
        (tables.text, 5, "is 5, not a text"),
        (tables.any_text, "", ""),
        (tables.any_text, None, "is missing"),
        (tables.slug, "a_1", "a_1"),
        (tables.slug, "té", "is 'té'; use a-z, 0-9 and _ only"),
        (tables.slug, 3, "is 3; use a-z, 0-9 and _ only"),
        (tables.flag("true", "false"), "true", True),
        (tables.flag("true", "false"), "false", False),
        (tables.flag("true", "false"), "True", "is 'True', neither true nor false"),
        (tables.number, "007", 7),
        *(
            (tables.number, cell, f"is {cell!r}, not a whole number from 1")
            for cell in ("0", "-1", "x", "\u0661")
        ),
        (tables.names, "a;;b", ("a", "b")),
        (tables.names, "", ()),
        (tables.texts, ["a"], ("a",)),
        *((tables.texts, cell, "must be a list of texts") for cell in ("a", [1], [""], None)),
        (slots, "{b}{a}", "{b}{a}"),
        (slots, "{a}{a}{b}", "must have {a} and {b} once each"),
        (tables.optional(tables.number, 4), "", 4),
        (tables.optional(tables.texts, ()), None, ()),
    ):
        with subtests.test(column=column, cell=cell):
            assert read(column, cell) == value


def test_invariants_hold_or_name_the_row(tmp_path: Path) -> None:
    """They find languages that lack rows, and counts that differ too much."""
    must = [parallel("text"), balanced("kind", "tea", "milk", by=["cup"], allowed=1)]

    def broken(*kinds: str) -> list[str]:
        rows = [
            Row(tmp_path / "en.csv", n, {"kind": kind, "cup": "big", "text": n})
            for n, kind in enumerate(kinds)
        ]
        other = Row(tmp_path / "pt.csv", 2, {**rows[0].values, "text": "x"})
        findings = [finding for invariant in must for finding in invariant([*rows, other])]
        return [str(finding).removeprefix(f"{tmp_path}/") for finding in findings]

    assert broken("tea") == []
    assert broken("tea", "milk", "tea", "both") == ["pt.csv:1: pt has 1 rows and en 4; translate every row"]
    assert broken("tea", "tea")[1] == "en.csv:1: kind is not balanced where cup is big: 2 tea, 0 milk"


def test_data_are_recognised_by_half_of_their_tables(tmp_path: Path) -> None:
    """A table is recognised by most of its columns, so that no fault hides what it is."""
    two = Table(file="two.csv", columns={"one": tables.text, "two": tables.text})
    formats = [(DRINKS, two, NAMES)]
    (tmp_path / "drinks.csv").write_text("id,sort,cup,text\n", encoding="utf-8")
    assert tables.recognise(formats, tmp_path) == "yes"
    assert tables.recognise(formats, tmp_path / "drinks.csv") == "part"
    assert tables.recognise([(DRINKS,)], tmp_path / "drinks.csv") == "yes"
    assert tables.recognise([(two, BY_LANGUAGE)], tmp_path) == "no"
    (tmp_path / "drinks.csv").write_text("id,area,en-US\n", encoding="utf-8")
    assert tables.recognise(formats, tmp_path) == "no"
    (tmp_path / "any.txt").write_text("x\n", encoding="utf-8")
    lines = Table(file="*.txt", columns={"text": tables.text})
    assert [tables.recognise([(lines,)], path) for path in (tmp_path, tmp_path / "any.txt")] == [
        "perhaps"
    ] * 2
    assert tables.recognise([(Table(file="any.txt"),)], tmp_path) == "yes"
