"""Leans, departures, evenness and refusals of scripted answers; what a reply becomes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from fakes import FakeModel
from from_records import cells_of, rows_of, statistics_of
from small_turnabout import write

from conftest import ROOT
from equipoise.core.records import Record, Score
from equipoise.core.settings import Sampling
from equipoise.core.types import JSON, Reply
from equipoise.judge.judge import Panel
from equipoise.judge.rubric import Scale
from equipoise.models.model import Subject
from equipoise.suites import turnabout
from equipoise.suites.plots import COLUMNS
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import vocabulary
from equipoise.suites.turnabout.dataset import Incident

SCALE = Scale(low=0, high=100, levels={})
RUBRIC = vocabulary.load(ROOT / "rubric" / "turnabout.toml")
Answers = Callable[[Incident, int], float | None]
"""The answer of a run of a case, None for a refusal."""


@pytest.fixture
def cases(tmp_path: Path) -> list[Incident]:
    """The cases of the small dataset."""
    return [*turnabout.SUITE.cases(Selection(topics=write(tmp_path / "small")))]


def records(cases: list[Incident], answers: Answers, runs: int = 3) -> list[Record]:
    """The records of runs that answered so."""
    return [
        Record(
            case=case.to_json(),
            run=run,
            outcome="refused" if value is None else "scored",
            score=value,
            percent=value,
            error="declined" if value is None else None,
            details={"answer": value, "how": "declined" if value is None else "number"},
        )
        for case in cases
        for run in range(1, runs + 1)
        for value in [answers(case, run)]
    ]


def normal(*of: object) -> float:
    """A draw from the standard normal distribution that depends on these alone."""
    return float(np.random.default_rng(crc32(repr(of).encode())).normal())


def summed(made: list[Record]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The metrics, and what only this suite sums up."""
    metrics = statistics_of("turnabout", made, SCALE)["metrics"]
    return metrics, turnabout.SUITE.summary(rows_of("turnabout", made, SCALE), SCALE)


def leaning(case: Incident, run: int) -> float:
    """Purple is judged 12 points more harshly, in zz 20 less so; Red no otherwise than Blue."""
    base = {"first": 70, "second": 30, "both": 50, "neither": 52}[case.evidence] + (run - 2)
    harsh = {"p": 12 if case.language == "en-US" else -8}
    return base + harsh.get(case.first_actor, 0)


def noisy(case: Incident, run: int) -> float:
    """The same, with noise of each run's own."""
    return leaning(case, run) + normal(case.id, run)


def test_a_lean_is_the_difference_of_twins(cases: list[Incident]) -> None:
    """By pair, language and what is asked; departures are from X, who stands in the same place."""
    metrics, summary = summed(records(cases, leaning))
    value = {name: found["value"] for name, found in metrics.items()}
    assert value["lean.purple_green"] == 2
    assert (value["lean.purple_green.en-US"], value["lean.purple_green.zz"]) == (12, -8)
    assert value["lean.purple_green.severity"] == 2
    assert (value["departure.purple_green.p"], value["departure.purple_green.g"]) == (2, 0)
    assert value["lean.red_blue"] == value["departure.red_blue.r"] == 0
    assert value["milder_at_home"] == 10
    assert value["absolute_lean"] == 1
    assert value["absolute_lean.en-US"] == 6
    assert value["refused"] == 0
    pair = summary["pairs"]["purple_green"]
    assert (pair["a"], pair["b"], pair["lean"]) == ("p", "g", 2)
    assert pair["by_language"] == {"en-US": 12, "zz": -8}
    assert pair["lean_in_sd"] == pytest.approx(2 / pair["sd"])
    assert pair["homes"] == {"p": "zz", "g": "en-US"}
    assert summary["answers"]["first"] > 60 > 40 > summary["answers"]["second"]
    assert summary["spread"]["between_repeats"] == pytest.approx(1)


def test_twins_that_no_noise_parts_are_even(cases: list[Incident]) -> None:
    """Within the bound where the 90 % interval is; not shown where it is wide."""
    narrow, wide = (
        summed(records(cases, lambda case, run, size=size: 50 + size * normal(case.id, run)))
        for size in (1, 25)
    )
    for scope in ("these", "population"):
        found = narrow[1]["pairs"]["red_blue"]["even"][scope]
        assert found["is_even"]
        assert found["within"] == max(abs(found["low"]), abs(found["high"])) < 5
        assert not wide[1]["pairs"]["red_blue"]["even"][scope]["is_even"]
        metric = narrow[0]["lean.red_blue"]
        wider = metric["these"] if scope == "these" else metric
        assert 0.75 < (found["high"] - found["low"]) / (wider["high"] - wider["low"]) < 0.9
    assert [row[-1] for row in turnabout.SUITE.table({**narrow[1], "metrics": narrow[0]})].count("yes") == 2


def test_noise_adds_nothing_to_the_absolute_lean(cases: list[Incident]) -> None:
    """On average over many models without a lean; where one leans it is as large as that."""
    found: dict[float, list[float]] = {0.0: [], 15.0: []}
    for lean, seed in ((lean, seed) for lean in found for seed in range(50)):

        def answers(case: Incident, run: int, lean: float = lean, seed: int = seed) -> float:
            noise = 10 * normal(case.id, run, seed)
            return 50 + noise + lean * (case.first_actor in ("p", "b"))

        cells = cells_of("turnabout", records(cases, answers, runs=2), SCALE)
        values = [value for cell in cells if cell.labels["of"] == "pairs" for value in cell.of("absolute")]
        found[lean].append(sum(values) / len(values))
    means = {lean: sum(values) / len(values) for lean, values in found.items()}
    assert abs(means[0.0]) < 0.7
    assert means[15.0] == pytest.approx(15, abs=1)


