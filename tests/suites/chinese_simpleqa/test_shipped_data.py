"""The project's own questions of fact: how many, of what, and that none gives its answer away."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import Counter
from decimal import Decimal
from functools import cache
from typing import Any

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.chinese_simpleqa.dataset import KINDS, Fact, facts
from equipoise.suites.selection import Selection

FOLDER = ROOT / "topics" / "chinese_simpleqa"
RUBRIC = ROOT / "rubric" / "chinese_simpleqa.toml"
HAN = re.compile(r"[\u4e00-\u9fff]")


@cache
def asked(answer_format: str = "open") -> list[Fact]:
    """All questions, as the suite reads them."""
    return facts(Selection(topics=FOLDER, options={"answer_format": answer_format}))


@cache
def rows() -> list[dict[str, Any]]:
    """All questions, as they stand in the file."""
    lines = (FOLDER / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_there_are_two_questions_for_each_of_99_subtopics() -> None:
    """198 in six topics, of all kinds, numbered by subtopic; each is found by its slug and both names."""
    with (FOLDER / "subtopics.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert (len(table), len({row["topic"] for row in table})) == (99, 6)
    ids = [row["id"] for row in rows()]
    assert sorted(ids) == sorted(f"{row['subtopic']}_{n}" for row in table for n in (1, 2))
    assert [f"{name[:-1]}2" for name in ids[::2]] == ids[1::2]
    assert {fact.kind for fact in asked()} == set(KINDS)
    names = {row["subtopic"]: (row["subtopic"], row["subtopic_name"], row["topic_name"]) for row in table}
    assert [fact.id for fact in asked() if fact.keywords != names[fact.subtopic]] == []


VERSE = re.compile("据《全.+(?:作者是|词人所作)|唱词")
DEATH = re.compile("逝世于何年何月何日？|于何年何月何日(?:去世|逝世)？")


def test_every_question_is_one_in_chinese() -> None:
    """With its mark; names may stand in parentheses as they are written elsewhere."""
    questions = [row["question"] for row in rows()]
    for question in questions:
        letters = [item for item in re.sub("（[^）]*）", "", question) if item.isalpha()]
        assert question.endswith("？")
        assert len(HAN.findall("".join(letters))) > len(letters) / 2, question
    assert sum(bool(VERSE.search(question)) for question in questions) == 7
    assert sum(bool(DEATH.search(question)) for question in questions) == 5
    assert [question for question in questions if "多少条" in question] == []


def test_sources_are_of_questions_that_are_asked() -> None:
    """Each named once, in the order of the questions, with two places or one and a count of our own."""
    lines = (FOLDER / "SOURCES.md").read_text(encoding="utf-8").split("|---|---|\n")[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    names = [name for name, _ in cells]
    assert names == [row["id"] for row in rows() if row["id"] in names]
    assert [name for name, sources in cells if " ; " not in sources] == []


def test_the_place_of_the_answer_says_nothing() -> None:
    """Sorted, it is in no place for more than 40 % of the questions of a kind with ten or more."""
    for kind in KINDS:
        own = [fact for fact in asked("choice") if fact.kind == kind]
        counts = Counter(fact.options.index(fact.accepted[0]) for fact in own)
        assert len(own) < 10 or max(counts.values()) <= 0.4 * len(own), kind


# The examples of the rubric.

EXAMPLE = re.compile("^题目：(.+?)标准答案：(.+)\n((?:- .+\n)+)", re.MULTILINE)


@cache
def graded() -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The question, the reference, and replies with their grades of each example of grading."""
    text = tomllib.loads(RUBRIC.read_text(encoding="utf-8"))["grading"]["system"]
    examples = [match.groups() for match in EXAMPLE.finditer(text)]
    return [
        (question, reference, re.findall("^- “(.+?)。?”→ ([ABC])", replies, re.MULTILINE))
        for question, reference, replies in examples
    ]


def test_examples_are_not_among_the_questions() -> None:
    """Neither those to be continued nor those of grading, which show replies with each of the grades."""
    shots = tomllib.loads(RUBRIC.read_text(encoding="utf-8"))["few_shot"]["examples"]
    examples = [(item["question"], item["answer"]) for item in shots]
    examples += [(question, text) for question, answers, _ in graded() for text in answers.split(" / ")]
    questions = {normal_form(fact.question) for fact in asked()}
    answers = {normal_form(text) for fact in asked() for text in fact.accepted}
    assert (len(graded()), len(examples)) == (7, 13)
    assert [
        pair for pair in examples if normal_form(pair[0]) in questions or normal_form(pair[1]) in answers
    ] == []
    assert Counter(grade for *_, replies in graded() for _, grade in replies) == {"A": 8, "B": 10, "C": 5}


def test_figures_are_graded_by_the_last_digit_that_the_reference_gives() -> None:
    """Final zeros count, in the examples of the rubric and in the anchors: 320 is not 300, nor 90 100."""
    anchors = ROOT / "rubric" / "anchors" / "chinese_simpleqa" / "answers.toml"
    grades = {(reference, reply): grade for _, reference, replies in graded() for reply, grade in replies}
    for answer in tomllib.loads(anchors.read_text(encoding="utf-8"))["answer"]:
        grades[answer["reference"], answer["reply"]] = answer["grade"]
    figures = {
        texts: (grade, numbers)
        for texts, grade in grades.items()
        if len(numbers := _in_one_unit(*texts)) == 2
    }
    assert figures["300分", "320分"][0] == figures["100摄氏度", "90摄氏度"][0] == "B"
    assert len(figures) >= 7
    for texts, (grade, (reference, reply)) in figures.items():
        assert grade == ("A" if reply.quantize(reference) == reference else "B"), texts


def _in_one_unit(*texts: str) -> list[Decimal]:
    """The figures of texts that are a figure and the same unit; none of any others."""
    matches = [re.fullmatch(r"(?:约|大概)?(\d+(?:\.\d+)?)(\D+)", text) for text in texts]
    figures = [match for match in matches if match]
    return [Decimal(match[1]) for match in figures] if len({match[2] for match in figures}) == 1 else []
