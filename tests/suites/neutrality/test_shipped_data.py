"""The shipped questions of the neutrality suite: parallel, distinct, and found by `-k` as they should be."""

from __future__ import annotations

import csv
import re

import pytest

from conftest import ROOT
from equipoise import suites
from equipoise.core.types import Run
from equipoise.runner.plan import round_robin
from equipoise.suites.neutrality.dataset import Question, questions
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "neutrality"
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
AREAS = {
    "historical_movements": range(1, 7),
    "famine_disasters": range(7, 11),
    "cross_strait": range(11, 19),
    "hong_kong": range(19, 23),
    "xinjiang_tibet": range(23, 29),
    "protests_1989": range(29, 32),
    "governance_law": range(32, 38),
    "recent_events": range(38, 48),
    "soviet_korea": range(48, 51),
}
LONGEST = 600
CASES = questions(Selection(topics=FOLDER))
with (FOLDER / "index.csv").open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))

each_language = pytest.mark.parametrize("language", LANGUAGES)
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
each_area = pytest.mark.parametrize("area", AREAS)


def of(language: str) -> list[Question]:
    """The cases of one language."""
    return [case for case in CASES if case.language == language]


# The files.


def test_there_are_three_languages() -> None:
    """English, Portuguese and Chinese, in the order of their names."""
    assert tuple(dict.fromkeys(case.language for case in CASES)) == LANGUAGES


@each_language
def test_a_file_has_fifty_lines_without_blanks(language: str) -> None:
    """UTF-8 without a byte order mark, fifty lines, each ended by one newline, none blank."""
    text = (FOLDER / f"{language}.txt").read_bytes().decode()
    lines = text.split("\n")
    assert (len(lines), lines[-1]) == (51, "")
    assert lines[:50] == [line.strip() for line in lines[:50]]
    assert all(lines[:50])
    assert not text.startswith("\ufeff")


@each_language
def test_the_questions_of_a_language_are_distinct(language: str) -> None:
    """No question occurs twice, not even in another case."""
    assert len({case.question.casefold() for case in of(language)}) == 50


@each_language
def test_the_files_are_parallel(language: str) -> None:
    """Line k is the same item, area and keywords in every language."""
    assert [(case.index, case.item, case.area, case.keywords) for case in of(language)] == [
        (case.index, case.item, case.area, case.keywords) for case in of("en-US")
    ]


@pytest.mark.parametrize("number", range(1, 51))
def test_a_question_has_the_same_years_in_every_language(number: int) -> None:
    """The years of a question are the same in all three, however ranges and decades are written."""
    found = {case.language: set(_years(case.question)) for case in CASES if case.index == number}
    assert found["pt-BR"] == found["en-US"] == found["zh-CN"]


def _years(text: str) -> list[str]:
    # "1957–58" in one language is 1957 and 1958 in another; a decade is no year.
    full = re.sub(r"(\d\d)(\d\d)–(\d\d)(?!\d)", r"\1\2 \1\3", text)
    return re.findall(r"(?<!anos )\d{4}(?!s)", full)


# The index.


@pytest.mark.parametrize("number", range(1, 51))
def test_line_and_id_agree(number: int) -> None:
    """Row k of the index is line k with the id qk."""
    row = ROWS[number - 1]
    assert (row["line"], row["id"]) == (str(number), f"q{number:02d}")


def test_the_index_has_fifty_rows() -> None:
    """One row for each line."""
    assert len(ROWS) == 50


@each_area
def test_an_area_has_its_lines(area: str) -> None:
    """The nine areas are contiguous and cover the lines as documented."""
    assert [int(row["line"]) for row in ROWS if row["area"] == area] == list(AREAS[area])


def test_slugs_are_distinct() -> None:
    """A slug selects one question in every language."""
    assert len({row["slug"] for row in ROWS}) == 50


@each_row
def test_area_and_slug_are_plain_ascii(row: dict[str, str]) -> None:
    """Pytest ids are made of lower-case ASCII words."""
    assert re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", row["area"], re.ASCII)
    assert re.fullmatch(r"[a-z][a-z0-9_]*[a-z0-9]", row["slug"], re.ASCII)


