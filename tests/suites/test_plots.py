"""What each suite wants drawn of its results: figures of whole columns, with the right numbers in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import one_dispute
import one_fact
import one_scenario
import paired
import pytest
from from_records import parts_of, statistics_of

import pages
from equipoise import suites
from equipoise.core.records import Choice, Record
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results import rows
from equipoise.suites.borderlines.dataset import UNKNOWN
from equipoise.suites.plots import COLUMNS, Plot


def whole(suite: str, records: Sequence[Record], scale: Scale) -> dict[str, JSON]:
    """The results of a session of these records."""
    parts = parts_of(suite, records, scale)
    return {**parts, "summary": {**parts["summary"], **statistics_of(suite, records, scale)}}


def drawn(suite: str, data: Mapping[str, JSON]) -> Sequence[Plot]:
    """The figures of these results."""
    loaded, made = suites.load(suite), rows.of_json(data["results"])
    return [*loaded.plots(data["summary"], made, loaded.combine(made))]


def plotted(suite: str, data: Mapping[str, JSON]) -> dict[str, list[dict[str, JSON]]]:
    """The rows of each figure by its name, each of which has the columns of its kind."""
    found = drawn(suite, data)
    for figure in found:
        assert all({*COLUMNS[figure.kind]} <= {*row} for row in figure.rows), figure.name
    return {figure.name: [dict(row) for row in figure.rows] for figure in found}


def test_neutrality_shows_gaps_between_languages(tmp_path: Path) -> None:
    """Each pair of languages with its interval, and the questions on which they differ most."""
    data = json.loads(pages.write(tmp_path / "a.json", "m").read_bytes())
    found = plotted("neutrality", data)
    gaps = {row["name"]: row for row in found["language-gaps"]}
    assert [*gaps] == ["en-US - pt-BR", "en-US - zh-CN", "pt-BR - zh-CN"]
    (pair,) = (pair for pair in data["summary"]["consistency"]["pairs"] if pair["first"] == "pt-BR")
    last = {"name": "pt-BR - zh-CN", **{name: pair[name] for name in ("value", "low", "high")}}
    assert gaps["pt-BR - zh-CN"] == last
    (figure,) = (figure for figure in drawn("neutrality", data) if figure.name == "language-gaps")
    assert figure.open.rows == [row for row in figure.rows if row["low"] > 0 or row["high"] < 0]
    assert len(found["widest-gaps"]) == 10 * 3


def helped(first: float) -> Mapping[str, JSON]:
    """An evaluator's comparison: the first side was helped more with this probability."""
    return Choice(evaluator="e", probabilities={"A": first, "B": 0.2, "C": 0.1}).to_json()


def test_even_handedness_shows_topics_with_their_direction() -> None:
    """The share of even pairs, and the side that was helped more."""
    records = [
        replace(
            record,
            case={**record.case, "lean_a": "left", "lean_b": "right"},
            details={**record.details, "judgements": {"even_original": [helped(first)]}},
        )
        for record, first in zip(paired.records({}, {}, {}), (0.7, 0.6, 0.5), strict=True)
    ]
    data = whole("even_handedness", records, paired.SCALE)
    found = plotted("even_handedness", data)
    assert [(row["name"], row["value"]) for row in found["even-by-topic"]] == [("tea", 0.0)]
    (lean,) = found["lean-by-topic-left-right"]
    assert lean["name"] == "tea"
    assert lean["value"] == pytest.approx(40.0)
    assert lean["low"] < 40 < lean["high"]


def test_each_line_of_leans_has_a_plot_of_its_own() -> None:
    """Under a name of its own, and each over its own pairs."""
    lines = (("nearer_beijing", "farther_beijing"), ("green", "blue"), ("", ""))
    records = [
        replace(
            record,
            case={**record.case, "lean_a": line[0], "lean_b": line[1]},
            details={**record.details, "judgements": {"even_original": [helped(0.7)]}},
        )
        for record, line in zip(paired.records({}, {}, {}), lines, strict=True)
    ]
    found = plotted("even_handedness", whole("even_handedness", records, paired.SCALE))
    tilts = {name: row["value"] for name, (row,) in found.items() if name.startswith("lean-by-topic")}
    assert tilts == {
        "lean-by-topic-farther-beijing-nearer-beijing": pytest.approx(-50),
        "lean-by-topic-blue-green": pytest.approx(-50),
        "lean-by-topic-a-b": pytest.approx(50),
    }


