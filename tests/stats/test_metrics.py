"""Metrics measured on cells, against scipy and statsmodels on random data and by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from simulated import cells, cells_of, four, holds, limits

from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell, Kind, Metric
from equipoise.stats import fixed, valid
from equipoise.stats.intervals import clustered_ratio
from equipoise.stats.metrics import (
    QUOTIENTS,
    difference,
    figures_by_run,
    measure,
    observations,
    run_parts,
)

Array = NDArray[np.float64]
NAN = math.nan
MEAN = Metric(name="overall", of="percent")
RATE = Metric(name="refused", of="refused", kind="rate", higher_is_better=False)
RATIO = Metric(name="share", of="hits", kind="ratio", per="tries")


def percents(seed: int, questions: int = 20, languages: int = 3, runs: int = 4) -> Array:
    """Percentages of the scale, alike within a question, (question, language, run)."""
    chance = np.random.default_rng(seed)
    latent = 3.5 + 0.8 * chance.normal(size=(questions, 1, 1))
    scores = latent + 0.8 * chance.normal(size=(questions, languages, runs))
    return np.asarray(25 * (np.clip(np.rint(scores), 1, 5) - 1))


def flags(seed: int, questions: int = 20, languages: int = 2, runs: int = 5) -> Array:
    """1 and 0, alike within a question, (question, language, run)."""
    chance = np.random.default_rng(seed)
    return chance.binomial(1, chance.beta(1, 2, (questions, 1, 1)), (questions, languages, runs)).astype(
        np.float64
    )


# Means.


def wilsons(means: Array) -> tuple[float, float, float, float]:
    """Value, error and the two places m in 0..100 from which the mean is t standard errors away.

    The error there is the observed one, in proportion to sqrt(m (100 - m)), as that of a share is.
    """
    value, error = float(means.mean()), float(scipy.stats.sem(means))
    critical = scipy.stats.t.isf(0.025, len(means) - 1)

    def beyond(limit: float) -> float:
        scale = limit * (100 - limit) / (value * (100 - value))
        return float((value - limit) ** 2 - critical**2 * error**2 * scale)

    return (
        value,
        error,
        scipy.optimize.brentq(beyond, 1e-9, value),
        scipy.optimize.brentq(beyond, value, 100 - 1e-9),
    )


def holed(seed: int) -> Array:
    """Percentages of which some are missing, but not all of a cell."""
    data = percents(seed)
    data[np.random.default_rng(3).random(data.shape) < 0.3] = NAN
    data[:, :, 0] = np.where(np.isnan(data).all(axis=2), 50.0, data[:, :, 0])
    return data


@pytest.mark.parametrize(
    "data",
    [
        *(percents(shape[0], *shape) for shape in ((2, 1, 1), (9, 2, 3), (50, 3, 5))),
        holed(2),
        *(np.reshape(pair, (2, 1, 1)) for pair in ((0.0, 100.0), (90.0, 100.0), (0.0, 10.0))),
    ],
)
def test_a_mean_is_scipys_on_the_questions_means(data: Array) -> None:
    """Their mean and standard error, over the runs with a score, in Wilson's interval with Student's t.

    Two questions have 12.706 standard errors to each side: the interval stays within 0 and 100.
    """
    means = np.nanmean(data, axis=2).mean(axis=1)
    estimate = measure(MEAN, cells_of("percent", data))
    assert four(estimate) == pytest.approx(wilsons(means), rel=1e-9)
    assert (estimate.n, estimate.reason) == (len(data), None)
    low, high = limits(estimate)
    assert 0 < low < means.mean() < high < 100


def test_languages_weigh_alike_and_cells_without_a_score_do_not_count() -> None:
    """(0 + 50) / 2 in one language, 100 in the other, where a question is missing: 62.5, not 50."""
    cells = cells_of("percent", [[[0.0, NAN], [100.0, 100.0]], [[50.0, 50.0], [NAN, NAN]]])
    estimate = measure(MEAN, cells)
    assert (estimate.value, estimate.n, estimate.reason) == (62.5, 2, "1 question in 'l1'")
    (observation,) = observations(MEAN, cells_of("percent", [[[20.0, NAN, 40.0]], [[NAN, NAN, NAN]]]))
    assert (observation.cluster, observation.stratum, observation.value) == ("q0", "l0", 30.0)
    assert valid([None, 0.0, 1.0, None]) == [0.0, 1.0]


def test_where_chooses_the_cells_that_count() -> None:
    """A metric of one language is that of its cells alone; a balance has the mean's interval, moved."""
    cells = cells_of("percent", percents(4))
    chosen = [cell for cell in cells if cell.stratum == "l1"]
    one = Metric(name="l1", of="percent", where={"language": "l1"})
    assert measure(one, cells) == measure(MEAN, chosen) != measure(MEAN, cells)
    assert difference(one, cells, chosen).unpaired == 0
    none = measure(Metric(name="l9", of="percent", where={"language": "l9"}), cells)
    assert (none.value, none.n, none.reason) == (None, 0, "no questions")
    metric = Metric(name="composite", of="percent", kind="balance", unit="points", higher_is_better=None)
    data = percents(7)
    balance, plain = (
        measure(metric, cells_of("percent", 2 * data - 100)),
        measure(MEAN, cells_of("percent", data)),
    )
    assert four(plain)[1:] != (None, None, None)
    expected = [2 * figure - 100 for figure in four(plain) if figure is not None]
    expected[1] = 2 * (plain.se or 0)
    assert four(balance) == pytest.approx(expected, rel=1e-9)