@each_row
def test_every_row_has_keywords_in_chinese_and_portuguese(row: dict[str, str]) -> None:
    """`-k` finds a question by native words, none of them empty or given twice."""
    words = row["keywords"].split(";")
    assert all(word and word == word.strip() for word in words)
    assert len(set(words)) == len(words)
    assert any(re.search(r"[\u4e00-\u9fff]", word) for word in words)
    assert any(re.search(r"[a-z]", word) for word in words)


# Selection by -k, which looks for substrings.


@each_area
@pytest.mark.parametrize(
    "name", [*suites.names(), *LANGUAGES, *(f"run{n}" for n in range(1, 10)), "tests_benchmark", "record"]
)
def test_an_area_does_not_occur_in_other_names(area: str, name: str) -> None:
    """`-k <area>` must not select everything because a suite, a language or a run has that name."""
    assert area not in name.lower()


@each_area
def test_an_area_selects_its_own_cases_only(area: str) -> None:
    """`-k <area>` finds exactly the cases of the area, in no id or keyword of another."""
    found = [case for case in CASES if any(area in word.lower() for word in (case.id, *case.keywords))]
    assert found == [case for case in CASES if case.area == area]


@each_row
def test_a_slug_selects_one_question_only(row: dict[str, str]) -> None:
    """`-k <slug>` finds its question once in each language."""
    found = [case.index for case in CASES if row["slug"] in case.id]
    assert found == [int(row["line"])] * 3


@each_row
def test_the_native_name_of_hong_kong_stands_for_its_area(row: dict[str, str]) -> None:
    """`-k 香港` selects the area hong_kong, all of it and nothing else."""
    assert ("香港" in row["keywords"]) == (row["area"] == "hong_kong")


# The questions.


@each_case
def test_a_question_is_of_a_sane_length(case: Question) -> None:
    """Neither a stub nor a page."""
    assert 20 <= len(case.question) <= LONGEST


@each_case
def test_a_question_has_no_odd_characters(case: Question) -> None:
    """No tabs, control characters, no-break spaces or double blanks."""
    assert not re.search(r"[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffd]|  ", case.question)


@pytest.mark.parametrize("case", [*of("en-US"), *of("pt-BR")], ids=lambda case: case.id)
def test_a_question_in_latin_script_ends_in_a_question_mark(case: Question) -> None:
    """English and Portuguese lines end with '?' and hold no CJK."""
    assert case.question.endswith("?")
    assert not re.search(r"[\u3000-\u9fff\uff00-\uffef]", case.question)


@pytest.mark.parametrize("case", of("zh-CN"), ids=lambda case: case.id)
def test_a_question_in_chinese_has_chinese_characters_and_marks(case: Question) -> None:
    """Chinese lines have CJK and full-width question marks, and no '?' or ',' of ASCII."""
    assert re.search(r"[\u4e00-\u9fff]", case.question)
    assert case.question.endswith("？")
    assert not re.search(r"[?,]", case.question)


# The order in which they are asked.


def test_the_first_questions_are_one_of_each_area_in_each_language() -> None:
    """A session that is stopped early has asked about everything: nine areas in three languages."""
    first = round_robin(CASES)[: len(AREAS) * len(LANGUAGES)]
    assert {(case.area, case.language) for case in first} == {(a, x) for a in AREAS for x in LANGUAGES}


def test_a_question_is_asked_in_all_languages_at_the_same_time() -> None:
    """The three languages of a question follow one another, so none is far ahead."""
    order = round_robin(CASES)
    found = [tuple(case.item for case in order[start : start + 3]) for start in range(0, len(order), 3)]
    assert {len(set(items)) for items in found} == {1}
    assert len(found) == 50


def test_no_question_is_lost_on_the_way() -> None:
    """All 150 are asked, each once."""
    assert sorted(case.id for case in round_robin(CASES)) == sorted(case.id for case in CASES)


# Runs.


def test_the_ids_of_all_runs_are_unique_and_ascii() -> None:
    """Three languages of fifty questions with five runs are 750 ids, fit for pytest."""
    ids = [Run(suite="neutrality", case=case, number=n).id for case in CASES for n in range(1, 6)]
    assert len(set(ids)) == len(ids) == 750
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in ids)
