"""Figures corrected by labels: against four libraries, against survey sampling, and in simulated sessions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simulated
from numpy.typing import NDArray
from simulated import limits as ends

from equipoise.core.records import Cell, Metric
from equipoise.stats.corrected import (
    CorrectedEstimate,
    Labels,
    combine,
    correct,
    interval,
    needed_for_margin,
    needed_labels,
)
from equipoise.stats.labelled import LabelledRuns, difference, estimate, figures
from equipoise.stats.metrics import measure

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "prediction_powered.json").read_bytes())
"""300 scores of a judge, people's labels of the first 60 and of all, and what four libraries make of them.

Computed once by ppi-python 0.2.3, truescore 0.7.4, evalstats 0.3.3 and cje-eval 0.9.3.
"""
Array = NDArray[np.float64]
ALIKE = "people scored every reply of a language alike"
FOLLOWING = "the labels vary only as the evaluators' scores do"


def labels(
    judge: Sequence[float] | Array, people: Sequence[float] | Array, clusters: Sequence[int] | None = None
) -> Labels:
    """Labels of the first replies; each reply is a question of its own, unless there are clusters."""
    size, scores = len(judge), np.array(people, dtype=np.float64)
    table = np.full((size, 1 if scores.ndim == 1 else scores.shape[1]), np.nan)
    table[: len(scores)] = scores.reshape(len(scores), -1)
    return Labels(
        judge=np.array(judge, dtype=np.float64),
        people=table,
        probability=np.full(size, len(scores) / size),
        clusters=np.arange(size) if clusters is None else np.array(clusters),
        strata=np.zeros(size, np.int_),
    )


def mean_of(labelled: Labels, weight: float | None = None) -> CorrectedEstimate:
    """The corrected mean of all replies."""
    size = len(labelled.judge)
    made = correct(np.full(size, 1 / size), labelled, weight=weight)
    assert made is not None
    return made


def se(corrected: CorrectedEstimate) -> float:
    """The standard error for questions like these."""
    return math.sqrt(corrected.variance("population"))


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_it_is_that_of_libraries_for_prediction_powered_inference(weight: float) -> None:
    """Theirs weighs the judge on unlabelled replies alone, N / n' times as much as ours on all."""
    judge, people, name = VECTORS["judge"], VECTORS["people"], f"lam{weight}"
    corrected = mean_of(labels(judge, people), weight * 300 / 240)
    for library in ("ppi-python", "truescore"):
        assert corrected.value == pytest.approx(VECTORS[library][name]["point"], abs=1e-9)
    assert se(corrected) == pytest.approx(VECTORS["truescore"][name]["se"], abs=1e-9)
    # ppi-python divides sums of squares by n; with as many unlabelled replies as labels both by the same.
    equal = mean_of(labels(judge[:120], people), weight * 2)
    assert equal.value == pytest.approx(VECTORS["ppi-python"][name]["point_60"], abs=1e-9)
    assert se(equal) * math.sqrt(59 / 60) == pytest.approx(VECTORS["ppi-python"][name]["se_60"], abs=1e-9)


def test_its_t_interval_is_that_of_evalstats() -> None:
    """With n - 1 degrees of freedom, the weight being given."""
    published = VECTORS["evalstats"]["lam1.0"]
    limits = interval(mean_of(labels(VECTORS["judge"], VECTORS["people"]), 300 / 240), "population")
    shown = [limits.value, limits.low, limits.high]
    assert shown == pytest.approx(
        [published["estimate"], published["ci_low"], published["ci_high"]], abs=1e-9
    )


