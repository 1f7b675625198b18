"""Does a gate decide, and does it decide rightly? Simulated benchmarks whose truth is known.

    python benchmarks/gates.py [--trials 300] [--releases 300] [--coverage 1000]

50 questions in 3 languages. A run's score is a latent quality, rounded to 1..5: questions differ by 0.8
points, a question's languages by 0.3, runs by 0.5 (standard deviations). Two models share none, half or all
of what makes questions differ. The gate is `overall:-2pp`. In the scope `these` the truth is the difference
on the very questions that were asked, in `population` that of all questions like them. `until` asks the
candidate up to ten rounds, against a baseline of ten runs, and stops as soon as the rule is decided; else
both have five runs. Then a release of nine rules on nine figures of their own, `these`, of which each may
fall by 2 points: how often any rule fails and all pass, where each is decided by itself and where a FAIL
allows for all nine (`equipoise.comparison.gate.family`). Last the share of 95 % intervals that hold the
truth, of one model and of the difference of two.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm  # type: ignore[import-untyped]  # scipy has no types

from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, failing_rules, family_of
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule, parse_rule
from equipoise.stats import fixed
from equipoise.stats.metrics import difference, measure
from equipoise.stats.paired import Difference, noninferiority
from equipoise.stats.sequential import look_confidence

Array = NDArray[np.float64]
Runs = Mapping[Rule, tuple[Array, Array]]
Scope = Literal["these", "population"]
LANGUAGES, RUNS, ROUNDS, MARGIN = 3, 5, 10, 2.0
BETWEEN_QUESTIONS, BETWEEN_LANGUAGES, BETWEEN_RUNS = 0.8, 0.3, 0.5
STEPS = np.array([1.5, 2.5, 3.5, 4.5])
OVERALL = Metric(name="overall", of="percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Two models: their centre in points, the share of their questions' effects in common, their number."""

    centre: float = 3.6
    shared: float = 0.5
    questions: int = 50


def expected(latent: Array) -> Array:
    """The mean percentage of the runs of each case."""
    return 25 * (1 - norm.cdf((STEPS - latent[..., None]) / BETWEEN_RUNS)).sum(axis=-1)


def latents(chance: np.random.Generator, world: World) -> tuple[Array, Array]:
    """What lies behind the scores of both models, question by language."""

    def drawn() -> Array:
        questions = BETWEEN_QUESTIONS * chance.normal(size=(world.questions, 1))
        return questions + BETWEEN_LANGUAGES * chance.normal(size=(world.questions, LANGUAGES))

    common, own = drawn(), (drawn(), drawn())
    parts = (np.sqrt(world.shared) * common + np.sqrt(1 - world.shared) * part for part in own)
    before, after = (world.centre + part for part in parts)
    return before, after


def shifted(before: Array, after: Array, truth: float) -> Array:
    """The later model moved so far that it differs by `truth` percentage points on these very questions."""
    for _ in range(8):
        gap = truth - (expected(after).mean() - expected(before).mean())
        after = after + gap / 25
    return after


def ask(chance: np.random.Generator, latent: Array, runs: int) -> Array:
    """The percentage of each run, in a further dimension."""
    noise = BETWEEN_RUNS * chance.normal(size=(*latent.shape, runs))
    return (np.clip(np.rint(latent[..., None] + noise), 1, 5) - 1) * 25


def cells(runs: Array) -> list[Cell]:
    """The runs as a suite has them."""
    return [
        Cell(
            id=f"{language}/{question}", cluster=str(question), stratum=str(language), values={"percent": row}
        )
        for question, languages in enumerate(runs.tolist())
        for language, row in enumerate(languages)
    ]


