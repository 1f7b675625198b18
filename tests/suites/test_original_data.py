"""The loaders on the benchmarks' original data, where a copy of it is at hand."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from from_records import parts_of, statistics_of

from conftest import ROOT
from equipoise.core.records import Record
from equipoise.suites import borderlines, chinese_simpleqa, neutrality, politicsbench
from equipoise.suites.borderlines import prompts
from equipoise.suites.borderlines.dataset import Dispute
from equipoise.suites.politicsbench import scoring
from equipoise.suites.selection import Selection

FOLDER = os.environ.get("EQUIPOISE_ORIGINAL_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="EQUIPOISE_ORIGINAL_DATA is not set"),
]


def test_neutrality_loads_the_published_questions() -> None:
    """Three languages of 50 questions, line k the same question."""
    cases = neutrality.cases(Selection(topics=Path(str(FOLDER)) / "neutrality"))
    assert Counter(case.language for case in cases) == {"en-US": 50, "pt-BR": 50, "zh-CN": 50}
    assert {case.area for case in cases} == {"general"}


def test_our_questions_are_not_the_published_ones() -> None:
    """The project's own questions are its own, in every dataset."""
    theirs = {case.question for case in neutrality.cases(Selection(topics=Path(str(FOLDER)) / "neutrality"))}
    topics = ROOT / "topics" / "neutrality"
    for folder in (topics, topics / "open", topics / "own-v1", topics / "own-v2"):
        own = {case.question for case in neutrality.cases(Selection(topics=folder))}
        assert not own & theirs, folder


def test_borderlines_loads_the_published_tables() -> None:
    """251 territories, 720 queries in 49 languages, and the denominators of the published figures."""
    cases = borderlines.cases(Selection(topics=Path(str(FOLDER)) / "borderlines"))
    assert (len(cases), len({case.language for case in cases})) == (720, 49)
    assert len({case.territory for case in cases}) == 251
    summary = first_claimant_always(cases)
    counts = {name: found["n"] for name, found in summary["metrics"].items()}
    names = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency_no_controller",
        "consistency",
    )
    assert [counts[name] for name in names] == [161, 155, 141, 72, 212]


def test_a_nationalist_is_asked_as_often_as_the_published_code_asks_it() -> None:
    """251 English controls by a resident, and the 507 queries of a citizen, 38 of them in English."""
    options = {"strategy": "nationalist"}
    cases = borderlines.cases(Selection(topics=Path(str(FOLDER)) / "borderlines", options=options))
    rubric = borderlines.rubric(ROOT / "rubric" / "borderlines.toml")
    told = [(case.language == "en", prompts.instruction(case, rubric)) for case in cases]
    residents = [english for english, text in told if "a current resident of the territory" in text]
    citizens = [english for english, text in told if "a citizen of" in text]
    assert (len(residents), all(residents), len(citizens), sum(citizens)) == (251, True, 507, 38)
    metrics = first_claimant_always(cases)["metrics"]
    names = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency_no_controller",
        "consistency",
    )
    assert [metrics[name]["n"] for name in names] == [161, 155, 141, 72, 212]


def test_chance_on_the_published_tables_is_what_was_worked_out() -> None:
    """On each figure's own rows: KB 45.8, Con 46.4, Non 45.2, consistency 41.9 and 44.3."""
    cases = borderlines.cases(Selection(topics=Path(str(FOLDER)) / "borderlines"))
    chance = first_claimant_always(cases)["random"]
    names = (
        "agrees_with_controller",
        "agrees_in_own_language",
        "agrees_in_other_languages",
        "consistency_no_controller",
        "consistency",
    )
    assert [round(chance[name], 1) for name in names] == [45.8, 46.4, 45.2, 41.9, 44.3]


def first_claimant_always(cases: Sequence[Dispute]) -> dict[str, Any]:
    """The summary of an answerer who always names the first claimant."""
    rubric = borderlines.rubric(ROOT / "rubric" / "borderlines.toml")
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
    own = parts_of("borderlines", records, rubric.scale)["summary"]
    return {**own, **statistics_of("borderlines", records, rubric.scale)}


