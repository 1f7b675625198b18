"""What gates promise, from runs to the verdict, held against simulated benchmarks whose truth is known.

A benchmark has 50 questions in 3 languages, each asked 5 times. A run's score is a latent quality, rounded to
1..5: questions differ by 0.8 points, a question's languages by 0.3, runs by 0.5 (standard deviations).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from simulated import cells_of

from equipoise import suites
from equipoise.comparison.compare import Comparison, MetricChange
from equipoise.comparison.gate.planning import plan_of
from equipoise.comparison.gate.verdict import rule_on
from equipoise.core.rules import QUESTION, parse_rule
from equipoise.results.document import Metadata, Summary
from equipoise.results.results import Results
from equipoise.stats import fixed
from equipoise.stats.metrics import difference, measure
from equipoise.stats.paired import Decision
from equipoise.suites import neutrality

Array = NDArray[np.float64]
QUESTIONS, LANGUAGES, RUNS = 50, 3, 5
CENTRE, BETWEEN_QUESTIONS, BETWEEN_LANGUAGES, BETWEEN_RUNS = 3.6, 0.8, 0.3, 0.5


def quality(chance: np.random.Generator, number: int) -> Array:
    """What lies behind the scores of these benchmarks: benchmark by question by language."""
    questions = BETWEEN_QUESTIONS * chance.normal(size=(number, QUESTIONS, 1))
    return CENTRE + questions + BETWEEN_LANGUAGES * chance.normal(size=(number, QUESTIONS, LANGUAGES))


def ask(chance: np.random.Generator, latent: Array) -> Array:
    """The percentage of each run, in a further dimension."""
    noise = BETWEEN_RUNS * chance.normal(size=(*latent.shape, RUNS))
    return (np.clip(np.rint(latent[..., None] + noise), 1, 5) - 1) * 25


Runs = NDArray[np.float64]
"""Question by language by run: a percentage, or 1 and 0."""


def side(runs: Runs, value: str) -> Results:
    """Results of the neutrality suite with these numbers only."""
    return Results(
        file="",
        digest=None,
        suite=suites.load("neutrality"),
        metadata=cast("Metadata", {"scale": {"low": 1, "high": 5}}),
        summary=cast("Summary", {}),
        own_cells=cells_of(value, runs),
    )


def verdict(text: str, before: Runs, after: Runs) -> Decision:
    """What becomes of a rule; only its own figure is measured, which is most of what a comparison costs."""
    rule = parse_rule(text)
    name = "overall" if rule.name == QUESTION else rule.name
    metric = next(metric for metric in neutrality.metrics([]) if metric.name == name)
    older, newer = side(before, metric.of), side(after, metric.of)
    change = MetricChange(
        metric=metric,
        before=measure(metric, older.cells).value,
        after=measure(metric, newer.cells).value,
        difference=difference(metric, older.cells, newer.cells),
        these=fixed.difference(metric, older.cells, newer.cells),
    )
    comparison = Comparison(
        before=older,
        after=newer,
        mismatches=(),
        warnings=(),
        changes={name: change},
        effects=(),
        fell=(),
        rose=(),
    )
    return rule_on(rule, comparison).verdict


def most(number: int, nominal: float = 0.025) -> int:
    """How many alarms of so many chance alone exceeds once in a thousand simulations, at the nominal rate."""
    return int(scipy.stats.binom.ppf(0.999, number, nominal))


JUDGED = 1000


def alike(seed: int) -> Iterator[tuple[Runs, Runs]]:
    """Pairs of benchmarks of the same quality: percentages."""
    chance = np.random.default_rng(seed)
    latent = quality(chance, JUDGED)
    yield from zip(ask(chance, latent), ask(chance, latent), strict=True)


def blocked(seed: int, part: float) -> Iterator[tuple[Runs, Runs]]:
    """Pairs in which this part of the questions is blocked at times, each as often before as after."""
    chance = np.random.default_rng(seed)
    often = chance.random((JUDGED, QUESTIONS, 1, 1)) * (chance.random((JUDGED, QUESTIONS, 1, 1)) < part)
    shape = (JUDGED, QUESTIONS, LANGUAGES, RUNS)
    sides = ((chance.random(shape) < often).astype(np.float64) for _ in range(2))
    yield from zip(*sides, strict=True)


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param("overall:-0", marks=pytest.mark.nightly),
        pytest.param("overall:-2pp", marks=pytest.mark.slow),
        pytest.param("overall:-2pp@population", marks=pytest.mark.slow),
        pytest.param("question:-0.5", marks=pytest.mark.nightly),
        pytest.param("question:-2.0", marks=pytest.mark.slow),
    ],
)
def test_the_gate_seldom_fails_an_equal_model(rule: str) -> None:
    """At most as often as 2.5 % and chance; half a point some question always falls, two points none does."""
    verdicts = Counter(verdict(rule, *pair) for pair in alike(6))
    assert verdicts["fail"] <= most(JUDGED)
    if rule == "overall:-2pp":
        assert verdicts["pass"] >= 0.75 * JUDGED
    if rule.startswith("question"):
        assert verdicts["pass"] == (JUDGED if rule == "question:-2.0" else 0)


@pytest.mark.nightly
@pytest.mark.parametrize("part", [0.02, 0.1, 0.5])
def test_the_gate_seldom_fails_a_model_that_is_blocked_as_often(part: float) -> None:
    """Whether one question in fifty is blocked at times or one in two."""
    verdicts = Counter(verdict("blocked:+0", *pair) for pair in blocked(7, part))
    assert verdicts["fail"] <= most(JUDGED)


# What a plan promises.


@pytest.mark.slow
@pytest.mark.parametrize("text", ["overall:-2pp", "overall:-2pp@population", "refused:+2pp"])
def test_a_plan_says_how_many_equal_models_pass(text: str) -> None:
    """From forty runs of one benchmark; it is within the error of the simulation, and two in a hundred."""
    rule, number, chance = parse_rule(text), 500, np.random.default_rng(11)
    latent = quality(chance, 1)

    def asked(times: int) -> Iterator[Runs]:
        """Runs of this benchmark: percentages, or 1 where a reply is refused, as one in fifty is."""
        for _ in range(times):
            scores = ask(chance, latent)[0]
            yield scores if rule.name == "overall" else (scores < 12.5).astype(np.float64)

    metric = next(metric for metric in neutrality.metrics([]) if metric.name == rule.name)
    pilot = side(np.concatenate([*asked(8)], axis=-1), metric.of)
    planned = plan_of(metric, rule, pilot.cells).shares(RUNS, RUNS).passed
    sides = asked(2 * number)
    passed = sum(verdict(text, before, next(sides)) == "pass" for before in sides) / number
    assert abs(passed - planned) < 4 * (planned * (1 - planned) / number) ** 0.5 + 0.02
    assert 0.1 < planned < 0.99
