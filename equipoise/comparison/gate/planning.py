"""Plans a gate: how many runs decide a rule about releases that do not differ from the baseline.

The variances are those of the baseline's own runs. A release is unchanged if it answers every question as the
baseline's model does, so that the two differ only by chance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from equipoise.comparison.compare import levels_of_look
from equipoise.comparison.gate.refusals import refuse_unfit_metric
from equipoise.comparison.gate.ruling import FEWEST
from equipoise.core.errors import UserError
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule
from equipoise.results.results import Results
from equipoise.stats import fixed, valid
from equipoise.stats.contrast import as_balance
from equipoise.stats.power import Noise, Rounds, Shares, fixed_noise, in_rounds, sampled_noise
from equipoise.stats.sequential import run_variance

TARGET = 0.95
"""The share of unchanged releases that a planned gate decides."""
_MOST_RUNS = 1000
"""The largest number of runs that a plan names."""
_MOST_ROUNDS = 30
"""The largest number of rounds of a plan. Sessions allow 50, but the bounds then take long to compute."""
_SAMPLED = ("mean", "balance", "count")
"""The kinds of metrics whose interval in the scope `population` is Student's t over questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsPlan:
    """A gate with `--until gate`: at most `runs` runs of the candidate against `before` of the baseline.

    `rounds` says how often such a gate decides.
    """

    runs: int
    before: float
    rounds: Rounds


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """A rule and the variance of the baseline's figure, from which the probabilities of decisions follow.

    `margin` is in the figure's unit. `runs` is the mean number of runs of a case. `spread` is the
    figure's on these questions. For questions like them, `variance` is the part of the figure's variance that
    comes from runs. `questions` is the number of questions.
    """

    file: str
    rule: Rule
    metric: Metric
    margin: float
    spread: fixed.Spread
    variance: float
    questions: int
    runs: float

    def shares(self, before: float, after: float, margin: float | None = None) -> Shares:
        """The probabilities of the decisions with `before` and `after` runs of each case."""
        return self._noise(before, after).shares(self.margin if margin is None else margin)

    def runs_of_both(self) -> int | None:
        """The smallest number of runs of both results that decides TARGET; None if no number does."""
        return self._fewest(lambda runs: self.shares(runs, runs).decided)

    def runs_after(self) -> int | None:
        """The smallest number of the candidate's runs that decides TARGET against this baseline, or None."""
        return self._fewest(lambda runs: self.shares(self.runs, runs).decided)

    def decided_margin(self) -> float | None:
        """The smallest margin, in steps of 0.1, at which the baseline's number of runs decides TARGET."""
        margins = (tenths / 10 for tenths in range(1, 1001))
        return next(
            (margin for margin in margins if self.shares(self.runs, self.runs, margin).decided >= TARGET),
            None,
        )

    def in_rounds(self, fewest: int) -> RoundsPlan | None:
        """The plan with the smallest `--runs` of `--until gate`, at least `fewest`, that decides TARGET.

        The baseline is assumed to have the same number of runs, or its present number if that is larger. None
        if a session would need too many looks.
        """
        for runs in range(fewest, _MOST_ROUNDS + 1):
            before = max(self.runs, runs)
            rounds = self.rounds(before, runs)
            if rounds.decided >= TARGET:
                return RoundsPlan(runs=runs, before=before, rounds=rounds)
        return None

    def rounds(self, before: float, runs: int) -> Rounds:
        """How often `--until gate` decides on an unchanged release with at most `runs` runs."""
        return in_rounds([*self._looks(before, runs)], self.margin)

    def _looks(self, before: float, runs: int) -> Iterator[tuple[int, Noise, float]]:
        for look in range(2, runs + 1):
            levels = levels_of_look(look, runs, round(before))
            level = levels.these if self.rule.scope == "these" else levels.population
            yield look, self._noise(before, look), level

    def _noise(self, before: float, after: float) -> Noise:
        """The noise with these numbers of runs, cached because it is used for many margins."""
        if (before, after) not in self._noises:
            self._noises[before, after] = self._make_noise(before, after)
        return self._noises[before, after]

    @cached_property
    def _noises(self) -> dict[tuple[float, float], Noise]:
        return {}

    def _make_noise(self, before: float, after: float) -> Noise:
        if self.rule.scope == "these":
            was, now = (fixed.with_runs(self.metric, self.spread, runs) for runs in (before, after))
            return fixed_noise(self.metric, was, now, self.rule.sign)
        was_variance, now_variance = (self.variance * self.runs / runs for runs in (before, after))
        return sampled_noise(was_variance, now_variance, self.questions)

    def _fewest(self, decided: Callable[[int], float]) -> int | None:
        """The smallest number of runs, from 2 up, that decides TARGET, by bisection; None if none does."""
        if decided(_MOST_RUNS) < TARGET:
            return None
        return bisect_left(range(_MOST_RUNS), TARGET, lo=2, key=decided)


def plan(results: Results, rule: Rule) -> GatePlan:
    """The plan of a rule about a metric, from these results as its baseline. Raises UserError."""
    metric = _planned_metric(results, rule)
    return plan_of(metric, rule, results.cells, results.file)


def plan_of(metric: Metric, rule: Rule, cells: Sequence[Cell], file: str = "") -> GatePlan:
    """The plan of a rule about a metric of these cells, which come from `file`. Raises UserError."""
    chosen = metric.select(cells)
    term, chosen = as_balance(metric, chosen) if metric.kind == "contrast" else (metric, chosen)
    spread = fixed.spread(term, chosen, is_pooled=False)
    if spread.value is None or spread.reason not in (None, fixed.NOTHING_VARIED):
        raise UserError(f"{rule}: {file}: it is not known how far {rule.name} varies ({spread.reason})")
    questions = len({cell.cluster for cell in chosen})
    if (spread.reason and spread.cases < FEWEST) or (rule.scope == "population" and questions < FEWEST):
        raise UserError(f"{rule}: {file}: {FEWEST} questions or more are needed to decide it")
    return GatePlan(
        file=file,
        rule=rule,
        metric=term,
        margin=rule.amount if rule.unit == "pp" else abs(spread.value) * rule.amount / 100,
        spread=spread,
        variance=_sampled_variance(term, chosen),
        questions=questions,
        runs=spread.runs / spread.cases,
    )


def _planned_metric(results: Results, rule: Rule) -> Metric:
    """The metric of a rule that can be planned. Raises UserError."""
    if rule.people:
        raise UserError(f"{rule}: labels decide this rule, not runs: `equipoise review plan` says how many")
    if not rule.is_about_metric:
        raise UserError(f"{rule}: is not about the change of a figure, such as overall:-2pp")
    refuse_unfit_metric(rule, results.definitions, results.file)
    metric = results.definitions[rule.name]
    if metric.no_interval:
        raise UserError(f"{rule}: {metric.name} has no interval to decide by: {metric.no_interval}")
    if rule.scope == "population" and metric.kind not in _SAMPLED:
        these = f"{rule.text.partition('@')[0]}@these"
        raise UserError(f"{rule}: is planned for means only; {rule.name} is a {metric.kind}: plan {these}")
    if results.rounds < 2:
        raise UserError(
            f"{rule}: {results.file} has one run of each case, and how far runs vary is what a plan goes by: "
            "ask its model again with --runs 2 or more"
        )
    return metric


def _sampled_variance(metric: Metric, cells: Sequence[Cell]) -> float:
    """The part of the variance of a mean over questions that comes from runs; 0 for kinds without a plan."""
    if metric.kind not in _SAMPLED:
        return 0.0
    return run_variance({(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in cells}) or 0.0
