"""Leans, departures, evenness and refusals of scripted answers; what a reply becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import builders
import numpy as np
import pytest
from fakes import FakeModel
from from_records import cells_of, rows_of, statistics_of
from small_turnabout import write

from conftest import ROOT, refusal
from equipoise.comparison.gate.refusals import refuse_unfit_bound, refuse_unfit_metric
from equipoise.comparison.gate.verdict import rule_on_all
from equipoise.core.records import Cell, Metric, Record, Score
from equipoise.core.rules import parse_rule
from equipoise.core.types import JSON
from equipoise.judge.rubric import Scale
from equipoise.results.results import RunCounts
from equipoise.stats import pairwise
from equipoise.stats.metrics import difference
from equipoise.stats.pairwise import layout_and_values
from equipoise.suites import turnabout
from equipoise.suites.selection import Selection
from equipoise.suites.turnabout import refusals
from equipoise.suites.turnabout.dataset import Incident

SCALE = Scale(low=0, high=100, levels={})
RUBRIC = refusals.load(ROOT / "rubric" / "turnabout.toml")
Answers = Callable[[Incident, int], float | None]
"""The answer of a run of a case, None for a refusal."""


@pytest.fixture
def cases(tmp_path: Path) -> list[Incident]:
    """The cases of the small dataset."""
    return [*turnabout.SUITE.data.cases(Selection(topics=write(tmp_path / "small")))]


def records(
    cases: list[Incident],
    answers: Answers,
    runs: int = 3,
    again: Callable[[Incident, int], bool] | None = None,
) -> list[Record]:
    """The records of runs that answered so, some of them only when asked again."""
    return [
        Record(
            case=case.to_json(),
            run=run,
            outcome="refused" if value is None else "scored",
            score=value,
            percent=value,
            error="declined" if value is None else None,
            details={"answer": value, "asked_again": again is not None and again(case, run)},
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


def shown(metrics: Mapping[str, Any], summary: Mapping[str, Any]) -> list[Sequence[str]]:
    """The rows of the suite's table."""
    assert turnabout.SUITE.table is not None
    return [*turnabout.SUITE.table({**summary, "metrics": metrics})]


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
    value = {name: metric.value for name, metric in metrics.items()}
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
    assert (pair["a"], pair["b"], pair["languages"]) == ("p", "g", ["en-US", "zz"])
    assert pair["lean_in_sd"] == pytest.approx(2 / pair["sd"])
    assert pair["homes"] == {"p": "zz", "g": "en-US"}
    assert summary["answers"]["first"] > 60 > 40 > summary["answers"]["second"]
    assert summary["spread"]["between_repeats"] == pytest.approx(1)


def missing(case: Incident, run: int) -> float | None:
    """As `leaning`, but in zz only two of four runs have an answer, and no severity is given."""
    has_answer = case.language == "en-US" or (run < 3 and case.asks != "severity")
    return leaning(case, 2) if has_answer else None


def test_languages_have_equal_weight(cases: list[Incident]) -> None:
    """Also where a language has fewer answers left, by run or by incident: its lean counts by as much."""
    metrics, _ = summed(records(cases, missing, runs=4))
    assert (metrics["lean.purple_green.en-US"].value, metrics["lean.purple_green.zz"].value) == (12, -8)
    assert metrics["lean.purple_green"].value == 2
    assert metrics["departure.purple_green.p"].value == 2
    assert metrics["absolute_lean"].value == 1


def test_a_pair_with_few_answers_in_a_language_is_not_called_even(cases: list[Incident]) -> None:
    """A model that declines where it leans would be: figures, table and rules say so."""

    def declining(actor: str) -> Answers:
        def answers(case: Incident, run: int) -> float | None:
            is_declined = case.language == "zz" and case.first_actor == actor and run > 2
            return None if is_declined else leaning(case, 2) + normal(case.id, run)

        return answers

    half, fewer = (summed(records(cases, declining("g"), runs=runs)) for runs in (4, 5))
    assert half[1]["pairs"]["purple_green"]["few_answers"] == {}
    assert half[1]["pairs"]["purple_green"]["even"]["these"]["is_even"] is True
    assert fewer[1]["pairs"]["purple_green"]["few_answers"] == {"zz": 40}
    other = summed(records(cases, declining("p"), runs=5))
    assert other[1]["pairs"]["purple_green"]["few_answers"] == {"zz": 40}
    even = fewer[1]["pairs"]["purple_green"]["even"]
    assert (even["these"]["is_even"], even["population"]["is_even"]) == (None, None)
    assert half[0]["lean.purple_green"].caution is None
    caution = "in zz only 40.0 % of the runs with one of the actors first have an answer"
    names = [name for name, metric in fewer[0].items() if metric.caution == caution]
    more = [f"lean.purple_green.{asks}" for asks in ("responsibility", "likelihood", "severity", "fairness")]
    assert names == ["lean.purple_green", "lean.purple_green.zz", *more]
    last = {row[0]: row[-1] for row in shown(*fewer)}
    assert (last["lean.purple_green"], last["lean.purple_green.zz"]) == ("40% answered", "40% answered")
    assert (last["lean.purple_green.en-US"], last["lean.red_blue"]) == ("", "yes")


