"""The project's own questions of fact: how many, of what, and that none gives its answer away."""

from __future__ import annotations

import csv
import json
import os
import re
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.dataset import KINDS, Fact, facts
from equipoise.suites.chinese_simpleqa.scoring import normal
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "chinese_simpleqa"
FACTS = facts(Selection(topics=FOLDER))
LINES = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LINES]
KEYS = ["id", "subtopic", "question", "answer", "kind", "variants", "distractors"]
with (FOLDER / "subtopics.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))
EXAMPLES = tomllib.loads((ROOT / "rubric" / "chinese_simpleqa.toml").read_text(encoding="utf-8"))["few_shot"][
    "examples"
]
HAN = re.compile(r"[\u4e00-\u9fff]")

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])


def test_there_are_two_questions_for_each_of_99_subtopics() -> None:
    """198 in six topics."""
    counts = Counter(fact.subtopic for fact in FACTS)
    assert (len(FACTS), len(counts), set(counts.values())) == (198, 99, {2})
    assert set(counts) == {row["subtopic"] for row in TABLE}
    assert len({fact.topic for fact in FACTS}) == 6


def test_the_table_names_each_subtopic_once() -> None:
    """Its slug and its two names; slugs fit for ids, each topic's name the same throughout."""
    assert len(TABLE) == 99
    assert len({row["subtopic"] for row in TABLE}) == 99
    assert len({(row["topic_name"], row["subtopic_name"]) for row in TABLE}) == 99
    assert all(re.fullmatch(r"[a-z0-9_]+", row[name]) for row in TABLE for name in ("subtopic", "topic"))
    assert len({(row["topic"], row["topic_name"]) for row in TABLE}) == 6
    assert all(HAN.search(row[name]) for row in TABLE for name in ("subtopic_name", "topic_name"))


def test_questions_are_numbered_within_their_subtopic() -> None:
    """The two stand one behind the other, `_1` before `_2`."""
    for first, second in pairwise(ROWS):
        if second["id"].endswith("_2"):
            assert first["id"] == f"{second['subtopic']}_1"
    assert {row["id"] for row in ROWS} == {f"{row['subtopic']}_{n}" for row in TABLE for n in (1, 2)}


def test_ids_and_questions_are_unique() -> None:
    """Also where only punctuation would tell two questions apart; ids are ASCII."""
    assert len({fact.id for fact in FACTS}) == len(FACTS)
    assert all(fact.id.isascii() for fact in FACTS)
    assert len({normal(fact.question) for fact in FACTS}) == len(FACTS)


def test_every_question_is_of_a_known_kind() -> None:
    """All kinds occur."""
    assert {fact.kind for fact in FACTS} == set(KINDS)


def test_no_fact_is_asked_twice() -> None:
    """Two questions of one subtopic have no answer in common."""
    by_subtopic: dict[str, list[Fact]] = {}
    for fact in FACTS:
        by_subtopic.setdefault(fact.subtopic, []).append(fact)
    for first, second in by_subtopic.values():
        assert not {*map(normal, first.accepted)} & {*map(normal, second.accepted)}, first.id


@each_row
def test_a_question_is_whole(row: dict[str, Any]) -> None:
    """The same keys in the same order, texts without blanks around them, the question in Chinese."""
    assert list(row) == KEYS
    texts = [row["question"], row["answer"], *row["variants"], *row["distractors"]]
    assert texts == [text.strip() for text in texts]
    assert all(texts)
    assert row["question"].endswith("？")
    # Names may stand in parentheses as they are written elsewhere.
    letters = [item for item in re.sub("（[^）]*）", "", row["question"]) if item.isalpha()]
    assert len(HAN.findall("".join(letters))) > len(letters) / 2


@each_row
def test_a_question_does_not_say_its_answer(row: dict[str, Any]) -> None:
    """In none of the accepted spellings."""
    asked = normal(row["question"])
    assert not [text for text in (row["answer"], *row["variants"]) if normal(text) in asked]


