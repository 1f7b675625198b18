"""Simulated benchmarks with a known truth: how often gates decide, and how often they decide rightly.

    python benchmarks/gates.py [--trials 300] [--releases 300] [--coverage 1000] [--plans 1000]

50 questions in 3 languages. A run's score is a latent quality, rounded to 1..5: questions differ by 0.8
points, a question's languages by 0.3, runs by 0.5 (standard deviations). Two models share none, half or all
of the differences between questions. The gate is `overall:-2pp`. In the scope `these` the truth is the
difference on the very questions that were asked, in `population` the difference on all questions like them.
`until` asks the candidate up to ten rounds, against a baseline of ten runs, and stops as soon as the rule is
decided; otherwise both have five runs.

The second table is of releases with nine rules, each on a figure of its own that may fall by 2 points,
`these`: how often any rule fails and all pass, if each rule is decided alone and if a FAIL allows for all
nine (`equipoise.comparison.gate.family`). The third has the share of 95 % intervals that contain the truth,
of one model and of the difference of two. The fourth has the share of unchanged releases that a rule on a
mean, or on a rate, passes, beside what `equipoise gate plan` says from 40 runs of it and from five.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm  # scipy has no types

from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE, failing_rules, family_of
from equipoise.comparison.gate.planning import plan_of
from equipoise.core.figures import Difference
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import SCOPES, Rule, Scope, parse_rule
from equipoise.stats import fixed
from equipoise.stats.metrics import difference, measure
from equipoise.stats.paired import noninferiority
from equipoise.stats.sequential import look_confidence

Array = NDArray[np.float64]
Runs = Mapping[Rule, tuple[Array, Array]]
"""The percentages of the runs of both models, by rule."""
LANGUAGES, RUNS, ROUNDS, RULES, WORLDS = 3, 5, 10, 9, 10
MARGIN = 2.0
"""The margin of each rule in percentage points."""
QUESTION_SD, LANGUAGE_SD, RUN_SD = 0.8, 0.3, 0.5
LEVEL_BOUNDS = np.array([1.5, 2.5, 3.5, 4.5])
"""The latent qualities at which the rounded score changes."""
OVERALL = Metric(name="overall", of="percent")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Two models: their mean latent quality, the share of questions' effects in common, and questions."""

    centre: float = 3.6
    shared: float = 0.5
    questions: int = 50


def expected(latent: Array) -> Array:
    """The expected percentage of each case, given its latent quality."""
    percent: Array = 25 * (1 - norm.cdf((LEVEL_BOUNDS - latent[..., None]) / RUN_SD)).sum(axis=-1)
    return percent


def latents(chance: np.random.Generator, world: World) -> tuple[Array, Array]:
    """The latent qualities of both models, question by language."""

    def draw_effects() -> Array:
        questions = QUESTION_SD * chance.normal(size=(world.questions, 1))
        return questions + LANGUAGE_SD * chance.normal(size=(world.questions, LANGUAGES))

    common, own = draw_effects(), (draw_effects(), draw_effects())
    effects = (np.sqrt(world.shared) * common + np.sqrt(1 - world.shared) * effect for effect in own)
    before, after = (world.centre + effect for effect in effects)
    return before, after


def shifted(before: Array, after: Array, truth: float) -> Array:
    """The later model, shifted so that it differs by `truth` percentage points on these very questions."""
    for _ in range(8):
        gap = truth - (expected(after).mean() - expected(before).mean())
        after = after + gap / 25
    return after


def ask(chance: np.random.Generator, latent: Array, runs: int) -> Array:
    """The percentage of each run, in a further dimension."""
    noise = RUN_SD * chance.normal(size=(*latent.shape, runs))
    return (np.clip(np.rint(latent[..., None] + noise), 1, 5) - 1) * 25


