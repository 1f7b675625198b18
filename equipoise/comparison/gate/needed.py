"""Messages that say how many runs, questions or labels would decide an inconclusive rule.

`noun` is the suite's word for its questions, in the plural.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.comparison.compare import ROUNDING, Comparison, MetricChange
from equipoise.comparison.gate.ruling import FEWEST
from equipoise.core.figures import Difference, Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule
from equipoise.stats import valid
from equipoise.stats.fixed import NOTHING_VARIED
from equipoise.stats.paired import (
    Better,
    needed_clusters,
    needed_runs,
    needed_runs_fixed,
)
from equipoise.stats.sequential import run_variance
from equipoise.stats.shared import shared_cases

_MOST_LABELS = 100_000
"""The largest number of labels that a message names."""
_LARGEST_FACTOR = 1000.0
"""The largest multiple of the present runs or questions that a message names."""


def describe_fewest(noun: str) -> str:
    """The message if there are too few questions to estimate a number."""
    return f"{FEWEST} {noun} or more are needed to decide it"


def describe_for_change(
    rule: Rule, change: MetricChange, margin: float, comparison: Comparison, fail_confidence: float
) -> str:
    """How many runs or questions would decide a rule about a metric. `margin` is in the metric's unit.

    A FAIL needs an interval of confidence `fail_confidence`, and a PASS needs one of 95 %.
    """
    before, after = comparison.before, comparison.after
    difference, noun = change.in_scope(rule.scope), after.suite.about.clusters
    cells = shared_cases(change.metric, before.cells, after.cells).after
    worsening = change.worsening(rule.sign) or 0.0
    confidence = fail_confidence if worsening > margin else 0.95
    if rule.scope == "these":
        return _describe_needed_runs(change, worsening, margin, cells, confidence)
    if difference.n < FEWEST and (
        difference.se is None or difference.low is None or (not margin and worsening <= ROUNDING)
    ):
        # More questions may give an interval. With a margin of 0, they also let an equal candidate pass.
        return describe_fewest(noun)
    if difference.low is None:
        return f"without an interval no number of runs or {noun} can be named"
    numbers = _Test(difference, margin, rule.better, confidence).describe_numbers(change.metric, cells, noun)
    if not margin:
        return _describe_without_margin(f"about {numbers}" if numbers else "")
    if not numbers:
        return f"no number of runs or {noun} would decide it with the present figures"
    return f"if the difference stays as it is, about {numbers} would decide it"


def _describe_without_margin(number: str) -> str:
    hint = f"; if it stays as it is, {number} would show it" if number else ""
    return f"with a margin of 0 what was observed decides: it was worse, but by chance perhaps{hint}"


def _describe_needed_runs(
    change: MetricChange, worsening: float, margin: float, cells: Sequence[Cell], confidence: float
) -> str:
    """How many runs would decide a rule with scope `these`, for which more questions do not help."""
    difference = change.these
    if difference.low is None:
        return _why_no_runs(difference)
    mean_runs = _mean_runs(change.metric, cells)
    runs = needed_runs_fixed(difference, worsening - margin, runs=mean_runs, confidence=confidence)
    if not margin:
        return _describe_without_margin(f"about {runs:,} runs of each" if runs else "")
    if runs is None:
        return "no number of runs would decide it with the present figures"
    return f"if the difference stays as it is, about {runs:,} runs of each, before and after, would decide it"


def _why_no_runs(difference: Difference) -> str:
    if difference.reason == NOTHING_VARIED:
        return (
            f"fewer than {FEWEST} cases may come out alike by chance; with {FEWEST} or more, the observed "
            "difference would decide"
        )
    if difference.n:
        return "the scope @population can do with one"
    return "without an interval no number of runs can be named"


def _mean_runs(metric: Metric, cells: Sequence[Cell]) -> float:
    """The mean number of valid runs of the cases."""
    lengths = [len(runs) for cell in cells if (runs := valid(cell.of(metric.of)))]
    return sum(lengths) / len(lengths) if lengths else 0.0


@dataclass(frozen=True, slots=True)
class _Test:
    """A one-sided test of a difference against a margin, both in the metric's unit."""

    difference: Difference
    margin: float
    better: Better
    confidence: float

    def describe_numbers(self, metric: Metric, cells: Sequence[Cell], noun: str) -> str:
        """The numbers of runs and of questions that would decide, in words; empty if none would."""
        phrases = []
        if metric.kind in ("mean", "balance") and (runs := self._needed_runs(metric, cells)):
            phrases.append(f"{runs:,} runs of each question")
        questions = needed_clusters(self.difference, self.margin, self.better, confidence=self.confidence)
        if questions:
            phrases.append(f"{max(questions, FEWEST):,} {noun}")
        return " or ".join(phrases)

    def _needed_runs(self, metric: Metric, cells: Sequence[Cell]) -> int | None:
        values = {(cell.cluster, cell.stratum): valid(cell.of(metric.of)) for cell in cells}
        noise, runs = run_variance(values), _mean_runs(metric, cells)
        if noise is None or not runs:
            return None
        return needed_runs(
            self.difference, self.margin, self.better, runs=runs, noise=noise, confidence=self.confidence
        )


def describe_for_bound(
    rule: Rule, estimate: Estimate, metric: Metric, cells: Sequence[Cell], noun: str
) -> str:
    """How many runs or questions would decide a rule that bounds a figure of the candidate alone.

    The interval shrinks with the square root of their number.
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"{FEWEST} {noun} or more, with two runs of each, are needed to decide it"
    # A rule of sign 0 bounds the figure on both sides.
    bounds = [bound for bound, sign in ((rule.amount, 1), (-rule.amount, -1)) if rule.sign in (0, sign)]
    distance = min(abs(estimate.value - bound) for bound in bounds)
    half = (estimate.high - estimate.low) / 2
    if not distance or (factor := (half / distance) ** 2) > _LARGEST_FACTOR:
        return f"no number of runs or {noun} would decide it with the present figure"
    if rule.scope == "these":
        runs = math.ceil(factor * _mean_runs(metric, cells))
        return f"if it stays as it is, about {runs:,} runs of each would decide it"
    questions = max(math.ceil(factor * estimate.n), FEWEST)
    return f"if it stays as it is, about {questions:,} {noun} would decide it"


def describe_labels(rule: Rule, change: MetricChange, margin: float) -> str:
    """How many labels would decide a rule, whose interval shrinks with the square root of their number."""
    difference, worsening = change.in_scope(rule.scope), change.worsening(rule.sign)
    if difference.low is None or difference.high is None or worsening is None:
        return "more labels are needed to decide it"
    distance, half = abs(margin - worsening), (difference.high - difference.low) / 2
    labels = math.ceil(difference.n * (half / distance) ** 2) if distance else 0
    if not 0 < labels <= _MOST_LABELS:
        return "no number of labels would decide it with the present figures"
    return f"if the difference stays as it is, about {labels:,} labels on each side would decide it"
