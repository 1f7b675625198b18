"""Rules about audits: how far the value of a check may be from a sound evaluator's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from equipoise.comparison.compare import ROUNDING
from equipoise.comparison.gate.family import ALPHA_OF_ONE_RULE
from equipoise.comparison.gate.ruling import (
    FEWEST,
    decide_within_bounds,
    describe_interval,
    inconclusive_ruling,
    overall_verdict,
)
from equipoise.core.rules import AUDIT, Rule
from equipoise.judge.anchors import Check, named
from equipoise.results.document import Ruling
from equipoise.stats.intervals import student

if TYPE_CHECKING:
    from equipoise.results.document import Audit


def rule_on(rule: Rule, audits: Mapping[str, Audit | None], alpha: float = ALPHA_OF_ONE_RULE) -> Ruling:
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
    """Why an audit decides nothing, in a few words; None if it is complete and of this evaluator."""
    if audit is None:
        return "not audited"
    if audit["state"] != "complete":
        return f"its audit is incomplete ({audit['verdicts']:,} of {audit['planned']:,} verdicts)"
    if audit["differs"]:
        return f"its audit was of another: {'; '.join(audit['differs'])}"
    return None


def _rule_on_check(rule: Rule, check: Check, alpha: float) -> Ruling:
    """The ruling on one check: pass if its whole interval is within the margin, fail if all is outside."""
    lower_bound = -math.inf if rule.sign > 0 else check.sound - rule.amount - ROUNDING
    upper_bound = math.inf if rule.sign < 0 else check.sound + rule.amount + ROUNDING
    low, high = _interval_at(check, alpha)
    return Ruling(
        rule=rule.text,
        verdict=decide_within_bounds(low, high, lower_bound, upper_bound),
        why=_explanation(check),
    )


def _interval_at(check: Check, alpha: float) -> tuple[float | None, float | None]:
    """The confidence interval of a check's value at one-sided error `alpha`.

    Results have only the 95 % interval, which is rescaled by the ratio of t quantiles: most checks use
    Student's t over topics. If all of FEWEST topics or more agree, the interval is the value alone.
    """
    value, low, high = check.value, check.low, check.high
    if low is None and value is not None and check.n >= FEWEST:
        return value, value
    if value is None or low is None or high is None or alpha == ALPHA_OF_ONE_RULE:
        return low, high
    degrees = max(check.n - 1, 1)
    stretch = student(degrees, 1 - 2 * alpha) / student(degrees, 1 - 2 * ALPHA_OF_ONE_RULE)
    return value - stretch * (value - low), value + stretch * (high - value)


def _explanation(check: Check) -> str:
    if check.value is None:
        return f"{check.name} -"
    interval = describe_interval(check.low, check.high, check.reason)
    return f"{check.name} {check.value:+.2f} {check.unit} ({interval})"