def compared(scope: Scope, before: Array, after: Array, confidence: float = 0.95) -> Difference:
    """The difference, with the interval of that scope."""
    pair = cells(before), cells(after)
    way = fixed.difference if scope == "these" else difference
    return way(OVERALL, *pair, confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of the rule after so many runs of the candidate."""

    verdict: str
    runs: int


def at_once(scope: Scope, chance: np.random.Generator, before: Array, after: Array) -> Verdict:
    """Five runs of both."""
    found = compared(scope, ask(chance, before, RUNS), ask(chance, after, RUNS))
    return Verdict(verdict=noninferiority(found, MARGIN), runs=RUNS)


def in_rounds(scope: Scope, chance: np.random.Generator, before: Array, after: Array) -> Verdict:
    """Up to ten rounds, until the rule is decided."""
    older, newer = ask(chance, before, ROUNDS), ask(chance, after, ROUNDS)
    verdict = "inconclusive"
    for look in range(2, ROUNDS + 1):
        share = 1 / (1 + ROUNDS) if scope == "these" else 0.0
        level = look_confidence(look, ROUNDS, fixed_share=share)
        verdict = noninferiority(compared(scope, older, newer[..., :look], level), MARGIN)
        if verdict != "inconclusive":
            break
    return Verdict(verdict=verdict, runs=look)


def trials(world: World, truth: float, number: int, scope: Scope, seed: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of models that differ so, in this scope."""
    chance = np.random.default_rng(seed)
    shift = _population_shift(world, truth)
    for _ in range(number):
        before, after = latents(chance, world)
        yield before, shifted(before, after, truth) if scope == "these" else after + shift


def _population_shift(world: World, truth: float) -> float:
    """How far a model's latent quality moves for its mean over all questions to move by `truth`."""
    before, after = latents(np.random.default_rng(0), World(centre=world.centre, shared=1, questions=20_000))
    return float((shifted(before, after, truth) - after)[0, 0])


def verdicts(number: int) -> None:
    """Print how often the rule passes, fails and stays undecided."""
    ways: list[tuple[str, Scope, Callable[..., Verdict]]] = [
        ("these", "these", at_once),
        ("these, until", "these", in_rounds),
        ("population", "population", at_once),
        ("population, until", "population", in_rounds),
    ]
    print("gate overall:-2pp   shared  truth    PASS    FAIL  INCONCLUSIVE  runs of the candidate")
    for name, scope, way in ways:
        for shared in (0.0, 0.5, 1.0):
            for truth in (0.0, -2.0, -4.0, -8.0):
                world, chance = World(shared=shared), np.random.default_rng(1)
                found = [way(scope, chance, *pair) for pair in trials(world, truth, number, scope, 2)]
                share = {key: n / number for key, n in Counter(item.verdict for item in found).items()}
                runs = sum(item.runs for item in found) / number
                print(
                    f"{name:<19} {shared:6.1f} {truth:6.0f} {share.get('pass', 0):7.1%} "
                    f"{share.get('fail', 0):7.1%} {share.get('inconclusive', 0):13.1%} {runs:8.1f}",
                    flush=True,
                )


NINE = 9


def releases(number: int) -> None:
    """Print how often a release of nine rules fails, by each rule alone and by all together."""
    print(
        f"{'nine rules, each :-2pp':<32} any FAIL: alone  together   all PASS  "
        "worse one FAILs: alone  together"
    )
    for name, truths in (
        ("all at 0", [0.0] * NINE),
        ("all at -1", [-1.0] * NINE),
        ("all at -2, on the margin", [-MARGIN] * NINE),
        ("one at -4, eight at 0", [-4.0, *[0.0] * (NINE - 1)]),
        ("one at -6, eight at 0", [-6.0, *[0.0] * (NINE - 1)]),
    ):
        print(_released(name, truths, number), flush=True)


def _released(name: str, truths: Sequence[float], number: int) -> str:
    rules = [replace(parse_rule(f"r{place}:-2pp"), name=f"r{place}") for place in range(NINE)]
    family, counts = family_of(rules), Counter[str]()
    for trial in range(number):
        chance = np.random.default_rng((5, trial))
        runs = {rule: _asked(chance, truth) for rule, truth in zip(rules, truths, strict=True)}

        def verdict(rule: Rule, error: float = ALPHA_OF_ONE_RULE, runs: Runs = runs) -> str:
            return noninferiority(compared("these", *runs[rule], 1 - 2 * error), MARGIN)

        alone = {rule for rule in rules if verdict(rule) == "fail"}
        together = failing_rules(rules, lambda rule, error: verdict(rule, error) == "fail", family)
        counts["alone"] += bool(alone)
        counts["together"] += bool(together)
        counts["pass"] += all(verdict(rule) == "pass" for rule in rules)
        counts["first alone"] += rules[0] in alone
        counts["first together"] += rules[0] in together
    share = {key: n / number for key, n in counts.items()}
    worse = (f"{share['first alone']:.1%}", f"{share['first together']:.1%}") if truths[0] < -MARGIN else "--"
    return (
        f"{name:<32} {share['alone']:15.1%} {share['together']:9.1%} {share['pass']:10.1%} "
        f"{worse[0]:>27} {worse[1]:>9}"
    )


def _asked(chance: np.random.Generator, truth: float) -> tuple[Array, Array]:
    """Five runs of two models whose figure differs so on these questions."""
    before, after = latents(chance, World())
    return ask(chance, before, RUNS), ask(chance, shifted(before, after, truth), RUNS)


def coverage(number: int) -> None:
    """Print how often intervals hold the truth."""
    print("coverage of 95 % intervals          one model   difference   without an interval")
    for scope in ("these", "population"):
        for centre in (3.6, 4.6, 5.0):
            for questions in (50, 10):
                print(_covered(scope, World(centre=centre, questions=questions), number), flush=True)


def _covered(scope: Scope, world: World, number: int) -> str:
    chance = np.random.default_rng(3)
    whole = expected(
        latents(np.random.default_rng(0), World(centre=world.centre, questions=100_000))[0]
    ).mean()
    one, two, none = [], [], 0
    for before, after in trials(world, 0.0, number, "population", 4):
        truths = (expected(before).mean(), expected(after).mean()) if scope == "these" else (whole, whole)
        older, newer = ask(chance, before, RUNS), ask(chance, after, RUNS)
        found = (fixed.estimate if scope == "these" else measure)(OVERALL, cells(older))
        change = compared(scope, older, newer)
        for item, truth, kept in ((found, truths[0], one), (change, truths[1] - truths[0], two)):
            if item.low is None or item.high is None:
                none += 1
            else:
                kept.append(item.low <= truth <= item.high)
    return (
        f"{scope:<11} centre {world.centre:.1f}, {world.questions:>2} questions {np.mean(one):9.1%} "
        f"{np.mean(two):12.1%} {none:12d}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=300, help="0: none")
    parser.add_argument("--releases", type=int, default=300, help="0: none")
    parser.add_argument("--coverage", type=int, default=1000, help="0: none")
    given = parser.parse_args()
    if given.trials:
        verdicts(given.trials)
    if given.releases:
        releases(given.releases)
    if given.coverage:
        coverage(given.coverage)


if __name__ == "__main__":
    main()
