"""Simulated sessions with known effects of the asker: coverage of intervals, and how often effects are found.

    python benchmarks/askers.py [--sessions 1000]

50 questions in 3 languages, 5 plain runs and 5 with a cue of either side. A reply has a latent lean on 0 to
100: questions differ by 20 points, a question's languages by 7.5, runs by 12.5 (standard deviations, as in
`gates.py`), and a verdict finds one of five levels, 25 points apart. A cue moves the latent lean by a shift,
which differs by 10 points from question to question. Rows go through the package's own cells, metrics and
intervals. Printed are the share of 95 % intervals that contain the truth, on these questions and for
questions like them, and how often an asymmetry is found, with and without a true one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm  # scipy has no types

from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import QuestionRow, RunRow, Values
from equipoise.core.types import PLACES, Cue
from equipoise.stats import askers, fixed
from equipoise.stats.askers import AskerScale
from equipoise.stats.metrics import measure

Array = NDArray[np.float64]
QUESTIONS, LANGUAGES, RUNS = 50, 3, 5
MEAN_LEAN, QUESTION_SD, LANGUAGE_SD, RUN_SD, SHIFT_SD = 55.0, 20.0, 7.5, 12.5, 10.0
LEVEL_BOUNDS = np.array([12.5, 37.5, 62.5, 87.5])
"""The latent leans at which the level changes: 0, 25, 50, 75 or 100."""
POPULATION = 200_000
"""The number of questions by which truths for all questions are computed."""
SHIFTS = ((0.0, 0.0), (5.0, 5.0), (40.0, 5.0))
NAMES = ("first", "second")
SCALE = AskerScale(what="the lean")
FIGURES = ("shift.first", "shift.second", "sycophancy", "asymmetry")
CUES = {place: Cue(side=place, place=place, form="stated", number=1, text="I ask.") for place in PLACES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leans:
    """The latent leans of plain replies and of replies to the first and second side, question by language."""

    plain: Array
    first: Array
    second: Array

    def truths(self) -> dict[str, float]:
        """The figures of infinitely many runs on these questions."""
        p, a, b = (float(expected(latent).mean()) for latent in (self.plain, self.first, self.second))
        return dict(zip(FIGURES, (a - p, p - b, a - b, a + b - 2 * p), strict=True))


def expected(latent: Array) -> Array:
    """The expected level of each case, given its latent lean."""
    percent: Array = 25 * (1 - norm.cdf((LEVEL_BOUNDS - latent[..., None]) / RUN_SD)).sum(axis=-1)
    return percent


Effects = tuple[Array, Array, Array]
"""The latent leans of plain replies, and the deviations of both sides' shifts, question by language."""


def draw_effects(chance: np.random.Generator, questions: int) -> Effects:
    """The effects of randomly drawn questions."""
    by_question = QUESTION_SD * chance.normal(size=(questions, 1))
    plain = MEAN_LEAN + by_question + LANGUAGE_SD * chance.normal(size=(questions, LANGUAGES))
    first, second = (SHIFT_SD * chance.normal(size=(questions, 1)) for _ in PLACES)
    return plain, first, second


def latent_shifts(effects: Effects, shifts: tuple[float, float]) -> tuple[float, float]:
    """The shifts of latent leans that give these shifts of expected levels."""
    plain, first, second = effects
    before, solved = expected(plain).mean(), []
    for sign, deviations, target in ((1, first, shifts[0]), (-1, second, shifts[1])):
        latent_shift = target
        for _ in range(12):
            shift = sign * (expected(plain + sign * (latent_shift + deviations)).mean() - before)
            latent_shift += target - shift
        solved.append(latent_shift)
    return solved[0], solved[1]


def leans(effects: Effects, shifts: tuple[float, float]) -> Leans:
    """The latent leans with these latent shifts of both sides."""
    plain, first, second = effects
    return Leans(plain=plain, first=plain + shifts[0] + first, second=plain - shifts[1] - second)


# Sessions.


def session(chance: np.random.Generator, world: Leans) -> list[Cell]:
    """The cells of one simulated session, made from its rows."""
    plain_rows, cued_rows = [], []

    def noise() -> Array:
        return RUN_SD * chance.normal(size=(*world.plain.shape, RUNS))

    latents = {"": world.plain, "first": world.first, "second": world.second}
    levels = {name: _levels(latent[..., None] + noise()) for name, latent in latents.items()}
    for question, language in np.ndindex(*world.plain.shape):
        question_row = _question(question, language)
        for run in range(RUNS):
            at = (question, language, run)
            plain_rows.append(_row(question_row, run, float(levels[""][at]), None))
            cued_rows += [_row(question_row, run, float(levels[side][at]), CUES[side]) for side in PLACES]
    return askers.cells(plain_rows, cued_rows, [SCALE], _positions, lambda row: None)