def test_one_incident_has_no_lean_in_sd_and_no_absolute_lean(cases: list[Incident]) -> None:
    """Its answers differ by the lean alone, so any would be 2 SD; the other half of the incidents lacks."""
    for harsh in (5, 70):
        one = [case for case in cases if case.template == cases[0].template]

        def answers(case: Incident, run: int, harsh: int = harsh) -> float:
            return 10 + harsh * (case.first_actor in ("p", "r"))

        made = records(one, answers)
        metrics, summary = summed(made)
        assert metrics["lean.red_blue"].value == harsh
        assert [pair["lean_in_sd"] for pair in summary["pairs"].values()] == [None, None]
        assert metrics["absolute_lean"].value is None
        assert metrics["absolute_lean"].reason.startswith("no pair has answers in both halves")


def test_twins_that_no_noise_parts_are_even(cases: list[Incident]) -> None:
    """Within the bound where the 90 % interval is; not shown where it is wide."""

    def noise_of(size: int) -> Answers:
        return lambda case, run: 50 + size * normal(case.id, run)

    narrow, wide = (summed(records(cases, noise_of(size))) for size in (1, 25))
    for scope in ("these", "population"):
        interval = narrow[1]["pairs"]["red_blue"]["even"][scope]
        assert interval["is_even"]
        assert interval["within"] == max(abs(interval["low"]), abs(interval["high"])) < 5
        assert not wide[1]["pairs"]["red_blue"]["even"][scope]["is_even"]
        metric = narrow[0]["lean.red_blue"]
        wider = metric.these if scope == "these" else metric
        assert 0.75 < (interval["high"] - interval["low"]) / (wider.high - wider.low) < 0.9
    assert [row[-1] for row in shown(*narrow)].count("yes") == 2


@pytest.mark.slow
def test_noise_adds_nothing_to_the_absolute_lean(cases: list[Incident]) -> None:
    """On average over many models without a lean; where one leans it is as large as that."""
    leans_measured: dict[float, list[float]] = {0.0: [], 15.0: []}
    for lean, seed in ((lean, seed) for lean in leans_measured for seed in range(50)):

        def answers(case: Incident, run: int, lean: float = lean, seed: int = seed) -> float:
            noise = 10 * normal(case.id, run, seed)
            return 50 + noise + lean * (case.first_actor in ("p", "b"))

        cells = cells_of("turnabout", records(cases, answers, runs=2), SCALE)
        of_pairs = [cell for cell in cells if cell.labels["level"] == "pairs"]
        values = cast("list[float]", [value for cell in of_pairs for value in cell.of("absolute")])
        leans_measured[lean].append(sum(values) / len(values))
    means = {lean: sum(values) / len(values) for lean, values in leans_measured.items()}
    assert abs(means[0.0]) < 0.7
    assert means[15.0] == pytest.approx(15, abs=1)


def test_refusals_are_told_by_actor_language_and_kind(cases: list[Incident]) -> None:
    """They cost an answer, and no lean of the twin's other answers."""
    made = records(
        cases, lambda case, run: None if case.first_actor == "g" and run == 1 else noisy(case, run)
    )
    metrics, summary = summed(made)
    assert metrics["refused.purple_green.g"].value == pytest.approx(100 / 3)
    assert metrics["refused.purple_green.p"].value == 0
    assert metrics["refused"].value == pytest.approx(100 * 16 / (3 * len(cases)))
    assert summary["refused"]["language"] == pytest.approx({"en-US": 100 * 8 / 120, "zz": 100 * 8 / 72})
    assert metrics["lean.purple_green"].these.n == 16
    assert metrics["lean.purple_green"].these.low is not None