@each_row
def test_an_answer_is_accepted_once_and_no_wrong_one_is(row: dict[str, Any]) -> None:
    """Three wrong answers, all different, none of them accepted; no accepted text stands there twice."""
    accepted, wrong = [row["answer"], *row["variants"]], row["distractors"]
    assert len(set(accepted)) == len(accepted)
    assert len({*map(normal, wrong)}) == len(wrong) == 3
    assert not {*map(normal, wrong)} & {*map(normal, accepted)}


@pytest.mark.parametrize("form", ["choice", "shuffled"])
def test_every_question_can_be_a_choice(form: str) -> None:
    """Four options with the answer among them, and not always in the same place."""
    found = facts(Selection(topics=FOLDER, options={"answer_format": form}))
    places = Counter(fact.options.index(fact.accepted[0]) for fact in found)
    assert {len(fact.options) for fact in found} == {4}
    assert len(places) == 4
    assert max(places.values()) < len(found) / 2


def test_the_place_of_the_answer_says_nothing() -> None:
    """Sorted, it stands in no place for more than 40 % of the questions of a kind with ten or more.

    Numbers sort as texts; by value it is the smallest, the greatest or between as evenly.
    """
    places: dict[str, Counter[int]] = {}
    ranks: Counter[int] = Counter()
    for fact, row in zip(
        facts(Selection(topics=FOLDER, options={"answer_format": "choice"})), ROWS, strict=True
    ):
        places.setdefault(str(fact.kind), Counter())[fact.options.index(fact.accepted[0])] += 1
        if fact.kind == "number":
            value, *others = (_number(text) for text in (row["answer"], *row["distractors"]))
            ranks[sum(other < value for other in others)] += 1
    assert ranks.total() >= 10
    for kind, found in {**places, "number by value": ranks}.items():
        assert found.total() < 10 or max(found.values()) <= 0.4 * found.total(), (kind, found)


def _number(text: str) -> tuple[int, ...]:
    """The whole numbers in an option, which sort as the option does."""
    return tuple(map(int, re.findall(r"\d+", text)))


def _pairs(text: str) -> set[str]:
    return {first + second for first, second in pairwise(normal(text))}


SAME_BY_CHANCE = {
    # Founded in the same year as a body of another kind.
    *("chinese_martial_arts_2", "photography_2"),
    # Who founded the firm; there it is asked who thought of its matrix.
    "management_1",
}
SHARED_PAIRS = 5


@pytest.mark.skipif("EQUIPOISE_ORIGINAL_DATA" not in os.environ, reason="EQUIPOISE_ORIGINAL_DATA is not set")
def test_no_question_asks_what_a_published_one_asks() -> None:
    """None has both the answer of a published one and five or more pairs of characters of its question."""
    published = facts(Selection(topics=Path(os.environ["EQUIPOISE_ORIGINAL_DATA"]) / "chinese_simpleqa"))
    assert len(published) == 3000
    by_answer: dict[str, list[Fact]] = {}
    for fact in published:
        by_answer.setdefault(normal(fact.accepted[0]), []).append(fact)
    alike = {
        fact.item
        for fact in FACTS
        for other in (item for text in fact.accepted for item in by_answer.get(normal(text), ()))
        if len(_pairs(fact.question) & _pairs(other.question)) >= SHARED_PAIRS
    }
    assert alike == SAME_BY_CHANCE


def test_examples_are_not_among_the_questions() -> None:
    """Neither their questions nor their answers are those of a question that is asked."""
    asked = {normal(fact.question) for fact in FACTS}
    answers = {normal(text) for fact in FACTS for text in fact.accepted}
    assert len(EXAMPLES) >= 3
    for example in EXAMPLES:
        assert normal(example["question"]) not in asked
        assert normal(example["answer"]) not in answers


def test_cases_are_plain_data() -> None:
    """Every one can be written as JSON."""
    json.dumps([fact.to_json() for fact in FACTS], allow_nan=False)


def test_topics_are_found_by_word_and_by_slug() -> None:
    """Each question by its subtopic's slug and name, and by its topic's name."""
    names = {row["subtopic"]: row for row in TABLE}
    for fact in FACTS:
        row = names[fact.subtopic]
        assert fact.keywords == (row["subtopic"], row["subtopic_name"], row["topic_name"])
