"""The ruling on one rule, and functions that all kinds of rules share."""

from __future__ import annotations

from collections.abc import Sequence

from equipoise.core.figures import Difference, Estimate
from equipoise.core.rules import Rule, Scope
from equipoise.results.document import Ruling
from equipoise.stats.fixed import NOTHING_VARIED
from equipoise.stats.intervals import is_without_variation
from equipoise.stats.paired import Decision

FEWEST = 6
"""The minimum number of questions or cases for an observed figure to count as evidence if nothing varied.

Without variation there is no interval.
"""


def inconclusive_ruling(rule: Rule, why: str) -> Ruling:
    """A ruling with the verdict inconclusive."""
    return Ruling(rule=rule.text, verdict="inconclusive", why=why)


def overall_verdict(rulings: Sequence[Ruling]) -> Decision:
    """The verdict on all required rules: fail if any fails, else inconclusive if any is inconclusive."""
    verdicts = {ruling.verdict for ruling in rulings if ruling.required}
    return "fail" if "fail" in verdicts else "inconclusive" if "inconclusive" in verdicts else "pass"


def is_constant(figure: Estimate | Difference, scope: Scope) -> bool:
    """Whether the observed figure decides without an interval, because nothing varied over FEWEST or more.

    In the scope `these`, the runs of each case must all have the same value; otherwise, all questions must.
    A figure without an interval for another reason, such as a ratio whose divisor is 0, decides nothing.
    """
    if figure.n < FEWEST or figure.value is None:
        return False
    if scope == "these":
        return figure.reason == NOTHING_VARIED
    return figure.se is None and (figure.reason is None or is_without_variation(figure.reason))


def describe_interval(low: float | None, high: float | None, reason: str | None, repeated: str = "") -> str:
    """A 95 % interval in words, or the reason why there is none. `repeated` is put after "interval"."""
    return f"no interval: {reason}" if low is None else f"95 % interval{repeated} {low:+.2f} to {high:+.2f}"


def describe_basis(rule: Rule, number: int, noun: str) -> str:
    """The scope of an interval in words, with the number of cases or clusters."""
    return f"on these {number} cases" if rule.scope == "these" else f"for {noun} like these {number}"
