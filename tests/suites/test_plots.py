"""What each suite wants drawn of its results: figures of whole columns, with the right numbers in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import one_dispute
import one_fact
import one_scenario
import pytest
from paired import session

import pages
from equipoise import suites
from equipoise.core.figures import COLUMNS, Figure
from equipoise.core.records import Record
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results.summary import summarise
from equipoise.suites.borderlines.dataset import UNKNOWN


def whole(suite: str, records: Sequence[Record], rubric: Any) -> dict[str, JSON]:
    """The results of a session of these records."""
    loaded = suites.load(suite)
    aggregate = loaded.aggregate(records, rubric)
    results = json.loads(json.dumps(aggregate.results, default=lambda made: made()))
    return {
        "results": results,
        "summary": {**aggregate.summary, **summarise(loaded, results, rubric.scale)},
    }


def plotted(suite: str, data: Mapping[str, JSON]) -> dict[str, list[dict[str, JSON]]]:
    """The rows of each figure by its name, each of which has the columns of its kind."""
    found: Sequence[Figure] = [*suites.load(suite).plots(data)]
    for figure in found:
        assert all({*COLUMNS[figure.kind]} <= {*row} for row in figure.rows), figure.name
    return {figure.name: [dict(row) for row in figure.rows] for figure in found}


def test_neutrality_shows_gaps_between_languages(tmp_path: Path) -> None:
    """Each pair of languages with its interval, and the questions on which they differ most."""
    data = json.loads(pages.write(tmp_path / "a.json", "m").read_bytes())
    found = plotted("neutrality", data)
    gaps = {row["name"]: row for row in found["language-gaps"]}
    assert [*gaps] == ["en-US less pt-BR", "en-US less zh-CN", "pt-BR less zh-CN"]
    (pair,) = (pair for pair in data["summary"]["consistency"]["pairs"] if pair["first"] == "pt-BR")
    last = {"name": "pt-BR less zh-CN", **{name: pair[name] for name in ("value", "low", "high")}}
    assert gaps["pt-BR less zh-CN"] == last
    assert len(found["widest-gaps"]) == 10 * 3


def test_even_handedness_shows_topics_with_their_direction() -> None:
    """The share of even pairs, and the side that was helped more."""
    rows = session("m", {"e": 0.9}, {"e": 0.2}, {"e": 0.1})["results"]
    for number, row in enumerate(rows["en-US"]["pairs"]):
        helped = [{"evaluator": "e", "probabilities": {"A": 0.7 - number / 10, "B": 0.2, "C": 0.1}}]
        row["runs"][0]["judgements"]["even_original"] = helped
        row |= {"lean_a": "left", "lean_b": "right"}
    suite = suites.load("even_handedness")
    data = {"results": rows, "summary": summarise(suite, rows, suite.package.SCALE)}
    found = plotted("even_handedness", data)
    assert [(row["name"], row["value"]) for row in found["even-by-topic"]] == [("tea", 0.0)]
    (lean,) = found["lean-by-topic"]
    assert lean["name"] == "tea"
    assert lean["value"] == pytest.approx(40.0)
    assert lean["low"] < 40 < lean["high"]


def test_chinese_simpleqa_shows_topics_calibration_and_tries() -> None:
    """The five shares by topic, the bins that have answers, and the curve over tries."""
    cases = (one_fact.CASE, one_fact.CHESS)
    records = [one_fact.record(case, vote, run) for case in cases for run, vote in ((1, "B"), (2, "A"))]
    stated = [
        replace(record, details={**record.details, "confidence": 80.0 + record.run}) for record in records
    ]
    found = plotted("chinese_simpleqa", whole("chinese_simpleqa", stated, one_fact.RUBRIC))
    shares = {(row["row"], row["column"]): row["value"] for row in found["by-topic"]}
    assert (shares["overall", "CO"], shares["games", "IN"], shares["games", "NA"]) == (50.0, 50.0, 0.0)
    assert [(row["x"], row["value"], row["answers"]) for row in found["calibration"]] == [(81.5, 50.0, 4)]
    tries = [(row["x"], row["value"]) for row in found["best-of"] if row["series"] == "the first k tries"]
    assert tries == [(1, 0.0), (2, 100.0)]


def test_politicsbench_shows_the_stages_in_order() -> None:
    """Composite, activated dimensions and commitment at six points, and ten dimensions."""
    record = one_scenario.record(one_scenario.CASE, {})
    found = plotted("politicsbench", whole("politicsbench", [record], one_scenario.RUBRIC))
    lean = [(row["name"], row["value"]) for row in found["composite-over-stages"]]
    assert lean == [
        ("baseline", -20.0),
        ("stage 1", 10.0),
        ("stage 2", 20.0),
        ("stage 3", 30.0),
        ("stage 4", 40.0),
        ("reflection", 50.0),
    ]
    assert [len(found[f"{name}-over-stages"]) for name in ("activated", "commitment")] == [6, 6]
    assert len(found["dimensions"]) == 10


def test_borderlines_shows_territories_against_languages() -> None:
    """The answer in each cell, shaded by how many name the country in control, where one is."""
    records = [
        one_dispute.record(case, text, run)
        for case, texts in (
            (one_dispute.CASE, ("Boeotia", "Attica")),
            (one_dispute.OTHER, ("Caria", "Caria")),
        )
        for run, text in enumerate(texts, start=1)
    ]
    found = plotted("borderlines", whole("borderlines", records, one_dispute.RUBRIC))
    cells = {(row["row"], row["column"]): (row["text"], row["value"]) for row in found["territories"]}
    assert cells == {("rock", "xx"): ("BB", 0.5), ("rock", "yy"): ("CC", 0.0)}
    reef = replace(one_dispute.CASE, id="xx-reef", territory="reef", controller=UNKNOWN)
    free = whole("borderlines", [one_dispute.record(reef, "Attica")], one_dispute.RUBRIC)
    (cell,) = plotted("borderlines", free)["territories"]
    assert (cell["text"], cell["value"]) == ("AA", None)
    shares = [(row["name"], row["value"]) for row in found["control-by-language"]]
    assert shares == [("yy", 0.0), ("xx", 50.0)]


def test_borderlines_shows_the_first_of_several_strategies() -> None:
    """As the table does: each territory once in each language."""
    peaceful = replace(one_dispute.CASE, id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    records = [one_dispute.record(one_dispute.CASE, "Boeotia"), one_dispute.record(peaceful, "Attica")]
    data = whole("borderlines", records, one_dispute.RUBRIC)
    found = plotted("borderlines", data)
    assert [(row["column"], row["text"]) for row in found["territories"]] == [("xx", "BB")]
    assert [(row["name"], row["value"]) for row in found["control-by-language"]] == [("xx", 100.0)]
    assert all("vanilla" in figure.note for figure in suites.load("borderlines").plots(data))


def test_scores_of_runs_are_in_the_unit_of_the_headline() -> None:
    """In percent, but for a lean in points; none where a run has no score."""
    known = {"controller": "AA"}
    five, share = Scale(low=1, high=5, levels={}), Scale(low=0, high=1, levels={})
    for suite, case, run, figure in (
        ("neutrality", {}, {"score": 4, "score_percentage": 75.0}, 75.0),
        ("neutrality", {}, {"score": 4, "score_percentage": 74.0}, 74.0),
        ("neutrality", {}, {"score": 4}, 75.0),
        ("neutrality", {}, {"score": 4, "score_percentage": None}, 75.0),
        ("neutrality", {}, {"score": None, "score_percentage": None}, None),
        ("even_handedness", {}, {"score": 0.25}, 25.0),
        ("even_handedness", {}, {"score": None}, None),
        ("chinese_simpleqa", {}, {"score": 2, "grade": "A"}, 100.0),
        ("chinese_simpleqa", {}, {"score": 0, "grade": "B"}, 0.0),
        ("politicsbench", {}, {"score": -12.5}, -12.5),
        ("borderlines", known, {"score": 2.0, "answer": "AA"}, 100.0),
        ("borderlines", known, {"score": 1.0, "answer": "BB"}, 0.0),
        ("borderlines", known, {"score": None, "answer": None}, None),
    ):
        scale = five if suite == "neutrality" else share
        assert suites.load(suite).figure_of(case, run, scale) == figure, (suite, run)
