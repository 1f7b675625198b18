"""The shared parts of a summary, made from records through the suite and checked against other packages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import builders
import msgspec
import numpy as np
import one_question
import pytest
import sides
from from_records import as_read, parts_of, statistics_of
from msgspec.structs import asdict, replace
from numpy.typing import NDArray
from one_question import SCALE, SUITE

from equipoise import suites
from equipoise.core import json_io
from equipoise.core.figures import Estimate, Figure, StudyDesign
from equipoise.core.records import Cell, Record, Verdict
from equipoise.core.types import Reply
from equipoise.results import rows
from equipoise.results import summary as uncertainty
from equipoise.results.lines import LookLine
from equipoise.results.summary import apply_looks, summarise, to_plain_json, with_cluster_names
from equipoise.stats.variance import Components, smallest_difference
from equipoise.suites import neutrality
from equipoise.suites.scores import mean_score

Array = NDArray[np.float64]
NAN = math.nan
ROUNDED = 5.1e-7
NAMES = ("e1", "e2", "e3")


def verdicts(scores: Sequence[float], names: Sequence[str]) -> tuple[Verdict, ...]:
    """What these evaluators said; NaN is no valid verdict."""
    return tuple(
        one_question.verdict(None if math.isnan(score) else int(score), evaluator=name, refused=score == 1)
        for name, score in zip(names, scores, strict=True)
    )


def record(question: int, language: str, run: int, by_evaluator: tuple[Verdict, ...]) -> Record:
    """How one run ended, by these verdicts."""
    case = one_question.question(question, language, "xy"[question % 2])
    return builders.record(case, mean_score(Reply(text="Because."), by_evaluator, SCALE), run)


def records(scores: Array, names: Sequence[str] = NAMES) -> list[Record]:
    """Records of scores by (question, language, run, evaluator)."""
    return [
        record(question, f"l{language}", run, verdicts(by_evaluator, names))
        for question, by_language in enumerate(scores.tolist())
        for language, by_run in enumerate(by_language)
        for run, by_evaluator in enumerate(by_run, start=1)
    ]


def summary(runs: Sequence[Record]) -> dict[str, Any]:
    """The shared parts of the summary of these records."""
    return statistics_of(SUITE, runs, SCALE)


def panel(seed: int, shape: tuple[int, int, int, int], gaps: float = 0.0) -> Array:
    """Scores 1..5 of evaluators who differ, alike within a question and a reply, some missing."""
    chance = np.random.default_rng(seed)
    questions, languages, runs, evaluators = shape
    parts = (
        (0.8, (questions, 1, 1, 1)),
        (0.5, (questions, languages, 1, 1)),
        (0.6, (questions, languages, runs, 1)),
        (0.4, (questions, languages, 1, evaluators)),
        (0.4, shape),
    )
    latent = 3.3 + sum(spread * chance.normal(size=size) for spread, size in parts)
    scores = np.clip(np.rint(latent + np.linspace(-0.3, 0.3, evaluators)), 1, 5)
    scores[chance.random(shape) < gaps] = NAN
    return np.asarray(scores)


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """A session of 12 questions in 3 languages, with 4 runs that 3 evaluators judged."""
    return summary(records(panel(1, (12, 3, 4, 3))))


# Where the variance lies.


def test_the_shares_of_the_variance_add_up(whole: Mapping[str, Any]) -> None:
    """Five components, named design, and an error that is the one of the headline."""
    variance = whole["variance"]
    assert variance["design"] == StudyDesign(questions=12, languages=3, runs=4, evaluators=3)
    assert list(variance["share"]) == ["question", "language", "run", "evaluator", "rest"]
    assert sum(variance["share"].values()) == pytest.approx(1, abs=5 * ROUNDED)
    assert (variance["negative"], variance["merged"], variance["reason"]) == ([], {}, None)
    assert 25 * variance["predicted_se"] == pytest.approx(whole["metrics"]["overall"].se, abs=1e-4)
    assert set(variance["narrowing"]) == {"questions", "runs", "evaluators"}
    assert variance["advice"].startswith("Doubling the questions would narrow the interval most")
    assert variance["smallest_difference"] > 0


@pytest.mark.parametrize("shape", [(1, 2, 3, 2), (1, 1, 1, 1)])
def test_the_variance_of_one_question_is_not_known(shape: tuple[int, int, int, int]) -> None:
    """The reason stands where figures would, and there is no design to advise on."""
    variance = summary(records(panel(3, shape), NAMES[: shape[3]]))["variance"]
    assert (variance["variance"], variance["share"]) == ({}, {})
    assert variance["reason"] == "fewer than 2 questions"
    assert not {"design", "advice", "smallest_difference"} & set(variance)


# Consistency over languages.


def test_no_interval_between_languages_is_beyond_what_is_possible() -> None:
    """Of two questions, of which languages answer one alike and one as differently as they can."""
    scores = np.array([[5, 5], [5, 1]], dtype=float)[:, :, None, None]
    (pair,) = summary(records(scores, ["e"]))["consistency"]["pairs"]
    assert (pair.value, pair.low, pair.high) == (50.0, -100.0, 100.0)


# Panels.


def test_one_evaluator_is_no_panel_and_one_language_not_consistent() -> None:
    """The one part is not there, the other is null, not empty."""
    assert "panel" not in summary(records(panel(5, (6, 2, 2, 1)), ["e"]))
    assert summary(records(panel(4, (6, 1, 2, 1)), ["e"]))["consistency"] is None


def test_a_panel_has_what_its_evaluators_said(whole: Mapping[str, Any]) -> None:
    """Agreement of each two, how far each leans, and its means by language in points of the scale."""
    scores, agreement = panel(1, (12, 3, 4, 3)), whole["panel"]
    assert [(pair.first, pair.second) for pair in agreement["kappas"]] == [*combinations(NAMES, 2)]
    for index, (name, lean) in enumerate(zip(NAMES, agreement["evaluators"], strict=True)):
        apart = scores[..., index] - np.delete(scores, index, axis=3).mean(axis=3)
        assert (lean.evaluator, lean.units) == (name, 144)
        assert lean.difference.value == pytest.approx(apart.mean(), abs=ROUNDED)
        means = dict(zip(("l0", "l1", "l2"), scores[..., index].mean(axis=(0, 2)), strict=True))
        assert agreement["by_language"][name] == pytest.approx(means, abs=ROUNDED)


def test_without_an_evaluator_the_means_are_those_of_a_panel_that_never_had_it() -> None:
    """Also where it alone gave a verdict, and where a blocked run has no verdicts at all."""
    scores = panel(7, (8, 2, 3, 3), gaps=0.4)
    blocked = builders.scored(one_question.question(9, "l0", "y"), 1.0, outcome="blocked")
    without = summary([*records(scores), blocked])["panel"]["without"]
    for index, evaluator in enumerate(NAMES):
        others = [name for name in NAMES if name != evaluator]
        never = summary([*records(np.delete(scores, index, axis=3), others), blocked])["metrics"]
        figures = without[evaluator]
        means = {name: figure for name, figure in never.items() if figure.kind == "mean"}
        assert {name: asdict(figure) for name, figure in figures.items()} == {
            name: {part: getattr(means[name], part) for part in Estimate.__struct_fields__} for name in means
        }


# Runs one by one.


def overall(runs: sides.Runs) -> Figure:
    """The headline of these runs."""
    figure: Figure = statistics_of(sides.SUITE, sides.records(runs), sides.SCALE)["metrics"]["overall"]
    return figure


def test_every_run_has_its_figure_and_all_a_mean_and_an_sd() -> None:
    """75 and 50 % have the mean 62.5 % and the population SD 12.5; a run that scored nothing has none."""
    figure = overall({"aa/q1": (5, 3), "aa/q2": (3, 3)})
    assert (figure.by_run, figure.run_mean, figure.run_sd) == ((75, 50), 62.5, 12.5)
    figure = overall({"aa/q1": (5, "error", "error"), "aa/q2": (3, 3, "error")})
    assert (figure.by_run, figure.run_mean, figure.run_sd) == ((75, 50, None), 62.5, 12.5)
    fields = msgspec.to_builtins(overall({"aa/q1": (5,), "aa/q2": (3,)}))
    assert fields.keys().isdisjoint({"by_run", "run_mean", "run_sd"})


# Looks.


def look(number: int, *, is_enough: bool, low: float | None = 40.0, reason: str | None = None) -> LookLine:
    """A look as the journal has it."""
    return LookLine(
        session="s1",
        rule="l1:±9pp",
        metric="l1",
        round=number,
        value=50.0,
        se=4.0,
        low=low,
        high=None if low is None else 60.0,
        n=12,
        reason=reason,
        half_width=None if low is None else 10.0,
        is_enough=is_enough,
    )


def test_looking_widens_the_interval_of_the_metric_that_was_looked_at(whole: Mapping[str, Any]) -> None:
    """It is as the last look found it; all else stays as it was, and what was given is not changed."""
    before = json_io.dumps(whole["metrics"])
    updated = apply_looks(whole["metrics"], [look(1, is_enough=False), look(2, is_enough=True, low=45.0)])
    metrics = updated["metrics"]
    interval = {
        name: getattr(look(2, is_enough=True), name) for name in ("value", "se", "n", "high", "reason")
    }
    assert metrics["l1"] == replace(whole["metrics"]["l1"], **interval, low=45.0)
    assert list(metrics) == list(whole["metrics"])
    assert all(metrics[name] == whole["metrics"][name] for name in metrics if name != "l1")
    assert json_io.dumps(whole["metrics"]) == before


def test_a_summary_says_after_how_many_looks_it_stopped(whole: Mapping[str, Any]) -> None:
    """The rule, the method, and every look; an interval that does not allow for them is none."""
    looks = [look(1, is_enough=False, low=None, reason="1 question"), look(2, is_enough=True)]
    until = apply_looks(whole["metrics"], looks)["until"]
    assert [until[name] for name in ("rule", "metric", "is_reached", "runs")] == ["l1:±9pp", "l1", True, 2]
    assert "Jennison and Turnbull 1989" in until["method"]
    names = ["round", "value", "low", "high", "half_width", "n", "reason"]
    assert until["looks"] == [{name: getattr(item, name) for name in names} for item in looks]
    updated = apply_looks(whole["metrics"], [look(1, is_enough=False, low=None, reason="1 question")])
    figure = updated["metrics"]["l1"]
    assert (figure.low, figure.high, figure.reason) == (None, None, "1 question")
    assert updated["until"]["is_reached"] is False


# As JSON.


def test_figures_are_rounded_however_deep_and_all_else_stays() -> None:
    """Six decimals; whole numbers, texts, truths and null are not touched, tuples become lists."""
    data = {"a": (1 / 3, [2, "1.23456789", None, True]), "b": {"c": np.float64(2 / 3), "d": ()}}
    plain = to_plain_json(data)
    assert plain == {"a": [0.333333, [2, "1.23456789", None, True]], "b": {"c": 0.666667, "d": []}}
    assert plain["a"][1][3] is True
    assert isinstance(plain["a"][1][0], int)


@pytest.mark.parametrize(
    "scores",
    [
        panel(8, (7, 3, 2, 3), gaps=0.5),
        panel(9, (1, 1, 1, 3)),
        panel(10, (2, 2, 1, 3)),
        np.full((6, 2, 2, 3), 5.0),
        np.full((2, 2, 2, 3), NAN),
    ],
    ids=["gaps", "one", "two", "constant", "nothing"],
)
def test_every_summary_is_json_without_nan(scores: Array) -> None:
    """As json writes and reads it, and the same whether rows are at hand or read from a file."""
    made, suite = records(scores), suites.load(SUITE)
    sections = statistics_of(SUITE, made, SCALE)
    assert as_read(sections, Figure) == sections
    read = rows.of_json(parts_of(SUITE, made, SCALE)["results"])
    again = summarise(suite, suite.combine(read), SCALE)
    assert again == {name: sections[name] for name in again}


def test_what_is_finer_than_a_language_is_not_called_one() -> None:
    """Where a question has several cells in one language, the middle component is that of the strata."""
    cells = [
        Cell(
            id=f"{question}/{template}",
            cluster=question,
            stratum=f"aa/{template}",
            values={"percent": [25 * (score - 1)] * 2},
            labels={"language": "aa", "area": "x"},
            verdicts={"e": [score, score - 1]},
        )
        for question, template, score in (("q1", "t1", 4), ("q1", "t2", 3), ("q2", "t1", 2), ("q2", "t2", 5))
    ]
    variance = summarise(suites.load(SUITE), cells, SCALE)["variance"]
    assert "language" not in {*variance["share"], *variance["variance"], *variance["merged"].values()}
    assert "stratum" in variance["variance"]


# What a suite calls its questions.


def test_clusters_are_called_what_they_are() -> None:
    """In the word of the suite, which has one in the plural, and in reasons, however deep they stand."""
    metric = neutrality.metrics([])[0]
    words = {name: suites.load(name).about.clusters for name in suites.names()}
    assert (words["borderlines"], words[SUITE]) == ("territories", "questions")
    for word in words.values():
        assert uncertainty.figure(metric, [], word).clusters == word
        assert re.fullmatch("[a-z ]+s", word)
    data = {
        "reason": "1 question",
        "questions": [{"reason": "5 questions are too few to resample"}, {"reason": None}, 3],
        "deeper": {"reason": "no variation between questions", "advice": "questions"},
    }
    assert with_cluster_names(data, "questions") == data
    assert with_cluster_names(data, "territories") == {
        "reason": "fewer than 2 territories",
        "questions": [{"reason": "5 territories are too few to resample"}, {"reason": None}, 3],
        "deeper": {"reason": "no variation between territories", "advice": "questions"},
    }


def test_the_smallest_difference_stands_beside_what_it_assumes(whole: Mapping[str, Any]) -> None:
    """Computed again with the published assumptions it is the same figure, in the headline's unit."""
    variance = whole["variance"]
    assert variance["smallest_difference_assumes"] == {"shared": 0.5, "power": 0.8, "alpha": 0.05}
    components = Components(variance=variance["variance"], merged=variance["merged"])
    again = smallest_difference(components, variance["design"], **variance["smallest_difference_assumes"])
    assert again is not None
    # The scale has five levels, 25 percentage points apart.
    assert variance["smallest_difference"] == pytest.approx(25 * again, rel=1e-4)
    assert (whole["metrics"]["overall"].unit, variance["smallest_difference_unit"]) == (
        "%",
        "percentage points",
    )
