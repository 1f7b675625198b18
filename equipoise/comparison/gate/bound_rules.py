"""Rules that bound a figure of the candidate itself, or a check in the audits of its evaluators."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from equipoise.comparison.compare import ROUNDING
from equipoise.comparison.gate import needed
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE
from equipoise.comparison.gate.ruling import (
    FEWEST,
    describe_basis,
    describe_interval,
    inconclusive_ruling,
    is_constant,
    overall_verdict,
)
from equipoise.core.figures import Estimate
from equipoise.core.records import Cell, Metric
from equipoise.core.rules import AUDIT, Rule
from equipoise.judge.anchors import Check, named
from equipoise.results.document import Audit, Ruling
from equipoise.stats import fixed
from equipoise.stats.intervals import student
from equipoise.stats.metrics import measure
from equipoise.stats.paired import Decision


def rule_on(
    rule: Rule,
    metrics: Mapping[str, Metric],
    cells: Sequence[Cell],
    noun: str,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float = ALPHA_OF_ONE_RULE,
) -> Ruling:
    """The ruling on a rule that bounds a figure of the candidate. Such a rule needs no baseline.

    `metrics` and `cells` are the candidate's. A rule with a bound on both sides is decided by two one-sided
    tests (TOST), whose interval has the confidence 1 - 2 `alpha`. A rule about a metric with a `caution` does
    not pass.

    `alpha` is the one-sided error of the decision. `planned_alpha` is the error of a FAIL that is assumed in
    the number of runs that would decide the rule. `noun` is the suite's word for its questions.
    """
    metric = metrics.get(rule.name)
    if metric is None:
        return inconclusive_ruling(rule, "there is no such figure")
    estimate = _estimate(rule, metric, cells, 1 - 2 * alpha)
    lower_bound, upper_bound = _bounds(rule, 0.0)
    low, high = estimate.low, estimate.high
    if low is None and is_constant(estimate, rule.scope):
        low = high = estimate.value
    decision = _decide_within_bounds(low, high, lower_bound, upper_bound)
    # The interval shown is that of 95 %, as everywhere; the decision uses alpha.
    why = _explanation(rule, metric, _estimate(rule, metric, cells, 0.95), noun)
    if decision == "pass" and metric.caution:
        return inconclusive_ruling(rule, f"{why}; but {metric.caution}")
    if decision == "inconclusive":
        is_outside = estimate.value is not None and not lower_bound <= estimate.value <= upper_bound
        # More runs would give a FAIL, which is corrected for the number of rules, or a PASS, which is not.
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


def _bounds(rule: Rule, centre: float) -> tuple[float, float]:
    """The lower and upper bound that a rule sets on a value around `centre`; infinite if it sets none."""
    low = -math.inf if rule.sign > 0 else centre - rule.amount - ROUNDING
    return low, math.inf if rule.sign < 0 else centre + rule.amount + ROUNDING


def _decide_within_bounds(
    low: float | None, high: float | None, lower_bound: float, upper_bound: float
) -> Decision:
    """The decision by an interval: pass if it is entirely within the bounds, fail if entirely outside.

    Otherwise, and without an interval, the decision is inconclusive.
    """
    if low is None or high is None:
        return "inconclusive"
    if lower_bound <= low and high <= upper_bound:
        return "pass"
    return "fail" if high < lower_bound or low > upper_bound else "inconclusive"


# Audits.


def rule_on_audits(
    rule: Rule, audits: Mapping[str, Audit | None], alpha: float = ALPHA_OF_ONE_RULE
) -> Ruling:
    """The ruling on a rule about audits, over all evaluators and all checks that the rule names.

    `alpha` is the one-sided error of a FAIL.
    """
    rulings = [_rule_on_audit(rule, evaluator, audit, alpha) for evaluator, audit in audits.items()]
    if not rulings:
        return inconclusive_ruling(rule, "there is no evaluator")
    return Ruling(
        rule=rule.text, verdict=overall_verdict(rulings), why="; ".join(item.why for item in rulings)
    )


def _rule_on_audit(rule: Rule, evaluator: str, audit: Audit | None, alpha: float) -> Ruling:
    problem = _why_unusable(audit)
    checks = named(audit["checks"], rule.name.removeprefix(AUDIT)) if audit else []
    if problem or not checks:
        return inconclusive_ruling(rule, f"{evaluator}: {problem or 'the audit has no such check'}")
    rulings = [_rule_on_check(rule, check, alpha) for check in checks]
    explanations = ", ".join(item.why for item in rulings)
    return Ruling(rule=rule.text, verdict=overall_verdict(rulings), why=f"{evaluator}: {explanations}")


def _why_unusable(audit: Audit | None) -> str | None:
    """Why an audit decides nothing, in a few words; None if it is complete and its evaluator unchanged."""
    if audit is None:
        return "not audited"
    if audit["state"] != "complete":
        return f"its audit is incomplete ({audit['verdicts']:,} of {audit['planned']:,} verdicts)"
    if audit["differs"]:
        return f"its audit was of another: {'; '.join(audit['differs'])}"
    return None


def _rule_on_check(rule: Rule, check: Check, alpha: float) -> Ruling:
    """The ruling on one check: pass if its interval is entirely within the bounds, fail if outside."""
    low, high = _interval_at(check, alpha)
    return Ruling(
        rule=rule.text,
        verdict=_decide_within_bounds(low, high, *_bounds(rule, check.sound)),
        why=_describe_check(check),
    )


def _interval_at(check: Check, alpha: float) -> tuple[float | None, float | None]:
    """The confidence interval of a check's value at one-sided error `alpha`.

    Results have only the 95 % interval. It is rescaled by the ratio of t quantiles, since most checks use
    Student's t over topics. If FEWEST or more topics all agree, the interval is the value alone.
    """
    value, low, high = check.value, check.low, check.high
    if low is None and value is not None and check.n >= FEWEST:
        return value, value
    if value is None or low is None or high is None or alpha == ALPHA_OF_ONE_RULE:
        return low, high
    degrees = max(check.n - 1, 1)
    stretch = student(degrees, 1 - 2 * alpha) / student(degrees, 1 - 2 * ALPHA_OF_ONE_RULE)
    return value - stretch * (value - low), value + stretch * (high - value)


def _describe_check(check: Check) -> str:
    if check.value is None:
        return f"{check.name} -"
    interval = describe_interval(check.low, check.high, check.reason)
    return f"{check.name} {check.value:+.2f} {check.unit} ({interval})"