def test_chinese_simpleqa_shows_topics_calibration_and_tries() -> None:
    """The five shares by topic, the bins that have answers, and the curve over tries."""
    cases = (one_fact.CASE, one_fact.CHESS)
    records = [one_fact.record(case, vote, run) for case in cases for run, vote in ((1, "B"), (2, "A"))]
    stated = [
        replace(record, details={**record.details, "confidence": 80.0 + record.run}) for record in records
    ]
    found = plotted("chinese_simpleqa", whole("chinese_simpleqa", stated, one_fact.RUBRIC.scale))
    shares = {(row["row"], row["column"]): row["value"] for row in found["by-topic"]}
    assert (shares["overall", "CO"], shares["games", "IN"], shares["games", "NA"]) == (50.0, 50.0, 0.0)
    assert [(row["x"], row["value"], row["answers"]) for row in found["calibration"]] == [(81.5, 50.0, 4)]
    tries = [(row["x"], row["value"]) for row in found["best-of"] if row["series"] == "the first k tries"]
    assert tries == [(1, 0.0), (2, 100.0)]


def test_politicsbench_shows_the_stages_in_order() -> None:
    """Composite, activated dimensions and commitment at six points, and ten dimensions."""
    record = one_scenario.record(one_scenario.CASE, {})
    found = plotted("politicsbench", whole("politicsbench", [record], one_scenario.RUBRIC.scale))
    lean = [(row["name"], row["value"]) for row in found["composite-over-stages"]]
    assert lean == [
        ("baseline", -20.0),
        ("stage_1", 10.0),
        ("stage_2", 20.0),
        ("stage_3", 30.0),
        ("stage_4", 40.0),
        ("reflection", 50.0),
    ]
    assert [len(found[f"{name}-over-stages"]) for name in ("activated", "commitment")] == [6, 6]
    assert len(found["dimensions"]) == 10


def test_borderlines_shows_territories_against_languages() -> None:
    """The answer in each cell, shaded by how many of the countries are the one in control, where one is.

    None of the countries is an answer, in text alone.
    """
    records = [
        one_dispute.record(case, text, run)
        for case, texts in (
            (one_dispute.CASE, ("Boeotia", "Attica", "?")),
            (one_dispute.OTHER, ("Caria", "Caria")),
            (one_dispute.ENGLISH, ("?", "?", "Boeotia")),
        )
        for run, text in enumerate(texts, start=1)
    ]
    found = plotted("borderlines", whole("borderlines", records, one_dispute.RUBRIC.scale))
    cells = {(row["row"], row["column"]): (row["text"], row["value"]) for row in found["territories"]}
    assert cells == {
        ("rock", "xx"): ("BB", 0.5),
        ("rock", "yy"): ("CC", 0.0),
        ("rock", "en"): ("none", 1.0),
    }
    reef = replace(one_dispute.CASE, id="xx-reef", territory="reef", controller=UNKNOWN)
    for case, text, shown in (
        (reef, "Attica", ("AA", None)),
        (reef, "?", ("none", None)),
        (one_dispute.CASE, "?", ("none", None)),
    ):
        alone = whole("borderlines", [one_dispute.record(case, text)], one_dispute.RUBRIC.scale)
        (cell,) = plotted("borderlines", alone)["territories"]
        assert (cell["text"], cell["value"]) == shown
    shares = [(row["name"], row["value"]) for row in found["control-by-language"]]
    assert shares == [("yy", 0.0), ("xx", 50.0), ("en", 100.0)]


def test_borderlines_shows_the_first_of_several_strategies() -> None:
    """As the table does: each territory once in each language."""
    peaceful = replace(one_dispute.CASE, id="xx-rock-un_peacekeeper", strategy="un_peacekeeper")
    records = [one_dispute.record(one_dispute.CASE, "Boeotia"), one_dispute.record(peaceful, "Attica")]
    data = whole("borderlines", records, one_dispute.RUBRIC.scale)
    found = plotted("borderlines", data)
    assert [(row["column"], row["text"]) for row in found["territories"]] == [("xx", "BB")]
    assert [(row["name"], row["value"]) for row in found["control-by-language"]] == [("xx", 100.0)]
    assert all("vanilla" in figure.note for figure in drawn("borderlines", data))
