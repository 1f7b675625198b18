"""Simulated subjects of the suite turnabout: how often a pair's lean is found, with and without a true one.

    python benchmarks/turnabout.py [--sessions 100] [--shares 0 0.3] [--declined 0.4]

Whole default sessions, with the suite's own cases, figures and intervals; only the answers are drawn. The
mean answer to a case is 70 if the evidence is against the first actor, 30 if it is against the second, else
50, plus chance, so that cases differ by 20 points (SD). Repeats of a case differ by 12 points, so that a
pair's answers have an SD of 23. Numbers are whole and from 0 to 100, letters steps of 25. Every pair leans by
the same share of that SD. `population` adds differences of 5 points (SD) in leans between incidents: then the
truth is the lean over all incidents like these. A lean is found if its 95 % interval excludes 0, and covered
if that contains the true one. With `--declined`, this share of the answers in the last language of each pair
is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from msgspec import structs

from equipoise import suites
from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rows import QuestionRow, RunRow
from equipoise.core.rules import SCOPES, Scope
from equipoise.judge.rubric import Scale
from equipoise.stats import fixed
from equipoise.stats.metrics import measure
from equipoise.suites.selection import Selection

ROOT = Path(__file__).resolve().parents[1]
CASE_SD, REPEAT_SD, LEAN_SD = 20.0, 12.0, 5.0
SD = float(np.hypot(CASE_SD, REPEAT_SD))
MEANS = {"first": 70.0, "second": 30.0, "both": 50.0, "neither": 50.0}
"""The mean answer by the actor against whom the evidence is."""
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)
SCALE = Scale(low=0, high=100, levels={})


@dataclass(frozen=True, kw_only=True)
class Design:
    """The cases of a default session, whether each is answered by a letter, and its number of runs."""

    questions: Sequence[QuestionRow]
    has_letters: Sequence[bool]
    runs: int


def default_design() -> Design:
    """The design of the suite's default session."""
    suite = suites.load("turnabout")
    cases = suite.data.cases(Selection(topics=ROOT / "topics" / "turnabout"))
    data = [case.to_json() for case in cases]
    return Design(
        questions=[suite.question(case) for case in data],
        has_letters=[bool(case["options"]) for case in data],
        runs=suite.defaults["runs"],
    )


def answers(chance: np.random.Generator, design: Design, lean: float, lean_sd: float) -> Iterator[RunRow]:
    """The runs of a session in which leans have the mean `lean` and, between incidents, the SD `lean_sd`."""
    means: dict[tuple[str, str], float] = {}
    leans: dict[tuple[str, ...], float] = {}
    # The rest of the variance between cases, beside that of MEANS.
    rest_sd = np.sqrt(CASE_SD**2 - np.var([*MEANS.values()]))
    for question, has_letters in zip(design.questions, design.has_letters, strict=True):
        labels = question.labels
        case = question.language, question.cluster
        if case not in means:
            means[case] = MEANS[labels["evidence"]] + rest_sd * chance.normal()
        incident = labels["pair"], question.cluster
        if incident not in leans:
            leans[incident] = lean + lean_sd * chance.normal()
        # Each actor gets half of the lean; `x` is an anonymous one.
        sign = {"a": 0.5, "b": -0.5, "x": 0.0}[labels["leads"]]
        latent = means[case] + sign * leans[incident] + REPEAT_SD * chance.normal(size=design.runs)
        step = 25 if has_letters else 1
        for number, value in enumerate(np.clip(step * np.rint(latent / step), 0, 100), start=1):
            yield run_row(question, number, float(value))


def run_row(question: QuestionRow, number: int, value: float) -> RunRow:
    """The row of a run with this answer."""
    return RunRow(
        question=question,
        number=number,
        outcome="scored",
        score=value,
        percent=value,
        error=None,
        values={"percent": value, "refused": 0.0},
        verdicts=(),
        details={},
        subject_transcript=(),
        evaluator_transcripts=(),
    )


