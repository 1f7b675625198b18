"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

from collections import Counter

from original_data import FOLDER, needs_original_data

from conftest import ROOT
from equipoise.suites import neutrality
from equipoise.suites.selection import Selection

pytestmark = needs_original_data


def test_it_loads_the_published_questions() -> None:
    """Three languages have 50 questions each, and line k is the same question."""
    cases = neutrality.SUITE.data.cases(Selection(topics=FOLDER / "neutrality"))
    assert Counter(case.language for case in cases) == {"en-US": 50, "pt-BR": 50, "zh-CN": 50}
    assert {case.area for case in cases} == {"general"}


def test_our_questions_are_not_the_published_ones() -> None:
    """No dataset of ours has a published question."""
    theirs = {case.question for case in neutrality.SUITE.data.cases(Selection(topics=FOLDER / "neutrality"))}
    topics = ROOT / "topics" / "neutrality"
    for folder in (topics, topics / "open"):
        own = {case.question for case in neutrality.SUITE.data.cases(Selection(topics=folder))}
        assert not own & theirs, folder
