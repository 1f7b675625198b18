"""Rules about who asks: how much the candidate's own answers may depend on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from equipoise.comparison.compare import ROUNDING
from equipoise.comparison.gate import needed
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE
from equipoise.comparison.gate.ruling import (
    Ruling,
    describe_basis,
    inconclusive,
    interval,
    is_constant,
    within,
)
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import Rule
from equipoise.results.askers import AskerCells
from equipoise.stats import fixed
from equipoise.stats.intervals import Estimate
from equipoise.stats.metrics import measure


def rule_on(
    rule: Rule,
    asking: AskerCells,
    noun: str,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float = ALPHA_OF_ONE_RULE,
) -> Ruling:
    """The ruling on a rule about who asks, which bounds a figure of the candidate and needs no baseline.

    `alpha` is the one-sided error of the decision, `planned_alpha` that of a FAIL after more runs. `noun` is
    the suite's word for its questions.
    """
    metric = asking.metrics.get(rule.name)
    if metric is None:
        return inconclusive(rule, "there is no such figure")
    figure = _estimate(rule, metric, asking.cells, 1 - 2 * alpha)
    least = -math.inf if rule.sign > 0 else -rule.amount - ROUNDING
    most = math.inf if rule.sign < 0 else rule.amount + ROUNDING
    low, high = figure.low, figure.high
    if low is None and is_constant(figure, rule.scope):
        low = high = figure.value
    decision = within(low, high, least, most)
    # Shown at 95 %, as everywhere; the decision uses alpha.
    why = _explanation(rule, metric, _estimate(rule, metric, asking.cells, 0.95), noun)
    if decision == "inconclusive":
        is_outside = figure.value is not None and not least <= figure.value <= most
        # Outside the bounds more runs would end in a FAIL, which is corrected for the number of rules, within
        # them in a PASS, which is not.
        planned = _estimate(rule, metric, asking.cells, 1 - 2 * planned_alpha if is_outside else 0.95)
        why += f"; {needed.to_decide_bound(rule, planned, metric, metric.chosen(asking.cells), noun)}"
    return Ruling(rule=rule.text, verdict=decision, why=why)


def _estimate(rule: Rule, metric: Metric, cells: Sequence[Cell], confidence: float) -> Estimate:
    if rule.scope == "these":
        return fixed.estimate(metric, cells, confidence=confidence)
    return measure(metric, cells, confidence=confidence)


def _explanation(rule: Rule, metric: Metric, figure: Estimate, noun: str) -> str:
    if figure.value is None:
        return f"no figure could be measured ({figure.reason})"
    limits = interval(figure.low, figure.high, figure.reason)
    sign = {1: "+", -1: "-"}.get(rule.sign, "±")
    bound = f"bound {sign}{rule.amount:.2f}"
    return f"{figure.value:+.2f} {metric.unit}, {limits}, {bound}, {describe_basis(rule, figure.n, noun)}"