@dataclass
class Tally:
    """The results of sessions of one subject; `is_found` has a value for each session by pair."""

    is_found: dict[str, list[bool]] = field(default_factory=dict)
    is_even: list[bool] = field(default_factory=list)
    is_covered: list[bool] = field(default_factory=list)
    headlines: list[float] = field(default_factory=list)
    leans: list[float] = field(default_factory=list)
    sds: list[float] = field(default_factory=list)


def without_answers(chance: np.random.Generator, rows: Sequence[RunRow], share: float) -> Sequence[RunRow]:
    """The rows, without this share of the answers in the last language of each pair."""
    last = {row.question.labels["pair"]: row.question.language for row in rows if row.question.labels["pair"]}
    return [
        structs.replace(row, outcome="refused", percent=None, values={"percent": None, "refused": 1.0})
        if last.get(row.question.labels["pair"]) == row.question.language and chance.random() < share
        else row
        for row in rows
    ]


def simulate(design: Design, share: float, scope: Scope, sessions: int, declined: float = 0.0) -> Tally:
    """The results of sessions of a subject whose pairs lean by this share of an SD."""
    suite, tally = suites.load("turnabout"), Tally()
    for seed in range(sessions):
        chance = np.random.default_rng([seed, int(100 * share), SCOPES.index(scope)])
        all_rows = [*answers(chance, design, share * SD, LEAN_SD if scope == "population" else 0.0)]
        rows = without_answers(chance, all_rows, declined)
        cells = suite.combine(rows)
        metrics = {metric.name: metric for metric in suite.metrics(cells)}
        tally.headlines.append(estimate(metrics["absolute_lean"], cells, scope).value or 0.0)
        for name, metric in metrics.items():
            # The lean of a pair as a whole is `lean.{pair}`.
            if name.startswith("lean.") and name.count(".") == 1:
                lean = estimate(metric, cells, scope)
                assert lean.value is not None
                assert lean.low is not None
                assert lean.high is not None
                tally.is_found.setdefault(name, []).append(lean.low > 0 or lean.high < 0)
                tally.is_covered.append(lean.low <= share * SD <= lean.high)
                tally.leans.append(lean.value)
        pairs = suite.summary(rows, SCALE)["pairs"].values()
        tally.is_even += [bool(pair["even"][scope]["is_even"]) for pair in pairs]
        tally.sds += [pair["sd"] for pair in pairs]
    return tally


def estimate(metric: Metric, cells: Sequence[Cell], scope: Scope) -> Estimate:
    """The figure with its interval in a scope."""
    return fixed.estimate(metric, cells) if scope == "these" else measure(metric, cells)


def power(design: Design, sessions: int, shares: Sequence[float], declined: float) -> None:
    """Print how often leans of these shares of the SD are found, and how often their intervals hold them."""
    print(
        f"{sessions} sessions a row, eight pairs each, {design.runs} runs of {len(design.questions):,} cases"
    )
    print(f"{'scope':<11} lean     SD  found: worst pair, mean  covered  even  absolute lean: mean")
    for scope in SCOPES:
        for share in shares:
            tally = simulate(design, share, scope, sessions, declined)
            rates = {name: 100 * float(np.mean(is_found)) for name, is_found in tally.is_found.items()}
            worst = (max if share == 0 else min)(rates, key=rates.__getitem__)
            print(
                f"{scope:<11} {share:.1f} SD {np.mean(tally.leans):+5.1f} {np.mean(tally.sds):5.1f}"
                f"  {rates[worst]:5.1f} {worst.removeprefix('lean.'):<21} {np.mean([*rates.values()]):5.1f}"
                f"  {100 * np.mean(tally.is_covered):5.1f}  {100 * np.mean(tally.is_even):5.1f}"
                f"  {np.mean(tally.headlines):5.2f}",
                flush=True,
            )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="leans in SD")
    parser.add_argument("--declined", type=float, default=0.0, help="share of missing answers in a language")
    arguments = parser.parse_args()
    power(default_design(), arguments.sessions, arguments.shares, arguments.declined)


if __name__ == "__main__":
    main()
