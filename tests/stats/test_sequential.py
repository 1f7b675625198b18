"""Looks at a growing number of runs: published critical values, and coverage under a rule that stops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from simulated import benchmarks, holds, limits, observe

from equipoise.core.figures import Estimate
from equipoise.stats import Observation
from equipoise.stats.intervals import clustered_mean
from equipoise.stats.sequential import critical_value, look_confidence, question_share, run_variance

Array = NDArray[np.float64]
NAMES = [(f"q{question}", f"l{language}") for question in range(50) for language in range(3)]
ROUNDS = 5


def looks_interval(items: Sequence[Observation], *, look: int, looks: int) -> Estimate:
    """The interval of a look."""
    return clustered_mean(items, confidence=look_confidence(look, looks))


def at_look(runs: Array) -> Estimate:
    """The interval after as many rounds as there are, by what these rounds show of the questions' share."""
    items = observe(runs.mean(axis=2))
    share = question_share(items, dict(zip(NAMES, runs.reshape(150, -1).tolist(), strict=True)))
    return clustered_mean(items, confidence=look_confidence(runs.shape[2], ROUNDS, fixed_share=share))


def half_width(estimate: Estimate) -> float:
    """Half of the interval's width."""
    low, high = limits(estimate)
    return (high - low) / 2


def bounds(looks: int, share: float = 0.0) -> list[float]:
    """The critical values of all looks."""
    return [critical_value(look, looks, fixed_share=share) for look in range(1, looks + 1)]


def test_the_critical_values_are_the_published_ones() -> None:
    """O'Brien and Fleming's spending at equal steps, two-sided 0.05 (Reboussin et al. 2000; gsDesign)."""
    assert bounds(1) == pytest.approx([1.960], abs=6e-4)
    assert bounds(2) == pytest.approx([2.963, 1.969], abs=6e-4)
    assert bounds(3) == pytest.approx([3.710, 2.511, 1.993], abs=6e-4)
    assert bounds(20)[-1] < 1.13 * bounds(1)[0]
    assert bounds(5) == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=6e-4)


def test_all_looks_together_err_as_stated() -> None:
    """scipy's multivariate normal puts 95 % within the bounds, at correlations sqrt(I_j / I_k)."""
    for share in (0.0, 0.3, 0.9):
        information = 1 / (share + (1 - share) / np.arange(1, 5))
        ratio = np.sqrt(information[:, None] / information)
        limits = np.array(bounds(4, share))
        normal = scipy.stats.multivariate_normal(cov=np.minimum(ratio, 1 / ratio), seed=1, abseps=1e-5)
        assert normal.cdf(limits, lower_limit=-limits) == pytest.approx(0.95, abs=1e-4), share


def test_a_share_is_rounded_to_the_safe_side() -> None:
    """Down to twentieths, and never above 0.9: a wider interval than needed, not a narrower one."""
    assert bounds(5, 0.749) == bounds(5, 0.70)
    assert bounds(5, 0.75) != bounds(5, 0.70)
    assert bounds(5, 1.0) == bounds(5, 0.9)


def test_the_interval_is_students_at_the_normal_values_level() -> None:
    """3.357 is a two-sided level of 0.0008, at which t with 49 degrees is 3.57; one look is the plain one."""
    items = observe(np.random.default_rng(3).normal(3, 1, (50, 3)))
    estimate = looks_interval(items, look=2, looks=5)
    level = 2 * scipy.stats.norm.sf(critical_value(2, 5))
    assert estimate.se is not None
    assert half_width(estimate) / estimate.se == pytest.approx(scipy.stats.t.isf(level / 2, 49), rel=1e-6)
    alone, plain = looks_interval(items, look=1, looks=1), clustered_mean(items)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), rel=1e-12)


def test_a_look_is_one_of_those_foreseen_and_a_share_lies_between_none_and_all() -> None:
    """A sixth look at five would have no guarantee; anything else is a mistake."""
    items = observe(np.random.default_rng(4).normal(size=(50, 3)))
    for look, looks in ((0, 5), (6, 5), (1, 0), (1, 51)):
        with pytest.raises(ValueError, match="look"):
            looks_interval(items, look=look, looks=looks)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="share"):
            critical_value(5, 5, fixed_share=share)


def test_the_runs_part_of_the_error_by_hand() -> None:
    """Squares 2 and 8 in two of three cells: s^2 = 10 / 2, weights 1/4 and 1/2: 5 (1/32 + 1/32 + 1/4)."""
    runs = {("a", "x"): [1, 3], ("b", "x"): [2, 6], ("a", "y"): [4], ("b", "y"): []}
    assert run_variance(runs) == pytest.approx(5 * (1 / 32 + 1 / 32 + 1 / 4), rel=1e-12)


@pytest.mark.parametrize("runs", [{}, {("a", "x"): [1.0], ("b", "x"): [2.0]}, {("a", "x"): []}])
def test_single_runs_do_not_tell_their_part(runs: dict[tuple[str, str], Sequence[float]]) -> None:
    """None is not zero; and a run without a score must be left out."""
    assert run_variance(runs) is None
    with pytest.raises(ValueError, match="finite"):
        run_variance({**runs, ("c", "x"): [math.nan, 1.0]})


def test_the_questions_share_by_hand() -> None:
    """Means 2 and 10: se^2 = 32 / 2. Runs: s^2 = 8, so 8 / 4 / 2 of it twice: 14 of 14 + 2 times 2."""
    cells = {("a", "x"): [0.0, 4.0], ("b", "x"): [8.0, 12.0]}
    items = [Observation(cluster=name, stratum="x", value=value) for name, value in (("a", 2.0), ("b", 10.0))]
    assert question_share(items, cells) == pytest.approx(14 / (14 + 2 * 2), rel=1e-12)


@pytest.mark.parametrize("runs", [[[3.0], [4.0]], [[1.0, 5.0], [5.0, 1.2]], [[3.0, 3.0], [3.0, 3.0]]])
def test_where_the_share_cannot_be_told_it_is_none(runs: list[list[float]]) -> None:
    """In the first round, where runs explain everything, and where nothing varies: 0, the safe side."""
    cells = {(f"q{index}", "x"): values for index, values in enumerate(runs)}
    items = [
        Observation(cluster=cluster, stratum=stratum, value=math.fsum(values) / len(values))
        for (cluster, stratum), values in cells.items()
    ]
    assert question_share(items, cells) == 0


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spreads", "target"),
    [((0.6, 0.4, 0.6), 0.208), ((0.05, 0.05, 1.2), 0.135)],
    ids=["questions_differ", "only_runs_differ"],
)
def test_the_interval_at_which_the_rule_stops_holds_the_mean(
    spreads: tuple[float, float, float], target: float
) -> None:
    """Of 2,000 benchmarks stopped at a half-width or after five rounds, at least 93 % (here 95 %)."""
    scores, truth = benchmarks(2000, spreads, seed=7)
    held, rounds = [], []
    for runs in scores:
        look, estimate = 1, at_look(runs[..., :1])
        while look < ROUNDS and half_width(estimate) > target:
            look, estimate = look + 1, at_look(runs[..., : look + 1])
        held.append(holds(estimate, truth))
        rounds.append(look)
    assert np.mean(held) >= 0.95
    assert 1.5 < np.mean(rounds) < 4.5
    assert len(set(rounds)) >= 3
