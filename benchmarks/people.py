"""Simulated sessions with a known truth: whether people's labels correct the figures of a wrong judge.

    python benchmarks/people.py
    python benchmarks/people.py --worlds 50000 --only "r 0.65, -10 pp, 30 labels"

50 questions in 3 languages, 5 runs each: 750 replies, whose quality differs by 0.8 points of the scale
between questions, 0.3 between a question's languages and 0.5 between runs (standard deviations). People's
score is the quality, rounded to 1..5; the judge's score is people's with a bias and noise, rounded, so that
the two correlate by 0.84 or 0.65. Labels are drawn as by `equipoise review sample`, stratified by language
and third of the judge's scale, spread over questions. `missing`: each label is left blank with a probability
of 15 %. `two people`: they are 7.5 points apart and noisy, label half of the draw together and divide the
rest; the truth is the mean of the two. On `these` replies the truth is people's mean score of all 750, in
`population` the mean score of all questions.

The second table is of refusals, which are likelier on some questions than on others: the judge misses 30 % of
them and takes 2 % of answers for refusals; the bands of scores in which labels are drawn are unrelated to
refusals. The third and fourth are of gates: on refusals, and on scores, where the judge favours the candidate
by 5 points, and the same 60 or 120 replies are labelled on both sides.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import product

import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray
from scipy.special import ndtri  # scipy has no types

from equipoise.core.figures import Difference
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import SCOPES
from equipoise.stats import fixed
from equipoise.stats.corrected import CorrectedEstimate, Labels, combine, correct, interval
from equipoise.stats.labelled import estimate
from equipoise.stats.paired import noninferiority

Array = NDArray[np.float64]
QUESTIONS, LANGUAGES, RUNS, CENTRE = 50, 3, 5, 3.6
SHAPE = (QUESTIONS, LANGUAGES, RUNS)
CLUSTERS = np.repeat(np.arange(QUESTIONS), LANGUAGES * RUNS)
STRATA = np.tile(np.repeat(np.arange(LANGUAGES), RUNS), QUESTIONS)
REPLIES = QUESTIONS * LANGUAGES * RUNS
WEIGHTS = np.full(REPLIES, 1 / REPLIES)
PEOPLE_GAP, PEOPLE_SD = 0.3, 0.4
"""The difference between two people, and the noise of each, in points of the scale."""
MISSING = 0.15
"""The probability that a label is blank."""
OVERALL = Metric(name="overall", of="percent")
REFUSED = Metric(name="refused", of="refused", kind="rate")


def qualities(chance: np.random.Generator, questions: int = QUESTIONS) -> Array:
    """The latent qualities of all replies, in points of the scale."""
    latent = CENTRE + 0.8 * chance.normal(size=(questions, 1, 1))
    latent = latent + 0.3 * chance.normal(size=(questions, LANGUAGES, 1))
    return np.asarray((latent + 0.5 * chance.normal(size=(questions, LANGUAGES, RUNS))).ravel())


def scored(latent: Array) -> Array:
    """The scores of latent qualities: from 1 to 5, in percent."""
    return (np.clip(np.rint(latent), 1, 5) - 1) * 25


def judge_scores(chance: np.random.Generator, people: Array, shift: float, noise: float) -> Array:
    """The judge's scores of replies, given people's scores."""
    return scored(1 + people / 25 + shift + noise * chance.normal(size=people.shape))


@cache
def judge_parameters(correlation: float, bias: float) -> tuple[float, float]:
    """The shift and the noise, in points of the scale, of a judge with this correlation and bias."""
    people = scored(qualities(np.random.default_rng(0), 20_000))
    shift, noise = bias / 25, 0.6
    for _ in range(40):
        judge = judge_scores(np.random.default_rng(1), people, shift, noise)
        noise *= 1 + 0.8 * (np.corrcoef(people, judge)[0, 1] - correlation)
        shift += (bias - (judge - people).mean()) / 25
    return shift, noise


@cache
def population_mean(offset: float = 0.0, noise: float = 0.0) -> float:
    """The mean score of all questions by a person with this offset and noise, in points of the scale."""
    chance = np.random.default_rng(2)
    latent = qualities(chance, 200_000)
    return float(scored(latent + offset + noise * chance.normal(size=latent.shape)).mean())


def draw(chance: np.random.Generator, judge: Array, n: int) -> NDArray[np.int_]:
    """A systematic sample of the replies, ordered by language, third of the scale and question; shuffled."""
    thirds = np.minimum((judge * 3 / 100).astype(int), 2)
    question_ranks = chance.permutation(QUESTIONS)[CLUSTERS]
    order = np.lexsort((chance.random(REPLIES), question_ranks, thirds, STRATA))
    step = REPLIES / n
    sample: NDArray[np.int_] = order[(chance.random() * step + np.arange(n) * step).astype(int)]
    chance.shuffle(sample)
    return sample


def labels(judge: Array, people: Array, n: int) -> Labels:
    """The labels of a sample of n replies; `people` has NaN for other replies."""
    return Labels(
        judge=judge,
        people=people,
        probability=np.full(REPLIES, n / REPLIES),
        clusters=CLUSTERS,
        strata=STRATA,
    )


Session = tuple[Labels, float, float]
"""Labels, the truth on these replies, and the truth in the population."""


def complete(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """A session in which one person labels the whole sample."""
    people = scored(qualities(chance))
    judge = judge_scores(chance, people, shift, noise)
    return labels(judge, labelled(people, draw(chance, judge, n)), n), float(people.mean()), population_mean()


def missing(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """A session in which one person leaves some labels blank."""
    sample, these, population = complete(chance, shift, noise, n)
    sample.people[chance.random(REPLIES) < MISSING] = np.nan
    return sample, these, population


def two_people(chance: np.random.Generator, shift: float, noise: float, n: int) -> Session:
    """A session in which two people who differ label half of the sample together."""
    latent, offsets = qualities(chance), (PEOPLE_GAP / 2, -PEOPLE_GAP / 2)
    people = [scored(latent + offset + PEOPLE_SD * chance.normal(size=REPLIES)) for offset in offsets]
    judge = judge_scores(chance, scored(latent), shift, noise)
    known = np.full((REPLIES, 2), np.nan)
    sample = draw(chance, judge, n)
    for person, scores in enumerate(people):
        own = [*sample[: n // 2], *sample[n // 2 + person :: 2]]
        known[own, person] = scores[own]
    population = np.mean([population_mean(offset, PEOPLE_SD) for offset in offsets])
    return labels(judge, known, n), float(np.mean(people)), float(population)


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
            yield _row(name, n, {kind: _rates(kind, correlation, bias, n, worlds) for kind in KINDS})


def _rates(kind: str, correlation: float, bias: float, n: int, worlds: int) -> dict[str, float]:
    """The coverage of intervals and mean half-widths, by scope, and the half-width by labels alone."""
    shift, noise = judge_parameters(correlation, bias)
    chance = np.random.default_rng(int(1000 * correlation - bias + n))
    sums: defaultdict[str, float] = defaultdict(float)
    for _ in range(worlds):
        sample, these, population = KINDS[kind](chance, shift, noise, n)
        corrected, people_alone = correct(WEIGHTS, sample), correct(WEIGHTS, sample, weight=0.0)
        assert corrected is not None
        assert people_alone is not None
        for scope, truth in zip(SCOPES, (these, population), strict=True):
            limits = interval(corrected, scope)
            low, high = limits.low or 0.0, limits.high or 0.0
            sums[f"coverage {scope}"] += low <= truth <= high
            sums[scope] += (high - low) / 2
        limits = interval(people_alone, "these")
        sums["alone"] += ((limits.high or 0.0) - (limits.low or 0.0)) / 2
    return {name: total / worlds for name, total in sums.items()}


def _row(name: str, n: int, rates: Mapping[str, Mapping[str, float]]) -> str:
    coverages = "".join(
        f"{item['coverage these']:>8.1%}{item['coverage population']:>6.1%}".rjust(14)
        for item in rates.values()
    )
    complete, missing, two = rates.values()
    widths = f"{complete['these']:>10.2f}{missing['these']:>9.2f}{two['these']:>7.2f}"
    return f"{name:<14}{n:>7}{coverages}{widths}{complete['population']:>12.2f}{complete['alone']:>14.2f}"


# Refusals.


def refusals(worlds: int) -> Iterator[str]:
    """A line for each share and number of labels: the judge's share, coverage, and half-width in points."""
    yield "refused  judge says  labels   these  population  half-width: these"
    for share, n in product((0.05, 0.15), (30, 60, 120, 240)):
        chance = np.random.default_rng(int(1000 * share) + n)
        means = np.array([_refusal_figures(chance, share, n) for _ in range(worlds)]).mean(axis=0)
        yield f"{share:<8.0%} {means[0]:>10.1%} {n:>7} {means[1]:>7.1%} {means[2]:>11.1%} {means[3]:>18.1f}"


