"""Simulated subjects of the suite turnabout: how often a pair's lean is found, with and without a true one.

    python benchmarks/turnabout.py [--sessions 100] [--shares 0 0.3] [--price-sessions 20]

Whole default sessions, with the suite's own cases, figures and intervals; only the answers are drawn. The
mean answer to a case is 70 if the evidence is against the first actor, 30 if it is against the second, else
50, plus chance, so that cases differ by 20 points (SD). Repeats of a case differ by 12 points, so that a
pair's answers have an SD of 23. Numbers are whole and from 0 to 100, letters steps of 25. Every pair leans by
the same share of that SD. `population` adds differences of 5 points (SD) in leans between incidents: then the
truth is the lean over all incidents like these. A lean is found if its 95 % interval excludes 0.

The price is that of the suite's default session by `--estimate`, for an interval of the headline that is as
wide as in the default session of neutrality, which is simulated as in gates.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gates
import numpy as np

from equipoise import suites
from equipoise.audit.session import SessionAudits
from equipoise.core.records import Cell
from equipoise.core.rows import QuestionRow, RunRow
from equipoise.runner.estimate import of_session
from equipoise.runner.plan import Plan
from equipoise.runner.settings import settings_of
from equipoise.stats import fixed
from equipoise.stats.intervals import Estimate
from equipoise.stats.metrics import measure
from equipoise.suites.selection import Selection

ROOT = Path(__file__).resolve().parents[1]
CASE_SD, REPEAT_SD, LEAN_SD = 20.0, 12.0, 5.0
SD = float(np.hypot(CASE_SD, REPEAT_SD))
MEANS = {"first": 70.0, "second": 30.0, "both": 50.0, "neither": 50.0}
"""The mean answer by the actor against whom the evidence is."""
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)
SCOPES = ("these", "population")
USD_IN, USD_OUT = 1.0, 4.0
"""Prices of tokens, of which only the ratio matters."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """The cases of a default session, whether each is answered by a letter, and its number of runs."""

    questions: Sequence[QuestionRow]
    has_letters: Sequence[bool]
    runs: int


def default_design() -> Design:
    """The design of the suite's default session."""
    suite = suites.load("turnabout")
    cases = suite.cases(Selection(topics=ROOT / "topics" / "turnabout"))
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
        subject_transcript=list,
        evaluator_transcripts=list,
    )


@dataclass
class Tally:
    """The results of sessions of one subject; `is_found` has a value for each session by pair."""

    is_found: dict[str, list[bool]] = field(default_factory=dict)
    is_even: list[bool] = field(default_factory=list)
    headlines: list[Estimate] = field(default_factory=list)
    leans: list[float] = field(default_factory=list)
    sds: list[float] = field(default_factory=list)


def simulate(design: Design, share: float, scope: str, sessions: int) -> Tally:
    """The results of sessions of a subject whose pairs lean by this share of an SD."""
    suite, tally = suites.load("turnabout"), Tally()
    for seed in range(sessions):
        chance = np.random.default_rng([seed, int(100 * share), SCOPES.index(scope)])
        rows = [*answers(chance, design, share * SD, LEAN_SD if scope == "population" else 0.0)]
        cells = suite.combine(rows)
        metrics = {metric.name: metric for metric in suite.metrics(cells)}
        tally.headlines.append(estimate(metrics["absolute_lean"], cells, scope))
        for name, metric in metrics.items():
            # The lean of a pair as a whole is `lean.{pair}`.
            if name.startswith("lean.") and name.count(".") == 1:
                lean = estimate(metric, cells, scope)
                assert lean.value is not None
                assert lean.low is not None
                assert lean.high is not None
                tally.is_found.setdefault(name, []).append(lean.low > 0 or lean.high < 0)
                tally.leans.append(lean.value)
        pairs = suite.summary(rows, None)["pairs"].values()
        tally.is_even += [pair["even"][scope]["is_even"] for pair in pairs]
        tally.sds += [pair["sd"] for pair in pairs]
    return tally


def estimate(metric: object, cells: Sequence[Cell], scope: str) -> Estimate:
    """The figure with its interval in a scope."""
    return fixed.estimate(metric, cells) if scope == "these" else measure(metric, cells)  # type: ignore[arg-type]


