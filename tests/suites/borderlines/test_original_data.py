"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from from_records import parts_of, statistics_of
from original_data import FOLDER, needs_original_data

from conftest import ROOT
from equipoise.core.records import Record
from equipoise.suites import borderlines
from equipoise.suites.borderlines import prompts
from equipoise.suites.borderlines.dataset import Query
from equipoise.suites.borderlines.published_tables import OWN_CODES
from equipoise.suites.resources import known_defects
from equipoise.suites.selection import Selection

pytestmark = needs_original_data
NAMES = (
    *("agrees_with_controller", "agrees_in_own_language", "agrees_in_other_languages"),
    *("consistency_no_controller", "consistency"),
)


def published(**options: str) -> Sequence[Query]:
    """The published queries."""
    return borderlines.SUITE.data.cases(Selection(topics=FOLDER / "borderlines", options=options))


def first_claimant_always(cases: Sequence[Query]) -> dict[str, Any]:
    """The summary of an answerer who always names the first claimant."""
    scale = borderlines.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml").scale
    records = [
        Record(
            case=case.to_json(),
            run=1,
            outcome="scored",
            score=1.0,
            details={"answer": case.claimants[0], "how": "name", "original": case.claimants[0]},
        )
        for case in cases
    ]
    own = parts_of("borderlines", records, scale)["summary"]
    return {**own, **statistics_of("borderlines", records, scale)}


def test_it_loads_the_published_tables() -> None:
    """There are 251 territories and 720 queries in 49 languages; the denominators are the published ones."""
    cases = published()
    assert (len(cases), len({case.language for case in cases})) == (720, 49)
    assert len({case.territory for case in cases}) == 251
    summary = first_claimant_always(cases)
    assert [summary["metrics"][name].n for name in NAMES] == [161, 155, 141, 72, 212]
    assert [round(summary["random"][name], 1) for name in NAMES] == [45.8, 46.4, 45.2, 41.9, 44.3]


def test_a_nationalist_is_asked_as_often_as_the_published_code_asks_it() -> None:
    """A resident is asked 251 English controls; a citizen is asked 507 queries, 38 in English."""
    cases = published(strategy="nationalist")
    rubric = borderlines.SUITE.judging.rubric(ROOT / "rubric" / "borderlines.toml")
    instructions = [(case.language == "en", prompts.instruction(case, rubric)) for case in cases]
    residents = [english for english, text in instructions if "a current resident of the territory" in text]
    citizens = [english for english, text in instructions if "a citizen of" in text]
    assert (len(residents), all(residents), len(citizens), sum(citizens)) == (251, True, 507, 38)
    metrics = first_claimant_always(cases)["metrics"]
    assert [metrics[name].n for name in NAMES] == [161, 155, 141, 72, 212]


def test_the_defects_of_the_published_tables_are_named() -> None:
    """One controller claims nothing, a key is damaged, languages lack questions, and codes differ."""
    folder = FOLDER / "borderlines"
    named = known_defects("borderlines", folder, ROOT)
    cases = borderlines.SUITE.data.cases(Selection(topics=folder, dataset="original"))
    outside = {case.controller for case in cases} - {name for case in cases for name in case.claimants}
    silent = {case.speaks.get(name) for case in cases for name in case.claimants}
    silent -= {case.language for case in cases}
    assert outside - {"unknown"} == {"Artsakh"}
    assert "its controller, Artsakh, is not a claimant" in named[0]
    assert f"there are no questions in {', '.join(sorted(filter(None, silent)))}, though" in named[2]
    assert named[3].endswith(", ".join(f"{old} = {new}" for old, new in OWN_CODES.items()))
    assert len(named) == 4
    assert known_defects("borderlines", ROOT / "topics" / "borderlines", ROOT) == ()
