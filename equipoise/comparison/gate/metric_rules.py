"""Rules about a metric: each is a non-inferiority test against the baseline.

A rule passes if the 95 % interval of the difference is entirely within the margin, fails if it is entirely
outside, and is inconclusive otherwise. In the default scope, `these`, the interval is about these questions
alone, and only runs vary.
"""

from __future__ import annotations

from equipoise.comparison.compare import ROUNDING, Comparison, MetricChange
from equipoise.comparison.gate import needed
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE
from equipoise.comparison.gate.ruling import (
    FEWEST,
    describe_basis,
    describe_interval,
    inconclusive_ruling,
    is_constant,
)
from equipoise.core.figures import Difference
from equipoise.core.rules import Rule
from equipoise.results.document import Ruling
from equipoise.stats.corrected import FEWEST_LABELS
from equipoise.stats.paired import Decision, noninferiority


def rule_on(
    rule: Rule,
    comparison: Comparison,
    alpha: float = ALPHA_OF_ONE_RULE,
    *,
    planned_alpha: float | None = None,
) -> Ruling:
    """The ruling on a rule about a metric.

    `alpha` is the one-sided error of a FAIL. `planned_alpha`, by default the same, is the error assumed in
    the number of runs that would decide the rule.
    """
    if rule.people:
        return _rule_by_labels(rule, comparison, alpha)
    change = comparison.changes.get(rule.name)
    if change is not None and alpha != ALPHA_OF_ONE_RULE:
        change = comparison.change_at(rule.name, 1 - 2 * alpha)
    noun = comparison.after.suite.about.clusters
    if change is None:
        why = f"the two results have no data on it in common; {needed.describe_fewest(noun)}"
        return inconclusive_ruling(rule, why)
    margin = _margin(rule, change)
    if margin is None:
        return inconclusive_ruling(rule, f"the baseline has no figure; {needed.describe_fewest(noun)}")
    decision = _decide_by_margin(rule, change, margin)
    why = _explanation(change, rule, margin, comparison)
    if decision == "inconclusive":
        confidence = 1 - 2 * (planned_alpha or alpha)
        why += f"; {needed.describe_for_change(rule, change, margin, comparison, confidence)}"
    return Ruling(rule=rule.text, verdict=decision, why=why)


def _rule_by_labels(rule: Rule, comparison: Comparison, alpha: float) -> Ruling:
    """The ruling on a rule about a metric corrected by people's labels."""
    corrected = comparison.corrected_change(rule.name, 1 - 2 * alpha)
    change, uncorrected = corrected or (None, 0.0)
    margin = None if change is None else _margin(rule, change)
    if change is None or margin is None:
        return inconclusive_ruling(
            rule, f"too few labels: about {FEWEST_LABELS} or more on each side are needed to decide it"
        )
    decision = noninferiority(change.in_scope(rule.scope), margin, rule.better)
    why = f"{_explanation(change, rule, margin, comparison)}, by people's labels"
    why += f"; uncorrected, the judge says {uncorrected:+.2f}"
    if decision == "inconclusive":
        why += f"; {needed.describe_labels(rule, change, margin)}"
    return Ruling(rule=rule.text, verdict=decision, why=why)


def decide(rule: Rule, change: MetricChange) -> Decision:
    """The decision on a rule about this metric by the intervals of `change`."""
    margin = _margin(rule, change)
    return "inconclusive" if margin is None else _decide_by_margin(rule, change, margin)


def _margin(rule: Rule, change: MetricChange) -> float | None:
    """The margin in the metric's unit; None if it is relative to a figure that the baseline lacks."""
    if rule.unit == "pp" or not rule.amount:
        return rule.amount
    return None if change.before is None else abs(change.before) * rule.amount / 100


def _decide_by_margin(rule: Rule, change: MetricChange, margin: float) -> Decision:
    difference, worsening = change.in_scope(rule.scope), change.worsening(rule.sign)
    if worsening is not None and is_constant(difference, rule.scope):
        return "pass" if worsening <= margin + ROUNDING else "fail"
    if not margin and worsening is not None and worsening <= ROUNDING and _has_enough(rule, difference):
        # With a margin of 0, no number of runs could show that nothing changed, so not being worse suffices.
        return "pass"
    return noninferiority(difference, margin, rule.better)


def _has_enough(rule: Rule, difference: Difference) -> bool:
    """Whether there are enough runs (scope `these`) or questions for the observed difference to count."""
    return difference.low is not None if rule.scope == "these" else difference.n >= FEWEST


def _explanation(change: MetricChange, rule: Rule, margin: float, comparison: Comparison) -> str:
    """A phrase with both figures, their difference, its interval and the margin."""
    difference, value = change.in_scope(rule.scope), change.difference.value
    if value is None:
        return f"no difference could be measured ({change.difference.reason})"
    looks = comparison.levels.looks
    interval = describe_interval(
        difference.low, difference.high, difference.reason, f" over {looks} looks" if looks > 1 else ""
    )
    signed_margin = margin if rule.sign > 0 or not margin else -margin
    basis = _describe_basis(rule, difference, comparison.after.suite.about.clusters)
    sign, unit = (" %", "pp") if change.metric.unit == "%" else ("", change.metric.unit)
    return (
        f"{change.before:.2f}{sign} before, {change.after:.2f}{sign} after: {value:+.2f} {unit}, {interval}, "
        f"margin {signed_margin:+.2f}, {basis}"
    )


def _describe_basis(rule: Rule, difference: Difference, noun: str) -> str:
    """The scope of the interval in words, with the number of cases, questions or labels."""
    if rule.people:
        where = "on these replies" if rule.scope == "these" else f"for {noun} like these"
        return f"{where}, {difference.n} labels"
    return describe_basis(rule, difference.n, noun)