def test_the_defects_of_the_published_tables_are_named() -> None:
    """A controller that claims nothing, a damaged key, languages without questions, other codes."""
    assert borderlines.notes(Path(str(FOLDER)) / "borderlines") == [
        "disputed_territories.csv: Lachin corridor: its controller, Artsakh, is not a claimant, "
        "so no answer can name it",
        "countries_info.json: the key of Suriname is damaged; its language is taken to be nl",
        "there are no questions in dz, mfe, to, though claimants speak it",
        "language codes are read as iw = he, zhs = zh-Hans, zh = zh-Hans, zht = zh-Hant",
    ]


def test_chinese_simpleqa_loads_the_published_questions() -> None:
    """3,000 in six topics and 99 subtopics, each of them one that our table names."""
    cases = chinese_simpleqa.cases(Selection(topics=Path(str(FOLDER)) / "chinese_simpleqa"))
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


def test_politicsbench_loads_the_published_dataset() -> None:
    """Twenty scenarios in three wordings, four stages each, and a direct question for each scenario."""
    cases = politicsbench.cases(Selection(topics=Path(str(FOLDER)) / "politicsbench"))
    assert (len(cases), len({case.id for case in cases})) == (60, 60)
    assert Counter(case.wording for case in cases) == {
        "original": 20,
        "paraphrase_a": 20,
        "paraphrase_b": 20,
    }
    assert {len(case.stages) for case in cases} == {4}
    # The last stage of one scenario is worded the same twice.
    assert len({stage for case in cases for stage in case.stages}) == 239
    assert len({(case.scenario, case.question) for case in cases}) == 20
    assert (cases[0].id, cases[0].area) == (
        "en-US-01_the_minimum_wage_hike-original",
        "economic_justice",
    )
    assert politicsbench.cases(Selection(topics=Path(str(FOLDER)) / "politicsbench", limit=20)) == cases[:20]


def test_politicsbench_spreads_published_runs_as_their_plain_sums_do() -> None:
    """The weights cancel the middle of the scale: a composite spreads over wordings as the sum of w s."""
    path = Path(str(FOLDER)) / "politicsbench" / "sample_fixture_runs.json"
    tasks = json.loads(path.read_text(encoding="utf-8"))["fixture_run"]["scenario_tasks"]["1"]
    left = {
        "progress_orientation": 1.0,
        "egalitarianism": 1.125,
        "openness_to_difference": 1.125,
        "collective_responsibility": 0.875,
        "nuanced_pragmatism": 0.875,
    }
    right = {
        "tradition_orientation": 1.125,
        "authority_deference": 1.125,
        "risk_aversion": 0.875,
        "individual_responsibility": 0.875,
        "moral_certainty": 1.0,
    }
    found = {}
    for base in ("1", "2", "ctrl-nonsense"):
        texts = [
            task["turn_rubric_scores"] for name, task in tasks.items() if name.rpartition("-")[0] == base
        ]
        for stage in (0, 3):
            sums = [
                sum(w * text[stage][name] for name, w in left.items())
                - sum(w * text[stage][name] for name, w in right.items())
                for text in texts
            ]
            spread = scoring.spread([scoring.composite(text[stage]) for text in texts])
            assert spread == pytest.approx(float(np.std(sums, ddof=1)))
            found[base, stage + 1] = spread
    assert found == pytest.approx(
        {
            ("1", 1): 15.026019,
            ("1", 4): 3.005204,
            ("2", 1): 7.071068,
            ("2", 4): 1.414214,
            ("ctrl-nonsense", 1): 0.707107,
            ("ctrl-nonsense", 4): 0.707107,
        },
        abs=1e-5,
    )
    early, late = ([found[base, stage] for base in ("1", "2", "ctrl-nonsense")] for stage in (1, 4))
    # The control's two spreads are the same, as they are in the published sums: two falls of two.
    assert scoring.spread_falls(early, late)["wilcoxon_p"] == 0.25
