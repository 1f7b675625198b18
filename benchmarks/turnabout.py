"""Is a pair's lean found, and one that is not there not found? Scripted subjects of the suite turnabout.

    python benchmarks/turnabout.py [--sessions 100] [--shares 0 0.3] [--price-sessions 20]

Whole default sessions, with the suite's own cases, figures and intervals; only the answers are drawn. An
answer is what a case comes to, which differs by 20 points between cases (SD; 70 where the evidence is against
the first actor, 30 where it is against the second, else 50, and the rest by chance), and by 12 points between
repeats of a case, so that a pair's answers have an SD of 23. Numbers are whole and from 0 to 100, letters
steps of 25. Every pair leans by the same share of that SD. `population` adds 5 points by which leans differ
between incidents (SD): then the truth is the lean over all incidents like these. A lean is found where its
95 % interval leaves out 0.

The price is that of the suite's default session as `--estimate` has it, for an interval of the headline that
is as wide as that of the default session of neutrality, which is simulated as in gates.py.
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
BETWEEN_CASES, BETWEEN_REPEATS, BETWEEN_LEANS = 20.0, 12.0, 5.0
SD = float(np.hypot(BETWEEN_CASES, BETWEEN_REPEATS))
MEANS = {"first": 70.0, "second": 30.0, "both": 50.0, "neither": 50.0}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)
SCOPES = ("these", "population")
USD_IN, USD_OUT = 1.0, 4.0


@dataclass(frozen=True, kw_only=True)
class Design:
    """The cases of a default session, and how often each is asked."""

    questions: Sequence[QuestionRow]
    lettered: Sequence[bool]
    runs: int


def design() -> Design:
    """The default session of the suite."""
    suite = suites.load("turnabout")
    cases = suite.cases(Selection(topics=ROOT / "topics" / "turnabout"))
    data = [case.to_json() for case in cases]
    return Design(
        questions=[suite.question(case) for case in data],
        lettered=[bool(case["options"]) for case in data],
        runs=suite.defaults["runs"],
    )


def answers(chance: np.random.Generator, found: Design, lean: float, apart: float) -> Iterator[RunRow]:
    """The runs of a session in which every pair leans by `lean` points, and incidents differ by `apart`."""
    bases: dict[tuple[str, str], float] = {}
    own: dict[tuple[str, ...], float] = {}
    rest = np.sqrt(BETWEEN_CASES**2 - np.var([*MEANS.values()]))
    for question, is_letter in zip(found.questions, found.lettered, strict=True):
        labels = question.labels
        case = question.language, question.cluster
        if case not in bases:
            bases[case] = MEANS[labels["evidence"]] + rest * chance.normal()
        incident = labels["pair"], question.cluster
        if incident not in own:
            own[incident] = lean + apart * chance.normal()
        sign = {"a": 0.5, "b": -0.5, "x": 0.0}[labels["leads"]]
        drawn = bases[case] + sign * own[incident] + BETWEEN_REPEATS * chance.normal(size=found.runs)
        step = 25 if is_letter else 1
        for number, value in enumerate(np.clip(step * np.rint(drawn / step), 0, 100), start=1):
            yield run(question, number, float(value))


def run(question: QuestionRow, number: int, value: float) -> RunRow:
    """A run as results have it."""
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
    """What sessions of one kind of subject came to."""

    found: dict[str, list[bool]] = field(default_factory=dict)
    even: list[bool] = field(default_factory=list)
    headline: list[Estimate] = field(default_factory=list)
    leans: list[float] = field(default_factory=list)
    sd: list[float] = field(default_factory=list)


def tally(found: Design, share: float, scope: str, sessions: int) -> Tally:
    """Sessions of subjects whose pairs lean by this share of an SD."""
    suite, total = suites.load("turnabout"), Tally()
    for seed in range(sessions):
        chance = np.random.default_rng([seed, int(100 * share), SCOPES.index(scope)])
        rows = [*answers(chance, found, share * SD, BETWEEN_LEANS if scope == "population" else 0.0)]
        cells = suite.combine(rows)
        metrics = {metric.name: metric for metric in suite.metrics(cells)}
        total.headline.append(estimate(metrics["absolute_lean"], cells, scope))
        for name, metric in metrics.items():
            if name.startswith("lean.") and name.count(".") == 1:
                lean = estimate(metric, cells, scope)
                assert lean.value is not None
                assert lean.low is not None
                assert lean.high is not None
                total.found.setdefault(name, []).append(lean.low > 0 or lean.high < 0)
                total.leans.append(lean.value)
        pairs = suite.summary(rows, None)["pairs"].values()
        total.even += [pair["even"][scope]["is_even"] for pair in pairs]
        total.sd += [pair["sd"] for pair in pairs]
    return total


def estimate(metric: object, cells: Sequence[Cell], scope: str) -> Estimate:
    """The figure with its interval in a scope."""
    return fixed.estimate(metric, cells) if scope == "these" else measure(metric, cells)  # type: ignore[arg-type]


def power(found: Design, sessions: int, shares: Sequence[float]) -> None:
    """Print how often leans of some sizes are found."""
    print(f"{sessions} sessions a row, eight pairs each, {found.runs} runs of {len(found.questions):,} cases")
    print(
        f"{'scope':<11} lean     SD  found: worst pair, mean  even  absolute lean: mean  above 0  half-width"
    )
    for scope in SCOPES:
        for share in shares:
            item = tally(found, share, scope, sessions)
            rates = {name: 100 * float(np.mean(given)) for name, given in item.found.items()}
            worst = (max if share == 0 else min)(rates, key=rates.__getitem__)
            mean, above, width = of_headlines(item.headline)
            print(
                f"{scope:<11} {share:.1f} SD {np.mean(item.leans):+5.1f} {np.mean(item.sd):5.1f}"
                f"  {rates[worst]:5.1f} {worst.removeprefix('lean.'):<21} {np.mean([*rates.values()]):5.1f}"
                f"  {100 * np.mean(item.even):5.1f}  {mean:5.2f}  {above:5.1f}  {width:5.2f}",
                flush=True,
            )


def of_headlines(found: Sequence[Estimate]) -> tuple[float, float, float]:
    """The mean, the percent of intervals above 0, and the mean half-width."""
    known = [(item.value or 0.0, item.low, item.high) for item in found if item.low is not None]
    above = 100 * float(np.mean([low > 0 for _, low, _ in known]))
    widths = [(high - low) / 2 for _, low, high in known if high is not None]
    return float(np.mean([value for value, *_ in known])), above, float(np.mean(widths))


def widths_of_neutrality(sessions: int) -> Mapping[str, float]:
    """The half-widths of the headline's interval in default sessions of neutrality, by scope."""
    found: dict[str, list[float]] = {scope: [] for scope in SCOPES}
    for seed in range(sessions):
        chance = np.random.default_rng(seed)
        latent, _ = gates.latents(chance, gates.World())
        cells = gates.cells(gates.ask(chance, latent, gates.RUNS))
        for scope in SCOPES:
            item = estimate(gates.OVERALL, cells, scope)
            assert item.low is not None
            assert item.high is not None
            found[scope].append((item.high - item.low) / 2)
    return {scope: float(np.mean(given)) for scope, given in found.items()}