def test_labels_of_all_are_a_clustered_mean_as_in_cje_eval() -> None:
    """Nothing is left to correct then."""
    judge, people, published = VECTORS["judge"], VECTORS["people_scaled"], VECTORS["cje-eval"]
    corrected = mean_of(labels(judge, people, [number // 6 for number in range(300)]), 0.0)
    assert (corrected.value, se(corrected)) == pytest.approx((published["point"], published["se"]), abs=1e-9)
    assert se(mean_of(labels(judge, people), 0.0)) == pytest.approx(published["singles"]["se"], abs=1e-9)


def test_differences_of_the_same_replies_are_paired_as_in_truescore() -> None:
    """Each side's pulls are subtracted reply by reply."""
    published, weight = VECTORS["truescore"]["compare"], 300 / 240
    sides = [
        mean_of(labels(VECTORS[judge], VECTORS[people]), weight)
        for judge, people in (("judge", "people"), ("judge_b", "people_b"))
    ]
    combined = combine(sides, [1, -1], sides[0].value - sides[1].value, 0)
    assert (combined.value, se(combined)) == pytest.approx((published["point"], published["se"]), abs=1e-9)


def test_on_these_replies_it_is_the_regression_estimator_with_its_finite_population() -> None:
    """(1 - n/N) s^2 / n of a straight line's residuals (Cochran 1977, 7.3) with g-weights; n - 2 degrees."""
    judge, people = np.array(VECTORS["judge"]), np.array(VECTORS["people"])
    slope, intercept = np.polyfit(judge[:60], people, 1)
    residuals = people - slope * judge[:60] - intercept
    corrected = mean_of(labels(judge, people))
    assert corrected.value == pytest.approx(slope * judge.mean() + intercept)
    off = judge[:60] - judge[:60].mean()
    stretched = residuals * (1 + 60 * (judge.mean() - judge[:60].mean()) * off / (off @ off))
    assert corrected.variance("these") == pytest.approx((1 - 60 / 300) * (stretched @ stretched) / 58 / 60)
    assert corrected.degrees == 58
    every = interval(mean_of(labels(judge, VECTORS["people_scaled"])), "these")
    assert every.value == pytest.approx(np.mean(VECTORS["people_scaled"]))
    assert every.se == pytest.approx(0, abs=1e-12)


def test_people_who_differ_widen_the_interval_and_noise_does_not() -> None:
    """With D between two people by D / 2 in quadrature; what chance explains is taken off."""
    chance = np.random.default_rng(3)
    judge, people = np.array(VECTORS["judge"]), np.array(VECTORS["people"])
    alike = np.column_stack([people + chance.normal(size=60), people + chance.normal(size=60)])
    apart = alike + np.array([5.0, -5.0])
    same, differ = (mean_of(labels(judge, verdicts)) for verdicts in (alike, apart))
    assert same.variance_between_people() == pytest.approx(0, abs=0.05)
    assert differ.variance_between_people() == pytest.approx(25, rel=0.1)
    assert differ.value == pytest.approx(same.value)
    one = alike.copy()
    one[20:40, 0], one[40:, 1] = np.nan, np.nan
    dealt = mean_of(labels(judge, one))
    assert dealt.variance("these") > 0
    assert dealt.labels == 60


def test_chance_in_the_labels_of_both_results_is_taken_off_their_difference() -> None:
    """It adds up, as variances do: people whose labels differ by it alone make no difference between them."""
    chance = np.random.default_rng(3)
    judge, people = np.array(VECTORS["judge"]), np.array(VECTORS["people"])
    tables = [np.column_stack([people, people]) + 5 * chance.normal(size=(60, 2)) for _ in range(2)]
    sides = [mean_of(labels(judge, table)) for table in tables]
    change = combine(sides, [1, -1], sides[0].value - sides[1].value, 0)
    assert change.noise.sum() == pytest.approx(sides[0].noise.sum() + sides[1].noise.sum())
    assert change.noise.sum() > 0


def test_facts_need_no_label_and_strata_are_centred_apart() -> None:
    """A judge that is 20 points off in one language alone is corrected there."""
    chance = np.random.default_rng(4)
    truth = 50 + 20 * chance.normal(size=300)
    strata = np.repeat([0, 1, 2], 100)
    judge = truth - 20 * (strata == 2)
    drawn = np.concatenate([chance.choice(np.arange(100), 20, replace=False) + 100 * k for k in range(3)])
    people = np.full((300, 1), np.nan)
    people[drawn, 0] = truth[drawn]
    labelled = Labels(
        judge=judge, people=people, probability=np.full(300, 0.2), clusters=np.arange(300), strata=strata
    )
    corrected = mean_of(labelled)
    assert corrected.value == pytest.approx(truth.mean(), abs=0.01)
    pooled = mean_of(replace(labelled, strata=np.zeros(300, np.int_)))
    assert corrected.variance("these") < pooled.variance("these") / 100
    probability = labelled.probability.copy()
    probability[:20] = np.nan
    known = mean_of(replace(labelled, probability=probability))
    assert known.value == pytest.approx(truth.mean(), abs=0.01)


def test_few_labels_and_no_spread_are_said() -> None:
    """There is a figure, and a reason why it has no interval."""
    judge = VECTORS["judge"]
    few = interval(mean_of(labels(judge, VECTORS["people"][:9])), "these")
    assert (few.low, few.reason) == (None, "too few labels: 9, and 10 are needed")
    linear = mean_of(labels(judge, [value / 2 + 3 for value in judge[:40]]))
    constant = mean_of(labels(judge, [70.1] * 40))
    by_language = replace(
        labels(judge, [70.1] * 20 + [30.2] * 20), strata=np.repeat([0, 1, 1], [20, 20, 260])
    )
    by_language = replace(by_language, probability=np.repeat([1.0, 20 / 280], [20, 280]))
    for figure, value, reason in (
        (linear, np.mean(judge) / 2 + 3, FOLLOWING),
        (constant, 70.1, ALIKE),
        (mean_of(by_language), (70.1 * 20 + 30.2 * 280) / 300, ALIKE),
        (combine([constant, linear], [1.0, -1.0], 2.0, 0.0), 2.0, FOLLOWING),
    ):
        limits = interval(figure, "these")
        assert (limits.low, limits.reason) == (None, reason)
        assert limits.value == pytest.approx(value)
    assert correct(np.full(300, 1 / 300), labels(judge, [50.0])) is None


def test_labels_needed_agree_with_the_interval() -> None:
    """About 60 for 3.4 points, and about 360 on each side for a margin of 2; ten for an easy aim."""
    assert needed_labels(3.4, spread=24.7, agreement=0.84, replies=750) == 58
    assert needed_labels(1.0, spread=24.7, agreement=0.84, replies=750, floor=3.0) is None
    assert needed_for_margin(2, spread=24.7, agreement=0.84, replies=750) == pytest.approx(360, abs=8)
    wanted = {"spread": 24.7, "agreement": 0.84}
    assert needed_labels(50.0, **wanted, replies=750) == needed_for_margin(90, **wanted, replies=750) == 10
    assert needed_labels(50.0, **wanted, replies=8) is None
    assert needed_for_margin(90, **wanted, replies=8) is None


def cells(values: Mapping[str, Sequence[Sequence[float]]]) -> list[Cell]:
    """Questions with these runs of each value, in one language."""
    return simulated.cells(**{name: [[runs] for runs in by_question] for name, by_question in values.items()})


@pytest.mark.parametrize("kind", ["mean", "rate", "ratio"])
def test_labels_of_all_give_the_figure_that_people_would(kind: Any) -> None:
    """Whatever the judge says: a mean, a share, a ratio of two."""
    chance = np.random.default_rng(5)
    judge = {name: chance.integers(0, 2, (20, 3)).astype(float).tolist() for name in ("of", "per")}
    people = {name: chance.integers(0, 2, (20, 3)).astype(float).tolist() for name in ("of", "per")}
    by_run = {
        (f"l0/q{index}", run): {"anna": {name: people[name][index][run] for name in people}}
        for index in range(20)
        for run in range(3)
    }
    runs = LabelledRuns(people=["anna"], values=by_run, probability=1.0)
    metric = Metric(name="m", of="of", per="per" if kind == "ratio" else None, kind=kind)
    corrected = figures([metric], cells(judge), runs)[metric.name]
    assert corrected.value == pytest.approx(measure(metric, cells(people)).value)
    assert corrected.judge == pytest.approx(measure(metric, cells(judge)).value)


def test_a_run_that_cannot_be_labelled_counts_as_it_is() -> None:
    """It is a fact of 100, and no label of others bears on it: these are 40 and 60 where the judge said 0."""
    judge = {"of": [[0.0, 100.0]] * 12}
    by_run = {(f"l0/q{index}", 0): {"anna": {"of": 40.0 + 20 * (index % 2)}} for index in range(12)}
    facts = frozenset((f"l0/q{index}", 1) for index in range(12))
    runs = LabelledRuns(people=["anna"], values=by_run, probability=1.0, left_out=facts)
    corrected = figures([Metric(name="m", of="of")], cells(judge), runs)["m"]
    assert corrected.value == pytest.approx((50 + 100) / 2)
    assert corrected.is_complete


def test_a_ratio_over_nothing_is_not_corrected() -> None:
    """People who find with the judge that nothing was attempted give no interval, not one of width zero."""
    nothing = {name: [[0.0, 0.0]] * 15 for name in ("of", "per")}
    by_run = {(f"l0/q{n}", run): {"anna": {"of": 0.0, "per": 0.0}} for n in range(15) for run in range(2)}
    runs = LabelledRuns(people=["anna"], values=by_run, probability=1.0)
    metric = Metric(name="m", of="of", per="per", kind="ratio", if_nothing=0.0)
    assert figures([metric], cells(nothing), runs) == {}


def test_labels_that_all_agree_with_the_judge_leave_a_doubt() -> None:
    """No interval is of width zero: a share has about the rule of three, a mean none."""
    judge = {"of": [[float(index % 5 * 25)] for index in range(200)]}
    for kind, share, least in (("mean", 0.2, None), ("balance", 0.2, 2.0), ("mean", 1.0, 0.0)):
        by_run = {
            (f"l0/q{index}", 0): {"anna": {"of": judge["of"][index][0]}} for index in range(int(200 * share))
        }
        runs = LabelledRuns(people=["anna"], values=by_run, probability=share)
        metric = Metric(name="m", of="of", kind=kind)  # type: ignore[arg-type]  # a kind
        limits = estimate(metric, figures([metric], cells(judge), runs)["m"], "these")
        if least is None:
            assert limits.low is None
            assert limits.reason == FOLLOWING
        else:
            low, high = ends(limits)
            assert least <= high - low < least + 20
    judge = {"of": [[float(index % 2)] for index in range(200)]}
    by_run = {(f"l0/q{index}", 0): {"anna": {"of": float(index % 2)}} for index in range(40)}
    runs = LabelledRuns(people=["anna"], values=by_run, probability=0.2)
    metric = Metric(name="m", of="of", kind="rate")
    corrected = figures([metric], cells(judge), runs)[metric.name]
    limits = estimate(metric, corrected, "these")
    assert (limits.value, limits.reason) == (pytest.approx(50), None)  # type: ignore[comparison-overlap]
    # Half of the finite population's (1 - 40 / 200) (100 / 40)^2: Wilson's limits have the rest.
    assert limits.se == pytest.approx(100 / 40 * math.sqrt(0.8 / 2))
    assert 3 < ends(limits)[1] - 50 < 8


def test_a_rare_share_reaches_further_up_than_down() -> None:
    """By Wilson's limits; it is never below nothing, though labels may take away more than there is."""
    judge = {"of": [[float(index % 10 == 0)] for index in range(200)]}
    metric = Metric(name="m", of="of", kind="rate")
    for people, least in ((0.05, 0.0), (0.0, -1.0)):
        by_run = {(f"l0/q{index}", 0): {"anna": {"of": float(index < 60 * people)}} for index in range(60)}
        runs = LabelledRuns(people=["anna"], values=by_run, probability=0.3)
        corrected = figures([metric], cells(judge), runs)["m"]
        limits = estimate(metric, replace(corrected, value=corrected.value + least), "these")
        (low, high), value = ends(limits), limits.value or 0.0
        assert 0 <= low <= value < high
        assert high - value > 1.5 * (value - low)


def test_a_judge_that_favours_one_side_does_not_decide() -> None:
    """People see no difference where the judge sees ten points."""
    chance = np.random.default_rng(6)
    truth = 50 + 20 * chance.normal(size=200)
    before, after = truth + 2 * chance.normal(size=200), truth + 10 + 2 * chance.normal(size=200)
    by_run = {(f"l0/q{index}", 0): {"anna": {"of": float(truth[index])}} for index in range(60)}
    runs = LabelledRuns(people=["anna"], values=by_run, probability=0.3)
    metric = Metric(name="m", of="of", kind="count", unit="points")
    sides = [cells({"of": [[value] for value in values.tolist()]}) for values in (before, after)]
    comparison = difference(metric, (sides[0], runs), (sides[1], runs))
    assert comparison is not None
    low, high = ends(comparison[2]["these"])
    assert low < 0 < high < 2


def test_an_areas_interval_is_that_of_its_own_replies() -> None:
    """Replies to other questions count neither as replies nor as questions; one question has no interval."""
    draw = np.random.default_rng(7)
    clusters = np.repeat(np.arange(6), 10)
    judge = draw.normal(60, 15, 60)
    people = np.where(np.arange(60) % 2, judge + draw.normal(-8, 10, 60), np.nan)
    everything = replace(labels(judge, people, [*clusters]), probability=np.full(60, 0.5))
    area = clusters < 4
    own = replace(labels(judge[area], people[area], [*clusters[area]]), probability=np.full(40, 0.5))
    part = correct(area / area.sum(), everything)
    assert part is not None
    for scope in ("these", "population"):
        assert ends(interval(part, scope)) == pytest.approx(ends(interval(mean_of(own), scope)))
    single = correct((clusters == 0) / 10, everything, weight=1.0)
    assert single is not None
    assert interval(replace(single, labels=20), "population").reason == "1 question"