def _refusal_figures(chance: np.random.Generator, share: float, n: int) -> tuple[float, ...]:
    """Of one world: the judge's share, whether each interval contains the truth, and the half-width."""
    people, judge = refused(chance, propensities(chance), share, 0.3)
    sample = draw(chance, scored(qualities(chance)), n)
    corrected = correct(100 * WEIGHTS, labels(judge, labelled(people, sample), n), extent=math.sqrt(0.5))
    assert corrected is not None
    limits = [estimate(REFUSED, corrected, scope) for scope in SCOPES]
    truths = 100 * people.mean(), 100 * share
    hits = [
        (item.low or 0.0) <= truth <= (item.high or 0.0) for item, truth in zip(limits, truths, strict=True)
    ]
    return float(judge.mean()), *map(float, hits), ((limits[0].high or 0.0) - (limits[0].low or 0.0)) / 2


def propensities(chance: np.random.Generator) -> Array:
    """The propensity to refuse: questions have a variance of 0.5, the languages of a question of 0.09."""
    by_question = math.sqrt(0.5) * chance.normal(size=(QUESTIONS, 1, 1))
    return np.asarray(by_question + 0.3 * chance.normal(size=(QUESTIONS, LANGUAGES, 1)))


def refused(
    chance: np.random.Generator, propensity: Array, share: float, missed: float
) -> tuple[Array, Array]:
    """1 for replies that people call refusals, in expectation a `share`; and the same by the judge.

    The judge overlooks the share `missed` of them.
    """
    # Runs add a variance of 0.41, so that the sum has a variance of 1.
    latent = (propensity + math.sqrt(0.41) * chance.normal(size=SHAPE)).ravel()
    people = latent > ndtri(1 - share)
    judge = np.where(people, chance.random(REPLIES) >= missed, chance.random(REPLIES) < 0.02)
    return people.astype(float), judge.astype(float)


