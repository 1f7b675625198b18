"""Do labels of people mend the figures of a judge that is wrong? Simulated sessions whose truth is known.

    python benchmarks/people.py
    python benchmarks/people.py --worlds 50000 --only "r 0.65, -10 pp, 30 labels"

50 questions in 3 languages, 5 runs each: 750 replies, whose quality differs by 0.8 points of the scale
between questions, 0.3 between a question's languages and 0.5 between runs (standard deviations). People's
score is that quality, rounded to 1..5; the judge's is people's with a bias and noise, rounded, so that both
correlate by 0.84 or 0.65. Labels are drawn as `equipoise review sample` draws them, stratified by language
and third of the judge's scale, spread over questions. `missing`: each label is left blank with a
probability of 15 %, `two people` are 7.5 points apart and noisy, label half of the draw together and deal
out the rest; the truth is then the mean of both. On `these` replies the truth is people's mean score of all
750, in `population` that of all questions. Then refusals, which are likelier on some questions than on
others: the judge misses 30 % of them, takes 2 % of answers for such, and the bands of scores in which labels
are drawn say nothing of them. Then gates: the judge favours the candidate by 5 points, and the same 60 or 120
replies are labelled on both sides.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # type: ignore[import-untyped]  # scipy has no types

from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Scope
from equipoise.stats import fixed
from equipoise.stats.corrected import CorrectedEstimate, Labels, combine, correct, interval
from equipoise.stats.labelled import estimate
from equipoise.stats.paired import Difference, noninferiority

Array = NDArray[np.float64]
QUESTIONS, LANGUAGES, RUNS, CENTRE = 50, 3, 5, 3.6
SHAPE = (QUESTIONS, LANGUAGES, RUNS)
CLUSTERS = np.repeat(np.arange(QUESTIONS), LANGUAGES * RUNS)
STRATA = np.tile(np.repeat(np.arange(LANGUAGES), RUNS), QUESTIONS)
REPLIES = QUESTIONS * LANGUAGES * RUNS
WEIGHTS = np.full(REPLIES, 1 / REPLIES)
APART, NOISE, MISSING = 0.3, 0.4, 0.15
SCOPES: tuple[Scope, ...] = ("these", "population")
OVERALL = Metric(name="overall", of="percent")
REFUSED = Metric(name="refused", of="refused", kind="rate")


def qualities(chance: np.random.Generator, questions: int = QUESTIONS) -> Array:
    """What is behind the scores of all replies, in points of the scale."""
    found = CENTRE + 0.8 * chance.normal(size=(questions, 1, 1))
    found = found + 0.3 * chance.normal(size=(questions, LANGUAGES, 1))
    return np.asarray((found + 0.5 * chance.normal(size=(questions, LANGUAGES, RUNS))).ravel())


def scored(latent: Array) -> Array:
    """A score from 1 to 5, in percent."""
    return (np.clip(np.rint(latent), 1, 5) - 1) * 25


def judged(chance: np.random.Generator, people: Array, shift: float, noise: float) -> Array:
    """The judge's scores of replies that people score so."""
    return scored(1 + people / 25 + shift + noise * chance.normal(size=people.shape))


@cache
def judge(correlation: float, bias: float) -> tuple[float, float]:
    """The shift and the noise, in points of the scale, of a judge with this correlation and bias."""
    people = scored(qualities(np.random.default_rng(0), 20_000))
    shift, noise = bias / 25, 0.6
    for _ in range(40):
        given = judged(np.random.default_rng(1), people, shift, noise)
        noise *= 1 + 0.8 * (np.corrcoef(people, given)[0, 1] - correlation)
        shift += (bias - (given - people).mean()) / 25
    return shift, noise


@cache
def everywhere(offset: float = 0.0, noise: float = 0.0) -> float:
    """The mean score of all questions, of a person who is so strict and noisy."""
    chance = np.random.default_rng(2)
    latent = qualities(chance, 200_000)
    return float(scored(latent + offset + noise * chance.normal(size=latent.shape)).mean())


