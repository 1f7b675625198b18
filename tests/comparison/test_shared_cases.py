"""A comparison of two results that lack different cases, against results without these from the start."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import pytest
from msgspec.structs import asdict

from conftest import ROOT, SHIPPED
from equipoise import suites
from equipoise.comparison.compare import ConfidenceLevels, change_in
from equipoise.comparison.of_session import expected_cells
from equipoise.core.records import Cell, Metric
from equipoise.stats import mean, valid
from equipoise.stats.metrics import measure
from equipoise.suites.selection import Selection

CASES = 40
"""Of each language at most."""
DATASETS = {"even_handedness": "us"}
"""The folder of a suite whose topics are in several."""
ABSENT, EMPTY, FAILED = 0.1, 0.15, 0.1
"""How often a case is not there, has none of a value, and how often one of its runs has none."""
DRAWS: dict[str, Callable[[random.Random], float]] = {
    "mean": lambda chance: chance.uniform(20, 100),
    "gap": lambda chance: chance.uniform(20, 100),
    "lift": lambda chance: chance.uniform(20, 100),
    "contrast": lambda chance: chance.uniform(20, 100),
    "balance": lambda chance: chance.uniform(-100, 100),
    "rate": lambda chance: float(chance.random() < 0.4),
    "ratio": lambda chance: float(chance.randint(0, 2)),
    "count": lambda chance: float(chance.randint(1, 4)),
}


@cache
def shape(name: str) -> tuple[Sequence[Cell], Sequence[Metric]]:
    """The cells of a suite's first cases, and of each kind the widest metric of some cases and of all."""
    suite = suites.load(name)
    rubric = suite.judging.rubric(ROOT / "rubric" / f"{name}.toml")
    topics = ROOT / "topics" / name / DATASETS.get(name, "")
    cells = expected_cells(suite, rubric, suite.data.cases(Selection(topics=topics))[:CASES])
    names = {part for metric in suite.metrics(cells) for part in parts(metric)}
    filled = [replace(cell, values={name: [1.0] for name in names}) for cell in cells]
    metrics = sorted(suite.metrics(filled), key=lambda metric: len(metric.select(filled)))
    return cells, list({(metric.kind, len(metric.where)): metric for metric in metrics}.values())


def parts(metric: Metric) -> list[str]:
    """The values that a metric is made of."""
    return [name for name in (metric.of, metric.per) if name is not None]


def side(cells: Sequence[Cell], metric: Metric, chance: random.Random) -> list[Cell]:
    """A result with gaps: cases that it lacks, cases without any value, and runs without one."""

    def runs() -> list[float | None]:
        if chance.random() < EMPTY:
            return [None] * 4
        return [None if chance.random() < FAILED else DRAWS[metric.kind](chance) for _ in range(4)]

    return [
        replace(cell, values={name: runs() for name in parts(metric)})
        for cell in cells
        if chance.random() > ABSENT
    ]


def restricted(metric: Metric, here: Sequence[Cell], there: Sequence[Cell]) -> list[Cell]:
    """The cells of one side, with the values that the other side has as well."""
    others = {cell.id: cell for cell in there}
    return [
        replace(cell, values={name: cell.of(name) for name in names})
        for cell in here
        if cell.id in others and (names := kept(metric, cell, others[cell.id]))
    ]


def kept(metric: Metric, *cells: Cell) -> set[str]:
    """The values of a case that count: those of a ratio together, the others each by itself."""
    known = [{name for name in parts(metric) if valid(cell.of(name))} for cell in cells]
    if metric.kind == "ratio":
        return set(parts(metric)) if all(known) else set()
    return set.intersection(*known)


def figure(metric: Metric, cells: Sequence[Cell]) -> float | None:
    """The metric's own figure; of a rate, in which a comparison weighs cases alike, the mean of the cases."""
    if metric.kind != "rate":
        return measure(metric, cells).value
    shares = [mean(valid(cell.of(metric.of))) for cell in cells]
    percents = [
        replace(cell, values={metric.of: [None if share is None else 100 * share]})
        for cell, share in zip(cells, shares, strict=True)
    ]
    return measure(replace(metric, kind="mean"), percents).value


def trials(name: str) -> Iterator[tuple[Metric, list[Cell], list[Cell]]]:
    """Each of a suite's metrics with two results that lack different things."""
    cells, metrics = shape(name)
    for number, metric in enumerate(metrics):
        chance = random.Random(f"{name} {number}")  # noqa: S311 - not a secret
        yield metric, side(cells, metric, chance), side(cells, metric, chance)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_comparison_is_of_the_cases_that_both_have(name: str, subtests: pytest.Subtests) -> None:
    """Before, after, difference and both intervals are those of results that never had anything else."""
    for metric, before, after in trials(name):
        with subtests.test(metric.name, kind=metric.kind):
            older, newer = restricted(metric, before, after), restricted(metric, after, before)
            change = change_in(metric, before, after, "cases", ConfidenceLevels())
            same = change_in(metric, older, newer, "cases", ConfidenceLevels())
            was, now = figure(metric, older), figure(metric, newer)
            assert was is not None
            assert now is not None
            assert (change.before, change.after) == (pytest.approx(was), pytest.approx(now))  # type: ignore[comparison-overlap]
            assert change.difference.value == pytest.approx(now - was)
            assert change.difference.unpaired > same.difference.unpaired == same.these.unpaired == 0
            for scope in ("population", "these"):
                whole, shared = asdict(change.in_scope(scope)), asdict(same.in_scope(scope))
                assert whole.pop("unpaired") == change.difference.unpaired
                del shared["unpaired"]
                assert whole == pytest.approx(shared), scope
            if change.these.value is not None:
                assert change.these.value == pytest.approx(now - was)