# Rates.


def test_the_error_of_a_rate_is_that_of_statsmodels() -> None:
    """All runs on a constant, clustered by question; runs without a score are no runs."""
    from statsmodels.regression.linear_model import OLS

    data = flags(5)
    data[np.random.default_rng(6).random(data.shape) < 0.2] = NAN
    known = ~np.isnan(data)
    options = {"groups": np.nonzero(known)[0]}
    runs = data[known]
    fit = OLS(runs, np.ones(len(runs))).fit(cov_type="cluster", cov_kwds=options)
    estimate = measure(RATE, cells_of("refused", data))
    assert (estimate.value, estimate.se) == pytest.approx((100 * fit.params[0], 100 * fit.bse[0]), rel=1e-9)


# Ratios.


def tries(seed: int, questions: int = 25) -> tuple[Array, Array]:
    """Sums of hits and of tries by question."""
    chance = np.random.default_rng(seed)
    below = chance.integers(1, 9, questions).astype(np.float64)
    return chance.binomial(below.astype(int), chance.beta(2, 2, questions)).astype(np.float64), below


def ratio_cells(above: Array, below: Array) -> list[Cell]:
    """The sums dealt out over two languages, the second of which has a run without any."""
    values: list[Mapping[str, Sequence[float | None]]] = []
    for hits, tried in zip(above.tolist(), below.tolist(), strict=True):
        values.append({"hits": [hits, 0.0], "tries": [tried - 1, 0.0]})
        values.append({"hits": [None, 0.0], "tries": [None, 1.0]})
    return [
        Cell(id=f"c{index}", cluster=f"q{index // 2}", stratum=f"l{index % 2}", values=sums)
        for index, sums in enumerate(values)
    ]


def test_runs_that_count_in_part_are_as_many_fewer() -> None:
    """A rate of replies, given as shares of pairs with one or two of them, is that of each by itself."""
    first, second = flags(8), flags(9)
    second[::3, :, :2] = NAN
    apart = [
        replace(cell, id=f"{cell.id}/{side}")
        for side, replies in (("a", first), ("b", second))
        for cell in cells_of("said", replies)
    ]
    shares = np.nanmean([first, second], axis=0)
    parts = (1 - np.isnan(second) / 2).tolist()
    pairs = [
        replace(cell, values={**cell.values, "replies": parts[int(cell.cluster[1:])][int(cell.stratum[1:])]})
        for cell in cells_of("said", shares)
    ]
    metric = Metric(name="said", of="said", per="replies", kind="rate")
    assert four(measure(metric, pairs)) == pytest.approx(
        four(measure(Metric(name="said", of="said", kind="rate"), apart))
    )
    runs = [np.nanmean([first[..., run], second[..., run]]) for run in range(5)]
    assert figures_by_run(metric, pairs) == pytest.approx([100 * value for value in runs])