def draw(chance: np.random.Generator, judge: Array, n: int) -> NDArray[np.int_]:
    """A systematic sample of the replies, ordered by language, third of the scale and question."""
    thirds = np.minimum((judge * 3 / 100).astype(int), 2)
    places = chance.permutation(QUESTIONS)[CLUSTERS]
    order = np.lexsort((chance.random(REPLIES), places, thirds, STRATA))
    step = REPLIES / n
    found = order[(chance.random() * step + np.arange(n) * step).astype(int)]
    chance.shuffle(found)
    return found


def labels(judge: Array, people: Array, n: int) -> Labels:
    """The labels of a draw of n."""
    return Labels(
        judge=judge,
        people=people,
        probability=np.full(REPLIES, n / REPLIES),
        clusters=CLUSTERS,
        strata=STRATA,
    )


Session = tuple[Labels, float, float]
"""Labels, and the truth in both scopes."""


def complete(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """One person labels all of the draw."""
    people = scored(qualities(chance))
    given = judged(chance, people, shift, noise)
    known = of(people, draw(chance, given, n))
    return labels(given, known, n), float(people.mean()), everywhere()


def missing(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """One person leaves labels blank."""
    found, these, population = complete(chance, shift, noise, n)
    found.people[chance.random(REPLIES) < MISSING] = np.nan
    return found, these, population


def two_people(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """Two people who differ label half of the draw together."""
    latent = qualities(chance)
    each = [scored(latent + lean + NOISE * chance.normal(size=REPLIES)) for lean in (APART / 2, -APART / 2)]
    given = judged(chance, scored(latent), shift, noise)
    known = np.full((REPLIES, 2), np.nan)
    drawn = draw(chance, given, n)
    for person, scores in enumerate(each):
        own = [*drawn[: n // 2], *drawn[n // 2 + person :: 2]]
        known[own, person] = scores[own]
    population = np.mean([everywhere(lean, NOISE) for lean in (APART / 2, -APART / 2)])
    return labels(given, known, n), float(np.mean(each)), float(population)


KINDS: dict[str, Callable[[np.random.Generator, float, float, int], Session]] = {
    "complete": complete,
    "missing": missing,
    "two people": two_people,
}


def coverage(worlds: int, only: str) -> Iterator[str]:
    """A line for each judge and number of labels: coverage in each scope, then half-widths in points."""
    kinds = "".join(f"{kind:>14}" for kind in KINDS)
    widths = f"{'complete':>10}{'missing':>9}{'two':>7}{'population':>12}{'people alone':>14}"
    yield f"{'':<21}{'coverage: these, population':^44}{'half-width: these':>28}"
    yield f"{'judge':<14}{'labels':>7}{kinds}{widths}"
    for correlation, bias, n in product((0.84, 0.65), (0.0, -10.0), (30, 60, 120, 240)):
        name = f"r {correlation}, {bias:+.0f} pp"
        if f"{name}, {n} labels".startswith(only):
            yield _row(name, n, {kind: _of_kind(kind, correlation, bias, n, worlds) for kind in KINDS})


def _of_kind(kind: str, correlation: float, bias: float, n: int, worlds: int) -> dict[str, float]:
    """The shares of worlds whose truth the intervals hold, and their mean half-widths."""
    shift, noise = judge(correlation, bias)
    chance = np.random.default_rng(int(1000 * correlation - bias + n))
    sums: Counter[str] = Counter()
    for _ in range(worlds):
        found, these, population = KINDS[kind](chance, shift, noise, n)
        figure, alone = correct(WEIGHTS, found), correct(WEIGHTS, found, weight=0.0)
        assert figure is not None
        assert alone is not None
        for scope, truth in zip(SCOPES, (these, population), strict=True):
            limits = interval(figure, scope)
            low, high = limits.low or 0.0, limits.high or 0.0
            sums[f"held {scope}"] += low <= truth <= high
            sums[scope] += (high - low) / 2  # type: ignore[assignment]  # a Counter adds up floats, too
        people = interval(alone, "these")
        sums["alone"] += ((people.high or 0.0) - (people.low or 0.0)) / 2  # type: ignore[assignment]
    return {name: total / worlds for name, total in sums.items()}


def _row(name: str, n: int, found: Mapping[str, Mapping[str, float]]) -> str:
    held = "".join(
        f"{item['held these']:>8.1%}{item['held population']:>6.1%}".rjust(14) for item in found.values()
    )
    complete, missing, two = found.values()
    widths = f"{complete['these']:>10.2f}{missing['these']:>9.2f}{two['these']:>7.2f}"
    return f"{name:<14}{n:>7}{held}{widths}{complete['population']:>12.2f}{complete['alone']:>14.2f}"


# Refusals.


def refusals(worlds: int) -> Iterator[str]:
    """A line for each share and number of labels: what the judge says, coverage, half-width in points."""
    yield "refused  judge says  labels   these  population  half-width: these"
    for share, n in product((0.05, 0.15), (30, 60, 120, 240)):
        chance = np.random.default_rng(int(1000 * share) + n)
        sums = np.array([_refusals(chance, share, n) for _ in range(worlds)]).mean(axis=0)
        yield f"{share:<8.0%} {sums[0]:>10.1%} {n:>7} {sums[1]:>7.1%} {sums[2]:>11.1%} {sums[3]:>18.1f}"


def _refusals(chance: np.random.Generator, share: float, n: int) -> tuple[float, ...]:
    """What the judge says, whether the intervals hold the truth, and the half-width, of one world."""
    people, given = refusing(chance, leanings(chance), share, 0.3)
    drawn = draw(chance, scored(qualities(chance)), n)
    figure = correct(100 * WEIGHTS, labels(given, of(people, drawn), n), extent=math.sqrt(0.5))
    assert figure is not None
    limits = [estimate(REFUSED, figure, scope) for scope in SCOPES]
    truths = 100 * people.mean(), 100 * share
    held = [
        (item.low or 0.0) <= truth <= (item.high or 0.0) for item, truth in zip(limits, truths, strict=True)
    ]
    return float(given.mean()), *map(float, held), ((limits[0].high or 0.0) - (limits[0].low or 0.0)) / 2


def leanings(chance: np.random.Generator) -> Array:
    """What makes refusals likely on some questions, of a variance of 0.59, of which languages have 0.09."""
    found = math.sqrt(0.5) * chance.normal(size=(QUESTIONS, 1, 1))
    return np.asarray(found + 0.3 * chance.normal(size=(QUESTIONS, LANGUAGES, 1)))


def refusing(chance: np.random.Generator, likely: Array, share: float, missed: float) -> tuple[Array, Array]:
    """Which replies people call refusals, so many in expectation, and a judge who misses a share of them."""
    latent = (likely + math.sqrt(0.41) * chance.normal(size=SHAPE)).ravel()
    people = latent > ndtri(1 - share)
    given = np.where(people, chance.random(REPLIES) >= missed, chance.random(REPLIES) < 0.02)
    return people.astype(float), given.astype(float)


def of(people: Array, drawn: NDArray[np.int_]) -> Array:
    """The labels of one person who labels the draw."""
    known = np.full((REPLIES, 1), np.nan)
    known[drawn, 0] = people[drawn]
    return known


def refusal_gates(worlds: int) -> Iterator[str]:
    """How often rules err whose margin is the very difference; the judge misses more of the candidate's."""
    yield "refused   after  labels  difference held  errs: PASS    FAIL"
    for (before, after), n in product(((0.05, 0.10), (0.05, 0.15), (0.15, 0.25)), (60, 120, 240)):
        chance = np.random.default_rng(int(1000 * before) + n)
        counts = Counter(_refusal_gate(chance, before, after, n) for _ in range(worlds))
        held, passed, failed = (counts[name] / worlds for name in ("inconclusive", "pass", "fail"))
        yield f"{before:<7.0%}{after:>8.0%}{n:>8}{held:>17.1%}{passed:>12.1%}{failed:>8.1%}"


def _refusal_gate(chance: np.random.Generator, before: float, after: float, n: int) -> str:
    """The ruling, which should be none, on the refusals of one world: inconclusive holds the truth."""
    likely = leanings(chance)
    sides = [refusing(chance, likely, share, missed) for share, missed in ((before, 0.3), (after, 0.6))]
    drawn = draw(chance, scored(qualities(chance)), n)
    found = [
        correct(100 * WEIGHTS, labels(given, of(people, drawn), n), extent=1.0) for people, given in sides
    ]
    truth = 100 * float(sides[1][0].mean() - sides[0][0].mean())
    return noninferiority(_difference(found), max(truth, 0.0), "lower")


# Gates.


def moved(latent: Array, points: float) -> Array:
    """Qualities that people score by so many percentage points otherwise, on these very replies."""
    target, low, high = scored(latent).mean() + points, -2.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if scored(latent + middle).mean() < target else (low, middle)
    return latent + low


def gates(worlds: int) -> Iterator[str]:
    """How often each rule passes and fails releases that are so much worse."""
    yield (
        f"{'rule':<14} {'judge':<7} {'truth':>6}  {'uncorrected: PASS':>17}  {'FAIL':>6}  "
        f"{'60 labels: PASS':>15}  {'FAIL':>6}  {'120 labels: PASS':>16}  {'FAIL':>6}"
    )
    for margin, truths in ((5.0, (0.0, -4.0, -5.0, -9.0)), (2.0, (0.0, -2.0, -4.0))):
        for correlation in (0.84, 0.65):
            for truth in truths:
                yield _gate(margin, correlation, truth, worlds)


def _gate(margin: float, correlation: float, truth: float, worlds: int) -> str:
    chance = np.random.default_rng(int(100 * correlation + 10 * margin - truth))
    shifts = judge(correlation, 0.0), judge(correlation, 5.0)
    counts: Counter[tuple[str, str]] = Counter()
    for _ in range(worlds):
        latent = qualities(chance)
        again = latent + 0.5 * chance.normal(size=REPLIES)
        wanted = float(scored(latent).mean() + truth - scored(again).mean())
        people = [scored(latent), scored(moved(again, wanted))]
        given = [judged(chance, part, *shift) for part, shift in zip(people, shifts, strict=True)]
        counts["judge", noninferiority(_uncorrected(*given), margin)] += 1
        for n in (60, 120):
            drawn = draw(chance, given[1], n)
            counts[str(n), noninferiority(_corrected(people, given, drawn), margin)] += 1
    shown = "  ".join(
        f"{counts[name, 'pass'] / worlds:>{width}.1%}  {counts[name, 'fail'] / worlds:>6.1%}"
        for name, width in (("judge", 17), ("60", 15), ("120", 16))
    )
    return f"overall:-{margin:g}pp   r {correlation:<5} {truth:>6.0f}  {shown}"


def _uncorrected(before: Array, after: Array) -> Difference:
    return fixed.difference(OVERALL, _cells(before), _cells(after))


def _cells(scores: Array) -> list[Cell]:
    runs = scores.reshape(SHAPE)
    return [
        Cell(
            id=f"{language}/{question}", cluster=str(question), stratum=str(language), values={"percent": row}
        )
        for question in range(QUESTIONS)
        for language in range(LANGUAGES)
        for row in [runs[question, language].tolist()]
    ]


def _corrected(people: list[Array], given: list[Array], drawn: NDArray[np.int_]) -> Difference:
    """The same replies are labelled on both sides."""
    sides: list[CorrectedEstimate | None] = []
    for scores, judge in zip(people, given, strict=True):
        sides.append(correct(WEIGHTS, labels(judge, of(scores, drawn), len(drawn))))
    return _difference(sides)


def _difference(sides: list[CorrectedEstimate | None]) -> Difference:
    """After less before on these replies."""
    was, now = sides
    assert was is not None
    assert now is not None
    both = combine([now, was], [1.0, -1.0], now.value - was.value, now.judge - was.judge)
    return Difference(**asdict(interval(both, "these")), p=None, unpaired=0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument(
        "--only", default="", help="Rows of the first table that begin so, and no other table."
    )
    given = parser.parse_args()
    for line in coverage(given.worlds, given.only):
        print(line, flush=True)
    if given.only:
        return
    for table in (refusals, refusal_gates, gates):
        print()
        for line in table(given.worlds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
