"""Differences on the same questions: against statsmodels, by hand, those of rates by simulation."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy.special import stdtrit
from simulated import four, holds, limits, observe

from equipoise.core.figures import Difference
from equipoise.stats.intervals import clustered_mean
from equipoise.stats.paired import (
    holm,
    needed_clusters,
    needed_runs,
    needed_runs_for_worsening,
    noninferiority,
    paired_difference,
    paired_rate_difference,
)

Array = NDArray[np.float64]
NAN = math.nan


def difference(
    value: float = 0.0, low: float | None = -1.0, high: float | None = 1.0, n: int = 50
) -> Difference:
    """A difference with these limits."""
    return Difference(value=value, se=0.5, low=low, high=high, p=0.5, n=n, unpaired=0)


def refusals(number: int, unstable: float, flipping: float, questions: int, seed: int) -> tuple[Array, Array]:
    """Shares of 5 runs refused, before and after: some questions are a matter of chance, some turn wholly."""
    chance = np.random.default_rng(seed)
    shape = (number, questions, 1)
    first = np.where(chance.random(shape) < unstable, chance.uniform(0.1, 0.9, shape), 0.0)
    second = np.where((chance.random(shape) < flipping) & (first == 0), 1.0, first)
    sides = [np.broadcast_to(side, (number, questions, 3)) for side in (first, second)]
    return chance.binomial(5, sides[0]) / 5, chance.binomial(5, sides[1]) / 5


def test_cells_are_paired_and_weigh_as_in_a_clustered_mean() -> None:
    """Four cells have no partner: the difference is that of the two that do, and says so."""
    before = observe([[1, 2], [3, NAN], [5, 1], [NAN, NAN]])
    after = observe([[2, NAN], [5, 3], [NAN, NAN], [4, NAN]])
    change = paired_difference(before, after)
    assert (change.value, change.n, change.unpaired) == (1.5, 2, 5)
    chance = np.random.default_rng(4)
    before, after = chance.normal(3, 1, (2, 20, 3))
    before[3:9, 1], after[5, 2] = NAN, NAN
    change = paired_difference(observe(before), observe(after))
    alone = clustered_mean(observe(after - before))
    assert four(change) == pytest.approx(four(alone), rel=1e-9)
    assert change.unpaired == 7


@pytest.mark.parametrize(
    ("compare", "before", "after", "value", "n", "reason"),
    [
        (paired_difference, [], [], None, 0, "no questions"),
        (paired_difference, [[1.0]], [[NAN]], None, 0, "no questions"),
        (paired_difference, [[1.0, 2.0]], [[2.0, 4.0]], 1.5, 1, "1 question"),
        (paired_difference, [[1.0], [2.0]], [[2.0], [3.0]], 1.0, 2, "no variation between questions"),
        (paired_rate_difference, [], [], None, 0, "no questions"),
        (paired_rate_difference, [[0.2]], [[0.5]], 0.3, 1, "1 question"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    compare: Callable[..., Difference],
    before: list[list[float]],
    after: list[list[float]],
    value: float | None,
    n: int,
    reason: str,
) -> None:
    """No limits, no p, and a gate that is inconclusive."""
    change = compare(observe(before), observe(after))
    assert (change.value, change.n, change.reason) == (value, n, reason)
    assert (change.se, change.low, change.high, change.p) == (None, None, None, None)
    assert noninferiority(change, 1) == "inconclusive"


@pytest.mark.parametrize("compare", [paired_difference, paired_rate_difference])
def test_what_is_no_number_or_stands_twice_is_refused(compare: Callable[..., Difference]) -> None:
    """On either side, as in a clustered mean, and in a cell without a partner too."""
    good, twice = observe([[0.1], [0.2]]), observe([[0.1], [0.2]]) * 2
    bad = [item._replace(value=NAN) for item in good]
    for before, after in (
        (bad, good),
        (good, bad),
        (twice, good),
        (good, twice),
        (good[:1], [good[0], bad[1]]),
    ):
        with pytest.raises(ValueError, match=r"finite|between 0 and 1|twice"):
            compare(before, after)


def test_holm_is_that_of_statsmodels() -> None:
    """Ties and ones included, and the order of the keys is kept."""
    from statsmodels.stats.multitest import multipletests

    for seed in range(5):
        values = np.random.default_rng(seed).choice([0.001, 0.01, 0.02, 0.04, 0.3, 1.0], 12).tolist()
        adjusted = holm({f"metric{number}": p for number, p in enumerate(values)})
        assert [*adjusted] == [f"metric{number}" for number in range(12)]
        assert [*adjusted.values()] == pytest.approx(multipletests(values, method="holm")[1], rel=1e-12)


def test_holm_takes_p_values_alone() -> None:
    """Of nothing there is nothing."""
    assert holm({}) == {}
    for p in (-0.1, 1.1, NAN):
        with pytest.raises(ValueError, match="p value"):
            holm({"a": 0.5, "b": p})


@pytest.mark.parametrize("questions", [2, 10, 50, 150])
def test_no_change_of_rates_is_no_certainty(questions: int) -> None:
    """[0, 0] would be one: the limits are at least the one-sided exact ones of k questions, on both sides."""
    shares = np.random.default_rng(6).integers(0, 6, (questions, 3)) / 5
    change = paired_rate_difference(observe(shares), observe(shares))
    assert (change.value, change.se, change.p, change.n, change.reason) == (0, None, 1, questions, None)
    low, high = limits(change)
    assert high == pytest.approx(-low, rel=1e-12)
    assert high > 1 - 0.05 ** (1 / questions)
    assert noninferiority(change, 0.02) == "inconclusive"


def test_no_change_says_less_where_one_language_has_few_pairs() -> None:
    """Three pairs make up a third of the figure: the effective number of questions counts, not 50."""
    shares = np.full((50, 3), 0.4)
    few = shares.copy()
    few[3:, 2] = NAN
    every, short = (paired_rate_difference(observe(cells), observe(cells)) for cells in (shares, few))
    assert limits(short)[1] > 2 * limits(every)[1]


@pytest.mark.slow
def test_many_single_pairs_have_the_textbook_interval_of_paired_proportions() -> None:
    """2,000 rises and 1,200 falls in 20,000: Wald's and McNemar's, to one percent of the width."""
    before = [[0.0]] * 2000 + [[1.0]] * 1200 + [[0.0]] * 16800
    after = [[1.0]] * 2000 + [[0.0]] * 1200 + [[0.0]] * 16800
    change = paired_rate_difference(observe(before), observe(after))
    half = 1.959964 * math.sqrt((0.1 + 0.06 - 0.04**2) / 20000)
    assert (change.low, change.high) == pytest.approx((0.04 - half, 0.04 + half), abs=0.02 * half)
    assert change.se == pytest.approx(half / 1.959964, rel=1e-4)


def test_turned_around_the_rate_difference_changes_sign() -> None:
    """Before and after exchanged: the limits are mirrored, p is the same."""
    before, after = (side[0] for side in refusals(1, 0.2, 0.1, 50, seed=7))
    change, turned = (
        paired_rate_difference(observe(one), observe(other))
        for one, other in ((before, after), (after, before))
    )
    low, high = limits(change)
    assert limits(turned) == pytest.approx((-high, -low), abs=1e-12)
    assert turned.p == pytest.approx(change.p, rel=1e-6)
    assert low <= (change.value or 0) <= high


def test_the_interval_of_a_rate_difference_ends_at_zero_at_its_own_p() -> None:
    """So a p below 0.05 and a 95 % interval without zero are the same statement."""
    for seed in range(8):
        before, after = (side[0] for side in refusals(1, 0.3, 0.06, 50, seed=seed))
        change = paired_rate_difference(observe(before), observe(after))
        assert change.p is not None
        again = paired_rate_difference(observe(before), observe(after), confidence=1 - change.p)
        assert min(map(abs, limits(again))) == pytest.approx(0, abs=1e-9), seed


def test_a_share_is_not_a_percentage() -> None:
    """40 for 0.4 is a mistake."""
    for value in (-0.2, 1.2, 40.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            paired_rate_difference(observe([[0.1], [0.2]]), observe([[0.1], [value]]))


@pytest.mark.slow
def test_a_rate_difference_is_held_where_few_questions_change(subtests: pytest.Subtests) -> None:
    """Of 250 pairs at least 93 % are held, and at most 4 % miss on the side that a gate guards."""
    for unstable, flipping in itertools.product((0.0, 0.1, 0.3, 1.0), (0.0, 0.02, 0.1)):
        with subtests.test(f"{unstable} {flipping}"):
            before, after = refusals(250, unstable, flipping, 50, seed=9)
            truth = (1 - unstable) * flipping
            changes = [
                paired_rate_difference(observe(old), observe(new))
                for old, new in zip(before, after, strict=True)
            ]
            assert np.mean([holds(change, truth) for change in changes]) >= 0.93
            assert np.mean([limits(change)[1] < truth for change in changes]) <= 0.04


def test_a_margin_is_not_negative() -> None:
    """A margin of -2 for "2 worse" would turn the gate around; one of 0 is a superiority test."""
    for margin in (-1, NAN, math.inf):
        with pytest.raises(ValueError, match="margin"):
            noninferiority(difference(), margin)
    assert noninferiority(difference(low=0.01), 0) == "pass"
    assert noninferiority(difference(high=-0.01), 0) == "fail"


def test_the_questions_needed_by_hand() -> None:
    """Spread 10 and distance 2: (1.96 + 0.84)^2 25 = 196.2, and two more for Student's t; never one."""
    half = stdtrit(49, 0.975) * 10 / math.sqrt(50)
    assert needed_clusters(difference(-2.5, -2.5 - half, -2.5 + half), 0.5) == 199
    assert needed_clusters(difference(2.5, 2.5 - half, 2.5 + half), 0.5, "lower") == 199
    assert needed_clusters(difference(100, 99.9, 100.1), 2) == 2
    # At a hair less than the distance that 199 questions show, 200 are needed.
    distance = 10 * (stdtrit(198, 0.975) + stdtrit(198, 0.8)) / math.sqrt(199) * (1 - 1e-9)
    assert needed_clusters(difference(0.0, -half, half), distance) == 200


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(difference(low=None, high=None), id="no_interval"),
        pytest.param(difference(-2.0, -3, -1), id="at_the_margin"),
        pytest.param(difference(-2.0 + 1e-9, -3, -1), id="millions"),
    ],
)
def test_no_number_is_named_where_none_would_decide(change: Difference) -> None:
    """Neither of questions nor of runs."""
    assert needed_clusters(change, 2) is None
    assert needed_runs(change, 2, runs=5, noise=0.1) is None