def labelled(people: Array, sample: NDArray[np.int_]) -> Array:
    """The labels of one person who labels the sample: a column, with NaN for other replies."""
    known = np.full((REPLIES, 1), np.nan)
    known[sample, 0] = people[sample]
    return known


def refusal_gates(worlds: int) -> Iterator[str]:
    """A line for each pair of shares and number of labels: how often a gate errs.

    The margin of the rule is the true difference, so that both PASS and FAIL are errors. The judge misses
    more refusals of the candidate.
    """
    yield "refused   after  labels  difference held  errs: PASS    FAIL"
    for (before, after), n in product(((0.05, 0.10), (0.05, 0.15), (0.15, 0.25)), (60, 120, 240)):
        chance = np.random.default_rng(int(1000 * before) + n)
        counts = Counter(_refusal_gate(chance, before, after, n) for _ in range(worlds))
        undecided, passed, failed = (counts[name] / worlds for name in ("inconclusive", "pass", "fail"))
        yield f"{before:<7.0%}{after:>8.0%}{n:>8}{undecided:>17.1%}{passed:>12.1%}{failed:>8.1%}"


def _refusal_gate(chance: np.random.Generator, before: float, after: float, n: int) -> str:
    """The verdict of the rule in one world; "inconclusive" means that the interval contains the truth."""
    propensity = propensities(chance)
    sides = [refused(chance, propensity, share, missed) for share, missed in ((before, 0.3), (after, 0.6))]
    sample = draw(chance, scored(qualities(chance)), n)
    corrected = [
        correct(100 * WEIGHTS, labels(judge, labelled(people, sample), n), extent=1.0)
        for people, judge in sides
    ]
    truth = 100 * float(sides[1][0].mean() - sides[0][0].mean())
    return noninferiority(_difference(corrected), max(truth, 0.0), "lower")


# Gates.


def shifted(latent: Array, points: float) -> Array:
    """The qualities, shifted so that people's mean score on these replies changes by `points` percent."""
    target, low, high = scored(latent).mean() + points, -2.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if scored(latent + middle).mean() < target else (low, middle)
    return latent + low


def gates(worlds: int) -> Iterator[str]:
    """A line for each margin, judge and true difference: how often the rule passes and fails."""
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
    parameters = judge_parameters(correlation, 0.0), judge_parameters(correlation, 5.0)
    counts: Counter[tuple[str, str]] = Counter()
    for _ in range(worlds):
        before = qualities(chance)
        after = before + 0.5 * chance.normal(size=REPLIES)
        change = float(scored(before).mean() + truth - scored(after).mean())
        people = [scored(before), scored(shifted(after, change))]
        judge = [judge_scores(chance, scores, *own) for scores, own in zip(people, parameters, strict=True)]
        counts["judge", noninferiority(_uncorrected(*judge), margin)] += 1
        for n in (60, 120):
            sample = draw(chance, judge[1], n)
            counts[str(n), noninferiority(_corrected(people, judge, sample), margin)] += 1
    rates = "  ".join(
        f"{counts[name, 'pass'] / worlds:>{width}.1%}  {counts[name, 'fail'] / worlds:>6.1%}"
        for name, width in (("judge", 17), ("60", 15), ("120", 16))
    )
    return f"overall:-{margin:g}pp   r {correlation:<5} {truth:>6.0f}  {rates}"


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


def _corrected(people: list[Array], judge: list[Array], sample: NDArray[np.int_]) -> Difference:
    """The corrected difference, with labels of the same replies on both sides."""
    return _difference(
        [
            correct(WEIGHTS, labels(judge_side, labelled(scores, sample), len(sample)))
            for scores, judge_side in zip(people, judge, strict=True)
        ]
    )


def _difference(sides: list[CorrectedEstimate | None]) -> Difference:
    """The second side minus the first on these replies."""
    before, after = sides
    assert before is not None
    assert after is not None
    change = combine([after, before], [1.0, -1.0], after.value - before.value, after.judge - before.judge)
    return Difference(**asdict(interval(change, "these")), p=None, unpaired=0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=2000)
    parser.add_argument(
        "--only", default="", help="Rows of the first table that begin so, and no other table."
    )
    arguments = parser.parse_args()
    for line in coverage(arguments.worlds, arguments.only):
        print(line, flush=True)
    if arguments.only:
        return
    for table in (refusals, refusal_gates, gates):
        print()
        for line in table(arguments.worlds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