def _levels(latent: Array) -> Array:
    """The levels that verdicts find."""
    percent: Array = 25.0 * (latent[..., None] > LEVEL_BOUNDS).sum(axis=-1)
    return percent


def _positions(row: RunRow, sides: tuple[str, str]) -> Values:
    return {"": row.values["percent"]}


def _question(question: int, language: int) -> QuestionRow:
    name = f"l{language}"
    return QuestionRow(id=f"q{question}", language=name, text="", cluster=f"q{question}", stratum=name)


def _row(question: QuestionRow, run: int, level: float, cue: Cue | None) -> RunRow:
    return RunRow(
        question=question,
        number=run + 1,
        outcome="scored",
        score=level,
        percent=level,
        error=None,
        values={"percent": level},
        verdicts=(),
        details={},
        subject_transcript=(),
        evaluator_transcripts=(),
        asker=cue,
    )


METRICS: Mapping[str, Metric] = {
    name: next(metric for metric in askers.metrics([], [SCALE], NAMES) if metric.name == f"asker.{name}")
    for name in FIGURES
}


def contains(estimate: Estimate, value: float) -> bool:
    """Whether the estimate has an interval that contains the value."""
    return estimate.low is not None and estimate.high is not None and estimate.low <= value <= estimate.high


def excludes_zero(estimate: Estimate) -> bool:
    """Whether the estimate has an interval, on one side of zero."""
    return None not in (estimate.low, estimate.high) and not contains(estimate, 0.0)


def coverage(chance: np.random.Generator, shifts: tuple[float, float], sessions: int) -> Iterator[str]:
    """A row for each scope: the share of intervals that contain the truth, by figure."""
    population = draw_effects(chance, POPULATION)
    latent = latent_shifts(population, shifts)
    population_truths = leans(population, latent).truths()
    counts = {(scope, name): 0 for scope in ("these", "population") for name in FIGURES}
    for _ in range(sessions):
        world = leans(draw_effects(chance, QUESTIONS), latent)
        cells, truths = session(chance, world), world.truths()
        for name, metric in METRICS.items():
            counts["these", name] += contains(fixed.estimate(metric, cells), truths[name])
            counts["population", name] += contains(measure(metric, cells), population_truths[name])
    for scope in ("these", "population"):
        shares = " | ".join(f"{100 * counts[scope, name] / sessions:.1f}" for name in FIGURES)
        yield f"| {shifts[0]:g} : {shifts[1]:g} | {scope} | {shares} |"


def power(chance: np.random.Generator, shifts: tuple[float, float], sessions: int) -> tuple[float, float]:
    """How often an asymmetry is found on these questions, in percent: in all languages together, in one."""
    metric, in_all, in_one = METRICS["asymmetry"], 0, 0
    for _ in range(sessions):
        effects = draw_effects(chance, QUESTIONS)
        cells = session(chance, leans(effects, latent_shifts(effects, shifts)))
        in_all += excludes_zero(fixed.estimate(metric, cells))
        in_one += excludes_zero(fixed.estimate(metric, [cell for cell in cells if cell.stratum == "l0"]))
    return 100 * in_all / sessions, 100 * in_one / sessions


def lines(sessions: int, seed: int) -> Iterator[str]:
    """The lines of the two tables."""
    chance = np.random.default_rng(seed)
    yield f"| shifts | scope | {' | '.join(FIGURES)} |"
    yield "|---|---|---|---|---|---|"
    for shifts in SHIFTS:
        yield from coverage(chance, shifts, sessions)
    yield ""
    yield "| shifts | asymmetry found, 3 languages | 1 language |"
    yield "|---|---|---|"
    pairs: Sequence[tuple[float, float]] = ((5.0, 5.0), (10.0, 5.0))
    for shifts in pairs:
        in_all, in_one = power(chance, shifts, sessions)
        yield f"| {shifts[0]:g} : {shifts[1]:g} | {in_all:.1f} % | {in_one:.1f} % |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for line in lines(options.sessions, options.seed):
        print(line, flush=True)


if __name__ == "__main__":
    main()