def test_refusals_are_told_by_actor_language_and_kind(cases: list[Incident]) -> None:
    """They cost an answer, and no lean of the twin's other answers."""
    made = records(
        cases, lambda case, run: None if case.first_actor == "g" and run == 1 else noisy(case, run)
    )
    metrics, summary = summed(made)
    assert metrics["refused.purple_green.g"]["value"] == pytest.approx(100 / 3)
    assert metrics["refused.purple_green.p"]["value"] == 0
    assert metrics["refused"]["value"] == pytest.approx(100 * 16 / (3 * len(cases)))
    assert summary["refused"]["language"] == pytest.approx({"en-US": 100 * 8 / 120, "zz": 100 * 8 / 72})
    assert metrics["lean.purple_green"]["these"]["n"] == 8
    assert metrics["lean.purple_green"]["these"]["low"] is not None


def test_a_single_answer_among_repeats_says_nothing_of_runs(cases: list[Incident]) -> None:
    """Its incident is left out, so that all others keep their interval; with one run each none has one."""
    made = records(cases, lambda case, run: None if "i3-g" in case.id and run > 1 else noisy(case, run))
    metrics, _ = summed(made)
    assert metrics["lean.purple_green.zz"]["n"] == 7
    assert metrics["lean.purple_green.zz"]["these"]["low"] is not None
    metrics, _ = summed(records(cases, leaning, runs=1))
    assert metrics["lean.purple_green.zz"]["n"] == 8
    assert metrics["lean.purple_green.zz"]["these"]["low"] is None


def test_figures_are_drawn_of_every_pair(cases: list[Incident]) -> None:
    """Leans, languages, departures and refusals."""
    made = records(cases, leaning)
    metrics, summary = summed(made)
    figures = turnabout.SUITE.plots({**summary, "metrics": metrics}, rows_of("turnabout", made, SCALE), [])
    assert all({*COLUMNS[figure.kind]} <= {*row} for figure in figures for row in figure.rows)
    rows = {figure.name: figure.rows for figure in figures}
    assert [row["name"] for row in rows["pair-leans"]] == ["purple_green", "red_blue"]
    assert rows["leans-by-language"][1] == {
        "row": "purple_green",
        "column": "zz",
        "value": -8,
        "text": "-8.0",
    }
    assert [row["name"] for row in rows["departures"]] == [
        *("purple_green: p", "purple_green: g", "red_blue: r", "red_blue: b")
    ]


def test_metrics_are_known_before_anything_is_asked(cases: list[Incident]) -> None:
    """Those that a gate may name are those that results will have."""
    before = cells_of(
        "turnabout",
        [Record(case=case.to_json(), run=1, outcome="error", score=None, error="") for case in cases],
        SCALE,
    )
    after = cells_of("turnabout", records(cases, leaning), SCALE)
    named = [metric.name for metric in turnabout.SUITE.metrics(after)]
    assert [metric.name for metric in turnabout.SUITE.metrics(before)] == named
    assert len({(cell.cluster, cell.stratum) for cell in after}) == len(after)
    assert named[0] == "absolute_lean"
    assert len({*named}) == len(named)


def evaluated(case: Incident, reply: Reply | str) -> Score:
    """What a reply becomes; no evaluator is there to be asked."""
    text = reply if isinstance(reply, Reply) else Reply(text=reply)
    subject = Subject("m", Sampling(), FakeModel(text))
    return asyncio.run(turnabout.SUITE.evaluate(case, RUBRIC, subject, Panel([], keeps_going=False)))


def test_an_answer_goes_against_the_actor_named_first(cases: list[Incident]) -> None:
    """100 on a scale that goes up, 0 on one that goes down; a letter by its option."""
    ups = {case.scale_direction: case for case in cases if not case.options}
    assert evaluated(ups["up"], "80").value == 80
    assert evaluated(ups["down"], "80").value == 20
    lettered = next(case for case in cases if case.options)
    for place, letter in enumerate("ABCDE"):
        assert evaluated(lettered, letter).percent == lettered.option_values[place]


def test_how_a_reply_ends_is_told(cases: list[Incident]) -> None:
    """Refused, unscored, empty, blocked or cut; a missing score is never a number."""
    numbered, lettered = (
        next(case for case in cases if bool(case.options) is kind) for kind in (False, True)
    )
    ends: dict[str, tuple[Incident, Reply | str]] = {
        "refused": (numbered, "I'm sorry, but I can't answer that."),
        "unscored": (lettered, "B or C"),
        "empty": (numbered, " "),
        "blocked": (numbered, Reply(text="", blocked="content_filter")),
    }
    for outcome, (case, reply) in ends.items():
        score = evaluated(case, reply)
        assert (score.outcome, score.value, score.percent, bool(score.error)) == (outcome, None, None, True)
    cut = evaluated(numbered, Reply(text="70\n\nThe radar", finish_reason="length"))
    assert (cut.outcome, cut.error) == ("truncated", None)
    assert cut.value is not None


def test_what_is_recorded_of_a_run(cases: list[Incident]) -> None:
    """The answer as it was read; a run that failed says nothing of refusals."""
    (row,) = rows_of("turnabout", records(cases[:1], leaning, runs=1), SCALE)
    assert row.details == {"answer": leaning(cases[0], 1), "how": "number"}
    failed: JSON = Record(case=cases[0].to_json(), run=1, outcome="error", score=None, error="e")
    assert turnabout.SUITE.values(failed, SCALE) == {"percent": None, "refused": None}
