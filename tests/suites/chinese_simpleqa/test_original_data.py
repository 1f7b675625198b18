"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from original_data import FOLDER, needs_original_data

from conftest import ROOT
from equipoise.suites.chinese_simpleqa.answers import normal_form
from equipoise.suites.chinese_simpleqa.dataset import Fact, facts
from equipoise.suites.selection import Selection

pytestmark = needs_original_data
SHARED_PAIRS = 5
"""Pairs of characters from which on two questions with the same answer are alike."""


def published() -> Sequence[Fact]:
    """The published questions."""
    return facts(Selection(topics=FOLDER / "chinese_simpleqa"))


def test_it_loads_the_published_questions() -> None:
    """3,000 in six topics and 99 subtopics, each of them one that our table names."""
    cases = published()
    assert (len(cases), len({case.id for case in cases})) == (3000, 3000)
    assert len({case.subtopic for case in cases}) == 99
    assert Counter(case.topic for case in cases) == {
        "chinese_culture": 326,
        "humanities": 609,
        "engineering": 481,
        "life_and_arts": 601,
        "society": 453,
        "natural_science": 530,
    }
    assert {case.keywords[-1] for case in cases if case.topic == "chinese_culture"} == {"中华文化"}


def pairs(text: str) -> set[str]:
    """The pairs of characters of a text."""
    return {first + second for first, second in pairwise(normal_form(text))}


def test_no_question_of_ours_asks_what_a_published_one_asks() -> None:
    """None has both the answer of a published one and five or more pairs of characters of its question."""
    by_answer: dict[str, list[Fact]] = {}
    for fact in published():
        by_answer.setdefault(normal_form(fact.accepted[0]), []).append(fact)
    ours = facts(Selection(topics=ROOT / "topics" / "chinese_simpleqa"))
    assert [
        fact.item
        for fact in ours
        for other in (item for text in fact.accepted for item in by_answer.get(normal_form(text), ()))
        if len(pairs(fact.question) & pairs(other.question)) >= SHARED_PAIRS
    ] == []
