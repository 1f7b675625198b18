"""Simulated sessions of neutrality: with how many runs which models are told apart by an honest judge.

    python benchmarks/told_apart.py [--sessions 100] [--runs 1 2 5 10]

50 questions in three languages. Five characters answer as the kinds of texts that audits.py knows: one that
speaks for the state, its mirror, one that declines, one that leaves all open, and one that is short and has
gaps. Of four strong models 90, 93, 95 and 98 % of replies are without a fault; of the others 60 % have a
minor one (level 4), 30 % a clear one (3) and 10 % one that misleads (2). Whether a reply has a fault depends
on its question: by logits with an SD of 1 between questions, half of whose variance is common to all models,
and of 0.5 between languages of a question. The judge errs as the sound evaluator in audits.py does.

Two models are told apart by a figure if p is below 0.05 after Holm's correction for the 36 pairs.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import audits
import numpy as np

from equipoise import suites
from equipoise.core.records import Cell, Metric
from equipoise.stats import fixed
from equipoise.stats.metrics import difference
from equipoise.stats.paired import holm

QUESTIONS = 50
CHARACTERS = {
    "state": "state_aligned",
    "critic": "critic_aligned",
    "refuser": "refusal",
    "hedger": "fence_sitting",
    "mid-size": "omissions_light",
}
"""The kind of text that a character's replies are."""
STRONG = {"strong 90": 0.90, "strong 93": 0.93, "strong 95": 0.95, "strong 98": 0.98}
"""The share of replies without a fault."""
FAULTS = {4.0: 0.6, 3.0: 0.3, 2.0: 0.1}
"""The share of each level among replies with a fault."""
MODELS = (*CHARACTERS, *STRONG)
COLUMNS: Mapping[str, tuple[Sequence[str], str]] = {
    "overall, these": (["overall"], "these"),
    "overall, population": (["overall"], "population"),
    "leans or refusals": (["lean.state", "lean.critics", "refused"], "population"),
}
"""The columns of the table: figures, any of which may tell two models apart, and the scope."""
QUESTION_SD, LANGUAGE_SD, SHARED = 1.0, 0.5, 0.5
"""Differences in difficulty, in logits, and the part of the variance between questions that models share."""
SCOPES = {"these": fixed.difference, "population": difference}
Pair = tuple[str, str]


def intercept(share: float) -> float:
    """The logit at which this share of replies has no fault, on average over questions."""
    noise = np.random.default_rng(0).normal(0, np.hypot(QUESTION_SD, LANGUAGE_SD), 100_000)
    low, high = -10.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.mean(1 / (1 + np.exp(-middle - noise))) < share else (low, middle)
    return low


INTERCEPTS = {name: intercept(share) for name, share in STRONG.items()}


def sessions_of_all(chance: random.Random, runs: int) -> dict[str, list[Cell]]:
    """The cells of each model's session."""
    common = [chance.gauss(0, QUESTION_SD * SHARED**0.5) for _ in range(QUESTIONS)]
    return {model: [*_cells(chance, model, common, runs)] for model in MODELS}


def _cells(chance: random.Random, model: str, common: Sequence[float], runs: int) -> Iterator[Cell]:
    for question, shared in enumerate(common):
        own = shared + chance.gauss(0, QUESTION_SD * (1 - SHARED) ** 0.5)
        for language in audits.LANGUAGES:
            ease = own + chance.gauss(0, LANGUAGE_SD)
            values = [_values(chance, model, ease) for _ in range(runs)]
            yield Cell(
                id=f"{language}/q{question}",
                cluster=f"q{question}",
                stratum=language,
                labels={"language": language, "area": "all"},
                values={name: [run[name] for run in values] for name in values[0]},
            )


def _values(chance: random.Random, model: str, ease: float) -> Mapping[str, float]:
    """The values of a run as the suite has them, with the judge's errors."""
    kind = CHARACTERS.get(model)
    level = audits.TRUE_LEVELS[kind] if kind else _strong_level(chance, INTERCEPTS[model] + ease)
    seen = level + chance.gauss(0, np.hypot(audits.TEXT_SD, audits.VERDICT_SD))
    known = audits.KNOWN_LEANS.get(kind or "", "none")
    lean = audits.TRUE_LEANS[known] + chance.gauss(0, np.hypot(audits.TEXT_LEAN_SD, audits.VERDICT_LEAN_SD))
    return {
        "percent": 25 * (min(max(round(seen), 1), 5) - 1),
        "refused": float(kind == "refusal"),
        "lean.state": float(lean >= audits.SLIGHT),
        "lean.critics": float(lean <= -audits.SLIGHT),
    }


def _strong_level(chance: random.Random, logit: float) -> float:
    if chance.random() < 1 / (1 + np.exp(-logit)):
        return 5.0
    return chance.choices([*FAULTS], [*FAULTS.values()])[0]


def told_apart(metric: Metric, scope: str, cells: Mapping[str, Sequence[Cell]]) -> set[Pair]:
    """The pairs of models that differ in a figure."""
    found = {
        pair: SCOPES[scope](metric, cells[pair[0]], cells[pair[1]]).p for pair in combinations(MODELS, 2)
    }
    adjusted = holm({pair: p for pair, p in found.items() if p is not None})
    return {pair for pair, p in adjusted.items() if p < 0.05}


def tally(sessions: int, runs: int) -> tuple[dict[str, Counter[Pair]], dict[str, float]]:
    """In how many sessions each pair is told apart, by column of the table; and each model's mean score."""
    counts: dict[str, Counter[Pair]] = {column: Counter() for column in COLUMNS}
    scores: dict[str, list[float]] = {model: [] for model in MODELS}
    for session in range(sessions):
        cells = sessions_of_all(random.Random(f"{runs} {session}"), runs)  # noqa: S311 - no secrets
        metrics = {item.name: item for item in suites.load("neutrality").metrics(cells["state"])}
        for column, (figures, scope) in COLUMNS.items():
            if scope == "population" or runs > 1:
                counts[column].update(
                    set().union(*(told_apart(metrics[name], scope, cells) for name in figures))
                )
        for model, its_cells in cells.items():
            scores[model] += [
                value for cell in its_cells for value in cell.of("percent") if value is not None
            ]
    return counts, {model: float(np.mean(values)) for model, values in scores.items()}


def rows() -> dict[str, list[Pair]]:
    """The pairs in each row of the table."""
    alike = {
        "state, critic": [("state", "critic")],
        "refuser, state or critic": [("state", "refuser"), ("critic", "refuser")],
    }
    strong = {f"{one}, {other.split()[1]}": [(one, other)] for one, other in combinations(STRONG, 2)}
    taken = {pair for pairs in (*alike.values(), *strong.values()) for pair in pairs}
    rest = [pair for pair in combinations(MODELS, 2) if pair not in taken]
    return {**alike, f"{len(rest)} others with a character": rest, **strong}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 2, 5, 10])
    arguments = parser.parse_args()
    print(f"sessions of {arguments.sessions} that tell two models apart; of several pairs, the worst one's")
    for runs in arguments.runs:
        counts, scores = tally(arguments.sessions, runs)
        print(f"\n{runs} runs; scores: {', '.join(f'{name} {score:.1f}' for name, score in scores.items())}")
        print(f"{'':<28}" + "".join(f"{column:>22}" for column in COLUMNS))
        for name, pairs in rows().items():
            cells = [min(counts[column][pair] for pair in pairs) for column in COLUMNS]
            print(f"{name:<28}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
