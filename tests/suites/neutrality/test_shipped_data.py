"""The shipped questions of the neutrality suite: parallel, distinct, and found by `-k` as they should be."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

from conftest import ROOT
from equipoise.suites.neutrality.dataset import Question, questions
from equipoise.suites.selection import WORDING, Selection

FOLDER = ROOT / "topics" / "neutrality"
LANGUAGES = ("en-US", "pt-BR", "zh-CN")
AREAS = {
    "historical_movements": range(1, 6),
    "disasters_health": range(6, 11),
    "cross_strait": range(11, 18),
    "hong_kong": range(18, 22),
    "xinjiang_tibet": range(22, 29),
    "protests": range(29, 33),
    "governance_law": range(33, 39),
    "recent_events": range(39, 44),
    "wars_borders": range(44, 51),
}
DATASETS = ("own", "open")
IDS = [
    *("q01", "q03", "q04", "q05", "q06", "q07", "q08", "q11", "q52", "q61"),
    *("q13", "q62", "q16", "q63", "q64", "q17", "q53", "q54", "q20", "q21"),
    *("q22", "q23", "q24", "q65", "q66", "q67", "q27", "q28", "q56", "q30"),
    *("q31", "q32", "q34", "q35", "q36", "q37", "q68", "q69", "q40", "q41"),
    *("q70", "q71", "q43", "q44", "q45", "q72", "q47", "q60", "q73", "q50"),
]
"""The ids of the lines, in order. An id that was left out does not return with another subject."""


@cache
def cases(dataset: str = "own") -> list[Question]:
    """All cases of a dataset."""
    return questions(Selection(topics=folder(dataset)))


def folder(dataset: str) -> Path:
    """Where the files of a dataset lie."""
    return FOLDER if dataset == "own" else FOLDER / dataset


@cache
def rows() -> list[dict[str, str]]:
    """The rows of the index."""
    with (FOLDER / "index.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# The files.


def test_the_files_are_parallel_and_their_questions_distinct() -> None:
    """Line k has the same item, area and keywords in all files; no question occurs twice."""
    by_file = {
        (language, dataset): [case for case in cases(dataset) if case.language == language]
        for language in LANGUAGES
        for dataset in DATASETS
    }
    first, *others = (
        [(case.index, case.item, case.area, case.keywords, case.embarrasses) for case in cases_of_file]
        for cases_of_file in by_file.values()
    )
    assert others == [first] * 5
    for language in LANGUAGES:
        both = [case.question.casefold() for dataset in DATASETS for case in by_file[language, dataset]]
        assert len(both) == len({*both}) == 100


def test_there_are_rules_of_wording_in_every_language() -> None:
    """Both datasets have them, and lengths."""
    for dataset in DATASETS:
        tables = tomllib.loads((folder(dataset) / WORDING).read_text(encoding="utf-8"))
        by_language = [tables[name] for name in ("avoid", "names", "lengths")] + [*tables["rules"].values()]
        assert [set(table) for table in by_language] == [set(LANGUAGES)] * len(by_language), dataset


CLEAN = {"en-US": r"[^\u3000-\u9fff\uff00-\uffef]+\?", "zh-CN": r"[^?,]*[\u4e00-\u9fff][^?,]*？"}


def test_questions_are_clean_text_in_their_script() -> None:
    """Chinese has full-width marks, and other languages have no CJK characters."""
    for dataset in DATASETS:
        patterns = ((case, CLEAN.get(case.language, CLEAN["en-US"])) for case in cases(dataset))
        assert [case.id for case, clean in patterns if not re.fullmatch(clean, case.question)] == []


# The index.


def test_the_index_describes_fifty_lines_in_nine_areas() -> None:
    """Row k is line k, with an id of its own; areas are as documented."""
    assert [(row["line"], row["id"]) for row in rows()] == [(str(n), id_) for n, id_ in enumerate(IDS, 1)]
    lines = {area: [int(row["line"]) for row in rows() if row["area"] == area] for area in AREAS}
    assert lines == {area: list(numbers) for area, numbers in AREAS.items()}
    for row in rows():
        words = row["keywords"].split(";")
        assert [word.strip() for word in words if word] == [*dict.fromkeys(words)], row["id"]
        assert all(any(re.search(script, word) for word in words) for script in ("[一-鿿]", "[a-z]")), row[
            "id"
        ]
        assert ("香港" in words) == (row["area"] == "hong_kong"), row["id"]


def test_an_area_and_a_slug_select_their_own_cases_only() -> None:
    """Neither is in an id or keyword of another; a slug finds its question once in each language."""
    for area in AREAS:
        selected = [
            case for case in cases() if any(area in word.lower() for word in (case.id, *case.keywords))
        ]
        assert selected == [case for case in cases() if case.area == area], area
    for row in rows():
        assert [case.index for case in cases() if row["slug"] in case.id] == [int(row["line"])] * 3, row["id"]


def test_each_line_says_whom_a_frank_answer_embarrasses() -> None:
    """At least twelve embarrass others than Beijing; the README's table says the same."""
    labels = {row["id"]: row["embarrasses"] for row in rows()}
    counts = Counter(labels.values())
    assert {*counts} == {"beijing", "others", "several", "nobody"}
    assert counts["others"] >= 12
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for label, count in counts.items():
        row = re.search(rf"\| `{label}` \| {count} \|(.*)\|", readme)
        assert row is not None, label
        ids = {key for key, value in labels.items() if value == label} if label != "beijing" else set()
        assert {*re.findall(r"q\d\d", row[1])} == ids
