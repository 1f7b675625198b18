"""Rules that bound a figure of the candidate itself: how far a pair leans, how much depends on who asks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from equipoise.comparison.compare import ROUNDING
from equipoise.comparison.gate import needed
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE
from equipoise.comparison.gate.ruling import (
    decide_within_bounds,
    describe_basis,
    describe_interval,
    inconclusive_ruling,
    is_constant,
)
from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule
from equipoise.results.document import Ruling
from equipoise.stats import fixed
from equipoise.stats.metrics import measure


def rule_on(
    rule: Rule,
    metrics: Mapping[str, Metric],
    cells: Sequence[Cell],
    noun: str,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float = ALPHA_OF_ONE_RULE,
) -> Ruling:
    """The ruling on a rule that bounds a figure of the candidate, whose metrics and cells these are.

    It needs no baseline. With a bound on both sides these are two one-sided tests (TOST), whose interval has
    the confidence 1 - 2 `alpha`. It does not pass if its metric has a `caution`.

    `alpha` is the one-sided error of the decision. `planned_alpha` is that of a FAIL, for the number of runs
    that would decide the rule. `noun` is the suite's word for its questions.
    """
    metric = metrics.get(rule.name)
    if metric is None:
        return inconclusive_ruling(rule, "there is no such figure")
    estimate = _estimate(rule, metric, cells, 1 - 2 * alpha)
    lower_bound = -math.inf if rule.sign > 0 else -rule.amount - ROUNDING
    upper_bound = math.inf if rule.sign < 0 else rule.amount + ROUNDING
    low, high = estimate.low, estimate.high
    if low is None and is_constant(estimate, rule.scope):
        low = high = estimate.value
    decision = decide_within_bounds(low, high, lower_bound, upper_bound)
    # Shown at 95 %, as everywhere; the decision uses alpha.
    why = _explanation(rule, metric, _estimate(rule, metric, cells, 0.95), noun)
    if decision == "pass" and metric.caution:
        return inconclusive_ruling(rule, f"{why}; but {metric.caution}")
    if decision == "inconclusive":
        is_outside = estimate.value is not None and not lower_bound <= estimate.value <= upper_bound
        # More runs would end in a FAIL, which is corrected for the number of rules, or a PASS, which is not.
        planned = _estimate(rule, metric, cells, 1 - 2 * planned_alpha if is_outside else 0.95)
        why += f"; {needed.describe_for_bound(rule, planned, metric, metric.select(cells), noun)}"
    return Ruling(rule=rule.text, verdict=decision, why=why)


def _estimate(rule: Rule, metric: Metric, cells: Sequence[Cell], confidence: float) -> Estimate:
    if rule.scope == "these":
        return fixed.estimate(metric, cells, confidence=confidence)
    return measure(metric, cells, confidence=confidence)


def _explanation(rule: Rule, metric: Metric, estimate: Estimate, noun: str) -> str:
    if estimate.value is None:
        return f"no figure could be measured ({estimate.reason})"
    interval = describe_interval(estimate.low, estimate.high, estimate.reason)
    sign = {1: "+", -1: "-"}.get(rule.sign, "±")
    bound = f"bound {sign}{rule.amount:.2f}"
    return (
        f"{estimate.value:+.2f} {metric.unit}, {interval}, {bound}, {describe_basis(rule, estimate.n, noun)}"
    )