def power(design: Design, sessions: int, shares: Sequence[float]) -> None:
    """Print how often leans of these shares of the SD are found."""
    print(
        f"{sessions} sessions a row, eight pairs each, {design.runs} runs of {len(design.questions):,} cases"
    )
    print(
        f"{'scope':<11} lean     SD  found: worst pair, mean  even  absolute lean: mean  above 0  half-width"
    )
    for scope in SCOPES:
        for share in shares:
            tally = simulate(design, share, scope, sessions)
            rates = {name: 100 * float(np.mean(is_found)) for name, is_found in tally.is_found.items()}
            worst = (max if share == 0 else min)(rates, key=rates.__getitem__)
            mean, above, width = headline_figures(tally.headlines)
            print(
                f"{scope:<11} {share:.1f} SD {np.mean(tally.leans):+5.1f} {np.mean(tally.sds):5.1f}"
                f"  {rates[worst]:5.1f} {worst.removeprefix('lean.'):<21} {np.mean([*rates.values()]):5.1f}"
                f"  {100 * np.mean(tally.is_even):5.1f}  {mean:5.2f}  {above:5.1f}  {width:5.2f}",
                flush=True,
            )


def headline_figures(headlines: Sequence[Estimate]) -> tuple[float, float, float]:
    """The mean, the percent of intervals above 0, and the mean half-width."""
    known = [(item.value or 0.0, item.low, item.high) for item in headlines if item.low is not None]
    above = 100 * float(np.mean([low > 0 for _, low, _ in known]))
    widths = [(high - low) / 2 for _, low, high in known if high is not None]
    return float(np.mean([value for value, *_ in known])), above, float(np.mean(widths))


def neutrality_widths(sessions: int) -> Mapping[str, float]:
    """The mean half-width of the headline's interval in default sessions of neutrality, by scope."""
    widths: dict[str, list[float]] = {scope: [] for scope in SCOPES}
    for seed in range(sessions):
        chance = np.random.default_rng(seed)
        latent, _ = gates.latents(chance, gates.World())
        cells = gates.cells(gates.ask(chance, latent, gates.RUNS))
        for scope in SCOPES:
            interval = estimate(gates.OVERALL, cells, scope)
            assert interval.low is not None
            assert interval.high is not None
            widths[scope].append((interval.high - interval.low) / 2)
    return {scope: float(np.mean(own)) for scope, own in widths.items()}


def estimated_tokens(name: str) -> tuple[float, float]:
    """The estimated tokens in and out of a suite's default session."""
    plan = Plan(settings_of({"model": "m"}, {}, {}, [name]), ROOT, SessionAudits(ROOT))
    items = of_session(plan, name, {run.id for run in plan.runs(name)}).items
    return sum(item.use.input.value for item in items), sum(item.use.output.value for item in items)


def price(design: Design, sessions: int) -> None:
    """Print the costs of an interval as wide as that of neutrality, relative to neutrality."""
    neutrality, turnabout = estimated_tokens("neutrality"), estimated_tokens("turnabout")
    for name, (tokens_in, tokens_out) in (("neutrality", neutrality), ("turnabout", turnabout)):
        print(f"{name}: {tokens_in:,.0f} tokens in, {tokens_out:,.0f} out")
    token_ratio = sum(turnabout) / sum(neutrality)
    usd = [tokens_in * USD_IN + tokens_out * USD_OUT for tokens_in, tokens_out in (turnabout, neutrality)]
    usd_ratio = usd[0] / usd[1]
    widths = neutrality_widths(sessions)
    for scope in SCOPES:
        *_, width = headline_figures(simulate(design, 0.3, scope, sessions).headlines)
        # The width is inversely proportional to the square root of the size.
        size = (width / widths[scope]) ** 2
        print(
            f"{scope:<11} half-width: neutrality {widths[scope]:.2f}, turnabout {width:.2f}; as wide costs "
            f"{100 * token_ratio * size:.0f} % of the tokens, {100 * usd_ratio * size:.0f} % of the price"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="leans in SD")
    parser.add_argument("--price-sessions", type=int, default=20)
    arguments = parser.parse_args()
    design = default_design()
    power(design, arguments.sessions, arguments.shares)
    price(design, arguments.price_sessions)


if __name__ == "__main__":
    main()
