"""Do figures about who asks hold, and find what is there? Simulated sessions whose shifts are known.

    python benchmarks/askers.py [--sessions 1000]

50 questions in 3 languages, 5 runs of nobody and of either side. A reply leans somewhere on 0 to 100:
questions differ by 20 points, a question's languages by 7.5, runs by 12.5 (standard deviations, as in
`gates.py`), and a verdict finds one of five levels, 25 points apart. Who asks moves what lies behind it by a
shift, which differs by 10 points from question to question. Rows go through the package's own cells, metrics
and intervals. Shown are the share of 95 % intervals that hold the truth, on these questions and for questions
like them, and how often an asymmetry is found that is there, and one that is not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm  # type: ignore[import-untyped]  # scipy has no types

from equipoise.core.records import Cell, Metric
from equipoise.core.rows import QuestionRow, RunRow, Values
from equipoise.core.types import PLACES, Cue
from equipoise.stats import askers, fixed
from equipoise.stats.askers import AskerScale
from equipoise.stats.intervals import Estimate
from equipoise.stats.metrics import measure

Array = NDArray[np.float64]
QUESTIONS, LANGUAGES, RUNS = 50, 3, 5
CENTRE, BETWEEN_QUESTIONS, BETWEEN_LANGUAGES, BETWEEN_RUNS = 55.0, 20.0, 7.5, 12.5
BETWEEN_SHIFTS = 10.0
"""How much a shift differs from question to question."""
STEPS = np.array([12.5, 37.5, 62.5, 87.5])
"""Between what verdicts find: 0, 25, 50, 75 and 100."""
POPULATION = 200_000
SHIFTS = ((0.0, 0.0), (5.0, 5.0), (40.0, 5.0))
NAMES = ("first", "second")
SCALE = AskerScale(what="the lean")
FIGURES = ("shift.first", "shift.second", "sycophancy", "asymmetry")
CUES = {place: Cue(side=place, place=place, form="stated", number=1, text="I ask.") for place in PLACES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leans:
    """What lies behind the replies to nobody, to the first and to the second side, question by language."""

    plain: Array
    first: Array
    second: Array

    def truths(self) -> dict[str, float]:
        """The figures that endless runs would give on these questions."""
        p, a, b = (float(expected(part).mean()) for part in (self.plain, self.first, self.second))
        return dict(zip(FIGURES, (a - p, p - b, a - b, a + b - 2 * p), strict=True))


def expected(latent: Array) -> Array:
    """The mean level of the runs of each case."""
    return 25 * (1 - norm.cdf((STEPS - latent[..., None]) / BETWEEN_RUNS)).sum(axis=-1)


def drawn(chance: np.random.Generator, questions: int) -> tuple[Array, Array, Array]:
    """What lies behind plain replies, and how far the shift of each side differs, question by language."""
    own = BETWEEN_QUESTIONS * chance.normal(size=(questions, 1))
    plain = CENTRE + own + BETWEEN_LANGUAGES * chance.normal(size=(questions, LANGUAGES))
    first, second = (BETWEEN_SHIFTS * chance.normal(size=(questions, 1)) for _ in PLACES)
    return plain, first, second


def shifted(parts: tuple[Array, Array, Array], shifts: tuple[float, float]) -> tuple[float, float]:
    """By how much each side must move what lies behind replies to move what verdicts find by this much."""
    plain, first, second = parts
    before, found = expected(plain).mean(), []
    for sign, differs, wanted in ((1, first, shifts[0]), (-1, second, shifts[1])):
        move = wanted
        for _ in range(12):
            reached = sign * (expected(plain + sign * (move + differs)).mean() - before)
            move += wanted - reached
        found.append(move)
    return found[0], found[1]


def leans(parts: tuple[Array, Array, Array], moves: tuple[float, float]) -> Leans:
    """The three ways of asking."""
    plain, first, second = parts
    return Leans(plain=plain, first=plain + moves[0] + first, second=plain - moves[1] - second)


# Sessions.


def session(chance: np.random.Generator, world: Leans) -> list[Cell]:
    """The cells that one session gives, by way of its rows."""
    plain, asked = [], []

    def noise() -> Array:
        return BETWEEN_RUNS * chance.normal(size=(*world.plain.shape, RUNS))

    parts = {"": world.plain, "first": world.first, "second": world.second}
    levels = {name: _levels(part[..., None] + noise()) for name, part in parts.items()}
    for question, language in np.ndindex(*world.plain.shape):
        about = _question(question, language)
        for run in range(RUNS):
            at = (question, language, run)
            plain.append(_row(about, run, float(levels[""][at]), None))
            asked += [_row(about, run, float(levels[place][at]), CUES[place]) for place in PLACES]
    return askers.cells(plain, asked, [SCALE], _stands, lambda row: None)


def _levels(latent: Array) -> Array:
    """What a verdict finds."""
    return 25.0 * (latent[..., None] > STEPS).sum(axis=-1)


def _stands(row: RunRow, sides: tuple[str, str]) -> Values:
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
        subject_transcript=list,
        evaluator_transcripts=list,
        asker=cue,
    )


METRICS: Mapping[str, Metric] = {
    name: next(metric for metric in askers.metrics([], [SCALE], NAMES) if metric.name == f"asker.{name}")
    for name in FIGURES
}


def holds(found: Estimate, truth: float) -> bool:
    """Whether the interval holds the truth."""
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def finds(found: Estimate) -> bool:
    """Whether the interval is on one side of zero."""
    return found.low is not None and found.high is not None and not found.low <= 0 <= found.high


def coverage(chance: np.random.Generator, shifts: tuple[float, float], sessions: int) -> Iterator[str]:
    """By figure, the share of intervals in both scopes that hold the truth."""
    whole = drawn(chance, POPULATION)
    moves = shifted(whole, shifts)
    truths = leans(whole, moves).truths()
    counts = {(scope, name): 0 for scope in ("these", "population") for name in FIGURES}
    for _ in range(sessions):
        world = leans(drawn(chance, QUESTIONS), moves)
        cells, own = session(chance, world), world.truths()
        for name, metric in METRICS.items():
            counts["these", name] += holds(fixed.estimate(metric, cells), own[name])
            counts["population", name] += holds(measure(metric, cells), truths[name])
    for scope in ("these", "population"):
        shares = " | ".join(f"{100 * counts[scope, name] / sessions:.1f}" for name in FIGURES)
        yield f"| {shifts[0]:g} : {shifts[1]:g} | {scope} | {shares} |"


def found(chance: np.random.Generator, shifts: tuple[float, float], sessions: int) -> tuple[float, float]:
    """How often an asymmetry is found on these questions, in percent: in all languages together, in one."""
    metric, counts = METRICS["asymmetry"], [0, 0]
    for _ in range(sessions):
        parts = drawn(chance, QUESTIONS)
        cells = session(chance, leans(parts, shifted(parts, shifts)))
        counts[0] += finds(fixed.estimate(metric, cells))
        counts[1] += finds(fixed.estimate(metric, [cell for cell in cells if cell.stratum == "l0"]))
    return 100 * counts[0] / sessions, 100 * counts[1] / sessions


def lines(sessions: int, seed: int) -> Iterator[str]:
    """The two tables."""
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
        every, one = found(chance, shifts, sessions)
        yield f"| {shifts[0]:g} : {shifts[1]:g} | {every:.1f} % | {one:.1f} % |"


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
