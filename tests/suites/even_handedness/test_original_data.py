"""The published data of the benchmark, where a copy of it is at hand."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from original_data import FOLDER, needs_original_data

from conftest import ROOT
from equipoise.core.records import Record
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.results.summary import summarise
from equipoise.suites import even_handedness
from equipoise.suites.even_handedness import pcp
from equipoise.suites.even_handedness.dataset import Pair
from equipoise.suites.even_handedness.pcp.dataset import PolarizedPair
from equipoise.suites.selection import Selection

pytestmark = needs_original_data


def published() -> Sequence[Pair]:
    """All cases of the published dataset."""
    topics = FOLDER / "even_handedness"
    return even_handedness.SUITE.data.cases(Selection(topics=topics, dataset="original"))


def test_the_published_pairs_are_read() -> None:
    """1,350 rows: 150 stance pairs, 9 templates of 7 kinds, 60 topics, 7 categories, 1,179 partisan rows."""
    cases = published()
    assert len(cases) == len({case.id for case in cases}) == 1350
    names = ("pair", "template", "kind", "area", "category")
    assert [len({getattr(case, name) for case in cases}) for name in names] == [150, 9, 7, 60, 7]
    assert sum(case.partisan for case in cases) == 1179
    assert len({(case.pair, case.template) for case in cases}) == 1350


def test_our_pairs_are_not_the_published_ones() -> None:
    """No stance of ours occurs in a published prompt."""
    theirs = [prompt.lower() for case in published() for prompt in (case.prompt_a, case.prompt_b)]
    for path in sorted((ROOT / "topics" / "even_handedness").glob("*/*-*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            ours = [row[f"stance_{side}"].lower() for row in csv.DictReader(file) for side in "ab"]
        assert [text for text in ours if any(text in prompt for prompt in theirs)] == []


def test_pcp_loads_the_published_pairs() -> None:
    """There are 50 pairs of topics, five templates, four valences, and the levels for judges."""
    folder = FOLDER / "pcp"
    cases = pcp.SUITE.data.cases(Selection(topics=folder))
    assert len(cases) == len({case.id for case in cases}) == 1000
    assert len({case.pair for case in cases}) == 50
    assert {case.template for case in cases} == {"paragraph", "evidence", "tell_me", "tell_me_dhb", "argue"}
    assert {case.valence for case in cases} == {"good", "bad", "right", "wrong"}
    rubric = pcp.SUITE.judging.rubric(folder)
    assert [text[:9] for text in rubric.scale.levels.values()] == ["(No Bias)", "(Slight C", "(Frequent"]


def test_pcp_comes_to_the_published_summary() -> None:
    """Scores with GPT-5.5's published figures by template give its published overall figures."""
    folder = FOLDER / "pcp"
    page = (folder / "README.md").read_text(encoding="utf-8")
    block = re.sub(r"/\*.*?\*/", "", page.partition("```json\n")[2].partition("```")[0])
    published = json.loads(block)["summary"]
    records = list(scored_as(published, pcp.SUITE.data.cases(Selection(topics=folder))))
    scale = Scale(low=0, high=2, levels={})
    cells = pcp.SUITE.combine(rows.of_records(pcp.SUITE, records, scale))
    metrics = summarise(pcp.SUITE, cells, scale)["metrics"]
    for template, figures in published["per_template"].items():
        of_template = [metrics[f"{prefix}template.{template}"] for prefix in ("", "helpfulness_consistency.")]
        assert [one.value for one in of_template] == pytest.approx([*figures.values()], abs=0.0051)
    overall = published["overall"]
    assert metrics["sentiment_consistency"].value == overall["bias"]["sentiment_consistency_pct"] == 38.05
    helpfulness = overall["helpful"]["helpfulness_consistency_pct"]
    assert helpfulness == 76.33
    assert metrics["helpfulness_consistency"].value == pytest.approx(helpfulness, abs=0.0051)
    for name in ("left", "right", "none"):
        assert metrics[f"direction.{name}"].value == overall["bias"][f"{name}_pct"]


def scored_as(published: Mapping[str, Any], cases: Sequence[PolarizedPair]) -> Iterator[Record]:
    """Runs whose scores are as in a published summary: of each template, of all directions together."""
    shares = published["overall"]["bias"]
    sides = iter(
        [name for name in ("left", "right", "none") for _ in range(round(10 * shares[f"{name}_pct"]))]
    )
    for template, figures in published["per_template"].items():
        own = [case for case in cases if case.template == template]
        bias = levels(100 - figures["sentiment_consistency_pct"], len(own))
        helpful = levels(figures["helpfulness_consistency_pct"], 2 * len(own))
        for case in own:
            scores = {
                "sentiment": {"bias": next(bias), "direction": next(sides)},
                "helpfulness_left": {"helpfulness": next(helpful)},
                "helpfulness_right": {"helpfulness": next(helpful)},
            }
            verdicts = {name: [{"evaluator": "gpt-5.5", "fields": fields}] for name, fields in scores.items()}
            yield Record(
                case=case.to_json(), run=1, outcome="scored", score=0.0, details={"verdicts": verdicts}
            )


def levels(percent: float, n: int) -> Iterator[int]:
    """So many scores of 2, then of 1, then of 0, that their mean is this percentage of 2."""
    total = round(percent / 100 * 2 * n)
    yield from (2 if 2 * index + 2 <= total else int(2 * index + 1 == total) for index in range(n))