def test_a_ratio_is_that_of_the_sums_by_question() -> None:
    """In percent, by draws that are always the same."""
    above, below = tries(9)
    sums = clustered_ratio(above.tolist(), below.tolist())
    estimate = measure(RATIO, ratio_cells(above, below))
    assert four(estimate) == pytest.approx([100 * (figure or 0) for figure in four(sums)], rel=1e-9)
    assert estimate.n == 25


def test_a_question_without_anything_to_divide_is_none_of_a_ratio() -> None:
    """It is not counted, and the others' interval is what it is without it."""
    others = ratio_cells(*tries(9))
    nothing = Cell(id="c", cluster="q", stratum="l0", values={"hits": [0.0], "tries": [0.0]})
    assert measure(RATIO, [*others, nothing]) == measure(RATIO, others)


def test_a_difference_of_ratios_is_that_of_a_weighted_regression() -> None:
    """Of each question's ratios on before and after, weighted by the divisors and clustered by question."""
    from statsmodels.regression.linear_model import WLS

    sums = (*tries(10), *tries(11))
    above, below = np.concatenate(sums[::2]), np.concatenate(sums[1::2])
    is_after = np.repeat([0.0, 1.0], 25)
    theirs = WLS(above / below, np.column_stack([np.ones(50), is_after]), weights=below).fit(
        cov_type="cluster", cov_kwds={"groups": np.tile(np.arange(25), 2), "use_correction": False}
    )
    value, se = 100 * theirs.params[1], 100 * theirs.bse[1] * math.sqrt(25 / 24)
    half = se * scipy.stats.t.isf(0.025, 24)
    change = difference(RATIO, ratio_cells(*sums[:2]), ratio_cells(*sums[2:]))
    assert four(change) == pytest.approx((value, se, value - half, value + half), rel=1e-9)
    assert change.p == pytest.approx(2 * scipy.stats.t.sf(abs(value) / se, 24), rel=1e-9)
    assert (change.n, change.unpaired, change.reason) == (25, 0, None)
    wide = difference(RATIO, ratio_cells(*sums[:2]), ratio_cells(*sums[2:]), confidence=0.99)
    assert four(wide)[2] == pytest.approx(value - se * scipy.stats.t.isf(0.005, 24), rel=1e-9)


@pytest.mark.parametrize("kind", ["gap", "lift"])
def test_a_gap_and_a_lift_are_paired_by_case(kind: Kind) -> None:
    """Where both values agree in every case, a case that has only one of them makes no difference of 0."""
    metric = Metric(name=kind, of="own", per="other", kind=kind)
    values = [{"own": [share], "other": [share]} for share in (100.0, 0.0, 50.0, 100.0, 0.0, 100.0)]
    lone: list[Mapping[str, Sequence[float | None]]] = [{"own": [100.0]}, {"own": [None], "other": [0.0]}]
    cells = [
        Cell(id=f"{n}", cluster=f"{n}", stratum="l", values=value) for n, value in enumerate(values + lone)
    ]
    assert (measure(metric, cells).value, measure(metric, cells).n) == (0.0, 6)
    assert figures_by_run(metric, [*map(twice, cells)]) == [0.0, 0.0]
    these = fixed.estimate(metric, [*map(twice, cells)])
    assert (these.value, these.n) == (0.0, 6)
    changed = difference(metric, cells, cells[:5] + cells[6:])
    assert (changed.value, changed.n, changed.unpaired) == (0.0, 5, 1)


def twice(cell: Cell) -> Cell:
    """The cell with a second run that is like the first."""
    return replace(cell, values={name: [*runs, *runs] for name, runs in cell.values.items()})


def test_a_ratio_over_nothing_has_no_interval(subtests: pytest.Subtests) -> None:
    """Neither on these questions nor on all, nor has its difference from one that is over something."""
    metric = replace(RATIO, if_nothing=0.0)
    something = [
        Cell(id=f"{n}", cluster=f"{n}", stratum="l", values={"hits": [n % 2, 1], "tries": [1, 2]})
        for n in range(8)
    ]
    nothing = [replace(cell, values={"hits": [0, 0], "tries": [0, 0]}) for cell in something]
    figures: dict[str, Estimate | Difference] = {
        "these": fixed.estimate(metric, nothing),
        "all": measure(metric, nothing),
        "difference on these": fixed.difference(metric, nothing, something),
        "difference": difference(metric, nothing, something),
    }
    for name, figure in figures.items():
        with subtests.test(name):
            assert figure.value == pytest.approx(measure(metric, something).value if "diff" in name else 0)
            assert (figure.low, figure.high, figure.reason) == (None, None, "nothing to divide by")


