"""Simulated pairs of even models: how often a gate on `others_less_beijing` of neutrality would err.

    python benchmarks/contrasts.py [--sessions 300]

The lines are those of the suite, with its labels; those on which a frank answer embarrasses others are easier
by `gap` levels. Scores are made as in gates.py: latent quality, rounded to 1..5, with the same deviations,
five runs in each language. The candidate's latent quality is the baseline's plus `gain`, on every line alike:
neither favours anybody. `shared` is the part of what makes questions differ that both models have in common.

The candidate errs if the rule, `:-2pp` or `:+2pp` on the difference, says FAIL. An interval errs if it does
not contain the true difference of the figures, on these questions or on all like them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gates
import numpy as np
from gates import Array

from equipoise import suites
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import SCOPES, Scope
from equipoise.stats import fixed
from equipoise.stats.metrics import difference
from equipoise.stats.paired import noninferiority
from equipoise.suites.selection import Selection

ROOT = Path(__file__).resolve().parents[1]
NAME = "others_less_beijing"
RUNS, MARGIN = 5, 2.0
MANY = 20_000
"""So many questions of each group give the truth about all questions like them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Two even models: the baseline's mean quality `centre`, and the others as in the module's docstring."""

    centre: float
    gap: float
    gain: float
    shared: float = 1.0


WORLDS = [
    *(World(centre=3.6, gap=gap, gain=gain) for gap in (0.0, 0.8) for gain in (0.0, 0.3, 0.6)),
    *(World(centre=4.4, gap=gap, gain=gain) for gap in (0.0, 0.8) for gain in (0.0, 0.3, 0.6)),
    *(World(centre=4.4, gap=0.8, gain=gain, shared=0.5) for gain in (0.0, 0.6)),
]


def lines() -> Sequence[str]:
    """Whom a frank answer embarrasses, by line."""
    cases = suites.load("neutrality").data.cases(
        Selection(topics=ROOT / "topics" / "neutrality", languages=("en-US",))
    )
    return [case.embarrasses for case in cases]


def latents(chance: np.random.Generator, world: World, easier: Array) -> tuple[Array, Array]:
    """The latent qualities of both models, question by language; `easier` is 1 for lines about others."""
    effects = gates.World(centre=world.centre, shared=world.shared, questions=len(easier))
    before, after = gates.latents(chance, effects)
    return before + world.gap * easier[:, None], after + (world.gap * easier)[:, None] + world.gain


def contrast(percents: Array, easier: Array) -> float:
    """The mean over the lines about others minus that over those about Beijing."""
    return float(percents[easier == 1].mean() - percents[easier == 0].mean())


def cells(runs: Array, labels: Sequence[str]) -> list[Cell]:
    """The cells of a session."""
    return [
        Cell(
            id=f"{language}/{question}",
            cluster=str(question),
            stratum=str(language),
            labels={"language": str(language), "area": "", "embarrasses": labels[question]},
            values={"percent": row},
        )
        for question, languages in enumerate(runs.tolist())
        for language, row in enumerate(languages)
    ]


def row(world: World, sessions: int) -> str:
    """A line of the table."""
    labels = [label for label in lines() if label in ("others", "beijing")]
    easier = np.array([float(label == "others") for label in labels])
    half = np.repeat([1.0, 0.0], MANY)
    many = [gates.expected(side) for side in latents(np.random.default_rng(0), world, half)]
    population = contrast(many[1], half) - contrast(many[0], half)
    misses, fails = dict.fromkeys(SCOPES, 0), dict.fromkeys(SCOPES, 0)
    for session in range(sessions):
        chance = np.random.default_rng((7, session))
        before, after = latents(chance, world, easier)
        older, newer = (cells(gates.ask(chance, side, RUNS), labels) for side in (before, after))
        metric = next(item for item in suites.load("neutrality").metrics(newer) if item.name == NAME)
        these = contrast(gates.expected(after), easier) - contrast(gates.expected(before), easier)
        for scope, truth in zip(SCOPES, (these, population), strict=True):
            is_missed, is_fail = judge(metric, scope, older, newer, truth)
            misses[scope] += is_missed
            fails[scope] += is_fail
    levels = " to ".join(f"{side.mean():.0f} %" for side in many)
    shares = [f"{100 * count[scope] / sessions:5.1f}" for count in (misses, fails) for scope in SCOPES]
    return (
        f"{levels:<13} {world.gap:4.1f} {world.shared:7.1f} {population:+8.1f}   "
        f"{shares[0]} {shares[1]:>12}   {shares[2]} {shares[3]:>12}"
    )


def judge(
    metric: Metric, scope: Scope, older: Sequence[Cell], newer: Sequence[Cell], truth: float
) -> tuple[bool, bool]:
    """Whether the interval misses the truth, and whether the rule fails a candidate that is even."""
    change = (fixed.difference if scope == "these" else difference)(metric, older, newer)
    if change.low is None or change.high is None:
        return False, False
    fails = "fail" in (noninferiority(change, MARGIN, better) for better in ("higher", "lower"))
    return not change.low <= truth <= change.high, fails


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=300)
    sessions = parser.parse_args().sessions
    print(f"{sessions} sessions a row; of 100, the intervals that miss and the even candidates that fail")
    print("level          gap  shared  true change   misses: these, population   FAIL: these, population")
    for world in WORLDS:
        print(row(world, sessions), flush=True)


if __name__ == "__main__":
    main()
