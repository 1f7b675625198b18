"""The loaders on the benchmarks' original data, where a copy of it is at hand."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from equipoise.suites import neutrality
from equipoise.topics import Selection

FOLDER = os.environ.get("EQUIPOISE_ORIGINAL_DATA")
needs_original_data = pytest.mark.skipif(not FOLDER, reason="EQUIPOISE_ORIGINAL_DATA is not set")


@needs_original_data
def test_neutrality_loads_the_published_questions() -> None:
    """Three languages of 50 questions, line k the same question."""
    cases = neutrality.cases(Selection(topics=Path(str(FOLDER)) / "neutrality"))
    assert Counter(case.language for case in cases) == {"en-US": 50, "pt-BR": 50, "zh-CN": 50}
    assert {case.area for case in cases} == {"general"}


@needs_original_data
def test_our_questions_are_not_the_published_ones() -> None:
    """The project's own questions are its own."""
    theirs = {case.question for case in neutrality.cases(Selection(topics=Path(str(FOLDER)) / "neutrality"))}
    root = Path(__file__).resolve().parent.parent
    own = {case.question for case in neutrality.cases(Selection(topics=root / "topics" / "neutrality"))}
    assert not own & theirs