# Differences of means and rates.


def test_a_difference_of_rates_has_the_error_of_the_questions_shares() -> None:
    """Value and error as scipy's of the paired shares, in points; the limits hold the value, p is a p."""
    before, after = flags(18), flags(19)
    shifts = 100 * (after.mean(axis=(1, 2)) - before.mean(axis=(1, 2)))
    change = difference(RATE, cells_of("refused", before), cells_of("refused", after))
    assert (change.value, change.se) == pytest.approx((shifts.mean(), scipy.stats.sem(shifts)), rel=1e-9)
    assert holds(change, shifts.mean())
    assert change.p is not None
    assert 0 < change.p < 1
    assert (change.p < 0.05) is not holds(change, 0)


@pytest.mark.parametrize("metric", [MEAN, RATE, RATIO], ids=["mean", "rate", "ratio"])
def test_without_a_common_cell_there_is_no_difference(metric: Metric) -> None:
    """No figure, the reason, and the cells of both sides counted as unpaired."""
    values = {"percent": [1.0], "refused": [1.0], "hits": [1.0], "tries": [1.0]}
    before, after = (
        [Cell(id=name, cluster=name, stratum="l", values=values) for name in names] for names in ("ab", "c")
    )
    change = difference(metric, before, after)
    assert (change.value, change.low, change.p, change.n) == (None, None, None, 0)
    assert (change.unpaired, change.reason) == (3, "no questions")


@pytest.mark.parametrize("kind", sorted({*get_args(Kind)} - {"contrast"}))
def test_the_parts_of_runs_are_those_of_the_figure(kind: Kind) -> None:
    """Their mean is the figure, and their means by question have its linearised error."""
    chance = np.random.default_rng(20)
    of, per = chance.binomial(1, 0.6, (15, 1)).astype(float), chance.integers(1, 4, (15, 1)).astype(float)
    metric = Metric(name="x", of="of", per="per" if kind in QUOTIENTS else None, kind=kind)
    cells = [
        Cell(id=f"{n}", cluster=f"q{n}", stratum="l", values={"of": [*of[n]], "per": [*per[n]]})
        for n in range(15)
    ]
    parts = run_parts(metric, cells)
    assert [*parts] == [(f"q{n}", "l", 0) for n in range(15)]
    assert np.mean([*parts.values()]) == pytest.approx(measure(metric, cells).value)
    if kind in QUOTIENTS:
        # A result of which every part is the same adds nothing to the error of a difference.
        even = [replace(cell, values={"of": [2.0], "per": [1.0]}) for cell in cells]
        assert scipy.stats.sem([*parts.values()]) == pytest.approx(difference(metric, even, cells).se)


# Runs one by one.


@pytest.mark.parametrize(
    ("metric", "every", "expected"),
    [
        (MEAN, cells(percent=[[[100, 50]], [[0, NAN]]]), [50, 50]),
        (RATE, cells(refused=[[[1, 0]], [[1, 0]]]), [100, 0]),
        (RATIO, cells(hits=[[[1, 0]], [[1, 1]]], tries=[[[2, 1]], [[2, 3]]]), [50, 25]),
        (
            Metric(name="gap", of="own", per="other", kind="gap"),
            cells(own=[[[100, 0]], [[50, NAN]]], other=[[[50, 50]], [[0, NAN]]]),
            [50, -50],
        ),
        (
            Metric(name="lift", of="own", per="other", kind="lift"),
            cells(own=[[[90, 0]], [[30, 5]]], other=[[[40, 0]], [[40, 0]]]),
            [50, None],
        ),
        (MEAN, cells(percent=[[[100]], [[0]]]), []),
        (MEAN, cells(percent=[[[NAN, 3]], [[NAN, 5]]]), [None, 4]),
    ],
)
def test_each_run_has_a_figure_of_its_own(
    metric: Metric, every: list[Cell], expected: list[float | None]
) -> None:
    """Of all cases once; with one run there is nothing to tell."""
    assert figures_by_run(metric, every) == pytest.approx(expected)