def spent(name: str) -> tuple[float, float]:
    """Tokens in and out of a default session, as it is estimated."""
    plan = Plan(settings_of({"model": "m"}, {}, {}, [name]), ROOT, SessionAudits(ROOT))
    items = of_session(plan, name, {run.id for run in plan.runs(name)}).items
    return sum(item.use.input.value for item in items), sum(item.use.output.value for item in items)


def price(found: Design, sessions: int) -> None:
    """Print what an interval as wide as that of neutrality costs."""
    theirs, ours = spent("neutrality"), spent("turnabout")
    for name, (read, written) in (("neutrality", theirs), ("turnabout", ours)):
        print(f"{name}: {read:,.0f} tokens in, {written:,.0f} out")
    by_tokens = sum(ours) / sum(theirs)
    in_usd = (ours[0] * USD_IN + ours[1] * USD_OUT) / (theirs[0] * USD_IN + theirs[1] * USD_OUT)
    widths = widths_of_neutrality(sessions)
    for scope in SCOPES:
        item = tally(found, 0.3, scope, sessions)
        *_, own = of_headlines(item.headline)
        needed = (own / widths[scope]) ** 2
        print(
            f"{scope:<11} half-width: neutrality {widths[scope]:.2f}, turnabout {own:.2f}; as wide costs "
            f"{100 * by_tokens * needed:.0f} % of the tokens, {100 * in_usd * needed:.0f} % of the price"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="leans in SD")
    parser.add_argument("--price-sessions", type=int, default=20)
    given = parser.parse_args()
    found = design()
    power(found, given.sessions, given.shares)
    price(found, given.price_sessions)


if __name__ == "__main__":
    main()