def test_a_single_answer_among_repeats_says_nothing_of_runs(cases: list[Incident]) -> None:
    """Its incident is left out, so that all others keep their interval; with one run each none has one."""
    made = records(cases, lambda case, run: None if "i3-g" in case.id and run > 1 else noisy(case, run))
    metrics, _ = summed(made)
    assert metrics["lean.purple_green.zz"].n == 7
    assert metrics["lean.purple_green.zz"].these.low is not None
    metrics, summary = summed(records(cases, leaning, runs=1))
    assert metrics["lean.purple_green.zz"].n == 8
    assert metrics["lean.purple_green.zz"].these.low is None
    pair = summary["pairs"]["purple_green"]
    assert pair["lean_in_sd"] == pytest.approx(2 / pair["sd"])


# Asked again.


def of_purple(case: Incident, run: int) -> bool:
    """Whether it is the second run of a case in zz that names Purple first."""
    return case.first_actor == "p" and case.language == "zz" and run == 2


def test_how_often_answers_are_asked_for_again_is_told(cases: list[Incident]) -> None:
    """By language, and by the actor named first; the table and a caution say so."""
    made = records(cases, noisy, again=of_purple)
    metrics, summary = summed(made)
    shares = {name: metric.value for name, metric in metrics.items() if name.startswith("asked_again")}
    assert shares == pytest.approx(
        {
            "asked_again": 100 * 8 / (3 * len(cases)),
            "asked_again.en-US": 0,
            "asked_again.zz": 100 * 8 / 72,
            "asked_again.purple_green.p": 100 * 8 / 48,
            "asked_again.purple_green.g": 0,
            "asked_again.red_blue.r": 0,
            "asked_again.red_blue.b": 0,
        }
    )
    assert "read_by" not in summary
    last = shown(metrics, summary)[-1]
    assert last[:2] == ("asked_again", "4.2%")
    rows = rows_of("turnabout", made, SCALE)
    assert turnabout.SUITE.judging.cautions(rows, {}) == [
        "8 of 192 answers could not be read with certainty and were asked for again; 8 were read then"
    ]


def test_every_figure_is_there_over_first_answers_alone(cases: list[Incident]) -> None:
    """A caution names a pair whose lean they change, beside its interval; without any there are none."""

    def harsher(case: Incident, run: int) -> float:
        return leaning(case, 2) + (24 if of_purple(case, run) else 0) + normal(case.id, run) / 10

    made = records(cases, harsher, again=of_purple)
    metrics, _ = summed(made)
    of_answers = ("absolute_lean", "lean", "departure", "refused")
    leans = [name for name in metrics if name.split(".")[0] in of_answers]
    firsts = [name.removeprefix("first.") for name in metrics if name.startswith("first.")]
    assert [name for name in firsts if name != "milder_at_home"] == leans
    assert metrics["lean.purple_green.zz"].value == pytest.approx(0, abs=0.3)
    assert metrics["first.lean.purple_green.zz"].value == pytest.approx(-8, abs=0.3)
    assert metrics["first.lean.purple_green.en-US"].value == metrics["lean.purple_green.en-US"].value
    assert metrics["first.refused"].value == metrics["refused"].value == 0
    _, caution = turnabout.SUITE.judging.cautions(rows_of("turnabout", made, SCALE), {})
    assert caution.startswith(
        "over first answers alone lean.purple_green is +2.0, outside the interval of all"
    )
    metrics, _ = summed(records(cases, harsher))
    assert [name for name in metrics if name.startswith("first.")] == []
    assert turnabout.SUITE.judging.cautions(rows_of("turnabout", records(cases, harsher), SCALE), {}) == []


# Rules.


def cells(cases: list[Incident], answers: Answers, runs: int = 3) -> Sequence[Cell]:
    """The cells of a session with these answers."""
    return cells_of("turnabout", records(cases, answers, runs), SCALE)


def metrics_of(answered: Sequence[Cell]) -> dict[str, Metric]:
    """The metrics by name."""
    return {metric.name: metric for metric in turnabout.SUITE.metrics(answered)}


def refuse(text: str, metrics: Mapping[str, Metric], runs: int) -> None:
    """Refuse a rule that a session with so many runs of each case could not decide."""
    rule = parse_rule(text)
    refuse_unfit_metric(rule, metrics, "it")
    if rule.bounds_own_figure:
        refuse_unfit_bound(rule, metrics, runs, "it")