def test_the_runs_needed_by_hand() -> None:
    """Of a squared error of 4, runs make 3: a distance of 2 leaves no room for the rest, one of 4 does."""
    reach = stdtrit(49, 0.975) + stdtrit(49, 0.8)
    half = 2 * stdtrit(49, 0.975)
    change = difference(0, -half, half)
    assert needed_runs(change, 2, runs=5, noise=3) is None
    assert needed_runs(change, 4, runs=5, noise=3) == math.ceil(15 / ((4 / reach) ** 2 - 1))
    assert needed_runs(change, 40, runs=5, noise=3) == 1
    assert needed_runs(change, reach * math.sqrt(1 + 15 / 6) * (1 - 1e-9), runs=5, noise=3) == 7
    assert needed_runs(change, 2, runs=5, noise=0) is None


def test_needed_repeats_are_the_smallest_number_that_shows_the_fall() -> None:
    """By scipy's t: with so many runs the fall is beyond both quantiles, with one run less it is not."""

    def is_enough(runs: int, groups: int, tests: int, fall: float, variance: float) -> bool:
        student = scipy.stats.t(groups * (runs - 1))
        reach = float(student.ppf(1 - 0.025 / tests) + student.ppf(0.8))
        return reach * math.sqrt(2 * variance / runs) <= fall

    for groups, tests, fall, variance in (
        (2, 1, 2.0, 0.25),
        (2, 1, 1.6, 0.25),
        (2, 150, 2.0, 4.0),
        (300, 1, 0.5, 1.0),
        (300, 150, 2.0, 4.0),
        (2, 150, 0.5, 1.0),
    ):
        needed = needed_runs_for_worsening(fall, variance, groups=groups, tests=tests)
        assert needed is not None
        assert is_enough(needed, groups, tests, fall, variance)
        assert needed == 2 or not is_enough(needed - 1, groups, tests, fall, variance)
    assert needed_runs_for_worsening(2, 0, groups=2) == 2
    assert needed_runs_for_worsening(0, 1, groups=2) is None
    assert needed_runs_for_worsening(1e-6, 1, groups=2) is None
