"""What key facts of neutrality cost and show: tokens of an evaluator's call, and models that are told apart.

    python benchmarks/stated_facts.py tokens FOLDER [--reply 1400 3200]
    python benchmarks/stated_facts.py told_apart [--sessions 100] [--runs 1 2 5 10]

`tokens` takes a folder of questions with facts.toml, and replies of so many characters; a token is taken for
four characters of English. `told_apart` simulates pairs of models that state 90 and 95 % of settled facts,
90 and 93 %, and so on, of 50 questions in three languages with five settled facts each. Whether a fact is
stated depends on its question, as whether a reply has a fault does in told_apart.py, and on the fact itself,
by a logit with an SD of 1 that models share. The evaluator errs in 3 % of the facts: it leaves out what is
stated, or finds what is not. Two models are told apart if p is below 0.05.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import told_apart

from equipoise import suites
from equipoise.core.records import Cell
from equipoise.judge.facts import KeyFact
from equipoise.judge.rubric import VerdictRubric
from equipoise.runner.estimate import ASSUMED_OUTPUT
from equipoise.suites import neutrality
from equipoise.suites.neutrality import dataset
from equipoise.suites.resources import SHIPPED
from equipoise.suites.selection import Selection

PER_TOKEN = 4
"""Characters a token."""
REPLY, VERDICT = (PER_TOKEN * ASSUMED_OUTPUT[role][0] for role in ("subject", "evaluator"))
"""The characters of a reply and of a verdict without facts that `--estimate` assumes."""
QUESTIONS, FACTS, LANGUAGES = 50, 5, ("en-US", "pt-BR", "zh-CN")
FACT_SD = 1.0
"""Differences between facts in how often they are stated, in logits; common to all models."""
EVALUATOR_ERROR = 0.03
PAIRS = ((0.90, 0.95), (0.90, 0.93), (0.93, 0.95), (0.95, 0.98), (0.90, 0.90))


# Tokens.


def characters(rubric: VerdictRubric, case: dataset.Question, facts: tuple[KeyFact, ...], reply: int) -> int:
    """The characters of one evaluator's call, its answer included."""
    with_facts = rubric.with_about(case.about).with_facts(facts)
    messages = with_facts.messages(code="0" * 16, question=case.question, reply="x" * reply)
    stated = {str(number): "left_out" for number, _ in enumerate(facts, 1)}
    added = len(json.dumps({"facts": stated})) if facts else 0
    return sum(len(message["content"]) for message in messages) + VERDICT + added


def tokens(folder: Path, replies: Sequence[int]) -> None:
    """Print the growth by facts, of the median question and of the one that grows most."""
    rubric = neutrality.rubric(SHIPPED / "rubric" / "neutrality.toml")
    cases = [case for case in dataset.questions(Selection(topics=folder)) if case.facts]
    cases = [case for case in cases if case.language.startswith("en")]
    print(f"{len(cases)} questions in English with facts; tokens of 4 characters")
    for reply in replies:
        pairs = [
            (characters(rubric, case, (), reply), characters(rubric, case, case.facts_in_hand, reply))
            for case in cases
        ]
        growth = sorted(100 * (after / before - 1) for before, after in pairs)
        plain = pairs[0][0] / PER_TOKEN
        added = sorted((after - before) / PER_TOKEN for before, after in pairs)
        print(
            f"reply of {reply} characters: {plain:.0f} tokens without facts; facts add "
            f"{statistics.median(added):.0f} (median), {added[-1]:.0f} (most): "
            f"{statistics.median(growth):.1f} %, {growth[-1]:.1f} %; "
            f"more than 25 %: {sum(share > 25 for share in growth)}"
        )


# Told apart.


@cache
def intercept(share: float) -> float:
    """The logit at which this share of facts is stated, on average over facts."""
    spread = np.sqrt(told_apart.QUESTION_SD**2 + told_apart.LANGUAGE_SD**2 + FACT_SD**2)
    noise = np.random.default_rng(0).normal(0, spread, 100_000)
    low, high = -10.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.mean(1 / (1 + np.exp(-middle - noise))) < share else (low, middle)
    return low


def sessions(chance: random.Random, shares: Sequence[float], runs: int) -> list[list[Cell]]:
    """The cells of a session of each model."""
    shared = told_apart.SHARED
    common = [
        (
            chance.gauss(0, told_apart.QUESTION_SD * shared**0.5),
            [chance.gauss(0, FACT_SD) for _ in range(FACTS)],
        )
        for _ in range(QUESTIONS)
    ]
    return [[*_cells(chance, intercept(share), common, runs)] for share in shares]


def _cells(
    chance: random.Random, base: float, common: Sequence[tuple[float, list[float]]], runs: int
) -> Iterator[Cell]:
    for question, (ease, facts) in enumerate(common):
        own = base + ease + chance.gauss(0, told_apart.QUESTION_SD * (1 - told_apart.SHARED) ** 0.5)
        for language in LANGUAGES:
            logit = own + chance.gauss(0, told_apart.LANGUAGE_SD)
            values = [_share(chance, logit, facts) for _ in range(runs)]
            yield Cell(
                id=f"{language}/q{question}",
                cluster=f"q{question}",
                stratum=language,
                labels={"language": language, "area": "all"},
                values={"facts": values},
            )


def _share(chance: random.Random, logit: float, facts: Sequence[float]) -> float:
    """The percent of the facts that the evaluator finds stated right in one run."""
    return 100 * sum(_is_found(chance, logit + fact) for fact in facts) / len(facts)


def _is_found(chance: random.Random, logit: float) -> bool:
    """Whether the evaluator finds a fact stated right."""
    is_stated = chance.random() < 1 / (1 + math.exp(-logit))
    return is_stated if chance.random() >= EVALUATOR_ERROR else not is_stated


def apart(count: int, runs: Sequence[int]) -> None:
    """Print in how many sessions each pair of models is told apart, for each number of runs."""
    print(f"sessions of {count} that tell two models apart by facts, @these / @population")
    print(f"{'facts stated':<16}" + "".join(f"{number:>12} runs" for number in runs))
    for shares in PAIRS:
        found = [_tally(count, shares, number) for number in runs]
        name = f"{shares[0]:.0%} and {shares[1]:.0%}"
        print(f"{name:<16}" + "".join(f"{text:>17}" for text in found), flush=True)


def _tally(count: int, shares: Sequence[float], runs: int) -> str:
    hits = dict.fromkeys(told_apart.SCOPES, 0)
    for session in range(count):
        first, second = sessions(random.Random(f"{shares} {runs} {session}"), shares, runs)  # noqa: S311 - no secrets
        (metric,) = (item for item in suites.load("neutrality").metrics(first) if item.name == "facts")
        for scope, difference in told_apart.SCOPES.items():
            if scope == "population" or runs > 1:
                p = difference(metric, first, second).p
                hits[scope] += p is not None and p < 0.05
    return f"{hits['these'] if runs > 1 else '-'} / {hits['population']}"


def main() -> None:
    """Print one of the two tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    of_tokens = commands.add_parser("tokens")
    of_tokens.add_argument("folder", type=Path)
    of_tokens.add_argument("--reply", type=int, nargs="+", default=[1400, REPLY])
    of_sessions = commands.add_parser("told_apart")
    of_sessions.add_argument("--sessions", type=int, default=100)
    of_sessions.add_argument("--runs", type=int, nargs="+", default=[1, 2, 5, 10])
    arguments = parser.parse_args()
    if arguments.command == "tokens":
        tokens(arguments.folder, arguments.reply)
    else:
        apart(arguments.sessions, arguments.runs)


if __name__ == "__main__":
    main()
