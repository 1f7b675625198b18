"""Guards against spreadsheets: what gets one, and that the exact text comes back."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from formulas import BEFORE, PLAIN, SIGNS, calculated, formulas
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from equipoise.core.files import table_text
from equipoise.core.spreadsheet import add_guards, remove_guards

QUOTE = '"'
TEXTS = st.text(st.sampled_from([*SIGNS, *chain.from_iterable(BEFORE), ";", ",", "a"])) | st.text()


def test_no_cell_is_calculated() -> None:
    """Whatever hides the formula, and at whichever separator a spreadsheet splits."""
    texts = [*formulas()]
    without = [f'a,"{text.replace(QUOTE, 2 * QUOTE)}"\n' for text in texts if "'" not in text]
    assert sum(bool(calculated(line)) for line in without) > len(without) * 0.8
    assert calculated(table_text([[text, "b"] for text in texts])) == []
    assert calculated(table_text([["a", text] for text in texts])) == []


def test_every_writer_of_csv_has_guards() -> None:
    """Only these two files write any: rows of texts, and tables of runs."""
    writes = re.compile(r"csv\.(writer|DictWriter)|write_csv|to_csv|def _csv")
    package = ROOT / "equipoise"
    writers = {path for path in package.rglob("*.py") if writes.search(path.read_text(encoding="utf-8"))}
    assert writers == {package / "core" / "files.py", package / "results" / "table.py"}


def test_other_texts_stay_as_they_are() -> None:
    """Apostrophes, too, and lists of negative numbers."""
    for text in PLAIN:
        assert add_guards(text) == remove_guards(text) == text


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_exact_text_comes_back(text: str) -> None:
    """Also one that has an apostrophe in a guard's place."""
    assert remove_guards(add_guards(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1", "'=1"),
        ("'=1", "''=1"),
        (" \u202e＝1", "' \u202e＝1"),
        ("\tx", "'\tx"),
        ("a;=1", "a;'=1"),
        ("list:\n- a\n- b", "list:\n'- a\n'- b"),
    ],
)
def test_a_guard_stands_where_a_cell_could_begin(text: str, expected: str) -> None:
    """Before all that cannot be seen, and once more where there is an apostrophe already."""
    assert add_guards(text) == expected
