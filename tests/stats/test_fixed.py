"""Intervals on fixed questions, against scipy where it has them, and errors against simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from simulated import cells, four, holds, limits

from equipoise.core.records import Metric
from equipoise.stats import fixed
from equipoise.stats.metrics import difference as sampled_difference
from equipoise.stats.metrics import measure

Array = NDArray[np.float64]
MEAN = Metric(name="overall", of="a")
RATE = Metric(name="refused", of="a", kind="rate")
PART = Metric(name="replies", of="a", per="c", kind="rate")
COUNT = Metric(name="countries", of="a", kind="count")
RATIO = Metric(name="given", of="a", per="b", kind="ratio")
GAP = Metric(name="gap", of="a", per="b", kind="gap")
LIFT = Metric(name="lift", of="a", per="b", kind="lift")
BALANCE = Metric(name="lean", of="a", kind="balance")


def test_of_one_case_a_difference_is_welchs() -> None:
    """scipy's interval and p of two samples of unequal variance."""
    chance = np.random.default_rng(1)
    before, after = chance.normal(3, 1, 6), chance.normal(4, 2, 9)
    change = fixed.difference(COUNT, *(cells(a=side.reshape(1, 1, -1)) for side in (before, after)))
    welch = scipy.stats.ttest_ind(after, before, equal_var=False)
    low, high = welch.confidence_interval(0.95)
    assert (change.low, change.high, change.p) == pytest.approx((low, high, welch.pvalue), rel=1e-9)


def test_the_variance_is_that_of_a_stratified_mean() -> None:
    """By hand: two languages of two and one question; weights 1/4, 1/4, 1/2; s^2 / R of 2/2, 0, 8/2."""
    runs = np.array([[[1.0, 3.0], [2.0, 6.0]], [[5.0, 5.0], [math.nan, math.nan]]])
    estimate = fixed.estimate(COUNT, cells(a=runs))
    assert estimate.value == pytest.approx((2 + 5) / 4 + 4 / 2)
    assert estimate.se == pytest.approx(math.sqrt(1 / 16 + 4 / 4))
    degrees = (1 / 16 + 1) ** 2 / (1 / 16**2 + 1)
    half = scipy.stats.t.isf(0.025, degrees) * math.sqrt(1 / 16 + 1)
    assert estimate.high == pytest.approx(estimate.value + half)
    assert estimate.n == 3


def test_figures_are_those_that_are_measured_on_questions_as_a_sample() -> None:
    """The two scopes differ in the interval alone, whatever the kind."""
    chance = np.random.default_rng(2)
    before, after = (
        {"a": sample(chance, 0.4), "b": sample(chance, 0.7), "c": (1 + sample(chance, 0.5)) / 2}
        for _ in range(2)
    )
    for metric in (MEAN, RATE, PART, COUNT, RATIO, GAP, LIFT, BALANCE):
        older, newer = cells(**before), cells(**after)
        assert fixed.estimate(metric, older).value == pytest.approx(measure(metric, older).value), metric
        change = sampled_difference(metric, older, newer).value
        assert fixed.difference(metric, older, newer).value == pytest.approx(change), metric


def sample(chance: np.random.Generator, rate: float, shape: tuple[int, ...] = (12, 2, 5)) -> Array:
    """So many of 1 among 0."""
    return (chance.random(shape) < rate).astype(np.float64)


def test_what_always_ends_alike_narrows_a_rate_and_what_varies_does_not() -> None:
    """A tenth of the runs refused: always the same questions, or any run at a tenth."""
    runs = cells(a=sample(np.random.default_rng(3), 0.4), c=np.ones((12, 2, 5)))
    rate, part = (fixed.estimate(metric, runs) for metric in (RATE, PART))
    assert four(part) == pytest.approx(four(rate))
    always = np.zeros((20, 1, 5))
    always[:2] = 1.0
    by_chance = np.zeros((20, 1, 5))
    by_chance.reshape(-1)[::10] = 1.0
    narrow, wide = (fixed.estimate(RATE, cells(a=runs)) for runs in (always, by_chance))
    assert narrow.value == pytest.approx(10)
    assert wide.value == pytest.approx(10)
    assert 0 < 10 - limits(narrow)[0] < 0.5 * (10 - limits(wide)[0])