def cells(runs: Array) -> list[Cell]:
    """A cell for each question in each language, as a suite makes them."""
    return [
        Cell(
            id=f"{language}/{question}", cluster=str(question), stratum=str(language), values={"percent": row}
        )
        for question, languages in enumerate(runs.tolist())
        for language, row in enumerate(languages)
    ]


def compare(scope: Scope, before: Array, after: Array, confidence: float = 0.95) -> Difference:
    """The difference between the runs of two models, with the interval of that scope."""
    function = fixed.difference if scope == "these" else difference
    return function(OVERALL, cells(before), cells(after), confidence=confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict of the rule, and the number of the candidate's runs that it took."""

    verdict: str
    runs: int


def decide_at_once(scope: Scope, chance: np.random.Generator, before: Array, after: Array) -> Verdict:
    """The verdict by five runs of both models."""
    change = compare(scope, ask(chance, before, RUNS), ask(chance, after, RUNS))
    return Verdict(verdict=noninferiority(change, MARGIN), runs=RUNS)


def decide_in_rounds(scope: Scope, chance: np.random.Generator, before: Array, after: Array) -> Verdict:
    """The verdict by up to ten rounds, until the rule is decided."""
    older, newer = ask(chance, before, ROUNDS), ask(chance, after, ROUNDS)
    verdict = "inconclusive"
    for look in range(2, ROUNDS + 1):
        share = 1 / (1 + ROUNDS) if scope == "these" else 0.0
        confidence = look_confidence(look, ROUNDS, fixed_share=share)
        verdict = noninferiority(compare(scope, older, newer[..., :look], confidence), MARGIN)
        if verdict != "inconclusive":
            break
    return Verdict(verdict=verdict, runs=look)


def trials(world: World, truth: float, number: int, scope: Scope, seed: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of models that differ by `truth` percentage points in this scope, as latent qualities."""
    chance = np.random.default_rng(seed)
    shift = _population_shift(world, truth)
    for _ in range(number):
        before, after = latents(chance, world)
        yield before, shifted(before, after, truth) if scope == "these" else after + shift


def _population_shift(world: World, truth: float) -> float:
    """The shift of latent quality that moves the mean over all questions by `truth` percentage points."""
    before, after = latents(np.random.default_rng(0), World(centre=world.centre, shared=1, questions=20_000))
    return float((shifted(before, after, truth) - after)[0, 0])


def verdicts(number: int) -> None:
    """Print how often the rule passes, fails and stays undecided."""
    methods: list[tuple[str, Scope, Callable[..., Verdict]]] = [
        ("these", "these", decide_at_once),
        ("these, until", "these", decide_in_rounds),
        ("population", "population", decide_at_once),
        ("population, until", "population", decide_in_rounds),
    ]
    print("gate overall:-2pp   shared  truth    PASS    FAIL  INCONCLUSIVE  runs of the candidate")
    for name, scope, decide in methods:
        for shared in (0.0, 0.5, 1.0):
            for truth in (0.0, -2.0, -4.0, -8.0):
                world, chance = World(shared=shared), np.random.default_rng(1)
                decisions = [decide(scope, chance, *pair) for pair in trials(world, truth, number, scope, 2)]
                shares = {key: n / number for key, n in Counter(item.verdict for item in decisions).items()}
                runs = sum(item.runs for item in decisions) / number
                print(
                    f"{name:<19} {shared:6.1f} {truth:6.0f} {shares.get('pass', 0):7.1%} "
                    f"{shares.get('fail', 0):7.1%} {shares.get('inconclusive', 0):13.1%} {runs:8.1f}",
                    flush=True,
                )


def releases(number: int) -> None:
    """Print how often a release of nine rules fails, by each rule alone and by all together."""
    print(
        f"{'nine rules, each :-2pp':<32} any FAIL: alone  together   all PASS  "
        "worse one FAILs: alone  together"
    )
    for name, truths in (
        ("all at 0", [0.0] * RULES),
        ("all at -1", [-1.0] * RULES),
        ("all at -2, on the margin", [-MARGIN] * RULES),
        ("one at -4, eight at 0", [-4.0, *[0.0] * (RULES - 1)]),
        ("one at -6, eight at 0", [-6.0, *[0.0] * (RULES - 1)]),
    ):
        print(_release_row(name, truths, number), flush=True)


def _release_row(name: str, truths: Sequence[float], number: int) -> str:
    rules = [replace(parse_rule(f"r{index}:-2pp"), name=f"r{index}") for index in range(RULES)]
    family, counts = family_of(rules), Counter[str]()
    for trial in range(number):
        chance = np.random.default_rng((5, trial))
        runs = {rule: _runs_of_both(chance, truth) for rule, truth in zip(rules, truths, strict=True)}

        # `runs` is bound as a default, because the loop changes the name.
        def verdict(rule: Rule, error: float = ALPHA_OF_ONE_RULE, runs: Runs = runs) -> str:
            return noninferiority(compare("these", *runs[rule], 1 - 2 * error), MARGIN)

        alone = {rule for rule in rules if verdict(rule) == "fail"}
        together = failing_rules(rules, lambda rule, error: verdict(rule, error) == "fail", family)
        counts["alone"] += bool(alone)
        counts["together"] += bool(together)
        counts["pass"] += all(verdict(rule) == "pass" for rule in rules)
        counts["first alone"] += rules[0] in alone
        counts["first together"] += rules[0] in together
    shares = {key: n / number for key, n in counts.items()}
    first = ("-", "-")
    if truths[0] < -MARGIN:
        first = (f"{shares['first alone']:.1%}", f"{shares['first together']:.1%}")
    return (
        f"{name:<32} {shares['alone']:15.1%} {shares['together']:9.1%} {shares['pass']:10.1%} "
        f"{first[0]:>27} {first[1]:>9}"
    )


def _runs_of_both(chance: np.random.Generator, truth: float) -> tuple[Array, Array]:
    """Five runs of two models that differ by `truth` percentage points on these questions."""
    before, after = latents(chance, World())
    return ask(chance, before, RUNS), ask(chance, shifted(before, after, truth), RUNS)


def coverage(number: int) -> None:
    """Print how often intervals contain the truth."""
    print("coverage of 95 % intervals          one model   difference   without an interval")
    for scope in SCOPES:
        for centre in (3.6, 4.6, 5.0):
            for questions in (50, 10):
                print(_coverage_row(scope, World(centre=centre, questions=questions), number), flush=True)


def _coverage_row(scope: Scope, world: World, number: int) -> str:
    chance = np.random.default_rng(3)
    population = latents(np.random.default_rng(0), World(centre=world.centre, questions=100_000))[0]
    population_mean = expected(population).mean()
    model_hits: list[bool] = []
    difference_hits: list[bool] = []
    without_interval = 0
    for before, after in trials(world, 0.0, number, "population", 4):
        truths = population_mean, population_mean
        if scope == "these":
            truths = expected(before).mean(), expected(after).mean()
        older, newer = ask(chance, before, RUNS), ask(chance, after, RUNS)
        estimate = (fixed.estimate if scope == "these" else measure)(OVERALL, cells(older))
        change = compare(scope, older, newer)
        for interval, truth, hits in (
            (estimate, truths[0], model_hits),
            (change, truths[1] - truths[0], difference_hits),
        ):
            if interval.low is None or interval.high is None:
                without_interval += 1
            else:
                hits.append(interval.low <= truth <= interval.high)
    return (
        f"{scope:<11} centre {world.centre:.1f}, {world.questions:>2} questions {np.mean(model_hits):9.1%} "
        f"{np.mean(difference_hits):12.1%} {without_interval:12d}"
    )


RARE = Metric(name="rare", of="rare", kind="rate", higher_is_better=False)
"""The share of runs with the lowest score, as a stand-in for refusals."""


def rare_cells(runs: Array) -> list[Cell]:
    """The same cells, whose value is 1 in runs with the lowest score."""
    return [
        replace(
            cell, values={"rare": [float(not value) for value in cell.of("percent") if value is not None]}
        )
        for cell in cells(runs)
    ]


def plans(number: int) -> None:
    """Print what becomes of unchanged releases, and what plans say of it."""
    print("unchanged releases         runs   PASS: simulated  planned by 40 runs, by 5 (lowest to highest)")
    for text in ("overall:-2pp", "overall:-1pp", "overall:-2pp@population", "rare:+2pp", "rare:+1pp"):
        for runs in (3, RUNS, ROUNDS):
            print(_plan_row(parse_rule(text), runs, number), flush=True)
    print("until gate, overall:-2pp   runs   decided and rounds: simulated, planned by 40 runs")
    print(_rounds_row(parse_rule("overall:-2pp"), number), flush=True)


def _worlds() -> list[Array]:
    """The latent qualities of models whose releases do not change."""
    return [latents(np.random.default_rng((6, world)), World(shared=1.0))[0] for world in range(WORLDS)]


def _plan_row(rule: Rule, runs: int, number: int) -> str:
    """The simulated share of PASS, and the mean of what plans say from baselines of 40 runs and of five."""
    metric, to_cells = (OVERALL, cells) if rule.name == "overall" else (RARE, rare_cells)
    function = fixed.difference if rule.scope == "these" else difference
    chance, passed = np.random.default_rng(7), []
    planned: dict[int, list[float]] = {40: [], RUNS: []}
    for quality in _worlds():
        for pilot, shares in planned.items():
            plan = plan_of(metric, rule, to_cells(ask(chance, quality, pilot)))
            shares.append(plan.shares(runs, runs).passed)
        for _ in range(number // WORLDS):
            before, after = (to_cells(ask(chance, quality, runs)) for _ in range(2))
            change = function(metric, before, after)
            passed.append(noninferiority(change, rule.amount, rule.better) == "pass")
    error = np.std(passed) / np.sqrt(len(passed))
    return (
        f"{rule.text:<25} {runs:>5} {np.mean(passed):10.1%} (se {error:.1%}) {np.mean(planned[40]):10.1%} "
        f"{np.mean(planned[RUNS]):12.1%} ({min(planned[RUNS]):.1%} to {max(planned[RUNS]):.1%})"
    )


def _rounds_row(rule: Rule, number: int) -> str:
    """The simulated share that `--until gate` decides within ten rounds, and the plans' of it."""
    chance, verdicts, planned = np.random.default_rng(8), [], []
    for quality in _worlds():
        plan = plan_of(OVERALL, rule, cells(ask(chance, quality, 40)))
        planned.append(plan.rounds(ROUNDS, ROUNDS))
        verdicts += [
            decide_in_rounds("these", chance, quality, quality) for _ in range(number // WORLDS // 4)
        ]
    decided = np.mean([item.verdict != "inconclusive" for item in verdicts])
    return (
        f"{'':<25} {ROUNDS:>5} {decided:10.1%} {np.mean([item.runs for item in verdicts]):.1f} "
        f"{np.mean([item.decided for item in planned]):10.1%} {np.mean([item.mean for item in planned]):.1f}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=300, help="0: none")
    parser.add_argument("--releases", type=int, default=300, help="0: none")
    parser.add_argument("--coverage", type=int, default=1000, help="0: none")
    parser.add_argument("--plans", type=int, default=1000, help="0: none")
    arguments = parser.parse_args()
    if arguments.trials:
        verdicts(arguments.trials)
    if arguments.releases:
        releases(arguments.releases)
    if arguments.coverage:
        coverage(arguments.coverage)
    if arguments.plans:
        plans(arguments.plans)


if __name__ == "__main__":
    main()
