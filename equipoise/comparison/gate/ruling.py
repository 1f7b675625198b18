"""The ruling on one rule, and what all kinds of rules share: intervals against bounds, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.core.rules import Rule, Scope
from equipoise.core.types import JSON
from equipoise.stats.fixed import NOTHING_VARIED
from equipoise.stats.intervals import Estimate
from equipoise.stats.paired import Decision, Difference

FEWEST = 6
"""Below this number of questions, no difference between any of them says nothing about a further one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The verdict on one rule, with a sentence that explains it."""

    rule: str
    verdict: Decision
    why: str
    required: bool = True

    def to_json(self) -> dict[str, JSON]:
        """Plain data."""
        return {"rule": self.rule, "verdict": self.verdict, "why": self.why, "required": self.required}


def inconclusive(rule: Rule, why: str) -> Ruling:
    """The ruling that nothing is decided."""
    return Ruling(rule=rule.text, verdict="inconclusive", why=why)


def verdict(rulings: Sequence[Ruling]) -> Decision:
    """The verdict on all required rules: fail if any fails, else inconclusive if any is."""
    verdicts = {ruling.verdict for ruling in rulings if ruling.required}
    return "fail" if "fail" in verdicts else "inconclusive" if "inconclusive" in verdicts else "pass"


def within(low: float | None, high: float | None, least: float, most: float) -> Decision:
    """Pass where the whole interval lies within these bounds, fail where all of it lies outside."""
    if low is None or high is None:
        return "inconclusive"
    if least <= low and high <= most:
        return "pass"
    return "fail" if high < least or low > most else "inconclusive"


def is_constant(figure: Estimate | Difference, scope: Scope) -> bool:
    """Whether what was observed decides: none of enough runs, or questions, differed from another."""
    if figure.n < FEWEST or figure.value is None:
        return False
    return figure.reason == NOTHING_VARIED if scope == "these" else figure.se is None


def interval(low: float | None, high: float | None, reason: str | None, repeated: str = "") -> str:
    """A 95 % interval in words, or why there is none; `repeated` says over how many looks it holds."""
    return f"no interval: {reason}" if low is None else f"95 % interval{repeated} {low:+.2f} to {high:+.2f}"


def about(rule: Rule, number: int, noun: str) -> str:
    """Scope of an interval in words, with the number of cases, or of the suite's clusters."""
    return f"on these {number} cases" if rule.scope == "these" else f"for {noun} like these {number}"
