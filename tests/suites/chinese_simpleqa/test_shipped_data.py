"""The project's own questions of fact: how many, of what, and that none gives its answer away."""

from __future__ import annotations

import csv
import json
import os
import re
import tomllib
from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.chinese_simpleqa.dataset import KINDS, Fact, facts
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "chinese_simpleqa"
HAN = re.compile(r"[\u4e00-\u9fff]")


@cache
def asked() -> list[Fact]:
    """All questions, as the suite reads them."""
    return facts(Selection(topics=FOLDER))


@cache
def rows() -> list[dict[str, Any]]:
    """All questions, as they stand in the file."""
    return [
        json.loads(line) for line in (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@cache
def table() -> list[dict[str, str]]:
    """The rows of the table of subtopics."""
    with (FOLDER / "subtopics.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_there_are_two_questions_for_each_of_99_subtopics() -> None:
    """198 in six topics, of all kinds, with ids and questions of their own; punctuation tells none apart."""
    counts = Counter(fact.subtopic for fact in asked())
    assert (len(asked()), len(counts), set(counts.values())) == (198, 99, {2})
    assert set(counts) == {row["subtopic"] for row in table()}
    assert len({fact.topic for fact in asked()}) == 6
    assert {fact.kind for fact in asked()} == set(KINDS)
    assert len({fact.id for fact in asked()}) == len({normal_form(fact.question) for fact in asked()}) == 198
    assert all(fact.id.isascii() for fact in asked())
    json.dumps([fact.to_json() for fact in asked()], allow_nan=False)


def test_questions_are_numbered_and_named_by_their_subtopic() -> None:
    """`_1` stands before `_2`; each is found by its subtopic's slug and name, and by its topic's name."""
    for first, second in pairwise(rows()):
        assert not second["id"].endswith("_2") or first["id"] == f"{second['subtopic']}_1"
    assert {row["id"] for row in rows()} == {f"{row['subtopic']}_{n}" for row in table() for n in (1, 2)}
    names = {row["subtopic"]: (row["subtopic"], row["subtopic_name"], row["topic_name"]) for row in table()}
    assert [fact.id for fact in asked() if fact.keywords != names[fact.subtopic]] == []


def test_every_question_is_one_in_chinese() -> None:
    """With its mark; names may stand in parentheses as they are written elsewhere."""
    for row in rows():
        letters = [item for item in re.sub("（[^）]*）", "", row["question"]) if item.isalpha()]
        assert row["question"].endswith("？"), row["id"]
        assert len(HAN.findall("".join(letters))) > len(letters) / 2, row["id"]


VERSE = re.compile("据《全.+(?:作者是|词人所作)|唱词")
DEATH = re.compile("(?:逝世于|于)何年何月何日(?:去世|逝世)?？")


def test_few_questions_ask_for_what_hardly_any_model_knows() -> None:
    """Seven about the author of a verse, five about the day of a death, none about a count of articles."""
    questions = [row["question"] for row in rows()]
    assert sum(bool(VERSE.search(question)) for question in questions) == 7
    assert [question for question in questions if "多少条" in question] == []
    deaths = [question for question in questions if DEATH.search(question) and "世" in question[-14:]]
    assert len(deaths) == 5


def test_sources_are_of_questions_that_are_asked() -> None:
    """Each named once, in the order of the questions, with two places or one and a count of our own."""
    lines = (FOLDER / "SOURCES.md").read_text(encoding="utf-8").split("|---|---|\n")[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    ids = [row["id"] for row in rows()]
    assert [name for name, _ in cells] == [name for name in ids if name in {name for name, _ in cells}]
    assert [name for name, sources in cells if " ; " not in sources] == []


def test_the_place_of_the_answer_says_nothing() -> None:
    """Sorted, it stands in no place for more than 40 % of the questions of a kind with ten or more.

    Numbers sort as texts; by value it is the smallest, the greatest or between as evenly. Shuffled, it stands
    in every place, in none for half of the questions.
    """
    places: dict[str, Counter[int]] = {}
    ranks: Counter[int] = Counter()
    offered = facts(Selection(topics=FOLDER, options={"answer_format": "choice"}))
    for fact, row in zip(offered, rows(), strict=True):
        places.setdefault(str(fact.kind), Counter())[fact.options.index(fact.accepted[0])] += 1
        if fact.kind == "number":
            value, *others = (_number(text) for text in (row["answer"], *row["distractors"]))
            ranks[sum(other < value for other in others)] += 1
    assert ranks.total() >= 10
    for kind, found in {**places, "number by value": ranks}.items():
        assert found.total() < 10 or max(found.values()) <= 0.4 * found.total(), (kind, found)
    shuffled = facts(Selection(topics=FOLDER, options={"answer_format": "shuffled"}))
    for form in (offered, shuffled):
        assert {len(fact.options) for fact in form} == {4}
        counts = Counter(fact.options.index(fact.accepted[0]) for fact in form)
        assert len(counts) == 4
        assert max(counts.values()) < len(form) / 2


def _number(text: str) -> tuple[int, ...]:
    """The whole numbers in an option, which sort as the option does."""
    return tuple(map(int, re.findall(r"\d+", text)))


def _pairs(text: str) -> set[str]:
    return {first + second for first, second in pairwise(normal_form(text))}


SHARED_PAIRS = 5


@pytest.mark.skipif("EQUIPOISE_ORIGINAL_DATA" not in os.environ, reason="EQUIPOISE_ORIGINAL_DATA is not set")
def test_no_question_asks_what_a_published_one_asks() -> None:
    """None has both the answer of a published one and five or more pairs of characters of its question."""
    published = facts(Selection(topics=Path(os.environ["EQUIPOISE_ORIGINAL_DATA"]) / "chinese_simpleqa"))
    assert len(published) == 3000
    by_answer: dict[str, list[Fact]] = {}
    for fact in published:
        by_answer.setdefault(normal_form(fact.accepted[0]), []).append(fact)
    alike = {
        fact.item
        for fact in asked()
        for other in (item for text in fact.accepted for item in by_answer.get(normal_form(text), ()))
        if len(_pairs(fact.question) & _pairs(other.question)) >= SHARED_PAIRS
    }
    assert alike == set()


def test_examples_are_not_among_the_questions() -> None:
    """Neither those to be continued nor those of grading: their questions and answers are not asked for."""
    rubric = tomllib.loads((ROOT / "rubric" / "chinese_simpleqa.toml").read_text(encoding="utf-8"))
    graded = re.findall("^题目：(.+？)标准答案：(.+)$", rubric["grading"]["system"], re.MULTILINE)
    examples = [(item["question"], item["answer"]) for item in rubric["few_shot"]["examples"]]
    examples += [(question, text) for question, answers in graded for text in answers.split(" / ")]
    questions = {normal_form(fact.question) for fact in asked()}
    answers = {normal_form(text) for fact in asked() for text in fact.accepted}
    assert (len(graded), len(examples)) == (7, 13)
    assert [
        pair for pair in examples if normal_form(pair[0]) in questions or normal_form(pair[1]) in answers
    ] == []


def test_the_rubric_shows_every_grade_by_examples() -> None:
    """Replies to the same question with each of the three letters."""
    rubric = tomllib.loads((ROOT / "rubric" / "chinese_simpleqa.toml").read_text(encoding="utf-8"))
    found = Counter(re.findall("^- “.+”→ ([ABC])", rubric["grading"]["system"], re.MULTILINE))
    assert found == {"A": 8, "B": 10, "C": 5}


def test_figures_are_graded_by_the_last_digit_that_the_reference_gives() -> None:
    """Final zeros count, in the examples of the rubric and in the anchors: 320 is not 300, nor 90 100."""
    rubric = (ROOT / "rubric" / "chinese_simpleqa.toml").read_text(encoding="utf-8")
    anchors = ROOT / "rubric" / "anchors" / "chinese_simpleqa" / "answers.toml"
    graded = [
        (answer["reference"], answer["reply"], answer["grade"])
        for answer in tomllib.loads(anchors.read_text(encoding="utf-8"))["answer"]
    ]
    for example in re.finditer("^题目：.+标准答案：(.+)\n((?:- .+\n)+)", rubric, re.MULTILINE):
        shown = re.findall("^- “(.+?)。?”→ ([ABC])", example[2], re.MULTILINE)
        graded += [(example[1], reply, grade) for reply, grade in shown]
    figures = {
        (reference, reply): (grade, *numbers)
        for reference, reply, grade in graded
        if len(numbers := _in_one_unit(reference, reply)) == 2
    }
    assert figures["300分", "320分"][0] == figures["100摄氏度", "90摄氏度"][0] == "B"
    assert len(figures) >= 7
    for texts, (grade, reference, reply) in figures.items():
        assert grade == ("A" if reply.quantize(reference) == reference else "B"), texts


def _in_one_unit(*texts: str) -> list[Decimal]:
    """The figures of texts that are a figure and the same unit; none of any others."""
    found = [re.fullmatch(r"(?:约|大概)?(\d+(?:\.\d+)?)(\D+)", text) for text in texts]
    figures = [match for match in found if match]
    return [Decimal(match[1]) for match in figures] if len({match[2] for match in figures}) == 1 else []