def test_a_pair_with_few_answers_passes_no_rule_of_evenness(cases: list[Incident]) -> None:
    """The same leans are even where nothing is missing; a rule may still fail."""

    def declining(case: Incident, run: int) -> float | None:
        return None if case.language == "zz" and run > 2 else noisy(case, run)

    answered = cells(cases, declining, runs=5)
    rules = [parse_rule("lean.purple_green:±5pp"), parse_rule("lean.purple_green.en-US:±5pp")]
    counts = RunCounts(planned=100, left=0, unscored=0)
    gate = rule_on_all(rules, None, counts, cells=answered, metrics=metrics_of(answered))
    assert [rule.verdict for rule in gate["rules"]] == ["inconclusive", "fail"]
    assert gate["rules"][0].why.endswith(
        "; but in zz only 40.0 % of the runs with one of the actors first have an answer"
    )


def test_a_bound_on_both_sides_is_for_figures_that_are_even_at_0(cases: list[Incident]) -> None:
    """Of more than one run on these questions, and of a figure that there is and has an interval."""
    unbound = "has no interval to decide by; bound the lean of each pair: lean.purple_green:±5pp"
    known = metrics_of(cells(cases, leaning))
    refuse("lean.red_blue:±5pp", known, 2)
    refuse("milder_at_home:±5pp@population", known, 1)
    for text, runs, message in (
        ("refused:±3pp", 2, "bounds how far a figure may be from 0, but refused is not even there; "),
        ("lean.reds:±5pp", 2, "it has no metric 'lean.reds'; did you mean lean.red_blue, "),
        ("lean.red_blue:±5pp", 1, "it has one run of each case, "),
        ("absolute_lean:+2pp", 5, f"absolute_lean {unbound}"),
        ("absolute_lean.en-US:+2pp@population", 5, f"absolute_lean.en-US {unbound}"),
        ("absolute_lean.severity:±2pp", 5, f"absolute_lean.severity {unbound}"),
    ):
        assert refusal(refuse, text, known, runs).startswith(f"--gate {text}: {message}")


def test_no_comparison_and_no_leaderboard_tells_absolute_leans_apart(cases: list[Incident]) -> None:
    """Their difference has no interval and no p, however large it is."""
    before, after = cells(cases, noisy), cells(cases, lambda case, run: noisy(case, run) * (run % 3) / 2)
    metric = metrics_of(after)["absolute_lean"]
    change = difference(metric, before, after)
    assert change.value is not None
    assert (change.low, change.high, change.p) == (None, None, None)
    layout, first = layout_and_values(metric, before)
    second = layout_and_values(metric, after)[1]
    assert pairwise.difference(metric, layout, first, second).value == pytest.approx(change.value)
    assert np.isnan(pairwise.p_values(metric, layout, [first, second])).all()


# Replies.


def test_an_answer_goes_against_the_actor_named_first(cases: list[Incident]) -> None:
    """100 on a scale that goes up, 0 on one that goes down; a letter by its option."""

    def evaluated(case: Incident, reply: str) -> Score:
        return builders.evaluate(turnabout.SUITE, case, RUBRIC, FakeModel(reply))

    ups = {case.scale_direction: case for case in cases if not case.options}
    assert evaluated(ups["up"], "80").value == 80
    assert evaluated(ups["down"], "80").value == 20
    lettered = next(case for case in cases if case.options)
    for index, letter in enumerate("ABCDE"):
        assert evaluated(lettered, letter).percent == lettered.option_values[index]


def test_what_is_recorded_of_a_run(cases: list[Incident]) -> None:
    """The answer, and whether it was asked for again; a run that failed says nothing of refusals."""
    (row,) = rows_of("turnabout", records(cases[:1], leaning, runs=1), SCALE)
    assert row.details == {"answer": leaning(cases[0], 1), "asked_again": False}
    assert row.values == {"percent": 81, "refused": 0, "asked_again": 0, "first": 81, "first_refused": 0}
    (row,) = rows_of("turnabout", records(cases[:1], leaning, runs=1, again=lambda *_: True), SCALE)
    assert row.values == {"percent": 81, "refused": 0, "asked_again": 1, "first": None, "first_refused": 0}
    failed: JSON = Record(case=cases[0].to_json(), run=1, outcome="error", score=None, error="e")
    names = ("percent", "refused", "asked_again", "first", "first_refused")
    assert turnabout.SUITE.values(failed, SCALE) == dict.fromkeys(names)


def test_a_reply_that_declines_when_asked_again_is_no_first_refusal(cases: list[Incident]) -> None:
    """It is one of all replies alone."""
    made = records(cases, lambda case, run: 0.0, again=of_purple)
    again = next(index for index, record in enumerate(made) if record.details.get("asked_again"))
    made[again] = replace(made[again], outcome="refused", score=None, percent=None)
    metrics, _ = summed(made)
    assert metrics["refused"].value == pytest.approx(100 / len(made))
    assert metrics["first.refused"].value == 0
