"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

from collections import Counter

from original_data import FOLDER, needs_original_data

from equipoise.suites import chinese_simpleqa
from equipoise.suites.selection import Selection

pytestmark = needs_original_data


def test_it_loads_the_published_questions() -> None:
    """3,000 in six topics and 99 subtopics, each of them one that our table names."""
    cases = chinese_simpleqa.SUITE.data.cases(Selection(topics=FOLDER / "chinese_simpleqa"))
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