@pytest.mark.slow
@pytest.mark.parametrize("metric", [MEAN, RATE, PART, RATIO, GAP, LIFT], ids=lambda metric: metric.name)
def test_the_standard_error_is_how_far_figures_vary_over_sessions(metric: Metric) -> None:
    """Of 400 sessions on the same 20 cases, within a tenth on average."""
    chance = np.random.default_rng(3)
    above, below = chance.uniform(0.2, 0.8, (10, 2, 1)), chance.uniform(0.4, 0.9, (10, 2, 1))
    draws = ((draw(chance, above), draw(chance, below)) for _ in range(400))
    estimates = [fixed.estimate(metric, cells(a=a, b=b, c=(1 + b) / 2)) for a, b in draws]
    spread = np.std(np.array([item.value for item in estimates], dtype=np.float64), ddof=1)
    assert np.mean([item.se for item in estimates]) == pytest.approx(spread, rel=0.1)


def draw(chance: np.random.Generator, rates: Array, runs: int = 6) -> Array:
    """Runs of 1 and 0 at the cases' own rates."""
    return (chance.random((*rates.shape[:2], runs)) < rates).astype(np.float64)


@pytest.mark.parametrize("events", [0, 120])
def test_no_event_in_so_many_runs_is_no_proof_of_none(events: int) -> None:
    """120 runs: Wilson's interval of 0 or all of 120, which ends where further runs may still differ."""
    estimate = fixed.estimate(RATE, cells(a=np.full((12, 2, 5), events / 120)))
    exact = scipy.stats.binomtest(events, 120).proportion_ci(method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx((100 * exact.low, 100 * exact.high), rel=0.03)
    assert estimate.se is None


def test_without_runs_that_differ_there_is_no_interval() -> None:
    """The reason names the first case that has one run only; a width of zero would claim too much."""
    runs = np.full((3, 2, 2), 50.0)
    runs[..., 1] = 75.0
    single = runs.copy()
    single[1, 1, 1] = math.nan
    estimate = fixed.estimate(MEAN, cells(a=single))
    assert (estimate.low, estimate.reason) == (None, "every case needs 2 runs or more: l1/q1 has 1")
    for pair in ((runs, single), (single, runs)):
        change = fixed.difference(MEAN, *(cells(a=side) for side in pair))
        assert (change.low, change.p, change.reason) == (None, None, estimate.reason)
    alike, varied = np.full((3, 2, 2), 50.0), np.array([[[50.0, 75.0]] * 2] * 3)
    estimate = fixed.estimate(MEAN, cells(a=alike))
    assert estimate.value == pytest.approx(50)
    assert (estimate.se, estimate.low, estimate.reason) == (None, None, fixed.NOTHING_VARIED)
    change = fixed.difference(MEAN, cells(a=alike), cells(a=alike + 25))
    assert change.value == pytest.approx(25)
    assert (change.low, change.reason) == (None, fixed.NOTHING_VARIED)
    moved = fixed.difference(MEAN, cells(a=alike), cells(a=varied))
    assert moved.value == pytest.approx(12.5)
    assert limits(moved)[0] < 12.5


def test_a_difference_turned_round_is_its_opposite_and_p_agrees_with_the_interval() -> None:
    """p is below 0.05 exactly where the interval leaves out zero."""
    chance = np.random.default_rng(6)
    for metric in (MEAN, RATE, RATIO, GAP, LIFT, BALANCE):
        for shift in (0.5, 0.6, 0.75):
            sides = [cells(a=sample(chance, rate), b=sample(chance, 0.6)) for rate in (0.5, shift)]
            there, back = fixed.difference(metric, *sides), fixed.difference(metric, *reversed(sides))
            assert limits(there)[0] == pytest.approx(-limits(back)[1]), metric
            assert there.p is not None
            assert (there.p < 0.05) is not holds(there, 0), metric


def test_only_cases_that_both_have_are_compared() -> None:
    """What one result lacks is counted, not guessed; no case, or a ratio over nothing, is told."""
    runs = np.random.default_rng(7).uniform(0, 100, (4, 2, 3))
    fewer = runs + 10
    fewer[0, 0] = math.nan
    change = fixed.difference(COUNT, cells(a=runs), cells(a=fewer))
    assert (change.value, change.n, change.unpaired) == (pytest.approx(10), 7, 1)  # type: ignore[comparison-overlap]
    assert fixed.estimate(MEAN, []).reason == "no questions"
    nothing = fixed.estimate(RATIO, cells(a=np.zeros((2, 1, 3)), b=np.zeros((2, 1, 3))))
    assert (nothing.value, nothing.reason) == (None, "not defined")
