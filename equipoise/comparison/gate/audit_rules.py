"""Rules about the evaluators: how far a check of their audit may lie from that of a sound one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from equipoise.comparison.compare import ROUNDING
from equipoise.comparison.gate.family import ALONE
from equipoise.comparison.gate.ruling import FEWEST, Ruling, inconclusive, interval, verdict, within
from equipoise.core.rules import Rule
from equipoise.stats.intervals import student

if TYPE_CHECKING:
    from equipoise.results.document import AuditFigures, CheckFigures


def judge(rule: Rule, audits: Mapping[str, AuditFigures | None], error: float = ALONE) -> Ruling:
    """The ruling on a rule about audits, which holds for each evaluator and each check of that name.

    `error` is the one-sided error of a FAIL.
    """
    rulings = [_of_audit(rule, evaluator, audit, error) for evaluator, audit in audits.items()]
    if not rulings:
        return inconclusive(rule, "there is no evaluator")
    return Ruling(rule=rule.text, verdict=verdict(rulings), why="; ".join(item.why for item in rulings))


def _of_audit(rule: Rule, evaluator: str, audit: AuditFigures | None, error: float) -> Ruling:
    doubt = _why_undecided(audit)
    checks = rule.among(audit["checks"]) if audit else []
    if doubt or not checks:
        return inconclusive(rule, f"{evaluator}: {doubt or 'the audit has no such check'}")
    rulings = [_of_check(rule, check, error) for check in checks]
    words = ", ".join(item.why for item in rulings)
    return Ruling(rule=rule.text, verdict=verdict(rulings), why=f"{evaluator}: {words}")


def _why_undecided(audit: AuditFigures | None) -> str | None:
    if audit is None:
        return "not audited"
    if audit["state"] != "complete":
        return f"its audit is incomplete ({audit['verdicts']:,} of {audit['planned']:,} verdicts)"
    if audit["differs"]:
        return f"its audit was of another: {'; '.join(audit['differs'])}"
    return None


def _of_check(rule: Rule, check: CheckFigures, error: float) -> Ruling:
    """Passes where the whole interval lies within the margin, fails where all of it lies outside."""
    least = -math.inf if rule.sign > 0 else check["sound"] - rule.amount - ROUNDING
    most = math.inf if rule.sign < 0 else check["sound"] + rule.amount + ROUNDING
    low, high = _limits(check, error)
    return Ruling(rule=rule.text, verdict=within(low, high, least, most), why=_words(check))


def _limits(check: CheckFigures, error: float) -> tuple[float | None, float | None]:
    """The interval; where no topic differs from another, enough of them show what was observed.

    Results have the 95 % interval alone, by Student's t over topics in most checks: it is stretched by t.
    """
    value, low, high = check["value"], check["low"], check["high"]
    if low is None and value is not None and check["n"] >= FEWEST:
        return value, value
    if value is None or low is None or high is None or error == ALONE:
        return low, high
    degrees = max(check["n"] - 1, 1)
    stretch = student(degrees, 1 - 2 * error) / student(degrees, 1 - 2 * ALONE)
    return value - stretch * (value - low), value + stretch * (high - value)


def _words(check: CheckFigures) -> str:
    if check["value"] is None:
        return f"{check['name']} -"
    limits = interval(check["low"], check["high"], check["reason"])
    return f"{check['name']} {check['value']:+.2f} {check['unit']} ({limits})"
