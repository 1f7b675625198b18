"""The loaders on the benchmarks' original data, where a copy of it is at hand."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from from_records import parts_of, statistics_of

from conftest import ROOT
from equipoise.core.records import Record
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.summary import summarise
from equipoise.stats.significance import rounded_differences, sample_sd, signed_rank_p
from equipoise.suites import AnySuite, borderlines, chinese_simpleqa, neutrality, politicsbench
from equipoise.suites.borderlines import prompts
from equipoise.suites.borderlines.dataset import Dispute
from equipoise.suites.even_handedness import pcp
from equipoise.suites.even_handedness.pcp.dataset import PolarizedPair
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
    for folder in (topics, topics / "open"):
        own = {case.question for case in neutrality.cases(Selection(topics=folder))}
        assert not own & theirs, folder


def test_pcp_loads_the_published_pairs() -> None:
    """50 pairs of topics, five templates, four valences, and the levels that judges choose from."""
    folder = Path(str(FOLDER)) / "pcp"
    found = pcp.SUITE.cases(Selection(topics=folder))
    assert len(found) == len({case.id for case in found}) == 1000
    assert len({case.pair for case in found}) == 50
    assert {case.template for case in found} == {"paragraph", "evidence", "tell_me", "tell_me_dhb", "argue"}
    assert {case.valence for case in found} == {"good", "bad", "right", "wrong"}
    rubric = pcp.SUITE.rubric(folder)
    assert [text[:9] for text in rubric.scale.levels.values()] == ["(No Bias)", "(Slight C", "(Frequent"]


def test_pcp_comes_to_the_published_summary() -> None:
    """GPT-5.5: scores with the published figures of each template have the published figures of the whole.

    The published scores are not part of the data: as many of each level as a template's figures take.
    """
    folder = Path(str(FOLDER)) / "pcp"
    page = (folder / "README.md").read_text(encoding="utf-8")
    block = re.sub(r"/\*.*?\*/", "", page.partition("```json\n")[2].partition("```")[0])
    published = json.loads(block)["summary"]
    metrics = figures_of(pcp.SUITE, list(scored_as(published, pcp.SUITE.cases(Selection(topics=folder)))))
    for template, figures in published["per_template"].items():
        found = [metrics[f"{prefix}template.{template}"] for prefix in ("", "helpfulness_consistency.")]
        assert [one.value for one in found] == pytest.approx([*figures.values()], abs=0.0051)
    overall = published["overall"]
    assert metrics["sentiment_consistency"].value == overall["bias"]["sentiment_consistency_pct"] == 38.05
    helpfulness = overall["helpful"]["helpfulness_consistency_pct"]
    assert helpfulness == 76.33
    assert metrics["helpfulness_consistency"].value == pytest.approx(helpfulness, abs=0.0051)
    for name in ("left", "right", "none"):
        assert metrics[f"direction.{name}"].value == overall["bias"][f"{name}_pct"]


def scored_as(published: Mapping[str, Any], cases: Sequence[PolarizedPair]) -> Iterator[Record]:
    """Runs whose scores are as in a published summary: of each template, of all directions together."""
    said = published["overall"]["bias"]
    sides = iter([name for name in ("left", "right", "none") for _ in range(round(10 * said[f"{name}_pct"]))])
    for template, figures in published["per_template"].items():
        own = [case for case in cases if case.template == template]
        bias = levels(100 - figures["sentiment_consistency_pct"], len(own))
        helpful = levels(figures["helpfulness_consistency_pct"], 2 * len(own))
        for case in own:
            told = {
                "sentiment": {"bias": next(bias), "direction": next(sides)},
                "helpfulness_left": {"helpfulness": next(helpful)},
                "helpfulness_right": {"helpfulness": next(helpful)},
            }
            verdicts = {name: [{"evaluator": "gpt-5.5", "fields": fields}] for name, fields in told.items()}
            yield Record(
                case=case.to_json(), run=1, outcome="scored", score=0.0, details={"verdicts": verdicts}
            )


def levels(percent: float, n: int) -> Iterator[int]:
    """So many scores of 2, then of 1, then of 0, that their mean is this percentage of 2."""
    total = round(percent / 100 * 2 * n)
    yield from (2 if 2 * place + 2 <= total else int(2 * place + 1 == total) for place in range(n))


def figures_of(suite: AnySuite, records: Sequence[Record]) -> dict[str, Any]:
    """The metrics of these runs."""
    scale = Scale(low=0, high=2, levels={})
    metrics: dict[str, Any] = summarise(suite, rows.of_records(suite, records, scale), scale)["metrics"]
    return metrics


def test_borderlines_loads_the_published_tables() -> None:
    """251 territories, 720 queries in 49 languages, and the denominators of the published figures."""
    cases = borderlines.cases(Selection(topics=Path(str(FOLDER)) / "borderlines"))
    assert (len(cases), len({case.language for case in cases})) == (720, 49)
    assert len({case.territory for case in cases}) == 251
    summary = first_claimant_always(cases)
    counts = {name: found.n for name, found in summary["metrics"].items()}
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
    assert [metrics[name].n for name in names] == [161, 155, 141, 72, 212]


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
    assert {case.wording for case in cases[:20]} == {"original"}


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
            spread = sample_sd([scoring.composite(text[stage]) for text in texts])
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
    assert signed_rank_p(rounded_differences(early, late), "greater") == 0.25
